//! Reads and writes integers of up to 128 bits at any bit position of a word array.

use crate::bits::Words;

/// Reads the 64 bits from `bit` on; bits after the last word are 0.
#[inline]
pub(super) fn word_at(words: &impl Words, bit: u64) -> u64 {
    let (at, shift) = ((bit / 64) as usize, bit % 64);
    let word_or_zero = |at: usize| if at < words.len() { words.word(at) } else { 0 };
    let low = word_or_zero(at) >> shift;
    if shift == 0 { low } else { low | word_or_zero(at + 1) << (64 - shift) }
}

/// Reads an integer of up to 63 bits.
#[inline]
pub(super) fn read(words: &impl Words, bit: u64, bits: u32) -> u64 {
    word_at(words, bit) & ones_below(bits.into())
}

/// Reads an integer of 1 to 128 bits.
#[inline]
pub(super) fn read_wide(words: &impl Words, bit: u64, bits: u32) -> u128 {
    let low = u128::from(word_at(words, bit));
    let number = if bits > 64 { u128::from(word_at(words, bit + 64)) << 64 | low } else { low };
    number & (u128::MAX >> (128 - bits))
}

/// Writes an integer of up to 64 bits.
pub(super) fn write(words: &mut [u64], bit: u64, value: u64, bits: u32) {
    if bits == 0 {
        return;
    }
    let (at, shift) = ((bit / 64) as usize, (bit % 64) as u32);
    let mask = ones_below(bits.into());
    words[at] = words[at] & !(mask << shift) | value << shift;
    if shift + bits > 64 {
        let done = 64 - shift;
        words[at + 1] = words[at + 1] & !(mask >> done) | value >> done;
    }
}

/// Writes an integer of 1 to 128 bits.
pub(super) fn write_wide(words: &mut [u64], bit: u64, value: u128, bits: u32) {
    let low = bits.min(64);
    write(words, bit, value as u64 & ones_below(low.into()), low);
    if bits > 64 {
        write(words, bit + 64, (value >> 64) as u64, bits - 64);
    }
}

/// Returns a word whose lowest `count` bits are 1; all 64 if `count` is larger.
pub(super) fn ones_below(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
