//! Instructions that not every machine has.
//!
//! Why unsafe: AVX-512 compares the lanes of all buckets of a key at once, with tables that are registers; `pext` drops the bits that all fingerprints
//! of a bucket lose in one instruction, rather than one after the other. The results are the same bit for bit, which a test below
//! checks against the portable path.

use super::bucket64;

/// The buckets of a key; those that it does not have are empty.
pub(super) type Four = [u64; 4];

/// Of four buckets, a fingerprint, and whether to look for it.
type InsertFn = unsafe fn(u64, u64, u64, u64, u64, bool) -> Outcome;

/// What this machine can do, found out once for each filter.
#[derive(Clone, Copy)]
pub(super) struct Simd {
    width: Width,
    /// Buckets one by one: an array would go through memory.
    matches: unsafe fn(u64, u64, u64, u64, u64) -> bool,
    /// By the number of buckets.
    insert: [InsertFn; 5],
    with: unsafe fn(u64, u64) -> u64,
}

/// What comes of inserting a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The bucket of this number becomes this.
    Inserted(u32, u64),
    /// It may be there already.
    Found,
    /// No bucket has room.
    Full,
}

#[derive(Clone, Copy, Debug)]
enum Width {
    Portable,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Bmi2,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
}

impl Simd {
    pub(super) const PORTABLE: Self = Self {
        width: Width::Portable,
        matches: |a, b, c, d, fingerprint| Portable.matches([a, b, c, d], fingerprint),
        insert: [
            insert_portable::<0>,
            insert_portable::<1>,
            insert_portable::<2>,
            insert_portable::<3>,
            insert_portable::<4>,
        ],
        with: |bucket, fingerprint| Portable.with(bucket, fingerprint),
    };

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    const BMI2: Self = Self {
        width: Width::Bmi2,
        matches: x86::matches_bmi2,
        insert: [
            x86::insert_bmi2::<0>,
            x86::insert_bmi2::<1>,
            x86::insert_bmi2::<2>,
            x86::insert_bmi2::<3>,
            x86::insert_bmi2::<4>,
        ],
        with: x86::with,
    };

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    const AVX512: Self = Self {
        width: Width::Avx512,
        matches: x86::matches_avx512,
        insert: [
            x86::insert_avx512::<0>,
            x86::insert_avx512::<1>,
            x86::insert_avx512::<2>,
            x86::insert_avx512::<3>,
            x86::insert_avx512::<4>,
        ],
        with: x86::with,
    };

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) fn detect() -> Self {
        use std::arch::is_x86_feature_detected as has;
        if cfg!(miri) || !has!("bmi2") || !has!("popcnt") {
            Self::PORTABLE
        } else if has!("avx512f") && has!("avx512dq") && has!("avx512vl") {
            Self::AVX512
        } else {
            Self::BMI2
        }
    }

    /// Without the standard library nothing can be asked of the machine.
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    pub(super) fn detect() -> Self {
        Self::PORTABLE
    }

    /// Whether one of the buckets has a fingerprint, as far as it is kept there.
    #[inline(always)]
    pub(super) fn matches(self, buckets: Four, fingerprint: u64) -> bool {
        let [a, b, c, d] = buckets;
        // SAFETY: `detect` found the features on this machine; nothing else makes this value.
        unsafe { (self.matches)(a, b, c, d, fingerprint) }
    }

    /// Inserts a fingerprint into the least loaded of the first `DD` buckets, the leftmost of them; if asked to look, only if none
    /// has it.
    #[inline(always)]
    pub(super) fn insert<const DD: usize>(self, buckets: Four, fingerprint: u64, look: bool) -> Outcome {
        let [a, b, c, d] = buckets;
        // SAFETY: as above.
        unsafe { (self.insert[DD])(a, b, c, d, fingerprint, look) }
    }

    /// The bucket with one more fingerprint. It must have room.
    #[inline(always)]
    pub(super) fn with(self, bucket: u64, fingerprint: u64) -> u64 {
        // SAFETY: as above.
        unsafe { (self.with)(bucket, fingerprint) }
    }

    /// Does the work with the widest instructions there are.
    ///
    /// The whole of it is compiled once for each instruction set, so that nothing is called for a single key.
    #[inline(always)]
    pub(super) fn run<W: Wide>(self, work: W) -> W::Output {
        match self.width {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: as above.
            Width::Avx512 => unsafe { x86::run_avx512(work) },
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: as above.
            Width::Bmi2 => unsafe { x86::run_bmi2(work) },
            Width::Portable => work.run(Portable),
        }
    }
}

/// Something to be done with many keys. Its `run` must be `#[inline(always)]`, to be compiled for the instruction set.
pub(super) trait Wide {
    type Output;
    fn run<V: Vector>(self, vector: V) -> Self::Output;
}

/// A way to handle buckets.
pub(super) trait Vector: Copy {
    /// Whether one of the buckets has a fingerprint, as far as it is kept there.
    fn matches(self, buckets: Four, fingerprint: u64) -> bool;

    /// The bucket with one more fingerprint. It must have room.
    fn with(self, bucket: u64, fingerprint: u64) -> u64;

    /// Inserts a fingerprint into the least loaded of the first `DD` buckets.
    #[inline(always)]
    fn insert<const DD: usize>(self, buckets: Four, fingerprint: u64, look: bool) -> Outcome {
        if look && self.matches(buckets, fingerprint) {
            return Outcome::Found;
        }
        // The least load, and of equal ones the leftmost, without a branch that nobody can predict.
        let (mut bucket, mut least) = (buckets[0], 4 * bucket64::load(buckets[0]));
        for (number, &other) in (0..).zip(&buckets).take(DD).skip(1) {
            let load = 4 * bucket64::load(other) + number;
            let better = load < least;
            bucket = if better { other } else { bucket };
            least = if better { load } else { least };
        }
        if least >= 4 * bucket64::CAPACITY {
            return Outcome::Full;
        }
        Outcome::Inserted(least % 4, self.with(bucket, fingerprint))
    }
}

fn insert_portable<const DD: usize>(a: u64, b: u64, c: u64, d: u64, fingerprint: u64, look: bool) -> Outcome {
    Portable.insert::<DD>([a, b, c, d], fingerprint, look)
}

/// Bucket by bucket, lane by lane.
#[derive(Clone, Copy)]
struct Portable;

impl Vector for Portable {
    #[inline(always)]
    fn matches(self, buckets: Four, fingerprint: u64) -> bool {
        buckets.into_iter().fold(0, |any, bucket| any | bucket64::matches(bucket, fingerprint)) != 0
    }

    #[inline(always)]
    fn with(self, bucket: u64, fingerprint: u64) -> u64 {
        bucket64::with(bucket, fingerprint, bucket64::extract)
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::super::bucket64::{self, LANES, SPACE};
    use super::{Four, Outcome, Portable, Vector, Wide};

    /// # Safety
    /// The machine must have the features.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2,popcnt")]
    pub(super) fn run_avx512<W: Wide>(work: W) -> W::Output {
        work.run(Avx512)
    }

    /// # Safety
    /// The machine must have the features.
    #[target_feature(enable = "bmi2,popcnt")]
    pub(super) fn run_bmi2<W: Wide>(work: W) -> W::Output {
        work.run(Bmi2)
    }

    /// Made only by `run_avx512`, so that it proves the machine to have its features.
    #[derive(Clone, Copy)]
    struct Avx512;

    impl Vector for Avx512 {
        #[inline(always)]
        fn matches(self, buckets: Four, fingerprint: u64) -> bool {
            let [a, b, c, d] = buckets;
            // SAFETY: `self` proves the features.
            unsafe { matches_avx512(a, b, c, d, fingerprint) }
        }

        #[inline(always)]
        fn with(self, bucket: u64, fingerprint: u64) -> u64 {
            // SAFETY: `self` proves the features.
            unsafe { with(bucket, fingerprint) }
        }
    }

    /// Made only by `run_bmi2`, so that it proves the machine to have its features.
    #[derive(Clone, Copy)]
    struct Bmi2;

    impl Vector for Bmi2 {
        #[inline(always)]
        fn matches(self, buckets: Four, fingerprint: u64) -> bool {
            Portable.matches(buckets, fingerprint)
        }

        #[inline(always)]
        fn with(self, bucket: u64, fingerprint: u64) -> u64 {
            // SAFETY: `self` proves the features.
            unsafe { with(bucket, fingerprint) }
        }
    }

    /// The table of [`bucket64`], by columns, as registers hold it: sixteen states in two of them.
    #[repr(C, align(64))]
    struct Columns {
        ones: [[u64; 16]; 2],
        highs: [[u64; 16]; 2],
        shift: [u64; 16],
    }

    static COLUMNS: Columns = {
        let mut columns = Columns { ones: [[0; 16]; 2], highs: [[0; 16]; 2], shift: [0; 16] };
        let mut state = 0;
        while state < 16 {
            let mut sorting = 0;
            while sorting < 2 {
                let lanes = LANES[state][sorting];
                columns.ones[sorting][state] = lanes.ones;
                columns.highs[sorting][state] = lanes.highs;
                columns.shift[state] = lanes.shift;
                sorting += 1;
            }
            state += 1;
        }
        columns
    };

    /// The entries of a column for four states.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn entries(column: &[u64; 16], states: __m512i) -> __m256i {
        // SAFETY: a column is two vectors, aligned to 64 bytes as all of `Columns` are.
        let [low, high] = [0, 8].map(|at| unsafe { _mm512_load_si512(column.as_ptr().add(at).cast()) });
        _mm512_castsi512_si256(_mm512_permutex2var_epi64(low, states, high))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) fn matches_avx512(a: u64, b: u64, c: u64, d: u64, fingerprint: u64) -> bool {
        let buckets = _mm256_setr_epi64x(a as i64, b as i64, c as i64, d as i64);
        let states = _mm512_castsi256_si512(_mm256_srli_epi64::<{ SPACE as i32 }>(buckets));
        let sorting = bucket64::sorting_bit(fingerprint);
        let ones = entries(&COLUMNS.ones[sorting], states);
        let highs = entries(&COLUMNS.highs[sorting], states);
        let shift = entries(&COLUMNS.shift, states);
        let lane = _mm256_srlv_epi64(_mm256_set1_epi64x(fingerprint as i64), shift);
        // As in `bucket64::matches`.
        let difference = _mm256_xor_si256(buckets, _mm256_mullo_epi64(lane, ones));
        let borrowed = _mm256_sub_epi64(difference, ones);
        _mm256_test_epi64_mask(borrowed, _mm256_andnot_si256(difference, highs)) != 0
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    pub(super) fn matches_bmi2(a: u64, b: u64, c: u64, d: u64, fingerprint: u64) -> bool {
        Portable.matches([a, b, c, d], fingerprint)
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi2,popcnt")]
    pub(super) fn insert_avx512<const DD: usize>(
        a: u64,
        b: u64,
        c: u64,
        d: u64,
        fingerprint: u64,
        look: bool,
    ) -> Outcome {
        Avx512.insert::<DD>([a, b, c, d], fingerprint, look)
    }

    #[target_feature(enable = "bmi2,popcnt")]
    pub(super) fn insert_bmi2<const DD: usize>(
        a: u64,
        b: u64,
        c: u64,
        d: u64,
        fingerprint: u64,
        look: bool,
    ) -> Outcome {
        Bmi2.insert::<DD>([a, b, c, d], fingerprint, look)
    }

    #[inline]
    #[target_feature(enable = "bmi2,popcnt")]
    pub(super) fn with(bucket: u64, fingerprint: u64) -> u64 {
        bucket64::with(bucket, fingerprint, |word, mask| _pext_u64(word, mask))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Domain, Ideal};

    /// The paths that this machine can take.
    fn available() -> impl Iterator<Item = Simd> {
        let paths = [
            Some(Simd::PORTABLE),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (!cfg!(miri) && std::arch::is_x86_feature_detected!("bmi2")).then_some(Simd::BMI2),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (!cfg!(miri) && std::arch::is_x86_feature_detected!("avx512vl")).then_some(Simd::AVX512),
        ];
        paths.into_iter().flatten()
    }

    struct Matches(Four, u64);

    impl Wide for Matches {
        type Output = bool;

        #[inline(always)]
        fn run<V: Vector>(self, vector: V) -> bool {
            vector.matches(self.0, self.1)
        }
    }

    #[test]
    fn every_path_makes_and_finds_the_same() {
        let random = |at: u64| Ideal::with_seed(8).digest(&at).word(Domain::new(0), 0);
        for simd in available() {
            for table in 0..200 {
                let mut buckets = [0; 4];
                // Loads of 0 to 6, in every place.
                for (place, bucket) in buckets.iter_mut().enumerate() {
                    for at in 0..(table + 3 * place as u64) % 7 {
                        let fingerprint = random(1000 * table + 10 * place as u64 + at);
                        let expected = Portable.with(*bucket, fingerprint);
                        *bucket = simd.with(*bucket, fingerprint);
                        assert_eq!(*bucket, expected, "{:?}", simd.width);
                        for bit in 0..64 {
                            let near = fingerprint ^ 1 << bit;
                            let expected = Portable.matches(buckets_of(*bucket), near);
                            assert_eq!(simd.matches(buckets_of(*bucket), near), expected, "{:?}", simd.width);
                            assert_eq!(
                                simd.run(Matches(buckets_of(*bucket), near)),
                                expected,
                                "{:?}",
                                simd.width
                            );
                        }
                    }
                }
                for at in 0..1000 {
                    let expected = Portable.matches(buckets, random(1000 * table + at));
                    assert_eq!(
                        simd.matches(buckets, random(1000 * table + at)),
                        expected,
                        "{:?}",
                        simd.width
                    );
                }
            }
        }
    }

    fn buckets_of(bucket: u64) -> Four {
        [0, bucket, 0, 0]
    }
}
