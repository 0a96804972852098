//! D-left filters as bytes.
//!
//! A paged filter's payload begins with zeros up to byte 4096 of the file, so that a page of the filter is a page of the file; the last sixteen bytes
//! of each page are its checksum and zeros.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{DLeft, DLeftFilter, check};
use crate::bits::{LittleEndian, Words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, Viewed, write_words};
use crate::layout::{BucketBits, DLeftLayout, Division, Semisort, Ties};

/// The words of a page.
pub(super) const PAGE_WORDS: usize = (DLeftLayout::PAGE_BYTES / 8) as usize;

/// The words of a page that hold buckets.
const BUCKET_WORDS: usize = PAGE_WORDS - 2;

/// The words between a container's header and the first page.
const PADDING_WORDS: usize = PAGE_WORDS - 128 / 8;

pub(super) const PADDING_BYTES: u64 = PADDING_WORDS as u64 * 8;

/// The checksum of a page, which depends on its number: pages cannot be exchanged.
pub(super) fn page_checksum(page: &[u8], number: u64) -> u64 {
    xxh3_64_with_seed(&page[..BUCKET_WORDS * 8], number)
}

pub(super) fn layout_block(layout: DLeftLayout) -> LayoutBlock {
    let semisort = match layout.semisort() {
        Semisort::None => 0,
        Semisort::One => 1,
        Semisort::Paper => 2,
    };
    let division = match layout.division() {
        Division::Equal => 0,
        Division::Uneven => 1,
        Division::Fixed => 2,
    };
    let ways = [
        u8::from(layout.bucket_bits() == BucketBits::Bits128),
        semisort,
        u8::from(layout.ties() == Ties::Random),
        division,
        layout.group() as u8,
        0,
        0,
        0,
    ];
    let buckets = layout.buckets();
    let size = |subtable: usize| buckets.get(subtable).copied().unwrap_or(0);
    LayoutBlock::new([
        u64::from_le_bytes(ways),
        layout.pages().unwrap_or(0),
        size(0),
        size(1),
        size(2),
        size(3),
    ])
}

pub(super) fn decode_layout(block: &LayoutBlock) -> Result<DLeftLayout, LoadError> {
    const INVALID: LoadError =
        LoadError::Invalid { what: "a d-left filter whose sizes or ways make no layout" };
    let [ways, pages, buckets @ ..] = block.fields::<6>()?;
    let [bits, semisort, ties, division, group, 0, 0, 0] = ways.to_le_bytes() else { return Err(INVALID) };
    let bits = match bits {
        0 => BucketBits::Bits64,
        1 => BucketBits::Bits128,
        _ => return Err(INVALID),
    };
    let subtables = buckets.iter().position(|&size| size == 0).unwrap_or(buckets.len());
    let layout = match pages {
        0 => DLeftLayout::uneven(&buckets[..subtables], bits),
        _ => DLeftLayout::paged(pages, bits),
    };
    let layout =
        layout.and_then(|layout| if group == 1 { Ok(layout) } else { layout.with_group(group.into()) });
    let layout = layout
        .map_err(|_| INVALID)?
        .with_semisort(match semisort {
            0 => Semisort::None,
            1 => Semisort::One,
            2 => Semisort::Paper,
            _ => return Err(INVALID),
        })
        .with_ties(match ties {
            0 => Ties::Left,
            1 => Ties::Random,
            _ => return Err(INVALID),
        })
        .with_division(match division {
            0 => Division::Equal,
            1 => Division::Uneven,
            2 => Division::Fixed,
            _ => return Err(INVALID),
        });
    // What the fields say beyond what was used: sizes after a gap, or sizes that pages do not have.
    let is_whole = (0..buckets.len()).all(|at| buckets[at] == layout.buckets().get(at).copied().unwrap_or(0));
    if is_whole && check(layout).is_ok() { Ok(layout) } else { Err(INVALID) }
}

impl<D: Identified> Saved for DLeftFilter<D> {
    const KIND: Kind = Kind::DLeft;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        layout_block(self.layout)
    }

    fn payload_length(&self) -> u64 {
        self.layout.byte_len() + if self.layout.pages().is_some() { PADDING_BYTES } else { 0 }
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        if self.layout.pages().is_none() {
            return write_words(&self.words, sink);
        }
        sink(&[0; PADDING_BYTES as usize]);
        let mut bytes = [[0; 8]; PAGE_WORDS];
        for (number, page) in self.words.chunks_exact(PAGE_WORDS).enumerate() {
            bytes.iter_mut().zip(page).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
            bytes[BUCKET_WORDS] = page_checksum(bytes.as_flattened(), number as u64).to_le_bytes();
            sink(bytes.as_flattened());
        }
    }

    fn read(digester: D, block: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let layout = decode_layout(block)?;
        if layout.pages().is_some() && payload.words(PADDING_WORDS as u64)?.iter().any(|&word| word != 0) {
            return Err(LoadError::Invalid { what: "bytes other than 0 before the first page" });
        }
        let mut words = payload.words(layout.byte_len() / 8)?;
        if layout.pages().is_some() {
            words.chunks_exact_mut(PAGE_WORDS).for_each(|page| page[BUCKET_WORDS..].fill(0));
        }
        Ok(Self::over_words(layout, digester, words))
    }
}

impl<'a, D: Identified> Viewed<'a> for DLeft<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::DLeft;
    type Digester = D;

    fn over(digester: D, block: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        const LENGTH: LoadError =
            LoadError::Invalid { what: "a d-left filter with more or fewer bytes than its buckets take" };
        let layout = decode_layout(block)?;
        let padding = if layout.pages().is_some() { PADDING_BYTES as usize } else { 0 };
        let bytes = payload.as_bytes().get(padding..).ok_or(LENGTH)?;
        if bytes.len() as u64 != layout.byte_len() {
            return Err(LENGTH);
        }
        let words = LittleEndian::new(bytes);
        debug_assert_eq!(words.len() as u64, layout.byte_len() / 8);
        Ok(Self::over_words(layout, digester, words))
    }
}
