//! One line of the filter, bit by bit.
//!
//! # Layout
//! A line is a number of 512 bits; bit 0 is the lowest bit of its first word. With remainders of R
//! bits it has K slots and F marks:
//! ```text
//!  0      52   56     56+F         56+F+K                          512−8K
//!  ├ occ ──┼ t ──┼ marks ──┼ starts ──┼ plane of bit 8, of bit 9, … ──┼ low bytes of remainders ┤
//! ```
//! - `occ`: bit q is 1 if the line has a fingerprint of quotient q;
//! - `t`: half of the threshold, see the parent module;
//! - `marks`: bit s is 1 if slot s holds a guest; slots from F on hold only residents;
//! - `starts`: K bits: bit s is 1 if slot s begins a *run*, the fingerprints of one quotient; and
//!   if s is the number of slots in use;
//! - a plane has one bit of each remainder; remainders of 16 bits have two rows of bytes instead,
//!   the higher bytes first.
//!
//! # Invariants
//! 1. The slots in use are the first ones, in the order of their quotients. `starts` has one bit
//!    more than `occ`, but as many if all slots are in use, when the end would be bit K. An empty
//!    line has none.
//! 2. Bits that belong to no slot in use are 0.

use super::simd::LineBytes;
use crate::bits::Line;
use crate::filter::simd::Portable;
use crate::layout::LineLayout;

/// A fingerprint inside its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) quotient: u32,
    pub(super) remainder: u32,
}

const OCCUPIED: u64 = (1 << LineLayout::QUOTIENTS) - 1;
const THRESHOLD_AT: u32 = LineLayout::QUOTIENTS;
const MARKS_AT: u32 = LineLayout::QUOTIENTS + LineLayout::THRESHOLD_BITS;

/// The lowest `count` bits.
#[inline(always)]
pub(super) const fn low(count: u32) -> u64 {
    if count >= u64::BITS { u64::MAX } else { (1 << count) - 1 }
}

/// The positions in a line with remainders of R bits.
pub(super) struct At<const R: u32>;

impl<const R: u32> At<R> {
    const SLOTS: u32 = LineLayout::slots_of(R);
    const MARKS: u32 = LineLayout::marks_of(R);
    const STARTS: u32 = MARKS_AT + Self::MARKS;
    const ROWS: u32 = R / 8;
    const PLANES: u32 = R % 8;
    const FIRST_PLANE: u32 = Self::STARTS + Self::SLOTS;
    /// The byte where the low bytes begin.
    pub(super) const LOW: u32 = Line::BYTES as u32 - Self::SLOTS;
    /// The byte where the high bytes begin, if there are any; the bytes before them are the
    /// *header*.
    const HIGH: u32 = Line::BYTES as u32 - Self::ROWS * Self::SLOTS;
    const FITS: () = assert!(Self::plane(Self::PLANES) == 8 * Self::HIGH && Self::HIGH <= 32);

    const fn plane(number: u32) -> u32 {
        Self::FIRST_PLANE + number * Self::SLOTS
    }
}

/// The positions that vector code uses.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
impl<const R: u32> At<R> {
    /// The fields of the header: quotients and threshold, marks, starts, planes.
    pub(super) const FIELDS: u32 = 3 + Self::PLANES;

    /// Whether each field of the header has whole bytes, and all remainders end with the line.
    pub(super) const IS_BYTES: bool =
        Self::STARTS.is_multiple_of(8) && Self::SLOTS.is_multiple_of(8) && Self::ROWS == 1;

    /// The position of a field of the header; after the last, the end of the header.
    pub(super) const fn field(number: u32) -> u32 {
        match number {
            0 => 0,
            1 => MARKS_AT,
            2 => Self::STARTS,
            _ => Self::plane(number - 3),
        }
    }
}

/// Reads a field of up to 57 bits. Its position is a constant, so that a load, a shift and a mask
/// remain.
#[inline(always)]
fn field<I: LineBytes>(set: I, line: &Line, at: u32, width: u32) -> u64 {
    set.window(line, at / 8) >> (at % 8) & low(width)
}

/// The parts of a line that change with its runs when a slot is inserted or removed.
#[derive(Clone, Copy)]
pub(in crate::filter) struct Runs {
    /// The occupied quotients, and the threshold.
    pub(super) occupied: u64,
    pub(super) starts: u64,
}

/// The fields with one bit per slot.
struct Columns {
    marks: u64,
    planes: [u64; 8],
}

impl Columns {
    #[inline(always)]
    fn of<const R: u32, I: LineBytes>(set: I, line: &Line) -> Self {
        let mut planes = [0; 8];
        for plane in 0..At::<R>::PLANES {
            planes[plane as usize] = field(set, line, At::<R>::plane(plane), At::<R>::SLOTS);
        }
        Self { marks: marks::<R, I>(set, line), planes }
    }

    /// Writes whole words: the next reader of the line would wait for partial ones.
    #[inline(always)]
    fn write<const R: u32>(&self, line: &mut Line, runs: Runs) {
        const { At::<R>::FITS };
        let mut words = [runs.occupied, 0, 0, 0, 0];
        let mut put = |at: u32, value: u64| {
            let (word, shift) = ((at / 64) as usize, at % 64);
            words[word] |= value << shift;
            // In two steps, as a shift by 64 is not allowed.
            words[word + 1] |= value >> 1 >> (63 - shift);
        };
        put(MARKS_AT, self.marks);
        put(At::<R>::STARTS, runs.starts & low(At::<R>::SLOTS));
        for plane in 0..At::<R>::PLANES {
            put(At::<R>::plane(plane), self.planes[plane as usize]);
        }
        for (at, (word, new)) in line.0.iter_mut().zip(words).enumerate() {
            let bits = low((8 * At::<R>::HIGH).saturating_sub(64 * at as u32));
            *word = *word & !bits | new & bits;
        }
    }
}

/// Inserts a slot above the slots `below`, word by word.
#[inline(always)]
pub(super) fn open_in_words<const R: u32, I: LineBytes>(
    set: I,
    line: &mut Line,
    runs: Runs,
    below: u64,
    remainder: u32,
    is_guest: bool,
) {
    let mut columns = Columns::of::<R, I>(set, line);
    let one_if = |condition: bool| if condition { below + 1 } else { 0 };
    columns.marks = opened(columns.marks, below) & low(At::<R>::MARKS) | one_if(is_guest);
    for plane in 0..At::<R>::PLANES {
        let bits = &mut columns.planes[plane as usize];
        *bits = opened(*bits, below) | one_if(remainder >> (8 + plane) & 1 == 1);
    }
    let at = below.count_ones();
    set.open(line, At::<R>::LOW + at, Line::BYTES as u32, remainder as u8);
    if At::<R>::ROWS == 2 {
        set.open(line, At::<R>::HIGH + at, At::<R>::LOW, (remainder >> 8) as u8);
    }
    columns.write::<R>(line, runs);
}

/// Removes the slot above the slots `below`, word by word.
#[inline(always)]
pub(super) fn close_in_words<const R: u32, I: LineBytes>(set: I, line: &mut Line, runs: Runs, below: u64) {
    let mut columns = Columns::of::<R, I>(set, line);
    columns.marks = closed(columns.marks, below);
    for plane in 0..At::<R>::PLANES {
        let bits = &mut columns.planes[plane as usize];
        *bits = closed(*bits, below);
    }
    let at = below.count_ones();
    set.close(line, At::<R>::LOW + at, Line::BYTES as u32);
    if At::<R>::ROWS == 2 {
        set.close(line, At::<R>::HIGH + at, At::<R>::LOW);
    }
    columns.write::<R>(line, runs);
}

/// Inserts a 0 above the bits `below`.
#[inline(always)]
fn opened(bits: u64, below: u64) -> u64 {
    bits & below | (bits & !below) << 1
}

/// Removes the bit above the bits `below`.
#[inline(always)]
fn closed(bits: u64, below: u64) -> u64 {
    bits & below | bits >> 1 & !below
}

#[inline(always)]
fn occupied(line: &Line) -> u64 {
    line.0[0] & OCCUPIED
}

/// The number of occupied lower quotients, and 1 if this one is occupied.
#[inline(always)]
fn rank(line: &Line, quotient: u32) -> (u32, u32) {
    // Higher quotients are shifted out at the top.
    let up_to = line.0[0] << (63 - (quotient & 63));
    let here = (up_to >> 63) as u32;
    (up_to.count_ones() - here, here)
}

/// The threshold: lower quotients may have left. It is even.
#[inline(always)]
pub(super) fn threshold(line: &Line) -> u32 {
    2 * ((line.0[0] >> THRESHOLD_AT) as u32 & low(LineLayout::THRESHOLD_BITS) as u32)
}

#[inline(always)]
pub(super) fn set_threshold(line: &mut Line, threshold: u32) {
    let bits = low(LineLayout::THRESHOLD_BITS) << THRESHOLD_AT;
    line.0[0] = line.0[0] & !bits | u64::from(threshold / 2) << THRESHOLD_AT;
}

/// A mask of the slots with guests.
#[inline(always)]
pub(super) fn marks<const R: u32, I: LineBytes>(set: I, line: &Line) -> u64 {
    field(set, line, MARKS_AT, At::<R>::MARKS)
}

/// The starts of runs, and the end; in a line that is not full, bit K is set as well.
#[inline(always)]
fn starts<const R: u32, I: LineBytes>(set: I, line: &Line) -> u64 {
    // An empty line, all zeros, has its end at slot 0.
    field(set, line, At::<R>::STARTS, At::<R>::SLOTS).max(1) | 1 << At::<R>::SLOTS
}

/// The starts of runs, and the end.
#[inline(always)]
fn exact_starts<const R: u32, I: LineBytes>(set: I, line: &Line) -> u64 {
    starts::<R, I>(set, line) & !(u64::from(!is_full::<R, I>(set, line)) << At::<R>::SLOTS)
}

/// Reports whether all slots are in use.
#[inline(always)]
pub(super) fn is_full<const R: u32, I: LineBytes>(set: I, line: &Line) -> bool {
    starts::<R, I>(set, line).count_ones() == occupied(line).count_ones() + 1
}

/// The number of slots in use.
#[inline(always)]
fn count<const R: u32>(line: &Line) -> u32 {
    exact_starts::<R, _>(Portable, line).ilog2()
}

/// A mask of the slots of a quotient's fingerprints.
#[inline(always)]
pub(super) fn run<const R: u32, I: LineBytes>(set: I, line: &Line, quotient: u32) -> u64 {
    // Bits above the end do not matter here, nor does the missing end of an empty line.
    let starts = set.window(line, At::<R>::STARTS / 8) >> (At::<R>::STARTS % 8) | 1 << At::<R>::SLOTS;
    let (before, here) = rank(line, quotient);
    // Wrapping, for lines of damaged bytes in a view.
    set.nth(starts, before + here).wrapping_sub(set.nth(starts, before))
}

/// A mask of the slots with a remainder, including some that are not in use.
#[inline(always)]
fn equal<const R: u32, I: LineBytes>(set: I, line: &Line, remainder: u32) -> u64 {
    let mut slots = u64::MAX;
    for plane in 0..At::<R>::PLANES {
        let bits = field(set, line, At::<R>::plane(plane), At::<R>::SLOTS);
        slots &= if remainder >> (8 + plane) & 1 == 1 { bits } else { !bits };
    }
    // The whole line last: compilers would extract the words from it, which are faster to load.
    slots &= set.equal(line, remainder as u8) >> At::<R>::LOW;
    if At::<R>::ROWS == 2 {
        slots &= set.equal(line, (remainder >> 8) as u8) >> At::<R>::HIGH;
    }
    slots
}

/// The slots with a fingerprint, of residents and guests.
#[inline(always)]
fn find<const R: u32, I: LineBytes>(set: I, line: &Line, fingerprint: Fingerprint) -> u64 {
    run::<R, I>(set, line, fingerprint.quotient) & equal::<R, I>(set, line, fingerprint.remainder)
}

/// The slots of residents with a fingerprint.
#[inline(always)]
pub(super) fn residents<const R: u32, I: LineBytes>(set: I, line: &Line, fingerprint: Fingerprint) -> u64 {
    !marks::<R, I>(set, line) & find::<R, I>(set, line, fingerprint)
}

/// The slot of the guest with a fingerprint, at most one.
#[inline(always)]
pub(super) fn guests<const R: u32, I: LineBytes>(set: I, line: &Line, fingerprint: Fingerprint) -> u64 {
    marks::<R, I>(set, line) & find::<R, I>(set, line, fingerprint)
}

/// The remainder in a slot.
#[inline(always)]
pub(super) fn remainder<const R: u32>(line: &Line, slot: u32) -> u32 {
    let byte = |at: u32| (line.0[(at / 8) as usize % Line::WORDS] >> (8 * (at % 8))) as u8;
    let bit = |at: u32| (line.0[(at / 64) as usize % Line::WORDS] >> (at % 64)) as u32 & 1;
    let mut remainder = u32::from(byte(At::<R>::LOW + slot));
    if At::<R>::ROWS == 2 {
        remainder |= u32::from(byte(At::<R>::HIGH + slot)) << 8;
    }
    for plane in 0..At::<R>::PLANES {
        remainder |= bit(At::<R>::plane(plane) + slot) << (8 + plane);
    }
    remainder
}

/// The slot for a new fingerprint of a quotient, as a mask: after those of its quotient.
#[inline(always)]
fn end_of_run<const R: u32, I: LineBytes>(set: I, line: &Line, quotient: u32) -> u64 {
    let (before, here) = rank(line, quotient);
    set.nth(starts::<R, I>(set, line), before + here)
}

/// Reports whether a guest is in the last slot with a mark, and so cannot be pushed further.
#[inline(always)]
pub(super) fn is_crowded<const R: u32, I: LineBytes>(set: I, line: &Line) -> bool {
    marks::<R, I>(set, line) >> (At::<R>::MARKS - 1) == 1
}

/// Reports whether there is room for a resident: a free slot, and no guest that would be pushed
/// from the last slot with a mark.
#[inline(always)]
pub(super) fn has_room<const R: u32, I: LineBytes>(set: I, line: &Line, quotient: u32) -> bool {
    !is_full::<R, I>(set, line)
        && (!is_crowded::<R, I>(set, line) || end_of_run::<R, I>(set, line, quotient) >= 1 << At::<R>::MARKS)
}

/// Reports whether there is room for a guest that is not here yet.
#[inline(always)]
pub(super) fn has_room_for_guest<const R: u32, I: LineBytes>(
    set: I,
    line: &Line,
    fingerprint: Fingerprint,
) -> bool {
    !is_full::<R, I>(set, line)
        && !is_crowded::<R, I>(set, line)
        && end_of_run::<R, I>(set, line, fingerprint.quotient) < 1 << At::<R>::MARKS
        && guests::<R, I>(set, line, fingerprint) == 0
}

/// What a newcomer needs to know about a line that must lose a resident for it.
#[derive(Clone, Copy)]
pub(super) struct Newcomer {
    is_guest: bool,
    /// The slot after its run, as a mask.
    end: u64,
    is_crowded: bool,
    /// Whether it is a guest here already.
    is_there: bool,
}

impl Newcomer {
    #[inline(always)]
    pub(super) fn new<const R: u32, I: LineBytes>(
        set: I,
        line: &Line,
        fingerprint: Fingerprint,
        is_guest: bool,
    ) -> Self {
        Self {
            is_guest,
            end: end_of_run::<R, I>(set, line, fingerprint.quotient),
            is_crowded: is_crowded::<R, I>(set, line),
            is_there: is_guest && guests::<R, I>(set, line, fingerprint) != 0,
        }
    }

    /// Reports whether there is room for it once the resident of a slot is gone and all above have
    /// moved down.
    #[inline(always)]
    pub(super) fn has_room_without<const R: u32>(&self, slot: u32) -> bool {
        let is_crowded = self.is_crowded && slot >= At::<R>::MARKS;
        let is_marked = self.end >> u32::from(1 << slot < self.end) < 1 << At::<R>::MARKS;
        if self.is_guest { !is_crowded && is_marked && !self.is_there } else { !is_crowded || !is_marked }
    }
}

/// Adds a fingerprint. There must be room.
#[inline(always)]
pub(super) fn add<const R: u32, I: LineBytes>(
    set: I,
    line: &mut Line,
    fingerprint: Fingerprint,
    is_guest: bool,
) {
    let Fingerprint { quotient, remainder } = fingerprint;
    let (before, here) = rank(line, quotient);
    let starts = starts::<R, I>(set, line) & low(At::<R>::SLOTS);
    let slot = set.nth(starts, before + here);
    let below = slot - 1;
    let runs = Runs {
        occupied: line.0[0] & low(MARKS_AT) | 1 << quotient,
        starts: opened(starts, below) | if here == 0 { slot } else { 0 },
    };
    set.open_slot::<R>(line, runs, below, remainder, is_guest);
}

/// Removes the fingerprint in a slot, which must be one of its quotient's.
#[inline(always)]
pub(super) fn take<const R: u32, I: LineBytes>(set: I, line: &mut Line, quotient: u32, slot: u32) {
    take_raising::<R, I>(set, line, quotient, slot, 0);
}

/// Like [`take`], but raises the threshold to at least this one in the same write: the next reader
/// of the whole line would wait for a partial one.
#[inline(always)]
pub(super) fn take_raising<const R: u32, I: LineBytes>(
    set: I,
    line: &mut Line,
    quotient: u32,
    slot: u32,
    least_threshold: u32,
) {
    let (before, _) = rank(line, quotient);
    let starts = exact_starts::<R, I>(set, line);
    let first = set.nth(starts, before);
    let is_last = starts & first << 1 != 0;
    // In a run of several, the bit after the start is removed, not the start.
    let starts = closed(starts, if is_last { first - 1 } else { 2 * first - 1 });
    let raised = if least_threshold == 0 {
        line.0[0]
    } else {
        occupied(line) | u64::from(threshold(line).max(least_threshold) / 2) << THRESHOLD_AT
    };
    let runs = Runs {
        occupied: raised & low(MARKS_AT) & !(u64::from(is_last) << quotient),
        // An empty line is all zeros, except for its threshold.
        starts: starts & u64::from(starts != 1).wrapping_neg(),
    };
    set.close_slot::<R>(line, runs, low(slot));
}

/// The runs of a line below a quotient, the lowest first: each with its quotient and its slots.
#[derive(Clone, Copy)]
pub(in crate::filter) struct RunsBelow {
    quotients: u64,
    starts: u64,
}

#[inline(always)]
pub(super) fn runs_below<const R: u32, I: LineBytes>(set: I, line: &Line, end: u32) -> RunsBelow {
    RunsBelow { quotients: occupied(line) & low(end), starts: starts::<R, I>(set, line) }
}

impl Iterator for RunsBelow {
    type Item = (u32, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, u64)> {
        if self.quotients == 0 {
            return None;
        }
        let rest = self.starts & (self.starts - 1);
        let slots = (rest & rest.wrapping_neg()) - (self.starts & self.starts.wrapping_neg());
        let quotient = self.quotients.trailing_zeros();
        (self.quotients, self.starts) = (self.quotients & (self.quotients - 1), rest);
        Some((quotient, slots))
    }
}

/// The fingerprints of a line in the order of their slots, and whether they are guests.
pub(super) fn all<const R: u32>(line: &Line) -> impl Iterator<Item = (Fingerprint, bool)> + use<R> {
    let line = *line;
    let (starts, marks) = (starts::<R, _>(Portable, &line), marks::<R, _>(Portable, &line));
    let mut left = occupied(&line);
    let mut quotient = 0;
    // In a line that this library did not write, there may be more runs than quotients; then
    // quotients repeat.
    (0..count::<R>(&line)).map(move |slot| {
        if starts >> slot & 1 == 1 && left != 0 {
            quotient = left.trailing_zeros();
            left &= left - 1;
        }
        (Fingerprint { quotient, remainder: remainder::<R>(&line, slot) }, marks >> slot & 1 == 1)
    })
}

/// Reports whether changes can make a line: see the invariants.
pub(super) fn is_valid<const R: u32>(line: &Line) -> bool {
    let (starts, used) = (exact_starts::<R, _>(Portable, line), count::<R>(line));
    let written = field(Portable, line, At::<R>::STARTS, At::<R>::SLOTS);
    // Every run begins somewhere, the first at the first slot; the end is one more start. An empty
    // line has no end.
    let runs = occupied(line).count_ones();
    let counts = starts.count_ones() == runs + 1 && starts & 1 == 1 && (runs == 0) == (written == 0);
    let plane = |number| field(Portable, line, At::<R>::plane(number), At::<R>::SLOTS);
    let byte = |at: u32| line.0[(at / 8) as usize] >> (8 * (at % 8)) & 255;
    counts
        && marks::<R, _>(Portable, line) >> used == 0
        && (0..At::<R>::PLANES).all(|number| plane(number) >> used == 0)
        && (0..At::<R>::ROWS).all(|row| {
            let first = At::<R>::HIGH + row * At::<R>::SLOTS;
            (used..At::<R>::SLOTS).all(|slot| byte(first + slot) == 0)
        })
}

#[cfg(test)]
mod tests;
