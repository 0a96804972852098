//! One line: which fingerprints it holds, to the bit.
//!
//! # Layout
//! A line is a number of 512 bits; bit 0 is the lowest bit of its first word. With remainders of R bits it has K slots and F marks:
//! ```text
//!  0      55   60     60+F        61+F+K                          512−8K
//!  ├ occ ──┼ t ──┼ marks ──┼ starts ──┼ plane of bit 8, of bit 9, … ──┼ low bytes of remainders ┤
//! ```
//! - `occ`: bit q is 1 if a fingerprint of quotient q is here;
//! - `t`: the threshold, see the module above;
//! - `marks`: bit s is 1 if slot s holds a guest; slots from F on hold residents alone;
//! - `starts`: K + 1 bits: bit s is 1 if slot s begins a *run*, the fingerprints of one quotient; and if s is the number of slots in use;
//! - a plane has one bit of each remainder; 16 bits are two rows of bytes instead, the higher bytes first.
//!
//! # Invariants
//! 1. The slots in use are the first ones, in the order of their quotients. `starts` has one bit more than `occ`.
//! 2. What belongs to no slot in use is 0.

use super::simd::Vector;
use crate::bits::Line;
use crate::layout::LineLayout;

/// A fingerprint within its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) quotient: u32,
    pub(super) remainder: u32,
}

const OCCUPIED: u64 = (1 << LineLayout::QUOTIENTS) - 1;
const THRESHOLD_AT: u32 = LineLayout::QUOTIENTS;
const MARKS_AT: u32 = 60;

/// The lowest `count` bits.
#[inline(always)]
pub(super) const fn low(count: u32) -> u64 {
    if count >= u64::BITS { u64::MAX } else { (1 << count) - 1 }
}

/// The positions in a line with remainders of R bits.
struct At<const R: u32>;

impl<const R: u32> At<R> {
    const SLOTS: u32 = LineLayout::slots_of(R);
    const MARKS: u32 = LineLayout::marks_of(R);
    const STARTS: u32 = MARKS_AT + Self::MARKS;
    const ROWS: u32 = R / 8;
    const PLANES: u32 = R % 8;
    /// The byte where the low bytes begin.
    const LOW: u32 = Line::BYTES as u32 - Self::SLOTS;
    /// The byte where the high bytes begin, if there are any.
    const HIGH: u32 = Line::BYTES as u32 - Self::ROWS * Self::SLOTS;
    const FIRST_PLANE: u32 = 8 * Self::HIGH - Self::PLANES * Self::SLOTS;
    const FITS: () = assert!(Self::FIRST_PLANE == Self::STARTS + Self::SLOTS + 1 && Self::FIRST_PLANE <= 128);
}

/// A field of up to 64 bits; constants, so that what is left is a shift or two.
#[inline(always)]
fn field(line: &Line, at: u32, width: u32) -> u64 {
    let (word, shift) = ((at / 64) as usize, at % 64);
    let mut value = line.0[word] >> shift;
    if shift + width > 64 {
        value |= line.0[word + 1] << (64 - shift);
    }
    value & low(width)
}

#[inline(always)]
fn set_field(line: &mut Line, at: u32, width: u32, value: u64) {
    let (word, shift) = ((at / 64) as usize, at % 64);
    line.0[word] = line.0[word] & !(low(width) << shift) | value << shift;
    if shift + width > 64 {
        let rest = 64 - shift;
        line.0[word + 1] = line.0[word + 1] & !(low(width) >> rest) | value >> rest;
    }
}

/// Makes place for a bit below which are the bits `below`.
#[inline(always)]
fn opened(bits: u64, below: u64) -> u64 {
    bits & below | (bits & !below) << 1
}

/// Takes the bit out below which are the bits `below`.
#[inline(always)]
fn closed(bits: u64, below: u64) -> u64 {
    bits & below | bits >> 1 & !below
}

#[inline(always)]
fn occupied(line: &Line) -> u64 {
    line.0[0] & OCCUPIED
}

/// The quotients below it may have left.
#[inline(always)]
pub(super) fn threshold(line: &Line) -> u32 {
    (line.0[0] >> THRESHOLD_AT) as u32 & 31
}

#[inline(always)]
pub(super) fn set_threshold(line: &mut Line, threshold: u32) {
    set_field(line, THRESHOLD_AT, 5, u64::from(threshold));
}

/// The slots with guests.
#[inline(always)]
pub(super) fn marks<const R: u32>(line: &Line) -> u64 {
    const { At::<R>::FITS };
    field(line, MARKS_AT, At::<R>::MARKS)
}

#[inline(always)]
fn starts<const R: u32>(line: &Line) -> u64 {
    // An empty line, all zeros, has its end at slot 0.
    field(line, At::<R>::STARTS, At::<R>::SLOTS + 1).max(1)
}

/// The number of slots in use.
#[inline(always)]
pub(super) fn count<const R: u32>(line: &Line) -> u32 {
    starts::<R>(line).ilog2()
}

/// The slots of a quotient's fingerprints.
#[inline(always)]
pub(super) fn run<const R: u32, V: Vector>(vector: V, line: &Line, quotient: u32) -> u64 {
    let (occupied, starts) = (occupied(line), starts::<R>(line));
    let before = (occupied & low(quotient)).count_ones();
    let here = (occupied >> quotient & 1) as u32;
    // Wrapping, for lines of damaged bytes in a view.
    vector.nth(starts, before + here).wrapping_sub(vector.nth(starts, before))
}

/// The slots with a remainder, among them some that are not in use.
#[inline(always)]
fn equal<const R: u32, V: Vector>(vector: V, line: &Line, remainder: u32) -> u64 {
    let mut slots = vector.equal(line, remainder as u8) >> At::<R>::LOW;
    if At::<R>::ROWS == 2 {
        slots &= vector.equal(line, (remainder >> 8) as u8) >> At::<R>::HIGH;
    }
    for plane in 0..At::<R>::PLANES {
        let bits = field(line, At::<R>::FIRST_PLANE + plane * At::<R>::SLOTS, At::<R>::SLOTS);
        let wanted = u64::from(remainder >> (8 + plane) & 1);
        slots &= bits ^ wanted.wrapping_sub(1);
    }
    slots
}

/// The slots that have a fingerprint, of residents and guests.
#[inline(always)]
pub(super) fn find<const R: u32, V: Vector>(vector: V, line: &Line, fingerprint: Fingerprint) -> u64 {
    equal::<R, V>(vector, line, fingerprint.remainder) & run::<R, V>(vector, line, fingerprint.quotient)
}

/// The slots of residents with a fingerprint.
#[inline(always)]
pub(super) fn residents<const R: u32, V: Vector>(vector: V, line: &Line, fingerprint: Fingerprint) -> u64 {
    find::<R, V>(vector, line, fingerprint) & !marks::<R>(line)
}

/// The slots of guests with a fingerprint.
#[inline(always)]
pub(super) fn guests<const R: u32, V: Vector>(vector: V, line: &Line, fingerprint: Fingerprint) -> u64 {
    find::<R, V>(vector, line, fingerprint) & marks::<R>(line)
}

/// The remainder in a slot.
#[inline(always)]
pub(super) fn remainder<const R: u32>(line: &Line, slot: u32) -> u32 {
    let byte = |at: u32| (line.0[(at / 8) as usize] >> (8 * (at % 8))) as u8;
    let mut remainder = u32::from(byte(At::<R>::LOW + slot));
    if At::<R>::ROWS == 2 {
        remainder |= u32::from(byte(At::<R>::HIGH + slot)) << 8;
    }
    for plane in 0..At::<R>::PLANES {
        let bit = field(line, At::<R>::FIRST_PLANE + plane * At::<R>::SLOTS + slot, 1);
        remainder |= (bit as u32) << (8 + plane);
    }
    remainder
}

/// The slot where a new fingerprint of a quotient goes, alone in a word: after those of its quotient.
#[inline(always)]
fn end_of_run<const R: u32, V: Vector>(vector: V, line: &Line, quotient: u32) -> u64 {
    vector.nth(starts::<R>(line), (occupied(line) & low(quotient + 1)).count_ones())
}

/// Whether a guest is in the last slot that has a mark, so that it cannot be pushed further.
#[inline(always)]
pub(super) fn is_crowded<const R: u32>(line: &Line) -> bool {
    marks::<R>(line) >> (At::<R>::MARKS - 1) == 1
}

/// Whether there is room for a resident: a slot, and no guest that would be pushed from the last slot with a mark.
#[inline(always)]
pub(super) fn has_room<const R: u32, V: Vector>(vector: V, line: &Line, quotient: u32) -> bool {
    let pushes =
        || is_crowded::<R>(line) && end_of_run::<R, V>(vector, line, quotient) <= 1 << (At::<R>::MARKS - 1);
    count::<R>(line) < At::<R>::SLOTS && !pushes()
}

/// Whether there is room for a guest, and not the same one already.
#[inline(always)]
pub(super) fn has_room_for_guest<const R: u32, V: Vector>(
    vector: V,
    line: &Line,
    fingerprint: Fingerprint,
) -> bool {
    has_room::<R, V>(vector, line, fingerprint.quotient)
        && end_of_run::<R, V>(vector, line, fingerprint.quotient) <= 1 << (At::<R>::MARKS - 1)
        && guests::<R, V>(vector, line, fingerprint) == 0
}

/// Adds a fingerprint. There must be room.
#[inline(always)]
pub(super) fn add<const R: u32, V: Vector>(
    vector: V,
    line: &mut Line,
    fingerprint: Fingerprint,
    is_guest: bool,
) {
    let Fingerprint { quotient, remainder } = fingerprint;
    let slot = end_of_run::<R, V>(vector, line, quotient);
    let below = slot - 1;
    let is_first = occupied(line) >> quotient & 1 == 0;
    let one_if = |condition: bool| if condition { slot } else { 0 };

    let starts = opened(starts::<R>(line), below) | one_if(is_first);
    let marks = opened(marks::<R>(line), below) & low(At::<R>::MARKS) | one_if(is_guest);
    let mut planes = [0; 8];
    for plane in 0..At::<R>::PLANES {
        let bits = field(line, At::<R>::FIRST_PLANE + plane * At::<R>::SLOTS, At::<R>::SLOTS);
        planes[plane as usize] = opened(bits, below) | one_if(remainder >> (8 + plane) & 1 == 1);
    }
    let at = slot.trailing_zeros();
    vector.open(line, At::<R>::LOW + at, Line::BYTES as u32, remainder as u8);
    if At::<R>::ROWS == 2 {
        vector.open(line, At::<R>::HIGH + at, At::<R>::LOW, (remainder >> 8) as u8);
    }
    line.0[0] |= 1 << quotient;
    set_header::<R>(line, starts, marks, &planes);
}

/// Takes the fingerprint out of a slot, which must be one of its quotient's.
#[inline(always)]
pub(super) fn take<const R: u32, V: Vector>(vector: V, line: &mut Line, quotient: u32, slot: u32) {
    let run = run::<R, V>(vector, line, quotient);
    let first = run & run.wrapping_neg();
    let is_last = run == first;
    let below = low(slot);
    // Of a run of several, a bit goes that is not its start: the one after it.
    let starts = closed(starts::<R>(line), if is_last { first - 1 } else { 2 * first - 1 });
    let marks = closed(marks::<R>(line), below);
    let mut planes = [0; 8];
    for plane in 0..At::<R>::PLANES {
        let bits = field(line, At::<R>::FIRST_PLANE + plane * At::<R>::SLOTS, At::<R>::SLOTS);
        planes[plane as usize] = closed(bits, below);
    }
    vector.close(line, At::<R>::LOW + slot, Line::BYTES as u32);
    if At::<R>::ROWS == 2 {
        vector.close(line, At::<R>::HIGH + slot, At::<R>::LOW);
    }
    line.0[0] &= !(u64::from(is_last) << quotient);
    // An empty line is all zeros, but for its threshold.
    set_header::<R>(line, if starts == 1 { 0 } else { starts }, marks, &planes);
}

#[inline(always)]
fn set_header<const R: u32>(line: &mut Line, starts: u64, marks: u64, planes: &[u64; 8]) {
    set_field(line, MARKS_AT, At::<R>::MARKS, marks);
    set_field(line, At::<R>::STARTS, At::<R>::SLOTS + 1, starts);
    for plane in 0..At::<R>::PLANES {
        let at = At::<R>::FIRST_PLANE + plane * At::<R>::SLOTS;
        set_field(line, at, At::<R>::SLOTS, planes[plane as usize]);
    }
}

/// The lowest of the quotients of a line, up to `most` of them below `end`.
#[inline(always)]
pub(super) fn lowest(line: &Line, end: u32, most: usize, mut each: impl FnMut(u32)) {
    let mut quotients = occupied(line) & low(end);
    for _ in 0..most {
        if quotients != 0 {
            each(quotients.trailing_zeros());
            quotients &= quotients - 1;
        }
    }
}

/// The runs of quotients below `end`, the lowest first: each with its quotient and its slots.
#[inline(always)]
pub(super) fn runs_below<const R: u32>(line: &Line, end: u32, mut each: impl FnMut(u32, u64) -> bool) {
    let (mut quotients, mut starts) = (occupied(line) & low(end), starts::<R>(line));
    while quotients != 0 {
        let rest = starts & (starts - 1);
        let slots = (rest & rest.wrapping_neg()).wrapping_sub(starts & starts.wrapping_neg());
        if !each(quotients.trailing_zeros(), slots) {
            return;
        }
        (quotients, starts) = (quotients & (quotients - 1), rest);
    }
}

/// The fingerprints of a line in the order of their slots, and whether they are guests.
pub(super) fn all<const R: u32>(line: &Line) -> impl Iterator<Item = (Fingerprint, bool)> + use<R> {
    let line = *line;
    let (starts, marks) = (starts::<R>(&line), marks::<R>(&line));
    let mut left = occupied(&line);
    let mut quotient = 0;
    // A line that this library did not write may have more runs than quotients; then quotients repeat.
    (0..count::<R>(&line)).map(move |slot| {
        if starts >> slot & 1 == 1 && left != 0 {
            quotient = left.trailing_zeros();
            left &= left - 1;
        }
        (Fingerprint { quotient, remainder: remainder::<R>(&line, slot) }, marks >> slot & 1 == 1)
    })
}

/// Whether a line is one that changes make: see the invariants.
pub(super) fn is_valid<const R: u32>(line: &Line) -> bool {
    let (starts, used) = (starts::<R>(line), count::<R>(line));
    let written = field(line, At::<R>::STARTS, At::<R>::SLOTS + 1);
    // Every run begins somewhere, the first at the first slot; the end is one start more. An empty line has no end written.
    let runs = occupied(line).count_ones();
    let counts = starts.count_ones() == runs + 1 && starts & 1 == 1 && (runs == 0) == (written == 0);
    let unused = |at: u32, width: u32| {
        let used = used.min(width);
        width == used || field(line, at + used, width - used) == 0
    };
    counts
        && unused(MARKS_AT, At::<R>::MARKS)
        && (0..At::<R>::PLANES)
            .all(|plane| unused(At::<R>::FIRST_PLANE + plane * At::<R>::SLOTS, At::<R>::SLOTS))
        && (0..At::<R>::ROWS).all(|row| {
            let first = At::<R>::HIGH + row * At::<R>::SLOTS;
            (used..At::<R>::SLOTS).all(|slot| {
                let at = first + slot;
                line.0[(at / 8) as usize] >> (8 * (at % 8)) & 255 == 0
            })
        })
}
