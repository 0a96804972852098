//! The value of `CMS.*` keys.

use oneread::bytes::WordArray;
use oneread::hash::{Digest, Digester, Domain, Portable, reduce};

use super::{Reader, Refused, Value, Writer, check_memory, too_large};

/// A Count-Min sketch with counters of 32 bits, half the size of the library's. A counter that
/// would exceed 2^32 − 1 stays there, and clients are told of it, as by RedisBloom.
#[derive(Clone)]
pub(crate) struct SketchValue {
    width: u64,
    depth: u32,
    seed: u64,
    /// The sum of all counts, at most 2^63 − 1.
    total: u64,
    /// Rows of `width` counters, two per word.
    words: Vec<u64>,
}

/// Why sketches cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SumError {
    Dimensions,
    Seeds,
    /// A count would be negative or too large.
    OutOfRange,
}

/// The first number of an outline: the version of the format.
const VERSION: u64 = 1;

/// The counters of an item.
const COUNTERS: Domain = Domain::COUNT_MIN;

impl SketchValue {
    /// The width and depth that RedisBloom uses for an error and a probability. With ⌈2/error⌉
    /// counters per row, a row's estimate is too high by more than the error with probability at
    /// most 1/2 (Markov). There are enough rows that all of them err at once with at most the given
    /// probability.
    pub(crate) fn dimensions(error: f64, probability: f64) -> (u64, u32) {
        let depth = (probability.ln() / 0.5f64.ln()).ceil();
        ((2.0 / error).ceil() as u64, (depth as u32).max(1))
    }

    /// The bytes of a new sketch, computed before any are allocated.
    pub(crate) fn byte_len_of(width: u64, depth: u32) -> u64 {
        width.saturating_mul(depth.into()).div_ceil(2).saturating_mul(8)
    }

    pub(crate) fn new(width: u64, depth: u32, seed: u64) -> Result<Self, Refused> {
        let bytes = usize::try_from(Self::byte_len_of(width, depth))?;
        check_memory(bytes)?;
        Ok(Self { width, depth, seed, total: 0, words: vec![0; bytes / 8] })
    }

    fn counter(&self, place: usize) -> u32 {
        (self.words[place / 2] >> (32 * (place % 2))) as u32
    }

    fn set_counter(&mut self, place: usize, counter: u32) {
        let (word, shift) = (&mut self.words[place / 2], 32 * (place % 2));
        *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(counter) << shift;
    }

    fn digest(&self, item: &[u8]) -> Digest {
        Portable::with_seed(self.seed).digest(item)
    }

    /// The counter of each row. Rows are independent, so that the probability holds.
    fn places(&self, digest: Digest) -> impl Iterator<Item = usize> + use<> {
        let width = self.width;
        (0..self.depth)
            .map(move |row| (u64::from(row) * width + reduce(digest.word(COUNTERS, row), width)) as usize)
    }

    /// Adds `count` to an item's count and returns its new estimate.
    pub(crate) fn add(&mut self, item: &[u8], count: u64) -> u32 {
        self.total = self.total.saturating_add(count).min(i64::MAX as u64);
        let (digest, mut least) = (self.digest(item), u32::MAX);
        for place in self.places(digest) {
            let before = self.counter(place);
            let counter = u32::try_from(count).map_or(u32::MAX, |count| before.saturating_add(count));
            self.set_counter(place, counter);
            least = least.min(counter);
        }
        least
    }

    pub(crate) fn estimate(&self, item: &[u8]) -> u64 {
        let places = self.places(self.digest(item));
        places.map(|place| u64::from(self.counter(place))).min().unwrap_or(0)
    }

    /// Replaces this sketch by the weighted sum of `parts`. Nothing is changed in case of an error.
    pub(crate) fn set_to_sum(&mut self, parts: &[(&Self, i64)]) -> Result<(), SumError> {
        for (part, _) in parts {
            if (part.width, part.depth) != (self.width, self.depth) {
                return Err(SumError::Dimensions);
            }
            if part.seed != self.seed {
                return Err(SumError::Seeds);
            }
        }
        // A product is below 2^127, and sums saturate far outside the range of a counter.
        let sum = |count: &dyn Fn(&Self) -> u64, most: u64| {
            let sum = parts.iter().fold(0i128, |sum, &(part, weight)| {
                sum.saturating_add(i128::from(weight) * i128::from(count(part)))
            });
            u64::try_from(sum).ok().filter(|&sum| sum <= most).ok_or(SumError::OutOfRange)
        };
        let counter = |at: usize| sum(&|part| part.counter(at).into(), u32::MAX.into());
        let total = sum(&|part| part.total, i64::MAX as u64)?;
        let counters = self.width as usize * self.depth as usize;
        (0..counters).try_for_each(|at| counter(at).map(drop))?;
        for at in 0..counters {
            self.set_counter(at, counter(at)? as u32);
        }
        self.total = total;
        Ok(())
    }

    pub(crate) const fn width(&self) -> u64 {
        self.width
    }

    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }
}

impl Value for SketchValue {
    fn write_outline(&self, writer: &mut Writer) {
        writer.fields([VERSION, self.width, self.depth.into(), self.seed, self.total]);
    }

    fn from_outline(reader: &mut Reader<'_>, most_bytes: u64) -> Result<Self, Refused> {
        let (version, width, depth) = (reader.number()?, reader.number()?, reader.narrow()?);
        if version != VERSION || width == 0 || depth == 0 {
            return Err(Refused("a sketch of another version, or without counters".into()));
        }
        let bytes = Self::byte_len_of(width, depth);
        if bytes > most_bytes {
            return Err(too_large(bytes, most_bytes));
        }
        let mut sketch = Self::new(width, depth, reader.number()?)?;
        sketch.total = reader.number()?.min(i64::MAX as u64);
        Ok(sketch)
    }

    fn arrays(&self) -> Vec<&dyn WordArray> {
        vec![&self.words]
    }

    fn arrays_mut(&mut self) -> Vec<&mut dyn WordArray> {
        vec![&mut self.words]
    }

    fn byte_len(&self) -> usize {
        self.words.len() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sketches as `CMS.INITBYPROB` makes them, with `items` items counted once each, and an error
    /// so small that a single other item in each row is too much. Of items that were not counted,
    /// as many as the probability are estimated too high.
    ///
    /// An item shares a row's counter with probability 1 − (1 − 1/(2n + 2))^n, below 1 − e^-1/2 =
    /// 0.39, where one in two is allowed. Rows are independent, so 10 of them fail together in
    /// 9e-5 of all queries, and 20 in 8e-9. With rows that are made of two words, all fail at once
    /// where both words meet those of an item.
    fn errs_as_seldom_as_asked(items: u64, probability: f64, sketches: u64, queries: u64) {
        let error = 1.0 / (items + 1) as f64;
        let (width, depth) = SketchValue::dimensions(error, probability);
        let mut too_high = 0;
        for seed in 0..sketches {
            let mut sketch = SketchValue::new(width, depth, seed).unwrap();
            for item in 0..items {
                sketch.add(&item.to_le_bytes(), 1);
            }
            let foreign: Vec<[u8; 8]> = (1 << 60..1 << 60 | queries).map(u64::to_le_bytes).collect();
            let most = error * sketch.total() as f64;
            for item in &foreign {
                too_high += u64::from(sketch.estimate(item) as f64 > most);
            }
            // Those that were counted are never too low, and as seldom too high.
            assert!((0..items).all(|item| sketch.estimate(&item.to_le_bytes()) >= 1));
        }
        // Six deviations and 20 more: what a correct sketch does is far below, and a Poisson count
        // of mean 1 is above 20 once in 5e19.
        let allowed = probability * (sketches * queries) as f64;
        assert!(
            too_high as f64 <= allowed + 6.0 * allowed.sqrt() + 20.0,
            "{items} items at {probability}: {too_high} of {} too high",
            sketches * queries
        );
    }

    /// Of 180,000 estimates, 373 were too high at a probability of 10^-6.
    #[test]
    fn estimates_are_too_high_as_seldom_as_asked() {
        errs_as_seldom_as_asked(10, 1e-6, 50, 2000);
        errs_as_seldom_as_asked(100, 1e-6, 20, 5000);
        errs_as_seldom_as_asked(100, 0.001, 20, 5000);
        errs_as_seldom_as_asked(10_000, 1e-6, 1, 100_000);
    }

    #[test]
    fn counters_stay_at_their_largest_value() {
        let mut sketch = SketchValue::new(10, 3, 1).unwrap();
        assert_eq!(sketch.add(b"a", u64::from(u32::MAX) - 1), u32::MAX - 1);
        assert_eq!(sketch.add(b"a", 1), u32::MAX);
        assert_eq!(sketch.add(b"a", 1), u32::MAX);
        assert_eq!(sketch.add(b"b", i64::MAX as u64), u32::MAX);
        assert_eq!((sketch.estimate(b"a"), sketch.total()), (u64::from(u32::MAX), i64::MAX as u64));
        let (before, one) = (sketch.clone(), SketchValue::new(10, 3, 1).unwrap());
        assert_eq!(sketch.set_to_sum(&[(&before, 2)]), Err(SumError::OutOfRange));
        assert_eq!(sketch.set_to_sum(&[(&one, 1), (&before, -1)]), Err(SumError::OutOfRange));
        let other = SketchValue::new(10, 3, 2).unwrap();
        assert_eq!(sketch.set_to_sum(&[(&other, 1)]), Err(SumError::Seeds));
        assert_eq!(sketch.estimate(b"a"), u64::from(u32::MAX));
        sketch.set_to_sum(&[(&one, 1)]).unwrap();
        assert_eq!((sketch.estimate(b"a"), sketch.total()), (0, 0));
    }

    #[test]
    #[ignore = "long: about 5 s"]
    fn estimates_of_a_million_items_are_too_high_as_seldom_as_asked() {
        errs_as_seldom_as_asked(10_000, 0.001, 20, 50_000);
        errs_as_seldom_as_asked(1_000_000, 0.001, 1, 1_000_000);
    }
}
