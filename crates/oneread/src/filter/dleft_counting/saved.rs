//! A d-left counting filter as bytes. Loading checks its buckets, since changes rely on them.

use alloc::vec::Vec;

use super::{DLeftCounting, word_count};
use crate::bits::Words;
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, WordArray, write_words};
use crate::filter::cores::{Apart, SavedCore};
use crate::layout::{DLeftCountingLayout, Remainders, Repeats};

/// Decodes the layout and the number of keys: sub-tables, buckets of each, remainders, most cells,
/// counter bits, repeats, keys.
fn decode(block: &LayoutBlock) -> Result<(DLeftCountingLayout, u64), LoadError> {
    let [subtables, buckets_each, remainders, capacity, counter_bits, repeats, len] = block.fields()?;
    let narrow = |field: u64| u32::try_from(field).unwrap_or(u32::MAX);
    let index = |field: u64| usize::try_from(field).unwrap_or(usize::MAX);
    let layout = DLeftCountingLayout::new(narrow(subtables), buckets_each).ok();
    let policies = Remainders::ALL.get(index(remainders)).zip(Repeats::ALL.get(index(repeats)));
    let layout = layout.zip(policies).and_then(|(layout, (&remainders, &repeats))| {
        layout.with_policies(remainders, narrow(capacity), narrow(counter_bits), repeats).ok()
    });
    let invalid = LoadError::Invalid { what: "a d-left counting filter with invalid buckets, cells or keys" };
    Ok((layout.filter(|_| len < MAX_KEYS).ok_or(invalid)?, len))
}

/// More keys than anyone inserts, so that the count cannot overflow. (Stuck cells stand for an
/// unknown number.)
pub(super) const MAX_KEYS: u64 = 1 << 63;

impl<S: Words> DLeftCounting<S> {
    /// Checks that insertions and removals can make every bucket.
    pub(super) fn check_buckets(&self) -> Result<(), LoadError> {
        let mut buckets = (0..self.layout.total_buckets()).map(|at| self.bucket(at as usize));
        if buckets.all(|bucket| self.format.is_valid(bucket)) {
            Ok(())
        } else {
            Err(LoadError::Invalid {
                what: "a bucket in a state that does not exist, or with bits beyond its cells",
            })
        }
    }
}

impl<S: Words> SavedCore for DLeftCounting<S> {
    const KIND: Kind = Kind::DLeftCounting;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        let layout = &self.layout;
        LayoutBlock::new([
            u64::from(layout.subtables()),
            layout.buckets_each(),
            layout.remainders() as u64,
            u64::from(layout.capacity()),
            u64::from(layout.counter_bits()),
            layout.repeats() as u64,
            self.len,
        ])
    }

    fn payload_length(&self) -> u64 {
        self.layout.byte_len()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.words, sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (layout, len) = decode(layout)?;
        Ok(Self::over_words(layout, len, source.take(word_count(layout))?)?)
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_buckets()
    }
}

impl Apart for DLeftCounting<Vec<u64>> {
    fn arrays<'a>(&'a self, arrays: &mut Vec<&'a dyn WordArray>) {
        arrays.push(&self.words);
    }

    fn arrays_mut<'a>(&'a mut self, arrays: &mut Vec<&'a mut dyn WordArray>) {
        arrays.push(&mut self.words);
    }
}
