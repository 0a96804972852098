//! Numbers of fixed size, one after the other, the least significant byte first.

/// Reads numbers; the bytes must have them.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    fn take<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        let (field, rest) = self.0.split_first_chunk().expect("the length was checked");
        self.0 = rest;
        *field
    }

    /// Numbers of two bytes.
    pub(crate) fn shorts<const N: usize>(&mut self) -> [u16; N] {
        std::array::from_fn(|_| u16::from_le_bytes(self.take()))
    }

    /// Numbers of four bytes.
    pub(crate) fn words<const N: usize>(&mut self) -> [u32; N] {
        std::array::from_fn(|_| u32::from_le_bytes(self.take()))
    }

    /// Numbers of eight bytes.
    pub(crate) fn longs<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| u64::from_le_bytes(self.take()))
    }
}

/// Appends numbers of two bytes.
pub(crate) fn put_shorts(out: &mut Vec<u8>, fields: impl IntoIterator<Item = u16>) {
    fields.into_iter().for_each(|field| out.extend_from_slice(&field.to_le_bytes()));
}

/// Appends numbers of four bytes.
pub(crate) fn put_words(out: &mut Vec<u8>, fields: impl IntoIterator<Item = u32>) {
    fields.into_iter().for_each(|field| out.extend_from_slice(&field.to_le_bytes()));
}

/// Appends numbers of eight bytes.
pub(crate) fn put_longs(out: &mut Vec<u8>, fields: impl IntoIterator<Item = u64>) {
    fields.into_iter().for_each(|field| out.extend_from_slice(&field.to_le_bytes()));
}
