//! Decides whether the record at which reading a log ends was torn by a crash, or damaged later.
//!
//! A record says up to where the log was safe when it was written, so anything unreadable before
//! that is damaged. This module judges the records since the last sync that another record
//! mentions: almost always the last batch alone. A crash leaves each sector of a write as it was
//! before or as it was written (`docs/format.md`, *What we assume of the medium*). By cases, for a
//! record whose checksum is wrong:
//!
//! 1. *It lies in one sector of the file, and names the checksum of the record before.* Then its
//!    sector was written, and all of the record with it. It is damaged. (A write that fails halfway
//!    is erased at once.)
//! 2. *Flipping one bit makes it right, in a sector that has its checksum or that of the record
//!    before.* The old content of the sector did not have these 64 bits, so the sector was written.
//!    It is damaged. A flipped bit in another sector proves nothing: the old content may have
//!    differed by that bit.
//! 3. *Otherwise* it is treated as torn. So two kinds of damage go unnoticed: damage to a record of
//!    several sectors beyond one flipped bit in the first of them, and damage to the length or to
//!    `previous` by more than one bit.

use super::{CHANGES, END_MARK, LENGTH, LogEnd, MARK, PREVIOUS, record_sum};
use crate::format::{long_at, word_at};

/// The unit that a medium writes whole or not at all.
const SECTOR: usize = 512;

/// The largest record in which flips behind the first [`CHANGES`] bytes are tried. Trying all bits
/// takes about ten milliseconds.
const MAX_FLIPPED: usize = 1 << 16;

/// The largest record in which flips are tried at all.
const MAX_LENGTH: usize = 1 << 20;

/// Reports whether the record behind the readable ones was once written whole.
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
    // The second of the two sectors ends before twice the sector size.
    let bits = (0..end.min(2 * SECTOR)).filter(|&at| was_written(at));
    bits.flat_map(|at| 8 * at..8 * at + 8).any(|bit| is_right_with(&mut copy, bit, read))
}

fn names_previous(record: &[u8], read: &LogEnd) -> bool {
    long_at(record, PREVIOUS) == read.previous
}

/// Reports whether the record lies in one sector and names the record before. Its length is in the
/// same sector, so both were written, or neither.
fn is_of_one_sector(rest: &[u8], read: &LogEnd) -> bool {
    let (start, length) = (read.end as usize % SECTOR, word_at(rest, LENGTH) as usize);
    names_previous(rest, read) && (CHANGES..=rest.len()).contains(&length) && start + length <= SECTOR
}

/// Reports whether flipping a bit makes the record at the start of `bytes` right. Restores the bit.
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
