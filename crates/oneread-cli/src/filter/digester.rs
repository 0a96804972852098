//! Digests lines, and identifies the digester of a file.

use oneread::bytes::{Identified, Identity};
use oneread::hash::{Digest, Digester, Keyed, Portable};
use oneread_study::hash::Ideal;

/// [`Portable`] on the bytes of a line, or a precomputed digest.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct LineDigester(Portable);

impl LineDigester {
    pub(super) fn with_seed(seed: u64) -> Self {
        Self(Portable::with_seed(seed))
    }
}

impl Digester<[u8]> for LineDigester {
    #[inline]
    fn digest(&self, line: &[u8]) -> Digest {
        self.0.digest(line)
    }
}

impl Digester<Digest> for LineDigester {
    #[inline]
    fn digest(&self, digest: &Digest) -> Digest {
        *digest
    }
}

impl Identified for LineDigester {
    fn identity(&self) -> Identity {
        self.0.identity()
    }

    fn from_identity(identity: &Identity) -> Option<Self> {
        Portable::from_identity(identity).map(Self)
    }
}

/// Accepts any digester, for commands that digest no keys.
#[derive(Clone, Copy)]
pub(super) struct AnyDigester(Identity);

impl Identified for AnyDigester {
    fn identity(&self) -> Identity {
        self.0
    }

    fn from_identity(identity: &Identity) -> Option<Self> {
        Some(Self(*identity))
    }
}

/// The name of a digester, and its seed if the file has it.
pub(super) fn describe(identity: &Identity) -> (&'static str, Option<u64>) {
    if let Some(digester) = Portable::from_identity(identity) {
        ("portable", Some(digester.seed()))
    } else if let Some(digester) = Ideal::from_identity(identity) {
        ("ideal", Some(digester.seed()))
    } else if identity.digester == Keyed::with_secret([0; 16]).identity().digester {
        ("keyed", None)
    } else {
        ("unknown", None)
    }
}
