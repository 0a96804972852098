//! Sets of digests.

use alloc::vec::Vec;

use crate::bits::OutOfMemory;
use crate::hash::Digest;

/// The distinct digests, in order; an error where collecting them would abort the process.
pub fn distinct(digests: impl IntoIterator<Item = Digest>) -> Result<Vec<Digest>, OutOfMemory> {
    let mut all: Vec<Digest> = Vec::new();
    for digest in digests {
        if all.len() == all.capacity() {
            let more = all.len().max(1024);
            let bytes = (all.len() + more).saturating_mul(size_of::<Digest>()) as u64;
            all.try_reserve(more).map_err(|_| OutOfMemory { bytes })?;
        }
        all.push(digest);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
