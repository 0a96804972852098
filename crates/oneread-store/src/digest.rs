//! The digester of keys. Unit tests replace it with one whose keys collide on demand.

#[cfg(not(test))]
pub(crate) use oneread::hash::Portable;

#[cfg(test)]
pub(crate) use colliding::Portable;

#[cfg(test)]
#[path = "../tests/collisions/digester.rs"]
pub(crate) mod colliding;
