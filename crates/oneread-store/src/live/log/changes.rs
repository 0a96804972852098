//! The changes of a batch, encoded as in a record of the log.

use super::{ALIGN, CHANGES};
use crate::Error;
use crate::format::{KEY_BYTES, short_at, word_at};

/// The bit of a key's length that announces a value.
const HAS_VALUE: u16 = 1 << 15;

/// The longest value: a record's length has 32 bits.
const VALUE_BYTES: usize = 1 << 30;
/// The longest batch.
const BATCH_BYTES: usize = (1 << 31) - 1;

/// The changes of a batch, encoded as in a record.
#[derive(Clone, Debug, Default)]
pub(in crate::live) struct Changes {
    /// A record whose first fields are filled in when it is written.
    pub(super) record: Vec<u8>,
    count: usize,
}

impl Changes {
    pub(in crate::live) fn push(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<(), Error> {
        if key.len() > KEY_BYTES {
            return Err(Error::KeyTooLong { found: key.len() });
        }
        let bytes = value.map_or(0, <[u8]>::len);
        if bytes > VALUE_BYTES {
            return Err(Error::ValueTooLong { expected: VALUE_BYTES, found: bytes });
        }
        if self.record.len() + key.len() + bytes + CHANGES + 2 * ALIGN > BATCH_BYTES {
            return Err(Error::ValueTooLong { expected: BATCH_BYTES, found: self.record.len() + bytes });
        }
        if self.record.is_empty() {
            self.record.resize(CHANGES, 0);
        }
        let length = key.len() as u16 | if value.is_some() { HAS_VALUE } else { 0 };
        self.record.extend_from_slice(&length.to_le_bytes());
        if let Some(value) = value {
            self.record.extend_from_slice(&(value.len() as u32).to_le_bytes());
        }
        self.record.extend_from_slice(key);
        self.record.extend_from_slice(value.unwrap_or_default());
        self.count += 1;
        Ok(())
    }

    pub(in crate::live) fn len(&self) -> usize {
        self.count
    }

    pub(in crate::live) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bytes of the record.
    pub(in crate::live) fn byte_len(&self) -> usize {
        self.record.len()
    }

    pub(in crate::live) fn clear(&mut self) {
        self.record.clear();
        self.count = 0;
    }

    /// Calls `change` with each key, and its value unless it is deleted.
    pub(in crate::live) fn each(&self, mut change: impl FnMut(&[u8], Option<&[u8]>)) {
        let mut rest = self.record.get(CHANGES..).unwrap_or_default();
        while let Some((key, value, after)) = next_change(rest) {
            change(key, value);
            rest = after;
        }
    }
}

/// A key, its value unless it is deleted, and the rest of the bytes.
type ChangeAndRest<'a> = (&'a [u8], Option<&'a [u8]>, &'a [u8]);

/// Decodes the first change, and returns the rest of the bytes.
pub(super) fn next_change(bytes: &[u8]) -> Option<ChangeAndRest<'_>> {
    let (length, mut rest) = bytes.split_at_checked(2)?;
    let length = short_at(length, 0);
    let mut value_bytes = None;
    if length & HAS_VALUE != 0 {
        let (bytes, after) = rest.split_at_checked(4)?;
        value_bytes = Some(word_at(bytes, 0) as usize);
        rest = after;
    }
    let key_bytes = usize::from(length & !HAS_VALUE);
    if key_bytes > KEY_BYTES {
        return None;
    }
    let (key, rest) = rest.split_at_checked(key_bytes)?;
    let (value, rest) = rest.split_at_checked(value_bytes.unwrap_or(0))?;
    Some((key, value_bytes.map(|_| value), rest))
}
