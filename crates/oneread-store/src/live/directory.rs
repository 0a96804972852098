//! Maps a key's word to its segment.
//!
//! Each segment has a range of the words of [`domain::DIRECTORY`](crate::domain::DIRECTORY);
//! together the ranges cover all words. A split divides a range.
//!
//! The directory is an immutable list of lists. A new version shares all lists but one with the old
//! version, so a change copies a few hundred entries at most.

use std::sync::Arc;

use super::segment::Segment;
pub(super) use crate::format::geometry::word;

/// The most entries of an inner list; a longer one is split.
const MAX_ENTRIES: usize = 256;

/// A segment with the first word of its range.
pub(super) type Entry = (u64, Arc<Segment>);

/// A segment with its first and last words.
#[derive(Clone, Debug)]
pub(super) struct Found<'a> {
    pub(super) segment: &'a Arc<Segment>,
    pub(super) first: u64,
    pub(super) last: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// Sorted by first word; no list is empty.
    lists: Vec<Arc<Vec<Entry>>>,
    segments: u64,
}

impl Directory {
    /// Builds a directory from all entries, sorted by first word. The first of them is 0.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let segments = entries.len() as u64;
        let lists = entries.chunks(MAX_ENTRIES / 2).map(|entries| Arc::new(entries.to_vec())).collect();
        Self { lists, segments }
    }

    pub(super) fn len(&self) -> u64 {
        self.segments
    }

    #[inline]
    fn position(&self, word: u64) -> (usize, usize) {
        let list = self.lists.partition_point(|list| list[0].0 <= word) - 1;
        (list, self.lists[list].partition_point(|entry| entry.0 <= word) - 1)
    }

    /// The segment of a key with this word.
    #[inline]
    pub(super) fn segment(&self, word: u64) -> &Arc<Segment> {
        let (list, at) = self.position(word);
        &self.lists[list][at].1
    }

    /// Like [`segment`](Self::segment), but with its range.
    pub(super) fn find(&self, word: u64) -> Found<'_> {
        let (list, at) = self.position(word);
        let (first, ref segment) = self.lists[list][at];
        let next = self.lists[list].get(at + 1).or_else(|| self.lists.get(list + 1).map(|list| &list[0]));
        Found { segment, first, last: next.map_or(u64::MAX, |next| next.0 - 1) }
    }

    /// Replaces the segment that begins with `first` by segments that together have its range.
    pub(super) fn replaced(&self, first: u64, by: Vec<Entry>) -> Self {
        let (number, at) = self.position(first);
        debug_assert!(self.lists[number][at].0 == first && by[0].0 == first);
        let segments = self.segments - 1 + by.len() as u64;
        let mut list = self.lists[number].to_vec();
        list.splice(at..=at, by);
        let mut lists = self.lists.clone();
        if list.len() <= MAX_ENTRIES {
            lists[number] = Arc::new(list);
        } else {
            lists.splice(number..=number, list.chunks(MAX_ENTRIES / 2).map(|part| Arc::new(part.to_vec())));
        }
        Self { lists, segments }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.lists.iter().flat_map(|list| list.iter())
    }

    /// The bytes that it takes in memory, including segments.
    pub(super) fn byte_len(&self) -> u64 {
        self.iter().map(|(_, segment)| segment.byte_len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::geometry::words;
    use crate::format::guide::Form;
    use oneread::hash::reduce;

    fn entry(first: u64, id: u32) -> Entry {
        (
            first,
            Arc::new(Segment::new(id, [0; 3], Vec::new(), (Form { bytes: 1, homes_log2: 0 }, Vec::new()), 0)),
        )
    }

    #[test]
    fn words_go_where_a_sealed_store_sends_them() {
        for segments in [1u32, 2, 3, 7, 1000] {
            let entries =
                (0..segments).map(|number| entry(*words(number, segments).start(), number)).collect();
            let directory = Directory::new(entries);
            let mut word = 0u64;
            for _ in 0..10_000 {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                for word in [word, u64::MAX, 0] {
                    assert_eq!(u64::from(directory.segment(word).id), reduce(word, u64::from(segments)));
                    let found = directory.find(word);
                    assert!(
                        found.first <= word
                            && word <= found.last
                            && found.segment.id == directory.segment(word).id
                    );
                }
            }
        }
    }

    #[test]
    fn a_split_leaves_all_others_and_the_old_version() {
        let mut directory = Directory::new(vec![entry(0, 0)]);
        let old = directory.clone();
        for id in 1..2000u32 {
            let word = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let found = directory.find(word);
            let (first, middle, kept) =
                (found.first, found.first + (found.last - found.first) / 2 + 1, found.segment.id);
            directory = directory.replaced(first, vec![entry(first, kept), entry(middle, id)]);
        }
        assert_eq!((directory.len(), directory.iter().count(), old.len()), (2000, 2000, 1));
        assert!(directory.iter().zip(directory.iter().skip(1)).all(|(a, b)| a.0 < b.0));
        let mut ids: Vec<_> = directory.iter().map(|(_, segment)| segment.id).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..2000));
    }
}
