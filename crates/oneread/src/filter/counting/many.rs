//! Many keys at once.
//!
//! Where no cache holds the filter, the counters of very many keys are gathered first and visited in the order of
//! their places ([`Parts`]): an insertion or removal adds or takes one, and the order does not matter to the sum.

use alloc::vec::Vec;

use super::super::NotPresent;
use super::super::batch::{contains_in_batches, in_batches};
use super::super::parts::{self, Parts};
use super::{CountingBloom, CountingBloomFilter, USUAL_BITS};
use crate::bits::{Counters, Words};
use crate::hash::{Digest, Digester};

/// The memory of gathered locations, as a share of the counters'.
const SHARE: f64 = 0.25;

impl<D> CountingBloomFilter<D> {
    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    ///
    /// Of very many keys the locations are gathered first, in up to a quarter as much memory as the filter has, if there is that.
    pub fn insert_many<'q, Q: ?Sized + 'q>(&mut self, keys: impl IntoIterator<Item = &'q Q>)
    where
        D: Digester<Q> + Clone,
    {
        if self.is_nearby() {
            return keys.into_iter().for_each(|key| _ = self.insert(key));
        }
        let digester = self.digester.clone();
        let digests = keys.into_iter().map(|key| digester.digest(key));
        if let Some(mut parts) = self.parts_for(&digests) {
            for digest in digests {
                if self.gather(&mut parts, digest) {
                    count_all(&mut self.counters, &mut parts);
                }
            }
            return count_all(&mut self.counters, &mut parts);
        }
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            for &digest in digests {
                self.insert_digest(digest);
            }
        });
    }

    /// Removes many keys that were inserted, faster than one after the other where the filter does not fit the cache.
    ///
    /// Of very many keys the locations are gathered first, in up to a quarter as much memory as the filter has, and their digests, in one
    /// part in k as much, if there is that.
    ///
    /// # Errors
    /// If a key is certainly not there; those before it are removed, those after it are not.
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q> + Clone,
    {
        let mut keys = keys.into_iter();
        if self.is_nearby() {
            return keys.try_for_each(|key| self.remove(key));
        }
        let digester = self.digester.clone();
        let digests = keys.map(|key| digester.digest(key));
        let mut gathered = Vec::new();
        let parts = self.parts_for(&digests).filter(|parts| {
            gathered.try_reserve_exact(parts.capacity() / self.layout.hashes() as usize + 1).is_ok()
        });
        if let Some(mut parts) = parts {
            for digest in digests {
                gathered.push(digest);
                if self.gather(&mut parts, digest) {
                    self.remove_gathered(&mut parts, &mut gathered)?;
                }
            }
            return self.remove_gathered(&mut parts, &mut gathered);
        }
        let mut result = Ok(());
        in_batches(digests, |digests| {
            if result.is_ok() {
                self.prefetch_all(digests);
                result = digests.iter().try_for_each(|&digest| self.remove_digest(digest));
            }
        });
        result
    }

    /// Removes the keys of gathered digests, whose locations are in `parts`, and empties both.
    fn remove_gathered(&mut self, parts: &mut Parts, gathered: &mut Vec<Digest>) -> Result<(), NotPresent> {
        let result = if take_all(&mut self.counters, parts) {
            Ok(())
        } else {
            gathered.iter().try_for_each(|&digest| self.remove_digest(digest))
        };
        gathered.clear();
        result
    }

    /// Where to gather the locations of so many digests, if that pays.
    fn parts_for(&self, digests: &impl Iterator) -> Option<Parts> {
        if !self.is_usual() {
            return None;
        }
        let visits = (digests.size_hint().0 as u64).saturating_mul(self.layout.hashes().into());
        Parts::new(self.layout.bits(), visits, SHARE)
    }

    /// Adds the locations of a digest; says whether the parts must be visited before the next one.
    #[inline(always)]
    fn gather(&self, parts: &mut Parts, digest: Digest) -> bool {
        let room = self.layout.hashes();
        let add = |full, location| parts.add_leaving(room, location * u64::from(USUAL_BITS)) | full;
        self.scheme.fold(digest, false, add)
    }
}

impl<D, S: Words> CountingBloom<D, S> {
    /// Looks many keys up, faster than one after the other where the filter does not fit the cache;
    /// `answer` gets the answers in the order of the keys.
    ///
    /// Of very many keys, most of which are found or hardly any, locations are gathered first, in up to a little more than half as much memory as the filter has, if there is
    /// that (and the width of its counters is a power of two); the answers come when they have been.
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        if self.is_nearby() {
            return keys.into_iter().for_each(|key| answer(self.contains(key)));
        }
        let digests = keys.into_iter().map(|key| self.digester.digest(key));
        if self.layout.counter_bits() == USUAL_BITS {
            self.contains_many_as(USUAL_BITS, digests, answer);
        } else {
            self.contains_many_as(self.layout.counter_bits(), digests, answer);
        }
    }

    /// The same with the width of the counters, so that the compiler can know it.
    #[inline(always)]
    fn contains_many_as(&self, width: u32, digests: impl Iterator<Item = Digest>, answer: impl FnMut(bool)) {
        let ask = |location| self.counters.prefetch_as(location, width);
        // SAFETY: a scheme's locations are below the number of counters, and `width` is theirs.
        let test = |location| unsafe { self.counters.get_unchecked(location, width) } > 0;
        if width.is_power_of_two() {
            let (words, hashes) = (self.counters.words(), self.layout.hashes());
            let cells = parts::Cells { words, width, scheme: &self.scheme, hashes };
            return cells.contains_many(digests, ask, test, answer);
        }
        contains_in_batches(&self.scheme, 0, digests, ask, test, answer);
    }

    #[inline(always)]
    fn prefetch_all(&self, digests: &[Digest]) {
        for &digest in digests {
            self.scheme.for_each(digest, |location| self.counters.prefetch(location));
        }
    }
}

/// Counts one more at each location, and empties the parts.
#[inline(never)]
fn count_all(counters: &mut Counters<Vec<u64>>, parts: &mut Parts) {
    parts.visit(|part| {
        for (coming, offsets) in part.batches() {
            coming.for_each(|at| counters.words().prefetch(at));
            for &offset in offsets {
                counters.cells(USUAL_BITS).increment(counter_at(part.start, offset));
            }
        }
    });
}

/// Counts one less at each location, and empties the parts; or changes nothing, if a counter is 0 before it was
/// visited for the last time. Says which.
#[inline(never)]
fn take_all(counters: &mut Counters<Vec<u64>>, parts: &mut Parts) -> bool {
    let mut taken = 0;
    let complete = parts.visit_while(|part| {
        for (coming, offsets) in part.batches() {
            coming.for_each(|at| counters.words().prefetch(at));
            for (done, &offset) in offsets.iter().enumerate() {
                if counters.cells(USUAL_BITS).decrement(counter_at(part.start, offset)) == 0 {
                    taken += done;
                    return false;
                }
            }
            taken += offsets.len();
        }
        true
    });
    if !complete {
        // In the same order. A counter that is stuck has lost nothing, and gets nothing; any other has room for what it lost.
        parts.visit_while(|part| {
            for &offset in part.offsets {
                if taken == 0 {
                    return false;
                }
                counters.cells(USUAL_BITS).increment(counter_at(part.start, offset));
                taken -= 1;
            }
            true
        });
    }
    parts.clear();
    complete
}

/// The counter so many bits from the first of this word.
#[inline(always)]
fn counter_at(word: usize, offset: u32) -> u64 {
    word as u64 * u64::from(u64::BITS / USUAL_BITS) + u64::from(offset / USUAL_BITS)
}
