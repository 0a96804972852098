//! Which digester made what is saved.

use crate::hash::{Digester, Keyed, Portable};

/// How a digester is written down: its number and sixteen bytes that tell its seeds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Which digester it is.
    pub digester: u16,
    /// Its seed, or what stands for it.
    pub seed: [u8; 16],
}

/// A digester that saved structures can name. ([`Std`](crate::hash::Std) is not one: its digests
/// depend on the machine.)
pub trait Identified: Sized {
    /// What is written down.
    fn identity(&self) -> Identity;

    /// The digester that was written down, if that is enough to restore it.
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
    /// Not the secret, but the digest of a fixed text under it: it tells secrets apart and gives
    /// none away.
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
