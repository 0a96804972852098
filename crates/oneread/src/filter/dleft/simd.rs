//! Vector instructions that process all buckets of a key.
//!
//! AVX-512 compares the lanes of all buckets of a key, with tables in registers. An insertion drops
//! the bits that all fingerprints of a bucket lose, by [`extract`](InstructionSet::extract).

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use super::bucket64;
use super::choices::MAX_SUBTABLES;
use crate::bits::{AtomicWords, Words};
use crate::filter::simd::{InstructionSet, Isa, Portable, Work};

/// The buckets of a key; missing ones are empty.
pub(in crate::filter) type Four = [u64; MAX_SUBTABLES];

/// The outcome of inserting a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Outcome {
    Inserted,
    /// It may have been present already.
    Found,
    /// No bucket has room.
    Full,
}

/// Words that change.
pub(in crate::filter) trait Store {
    type Words: Words;
    fn words(&self) -> &Self::Words;
    /// Replaces word `at` by `to` if it is still `from`; reports whether it was.
    fn replace(&mut self, at: usize, from: u64, to: u64) -> bool;
}

impl Store for Vec<u64> {
    type Words = Self;

    #[inline(always)]
    fn words(&self) -> &Self {
        self
    }

    #[inline(always)]
    fn replace(&mut self, at: usize, _: u64, to: u64) -> bool {
        self[at] = to;
        true
    }
}

impl Store for &AtomicWords {
    type Words = AtomicWords;

    #[inline(always)]
    fn words(&self) -> &AtomicWords {
        self
    }

    #[inline(always)]
    fn replace(&mut self, at: usize, from: u64, to: u64) -> bool {
        AtomicWords::replace(self, at, from, to)
    }
}

/// Like [`BucketMatch::contains`], but for a single key.
///
/// # Safety
/// There must be words for the buckets.
#[inline(always)]
pub(super) unsafe fn contains<const DD: usize, S: Words>(
    isa: Isa,
    words: &S,
    buckets: [usize; DD],
    fingerprint: u64,
) -> bool {
    struct Contains<'a, S, const DD: usize>(&'a S, [usize; DD], u64);

    impl<S: Words, const DD: usize> Work for Contains<'_, S, DD> {
        type Output = bool;

        #[inline(always)]
        fn run<I: InstructionSet>(self, set: I) -> bool {
            // SAFETY: the caller of the function around this vouches for words for all buckets.
            unsafe { set.contains(self.0, self.1, self.2) }
        }
    }

    if isa.is_portable_or_avx2() {
        // AVX2 has nothing better, and this needs no call.
        // SAFETY: the caller vouches for words for all buckets.
        unsafe { Portable.contains(words, buckets, fingerprint) }
    } else {
        isa.run(Contains(words, buckets, fingerprint))
    }
}

/// Like [`BucketMatch::insert`], but for a single key.
///
/// # Safety
/// There must be words for the buckets.
#[inline(always)]
pub(super) unsafe fn insert<const DD: usize, const LOOK: bool, S: Store>(
    isa: Isa,
    store: &mut S,
    buckets: [usize; DD],
    fingerprint: u64,
) -> Outcome {
    struct Insert<'a, S, const DD: usize, const LOOK: bool>(&'a mut S, [usize; DD], u64);

    impl<S: Store, const DD: usize, const LOOK: bool> Work for Insert<'_, S, DD, LOOK> {
        type Output = Outcome;

        #[inline(always)]
        fn run<I: InstructionSet>(self, set: I) -> Outcome {
            // SAFETY: the caller of the function around this vouches for words for all buckets.
            unsafe { set.insert::<DD, LOOK, S>(self.0, self.1, self.2) }
        }
    }

    isa.run(Insert::<S, DD, LOOK>(store, buckets, fingerprint))
}

/// An implementation of bucket operations.
pub(in crate::filter) trait BucketMatch: Copy {
    /// Reports whether one of the first `DD` buckets has a fingerprint, as far as it is kept there.
    fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool;

    /// Returns the bucket with one more fingerprint. It must have room.
    #[inline(always)]
    fn with(self, bucket: u64, fingerprint: u64) -> u64
    where
        Self: InstructionSet,
    {
        bucket64::with(bucket, fingerprint, |word, mask| self.extract(word, mask))
    }

    /// Reports whether one of these buckets has a fingerprint, as far as it is kept there.
    ///
    /// # Safety
    /// There must be words for the buckets.
    #[inline(always)]
    unsafe fn contains<const DD: usize, S: Words>(
        self,
        words: &S,
        buckets: [usize; DD],
        fingerprint: u64,
    ) -> bool {
        // SAFETY: the caller vouches for words for all buckets.
        self.matches::<DD>(unsafe { read(words, buckets) }, fingerprint)
    }

    /// Inserts a fingerprint into the least loaded of these buckets, the leftmost of equals; with
    /// `LOOK`, only if none has it. If another thread changed the bucket meanwhile, all are read
    /// again.
    ///
    /// # Safety
    /// There must be words for the buckets.
    #[inline(always)]
    unsafe fn insert<const DD: usize, const LOOK: bool, S: Store>(
        self,
        store: &mut S,
        at: [usize; DD],
        fingerprint: u64,
    ) -> Outcome
    where
        Self: InstructionSet,
    {
        loop {
            // SAFETY: the caller vouches for words for all buckets.
            let buckets = unsafe { read(store.words(), at) };
            if LOOK && self.matches::<DD>(buckets, fingerprint) {
                return Outcome::Found;
            }
            // The least load, and of equal ones the leftmost. It is unpredictable, so no branch
            // depends on it. Plain indexes, because compilers did not unroll a chain of iterators.
            let (mut own, mut bucket, mut least) = (at[0], buckets[0], bucket64::rank(buckets[0]));
            for number in 1..DD {
                let rank = bucket64::rank(buckets[number]);
                let better = rank < least;
                own = select_unpredictable(better, at[number], own);
                bucket = select_unpredictable(better, buckets[number], bucket);
                least = select_unpredictable(better, rank, least);
            }
            if least >= bucket64::FULL {
                return Outcome::Full;
            }
            if store.replace(own, bucket, self.with(bucket, fingerprint)) {
                return Outcome::Inserted;
            }
        }
    }
}

/// # Safety
/// There must be words for the buckets.
#[inline(always)]
unsafe fn read<const DD: usize, S: Words>(words: &S, buckets: [usize; DD]) -> Four {
    let mut four = [0; MAX_SUBTABLES];
    for (bucket, at) in four.iter_mut().zip(buckets) {
        // SAFETY: the caller vouches for words for all buckets.
        *bucket = unsafe { words.word_unchecked(at) };
    }
    four
}

/// Bucket by bucket, lane by lane.
impl BucketMatch for Portable {
    #[inline(always)]
    fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
        let mut any = 0;
        for bucket in &buckets[..DD] {
            any |= bucket64::matches(*bucket, fingerprint);
        }
        any != 0
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::super::bucket64::{self, LANES, SPACE};
    use super::{BucketMatch, Four, Portable};
    use crate::filter::simd::{Avx2, Avx512};

    impl BucketMatch for Avx512 {
        #[inline(always)]
        fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
            // SAFETY: `self` exists, so the machine has AVX-512 F, DQ and VL.
            unsafe { matches_avx512(buckets, fingerprint) }
        }
    }

    impl BucketMatch for Avx2 {
        #[inline(always)]
        fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
            Portable.matches::<DD>(buckets, fingerprint)
        }
    }

    /// Like [`bucket64::matches`], but for all buckets at once.
    ///
    /// Looks the lowest bits of the lanes up by state in two registers, the only memory read
    /// besides the buckets: loading three such columns would dominate.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn matches_avx512([a, b, c, d]: Four, fingerprint: u64) -> bool {
        let buckets = _mm256_setr_epi64x(a as i64, b as i64, c as i64, d as i64);
        let states = _mm256_srli_epi64::<{ SPACE as i32 }>(buckets);
        let column = bucket64::column(fingerprint);
        // SAFETY: a column is two vectors, aligned to 64 bytes as all of `Lanes` is; the shifts are
        // one of 16 bytes.
        let (low, high, shift) = unsafe {
            (
                _mm512_load_si512(column.cast()),
                _mm512_load_si512(column.add(8).cast()),
                _mm256_broadcastsi128_si256(_mm_load_si128(LANES.shift.as_ptr().cast())),
            )
        };
        let ones =
            _mm512_castsi512_si256(_mm512_permutex2var_epi64(low, _mm512_castsi256_si512(states), high));
        let indexes = _mm256_or_si256(states, _mm256_set1_epi64x(LANES.nothing.cast_signed()));
        let shift = _mm256_shuffle_epi8(shift, indexes);
        // From the lowest bit of a lane to its highest: left by its width less one, which is right
        // by the shift and one more.
        let highs = _mm256_rorv_epi64(_mm256_ror_epi64::<1>(ones), shift);
        let lane = _mm256_srlv_epi64(_mm256_set1_epi64x(fingerprint as i64), shift);
        let difference = _mm256_xor_si256(buckets, _mm256_mullo_epi64(lane, ones));
        let borrowed = _mm256_sub_epi64(difference, ones);
        _mm256_test_epi64_mask(borrowed, _mm256_andnot_si256(difference, highs)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{self, Digester, Domain};

    struct Contains<'a>(&'a Vec<u64>, u64);

    impl Work for Contains<'_> {
        type Output = bool;

        #[inline(always)]
        fn run<I: InstructionSet>(self, set: I) -> bool {
            // SAFETY: the tests have four words.
            unsafe { set.contains(self.0, [0, 1, 2, 3], self.1) }
        }
    }

    #[test]
    fn every_path_makes_and_finds_the_same() {
        let random = |at: u64| hash::Portable::with_seed(8).digest(&at).word(Domain::new(0), 0);
        let all = [0, 1, 2, 3];
        for isa in Isa::available() {
            for table in 0..200 {
                let mut words = Vec::from([0; 4]);
                // Loads of 0 to 6, at every position.
                for place in 0..4 {
                    for at in 0..(table + 3 * place as u64) % 7 {
                        let fingerprint = random(1000 * table + 10 * place as u64 + at);
                        let expected = Portable.with(words[place], fingerprint);
                        // SAFETY: there are four words, here and below.
                        unsafe {
                            insert::<1, false, _>(isa, &mut words, [place], fingerprint);
                        }
                        assert_eq!(words[place], expected, "{isa:?}");
                        for bit in 0..64 {
                            let near = fingerprint ^ 1 << bit;
                            let expected = Portable.matches::<1>([words[place], 0, 0, 0], near);
                            // SAFETY: there are four words.
                            let found = unsafe { contains(isa, &words, [place], near) };
                            assert_eq!(found, expected, "{isa:?}");
                        }
                    }
                }
                for at in 0..1000 {
                    let fingerprint = random(1000 * table + at);
                    let expected =
                        Portable.matches::<4>([words[0], words[1], words[2], words[3]], fingerprint);
                    // SAFETY: there are four words.
                    let found = unsafe { contains(isa, &words, all, fingerprint) };
                    assert_eq!(found, expected, "{isa:?}");
                    assert_eq!(isa.run(Contains(&words, fingerprint)), expected, "{isa:?}");
                }
            }
        }
    }

    #[test]
    fn the_leftmost_of_the_least_loaded_buckets_is_taken() {
        let random = |at: u64| hash::Portable::with_seed(9).digest(&at).word(Domain::new(0), 0);
        for isa in Isa::available() {
            let mut words = Vec::from([0; 4]);
            let mut atomic = AtomicWords::from(&*words);
            for at in 0..24_u64 {
                // Sub-tables take turns from left to right.
                let expected: Vec<u64> = (0..4).map(|place| (at + 3 - place) / 4).collect();
                let loads: Vec<u64> = words.iter().map(|&word| u64::from(bucket64::load(word))).collect();
                assert_eq!(loads, expected, "{isa:?}");
                let all = [0, 1, 2, 3];
                // SAFETY: there are four words.
                let outcomes = unsafe {
                    [
                        insert::<4, true, _>(isa, &mut words, all, random(at)),
                        insert::<4, true, _>(isa, &mut &atomic, all, random(at)),
                        insert::<4, true, _>(isa, &mut words, all, random(at)),
                    ]
                };
                assert_eq!(outcomes, [Outcome::Inserted, Outcome::Inserted, Outcome::Found], "{isa:?}");
                assert_eq!(words, Vec::from(&atomic), "{isa:?}");
            }
            // SAFETY: there are four words.
            let full = unsafe { insert::<4, false, _>(isa, &mut words, [0, 1, 2, 3], random(0)) };
            assert_eq!(full, Outcome::Full, "{isa:?}");
            atomic.clear();
        }
    }
}
