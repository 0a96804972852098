//! Collects the bits that a mask selects.

/// The bits of a word that a mask selects, lowest first: x86's `pext`, on every machine.
#[inline(always)]
pub(crate) fn extract(word: u64, mut mask: u64) -> u64 {
    let (mut extracted, mut filled) = (0, 0);
    // One step per run of ones. Masks that select fields have few.
    while mask != 0 {
        let start = mask.trailing_zeros();
        let length = (!(mask >> start)).trailing_zeros();
        let ones = u64::MAX >> (u64::BITS - length);
        extracted |= (word >> start & ones) << filled;
        filled += length;
        mask &= !(ones << start);
    }
    extracted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_extracted_lowest_first() {
        assert_eq!(extract(0b1011_0110, 0b1111_0000), 0b1011);
        assert_eq!(extract(0b1011_0110, 0b1001_0010), 0b111);
        assert_eq!(extract(u64::MAX, (1 << 60) - 1), (1 << 60) - 1);
        assert_eq!(extract(u64::MAX - 2, u64::MAX), u64::MAX - 2);
        assert_eq!(extract(u64::MAX, 0), 0);
    }
}
