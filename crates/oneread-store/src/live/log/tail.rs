//! Whether the record at which the reading of a log ends was torn by a crash, or damaged after it
//! was whole.
//!
//! A record says up to where the log was safe when it was written, so whatever is before that is
//! known to be damaged. This is about the records since the last sync that another record tells of:
//! nearly always the last batch alone. A crash leaves each sector of a write as it was before or as
//! it was written (`docs/format.md`, *What we assume of the medium*). By cases, for a record whose
//! checksum is wrong:
//!
//! 1. *It lies in one sector of the file, and names the checksum of the record before.* Then its
//!    sector was written, and all of the record with it. It is damaged. (A write that fails halfway
//!    is wiped out at once.)
//! 2. *One flipped bit makes it right again, in a sector that has its checksum or that of the
//!    record before.* What lay there before the write did not have these 64 bits, so the sector was
//!    written. It is damaged. A flipped bit in another sector proves nothing: what lay there before
//!    may have differed from the record by that bit.
//! 3. *Otherwise* nobody can tell: it is taken for torn. So these are not noticed: damage of a
//!    record of several sectors that is not one flipped bit in the first of them, and damage of the
//!    length or of `previous` of any record by more than a bit.

use super::{CHANGES, END_MARK, LENGTH, LogEnd, MARK, PREVIOUS, record_sum};
use crate::format::{long_at, word_at};

/// What a medium writes whole or not at all.
const SECTOR: usize = 512;

/// The largest record in which a flipped bit is looked for behind the first [`CHANGES`] bytes.
/// Trying all bits takes some ten milliseconds.
const MAX_FLIPPED: usize = 1 << 16;

/// The largest record in which a flipped bit is looked for.
const MAX_LENGTH: usize = 1 << 20;

/// Whether the record behind those that could be read was there as a whole.
pub(super) fn was_whole(bytes: &[u8], read: &LogEnd) -> bool {
    let rest = usize::try_from(read.end).ok().and_then(|end| bytes.get(end..));
    let Some(rest) = rest.filter(|rest| rest.len() >= CHANGES) else { return false };
    if is_of_one_sector(rest, read) {
        return true;
    }
    let mut copy = rest[..rest.len().min(MAX_LENGTH)].to_vec();
    let sector = |at: usize| (read.end as usize + at) / SECTOR;
    let was_written = |at: usize| sector(at) == sector(0) || sector(at) == sector(PREVIOUS);
    let length = word_at(rest, LENGTH) as usize;
    let end = if length <= MAX_FLIPPED { length.clamp(CHANGES, copy.len()) } else { CHANGES };
    // The second of the two sectors ends before twice its size.
    let bits = (0..end.min(2 * SECTOR)).filter(|&at| was_written(at));
    bits.flat_map(|at| 8 * at..8 * at + 8).any(|bit| is_right_with(&mut copy, bit, read))
}

fn names_previous(record: &[u8], read: &LogEnd) -> bool {
    long_at(record, PREVIOUS) == read.previous
}

/// The length of a record of one sector that names the one before is in the same sector: both were
/// written, or none.
fn is_of_one_sector(rest: &[u8], read: &LogEnd) -> bool {
    let (start, length) = (read.end as usize % SECTOR, word_at(rest, LENGTH) as usize);
    names_previous(rest, read) && (CHANGES..=rest.len()).contains(&length) && start + length <= SECTOR
}

/// Whether the record that the bytes begin with is right when a bit is flipped. The bytes are the
/// same afterwards.
fn is_right_with(bytes: &mut [u8], bit: usize, read: &LogEnd) -> bool {
    let flip = |bytes: &mut [u8]| {
        if let Some(byte) = bytes.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
    };
    flip(bytes);
    let mark = word_at(bytes, 8);
    let record = bytes.get(..word_at(bytes, LENGTH) as usize).filter(|record| record.len() >= CHANGES);
    let is_right = (mark == MARK || mark == END_MARK)
        && names_previous(bytes, read)
        && record.is_some_and(|record| record_sum(&record[8..], read.seed, read.end) == long_at(record, 0));
    flip(bytes);
    is_right
}
