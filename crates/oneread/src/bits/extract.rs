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

/// Reports whether the machine has BMI1 and BMI2: `pext`, and shifts and products that keep the
/// flags.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) fn has_bmi() -> bool {
    use std::arch::is_x86_feature_detected as has;
    !cfg!(miri) && has!("bmi1") && has!("bmi2") && has!("popcnt")
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

    #[test]
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    fn the_instruction_extracts_the_same() {
        use crate::hash::{Digester, Domain, Portable};
        let random = |at: u64, index| Portable::with_seed(3).digest(&at).word(Domain::new(0), index);
        if has_bmi() {
            for at in 0..10_000 {
                // Masks of many and of few runs.
                let (word, mask) = (random(at, 0), random(at, 1));
                for mask in [mask, mask & random(at, 2), mask | random(at, 3), u64::MAX << (at % 64)] {
                    // SAFETY: the machine has the instruction.
                    let expected = unsafe { core::arch::x86_64::_pext_u64(word, mask) };
                    assert_eq!(extract(word, mask), expected);
                }
            }
        }
    }
}
