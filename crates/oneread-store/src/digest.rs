//! The digester of keys. Unit tests have one whose keys collide when the test says so.

#[cfg(not(test))]
pub(crate) use oneread::hash::Portable;

#[cfg(test)]
pub(crate) use colliding::Portable;

#[cfg(test)]
#[path = "../tests/collisions/digester.rs"]
pub(crate) mod colliding;
