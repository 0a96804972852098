//! `oneread serve`: lookups in stores and datasets, over HTTP and RESP.
