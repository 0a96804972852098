//! How keys become digests.

mod keyed;
mod portable;
mod std_hasher;

pub use keyed::Keyed;
pub use portable::Portable;
pub use std_hasher::Std;

use super::Digest;

/// Makes the digest of a key: the only place where keys are hashed.
///
/// A digester is the last type parameter of a structure, like the hasher of the standard library's
/// maps. The default is [`Portable`].
///
/// | digester | keys | same everywhere | against an adversary | for |
/// | --- | --- | --- | --- | --- |
/// | [`Portable`] | [`Key`](super::Key) | yes | no | everything saved, shared or merged |
/// | [`Keyed`] | [`Key`](super::Key) | yes | while its key is secret | keys that strangers choose |
/// | [`Std`] | any [`Hash`](core::hash::Hash) | no | as its hasher | types of your own, in memory |
///
/// The crate `oneread-study` has two more for experiments: `Ideal`, whose digests no test can tell
/// from random ones, and `FromFamily`, whose digests are as random as a theorem says.
pub trait Digester<Q: ?Sized> {
    /// The digest of a key: the same for equal keys.
    fn digest(&self, key: &Q) -> Digest;
}

impl<Q: ?Sized, D: Digester<Q> + ?Sized> Digester<Q> for &D {
    #[inline(always)]
    fn digest(&self, key: &Q) -> Digest {
        (**self).digest(key)
    }
}
