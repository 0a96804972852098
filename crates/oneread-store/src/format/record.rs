//! A record: a key with its value, or with a reference to its value. In a page, the lengths of all
//! records come before all keys and values.
//!
//! # Layout
//! ```text
//!  key length │ form of the value │ key │ value, or offset, length and checksum of its run
//!  1 or 2     │ 1 or 2            │     │                8       8          8
//! ```
//! Lengths below 128 take one byte. Others take two, the lower seven bits first, with the highest
//! bit set. The form is the length of an inline value, or one more than the longest inline value.

use super::fields::{Fields, put_longs};
use super::{INLINE_BYTES, KEY_BYTES};

/// The form of a value that lies in a run.
const IN_RUN: usize = INLINE_BYTES + 1;

/// The bytes of a reference to a run.
pub(crate) const REFERENCE: usize = 24;

/// The place of a large value, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) checksum: u64,
}

/// A value, or a reference to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored<'a> {
    Inline(&'a [u8]),
    Run(Run),
}

impl Stored<'_> {
    /// The length of the value; a crafted file may claim any for a run.
    pub(crate) fn byte_len(&self) -> u64 {
        match self {
            Self::Inline(value) => value.len() as u64,
            Self::Run(run) => run.length,
        }
    }
}

/// A decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: Stored<'a>,
}

/// The lengths at the start of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    key: usize,
    form: usize,
}

impl Lengths {
    /// Reads the lengths; also returns the bytes behind them.
    #[inline(always)]
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (key, rest) = length(bytes)?;
        let (form, rest) = length(rest)?;
        (key <= KEY_BYTES && form <= IN_RUN).then_some((Self { key, form }, rest))
    }

    /// The bytes of key and value.
    #[inline(always)]
    pub(crate) fn body(self) -> usize {
        self.key + if self.form == IN_RUN { REFERENCE } else { self.form }
    }

    /// The record in these bytes.
    #[inline]
    pub(crate) fn record(self, body: &[u8]) -> Option<Record<'_>> {
        let (key, value) = body.split_at_checked(self.key)?;
        if self.form != IN_RUN {
            return Some(Record { key, value: Stored::Inline(value.get(..self.form)?) });
        }
        let reference = value.get(..REFERENCE)?;
        let [offset, length, checksum] = Fields(reference).longs();
        Some(Record { key, value: Stored::Run(Run { offset, length, checksum }) })
    }
}

/// Appends a record; key and inline value must respect their limits.
pub(crate) fn encode(key: &[u8], value: Stored<'_>, out: &mut Vec<u8>) {
    debug_assert!(key.len() <= KEY_BYTES);
    put_length(key.len(), out);
    match value {
        Stored::Inline(bytes) => {
            debug_assert!(bytes.len() <= INLINE_BYTES);
            put_length(bytes.len(), out);
            out.extend_from_slice(key);
            out.extend_from_slice(bytes);
        }
        Stored::Run(run) => {
            put_length(IN_RUN, out);
            out.extend_from_slice(key);
            put_longs(out, [run.offset, run.length, run.checksum]);
        }
    }
}

/// Decodes the record at the start of `bytes`, if it is valid, with its length in bytes.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let (lengths, body) = Lengths::decode(bytes)?;
    let record = lengths.record(body.get(..lengths.body())?)?;
    Some((record, bytes.len() - body.len() + lengths.body()))
}

/// Splits an encoded record into its lengths and the rest.
pub(crate) fn split(record: &[u8]) -> (&[u8], &[u8]) {
    let body = Lengths::decode(record).map_or(0, |(_, body)| body.len());
    record.split_at(record.len() - body)
}

/// The bytes of the lengths of `records` records.
#[inline]
pub(crate) fn skip_lengths(bytes: &[u8], records: usize) -> Option<usize> {
    // Each length ends with a byte below 128. Usually there are two bytes per record, and the
    // search ends at once.
    let mut at = 2 * records;
    let mut ends = bytes.get(..at)?.iter().filter(|&&byte| byte < 0x80).count();
    while ends < 2 * records {
        ends += usize::from(*bytes.get(at)? < 0x80);
        at += 1;
    }
    Some(at)
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    if length < 0x80 {
        out.push(length as u8);
    } else {
        out.extend_from_slice(&[length as u8 | 0x80, (length >> 7) as u8]);
    }
}

/// Reads a length; also returns the bytes behind it. Each length has one encoding: two bytes only
/// if one does not suffice.
#[inline(always)]
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match *bytes {
        [low, ref rest @ ..] if low < 0x80 => Some((usize::from(low), rest)),
        [low, high @ 1..=0x7f, ref rest @ ..] => {
            Some((usize::from(low & 0x7f) | usize::from(high) << 7, rest))
        }
        _ => None,
    }
}
