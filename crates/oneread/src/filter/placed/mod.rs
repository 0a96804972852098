//! The placed filter: one fingerprint per cell, placed by cuckoo hashing, for a static set.
//!
//! # Invariants
//! 1. Each key's fingerprint is in one of its four cells, and no two keys share a cell: no false
//!    negatives.
//! 2. A cell without a key is 0, and no fingerprint is.
//!
//! # Layout
//! Cell i of f bits occupies bits i·f to i·f + f − 1 of the words, counted from the least
//! significant bit of word 0; it may lie across two words.

mod saved;

use alloc::vec::Vec;
use core::fmt;

use super::batch::CACHED_BYTES;
use super::cores::{Counted, FilterCore, Same};
use super::distinct::distinct;
use super::{BuildError, Filter};
use crate::bits::{LittleEndian, OutOfMemory, Words, zeroed};
use crate::bytes::View;
#[cfg(feature = "std")]
use crate::hash::Digester;
use crate::hash::{Digest, Domain, Portable, reduce};
use crate::layout::{LayoutError, Quantity};
use crate::plan;

/// The cells of a key.
const CHOICES: usize = plan::placed::CHOICES as usize;

/// The most times that all keys get other cells because they could not be placed.
const ATTEMPTS: u32 = 64;

/// Steps per key for each attempt, on average. With 1.05 cells per key, 1.2 are taken.
const STEPS_PER_KEY: u64 = 50;

/// Additional steps, for small sets.
const STEPS: u64 = 1000;

/// A cell without a key.
const NONE: u32 = u32::MAX;

/// The core of [`PlacedFilter`] and [`PlacedView`], over words of storage `S`.
#[derive(Clone)]
pub struct Placed<S> {
    keys: u64,
    cells: u64,
    fingerprint_bits: u32,
    /// The number of the choices that the keys use: 0 unless they had to be drawn again.
    attempt: u32,
    words: S,
}

/// Tells which keys are certainly not in a static set, by comparing fingerprints in four cells.
///
/// Each key has four cells, and its fingerprint is in one of them, which it shares with no other
/// key. So a lookup compares four fingerprints, where a [`DLeftFilter`](super::DLeftFilter)
/// compares twelve. With fingerprints of 15 bits, 15.75 bits per key, one absent key in 8,600 is a
/// false positive; a d-left filter of 16 bits per key has four times as many. It must be built from
/// all keys at once.
///
/// # Source
/// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
/// Bit Reassignment", 2006, an aside of section II-D; that four choices suffice for 1.05n cells is
/// from Fotakis, Pagh, Sanders, Spirakis, 2003. Differs from the paper in: no fingerprint is 0, so
/// that an empty cell matches none.
///
/// # Costs
/// ⌈1.05 n⌉ cells of f bits, at a rate of 4·2^−f/1.05: [`plan::placed`]. Four reads per lookup.
/// Building takes 16 bytes per key and 4 per cell.
///
/// # Limits
/// Placing is a random walk of 1.2 steps per key. If it takes more than 50 on average, all keys get
/// other cells, up to 64 times; then building fails. Only small sets need this: one walk in 14
/// fails for 40 keys, one in 200 for 320, and we have seen none in thousands for 640 keys or more.
/// A failure of all 64 is not to be expected for any set.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate, or prevent the filter from being built.
///
/// # Example
/// ```
/// use oneread::filter::PlacedFilter;
///
/// let keys: Vec<u64> = (0..10_000).collect();
/// let filter = PlacedFilter::from_keys(&keys, 15)?;
/// assert!(keys.iter().all(|key| filter.contains(key)));
/// let found = (1_000_000..1_100_000u64).filter(|key| filter.contains(key)).count();
/// assert!(found < 60); // about 12
/// # Ok::<(), oneread::filter::PlacementError>(())
/// ```
pub type PlacedFilter<D = Portable> = Filter<Placed<Vec<u64>>, D>;

/// A [`PlacedFilter`] queried in place.
pub type PlacedView<'a, D = Portable> = View<'a, Filter<Placed<LittleEndian<'a>>, D>>;

impl PlacedFilter {
    /// A filter of all these keys, with fingerprints of `fingerprint_bits` bits and a random seed.
    ///
    /// # Errors
    /// Like [`from_digests`](Self::from_digests).
    #[cfg(feature = "std")]
    pub fn from_keys<'q, Q: ?Sized + 'q>(
        keys: impl IntoIterator<Item = &'q Q>,
        fingerprint_bits: u32,
    ) -> Result<Self, PlacementError>
    where
        Portable: Digester<Q>,
    {
        let digester = Portable::random();
        Self::from_digests(keys.into_iter().map(|key| digester.digest(key)), fingerprint_bits, digester)
    }
}

impl<D> PlacedFilter<D> {
    /// The longest fingerprints.
    pub const MAX_BITS: u32 = Placed::<Vec<u64>>::MAX_BITS;

    /// A filter of the keys of these digests, which `digester` made. A repeated digest is one key.
    ///
    /// # Errors
    /// If fingerprints have no bits or more than [`MAX_BITS`](Self::MAX_BITS), if there are 2^32 −
    /// 1 keys or more, or no memory for them; or if the keys cannot be placed.
    pub fn from_digests(
        digests: impl IntoIterator<Item = Digest>,
        fingerprint_bits: u32,
        digester: D,
    ) -> Result<Self, PlacementError> {
        let digests = distinct(digests)?;
        let cells = plan::placed::cells(digests.len() as u64);
        Ok(Self::of(Placed::with_cells(&digests, cells, fingerprint_bits)?, digester))
    }
}

impl Placed<Vec<u64>> {
    const MAX_BITS: u32 = 32;

    /// A filter of distinct digests in `cells` cells.
    fn with_cells(digests: &[Digest], cells: u64, fingerprint_bits: u32) -> Result<Self, PlacementError> {
        if !(1..=Self::MAX_BITS).contains(&fingerprint_bits) {
            let (expected, found) = (u64::from(Self::MAX_BITS), u64::from(fingerprint_bits));
            return Err(LayoutError::TooLarge { what: Quantity::FingerprintBits, expected, found }.into());
        }
        let keys = digests.len() as u64;
        if keys >= u64::from(NONE) {
            let expected = u64::from(NONE) - 1;
            return Err(LayoutError::TooLarge { what: Quantity::Items, expected, found: keys }.into());
        }
        let words = zeroed(0, word_count(cells, fingerprint_bits))?;
        let mut filter = Self { keys, cells, fingerprint_bits, attempt: 0, words };
        let mut owners = zeroed(NONE, cells)?;
        for attempt in 0..ATTEMPTS {
            filter.attempt = attempt;
            if filter.place(digests, &mut owners) {
                filter.fill(digests, &owners);
                return Ok(filter);
            }
            owners.fill(NONE);
        }
        Err(PlacementError::Unplaced { keys, cells, attempts: ATTEMPTS })
    }

    /// Gives each cell an owner, so that each key owns one of its cells; reports whether this
    /// succeeded within the allowed steps.
    fn place(&self, digests: &[Digest], owners: &mut [u32]) -> bool {
        let mut steps = STEPS_PER_KEY * self.keys + STEPS;
        // Any sequence that does not depend on the keys.
        let mut random = u64::from(self.attempt);
        for key in 0..digests.len() as u32 {
            // The key to be placed, and the cell that it lost.
            let (mut homeless, mut lost) = (key, usize::MAX);
            loop {
                let cells = self.choices(digests[homeless as usize]);
                if let Some(&free) = cells.iter().find(|&&cell| owners[cell] == NONE) {
                    owners[free] = homeless;
                    break;
                }
                if steps == 0 {
                    return false;
                }
                steps -= 1;
                random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                let mut cell = cells[(random >> 62) as usize];
                if cell == lost {
                    // The next of its cells.
                    cell = cells[((random >> 62) as usize + 1) % CHOICES];
                }
                homeless = core::mem::replace(&mut owners[cell], homeless);
                lost = cell;
            }
        }
        true
    }

    /// Writes the fingerprints of the owners.
    fn fill(&mut self, digests: &[Digest], owners: &[u32]) {
        for (cell, &owner) in owners.iter().enumerate().filter(|(_, owner)| **owner != NONE) {
            let (at, shift) = self.shift(cell);
            let bits = u128::from(self.fingerprint(digests[owner as usize])) << shift;
            self.words[at] |= bits as u64;
            if shift + self.fingerprint_bits > 64 {
                self.words[at + 1] |= (bits >> 64) as u64;
            }
        }
    }
}

impl<S: Words> FilterCore for Placed<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let fingerprint = self.fingerprint(digest);
        // All of them, so that no branch depends on which one matches.
        self.choices(digest).into_iter().fold(false, |found, cell| found | (self.cell(cell) == fingerprint))
    }

    fn prefetch_all(&self, digests: &[Digest]) {
        if self.byte_len() >= CACHED_BYTES {
            let cells = digests.iter().flat_map(|&digest| self.choices(digest));
            cells.for_each(|cell| self.words.prefetch(self.shift(cell).0));
        }
    }

    fn is_empty(&self) -> bool {
        self.keys == 0
    }

    fn byte_len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn false_positive_rate(&self) -> f64 {
        plan::placed::false_positive_probability(self.keys, self.cells, self.fingerprint_bits)
    }
}

impl<S> Counted for Placed<S> {
    fn len(&self) -> u64 {
        self.keys
    }
}

impl<D, S> Filter<Placed<S>, D> {
    /// The number of cells.
    pub fn cells(&self) -> u64 {
        self.core().cells
    }

    /// The bits of a fingerprint.
    pub fn fingerprint_bits(&self) -> u32 {
        self.core().fingerprint_bits
    }

    /// How often keys got other cells because they could not be placed.
    pub fn attempts(&self) -> u32 {
        self.core().attempt
    }
}

impl<S: Words> Placed<S> {
    /// The cells of a key.
    #[inline(always)]
    fn choices(&self, digest: Digest) -> [usize; CHOICES] {
        let first = self.attempt * (CHOICES as u32 + 1);
        core::array::from_fn(|i| reduce(digest.word(Domain::PLACED, first + i as u32), self.cells) as usize)
    }

    /// The fingerprint of a key, which is not 0.
    #[inline(always)]
    fn fingerprint(&self, digest: Digest) -> u64 {
        let word = digest.word(Domain::PLACED, self.attempt * (CHOICES as u32 + 1) + CHOICES as u32);
        reduce(word, (1 << self.fingerprint_bits) - 1) + 1
    }

    /// The word that a cell begins in, and its lowest bit there.
    #[inline(always)]
    fn shift(&self, cell: usize) -> (usize, u32) {
        let bit = cell as u64 * u64::from(self.fingerprint_bits);
        ((bit / 64) as usize, (bit % 64) as u32)
    }

    #[inline(always)]
    fn cell(&self, cell: usize) -> u64 {
        let (at, shift) = self.shift(cell);
        let mut bits = self.words.word(at) >> shift;
        if shift + self.fingerprint_bits > 64 {
            bits |= self.words.word(at + 1) << (64 - shift);
        }
        bits & ((1 << self.fingerprint_bits) - 1)
    }
}

/// The number of words of `cells` cells.
const fn word_count(cells: u64, fingerprint_bits: u32) -> u64 {
    (cells * fingerprint_bits as u64).div_ceil(64)
}

impl<S> fmt::Debug for Placed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed")
            .field("keys", &self.keys)
            .field("cells", &self.cells)
            .field("fingerprint_bits", &self.fingerprint_bits)
            .field("attempts", &self.attempt)
            .finish_non_exhaustive()
    }
}

impl<S: Words, T: Words> Same<Placed<T>> for Placed<S> {
    fn is_same(&self, other: &Placed<T>) -> bool {
        let fields = (self.keys, self.cells, self.fingerprint_bits, self.attempt);
        fields == (other.keys, other.cells, other.fingerprint_bits, other.attempt)
            && (0..self.words.len()).all(|at| self.words.word(at) == other.words.word(at))
    }
}

/// The error of building a placed filter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlacementError {
    /// The filter does not exist, or there is no memory for it.
    Build(BuildError),
    /// The keys found no cells of their own.
    Unplaced {
        /// The number of keys.
        keys: u64,
        /// The number of cells.
        cells: u64,
        /// The number of attempts.
        attempts: u32,
    },
}

impl From<LayoutError> for PlacementError {
    fn from(error: LayoutError) -> Self {
        Self::Build(error.into())
    }
}

impl From<OutOfMemory> for PlacementError {
    fn from(error: OutOfMemory) -> Self {
        Self::Build(error.into())
    }
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Unplaced { keys, cells, attempts } => write!(
                f,
                "{keys} keys could not be placed in {cells} cells in {attempts} attempts: build a d-left filter, which needs no placing"
            ),
        }
    }
}

impl core::error::Error for PlacementError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Portable;

    fn digests(count: u64, seed: u64) -> Vec<Digest> {
        (0..count).map(|key| Portable::with_seed(seed).digest(&key)).collect()
    }

    #[test]
    fn what_cannot_be_placed_is_an_error_and_comes_to_an_end() {
        // More keys than cells, and above the threshold of 0.9768 keys per cell.
        for (keys, cells) in [(2, 1), (101, 100), (1000, 999), (5000, 5050)] {
            let error = Placed::with_cells(&digests(keys, 1), cells, 12).unwrap_err();
            assert_eq!(error, PlacementError::Unplaced { keys, cells, attempts: ATTEMPTS });
        }
    }

    #[test]
    fn cells_lie_side_by_side() {
        for bits in 1..=Placed::<Vec<u64>>::MAX_BITS {
            let digests = digests(300, u64::from(bits));
            let filter = Placed::with_cells(&digests, 400, bits).unwrap();
            let in_use = (0..400).filter(|&cell| filter.cell(cell) > 0).count();
            assert_eq!(in_use, 300, "{bits} bits");
            assert!(digests.iter().all(|&digest| filter.contains(digest)));
            assert_eq!(filter.words.len() as u64, (400 * u64::from(bits)).div_ceil(64));
        }
    }
}
