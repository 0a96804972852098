//! Totals of keys and values.

use crate::format::record::Record;

/// Totals of keys and values, or a change of such totals.
///
/// Sums wrap: a change may be negative, and a crafted file may claim any lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) items: u64,
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
}

impl Totals {
    /// The totals of one pair.
    pub(crate) fn of(key_bytes: usize, value_bytes: u64) -> Self {
        Self { items: 1, key_bytes: key_bytes as u64, value_bytes }
    }

    /// The totals of one record.
    pub(crate) fn of_record(record: &Record<'_>) -> Self {
        Self::of(record.key.len(), record.value.byte_len())
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.items = self.items.wrapping_add(other.items);
        self.key_bytes = self.key_bytes.wrapping_add(other.key_bytes);
        self.value_bytes = self.value_bytes.wrapping_add(other.value_bytes);
    }

    pub(crate) fn subtract(&mut self, other: Self) {
        self.items = self.items.wrapping_sub(other.items);
        self.key_bytes = self.key_bytes.wrapping_sub(other.key_bytes);
        self.value_bytes = self.value_bytes.wrapping_sub(other.value_bytes);
    }

    /// The bytes of all keys and values.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.key_bytes.saturating_add(self.value_bytes)
    }
}
