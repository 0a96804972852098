//! Saved summaries: `docs/format.md`, kinds 17 to 21.

mod interpolation;
mod multiple;
mod single;

use crate::bits::Words;
use crate::bytes::LoadError;
use crate::layout::{LayoutError, MultilevelLayout};

/// Checks that there are exactly the words for `bits` bits, and no bits set after the last.
fn check_words(words: &impl Words, bits: u64) -> Result<(), LoadError> {
    if words.len() as u64 != bits.div_ceil(64) {
        return Err(LoadError::Invalid { what: "a summary with more or fewer words than its layout takes" });
    }
    let unused = bits % 64;
    if unused != 0 && words.word(words.len() - 1) >> unused != 0 {
        return Err(LoadError::Invalid { what: "a summary with bits beyond its last" });
    }
    Ok(())
}

/// Checks a number of filters or levels before their records are read.
fn check_count(count: u64) -> Result<u64, LoadError> {
    if count <= MultilevelLayout::MAX_LEVELS as u64 {
        Ok(count)
    } else {
        Err(LoadError::Invalid { what: "a summary of too many levels" })
    }
}

fn invalid(_: LayoutError) -> LoadError {
    LoadError::Invalid { what: "an invalid layout of a summary" }
}

const TOO_LARGE: LoadError = LoadError::Invalid { what: "a summary of more words than there can be" };

/// Narrows a field to 32 bits; larger values exceed every limit anyway.
fn narrow(field: u64) -> u32 {
    u32::try_from(field).unwrap_or(u32::MAX)
}
