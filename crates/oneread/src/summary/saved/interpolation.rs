//! Saved interpolation summaries: kind 21. Blocks are saved as one array.

use alloc::vec::Vec;

use super::super::interpolation::{Packed, SortedStrings, Widths, block_of};
use super::super::single::check_levels;
use super::{check_words, invalid, narrow};
use crate::bits::{LittleEndian, Words, reserved};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, write_words};
use crate::filter::cores::SavedCore;
use crate::layout::{InterpolationLayout, MAX_PLACES};

/// The fields of the layout.
struct Fields {
    layout: InterpolationLayout,
    levels: usize,
    len: usize,
    block_bits: u32,
    widths: Widths,
}

impl Fields {
    fn decode(block: &LayoutBlock) -> Result<Self, LoadError> {
        let [bits, levels, len, block_bits] = block.fields()?;
        let layout = InterpolationLayout::new(narrow(bits)).map_err(invalid)?;
        let levels = usize::try_from(levels).unwrap_or(usize::MAX);
        check_levels(levels).map_err(invalid)?;
        // Bounds the count so that its product with the entry width does not overflow.
        let len = usize::try_from(len).ok().filter(|&len| len as u64 <= MAX_PLACES);
        let len = len.ok_or(LoadError::Invalid { what: "a summary of more keys than there can be" })?;
        if block_bits > u64::from(MAX_PLACES.ilog2().min(layout.fingerprint_bits())) {
            return Err(LoadError::Invalid { what: "a summary of more blocks than strings" });
        }
        let widths = Widths::new(layout.fingerprint_bits(), levels);
        Ok(Self { layout, levels, len, block_bits: narrow(block_bits), widths })
    }

    /// Reads the fields, the block lengths and the strings.
    fn read<S: Words>(
        block: &LayoutBlock,
        source: &mut impl Source<S>,
    ) -> Result<(Self, S, Packed<S>), LoadError> {
        let fields = Self::decode(block)?;
        let lengths = source.take(fields.block_words())?;
        let words = source.take(fields.bits().div_ceil(64))?;
        check_words(&words, fields.bits())?;
        let all = Packed::over_words(words, fields.len);
        Ok((fields, lengths, all))
    }

    /// The number of words of the block lengths.
    fn block_words(&self) -> u64 {
        if self.block_bits == 0 { 0 } else { 1 << self.block_bits }
    }

    fn bits(&self) -> u64 {
        self.len as u64 * self.widths.entry()
    }

    /// Checks that the entries are in order, in the right blocks, and at valid levels. Reads all of
    /// them.
    fn check(&self, entries: &Packed<impl Words>, lengths: &impl Words) -> Result<(), LoadError> {
        let string = |at| entries.string(at, self.widths);
        if (1..self.len).any(|at| string(at - 1) > string(at)) {
            return Err(LoadError::Invalid { what: "a summary of strings that are not in order" });
        }
        if (0..self.len).any(|at| entries.level(at, self.widths) >= self.levels) {
            return Err(LoadError::Invalid { what: "a summary with a level that does not exist" });
        }
        let mut at = 0;
        for block in 0..lengths.len() {
            let of_block = |&at: &usize| block_of(string(at), self.widths, self.block_bits) == block;
            let length = (at..self.len).take_while(of_block).count();
            if lengths.word(block) != length as u64 {
                return Err(LoadError::Invalid {
                    what: "a summary with a string in another block than its own",
                });
            }
            at += length;
        }
        Ok(())
    }
}

fn block_of_fields(layout: InterpolationLayout, levels: usize, len: usize, block_bits: u32) -> LayoutBlock {
    LayoutBlock::new([layout.fingerprint_bits().into(), levels as u64, len as u64, block_bits.into()])
}

/// The bits of a block's number, from the saved lengths of all blocks.
fn saved_block_bits(lengths: &impl Words) -> u32 {
    if lengths.is_empty() { 0 } else { lengths.len().ilog2() }
}

impl SavedCore for SortedStrings<Vec<u64>> {
    const KIND: Kind = Kind::InterpolationSummary;
    type Storage = Vec<u64>;

    fn layout_block(&self) -> LayoutBlock {
        block_of_fields(self.layout, self.levels, self.len, self.block_bits)
    }

    fn payload_length(&self) -> u64 {
        let blocks = if self.block_bits == 0 { 0 } else { self.blocks.len() as u64 };
        8 * (blocks + (self.len as u64 * self.widths.entry()).div_ceil(64))
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        if let [all] = self.blocks.as_slice() {
            return write_words(&all.words, sink);
        }
        /// This many entries end with a whole word, whatever their width.
        const WHOLE: usize = 64;
        self.blocks.iter().for_each(|block| sink(&(block.len() as u64).to_le_bytes()));
        let mut piece = <Packed>::default();
        for block in &self.blocks {
            for at in 0..block.len() {
                let (string, level) = (block.string(at, self.widths), block.level(at, self.widths));
                piece.insert(piece.len(), string, level, self.widths);
                if piece.len() == WHOLE {
                    write_words(&piece.words, sink);
                    piece = Packed::default();
                }
            }
        }
        write_words(&piece.words, sink);
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<Vec<u64>>) -> Result<Self, LoadError> {
        let (fields, lengths, all) = Fields::read(block, source)?;
        fields.check(&all, &lengths)?;
        let Fields { layout, levels, len, block_bits, widths } = fields;
        // The lengths read above are as many as the blocks.
        let mut blocks = reserved(1 << block_bits)?;
        if lengths.is_empty() {
            blocks.push(all);
        } else {
            let mut at = 0;
            for &length in &lengths {
                let mut block = Packed::default();
                for _ in 0..length {
                    block.insert(block.len(), all.string(at, widths), all.level(at, widths), widths);
                    at += 1;
                }
                blocks.push(block);
            }
        }
        Ok(Self { layout, levels, widths, blocks, block_bits, len, saved_lengths: None })
    }
}

/// The strings of a view are one block, whose saved lengths are kept beside it.
impl<'a> SavedCore for SortedStrings<LittleEndian<'a>> {
    const KIND: Kind = Kind::InterpolationSummary;
    type Storage = LittleEndian<'a>;

    fn layout_block(&self) -> LayoutBlock {
        let block_bits = self.saved_lengths.as_ref().map_or(0, saved_block_bits);
        block_of_fields(self.layout, self.levels, self.len, block_bits)
    }

    fn payload_length(&self) -> u64 {
        let blocks = self.saved_lengths.as_ref().map_or(0, Words::len);
        8 * (blocks + self.blocks[0].words.len()) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.saved_lengths.iter().for_each(|lengths| write_words(lengths, sink));
        write_words(&self.blocks[0].words, sink);
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<LittleEndian<'a>>) -> Result<Self, LoadError> {
        let (fields, lengths, all) = Fields::read(block, source)?;
        let Fields { layout, levels, len, widths, .. } = fields;
        let saved_lengths = Some(lengths);
        Ok(Self { layout, levels, widths, blocks: Vec::from([all]), block_bits: 0, len, saved_lengths })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        let Some(lengths) = &self.saved_lengths else { return Ok(()) };
        let block_bits = saved_block_bits(lengths);
        let Self { layout, levels, len, widths, .. } = *self;
        Fields { layout, levels, len, block_bits, widths }.check(&self.blocks[0], lengths)
    }
}
