//! D-left filters as bytes.
//!
//! A paged filter's payload begins with zeros up to byte 4096 of the file, so that a page of the
//! filter is a page of the file. The last sixteen bytes of each page are its checksum and zeros.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::codec::Codec;
use super::{DLeft, bucket64, check};
use crate::bits::Words;
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, write_words};
use crate::filter::cores::SavedCore;
use crate::layout::{BucketBits, DLeftLayout, Division, Semisort, Ties};

/// The number of words of a page.
pub(super) const PAGE_WORDS: usize = (DLeftLayout::PAGE_BYTES / 8) as usize;

/// The number of words of a page that hold buckets.
const BUCKET_WORDS: usize = PAGE_WORDS - 2;

/// The number of words between a container's header and the first page.
const PADDING_WORDS: usize = PAGE_WORDS - 128 / 8;

pub(super) const PADDING_BYTES: u64 = PADDING_WORDS as u64 * 8;

const PADDING: LoadError = LoadError::Invalid { what: "bytes other than 0 before the first page" };

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
    const INVALID: LoadError = LoadError::Invalid { what: "a d-left filter with invalid sizes or policies" };
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
    // Fields beyond those used: sizes after a gap, or sizes that pages do not have.
    let is_whole = (0..buckets.len()).all(|at| buckets[at] == layout.buckets().get(at).copied().unwrap_or(0));
    if is_whole && check(layout).is_ok() { Ok(layout) } else { Err(INVALID) }
}

impl<S: Words> DLeft<S> {
    fn write_pages(&self, sink: &mut dyn FnMut(&[u8])) {
        if self.layout.pages().is_none() {
            return write_words(&self.words, sink);
        }
        sink(&[0; PADDING_BYTES as usize]);
        for number in 0..self.words.len() / PAGE_WORDS {
            let mut bytes = self.page_bytes(number);
            bytes[BUCKET_WORDS] = page_checksum(bytes.as_flattened(), number as u64).to_le_bytes();
            sink(bytes.as_flattened());
        }
    }

    /// The bytes of a page, its last two words as stored.
    fn page_bytes(&self, number: usize) -> [[u8; 8]; PAGE_WORDS] {
        core::array::from_fn(|at| self.words.word(number * PAGE_WORDS + at).to_le_bytes())
    }

    /// Checks that the last two words of each page are its checksum and 0, as in a file.
    fn check_pages(&self) -> Result<(), LoadError> {
        for number in 0..self.layout.pages().unwrap_or(0) {
            let bytes = self.page_bytes(number as usize);
            let expected = u64::from_le_bytes(bytes[BUCKET_WORDS]);
            let found = page_checksum(bytes.as_flattened(), number);
            if expected != found {
                return Err(LoadError::Checksum { part: "page", expected, found });
            }
            if bytes[BUCKET_WORDS + 1] != [0; 8] {
                return Err(LoadError::Invalid { what: "bytes other than 0 at the end of a page" });
            }
        }
        Ok(())
    }

    /// Checks that insertions can make every bucket.
    fn check_buckets(&self) -> Result<(), LoadError> {
        let group_words = self.codec.as_ref().map_or(1, Codec::group_words);
        let mut group = alloc::vec![0; group_words];
        for start in (0..self.words.len()).step_by(group_words).filter(|&at| self.holds_buckets(at)) {
            group.iter_mut().enumerate().for_each(|(at, word)| *word = self.words.word(start + at));
            let is_valid = match &self.codec {
                None => bucket64::is_valid(group[0]),
                Some(codec) => codec.is_valid(&group),
            };
            if !is_valid {
                return Err(LoadError::Invalid {
                    what: "a bucket in a state that does not exist, with bits beyond its lanes, or out of order",
                });
            }
        }
        Ok(())
    }

    /// Reports whether a word holds buckets, and not a page's checksum.
    pub(super) fn holds_buckets(&self, word: usize) -> bool {
        self.layout.pages().is_none() || word % PAGE_WORDS < BUCKET_WORDS
    }
}

impl<S: Words> SavedCore for DLeft<S> {
    const KIND: Kind = Kind::DLeft;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        layout_block(self.layout)
    }

    fn payload_length(&self) -> u64 {
        self.layout.byte_len() + if self.layout.pages().is_some() { PADDING_BYTES } else { 0 }
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.write_pages(sink);
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let layout = decode_layout(block)?;
        if layout.pages().is_some() && source.copy(PADDING_WORDS as u64)?.iter().any(|&word| word != 0) {
            return Err(PADDING);
        }
        Ok(Self::over_words(layout, source.take(layout.byte_len() / 8)?))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_pages()?;
        self.check_buckets()
    }
}
