//! The filter of one page: equations, one for each record, solved.
//!
//! # Layout
//! ```text
//!  byte 0: bits r of an unknown (0..4), system s (5..7) │ the lower 8 bits of m unknowns, or all r │ their other r − 8 bits
//! ```
//! With B bytes, m = ⌊8·(B − 1)/r⌋, at most 4096; bits lie one after the other, the lowest first. r = 31 is a page without records, which
//! passes nothing; r = 0 passes every key.
//!
//! # How it works
//! A key has r random bits and five random unknowns, some of which may be the same one. The exclusive or of the five is the key's bits: for the
//! keys of the page because the equations were solved, for any other with probability 2^-r. If one system of equations has no
//! solution, the next one has other unknowns.
//!
//! Five, because with three there must be an eighth more unknowns than keys, and an even number is never a single unknown: then one more is needed. With
//! five there are as few as with all unknowns drawn at random, and a lookup takes five reads of one or two cache lines.
//!
//! With eight bits or more, the lower ones are bytes: a foreign key takes five multiplications and as many reads without a shift, and
//! only one in 256 goes on to the other bits.

use oneread::hash::{Digest, Domain};
use oneread::plan::store::{MOST_RESULT_BITS, MOST_UNKNOWNS, ROW_SEEDS, ROW_UNKNOWNS, result_bits};

/// The bits of an unknown that stand for a page without records.
const EMPTY: u8 = 31;

/// The filter passes every key.
const PASS_ALL: u8 = 0;

/// Bytes that must follow the last filter in memory: an unknown is read eight bytes at a time.
pub(crate) const PADDING: usize = 8;

/// A key's bits, the same in all filters.
#[inline(always)]
pub(crate) fn result(digest: Digest) -> u32 {
    digest.word(Domain::STORE_FILTER, 0) as u32 & ((1 << MOST_RESULT_BITS) - 1)
}

/// The unknowns of a key's equation, of so many: the first digits, to this base, of the fraction that a word stands for.
#[inline(always)]
fn row(digest: Digest, level: usize, system: u32, unknowns: u32) -> [u32; ROW_UNKNOWNS] {
    let mut fraction = digest.word(Domain::STORE_FILTER, 1 + level as u32 * ROW_SEEDS + system);
    std::array::from_fn(|_| {
        let product = u128::from(fraction) * u128::from(unknowns);
        fraction = product as u64;
        (product >> 64) as u32
    })
}

/// The unknowns of r bits in a filter of so many bytes.
const fn unknowns_of(bytes: u32, bits: u32) -> u32 {
    let unknowns = (bytes - 1) * 8 / bits;
    if unknowns < MOST_UNKNOWNS { unknowns } else { MOST_UNKNOWNS }
}

/// Unknowns have up to so many bits in the first plane.
const FIRST_PLANE: u32 = 8;

/// What the first byte of a filter says, worked out beforehand: a lookup does not divide.
#[derive(Clone, Copy, Debug)]
struct Form {
    bits: u32,
    /// 0 if there are none: then every key passes, or none.
    unknowns: u32,
    /// The unknowns that have a byte of the first plane: all, or none.
    bytes: u32,
}

/// The forms of filters of one size, by the lowest five bits of the first byte.
#[derive(Clone, Debug)]
pub(crate) struct Forms([Form; 32]);

impl Forms {
    /// Those of filters of so many bytes, at least 1.
    pub(crate) fn new(bytes: u32) -> Self {
        Self(std::array::from_fn(|bits| Form::new(bytes, bits as u32)))
    }
}

impl Form {
    fn new(bytes: u32, bits: u32) -> Self {
        let unknowns = if bits == u32::from(PASS_ALL) || bits == u32::from(EMPTY) {
            0
        } else {
            unknowns_of(bytes, bits)
        };
        Self { bits, unknowns, bytes: if bits < FIRST_PLANE { 0 } else { unknowns } }
    }
}

/// A page's filter in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'a> {
    /// The filter and [`PADDING`] bytes more.
    memory: &'a [u8],
}

impl<'a> Filter<'a> {
    /// The filter in these bytes, the last [`PADDING`] of which are not its own.
    #[inline(always)]
    pub(crate) fn new(memory: &'a [u8]) -> Self {
        Self { memory }
    }

    /// Whether the page may have a key.
    pub(crate) fn passes(self, digest: Digest, level: usize) -> bool {
        let form = Form::new((self.memory.len() - PADDING) as u32, u32::from(self.memory[0] & 31));
        self.passes_as(form, digest, level, result(digest))
    }

    /// The same with what can be worked out beforehand: the forms of the level's filters, and the key's [`result`].
    #[inline(always)]
    pub(crate) fn passes_with(self, forms: &Forms, digest: Digest, level: usize, result: u32) -> bool {
        self.passes_as(forms.0[usize::from(self.memory[0] & 31)], digest, level, result)
    }

    #[inline(always)]
    fn passes_as(self, form: Form, digest: Digest, level: usize, result: u32) -> bool {
        let (head, planes) = (self.memory[0], &self.memory[1..]);
        if form.bytes == 0 {
            return self.passes_slowly(form, digest, level, result);
        }
        let plane = &planes[..form.bytes as usize];
        // No branch on a single unknown: what a foreign key meets here, no processor can predict.
        let mut difference = result as u8;
        for unknown in row(digest, level, u32::from(head >> 5), form.bytes) {
            difference ^= plane[unknown as usize];
        }
        difference == 0 && (form.bits == FIRST_PLANE || self.passes_slowly(form, digest, level, result))
    }

    /// Any filter, bit by bit.
    #[cold]
    fn passes_slowly(self, form: Form, digest: Digest, level: usize, result: u32) -> bool {
        let (head, planes) = (self.memory[0], &self.memory[1..]);
        if form.unknowns == 0 {
            return form.bits != u32::from(EMPTY);
        }
        let row = row(digest, level, u32::from(head >> 5), form.unknowns);
        // The bits of the first unknown in a plane, and those of each unknown there.
        let in_plane = |first: u32, bits: u32, result: u32| {
            let mut difference = u64::from(result);
            for unknown in row {
                let bit = first + unknown * bits;
                let eight = planes[(bit / 8) as usize..].first_chunk();
                difference ^= eight.map_or(0, |&eight| u64::from_le_bytes(eight)) >> (bit % 8);
            }
            difference & ((1 << bits) - 1) == 0
        };
        let first = form.bits.min(FIRST_PLANE);
        in_plane(0, first, result)
            && in_plane(form.unknowns * first, form.bits - first, result >> FIRST_PLANE)
    }
}

/// Solves filters, and keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    /// By unknown: the equation whose first unknown it is, as the bits of all its unknowns; 0 if there is none.
    rows: Vec<u64>,
    /// By unknown, the result of that equation; in the end, the unknown.
    results: Vec<u32>,
    /// The equation at hand.
    row: Vec<u64>,
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
            let unknowns = unknowns_of(bytes, bits);
            for system in 0..ROW_SEEDS {
                if self.solve(digests, level, system, unknowns) {
                    self.write_unknowns(bits, &mut filter[1..]);
                    filter[0] = bits as u8 | (system as u8) << 5;
                    return;
                }
            }
        }
        filter[0] = PASS_ALL;
    }

    /// Gaussian elimination, row by row: a row ends where no other begins. Whether there is a solution.
    fn solve(&mut self, digests: &[Digest], level: usize, system: u32, unknowns: u32) -> bool {
        let words = (unknowns as usize).div_ceil(64);
        self.rows.clear();
        self.rows.resize(unknowns as usize * words, 0);
        self.results.clear();
        self.results.resize(unknowns as usize, 0);
        for &digest in digests {
            self.row.clear();
            self.row.resize(words, 0);
            for unknown in row(digest, level, system, unknowns) {
                self.row[unknown as usize / 64] ^= 1 << (unknown % 64);
            }
            if !self.reduce(result(digest)) {
                return false;
            }
        }
        // From the last unknown to the first; those that no row begins with may be anything, and are 0.
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

    /// Adds the row at hand to those that there are, reduced by them. Whether it agrees with them.
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
        // It says what others say already, or the contrary.
        result == 0
    }

    fn write_unknowns(&self, bits: u32, planes: &mut [u8]) {
        let first = bits.min(FIRST_PLANE);
        let mut at = 0;
        for plane in [0..first, first..bits] {
            for value in &self.results {
                for bit in plane.clone() {
                    planes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
                    at += 1;
                }
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
