//! Many keys at once.
//!
//! Where no cache holds the filter, the counters of very many keys are gathered first and visited in the order of
//! their places ([`Parts`]): an insertion or removal adds or takes one, and the order does not matter to the sum.

use alloc::vec::Vec;

use super::super::NotPresent;
use super::super::batch::{contains_in_batches, in_batches};
use super::super::cores::{FilterCore, Insert, Remove};
use super::super::parts::{self, Parts};
use super::{CountingBloom, USUAL_BITS};
use crate::bits::{Counters, Words};
use crate::hash::Digest;

/// The memory of gathered locations, as a share of the counters'.
const SHARE: f64 = 0.25;

/// Inserts digests, gathered in up to a quarter as much memory as the filter has.
pub(super) fn insert(filter: &mut CountingBloom<Vec<u64>>, digests: impl Iterator<Item = Digest>) {
    if filter.is_nearby() {
        return digests.for_each(|digest| _ = filter.insert(digest));
    }
    if let Some(mut parts) = filter.parts_for(&digests) {
        for digest in digests {
            if filter.gather(&mut parts, digest) {
                count_all(&mut filter.counters, &mut parts);
            }
        }
        return count_all(&mut filter.counters, &mut parts);
    }
    in_batches(digests, |digests| {
        filter.prefetch_all(digests);
        for &digest in digests {
            filter.insert(digest);
        }
    });
}

/// Removes digests, gathered in up to a quarter as much memory as the filter has, and one part in k as much.
pub(super) fn remove(
    filter: &mut CountingBloom<Vec<u64>>,
    mut digests: impl Iterator<Item = Digest>,
) -> Result<(), NotPresent> {
    if filter.is_nearby() {
        return digests.try_for_each(|digest| filter.remove(digest));
    }
    let mut gathered = Vec::new();
    let parts = filter.parts_for(&digests).filter(|parts| {
        gathered.try_reserve_exact(parts.capacity() / filter.layout.hashes() as usize + 1).is_ok()
    });
    if let Some(mut parts) = parts {
        for digest in digests {
            gathered.push(digest);
            if filter.gather(&mut parts, digest) {
                filter.remove_gathered(&mut parts, &mut gathered)?;
            }
        }
        return filter.remove_gathered(&mut parts, &mut gathered);
    }
    let mut result = Ok(());
    in_batches(digests, |digests| {
        if result.is_ok() {
            filter.prefetch_all(digests);
            result = digests.iter().try_for_each(|&digest| filter.remove(digest));
        }
    });
    result
}

impl CountingBloom<Vec<u64>> {
    /// Removes the keys of gathered digests, whose locations are in `parts`, and empties both.
    fn remove_gathered(&mut self, parts: &mut Parts, gathered: &mut Vec<Digest>) -> Result<(), NotPresent> {
        let result = if take_all(&mut self.counters, parts) {
            Ok(())
        } else {
            gathered.iter().try_for_each(|&digest| self.remove(digest))
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

/// Looks digests up, gathered in up to a little more than half as much memory as the filter has (if the width of its
/// counters is a power of two).
pub(super) fn contains<S: Words>(
    filter: &CountingBloom<S>,
    digests: impl Iterator<Item = Digest>,
    mut answer: impl FnMut(bool),
) {
    if filter.is_nearby() {
        return digests.for_each(|digest| answer(filter.contains(digest)));
    }
    if filter.layout.counter_bits() == USUAL_BITS {
        filter.contains_many_as(USUAL_BITS, digests, answer);
    } else {
        filter.contains_many_as(filter.layout.counter_bits(), digests, answer);
    }
}

impl<S: Words> CountingBloom<S> {
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
