//! Tabulation: one random table per character; the result is the xor of the entries.
//!
//! # Layout
//! The tables lie one after the other, each with one entry for every value of a character. The
//! first table belongs to the lowest character of the first word:
//!
//! ```text
//!   | T₀[0] T₀[1] … T₀[2^c − 1] | T₁[0] … T₁[2^c − 1] | …
//! ```
//!
//! # Invariants
//! 1. There are words × ⌈w / c⌉ tables of 2^c entries, so no character is outside its table.
//! 2. No entry has a bit above the lowest `result_bits`.

use alloc::vec::Vec;
use core::marker::PhantomData;

use rand_core::Rng;

use super::{FamilyError, HashFunction, Independent, KeyError, TotalHashFunction, Word};

/// The widest character: 2^16 entries make a table of 512 KiB.
const MAX_CHARACTER_BITS: u32 = 16;

/// Simple tabulation of a machine word: any three keys behave exactly like independent ones.
///
/// The word is split into characters of c bits, the lowest first. Each character selects a random
/// entry of its own table, and the entries are combined by xor. For keys of 8 bits and characters
/// of 4, key 0x52 goes to `T₀[2] ^ T₁[5]`.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Tabulation hashing": 3-independent with
/// constant 1, and with two or more tables not 4-independent (exercise 8). Proof: take a position
/// where three distinct keys are not all equal. One of them has a character there that the others
/// do not have. No other key reads its entry, which makes its hash uniform for any other hashes.
/// The same holds for the two remaining keys, and for the last one. Four keys that take two values
/// in each of two positions, in all four ways, have the xor 0 for any tables. Differs from the
/// notes in: the width of a character need not divide the width of a word. The last character is
/// then narrower, and a part of its table is never read.
///
/// # Costs
/// ⌈w / c⌉ table reads. Memory and drawing take ⌈w / c⌉·2^c words: 8 KiB for 32-bit keys and 16 KiB
/// for 64-bit keys with 8-bit characters, 1 MiB and 2 MiB with 16-bit ones.
///
/// # Limits
/// Not 4-independent. Linear probing and cuckoo hashing still work with it (Pătraşcu, Thorup, "The
/// Power of Simple Tabulation Hashing", 2012).
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{FamilyError, Tabulation, TotalHashFunction};
/// use rand_core::SeedableRng;
///
/// // Two tables of 16 entries: the first holds 0, 1, 2, …, the second 0, 16, 32, ….
/// let entries: Vec<u64> = (0..16).chain((0..16).map(|entry| entry * 16)).collect();
/// assert!(Tabulation::<u8>::new(4, 7, entries[..31].to_vec()).is_err());
/// let function = Tabulation::<u8>::new(4, 7, entries)?;
/// assert_eq!(function.hash_any(&0x52), 0x52); // 2 ^ 80
/// assert_eq!(function.hash_any(&0xd2), 0x52); // 2 ^ 208, of which 7 bits are kept
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = Tabulation::<u64>::draw(8, 10, &mut rng)?;
/// assert!(function.hash_any(&u64::MAX) < 1024);
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tabulation<W> {
    tables: Tables<W>,
}

impl<W: Word> Tabulation<W> {
    /// A random function with characters of `character_bits` bits and 2^`result_bits` buckets.
    ///
    /// # Errors
    /// [`FamilyError::CharacterBits`] outside 1 to 16, [`FamilyError::ResultBits`] outside 1 to 64,
    /// or [`FamilyError::OutOfMemory`].
    pub fn draw<R: Rng + ?Sized>(
        character_bits: u32,
        result_bits: u32,
        rng: &mut R,
    ) -> Result<Self, FamilyError> {
        Ok(Self { tables: Tables::draw(1, character_bits, result_bits, rng)? })
    }

    /// The function with the given entries, table by table, starting with that of the lowest
    /// character. Only the lowest `result_bits` bits of each entry are kept.
    ///
    /// # Errors
    /// As for [`Tabulation::draw`], and [`FamilyError::TableEntries`] if the number of entries is
    /// wrong.
    pub fn new(character_bits: u32, result_bits: u32, entries: Vec<u64>) -> Result<Self, FamilyError> {
        Ok(Self { tables: Tables::new(1, character_bits, result_bits, entries)? })
    }

    /// The guarantee of a random function of this family: (3, 1)-independence.
    pub fn guarantee(&self) -> Independent {
        Independent { k: 3, c: 1.0 }
    }
}

impl<W: Word> HashFunction<W> for Tabulation<W> {
    #[inline]
    fn buckets(&self) -> u128 {
        1 << self.tables.result_bits
    }

    #[inline]
    fn hash(&self, key: &W) -> Result<u64, KeyError> {
        Ok(self.hash_any(key))
    }
}

impl<W: Word> TotalHashFunction<W> for Tabulation<W> {
    #[inline]
    fn hash_any(&self, key: &W) -> u64 {
        self.tables.hash(core::slice::from_ref(key))
    }
}

/// Simple tabulation of a tuple of D machine words: any three tuples behave exactly like
/// independent ones.
///
/// A tuple is a longer word, whose characters are those of its words, one word after the other.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Tabulation hashing" and exercise 11. The
/// proof for [`Tabulation`] does not depend on where a character comes from, so the answer to the
/// exercise is: the guarantee is that of words. The function is 3-independent with constant 1 for
/// any D. It is not 4-independent: the tuples (x, y), (x, y′), (x′, y) and (x′, y′) have the xor 0.
///
/// # Costs
/// D times the reads and the memory of [`Tabulation`]; a [`ScalarProduct`](super::ScalarProduct) is
/// smaller.
///
/// # Limits
/// D is part of the type. For D = 0 the only key is the empty tuple, which goes to bucket 0.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{TotalHashFunction, TupleTabulation};
/// use rand_core::SeedableRng;
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = TupleTabulation::<u32, 2>::draw(8, 64, &mut rng)?;
/// assert_ne!(function.hash_any(&[1, 2]), function.hash_any(&[2, 1]));
/// assert_eq!(function.hash_any(&[1, 2]), function.hash_any(&[1, 2]));
/// # Ok::<(), oneread_study::hash::family::FamilyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TupleTabulation<W, const D: usize> {
    tables: Tables<W>,
}

impl<W: Word, const D: usize> TupleTabulation<W, D> {
    /// A random function with characters of `character_bits` bits and 2^`result_bits` buckets.
    ///
    /// # Errors
    /// As for [`Tabulation::draw`].
    pub fn draw<R: Rng + ?Sized>(
        character_bits: u32,
        result_bits: u32,
        rng: &mut R,
    ) -> Result<Self, FamilyError> {
        Ok(Self { tables: Tables::draw(D, character_bits, result_bits, rng)? })
    }

    /// The function with the given entries, table by table, the tables of the first word first.
    ///
    /// # Errors
    /// As for [`Tabulation::new`].
    pub fn new(character_bits: u32, result_bits: u32, entries: Vec<u64>) -> Result<Self, FamilyError> {
        Ok(Self { tables: Tables::new(D, character_bits, result_bits, entries)? })
    }

    /// The guarantee of a random function of this family: (3, 1)-independence.
    pub fn guarantee(&self) -> Independent {
        Independent { k: 3, c: 1.0 }
    }
}

impl<W: Word, const D: usize> HashFunction<[W; D]> for TupleTabulation<W, D> {
    #[inline]
    fn buckets(&self) -> u128 {
        1 << self.tables.result_bits
    }

    #[inline]
    fn hash(&self, key: &[W; D]) -> Result<u64, KeyError> {
        Ok(self.hash_any(key))
    }
}

impl<W: Word, const D: usize> TotalHashFunction<[W; D]> for TupleTabulation<W, D> {
    #[inline]
    fn hash_any(&self, key: &[W; D]) -> u64 {
        self.tables.hash(key)
    }
}

/// The tables of both types.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tables<W> {
    entries: Vec<u64>,
    character_bits: u32,
    result_bits: u32,
    word: PhantomData<W>,
}

impl<W: Word> Tables<W> {
    fn draw<R: Rng + ?Sized>(
        words: usize,
        character_bits: u32,
        result_bits: u32,
        rng: &mut R,
    ) -> Result<Self, FamilyError> {
        let count = Self::count_entries(words, character_bits)?;
        let mut entries = Vec::new();
        entries.try_reserve_exact(count).map_err(|_| FamilyError::OutOfMemory { found: count })?;
        entries.extend((0..count).map(|_| rng.next_u64()));
        Self::new(words, character_bits, result_bits, entries)
    }

    fn new(
        words: usize,
        character_bits: u32,
        result_bits: u32,
        mut entries: Vec<u64>,
    ) -> Result<Self, FamilyError> {
        let expected = Self::count_entries(words, character_bits)?;
        if entries.len() != expected {
            return Err(FamilyError::TableEntries { expected, found: entries.len() });
        }
        if !(1..=u64::BITS).contains(&result_bits) {
            return Err(FamilyError::ResultBits { expected: u64::BITS, found: result_bits });
        }
        for entry in &mut entries {
            *entry &= u64::MAX >> (u64::BITS - result_bits);
        }
        Ok(Self { entries, character_bits, result_bits, word: PhantomData })
    }

    fn count_entries(words: usize, character_bits: u32) -> Result<usize, FamilyError> {
        if !(1..=MAX_CHARACTER_BITS).contains(&character_bits) {
            return Err(FamilyError::CharacterBits { expected: MAX_CHARACTER_BITS, found: character_bits });
        }
        let entries_per_word = (W::BITS.div_ceil(character_bits) as usize) << character_bits;
        words.checked_mul(entries_per_word).ok_or(FamilyError::OutOfMemory { found: usize::MAX })
    }

    #[inline]
    fn hash(&self, words: &[W]) -> u64 {
        let entries_per_table = 1 << self.character_bits;
        let (mut hash, mut table) = (0, 0);
        for &word in words {
            let mut rest: u64 = word.into();
            for _ in 0..W::BITS.div_ceil(self.character_bits) {
                let character = rest as usize & (entries_per_table - 1);
                hash ^= self.entries[table + character];
                rest >>= self.character_bits;
                table += entries_per_table;
            }
        }
        hash
    }
}
