//! How a line filter is laid out.

use super::error::check_places;
use super::{LayoutError, MAX_PLACES, Quantity};

/// A filter of cache lines, each a bucket of fingerprints.
///
/// A fingerprint is a line, a *quotient* of 52 and a *remainder* of 8, 9, 10, 12 or 16 bits. A line
/// of 512 bits has
///
/// | remainder bits | slots | marks of guests | bits per key at 97% | rate at 97% |
/// | --- | --- | --- | --- | --- |
/// | 8 | 48 | 24 | 11.00 | 3.5e-3 |
/// | 9 | 44 | 16 | 12.00 | 1.6e-3 |
/// | 10 | 40 | 16 | 13.20 | 7.3e-4 |
/// | 12 | 33 | 27 | 16.00 | 1.5e-4 |
/// | 16 | 26 | 14 | 20.30 | 7.4e-6 |
///
/// [`plan::line`](crate::plan::line) computes its odds, and finds the smallest layout for a rate.
///
/// # Example
/// ```
/// use oneread::layout::LineLayout;
///
/// assert!(LineLayout::new(11, 1000).is_err());
/// let layout = LineLayout::new(10, 1000)?;
/// assert_eq!((layout.slots(), layout.capacity(), layout.byte_len()), (40, 40_000, 64_000));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LineLayout {
    remainder_bits: u32,
    lines: u64,
}

impl LineLayout {
    /// The supported lengths of remainders.
    pub const REMAINDER_BITS: [u32; 5] = [8, 9, 10, 12, 16];

    /// The quotients of a line.
    pub const QUOTIENTS: u32 = 52;

    /// Only fingerprints with quotients below this can leave their home.
    pub const MAX_LEAVING: u32 = 28;

    /// The bits of a line's threshold, which counts quotients in twos up to
    /// [`MAX_LEAVING`](Self::MAX_LEAVING). One value more stands for the stash.
    pub(crate) const THRESHOLD_BITS: u32 = 4;

    /// The bits of a line.
    pub const LINE_BITS: u64 = 512;

    /// The most slots that the copies of one fingerprint take. Further ones are counted beside the
    /// lines.
    ///
    /// Different keys share a fingerprint at the false-positive rate, and three do at half its
    /// square: so sets without repeated keys have hardly any counts.
    pub const COPY_SLOTS: u32 = 2;

    /// The load that plans assume, in keys per slot.
    pub const NOMINAL_LOAD: f64 = 0.97;

    /// The most lines: [`MAX_PLACES`] bits.
    pub const MAX_LINES: u64 = MAX_PLACES / Self::LINE_BITS;

    /// Takes `lines` lines of fingerprints with remainders of `remainder_bits` bits.
    ///
    /// # Errors
    /// If the bits are not 8, 9, 10, 12 or 16, if there are no lines, or more than
    /// [`MAX_LINES`](Self::MAX_LINES).
    pub fn new(remainder_bits: u32, lines: u64) -> Result<Self, LayoutError> {
        if !Self::REMAINDER_BITS.contains(&remainder_bits) {
            return Err(LayoutError::RemainderBits { found: remainder_bits });
        }
        check_places(Quantity::Lines, lines, Self::MAX_LINES)?;
        Ok(Self { remainder_bits, lines })
    }

    getters! {
        /// The bits of a remainder.
        remainder_bits: u32,
        /// The number of lines.
        lines: u64,
    }

    /// The slots of a line.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        Self::slots_of(self.remainder_bits)
    }

    /// The first slots of a line, the only ones that can hold guests.
    #[must_use]
    pub const fn marks(&self) -> u32 {
        Self::marks_of(self.remainder_bits)
    }

    /// The slots that fit in 512 bits beside [`marks`](Self::marks_of) for about half of them.
    pub(crate) const fn slots_of(remainder_bits: u32) -> u32 {
        match remainder_bits {
            8 => 48,
            9 => 44,
            10 => 40,
            12 => 33,
            _ => 26,
        }
    }

    /// The bits that the slots leave of 512: each takes one bit beside its remainder, and quotients
    /// and threshold take 56.
    pub(crate) const fn marks_of(remainder_bits: u32) -> u32 {
        Self::LINE_BITS as u32
            - Self::QUOTIENTS
            - Self::THRESHOLD_BITS
            - Self::slots_of(remainder_bits) * (remainder_bits + 1)
    }

    /// The slots of all lines.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.lines * self.slots() as u64
    }

    /// The number of different fingerprints, over all lines: below 2^59.
    #[must_use]
    pub const fn fingerprints(&self) -> u64 {
        (self.lines * Self::QUOTIENTS as u64) << self.remainder_bits
    }

    /// The most fingerprints in the stash.
    #[must_use]
    pub const fn stash(&self) -> u64 {
        // Under churn at the nominal load, the stash has up to one entry per 70 lines; small
        // filters vary more. An entry takes eight bytes, but only when in use.
        32 + self.lines / 16
    }

    /// The bits of all lines.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.lines * Self::LINE_BITS
    }

    /// The bytes of all lines.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.bits() / 8
    }

    /// The layout that holds the same fingerprints after growing: shorter remainders, and twice the
    /// lines per bit dropped.
    ///
    /// # Errors
    /// If remainders already have eight bits, or if there are too many lines.
    pub fn grown(&self) -> Result<Self, LayoutError> {
        let shorter = Self::REMAINDER_BITS.into_iter().rev().find(|&bits| bits < self.remainder_bits);
        let bits = shorter.ok_or(LayoutError::RemainderBits { found: self.remainder_bits - 1 })?;
        // At most 2^37 lines and four bits.
        Self::new(bits, self.lines << (self.remainder_bits - bits))
    }
}
