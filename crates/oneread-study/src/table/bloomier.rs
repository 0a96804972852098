//! A static function: the lower limit for a summary of a fixed key set.
//!
//! # Invariants
//! 1. The xor of the three cells of a stored key is the key's check and value.

use alloc::vec::Vec;
use core::fmt;

use oneread::bits::{Counters, OutOfMemory};
use oneread::hash::{Digest, Domain, reduce};
use oneread::layout::{LayoutError, Quantity};
use oneread::workspace::{counter_words, reserved, zeroed};

/// It replaces a summary, and draws the summary's words.
const DOMAIN: Domain = Domain::SUMMARY;

/// Above 1.222 cells per key, three cells per key nearly always suffice (Majewski, Wormald, Havas,
/// Czech, 1996).
const CELLS_A_KEY: f64 = 1.23;

/// Extra cells, which small sets need.
const MORE_CELLS: u64 = 32;

/// Attempts with fresh functions. For many keys, nearly every attempt succeeds.
const ATTEMPTS: u32 = 64;

const BANDS: u32 = 3;

/// A static function of a set of keys: it returns the value of each key, and *absent* for nearly
/// all others. It takes 1.23·(v + c) bits per key for values of v bits and checks of c bits.
///
/// The xor of three cells is the value and a check of c bits; one of 2^c absent keys passes the
/// check. As a summary it would be small and never wrong about a stored key, but every change to
/// the set needs a new function.
///
/// # Source
/// Chazelle, Kilian, Rubinfeld, Tal, "The Bloomier Filter: An Efficient Data Structure for Static
/// Support Lookup Tables", 2004. Built by the peeling of Majewski and others, 1996, and without the
/// second table of the paper, since values do not change.
///
/// # Costs
/// Three cells per lookup. Building takes about 60 bytes per key.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread_study::hash::Ideal;
/// use oneread_study::table::BloomierFunction;
///
/// let digest = |key: u64| Ideal::with_seed(1).digest(&key);
/// let items: Vec<_> = (0..1000).map(|key| (digest(key), key % 5)).collect();
/// let function = BloomierFunction::new(&items, 3, 8)?;
/// assert!((0..1000).all(|key| function.get(digest(key)) == Some(key % 5)));
/// // 1.23·1000 cells and 32 more, each of 11 bits: fewer than 14 bits per key.
/// assert!(8 * function.byte_len() < 14_000);
/// // The same key with two values has none.
/// assert!(BloomierFunction::new(&[(digest(1), 1), (digest(1), 2)], 3, 8).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BloomierFunction {
    cells: Counters<Vec<u64>>,
    cells_a_band: u64,
    value_bits: u32,
    check_bits: u32,
    attempt: u32,
}

/// Why there is no such function.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoFunction {
    /// Values and checks have too many bits for a cell.
    Layout(LayoutError),
    /// There is no memory for it.
    OutOfMemory(OutOfMemory),
    /// No attempt succeeded: a key occurs twice.
    Twice,
}

impl fmt::Display for NoFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::OutOfMemory(error) => error.fmt(f),
            Self::Twice => f.write_str("a key is there twice: give each key once, with its one value"),
        }
    }
}

impl core::error::Error for NoFunction {}

impl From<OutOfMemory> for NoFunction {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}

impl BloomierFunction {
    /// The most bits of a value and its check together.
    pub const MAX_CELL_BITS: u32 = 16;

    /// The function of these keys, given by their digests, with the lowest bits of their values.
    ///
    /// # Errors
    /// If a cell has no bits or more than [`MAX_CELL_BITS`](Self::MAX_CELL_BITS), if a key occurs
    /// twice, or if there is not enough memory.
    pub fn new(items: &[(Digest, u64)], value_bits: u32, check_bits: u32) -> Result<Self, NoFunction> {
        let cell_bits = value_bits.saturating_add(check_bits);
        if cell_bits == 0 {
            return Err(NoFunction::Layout(LayoutError::Zero { what: Quantity::FingerprintBits }));
        }
        if cell_bits > Self::MAX_CELL_BITS {
            let (expected, found) = (Self::MAX_CELL_BITS.into(), cell_bits.into());
            return Err(NoFunction::Layout(LayoutError::TooLarge {
                what: Quantity::FingerprintBits,
                expected,
                found,
            }));
        }
        let cells = (items.len() as f64 * CELLS_A_KEY) as u64 + MORE_CELLS;
        let cells_a_band = cells.div_ceil(BANDS.into());
        let too_large = OutOfMemory { bytes: u64::MAX };
        let words = counter_words(cells_a_band * u64::from(BANDS), cell_bits).ok_or(too_large)?;
        let cells = Counters::new(zeroed(0, words)?, cell_bits);
        let mut function = Self { cells, cells_a_band, value_bits, check_bits, attempt: 0 };
        for attempt in 0..ATTEMPTS {
            function.attempt = attempt;
            if let Some(order) = function.peel(items)? {
                function.assign(items, &order);
                return Ok(function);
            }
        }
        Err(NoFunction::Twice)
    }

    /// The keys in an order in which each has a cell that no key before it has; `None` if there is
    /// no such order.
    fn peel(&self, items: &[(Digest, u64)]) -> Result<Option<Vec<(usize, u64)>>, NoFunction> {
        let cells = self.cells_a_band * u64::from(BANDS);
        // By cell: the number of its remaining keys, and the xor of their numbers, which is the
        // number of a single remaining key.
        let mut left = reserved(cells)?;
        left.resize(cells as usize, (0u32, 0usize));
        for (number, &(digest, _)) in items.iter().enumerate() {
            for cell in self.cells_of(digest) {
                let (count, numbers) = &mut left[cell as usize];
                *count += 1;
                *numbers ^= number;
            }
        }
        let mut alone: Vec<u64> = reserved(cells)?;
        alone.extend((0..cells).filter(|&cell| left[cell as usize].0 == 1));
        let mut order = reserved(items.len() as u64)?;
        while let Some(cell) = alone.pop() {
            let (count, number) = left[cell as usize];
            if count != 1 {
                continue;
            }
            order.push((number, cell));
            for other in self.cells_of(items[number].0) {
                let (count, numbers) = &mut left[other as usize];
                *count -= 1;
                *numbers ^= number;
                if *count == 1 {
                    alone.push(other);
                }
            }
        }
        Ok((order.len() == items.len()).then_some(order))
    }

    /// Sets each key's check and value through its own cell, in reverse order.
    fn assign(&mut self, items: &[(Digest, u64)], order: &[(usize, u64)]) {
        let (value_mask, cell_bits) = ((1 << self.value_bits) - 1, self.value_bits + self.check_bits);
        for &(number, own) in order.iter().rev() {
            let (digest, value) = items[number];
            let wanted = self.check(digest) << self.value_bits | value & value_mask;
            let present = self.cells_of(digest).into_iter().fold(0, |all, cell| all ^ self.cells.get(cell));
            self.cells.cells(cell_bits).update(own, |cell| cell ^ present ^ wanted);
        }
    }

    /// The value of a key. For any other key, `None` or an arbitrary value.
    #[inline]
    #[must_use]
    pub fn get(&self, digest: Digest) -> Option<u64> {
        let cell = self.cells_of(digest).into_iter().fold(0, |all, cell| all ^ self.cells.get(cell));
        (cell >> self.value_bits == self.check(digest)).then_some(cell & ((1 << self.value_bits) - 1))
    }

    /// The bytes of its cells.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        (self.cells_a_band * u64::from(BANDS * (self.value_bits + self.check_bits))).div_ceil(8)
    }

    #[inline]
    fn cells_of(&self, digest: Digest) -> [u64; BANDS as usize] {
        core::array::from_fn(|band| {
            let word = digest.word(DOMAIN, 1 + self.attempt * BANDS + band as u32);
            band as u64 * self.cells_a_band + reduce(word, self.cells_a_band)
        })
    }

    #[inline]
    fn check(&self, digest: Digest) -> u64 {
        digest.word(DOMAIN, 0) & ((1 << self.check_bits) - 1)
    }
}
