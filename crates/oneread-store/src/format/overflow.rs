//! Overflow pages of a segment, sorted by key: for records that find no room in their pages.
//!
//! # Why any set of keys can be stored
//! A record has at most three pages, and its guide must name one of them. Two things can go wrong,
//! though only if somebody chose the keys:
//!
//! 1. *Keys with equal digests* have the same pages and the same equation in every guide. A guide
//!    can serve all of them only if they lie in the same level. So at most one record per digest
//!    lies in the levels; the others go to overflow.
//! 2. *Keys with different digests but the same pages* exceed what these pages hold, or exceed what
//!    one guide can tell apart. The excess goes to overflow.
//!
//! Overflow itself depends on no digest: its pages are sorted by the bytes of the keys, a lookup is
//! a binary search, and a page that is too full is split. So any set of distinct keys can be
//! stored, up to the number of pages that a segment can have.
//!
//! # Why lookups stay exact, and others stay cheap
//! The segment keeps the directory words of its overflow keys in memory, each once with the number
//! of its keys. By cases, for a key that is looked up:
//!
//! - *Its word is not among them.* Then the key is not in overflow, and the lookup ignores
//!   overflow: its guide was solved without the overflow keys, and names its page or none.
//! - *Its word is among them.* The binary search finds its record, or shows that overflow has none.
//!   Then the guide is asked too, since a key of the same word may lie in the levels.
//!
//! So only keys that share the word of an overflow key pay. The search reads at most ⌊log2(pages)⌋
//! + 1 of the segment's overflow pages.
//!
//! Overflow pages have the form of other pages, with level [`OVERFLOW`] and index 0.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::fields::{put_longs, put_words};
use super::page::{Place, RECORD_OVERHEAD, ROOM};
use super::{geometry, long_at, word_at};

/// The level number of overflow pages: one more than the last level.
pub(crate) const OVERFLOW: usize = geometry::LEVELS;

/// The bytes of a word and its number of keys.
pub(crate) const WORD_BYTES: usize = 12;

/// The place that an overflow page names. It has no index, since its position changes when others
/// are split.
pub(crate) const fn place(segment: u32) -> Place {
    Place { segment, level: OVERFLOW, index: 0 }
}

/// The [words](geometry::word) of overflow keys in ascending order, each with the number of its
/// keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyWords(Box<[(u64, u32)]>);

impl KeyWords {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn contains(&self, word: u64) -> bool {
        self.0.binary_search_by_key(&word, |&(word, _)| word).is_ok()
    }

    /// The bytes that it takes in memory.
    pub(crate) fn byte_len(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// The number of keys.
    pub(crate) fn keys(&self) -> u64 {
        self.0.iter().map(|&(_, keys)| u64::from(keys)).sum()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for (word, keys) in &self.0 {
            put_longs(out, [*word]);
            put_words(out, [*keys]);
        }
    }

    /// Decodes bytes whose length is a multiple of [`WORD_BYTES`]. Returns `None` if a word is out
    /// of order or has no keys.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let words: Vec<_> =
            bytes.chunks_exact(WORD_BYTES).map(|entry| (long_at(entry, 0), word_at(entry, 8))).collect();
        let ascending = words.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (ascending && words.iter().all(|&(_, keys)| keys > 0)).then(|| Self(words.into_boxed_slice()))
    }

    /// Converts into a map that can be changed.
    pub(crate) fn to_counts(&self) -> Counts {
        Counts(self.0.iter().copied().collect())
    }
}

/// Counts the keys of each word in overflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(BTreeMap<u64, u32>);

impl Counts {
    pub(crate) fn contains(&self, word: u64) -> bool {
        self.0.contains_key(&word)
    }

    pub(crate) fn add(&mut self, word: u64) {
        // A crafted file may claim any number.
        let keys = self.0.entry(word).or_default();
        *keys = keys.saturating_add(1);
    }

    pub(crate) fn remove(&mut self, word: u64) {
        if let Some(keys) = self.0.get_mut(&word) {
            *keys -= 1;
            if *keys == 0 {
                self.0.remove(&word);
            }
        }
    }

    pub(crate) fn to_words(&self) -> KeyWords {
        KeyWords(self.0.iter().map(|(&word, &keys)| (word, keys)).collect())
    }
}

/// The most pages that a binary search among `pages` pages reads.
pub(crate) const fn most_reads(pages: u32) -> u32 {
    u32::BITS - pages.leading_zeros()
}

/// A binary search for the overflow page that can have a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    low: u32,
    high: u32,
}

impl Search {
    pub(crate) const fn among(pages: u32) -> Self {
        Self { low: 0, high: pages }
    }

    /// The page to read next, if any.
    pub(crate) const fn next(&self) -> Option<u32> {
        if self.low < self.high { Some(self.low + (self.high - self.low) / 2) } else { None }
    }

    /// Continues before or behind the page just read, or ends if the key lies between its first and
    /// last keys.
    pub(crate) fn narrow(&mut self, page: u32, key: Ordering) {
        match key {
            Ordering::Less => self.high = page,
            Ordering::Greater => self.low = page + 1,
            Ordering::Equal => self.high = self.low,
        }
    }
}

/// Splits records of these lengths, in order, into pages of at most `limit` bytes. `limit` is at
/// most [`ROOM`] and at least the weight of each record. Returns the end of each page's records.
pub(crate) fn cut(lengths: impl Iterator<Item = usize>, limit: usize) -> Vec<usize> {
    let (mut ends, mut used, mut count) = (Vec::new(), 0, 0);
    for (number, length) in lengths.enumerate() {
        let weight = length + RECORD_OVERHEAD;
        if number > 0 && used + weight > limit.min(ROOM) {
            ends.push(number);
            used = 0;
        }
        used += weight;
        count = number + 1;
    }
    ends.extend((count > 0).then_some(count));
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_reads_no_more_pages_than_the_logarithm_says() {
        for pages in 0..70u32 {
            for wanted in 0..=pages {
                let mut search = Search::among(pages);
                let mut reads = 0;
                while let Some(page) = search.next() {
                    reads += 1;
                    // `pages` stands for a key behind all pages.
                    search.narrow(page, wanted.cmp(&page));
                }
                assert!(reads <= most_reads(pages), "{reads} reads of {pages} pages");
            }
        }
        assert_eq!((most_reads(0), most_reads(1), most_reads(2), most_reads(1 << 24)), (0, 1, 2, 25));
    }

    #[test]
    fn words_are_counted_encoded_and_refused_out_of_order() {
        let mut counts = Counts::default();
        [9, 3, 9, 7].into_iter().for_each(|word| counts.add(word));
        counts.remove(7);
        counts.remove(9);
        let words = counts.to_words();
        assert_eq!((words.len(), words.keys()), (2, 2));
        assert!(words.contains(3) && words.contains(9) && !words.contains(7));
        let mut bytes = Vec::new();
        words.encode(&mut bytes);
        assert_eq!(KeyWords::decode(&bytes), Some(words));
        bytes.swap(0, WORD_BYTES);
        assert_eq!(KeyWords::decode(&bytes), None);
    }

    #[test]
    fn records_are_cut_where_a_page_is_full() {
        assert_eq!(cut([].into_iter(), ROOM), Vec::<usize>::new());
        assert_eq!(cut([ROOM - 1, ROOM - 1, 5, 5].into_iter(), ROOM), [1, 2, 4]);
        assert_eq!(cut([9, 9, 9].into_iter(), 20), [2, 3]);
    }
}
