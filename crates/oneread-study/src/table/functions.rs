//! Draws hash functions for tables and scales them to the number of buckets.

use core::cell::Cell;

use crate::hash::family::{HashFunction, KeyError, TotalHashFunction};
use oneread::hash::{Digester, Domain};

/// A source of hash functions.
///
/// Closures implement it: `|buckets| …` draws a function for a table of `buckets` buckets. A
/// function may have any range. Its values are scaled to the buckets, ⌊h·m/r⌋, so a 64-bit family
/// serves as well as one made for m. Functions made for m, such as
/// [`Polynomial`](crate::hash::family::Polynomial) modulo m, are used unchanged.
pub trait Draw<K: ?Sized> {
    /// The type of the drawn functions.
    type Function: TotalHashFunction<K>;

    /// Draws a fresh function for a table of `buckets` buckets.
    fn draw(&mut self, buckets: u64) -> Self::Function;
}

impl<K: ?Sized, F: TotalHashFunction<K>, G: FnMut(u64) -> F> Draw<K> for G {
    type Function = F;

    fn draw(&mut self, buckets: u64) -> F {
        self(buckets)
    }
}

/// A digester as a function of 64 bits: for keys that no family accepts, and for comparisons on
/// equal terms.
///
/// ```
/// use oneread_study::hash::Ideal;
/// use oneread_study::table::{ChainedTable, Digested, StudyTable};
///
/// let mut seed = 0;
/// let mut table = ChainedTable::new(|_| {
///     seed += 1;
///     Digested(Ideal::with_seed(seed))
/// });
/// assert_eq!(table.insert(1u64, "one"), Ok(None));
/// assert_eq!((table.get(&1), table.get(&2)), (Some(&"one"), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digested<D>(
    /// The digester; each function has its own seed.
    pub D,
);

impl<Q: ?Sized, D: Digester<Q>> HashFunction<Q> for Digested<D> {
    fn buckets(&self) -> u128 {
        1 << 64
    }

    fn hash(&self, key: &Q) -> Result<u64, KeyError> {
        Ok(self.hash_any(key))
    }
}

impl<Q: ?Sized, D: Digester<Q>> TotalHashFunction<Q> for Digested<D> {
    #[inline]
    fn hash_any(&self, key: &Q) -> u64 {
        self.0.digest(key).word(Domain::TABLE, 0)
    }
}

/// A function scaled to a number of buckets.
#[derive(Clone, Debug)]
pub(super) struct Scaled<F> {
    function: F,
    buckets: u64,
    scale: Scale,
}

#[derive(Clone, Copy, Debug)]
enum Scale {
    /// The function's range is this number.
    Exact,
    /// Its range is a power of two.
    Shift(u32),
    /// Its range is any other number.
    Divide(u128),
}

impl<F> Scaled<F> {
    pub(super) fn new<K: ?Sized>(function: F, buckets: u64) -> Self
    where
        F: HashFunction<K>,
    {
        let range = function.buckets();
        let scale = match range {
            _ if range == u128::from(buckets) => Scale::Exact,
            _ if range.is_power_of_two() => Scale::Shift(range.ilog2()),
            _ => Scale::Divide(range),
        };
        Self { function, buckets, scale }
    }

    #[inline]
    pub(super) fn bucket<K: ?Sized>(&self, key: &K) -> usize
    where
        F: TotalHashFunction<K>,
    {
        let hash = self.function.hash_any(key);
        // Both factors are below 2^64.
        let product = || u128::from(hash) * u128::from(self.buckets);
        match self.scale {
            Scale::Exact => hash as usize,
            Scale::Shift(bits) => (product() >> bits) as usize,
            Scale::Divide(range) => (product() / range) as usize,
        }
    }
}

/// Counts probes, also through shared references.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes(Cell<u64>);

impl Probes {
    #[inline]
    pub(super) fn count(&self, more: u64) {
        self.0.set(self.0.get() + more);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}
