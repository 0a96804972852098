//! Compiles and tests the Rust code of the README and the guides. It lives here because both the
//! library and the store are available.

#[doc = include_str!("../../../README.md")]
mod readme {}

#[doc = include_str!("../../../docs/guide/filters.md")]
mod filters {}

#[doc = include_str!("../../../docs/guide/maps.md")]
mod maps {}

#[doc = include_str!("../../../docs/guide/store.md")]
mod store {}

#[doc = include_str!("../../../docs/guide/planning.md")]
mod planning {}

#[doc = include_str!("../../oneread/README.md")]
mod library {}

#[doc = include_str!("../README.md")]
mod this {}
