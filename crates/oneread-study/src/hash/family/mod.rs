//! Hash families with proofs: theorems, not experiments, bound the behaviour of two, three or k
//! keys.
//!
//! A *family* is a set of functions from keys to m buckets, and `draw` picks one at random. It is
//! *c-universal* if two distinct keys share a bucket with probability at most c/m. It is *(k,
//! c)-independent* if k distinct keys map to k given buckets with probability at most c/m^k. The
//! probability is over the draw. The keys may be arbitrary, as long as they were chosen without
//! knowledge of it.
//!
//! This module holds families with a provable guarantee, the combinators that preserve it, and one
//! algorithm that relies on it ([`RabinKarp`]). Hash functions that are trusted because they pass
//! tests belong elsewhere.
//!
//! All sections are those of the lecture notes "Hashing" (chapter 6), section 6.1; w is the number
//! of bits of a key, ℓ that of the result, p a prime, and ⌈w/c⌉ the number of characters. The
//! `guarantee` of a function returns the third column.
//!
//! | family | type | promise | cost | section |
//! | --- | --- | --- | --- | --- |
//! | L | [`Linear`] | 2-universal; (2, 4), and (2, 2) if p ≥ 4m | 1 multiplication, 1 division | linear congruence |
//! | L′ | [`LinearNonzero`] | 1-universal | the same | linear congruence |
//! | Pₖ | [`Polynomial`] | (k, 1); modulo m (k, 2) if p ≥ 2km | k multiplications | polynomial hashing |
//! | M | [`MultiplyShift`] | 2-universal | 1 multiplication, 1 shift | multiply-shift |
//! | M′ | [`MultiplyAddShift`] | (2, 1); (2, 2) in precision w + ℓ − 1 | the same, twice as wide | multiply-shift |
//! | tabulation | [`Tabulation`] | (3, 1) | ⌈w/c⌉ reads of tables | tabulation |
//! | tabulation | [`TupleTabulation`] | (3, 1) | D times that | exercise 11 |
//! | S | [`ScalarProduct`] | 1-universal; with L (2, 8), and (2, 5/2) if p ≥ 4m | d multiplications | scalar products |
//! | S′ | [`AffineScalarProduct`] | (2, 1); modulo m (2, 2) if p ≥ 4m | d multiplications | scalar products |
//! | R | [`Rolling`] | (d − 1)-universal; with L (2, 5/2) if p ≥ 4dm | d multiplications, 1 parameter | rolling hashes |
//! | R ∘ L | [`StringHash`] | (2, 5/2) if p ≥ 4Lm | 1 multiplication per byte | hashing strings |
//!
//! Which to choose:
//! - words, for chaining: [`MultiplyShift`]; if pairs must be independent too:
//!   [`MultiplyAddShift`];
//! - words, for cuckoo hashing or linear probing: [`Tabulation`] with 8-bit characters;
//! - words, where a proof asks for k-wise independence: [`Polynomial`];
//! - a number of buckets that is no power of two: [`Linear`], or [`Modulo`] over any independent
//!   family;
//! - tuples: [`AffineScalarProduct`], or [`TupleTabulation`] for short ones; strings:
//!   [`StringHash`];
//! - windows of a text: [`Rolling`] with its [`RollingWindow`].
//!
//! [`Modulo`] (lemmas M and K) and [`Compose`] (lemma G) make families from families; [`Universal`]
//! and [`Independent`] compute the remaining guarantees. [`Reduced`] lets a field family take any
//! 64-bit key.
//!
//! A function is made from explicit parameters with `new`, or at random with `draw`. Families over
//! a field use 2^61 − 1 unless `new` or `draw_in` is given another [`PrimeField`].
//!
//! ```
//! use oneread_study::hash::family::{HashFunction, KeyError, Linear, Modulo, MERSENNE_61, Tabulation, TotalHashFunction};
//! use rand_core::SeedableRng;
//!
//! let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
//! let linear = Linear::draw(1000, &mut rng)?;
//! let outside = KeyError::OutsideUniverse { expected: MERSENNE_61, found: u64::MAX };
//! assert_eq!(linear.hash(&u64::MAX), Err(outside)); // the universe of a field family ends at p
//! assert!(linear.hash(&42)? < 1000);
//!
//! let total = Modulo::new(Tabulation::<u64>::draw(8, 64, &mut rng)?, 1000)?;
//! assert!(total.hash_any(&u64::MAX) < 1000); // no Result: every key is in the universe
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compose;
mod error;
mod field;
mod guarantee;
mod linear;
mod multiply_shift;
mod polynomial;
mod rabin_karp;
mod rolling;
mod scalar_product;
mod string;
mod tabulation;
mod word;

pub use compose::{Compose, Modulo, Reduced};
pub use error::{FamilyError, KeyError};
pub use field::{AnyPrime, MERSENNE_61, Mersenne61, PrimeField, is_prime};
pub use guarantee::{Independent, Universal};
pub use linear::{Linear, LinearNonzero};
pub use multiply_shift::{MultiplyAddShift, MultiplyShift};
pub use polynomial::Polynomial;
pub use rabin_karp::{Matches, RabinKarp};
pub use rolling::{Rolling, RollingWindow};
pub use scalar_product::{AffineScalarProduct, ScalarProduct};
pub use string::StringHash;
pub use tabulation::{Tabulation, TupleTabulation};
pub use word::Word;

/// One function of a family: from keys of type `K` to buckets.
pub trait HashFunction<K: ?Sized> {
    /// The number of buckets (m in the lecture), at least 1. A `u128`, because 64 result bits make
    /// 2^64 buckets.
    fn buckets(&self) -> u128;

    /// The bucket of the key, below [`buckets`](HashFunction::buckets).
    ///
    /// # Errors
    /// [`KeyError`] if the key is a value of `K`, but not in the universe of the function.
    fn hash(&self, key: &K) -> Result<u64, KeyError>;
}

/// A function that accepts every value of `K`.
pub trait TotalHashFunction<K: ?Sized>: HashFunction<K> {
    /// The bucket of the key: what [`hash`](HashFunction::hash) returns, without the `Result`.
    fn hash_any(&self, key: &K) -> u64;
}

/// A function whose universe is a prime field: [`Reduced`] makes it total.
pub trait FieldHashFunction: HashFunction<u64> {
    /// The bucket of the residue of the key modulo p: what [`hash`](HashFunction::hash) returns for
    /// `key mod p`.
    fn hash_residue(&self, key: u64) -> u64;
}
