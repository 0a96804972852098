//! Names the digester that made a saved structure.

use crate::hash::{Digester, Keyed, Portable};

/// A digester as it is saved: its number, and sixteen bytes that tell its seeds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The number of the digester.
    pub digester: u16,
    /// The seed, or a fingerprint of it.
    pub seed: [u8; 16],
}

/// A digester that saved structures can name. [`Std`](crate::hash::Std) is not one: its digests
/// depend on the machine.
pub trait Identified: Sized {
    /// The identity that is saved.
    fn identity(&self) -> Identity;

    /// Restores the digester from its identity, if the identity determines it.
    fn from_identity(identity: &Identity) -> Option<Self>;
}

// 3 is `Ideal`, in the crate `oneread-study`.
const PORTABLE: u16 = 1;
const KEYED: u16 = 2;

/// A 64-bit seed, in the first eight of the sixteen bytes.
fn wide(seed: u64) -> [u8; 16] {
    u128::from(seed).to_le_bytes()
}

fn narrow(seed: [u8; 16]) -> Option<u64> {
    u64::try_from(u128::from_le_bytes(seed)).ok()
}

impl Identified for Portable {
    fn identity(&self) -> Identity {
        Identity { digester: PORTABLE, seed: wide(self.seed()) }
    }

    fn from_identity(identity: &Identity) -> Option<Self> {
        (identity.digester == PORTABLE).then(|| narrow(identity.seed).map(Self::with_seed))?
    }
}

impl Identified for Keyed {
    /// A digest of a fixed text under the secret: it tells secrets apart without revealing them.
    fn identity(&self) -> Identity {
        Identity {
            digester: KEYED,
            seed: self.digest("oneread: the secret that made this file").to_le_bytes(),
        }
    }

    fn from_identity(_: &Identity) -> Option<Self> {
        None
    }
}
