//! A guide: a solved system of equations with one equation per key. It serves the keys of one home
//! (their page in level 0) or of a few adjacent homes.
//!
//! # Layout
//! ```text
//!  byte 0: bits r of an unknown (0..4), system s (5..7) │ m unknowns of r bits
//! ```
//! With B bytes, m = ⌊8·(B − 1)/r⌋, at most 4096; bits lie one after the other, the lowest first. r
//! = 31 marks homes without keys; r = 0 means that the guide tells nothing.
//!
//! # How it works
//! A key has r random bits and five random unknowns, which may coincide. The key's *answer* is the
//! exclusive or of the five unknowns and its bits. For keys of the home the equations make it their
//! level; for others it is a random number of r bits. An answer that is no level means that the key
//! is absent. If a system has no solution, the next system draws other unknowns.
//!
//! Five unknowns are almost as good as all of them, and a lookup reads one or two cache lines:
//! `docs/decisions/store-guides.md`.

use crate::plan::{
    LEAST_RESULT_BITS, Loads, MOST_GUIDE_BYTES, MOST_GUIDE_HOMES_LOG2, MOST_RESULT_BITS, MOST_UNKNOWNS,
    ROW_SEEDS, ROW_UNKNOWNS, StorePlan, guide_homes_log2, result_bits,
};
use oneread::hash::Digest;

use super::geometry::LEVELS;
use crate::domain;

/// The width r that marks a home without keys.
const EMPTY: u32 = 31;

/// The width r that means: the key may be in any level.
const UNTOLD: u32 = 0;

/// One bit per level.
const ALL_LEVELS: u32 = (1 << LEVELS) - 1;

/// Bytes that are read at once for an unknown.
const READ: usize = 8;

/// Guides of up to this size are read through a window of fixed size, so that the compiler needs no
/// bounds checks for unknowns.
const SMALL: usize = 64;

/// Bytes that must follow the last guide in memory, since small guides are read as if they had
/// [`SMALL`] bytes.
pub(crate) const PADDING: usize = SMALL + READ;

/// The size of the guides of a store or a segment, and the number of homes that share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) bytes: u32,
    /// The homes per guide, as a power of two.
    pub(crate) homes_log2: u32,
}

impl Form {
    /// Returns the form if a store can have it.
    pub(crate) fn checked(bytes: u32, homes_log2: u32) -> Option<Self> {
        let is_possible = (1..=MOST_GUIDE_BYTES).contains(&bytes) && homes_log2 <= MOST_GUIDE_HOMES_LOG2;
        is_possible.then_some(Self { bytes, homes_log2 })
    }

    /// The form for an average of `keys_a_home` keys and a `rate` of reads per miss. `loads` gives
    /// the loads of guides that a number of homes share. If no guide is large enough for the rate,
    /// returns the largest.
    pub(crate) fn for_rate(keys_a_home: f64, rate: f64, loads: impl FnOnce(u32) -> Loads) -> Self {
        let homes_log2 = guide_homes_log2(keys_a_home);
        let plan = StorePlan::for_rate(&loads(homes_log2), 0.0, rate);
        Self { bytes: plan.map_or(MOST_GUIDE_BYTES, |plan| plan.guide_bytes()), homes_log2 }
    }

    /// The number of guides for `homes` homes.
    #[inline(always)]
    pub(crate) const fn guides(self, homes: u32) -> u32 {
        homes.div_ceil(1 << self.homes_log2)
    }

    /// The guide of a home.
    #[inline(always)]
    pub(crate) const fn guide(self, home: u32) -> u32 {
        home >> self.homes_log2
    }

    /// The most keys that a guide can tell apart, with the fewest bits per unknown.
    pub(crate) const fn most_keys(self) -> u32 {
        let most = (self.bytes - 1) * 8 / LEAST_RESULT_BITS;
        let unknowns = if most < MOST_UNKNOWNS { most } else { MOST_UNKNOWNS };
        // The inverse of `plan::unknowns`: one spare unknown, and one more per fifty keys.
        unknowns.saturating_sub(1) * 50 / 51
    }

    /// The total bytes of the guides for `homes` homes.
    pub(crate) fn all_bytes(self, homes: u32) -> u64 {
        u64::from(self.guides(homes)) * u64::from(self.bytes)
    }
}

/// A key's equation in a system of `unknowns` unknowns.
///
/// Its parts are the digits, in base `unknowns`, of the fraction that one word stands for: first
/// the unknowns, then the key's bits.
#[inline(always)]
fn equation(digest: Digest, system: u32, unknowns: u32) -> ([u32; ROW_UNKNOWNS], u32) {
    let mut fraction = digest.word(domain::GUIDE, system);
    let row = std::array::from_fn(|_| {
        let product = u128::from(fraction) * u128::from(unknowns);
        fraction = product as u64;
        (product >> 64) as u32
    });
    (row, (fraction >> (u64::BITS - MOST_RESULT_BITS)) as u32)
}

/// The first byte of a guide, decoded in advance so that a lookup does not divide.
#[derive(Clone, Copy, Debug)]
struct Head {
    bits: u32,
    /// The number of unknowns; 0 if the guide tells nothing, or has no keys.
    unknowns: u32,
}

impl Head {
    /// Decodes the first byte `head` of a guide of `bytes` bytes.
    const fn new(bytes: u32, head: u8) -> Self {
        let bits = (head & 31) as u32;
        let unknowns = if bits < LEAST_RESULT_BITS || bits > MOST_RESULT_BITS {
            0
        } else {
            let unknowns = (bytes - 1) * 8 / bits;
            if unknowns < MOST_UNKNOWNS { unknowns } else { MOST_UNKNOWNS }
        };
        Self { bits, unknowns }
    }
}

/// The decoded first bytes of guides of one size, indexed by their lowest five bits.
#[derive(Clone, Debug)]
pub(crate) struct Heads([Head; 32]);

impl Heads {
    /// The table for guides of `bytes` bytes, at least 1.
    pub(crate) fn new(bytes: u32) -> Self {
        Self(std::array::from_fn(|head| Head::new(bytes, head as u8)))
    }
}

/// A guide in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guide<'a> {
    /// The guide, followed by at least [`PADDING`] bytes.
    memory: &'a [u8],
    bytes: u32,
}

impl<'a> Guide<'a> {
    /// Wraps the guide at the start of `memory`, which has at least [`PADDING`] bytes more.
    #[inline(always)]
    pub(crate) fn new(memory: &'a [u8], bytes: u32) -> Self {
        debug_assert!(memory.len() >= bytes as usize + PADDING);
        Self { memory, bytes }
    }

    /// A bit for each level that may have the key: usually one bit or none.
    #[inline(always)]
    pub(crate) fn levels(self, digest: Digest) -> u32 {
        self.levels_as(Head::new(self.bytes, self.memory[0]), digest)
    }

    /// Like [`levels`](Self::levels), but with the decoded first byte.
    #[inline(always)]
    pub(crate) fn levels_with(self, heads: &Heads, digest: Digest) -> u32 {
        self.levels_as(heads.0[usize::from(self.memory[0] & 31)], digest)
    }

    #[inline(always)]
    fn levels_as(self, Head { bits, unknowns }: Head, digest: Digest) -> u32 {
        if unknowns == 0 {
            return if bits == EMPTY { 0 } else { ALL_LEVELS };
        }
        let (row, result) = equation(digest, u32::from(self.memory[0] >> 5), unknowns);
        // No branch on an unknown: for foreign keys the processor could not predict it.
        let sum = match self.memory.first_chunk::<{ 1 + SMALL + READ }>() {
            Some(window) if self.bytes <= SMALL as u32 => sum(row, bits, |byte| {
                let byte = 1 + byte % SMALL;
                window[byte..byte + READ].first_chunk()
            }),
            _ => sum(row, bits, |byte| self.memory[1..].get(byte..)?.first_chunk()),
        };
        let answer = (sum ^ u64::from(result)) & ((1 << bits) - 1);
        u32::from(answer < LEVELS as u64) << (answer & 3)
    }
}

/// The exclusive or of a row's unknowns; higher bits are arbitrary.
#[inline(always)]
fn sum<'a>(row: [u32; ROW_UNKNOWNS], bits: u32, at_byte: impl Fn(usize) -> Option<&'a [u8; READ]>) -> u64 {
    row.into_iter().fold(0, |sum, unknown| {
        let bit = unknown * bits;
        let eight = at_byte((bit / 8) as usize).map_or(0, |&eight| u64::from_le_bytes(eight));
        sum ^ eight >> (bit % 8)
    })
}

/// A key and its level.
pub(crate) type Located = (Digest, u8);

/// Solves guides, reusing its memory.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    /// For each unknown, the equation that begins with it, as a bit set of its unknowns; 0 if there
    /// is none.
    rows: Vec<u64>,
    /// For each unknown, the result of that equation; in the end, the unknown's value.
    results: Vec<u32>,
    /// The current equation.
    row: Vec<u64>,
}

impl Solver {
    /// Writes the guide of these keys to `guide`.
    pub(crate) fn write(&mut self, keys: &[Located], guide: &mut [u8]) {
        guide.fill(0);
        if keys.is_empty() {
            guide[0] = EMPTY as u8;
            return;
        }
        let bytes = guide.len() as u32;
        for bits in (LEAST_RESULT_BITS..=result_bits(bytes, keys.len() as u32)).rev() {
            let unknowns = Head::new(bytes, bits as u8).unknowns;
            for system in 0..ROW_SEEDS {
                if self.solve(keys, system, unknowns) {
                    self.write_unknowns(bits, &mut guide[1..]);
                    guide[0] = bits as u8 | (system as u8) << 5;
                    return;
                }
            }
        }
        guide[0] = UNTOLD as u8;
    }

    /// Gaussian elimination, row by row: each row ends up with its own first unknown. Returns
    /// whether there is a solution.
    fn solve(&mut self, keys: &[Located], system: u32, unknowns: u32) -> bool {
        if unknowns <= u64::BITS {
            return self.solve_in_words(keys, system, unknowns);
        }
        let words = (unknowns as usize).div_ceil(64);
        self.rows.clear();
        self.rows.resize(unknowns as usize * words, 0);
        self.results.clear();
        self.results.resize(unknowns as usize, 0);
        for &(digest, level) in keys {
            self.row.clear();
            self.row.resize(words, 0);
            let (row, result) = equation(digest, system, unknowns);
            for unknown in row {
                self.row[unknown as usize / 64] ^= 1 << (unknown % 64);
            }
            if !self.reduce(result ^ u32::from(level)) {
                return false;
            }
        }
        // From the last unknown to the first. Unknowns that no row begins with are free, and set to
        // 0.
        for at in (0..unknowns as usize).rev() {
            let mut value = self.results[at];
            for (word, &bits) in (0..).zip(&self.rows[at * words..][..words]) {
                let mut others = if word == at / 64 { bits & !(1 << (at % 64)) } else { bits };
                while others != 0 {
                    value ^= self.results[word * 64 + others.trailing_zeros() as usize];
                    others &= others - 1;
                }
            }
            self.results[at] = value;
        }
        true
    }

    /// Like [`solve`](Self::solve), but for the usual case that a row fits in a word.
    fn solve_in_words(&mut self, keys: &[Located], system: u32, unknowns: u32) -> bool {
        const MOST: usize = u64::BITS as usize;
        let (mut rows, mut results) = ([0u64; MOST], [0u32; MOST]);
        for &(digest, level) in keys {
            let (unknowns_of_row, result) = equation(digest, system, unknowns);
            let mut row = unknowns_of_row.iter().fold(0u64, |row, unknown| row ^ 1 << (unknown % u64::BITS));
            let mut result = result ^ u32::from(level);
            loop {
                if row == 0 {
                    if result != 0 {
                        return false;
                    }
                    break;
                }
                let at = row.trailing_zeros() as usize % MOST;
                if rows[at] == 0 {
                    (rows[at], results[at]) = (row, result);
                    break;
                }
                row ^= rows[at];
                result ^= results[at];
            }
        }
        for at in (0..unknowns as usize).rev() {
            // Without the first bit, which is the unknown itself.
            let mut others = rows[at] & rows[at].wrapping_sub(1);
            let mut value = results[at];
            while others != 0 {
                value ^= results[others.trailing_zeros() as usize % MOST];
                others &= others - 1;
            }
            results[at] = value;
        }
        self.results.clear();
        self.results.extend_from_slice(&results[..unknowns as usize]);
        true
    }

    /// Reduces the current row by the others and adds it. Returns whether it agrees with them.
    fn reduce(&mut self, mut result: u32) -> bool {
        let words = self.row.len();
        let mut word = 0;
        while word < words {
            if self.row[word] == 0 {
                word += 1;
                continue;
            }
            let at = word * 64 + self.row[word].trailing_zeros() as usize;
            let present = &mut self.rows[at * words..][..words];
            if present[word] == 0 {
                present.copy_from_slice(&self.row);
                self.results[at] = result;
                return true;
            }
            for (row, present) in self.row[word..].iter_mut().zip(&present[word..]) {
                *row ^= present;
            }
            result ^= self.results[at];
        }
        // All unknowns cancelled: the row either follows from the others or contradicts them.
        result == 0
    }

    fn write_unknowns(&self, bits: u32, out: &mut [u8]) {
        for (unknown, value) in self.results.iter().enumerate() {
            let mut at = unknown * bits as usize;
            let mut left = u64::from(*value) & ((1 << bits) - 1);
            left <<= at % 8;
            while left != 0 {
                out[at / 8] |= left as u8;
                left >>= 8;
                at += 8;
            }
        }
    }
}

#[cfg(test)]
mod tests;
