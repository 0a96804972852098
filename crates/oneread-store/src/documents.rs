//! The Rust code of the README and the guides is compiled and run as tests: here, where the library
//! and the store are both at hand.

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
