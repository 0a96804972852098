//! The digester of the module's filters.

use oneread::bytes::{Identified, Identity};
use oneread::hash::{Digest, Digester, Portable};

/// Makes the digests of [`Portable`] from the seed alone. `Portable` keeps 200 bytes of numbers
/// that follow from the seed, more than a small filter has bits; making them takes some
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seeded(pub(super) u64);

impl Digester<[u8]> for Seeded {
    #[inline]
    fn digest(&self, key: &[u8]) -> Digest {
        Portable::with_seed(self.0).digest(key)
    }
}

impl Identified for Seeded {
    fn identity(&self) -> Identity {
        Portable::with_seed(self.0).identity()
    }

    fn from_identity(identity: &Identity) -> Option<Self> {
        Portable::from_identity(identity).map(|portable| Self(portable.seed()))
    }
}
