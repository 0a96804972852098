//! The filter of one page: equations, one for each record, solved.
//!
//! # Layout
//! ```text
//!  byte 0: bits r of a result (0..4), system s (5..7) │ r columns of m bits, one after the other, lowest bits first
//! ```
//! With B bytes, m = ⌊8·(B − 1)/r⌋. r = 31 is a page without records, which passes nothing; r = 0 passes every key.
//!
//! # How it works
//! A key has w = min(m, 64) random coefficients, which stand for w of the m unknowns from a random one on, and r random bits. The
//! unknowns have r bits each, a column for each bit; in each, the exclusive or of the unknowns with
//! coefficient 1 is the key's bit: for the keys of the page because the equations were solved, for any other with
//! probability 1/2. If one system of equations has no solution, the next one has other coefficients.

use oneread::hash::{Digest, Domain, reduce};
use oneread::plan::store::{MOST_RESULT_BITS, ROW_BITS, ROW_SEEDS, result_bits};

/// The bits of a result that stand for a page without records.
const EMPTY: u8 = 31;

/// The filter passes every key.
const PASS_ALL: u8 = 0;

/// Bytes that must follow the last filter in memory: a column is read sixteen bytes at a time.
pub(crate) const PADDING: usize = 16;

/// The words of a digest that one system draws, and those of one level.
const WORDS: u32 = 2;

/// An equation.
#[derive(Clone, Copy, Debug)]
struct Row {
    coefficients: u64,
    start: u32,
    result: u32,
}

impl Row {
    #[inline(always)]
    fn new(digest: Digest, level: usize, system: u32, unknowns: u32) -> Self {
        let word = (level as u32 * ROW_SEEDS + system) * WORDS;
        let coefficients = digest.word(Domain::STORE_FILTER, word);
        let other = digest.word(Domain::STORE_FILTER, word + 1);
        let width = unknowns.min(ROW_BITS);
        Self {
            coefficients: coefficients >> (64 - width),
            // The upper bits of the word; the result has the lower ones.
            start: reduce(other, u64::from(unknowns - width + 1)) as u32,
            result: other as u32 & ((1 << MOST_RESULT_BITS) - 1),
        }
    }
}

/// A page's filter in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'a> {
    head: u8,
    /// The filter and [`PADDING`] bytes more.
    memory: &'a [u8],
}

impl<'a> Filter<'a> {
    /// The filter in these bytes, the last [`PADDING`] of which are not its own.
    #[inline(always)]
    pub(crate) fn new(memory: &'a [u8]) -> Self {
        Self { head: memory[0], memory }
    }

    /// Whether the page may have a key.
    #[inline(always)]
    pub(crate) fn passes(self, digest: Digest, level: usize) -> bool {
        let bits = u32::from(self.head & 31);
        if bits == 0 || bits == u32::from(EMPTY) {
            return bits == 0;
        }
        let unknowns = (self.memory.len() - PADDING - 1) as u32 * 8 / bits;
        if unknowns == 0 {
            return true;
        }
        let row = Row::new(digest, level, u32::from(self.head >> 5), unknowns);
        // Four columns at a time: a foreign key fails at the first with probability 1/2, which no processor can predict, and at one of
        // four with 15/16.
        let mut column = 0;
        while column < bits {
            let parities = self.parities(column, bits, unknowns, &row);
            let expected = row.result >> column;
            let present = if bits - column < LANES { (1 << (bits - column)) - 1 } else { (1 << LANES) - 1 };
            if (parities ^ expected) & present != 0 {
                return false;
            }
            column += LANES;
        }
        true
    }

    /// The exclusive or of a key's unknowns in [`LANES`] columns, a bit each. Columns that there are not give bits without meaning.
    #[inline(always)]
    fn parities(self, column: u32, bits: u32, unknowns: u32, row: &Row) -> u32 {
        let mut lanes = 0u64;
        for lane in 0..LANES {
            let at = (8 + (column + lane).min(bits - 1) * unknowns + row.start) as usize;
            let window: [u8; 16] = self.memory[at / 8..at / 8 + 16].try_into().expect("sixteen bytes");
            let mut masked = (u128::from_le_bytes(window) >> (at % 8)) as u64 & row.coefficients;
            masked ^= masked >> 32;
            masked ^= masked >> 16;
            lanes |= (masked & 0xffff) << (16 * lane);
        }
        for shift in [8, 4, 2, 1] {
            lanes ^= lanes >> shift;
        }
        // The lowest bit of each lane, brought together.
        let lowest = lanes & 0x0001_0001_0001_0001;
        (lowest | lowest >> 15 | lowest >> 30 | lowest >> 45) as u32 & 0xf
    }
}

/// Columns that are computed together.
const LANES: u32 = 4;

/// Solves filters, and keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    /// By unknown: the row that begins there, or 0, and its result.
    rows: Vec<(u64, u32)>,
    /// By unknown, its bits.
    solution: Vec<u32>,
}

impl Solver {
    /// Writes the filter of a page with these keys over `filter`.
    pub(crate) fn write(&mut self, digests: &[Digest], level: usize, filter: &mut [u8]) {
        filter.fill(0);
        if digests.is_empty() {
            filter[0] = EMPTY;
            return;
        }
        let bytes = filter.len() as u32;
        for bits in (1..=result_bits(bytes, digests.len() as u32)).rev() {
            let unknowns = (bytes - 1) * 8 / bits;
            for system in 0..ROW_SEEDS {
                if self.solve(digests, level, system, unknowns) {
                    self.write_columns(bits, unknowns, &mut filter[1..]);
                    filter[0] = bits as u8 | (system as u8) << 5;
                    return;
                }
            }
        }
        filter[0] = PASS_ALL;
    }

    /// Gaussian elimination, row by row: a row ends where no other begins. Whether there is a solution.
    fn solve(&mut self, digests: &[Digest], level: usize, system: u32, unknowns: u32) -> bool {
        self.rows.clear();
        self.rows.resize(unknowns as usize, (0, 0));
        for &digest in digests {
            let Row { mut coefficients, start, mut result } = Row::new(digest, level, system, unknowns);
            let mut at = start as usize;
            loop {
                if coefficients == 0 {
                    if result == 0 {
                        // It says what others say already.
                        break;
                    }
                    return false;
                }
                let zeros = coefficients.trailing_zeros();
                coefficients >>= zeros;
                at += zeros as usize;
                let present = &mut self.rows[at];
                if present.0 == 0 {
                    *present = (coefficients, result);
                    break;
                }
                coefficients ^= present.0;
                result ^= present.1;
            }
        }
        // From the last unknown to the first; those that no row begins with may be anything, and are 0.
        self.solution.clear();
        self.solution.resize(unknowns as usize, 0);
        for at in (0..unknowns as usize).rev() {
            let (coefficients, mut value) = self.rows[at];
            if coefficients == 0 {
                continue;
            }
            let mut others = coefficients & !1;
            while others != 0 {
                value ^= self.solution[at + others.trailing_zeros() as usize];
                others &= others - 1;
            }
            self.solution[at] = value;
        }
        true
    }

    fn write_columns(&self, bits: u32, unknowns: u32, columns: &mut [u8]) {
        let mut at = 0;
        for column in 0..bits {
            for value in &self.solution[..unknowns as usize] {
                columns[at / 8] |= ((value >> column & 1) as u8) << (at % 8);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneread::hash::{Digester, Ideal};
    use oneread::plan::store::{false_positive_probability, unknowns};
    use proptest::prelude::*;

    fn digests(seed: u64, count: u64) -> Vec<Digest> {
        let source = Ideal::with_seed(seed);
        (0..count).map(|key| source.digest(&key)).collect()
    }

    /// The filter of these keys in so many bytes, padded with ones.
    fn filter(digests: &[Digest], level: usize, bytes: usize) -> Vec<u8> {
        let mut memory = vec![0xff; bytes + PADDING];
        Solver::default().write(digests, level, &mut memory[..bytes]);
        memory
    }

    proptest! {
        #[test]
        fn never_forgets_a_key(seed: u64, count in 0u64..700, level in 0usize..3, bytes in 1usize..900) {
            let keys = digests(seed, count);
            let memory = filter(&keys, level, bytes);
            prop_assert!(keys.iter().all(|&key| Filter::new(&memory).passes(key, level)));
        }

        #[test]
        fn any_bytes_answer(memory in proptest::collection::vec(any::<u8>(), PADDING + 1..600), seed: u64) {
            for digest in digests(seed, 20) {
                _ = Filter::new(&memory).passes(digest, 2);
            }
        }
    }

    #[test]
    fn passes_foreign_keys_as_seldom_as_planned() {
        // Records, bytes: dense systems, and bands.
        for (records, bytes) in
            [(1, 2), (10, 12), (34, 32), (34, 45), (62, 60), (63, 60), (100, 100), (300, 290), (679, 620)]
        {
            let (mut passed, mut asked) = (0u64, 0u64);
            for page in 0..200 {
                let memory = filter(&digests(page, records), 0, bytes);
                for foreign in digests(1000 + page, 2000) {
                    passed += u64::from(Filter::new(&memory).passes(foreign, 0));
                    asked += 1;
                }
            }
            let planned = asked as f64 * false_positive_probability(bytes as u32, records as u32);
            // Six deviations of a binomial count, exceeded once in 5e8; the pages that got a bit less are rare enough.
            let deviation = (passed as f64 - planned) / planned.sqrt();
            assert!(deviation.abs() < 6.0, "{records} records in {bytes} bytes: {passed}, planned {planned}");
        }
    }

    #[test]
    fn fails_as_seldom_as_planned() {
        // Of pages with just the unknowns that are planned for, in 7 bits: those that got 6.
        for records in [1u32, 5, 20, 34, 50, 62, 63, 64, 70, 80, 100, 150, 200, 300, 400, 500, 600, 679] {
            let bytes = (7 * unknowns(records)).div_ceil(8) as usize + 1;
            let pages = 400;
            let got = |page| filter(&digests(page, u64::from(records)), 0, bytes)[0] & 31;
            let less = (0..pages).filter(|&page| got(page) < 7).count();
            // One in a hundred at most: 4 expected, and more than 16 of 400 with probability 3e-6.
            assert!(less <= 16, "{records} records: {less} of {pages} pages have a bit less");
        }
    }

    #[test]
    fn an_empty_page_passes_nothing_and_a_small_filter_everything() {
        let memory = filter(&[], 0, 20);
        assert!(digests(1, 100).iter().all(|&key| !Filter::new(&memory).passes(key, 0)));
        let memory = filter(&digests(2, 100), 0, 3);
        assert!(digests(1, 100).iter().all(|&key| Filter::new(&memory).passes(key, 0)));
    }
}
