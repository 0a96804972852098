//! Evaluates every function of a small family on every key.

use std::borrow::Borrow;

use oneread_study::hash::family::{HashFunction, KeyError};

/// For each key and bucket, the set of functions that map the key to the bucket.
pub(super) struct Census {
    keys: usize,
    buckets: usize,
    functions: u64,
    /// The set for key x and bucket b is at x·buckets + b, with one bit per function.
    sets: Vec<Vec<u64>>,
}

impl Census {
    /// # Errors
    /// If a function refuses a key.
    pub(super) fn of<K, Q, H>(keys: &[Q], functions: impl IntoIterator<Item = H>) -> Result<Self, KeyError>
    where
        K: ?Sized,
        Q: Borrow<K>,
        H: HashFunction<K>,
    {
        let mut census = Self { keys: keys.len(), buckets: 0, functions: 0, sets: Vec::new() };
        for function in functions {
            if census.functions == 0 {
                census.buckets = usize::try_from(function.buckets()).expect("a small family");
                census.sets = vec![Vec::new(); keys.len() * census.buckets];
            }
            let bit = census.functions % u64::from(u64::BITS);
            if bit == 0 {
                census.sets.iter_mut().for_each(|set| set.push(0));
            }
            for (x, key) in keys.iter().enumerate() {
                let bucket = function.hash(key.borrow())? as usize;
                let set = &mut census.sets[x * census.buckets + bucket];
                *set.last_mut().expect("a word was pushed") |= 1 << bit;
            }
            census.functions += 1;
        }
        Ok(census)
    }

    /// The smallest c for which the family is c-universal on these keys.
    pub(super) fn universal(&self) -> f64 {
        let collisions = |x, y| {
            (0..self.buckets).map(|bucket| common_ones(self.set(x, bucket), self.set(y, bucket))).sum::<u64>()
        };
        let pairs = (0..self.keys).flat_map(|x| (0..x).map(move |y| (x, y)));
        let most = pairs.map(|(x, y)| collisions(x, y)).max().unwrap_or(0);
        most as f64 * self.buckets as f64 / self.functions as f64
    }

    /// The smallest c for which the family is (k, c)-independent on these keys.
    pub(super) fn independent(&self, k: u32) -> f64 {
        let everything = vec![u64::MAX; self.sets.first().map_or(0, Vec::len)];
        let most = self.most_joint(0, k, &everything);
        most as f64 * (self.buckets as f64).powi(k as i32) / self.functions as f64
    }

    /// The most functions of a set that map k keys, from `first` on, to some k buckets.
    fn most_joint(&self, first: usize, k: u32, among: &[u64]) -> u64 {
        let mut most = 0;
        for key in first..self.keys {
            for bucket in 0..self.buckets {
                let set = self.set(key, bucket);
                most = most.max(if k == 1 {
                    common_ones(among, set)
                } else {
                    let fewer: Vec<u64> = among.iter().zip(set).map(|(a, b)| a & b).collect();
                    self.most_joint(key + 1, k - 1, &fewer)
                });
            }
        }
        most
    }

    fn set(&self, key: usize, bucket: usize) -> &[u64] {
        &self.sets[key * self.buckets + bucket]
    }
}

fn common_ones(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// All vectors with `length` components below `size`; the first component changes fastest.
pub(super) fn vectors(size: u64, length: u32) -> Vec<Vec<u64>> {
    (0..size.pow(length)).map(|index| (0..length).map(|i| index / size.pow(i) % size).collect()).collect()
}
