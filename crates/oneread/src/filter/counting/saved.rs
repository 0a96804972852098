//! Counting filters as bytes.

use super::{CountingBloom, CountingBloomFilter, word_count};
use crate::bits::{LittleEndian, Words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, Viewed, write_words};
use crate::hash::probes::SchemeName;
use crate::layout::{Counting, CountingLayout};

/// The layout of a container's fields: counters, hashes, scheme, bits of a counter, once per item or not.
fn decode_layout(block: &LayoutBlock) -> Result<CountingLayout, LoadError> {
    let [counters, hashes, scheme, counter_bits, once] = block.fields()?;
    let narrow = |field: u64| u32::try_from(field).ok();
    let layout = narrow(hashes).zip(narrow(counter_bits));
    let layout = layout.and_then(|(hashes, bits)| CountingLayout::new(counters, hashes, bits).ok());
    let scheme = u8::try_from(scheme).ok().and_then(SchemeName::from_number);
    let counting = [Counting::EachProbe, Counting::OncePerItem].get(once.min(2) as usize).copied();
    let layout = layout.zip(scheme).and_then(|(layout, scheme)| layout.with_scheme(scheme).ok());
    match layout.zip(counting) {
        // Bands that leave counters over would have been written without them.
        Some((layout, counting)) if layout.counters() == counters => Ok(layout.with_counting(counting)),
        _ => Err(LoadError::Invalid { what: "a counting filter of impossible counters, hashes or scheme" }),
    }
}

/// The words are as many as the layout takes, and nothing is beyond the last counter.
fn check_words(layout: CountingLayout, words: &impl Words) -> Result<(), LoadError> {
    if words.len() as u64 != word_count(layout) {
        return Err(LoadError::Invalid {
            what: "a counting filter with more or fewer words than its counters take",
        });
    }
    let unused = layout.bits() % 64;
    if unused != 0 && words.word(words.len() - 1) >> unused != 0 {
        return Err(LoadError::Invalid { what: "a counting filter with bits beyond its last counter" });
    }
    Ok(())
}

impl<D: Identified> Saved for CountingBloomFilter<D> {
    const KIND: Kind = Kind::Counting;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

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

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout)?;
        let words = payload.words(word_count(layout))?;
        check_words(layout, &words)?;
        Ok(Self::over_words(layout, digester, words))
    }
}

impl<'a, D: Identified> Viewed<'a> for CountingBloom<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::Counting;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout)?;
        check_words(layout, &payload)?;
        Ok(Self::over_words(layout, digester, payload))
    }
}
