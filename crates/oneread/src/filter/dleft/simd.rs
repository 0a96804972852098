//! Instructions that not every machine has.
//!
//! Why unsafe: AVX-512 compares the lanes of all buckets of a key at once, with tables that are registers; `pext` drops the bits that all fingerprints
//! of a bucket lose in one instruction, rather than one after the other. The results are the same bit for bit, which a test below
//! checks against the portable path.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use super::bucket64;
use super::choices::{Buckets, MOST_SUBTABLES};
use crate::bits::{AtomicWords, Words};

/// The buckets of a key; those that it does not have are empty.
pub(super) type Four = [u64; MOST_SUBTABLES];

/// What this machine can do, found out once for each filter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Simd {
    Portable,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Bmi,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
}

/// What comes of inserting a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Inserted,
    /// It may be there already.
    Found,
    /// No bucket has room.
    Full,
}

/// Words that change.
pub(super) trait Store {
    type Words: Words;
    fn words(&self) -> &Self::Words;
    /// Puts `to` in place of word `at`, if that is still `from`; says whether it was.
    fn replace(&mut self, at: usize, from: u64, to: u64) -> bool;
}

impl Store for &mut Vec<u64> {
    type Words = Vec<u64>;

    #[inline(always)]
    fn words(&self) -> &Vec<u64> {
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

impl Simd {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) fn detect() -> Self {
        use std::arch::is_x86_feature_detected as has;
        if !crate::bits::has_bmi() {
            Self::Portable
        } else if has!("avx512f") && has!("avx512dq") && has!("avx512bw") && has!("avx512vl") {
            Self::Avx512
        } else {
            Self::Bmi
        }
    }

    /// Without the standard library nothing can be asked of the machine.
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    pub(super) fn detect() -> Self {
        Self::Portable
    }

    /// Whether one of these buckets has a fingerprint, as far as it is kept there.
    ///
    /// # Safety
    /// There must be words for the buckets.
    #[inline(always)]
    pub(super) unsafe fn contains<const DD: usize, S: Words>(
        self,
        words: &S,
        buckets: Buckets<DD>,
        fingerprint: u64,
    ) -> bool {
        // SAFETY: the caller vouches for the words; `detect` found the features on this machine, and nothing else makes this value.
        unsafe {
            match self {
                #[cfg(all(target_arch = "x86_64", feature = "std"))]
                Self::Avx512 => in_place::Avx512::new().contains(words, buckets, fingerprint),
                _ => Portable.contains(words, buckets, fingerprint),
            }
        }
    }

    /// Inserts a fingerprint into the least loaded of these buckets, the leftmost of them; if asked to `LOOK`, only if none has it.
    ///
    /// # Safety
    /// There must be words for the buckets.
    #[inline(always)]
    pub(super) unsafe fn insert<const DD: usize, const LOOK: bool, S: Store>(
        self,
        store: S,
        buckets: Buckets<DD>,
        fingerprint: u64,
    ) -> Outcome {
        // SAFETY: as above.
        unsafe {
            match self {
                #[cfg(all(target_arch = "x86_64", feature = "std"))]
                Self::Avx512 => in_place::Avx512::new().insert::<DD, LOOK, S>(store, buckets, fingerprint),
                #[cfg(all(target_arch = "x86_64", feature = "std"))]
                Self::Bmi => in_place::Bmi::new().insert::<DD, LOOK, S>(store, buckets, fingerprint),
                Self::Portable => Portable.insert::<DD, LOOK, S>(store, buckets, fingerprint),
            }
        }
    }

    /// Does the work with the widest instructions there are.
    ///
    /// The whole of it is compiled once for each instruction set, so that nothing is called for a single key.
    #[inline(always)]
    pub(super) fn run<W: Wide>(self, work: W) -> W::Output {
        match self {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: as above.
            Self::Avx512 => unsafe { x86::run_avx512(work) },
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: as above.
            Self::Bmi => unsafe { x86::run_bmi(work) },
            Self::Portable => work.run(Portable),
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
    /// Whether one of the first `DD` buckets has a fingerprint, as far as it is kept there.
    fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool;

    /// The bucket with one more fingerprint. It must have room.
    fn with(self, bucket: u64, fingerprint: u64) -> u64;

    /// As [`Simd::contains`].
    ///
    /// # Safety
    /// There must be words for the buckets.
    #[inline(always)]
    unsafe fn contains<const DD: usize, S: Words>(
        self,
        words: &S,
        buckets: Buckets<DD>,
        fingerprint: u64,
    ) -> bool {
        // SAFETY: by the caller.
        self.matches::<DD>(unsafe { read(words, buckets) }, fingerprint)
    }

    /// As [`Simd::insert`].
    ///
    /// If another thread changed the bucket meanwhile, all are looked at anew.
    ///
    /// # Safety
    /// There must be words for the buckets.
    #[inline(always)]
    unsafe fn insert<const DD: usize, const LOOK: bool, S: Store>(
        self,
        mut store: S,
        Buckets(at): Buckets<DD>,
        fingerprint: u64,
    ) -> Outcome {
        loop {
            // SAFETY: by the caller.
            let buckets = unsafe { read(store.words(), Buckets(at)) };
            if LOOK && self.matches::<DD>(buckets, fingerprint) {
                return Outcome::Found;
            }
            // The least load, and of equal ones the leftmost. Nobody can predict which; and plain indexes, for a chain of iterators was not
            // unrolled and took half of the time of an insertion.
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
unsafe fn read<const DD: usize, S: Words>(words: &S, buckets: Buckets<DD>) -> Four {
    let mut four = [0; MOST_SUBTABLES];
    for (bucket, at) in four.iter_mut().zip(buckets.0) {
        // SAFETY: by the caller.
        *bucket = unsafe { words.word_unchecked(at) };
    }
    four
}

/// Bucket by bucket, lane by lane.
#[derive(Clone, Copy)]
struct Portable;

impl Vector for Portable {
    #[inline(always)]
    fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
        let mut any = 0;
        for bucket in &buckets[..DD] {
            any |= bucket64::matches(*bucket, fingerprint);
        }
        any != 0
    }

    #[inline(always)]
    fn with(self, bucket: u64, fingerprint: u64) -> u64 {
        bucket64::with_portable(bucket, fingerprint)
    }
}

/// For a single key, in code that is compiled for every machine: see [`crate::bits::in_place`].
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod in_place {
    use core::arch::asm;
    use core::mem::offset_of;

    use super::super::bucket64::{self, LANES, Lanes, SPACE};
    use super::{Four, Portable, Vector};
    use crate::bits::in_place::{pext, popcnt};

    /// A value proves that the machine has BMI and `popcnt`.
    #[derive(Clone, Copy)]
    pub(super) struct Bmi(());

    impl Bmi {
        /// # Safety
        /// The machine must have them.
        #[inline(always)]
        pub(super) unsafe fn new() -> Self {
            Self(())
        }
    }

    impl Vector for Bmi {
        #[inline(always)]
        fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
            Portable.matches::<DD>(buckets, fingerprint)
        }

        #[inline(always)]
        fn with(self, bucket: u64, fingerprint: u64) -> u64 {
            // SAFETY: `self` proves the features.
            let extract = |word, mask| unsafe { pext(word, mask) };
            // SAFETY: as above.
            bucket64::with(bucket, fingerprint, extract, |word| unsafe { popcnt(word) })
        }
    }

    /// As `matches_avx512`, step by step, with an instruction that adds a fourth bucket or not.
    ///
    /// Only registers above the fifteenth are used: what is in their upper parts slows no other code down, so nothing need be cleared.
    ///
    /// # Safety
    /// The machine must have AVX-512F, DQ, BW and VL. (A column is two vectors of 64 bytes, aligned to 64, as all of `LANES` is; the shifts are one of 16
    /// bytes, and nothing is written but registers that are named.)
    macro_rules! matches {
        ($a:expr, $b:expr, $c:expr, $fingerprint:expr; $fourth:literal, $($d:tt)*) => {{
            const _: () = assert!(SPACE == 60);
            let matching: u32;
            asm!(
                "vmovq xmm16, {a}",
                "vpinsrq xmm16, xmm16, {b}, 1",
                "vmovq xmm17, {c}",
                $fourth,
                "vinserti64x2 ymm16, ymm16, xmm17, 1",
                "vpsrlq ymm17, ymm16, 60",
                "vmovdqa64 zmm18, zmmword ptr [{column}]",
                "vmovdqa64 ymm19, ymm17",
                "vpermi2q zmm19, zmm18, zmmword ptr [{column} + 64]",
                "vporq ymm17, ymm17, qword ptr [{lanes} + {nothing}]{{1to4}}",
                "vbroadcasti32x4 ymm18, xmmword ptr [{lanes} + {shift}]",
                "vpshufb ymm18, ymm18, ymm17",
                "vprorq ymm20, ymm19, 1",
                "vprorvq ymm20, ymm20, ymm18",
                "vpbroadcastq ymm21, {fingerprint}",
                "vpsrlvq ymm21, ymm21, ymm18",
                "vpmullq ymm21, ymm21, ymm19",
                "vpxorq ymm16, ymm16, ymm21",
                "vpsubq ymm21, ymm16, ymm19",
                "vpandnq ymm16, ymm16, ymm20",
                "vptestmq k1, ymm21, ymm16",
                "kmovw {matching:e}, k1",
                a = in(reg) $a,
                b = in(reg) $b,
                c = in(reg) $c,
                fingerprint = in(reg) $fingerprint,
                lanes = in(reg) &raw const LANES,
                column = in(reg) bucket64::column($fingerprint),
                shift = const offset_of!(Lanes, shift),
                nothing = const offset_of!(Lanes, nothing),
                matching = lateout(reg) matching,
                out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _, out("xmm20") _, out("xmm21") _,
                out("k1") _,
                options(pure, readonly, nostack, preserves_flags),
                $($d)*
            );
            matching != 0
        }};
    }

    /// A value proves that the machine has AVX-512F, DQ, BW and VL too.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512(Bmi);

    impl Avx512 {
        /// # Safety
        /// The machine must have them.
        #[inline(always)]
        pub(super) unsafe fn new() -> Self {
            Self(Bmi(()))
        }
    }

    impl Vector for Avx512 {
        #[inline(always)]
        fn matches<const DD: usize>(self, [a, b, c, d]: Four, fingerprint: u64) -> bool {
            // SAFETY: `self` proves the features.
            unsafe {
                match DD {
                    4 => matches!(a, b, c, fingerprint; "vpinsrq xmm17, xmm17, {d}, 1", d = in(reg) d),
                    _ => matches!(a, b, c, fingerprint; "",),
                }
            }
        }

        #[inline(always)]
        fn with(self, bucket: u64, fingerprint: u64) -> u64 {
            self.0.with(bucket, fingerprint)
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::super::bucket64::{self, LANES, SPACE};
    use super::{Four, Portable, Vector, Wide};

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
    pub(super) fn run_avx512<W: Wide>(work: W) -> W::Output {
        work.run(Avx512)
    }

    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    pub(super) fn run_bmi<W: Wide>(work: W) -> W::Output {
        work.run(Bmi)
    }

    /// Made only where the machine has its features, so that it proves them.
    #[derive(Clone, Copy)]
    struct Avx512;

    impl Vector for Avx512 {
        #[inline(always)]
        fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
            // SAFETY: `self` proves the features.
            unsafe { matches_avx512(buckets, fingerprint) }
        }

        #[inline(always)]
        fn with(self, bucket: u64, fingerprint: u64) -> u64 {
            // SAFETY: `self` proves the features.
            unsafe { with(bucket, fingerprint) }
        }
    }

    /// Made only where the machine has its features, so that it proves them.
    #[derive(Clone, Copy)]
    struct Bmi;

    impl Vector for Bmi {
        #[inline(always)]
        fn matches<const DD: usize>(self, buckets: Four, fingerprint: u64) -> bool {
            Portable.matches::<DD>(buckets, fingerprint)
        }

        #[inline(always)]
        fn with(self, bucket: u64, fingerprint: u64) -> u64 {
            // SAFETY: `self` proves the features.
            unsafe { with(bucket, fingerprint) }
        }
    }

    /// As [`bucket64::matches`], for all buckets at once.
    ///
    /// The lowest bits of the lanes are looked up among the states in two registers, which is all that is read besides the buckets: with three such
    /// columns the time was that of loading them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn matches_avx512([a, b, c, d]: Four, fingerprint: u64) -> bool {
        let buckets = _mm256_setr_epi64x(a as i64, b as i64, c as i64, d as i64);
        let states = _mm256_srli_epi64::<{ SPACE as i32 }>(buckets);
        let column = bucket64::column(fingerprint);
        // SAFETY: a column is two vectors, aligned to 64 bytes as all of `Lanes` is; the shifts are one of 16 bytes.
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
        // From the lowest bit of a lane to its highest: left by its width less one, which is right by the shift and one more.
        let highs = _mm256_rorv_epi64(_mm256_ror_epi64::<1>(ones), shift);
        let lane = _mm256_srlv_epi64(_mm256_set1_epi64x(fingerprint as i64), shift);
        let difference = _mm256_xor_si256(buckets, _mm256_mullo_epi64(lane, ones));
        let borrowed = _mm256_sub_epi64(difference, ones);
        _mm256_test_epi64_mask(borrowed, _mm256_andnot_si256(difference, highs)) != 0
    }

    #[inline]
    #[target_feature(enable = "bmi2,popcnt")]
    fn with(bucket: u64, fingerprint: u64) -> u64 {
        let extract = |word, mask| _pext_u64(word, mask);
        bucket64::with(bucket, fingerprint, extract, |word: u64| u64::from(word.count_ones()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{self, Digester, Domain};

    /// The paths that this machine can take.
    fn available() -> impl Iterator<Item = Simd> {
        let best = Simd::detect();
        let paths = [
            Some(Simd::Portable),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (!matches!(best, Simd::Portable)).then_some(Simd::Bmi),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            matches!(best, Simd::Avx512).then_some(Simd::Avx512),
        ];
        paths.into_iter().flatten()
    }

    struct Contains<'a>(&'a Vec<u64>, u64);

    impl Wide for Contains<'_> {
        type Output = bool;

        #[inline(always)]
        fn run<V: Vector>(self, vector: V) -> bool {
            // SAFETY: the tests have four words.
            unsafe { vector.contains(self.0, Buckets([0, 1, 2, 3]), self.1) }
        }
    }

    #[test]
    fn every_path_makes_and_finds_the_same() {
        let random = |at: u64| hash::Portable::with_seed(8).digest(&at).word(Domain::new(0), 0);
        let all = Buckets([0, 1, 2, 3]);
        for simd in available() {
            for table in 0..200 {
                let mut words = Vec::from([0; 4]);
                // Loads of 0 to 6, in every place.
                for place in 0..4 {
                    for at in 0..(table + 3 * place as u64) % 7 {
                        let fingerprint = random(1000 * table + 10 * place as u64 + at);
                        let expected = Portable.with(words[place], fingerprint);
                        // SAFETY: there are four words, here and below.
                        unsafe {
                            simd.insert::<1, false, _>(&mut words, Buckets([place]), fingerprint);
                        }
                        assert_eq!(words[place], expected, "{simd:?}");
                        for bit in 0..64 {
                            let near = fingerprint ^ 1 << bit;
                            let expected = Portable.matches::<1>([words[place], 0, 0, 0], near);
                            // SAFETY: as above.
                            let found = unsafe { simd.contains(&words, Buckets([place]), near) };
                            assert_eq!(found, expected, "{simd:?}");
                        }
                    }
                }
                for at in 0..1000 {
                    let fingerprint = random(1000 * table + at);
                    let expected =
                        Portable.matches::<4>([words[0], words[1], words[2], words[3]], fingerprint);
                    // SAFETY: as above.
                    let found = unsafe { simd.contains(&words, all, fingerprint) };
                    assert_eq!(found, expected, "{simd:?}");
                    assert_eq!(simd.run(Contains(&words, fingerprint)), expected, "{simd:?}");
                }
            }
        }
    }

    #[test]
    fn the_leftmost_of_the_least_loaded_buckets_is_taken() {
        let random = |at: u64| hash::Portable::with_seed(9).digest(&at).word(Domain::new(0), 0);
        for simd in available() {
            let mut words = Vec::from([0; 4]);
            let mut atomic = AtomicWords::from(&*words);
            for at in 0..24_u64 {
                // Sub-tables take turns from left to right.
                let expected: Vec<u64> = (0..4).map(|place| (at + 3 - place) / 4).collect();
                let loads: Vec<u64> = words.iter().map(|&word| u64::from(bucket64::load(word))).collect();
                assert_eq!(loads, expected, "{simd:?}");
                let all = Buckets([0, 1, 2, 3]);
                // SAFETY: there are four words.
                let outcomes = unsafe {
                    [
                        simd.insert::<4, true, _>(&mut words, all, random(at)),
                        simd.insert::<4, true, _>(&atomic, all, random(at)),
                        simd.insert::<4, true, _>(&mut words, all, random(at)),
                    ]
                };
                assert_eq!(outcomes, [Outcome::Inserted, Outcome::Inserted, Outcome::Found], "{simd:?}");
                assert_eq!(words, Vec::from(&atomic), "{simd:?}");
            }
            // SAFETY: there are four words.
            let full = unsafe { simd.insert::<4, false, _>(&mut words, Buckets([0, 1, 2, 3]), random(0)) };
            assert_eq!(full, Outcome::Full, "{simd:?}");
            atomic.clear();
        }
    }
}
