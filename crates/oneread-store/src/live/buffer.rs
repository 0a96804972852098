//! Changes that are in the log but not yet on pages, sorted by directory word, so that those of a
//! segment are adjacent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// About the memory that a change takes beside its bytes.
const OVERHEAD: usize = 88;

/// The last change of a key: its value, or its deletion.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// The key, then the value.
    bytes: Arc<[u8]>,
    key: u16,
    deleted: bool,
    below: Below,
}

/// What pages have of a key that was changed in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnPage {
    Absent,
    /// With a value of this many bytes.
    Present(u64),
}

/// [`OnPage`], cached for the next caller once it is known.
#[derive(Debug)]
struct Below(AtomicU64);

impl Below {
    /// Values are shorter.
    const UNKNOWN: u64 = u64::MAX;
    const ABSENT: u64 = u64::MAX - 1;

    const fn unknown() -> Self {
        Self(AtomicU64::new(Self::UNKNOWN))
    }
}

impl Clone for Below {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Relaxed)))
    }
}

impl Change {
    fn new(key: &[u8], value: Option<&[u8]>) -> Self {
        let bytes = [key, value.unwrap_or_default()].concat().into();
        Self { bytes, key: key.len() as u16, deleted: value.is_none(), below: Below::unknown() }
    }

    /// What pages have of the key once the change is merged.
    pub(super) fn merged(&self) -> OnPage {
        self.value().map_or(OnPage::Absent, |value| OnPage::Present(value.len() as u64))
    }

    /// What pages have of the key until then, if known.
    pub(super) fn on_page(&self) -> Option<OnPage> {
        match self.below.0.load(Relaxed) {
            Below::UNKNOWN => None,
            Below::ABSENT => Some(OnPage::Absent),
            length => Some(OnPage::Present(length)),
        }
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.bytes[..usize::from(self.key)]
    }

    /// The value, or `None` if the key is deleted.
    pub(super) fn value(&self) -> Option<&[u8]> {
        (!self.deleted).then(|| &self.bytes[usize::from(self.key)..])
    }

    fn size(&self) -> usize {
        self.bytes.len() + OVERHEAD
    }
}

/// The changes of one directory word.
#[derive(Clone, Debug)]
enum Alike {
    One(Change),
    /// Several keys share the word: by a chance of one in 2^64, or because somebody chose them.
    Many(BTreeMap<Vec<u8>, Change>),
}

impl Alike {
    #[inline]
    fn get(&self, key: &[u8]) -> Option<&Change> {
        match self {
            Self::One(change) => (change.key() == key).then_some(change),
            Self::Many(changes) => changes.get(key),
        }
    }

    /// Returns the change that this one replaces. What pages have of the key stays known.
    fn set(&mut self, mut new: Change) -> Option<Change> {
        if let Some(old) = self.get(new.key()) {
            new.below = old.below.clone();
        }
        match self {
            Self::One(change) if change.key() == new.key() => Some(std::mem::replace(change, new)),
            Self::One(change) => {
                *self =
                    Self::Many([change.clone(), new].map(|change| (change.key().to_vec(), change)).into());
                None
            }
            Self::Many(changes) => changes.insert(new.key().to_vec(), new),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Change> {
        let (one, many) = match self {
            Self::One(change) => (Some(change), None),
            Self::Many(changes) => (None, Some(changes.values())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    changes: BTreeMap<u64, Alike>,
    bytes: usize,
    count: usize,
}

impl Buffer {
    /// About the memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The last change of a key.
    #[inline]
    pub(super) fn get(&self, word: u64, key: &[u8]) -> Option<&Change> {
        self.changes.get(&word)?.get(key)
    }

    /// Records a change of a key.
    pub(super) fn set(&mut self, word: u64, key: &[u8], value: Option<&[u8]>) {
        let new = Change::new(key, value);
        self.bytes += new.size();
        let replaced = match self.changes.entry(word) {
            Entry::Vacant(entry) => {
                entry.insert(Alike::One(new));
                None
            }
            Entry::Occupied(mut entry) => entry.get_mut().set(new),
        };
        match replaced {
            Some(old) => self.bytes -= old.size(),
            None => self.count += 1,
        }
    }

    /// Records what pages have of a changed key.
    pub(super) fn keep_on_page(&self, word: u64, key: &[u8], on_page: OnPage) {
        let below = match on_page {
            OnPage::Absent => Below::ABSENT,
            OnPage::Present(length) => length,
        };
        if let Some(change) = self.get(word, key) {
            change.below.0.store(below, Relaxed);
        }
    }

    /// The first word from this one on that has a change.
    pub(super) fn first_from(&self, word: u64) -> Option<u64> {
        self.changes.range(word..).next().map(|(&word, _)| word)
    }

    /// The last word of a range, or of the first changes in it that reach `bytes` bytes.
    pub(super) fn last_of(&self, words: RangeInclusive<u64>, bytes: usize) -> u64 {
        let last = *words.end();
        let mut sum = 0;
        let mut full = self.range(words).skip_while(|(_, change)| {
            sum += change.bytes.len();
            sum < bytes
        });
        full.next().map_or(last, |(word, _)| word)
    }

    /// The changes whose words are in a range.
    pub(super) fn range(&self, words: RangeInclusive<u64>) -> impl Iterator<Item = (u64, &Change)> {
        self.changes.range(words).flat_map(|(&word, alike)| alike.iter().map(move |change| (word, change)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_of_each_key_counts_even_if_all_words_are_equal() {
        let mut buffer = Buffer::default();
        assert!(buffer.is_empty() && buffer.get(7, b"a").is_none());
        for round in 0..3u8 {
            for key in [b"a", b"b", b"c"] {
                buffer.set(7, key, (round != 1 || key != b"b").then_some(&[round]));
            }
            let value = [round];
            let expected = (round != 1).then_some(&value[..]);
            assert_eq!(buffer.get(7, b"b").unwrap().value(), expected);
        }
        assert_eq!((buffer.len(), buffer.range(0..=7).count(), buffer.range(8..=9).count()), (3, 3, 0));
        assert_eq!(buffer.bytes(), 3 * (2 + OVERHEAD));
        assert_eq!((buffer.first_from(7), buffer.first_from(8)), (Some(7), None));
    }
}
