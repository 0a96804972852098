//! A static function: what a summary could be if keys neither came nor went.
//!
//! # Invariants
//! 1. The exclusive or of the three cells of a key it was made of is the key's check and value.

use alloc::vec::Vec;
use core::fmt;

use oneread::bits::{Counters, OutOfMemory};
use oneread::hash::{Digest, Domain, reduce};
use oneread::layout::LayoutError;
use oneread::workspace::{counter_words, reserved, zeroed};

/// Stands in the place of a summary, and draws its words.
const DOMAIN: Domain = Domain::SUMMARY;

/// The least share of cells to keys at which three cells a key are nearly always enough is 1.222
/// (Majewski, Wormald, Havas, Czech, 1996).
const CELLS_A_KEY: f64 = 1.23;

/// Room for a few keys to be few.
const MORE_CELLS: u64 = 32;

/// Functions that are tried, of which for many keys nearly every one serves.
const ATTEMPTS: u32 = 64;

const BANDS: u32 = 3;

/// A function of a set of keys that never changes: the value of each key, and *absent* for nearly
/// all others, in 1.23·(v + c) bits a key for values of v bits and checks of c.
///
/// The exclusive or of three cells is the value and a check of c bits, and one of 2^c absent keys
/// passes the check. As a summary it would be small and never wrong of a key that is there; but one
/// key more or less is a new function.
///
/// # Source
/// Chazelle, Kilian, Rubinfeld, Tal, "The Bloomier Filter: An Efficient Data Structure for Static
/// Support Lookup Tables", 2004; by the peeling of Majewski and others, 1996, and without their
/// second table, since values do not change either.
///
/// # Costs
/// Three cells a lookup. Making it takes about 60 bytes a key.
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
/// // 1.23·1000 cells and 32 more, each of 11 bits: fewer than 14 bits a key.
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

/// There is no such function.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoFunction {
    /// Values or checks are wider than a cell can have them.
    Layout(LayoutError),
    /// There is no memory for it.
    OutOfMemory(OutOfMemory),
    /// None of the functions tried tells all keys apart: one is there twice.
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
    pub const MOST_CELL_BITS: u32 = 16;

    /// The function of these keys, by their digests, with the lowest bits of their values.
    ///
    /// # Errors
    /// If a cell has no bits or more than [`MOST_CELL_BITS`](Self::MOST_CELL_BITS), if a key is
    /// there twice, or if there is no memory for it.
    pub fn new(items: &[(Digest, u64)], value_bits: u32, check_bits: u32) -> Result<Self, NoFunction> {
        let cell_bits = value_bits.saturating_add(check_bits);
        if cell_bits == 0 {
            return Err(NoFunction::Layout(LayoutError::Zero { what: "fingerprint bits" }));
        }
        if cell_bits > Self::MOST_CELL_BITS {
            let (expected, found) = (Self::MOST_CELL_BITS.into(), cell_bits.into());
            return Err(NoFunction::Layout(LayoutError::TooLarge {
                what: "fingerprint bits",
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

    /// The keys in an order in which each has a cell that none before it has; none if there is no
    /// such order.
    fn peel(&self, items: &[(Digest, u64)]) -> Result<Option<Vec<(usize, u64)>>, NoFunction> {
        let cells = self.cells_a_band * u64::from(BANDS);
        // By cell: how many keys it has that are left, and the exclusive or of their numbers, which
        // of one key is its number.
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

    /// Gives each key its check and value by the cell that is its own, the last of the order first.
    fn assign(&mut self, items: &[(Digest, u64)], order: &[(usize, u64)]) {
        let (value_mask, cell_bits) = ((1 << self.value_bits) - 1, self.value_bits + self.check_bits);
        for &(number, own) in order.iter().rev() {
            let (digest, value) = items[number];
            let wanted = self.check(digest) << self.value_bits | value & value_mask;
            let present = self.cells_of(digest).into_iter().fold(0, |all, cell| all ^ self.cells.get(cell));
            self.cells.cells(cell_bits).update(own, |cell| cell ^ present ^ wanted);
        }
    }

    /// The value of a key; of one that it was not made of, none or any.
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
