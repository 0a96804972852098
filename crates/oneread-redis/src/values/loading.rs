//! Values in pieces: for `SCANDUMP` and `LOADCHUNK`, the append-only file and snapshots.
//!
//! The first piece holds the lengths of the outline and of all bytes, and the outline, unless it is
//! longer than a piece. The others are the bytes behind that, in order; the number of each is the
//! offset of its end, plus one. Each ends with a checksum of its own. So a piece takes time and
//! memory in proportion to itself: once the outline is there, the value's arrays are made of zeros
//! and filled in place.

use oneread::bytes::WordArray;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::outline::{Reader, Writer};
use super::{Refused, Value, too_large};

/// Marks a first piece and its version: "oneread2" as a number.
const FIRST: u64 = u64::from_le_bytes(*b"oneread2");

/// The length of the fields of a first piece.
const FIELDS: usize = 3 * 8;

const CHECKSUM: usize = 8;

/// The bytes of a value that are there.
pub(crate) struct Pieces<'v> {
    outline: Vec<u8>,
    arrays: Arrays<'v>,
    /// The length of the whole outline.
    outline_length: u64,
    /// The length of all bytes.
    total: u64,
    /// How many of them are there.
    available: u64,
}

enum Arrays<'v> {
    Words(Vec<&'v dyn WordArray>),
    /// Those of a packed value.
    Bytes(&'v [u8]),
}

impl<'v> Pieces<'v> {
    /// The largest piece in bytes, without its checksum. A piece of 16 MiB, as RedisBloom has them,
    /// kept other clients waiting for 50 ms and more on a busy machine.
    pub(crate) const LONGEST: u64 = 4 << 20;

    pub(crate) fn of<V: Value>(value: &'v V) -> Self {
        let mut writer = Writer::default();
        value.write_outline(&mut writer);
        let (outline, arrays) = (writer.finish(), value.arrays());
        let (outline_length, words) = (outline.len() as u64, word_count(arrays.iter().map(|array| &**array)));
        let total = outline_length + 8 * words;
        Self { outline, arrays: Arrays::Words(arrays), outline_length, total, available: total }
    }

    /// The pieces of a packed value: an outline of this length, and the arrays.
    pub(super) fn of_bytes(packed: &'v [u8], outline_length: usize) -> Self {
        let (outline, arrays) = packed.split_at(outline_length);
        let total = packed.len() as u64;
        Self {
            outline: outline.to_vec(),
            arrays: Arrays::Bytes(arrays),
            outline_length: outline_length as u64,
            total,
            available: total,
        }
    }

    /// The bytes of each array.
    pub(crate) fn array_bytes(&self) -> Vec<usize> {
        match &self.arrays {
            Arrays::Words(arrays) => arrays.iter().map(|array| 8 * array.word_count()).collect(),
            Arrays::Bytes(bytes) => vec![bytes.len()],
        }
    }

    /// The number of pieces.
    pub(crate) fn count(&self) -> u64 {
        let (first, split) = (in_first(self.outline_length), self.outline_length.min(self.available));
        1 + (split - first).div_ceil(Self::LONGEST) + (self.available - split).div_ceil(Self::LONGEST)
    }

    /// The piece after `number` (0 for the first), with its own number; `None` at the end.
    pub(crate) fn next(&self, number: u64) -> Result<Option<(u64, Vec<u8>)>, Refused> {
        let Some(start) = number.checked_sub(1) else {
            return Ok(Some((1, self.first())));
        };
        let start = start.saturating_add(in_first(self.outline_length));
        if start >= self.available {
            return Ok(None);
        }
        let stop = if start < self.outline_length { self.outline_length } else { u64::MAX };
        let end = start.saturating_add(Self::LONGEST).min(stop).min(self.available);
        let length = (end - start) as usize;
        let mut piece = Vec::new();
        piece.try_reserve_exact(length + CHECKSUM)?;
        match start.checked_sub(self.outline_length) {
            None => piece.extend_from_slice(&self.outline[start as usize..end as usize]),
            Some(at) if at % 8 == 0 => {
                piece.resize(length, 0);
                self.copy_words(at / 8, &mut piece);
            }
            // No piece ends there.
            Some(_) => return Ok(None),
        }
        piece.extend_from_slice(&checksum(&piece, start).to_le_bytes());
        Ok(Some((end - in_first(self.outline_length) + 1, piece)))
    }

    /// Calls `take` with each piece and its number.
    pub(crate) fn all(&self, mut take: impl FnMut(u64, &[u8])) -> Result<(), Refused> {
        let mut number = 0;
        while let Some((next, piece)) = self.next(number)? {
            take(next, &piece);
            number = next;
        }
        Ok(())
    }

    fn first(&self) -> Vec<u8> {
        let mut piece: Vec<u8> =
            [FIRST, self.outline_length, self.total].iter().flat_map(|field| field.to_le_bytes()).collect();
        piece.extend_from_slice(&self.outline[..in_first(self.outline_length) as usize]);
        piece.extend_from_slice(&checksum(&piece, 0).to_le_bytes());
        piece
    }

    fn copy_words(&self, mut at: u64, mut bytes: &mut [u8]) {
        let arrays = match &self.arrays {
            Arrays::Words(arrays) => arrays,
            Arrays::Bytes(all) => return bytes.copy_from_slice(&all[8 * at as usize..][..bytes.len()]),
        };
        for array in arrays {
            let words = array.word_count() as u64;
            if at < words {
                let length = bytes.len().min(8 * (words - at) as usize);
                let (now, later) = bytes.split_at_mut(length);
                array.copy_to(at as usize, now);
                bytes = later;
            }
            at = at.saturating_sub(words);
        }
    }
}

/// The bytes of an outline of this length that the first piece holds: all or none.
const fn in_first(outline_length: u64) -> u64 {
    if outline_length <= Pieces::LONGEST { outline_length } else { 0 }
}

/// The checksum of a piece that starts at an offset, so that pieces cannot be exchanged.
fn checksum(piece: &[u8], start: u64) -> u64 {
    xxh3_64_with_seed(piece, start)
}

fn word_count<'a>(arrays: impl Iterator<Item = &'a (dyn WordArray + 'a)>) -> u64 {
    arrays.map(|array| array.word_count() as u64).sum()
}

/// The content of a piece, if its checksum is right.
fn checked(piece: &[u8], start: u64) -> Result<&[u8], Refused> {
    match piece.split_last_chunk::<CHECKSUM>() {
        Some((content, found)) if *found == checksum(content, start).to_le_bytes() => Ok(content),
        _ => Err(Refused("the checksum of a chunk is wrong".into())),
    }
}

/// Why a piece is not taken.
#[derive(Debug)]
pub(crate) enum ChunkError {
    /// It is damaged, out of order or too large. Nothing has changed.
    Refused(Refused),
    /// All that came is no value, so that no further piece can help.
    Damaged(Refused),
}

impl ChunkError {
    pub(crate) fn reason(self) -> Refused {
        let (Self::Refused(reason) | Self::Damaged(reason)) = self;
        reason
    }
}

/// The pieces of a value that have arrived.
#[derive(Clone)]
pub(crate) struct Loading<V> {
    outline_length: u64,
    total: u64,
    /// The bytes that have arrived.
    arrived: u64,
    part: Part<V>,
}

#[derive(Clone)]
enum Part<V> {
    Outline(Vec<u8>),
    /// Boxed, because a value begins with its outline here and ends in a box.
    Arrays(Box<V>),
}

impl<V: Value> Loading<V> {
    /// Starts from a first piece of a value of at most `most_bytes`.
    pub(crate) fn begin(piece: &[u8], most_bytes: u64) -> Result<Self, ChunkError> {
        let unknown = || ChunkError::Damaged(Refused("a first chunk of another kind or version".into()));
        let content = checked(piece, 0).map_err(|Refused(words)| ChunkError::Damaged(Refused(words)))?;
        let (fields, outline) = content.split_first_chunk::<FIELDS>().ok_or_else(unknown)?;
        let field = |at: usize| u64::from_le_bytes(fields.as_chunks().0[at]);
        let [first, outline_length, total] = [field(0), field(1), field(2)];
        let has_outline = outline.len() as u64 == in_first(outline_length);
        if first != FIRST || outline_length == 0 || outline_length >= total || !has_outline {
            return Err(unknown());
        }
        if total - outline_length > most_bytes {
            return Err(ChunkError::Refused(too_large(total, most_bytes)));
        }
        let mut loading = Self {
            outline_length,
            total,
            arrived: outline.len() as u64,
            part: Part::Outline(outline.to_vec()),
        };
        if loading.arrived == outline_length {
            let value = loading.read_outline().map_err(ChunkError::Damaged)?;
            loading.part = Part::Arrays(Box::new(value));
        }
        Ok(loading)
    }

    /// The number of a piece of this length that comes next.
    pub(crate) fn number_of(&self, piece: &[u8]) -> u64 {
        self.number_at(self.arrived + piece.len().saturating_sub(CHECKSUM) as u64)
    }

    const fn number_at(&self, end: u64) -> u64 {
        end - in_first(self.outline_length) + 1
    }

    /// Takes the next piece; returns the value if it was the last.
    pub(crate) fn take(&mut self, number: u64, piece: &[u8]) -> Result<Option<Box<V>>, ChunkError> {
        let content = checked(piece, self.arrived).map_err(ChunkError::Refused)?;
        let (start, end) = (self.arrived, self.arrived + content.len() as u64);
        let out_of_order = || {
            ChunkError::Refused(Refused(format!(
                "chunk {number} with {} bytes does not follow the {start} bytes before it",
                content.len()
            )))
        };
        if end > self.total || number != self.number_at(end) || content.is_empty() {
            return Err(out_of_order());
        }
        match &mut self.part {
            Part::Outline(outline) => {
                if end > self.outline_length {
                    return Err(out_of_order());
                }
                outline.try_reserve(content.len()).map_err(|error| ChunkError::Refused(error.into()))?;
                outline.extend_from_slice(content);
                if end == self.outline_length {
                    let value = self.read_outline().map_err(ChunkError::Damaged)?;
                    self.part = Part::Arrays(Box::new(value));
                }
            }
            Part::Arrays(value) => {
                let at = start - self.outline_length;
                if !content.len().is_multiple_of(8) || !at.is_multiple_of(8) {
                    return Err(out_of_order());
                }
                fill(value.arrays_mut(), at / 8, content);
            }
        }
        self.arrived = end;
        if end < self.total {
            return Ok(None);
        }
        match std::mem::replace(&mut self.part, Part::Outline(Vec::new())) {
            Part::Arrays(value) => {
                value.check_arrays().map_err(ChunkError::Damaged)?;
                Ok(Some(value))
            }
            Part::Outline(_) => Err(ChunkError::Damaged(Refused("an outline that is cut short".into()))),
        }
    }

    /// The value of all pieces, joined.
    pub(crate) fn all(pieces: &[u8], most_bytes: u64) -> Result<Box<V>, Refused> {
        let cut_short = || Refused("pieces that are cut short".into());
        let outline_length = pieces.as_chunks().0.get(1).map(|&field| u64::from_le_bytes(field));
        let length = in_first(outline_length.ok_or_else(cut_short)?) as usize + FIELDS + CHECKSUM;
        let (first, mut rest) = pieces.split_at_checked(length).ok_or_else(cut_short)?;
        let mut loading = Self::begin(first, most_bytes).map_err(ChunkError::reason)?;
        loop {
            let arrived = loading.arrived;
            let stop = if arrived < loading.outline_length { loading.outline_length } else { loading.total };
            let length = (stop - arrived).min(Pieces::LONGEST) as usize + CHECKSUM;
            let (piece, after) = rest.split_at_checked(length).ok_or_else(cut_short)?;
            rest = after;
            match loading.take(loading.number_of(piece), piece).map_err(ChunkError::reason)? {
                Some(value) if rest.is_empty() => return Ok(value),
                Some(_) => return Err(Refused("more bytes than the value has".into())),
                None => {}
            }
        }
    }

    fn read_outline(&self) -> Result<V, Refused> {
        let Part::Outline(outline) = &self.part else { unreachable!("read once") };
        let mut reader = Reader(outline);
        let value = V::from_outline(&mut reader, self.total - self.outline_length)?;
        let words = word_count(value.arrays().into_iter());
        // Numbers can be written in more bytes than needed, but not by this program.
        let mut writer = Writer::default();
        value.write_outline(&mut writer);
        if self.outline_length + 8 * words == self.total && writer.finish() == *outline {
            Ok(value)
        } else {
            Err(Refused("an outline of another length than it says".into()))
        }
    }

    /// The pieces that lead to this state.
    pub(crate) fn pieces(&self) -> Pieces<'_> {
        let (outline, arrays) = match &self.part {
            Part::Outline(outline) => (outline.clone(), Vec::new()),
            Part::Arrays(value) => {
                let mut writer = Writer::default();
                value.write_outline(&mut writer);
                (writer.finish(), value.arrays())
            }
        };
        let &Self { outline_length, total, arrived, .. } = self;
        Pieces { outline, arrays: Arrays::Words(arrays), outline_length, total, available: arrived }
    }

    pub(crate) fn byte_len(&self) -> usize {
        match &self.part {
            Part::Outline(outline) => outline.capacity(),
            Part::Arrays(value) => value.byte_len(),
        }
    }
}

/// Writes bytes to the words of all arrays from `at` on.
fn fill(arrays: Vec<&mut dyn WordArray>, mut at: u64, mut bytes: &[u8]) {
    for array in arrays {
        let words = array.word_count() as u64;
        if at < words {
            let (now, later) = bytes.split_at(bytes.len().min(8 * (words - at) as usize));
            array.copy_from(at as usize, now);
            bytes = later;
        }
        at = at.saturating_sub(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{
        BloomOptions, BloomValue, CuckooOptions, CuckooValue, SketchValue, Slot, TopOptions, TopValue,
    };

    /// All bytes of a value, without fields and checksums.
    fn bytes_of<V: Value>(value: &V) -> Vec<u8> {
        let mut bytes = Vec::new();
        Pieces::of(value)
            .all(|number, piece| {
                let content = &piece[..piece.len() - CHECKSUM];
                bytes.extend_from_slice(if number == 1 { &content[FIELDS..] } else { content });
            })
            .expect("memory");
        bytes
    }

    /// A value comes back from pieces of any length; no other piece is taken in their place.
    fn check<V: Value>(value: &V) {
        let pieces = Pieces::of(value);
        let bytes = bytes_of(value);
        assert_eq!(bytes.len() as u64, pieces.total);
        let arrays = &bytes[pieces.outline_length as usize..];
        for lengths in [8, 800, arrays.len()] {
            let mut loading = Loading::<V>::begin(&pieces.first(), u64::MAX).expect("a first piece");
            let mut whole = None;
            for content in arrays.chunks(lengths) {
                assert!(whole.is_none(), "pieces behind the last");
                let mut piece = content.to_vec();
                piece.extend_from_slice(&checksum(content, loading.arrived).to_le_bytes());
                let number = loading.number_of(&piece);
                assert!(loading.take(number + 1, &piece).is_err());
                piece[0] ^= 1;
                assert!(loading.take(number, &piece).is_err());
                piece[0] ^= 1;
                // What has arrived so far can itself be moved in pieces.
                let mut again = Loading::<V>::begin(&pieces.first(), u64::MAX).expect("a first piece");
                let there = loading.pieces();
                let mut count = 0;
                there
                    .all(|number, piece| {
                        count += 1;
                        assert!(number == 1 || again.take(number, piece).expect("in order").is_none());
                    })
                    .expect("memory");
                assert_eq!((count, again.arrived), (there.count(), loading.arrived));
                whole = loading.take(number, &piece).expect("a piece in order");
            }
            let whole = whole.expect("the last piece makes a value");
            assert_eq!(bytes_of(&*whole), bytes);
            // Also from a slot, packed or not.
            let held = Slot::of(*whole);
            assert_eq!(bytes_of(&*held.value().expect("complete").expect("memory")), bytes);
        }
        // More than allowed is refused at once.
        let words = pieces.total - pieces.outline_length;
        assert!(Loading::<V>::begin(&pieces.first(), words - 1).is_err());
        assert!(Loading::<V>::begin(&pieces.first(), words).is_ok());
    }

    /// Its items alone take more than a piece.
    #[test]
    fn an_outline_longer_than_a_piece_comes_in_pieces_too() {
        let options = TopOptions { items: 5, width: 8, depth: 3, decay: 0.9, seed: 1 };
        let mut top = TopValue::new(&options).expect("memory");
        for item in 0..5u8 {
            top.add(&vec![item; 1 << 20], 1).expect("memory");
        }
        let pieces = Pieces::of(&top);
        assert!(pieces.outline_length > Pieces::LONGEST);
        let (mut loading, mut whole, mut joined, mut count) = (None, None, Vec::new(), 0);
        pieces
            .all(|number, piece| {
                assert!(whole.is_none());
                joined.extend_from_slice(piece);
                count += 1;
                let Some(loading) = &mut loading else {
                    loading = Some(Loading::<TopValue>::begin(piece, 1000).expect("a first piece"));
                    return;
                };
                assert_eq!(loading.number_of(piece), number);
                whole = loading.take(number, piece).expect("in order");
            })
            .expect("memory");
        assert_eq!((count, pieces.count()), (4, 4));
        assert_eq!(bytes_of(&*whole.expect("all of it")), bytes_of(&top));
        let whole = Loading::<TopValue>::all(&joined, 1000).expect("all of it");
        assert_eq!(bytes_of(&*whole), bytes_of(&top));
        assert!(Loading::<TopValue>::all(&joined[..joined.len() - 1], 1000).is_err());
        joined.push(0);
        assert!(Loading::<TopValue>::all(&joined, 1000).is_err());
    }

    #[test]
    fn every_kind_of_value_comes_back_from_its_pieces() {
        for (expansion, capacity, items) in [(0, 4000, 3000u32), (2, 400, 3000), (2, 20, 3), (0, 20, 3)] {
            let options = BloomOptions { rate: 0.01, capacity, expansion, tightening: 0.85, seed: 1 };
            let mut bloom = BloomValue::new(&options).expect("memory");
            (0..items).for_each(|item| assert!(bloom.add(&item.to_le_bytes(), u64::MAX).is_ok()));
            check(&bloom);
            for rate in [0.01, 1e-6] {
                let (bucket_size, max_iterations) = (2, 20);
                let options =
                    CuckooOptions { rate, capacity, expansion, bucket_size, max_iterations, seed: 1 };
                let mut cuckoo = CuckooValue::new(&options).expect("memory");
                (0..items).for_each(|item| assert!(cuckoo.add(&item.to_le_bytes(), u64::MAX).is_ok()));
                check(&cuckoo);
            }
        }
        for width in [500, 3] {
            let mut sketch = SketchValue::new(width, 5, 1).expect("memory");
            (0..3000u32).for_each(|item| _ = sketch.add(&item.to_le_bytes(), item.into()));
            check(&sketch);
        }
        let options = TopOptions { items: 5, width: 8, depth: 3, decay: 0.9, seed: 1 };
        let mut top = TopValue::new(&options).expect("memory");
        (0..300u32).for_each(|item| _ = top.add(&(item % 20).to_le_bytes(), 1).expect("memory"));
        check(&top);
    }
}
