//! Stores and datasets over HTTP and the Redis protocol, and a planner to look at.
//!
//! | module | for |
//! | --- | --- |
//! | [`serve`] | `oneread serve`: lookups in stores and datasets, over HTTP and RESP |
//! | [`studio`] | `oneread studio`: the planner as a page on loopback |

pub mod serve;
pub mod studio;
