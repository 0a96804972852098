//! Counting filters as bytes.

use super::{CountingBloom, word_count};
use crate::bits::Words;
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, write_words};
use crate::filter::cores::SavedCore;
use crate::hash::probes::SchemeName;
use crate::layout::{Counting, CountingLayout};

/// Decodes the layout: counters, hashes, scheme, bits per counter, once per item or not.
fn decode_layout(block: &LayoutBlock) -> Result<CountingLayout, LoadError> {
    let [counters, hashes, scheme, counter_bits, once] = block.fields()?;
    let narrow = |field: u64| u32::try_from(field).ok();
    let layout = narrow(hashes).zip(narrow(counter_bits));
    let layout = layout.and_then(|(hashes, bits)| CountingLayout::new(counters, hashes, bits).ok());
    let scheme = u8::try_from(scheme).ok().and_then(SchemeName::from_number);
    let counting = [Counting::EachProbe, Counting::OncePerItem].get(once.min(2) as usize).copied();
    let layout = layout.zip(scheme).and_then(|(layout, scheme)| layout.with_scheme(scheme).ok());
    match layout.zip(counting) {
        // Bands with leftover counters would have been written without them.
        Some((layout, counting)) if layout.counters() == counters => Ok(layout.with_counting(counting)),
        _ => Err(LoadError::Invalid { what: "a counting filter with invalid counters, hashes or scheme" }),
    }
}

/// Checks that no bit is set beyond the last counter.
fn check_words(layout: CountingLayout, words: &impl Words) -> Result<(), LoadError> {
    let unused = layout.bits() % 64;
    if unused != 0 && words.word(words.len() - 1) >> unused != 0 {
        return Err(LoadError::Invalid { what: "a counting filter with bits beyond its last counter" });
    }
    Ok(())
}

impl<S: Words> SavedCore for CountingBloom<S> {
    const KIND: Kind = Kind::Counting;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        let layout = &self.layout;
        LayoutBlock::new([
            layout.counters(),
            u64::from(layout.hashes()),
            u64::from(layout.scheme().number()),
            u64::from(layout.counter_bits()),
            u64::from(layout.counting() == Counting::OncePerItem),
        ])
    }

    fn payload_length(&self) -> u64 {
        8 * word_count(self.layout)
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(self.counters.words(), sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout)?;
        let words = source.take(word_count(layout))?;
        check_words(layout, &words)?;
        Ok(Self::over_words(layout, words))
    }
}
