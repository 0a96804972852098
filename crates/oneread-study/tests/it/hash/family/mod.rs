//! Checks the theorems by enumerating all functions of small families; also holds helpers of the
//! tests.

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

use std::borrow::Borrow;
use std::convert::Infallible;

use oneread_study::hash::family::{AnyPrime, HashFunction, Independent, Universal};
use rand_core::TryRng;

/// Every function of a family on every key: for each key and bucket, the set of functions that map
/// the key to the bucket.
struct Census {
    keys: usize,
    buckets: usize,
    functions: u64,
    /// The set for key x and bucket b is at x·buckets + b, with one bit per function.
    sets: Vec<Vec<u64>>,
}

impl Census {
    fn of<K, Q, H>(keys: &[Q], functions: impl IntoIterator<Item = H>) -> Self
    where
        K: ?Sized,
        Q: Borrow<K>,
        H: HashFunction<K>,
    {
        let mut census = Self { keys: keys.len(), buckets: 0, functions: 0, sets: Vec::new() };
        for function in functions {
            if census.functions == 0 {
                census.buckets = usize::try_from(function.buckets()).unwrap();
                census.sets = vec![Vec::new(); keys.len() * census.buckets];
            }
            let bit = census.functions % 64;
            if bit == 0 {
                census.sets.iter_mut().for_each(|set| set.push(0));
            }
            for (x, key) in keys.iter().enumerate() {
                let bucket = usize::try_from(function.hash(key.borrow()).unwrap()).unwrap();
                assert!(bucket < census.buckets);
                *census.sets[x * census.buckets + bucket].last_mut().unwrap() |= 1 << bit;
            }
            census.functions += 1;
        }
        census
    }

    fn set(&self, key: usize, bucket: usize) -> &[u64] {
        &self.sets[key * self.buckets + bucket]
    }

    /// The number of functions that map each of these keys to its bucket.
    fn joint(&self, pairs: &[(usize, usize)]) -> u64 {
        let mut common = vec![u64::MAX; self.sets[0].len()];
        for &(key, bucket) in pairs {
            common.iter_mut().zip(self.set(key, bucket)).for_each(|(word, set)| *word &= set);
        }
        common.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The number of functions under which two keys collide.
    fn collisions(&self, x: usize, y: usize) -> u64 {
        (0..self.buckets).map(|bucket| common_ones(self.set(x, bucket), self.set(y, bucket))).sum()
    }

    /// The fewest and the most collisions over all pairs of distinct keys.
    fn collision_range(&self) -> (u64, u64) {
        let mut range = (u64::MAX, 0);
        for x in 0..self.keys {
            for y in 0..x {
                widen(&mut range, self.collisions(x, y));
            }
        }
        range
    }

    /// The fewest and the most functions that map k distinct keys to k buckets, over all such keys
    /// and buckets.
    fn joint_range(&self, k: usize) -> (u64, u64) {
        let everything = vec![u64::MAX; self.sets[0].len()];
        let mut range = (u64::MAX, 0);
        self.extend(0, k, &everything, &mut range);
        range
    }

    fn extend(&self, first: usize, k: usize, common: &[u64], range: &mut (u64, u64)) {
        for key in first..self.keys {
            for bucket in 0..self.buckets {
                let set = self.set(key, bucket);
                if k == 1 {
                    widen(range, common_ones(common, set));
                } else {
                    let narrower: Vec<u64> = common.iter().zip(set).map(|(a, b)| a & b).collect();
                    self.extend(key + 1, k - 1, &narrower, range);
                }
            }
        }
    }

    /// The smallest c for which the family is c-universal.
    fn universal(&self) -> f64 {
        self.collision_range().1 as f64 * self.buckets as f64 / self.functions as f64
    }

    /// The smallest c for which the family is (k, c)-independent.
    fn independent(&self, k: usize) -> f64 {
        self.joint_range(k).1 as f64 * (self.buckets as f64).powi(k as i32) / self.functions as f64
    }

    fn assert_universal(&self, promise: Universal) {
        let found = self.universal();
        assert!(found <= promise.c, "found c = {found}, promised {promise:?}, m = {}", self.buckets);
    }

    fn assert_independent(&self, promise: Independent) {
        let found = self.independent(promise.k);
        assert!(found <= promise.c, "found c = {found}, promised {promise:?}, m = {}", self.buckets);
    }
}

fn widen(range: &mut (u64, u64), count: u64) {
    *range = (range.0.min(count), range.1.max(count));
}

fn common_ones(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

fn field(prime: u64) -> AnyPrime {
    AnyPrime::new(prime).unwrap()
}

/// All vectors with `length` components below `size`; the first component changes fastest.
fn vectors(size: u64, length: u32) -> Vec<Vec<u64>> {
    (0..size.pow(length)).map(|index| (0..length).map(|i| index / size.pow(i) % size).collect()).collect()
}

/// A generator that returns a script, and fails the test at its end.
struct Script<'a>(&'a [u64]);

impl TryRng for Script<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let (&first, rest) = self.0.split_first().expect("the script has ended");
        self.0 = rest;
        Ok(first)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.chunks_mut(8).try_for_each(|chunk| {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
            Ok(())
        })
    }
}
