//! The lines and the stash: looking up, inserting and removing fingerprints.
//!
//! # Why nothing is lost
//! Let the *slots of x* be the slots with fingerprint x among the residents of its home, the
//! guests of its other line, and the entries of the stash. Marks tell guests from residents, the
//! two lines of a quotient name each other, and the stash has whole numbers: so each slot and entry
//! is of exactly one x. Further copies of x are *counted*, by its number. Claims:
//!
//! (a) the slots and counted copies of x are as many as the keys of fingerprint x; (b) a lookup
//! finds each slot; (c) if copies of x are counted, x has two slots or more.
//!
//! So x is found if there is a key of it. By cases:
//! - *Insert, two slots or more*: one counted copy more.
//! - *Insert, room at home*: one resident more.
//! - *Insert, no room at home*: a resident y ≠ x of its home, or x itself, becomes a guest of its
//!   other line (or makes room for that by the same rule, up to three lines deep). A slot of y goes
//!   and one comes. Lookups of y see it, since the threshold of its home is now above its quotient.
//! - *Insert, no way out*: an entry in the stash. The threshold of its home becomes `STASHED`,
//!   which sends lookups there.
//! - *Remove, some copies counted*: one of these goes, and the slots stay. A removal that finds one
//!   resident of a quotient that cannot have left knows by (c) that none is counted.
//! - *Remove, none counted*: exactly one slot of x goes: a resident, else the guest, else an entry.
//!   If there is none, the key was never inserted.
//! - *Pull home*: the guest of quotient t − 1 or t − 2 in the other line becomes a resident of the
//!   line with threshold t: the number of its slots stays the same.
//! - *Lower the threshold* from t to t − 2: if the other lines of the quotients t − 1 and t − 2
//!   have no guest of them, they hold no slot. From `STASHED`: if the stash has no number of this
//!   line.
//!
//! A guest is never twice in a line.
//!
//! # Saturated fingerprints
//! Files of the first edition have no counts. There, four residents x stand for any number of
//! copies, and no removal takes any of the four. None of them ever leaves: they are passed over
//! when a line needs room. Insertions count copies beside them. Without such a file, no fingerprint
//! has more than two slots.

use alloc::vec::Vec;

use super::STASHED;
use super::counts::Counts;
use super::places::{MOVABLE, Place, Places};
use super::simd::run_rarely;
use super::slots::{self, Fingerprint, Newcomer};
use super::work::{ContainsElsewhere, InsertWithCare, PullHome, RemoveWithCare, WayOut};
use crate::bits::{Line, Lines};
use crate::filter::Full;
use crate::filter::simd::InstructionSet;
use crate::layout::LineLayout;

/// The most lines that a removal reads besides its own to bring guests home. Four read more and
/// hardly pull more; with two, lookups read a fifth more second lines.
const PULLS: u32 = 3;

/// The most quotients of a line that are tried in order for a fingerprint that can leave.
const BREADTH: usize = 20;

/// How many of these are tried again to find room by a further move.
const NARROW: usize = 4;

/// Lines that are prefetched before the first of them is read.
const PREFETCHED: usize = 6;

/// The most moves that make room for one insertion.
const DEPTH: usize = 3;

#[derive(Clone)]
pub(super) struct Table<S> {
    pub(super) layout: LineLayout,
    pub(super) places: Places,
    pub(super) lines: S,
    /// Fingerprints without room in their lines.
    pub(super) stash: Counts,
    /// Copies without slots.
    pub(super) copies: Counts,
    pub(super) len: u64,
}

/// The residents that a saturated fingerprint has.
const SATURATED: u32 = 4;

/// Where the copies of a fingerprint are.
#[derive(Clone, Copy)]
pub(super) struct Copies {
    pub(super) residents: u32,
    /// The slots and entries of the stash.
    pub(super) slots: u64,
    pub(super) counted: u64,
}

impl Copies {
    /// Reports whether the next copy takes no slot.
    pub(super) fn fill_their_slots(self) -> bool {
        self.slots >= u64::from(LineLayout::COPY_SLOTS)
    }

    pub(super) fn are_saturated(self) -> bool {
        self.residents >= SATURATED
    }
}

/// What an insertion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// It took a slot, and the fingerprint had none.
    First,
    /// It took a slot.
    Again,
    /// It took no slot.
    Counted,
}

/// What a removal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    Nothing,
    /// It freed a slot.
    Slot,
    /// It took a counted copy, or none of a saturated fingerprint.
    Counted,
}

/// A fingerprint leaves its home for its other line.
#[derive(Clone, Copy)]
struct Move {
    from: usize,
    to: usize,
    fingerprint: Fingerprint,
    /// Whether the newcomer itself goes there.
    is_new: bool,
}

/// The moves that make room, starting at the newcomer's line.
pub(super) struct Way {
    moves: [Option<Move>; DEPTH],
}

/// The line where a newcomer needs room.
#[derive(Clone, Copy)]
struct Need {
    line: usize,
    newcomer: Fingerprint,
    is_guest: bool,
}

impl<S: Lines> Table<S> {
    #[inline(always)]
    pub(super) fn contains<const R: u32, I: InstructionSet>(&self, set: I, word: u64) -> bool {
        let Place { line, fingerprint } = self.places.of(word);
        let (found, threshold) = self.lines.read_line(line, |line| {
            (slots::residents::<R, I>(set, line, fingerprint) != 0, slots::threshold(line))
        });
        found
            || leaves(threshold, fingerprint.quotient)
                && run_rarely::<R, I, _>(set, ContainsElsewhere { table: self, word })
    }

    #[inline(always)]
    pub(super) fn prefetch_homes(&self, words: &[u64]) {
        words.iter().for_each(|&word| self.lines.prefetch_line(self.places.of(word).line));
    }

    /// Reports whether a fingerprint is in its other line or in the stash.
    #[inline(always)]
    pub(super) fn is_elsewhere<const R: u32, I: InstructionSet>(
        &self,
        set: I,
        place: Place,
        threshold: u32,
    ) -> bool {
        let Place { line, fingerprint } = place;
        let is_guest = fingerprint.quotient < MOVABLE && {
            let other = self.places.other(line, fingerprint.quotient);
            self.lines.read_line(other, |line| slots::guests::<R, I>(set, line, fingerprint) != 0)
        };
        is_guest || threshold == STASHED && self.stash.get(self.places.number(place)) > 0
    }

    /// Prefetches what [`is_elsewhere`](Self::is_elsewhere) reads.
    #[inline(always)]
    pub(super) fn prefetch_guest(&self, place: Place) {
        let Place { line, fingerprint } = place;
        if fingerprint.quotient < MOVABLE {
            self.lines.prefetch_line(self.places.other(line, fingerprint.quotient));
        }
    }

    /// The copies of a fingerprint.
    #[inline(always)]
    pub(super) fn copies<const R: u32, I: InstructionSet>(&self, set: I, place: Place) -> Copies {
        let fingerprint = place.fingerprint;
        let (residents, threshold) = self.lines.read_line(place.line, |line| {
            (slots::residents::<R, I>(set, line, fingerprint).count_ones(), slots::threshold(line))
        });
        let mut copies = Copies { residents, slots: u64::from(residents), counted: 0 };
        if leaves(threshold, fingerprint.quotient) {
            if fingerprint.quotient < MOVABLE {
                let other = self.places.other(place.line, fingerprint.quotient);
                let guests =
                    self.lines.read_line(other, |line| slots::guests::<R, I>(set, line, fingerprint));
                copies.slots += u64::from(guests.count_ones());
            }
            if threshold == STASHED {
                copies.slots += self.stash.get(self.places.number(place));
            }
        }
        if copies.fill_their_slots() && !self.copies.is_empty() {
            copies.counted = self.copies.get(self.places.number(place));
        }
        copies
    }

    /// The number of slots and entries of the stash in use; too high if fingerprints are
    /// saturated.
    pub(super) fn slots_in_use(&self) -> u64 {
        self.len.saturating_sub(self.copies.total())
    }
}

/// The least threshold of a line that a fingerprint of this quotient has left.
#[inline(always)]
fn next_even(quotient: u32) -> u32 {
    2 * (quotient / 2) + 2
}

/// Reports whether fingerprints of a quotient may have left a line with this threshold.
#[inline(always)]
pub(super) fn leaves(threshold: u32, quotient: u32) -> bool {
    // If a line has stashed fingerprints, all may have left: `STASHED` is above the rest.
    threshold > quotient.min(MOVABLE)
}

impl Table<Vec<Line>> {
    /// Inserts the fingerprint of a word.
    #[inline(always)]
    pub(super) fn insert<const R: u32, I: InstructionSet>(
        &mut self,
        set: I,
        word: u64,
    ) -> Result<Inserted, Full> {
        if self.insert_plainly::<R, I>(set, self.places.of(word)) {
            return Ok(Inserted::First);
        }
        run_rarely::<R, I, _>(set, InsertWithCare { table: self, word })
    }

    /// Inserts an absent fingerprint into a home with room; reports whether it did.
    #[inline(always)]
    pub(super) fn insert_plainly<const R: u32, I: InstructionSet>(&mut self, set: I, place: Place) -> bool {
        let Place { line, fingerprint } = place;
        let home = &mut self.lines[line];
        let is_plain = slots::residents::<R, I>(set, home, fingerprint) == 0
            && !leaves(slots::threshold(home), fingerprint.quotient)
            && slots::has_room::<R, I>(set, home, fingerprint.quotient);
        if is_plain {
            slots::add::<R, I>(set, home, fingerprint, false);
            self.len = self.len.saturating_add(1);
        }
        is_plain
    }

    /// Inserts a fingerprint.
    #[inline(always)]
    pub(super) fn insert_with_care<const R: u32, I: InstructionSet>(
        &mut self,
        set: I,
        place: Place,
    ) -> Result<Inserted, Full> {
        let Place { line, fingerprint } = place;
        let copies = self.copies::<R, I>(set, place);
        if copies.fill_their_slots() {
            let added = self.copies.add(self.places.number(place), 1);
            self.len = self.len.saturating_add(u64::from(added));
            return if added { Ok(Inserted::Counted) } else { Err(Full) };
        }
        let mut stays = true;
        if !slots::has_room::<R, I>(set, &self.lines[line], fingerprint.quotient) {
            // Usually one move suffices; then no lists are made.
            let need = Need { line, newcomer: fingerprint, is_guest: false };
            if let (Some(first), _) = self.room_next_door::<R, I, false>(set, need, &[line]) {
                self.go::<R, I>(set, first);
                stays = !first.is_new;
            } else if let Some(way) = run_rarely::<R, I, _>(set, WayOut { table: self, place }) {
                for &step in way.moves.iter().rev().flatten() {
                    self.go::<R, I>(set, step);
                }
                stays = way.moves[0].is_some_and(|first| !first.is_new);
            } else if self.stash.total() < self.layout.stash() && self.stash.add(self.places.number(place), 1)
            {
                slots::set_threshold(&mut self.lines[line], STASHED);
                stays = false;
            } else {
                return Err(Full);
            }
        }
        if stays {
            slots::add::<R, I>(set, &mut self.lines[line], fingerprint, false);
        }
        self.len = self.len.saturating_add(1);
        Ok(if copies.slots == 0 { Inserted::First } else { Inserted::Again })
    }

    /// Counts copies of a fingerprint of another table of this layout, as many as there is room
    /// for if it has fewer than two slots.
    #[inline(always)]
    pub(super) fn insert_copies<const R: u32, I: InstructionSet>(
        &mut self,
        set: I,
        place: Place,
        mut count: u64,
    ) -> Result<(), Full> {
        while count > 0 && self.insert_with_care::<R, I>(set, place)? != Inserted::Counted {
            count -= u64::from(count != Counts::ENDLESS);
        }
        let more = if count == Counts::ENDLESS { count } else { count.saturating_sub(1) };
        if more > 0 && !self.copies.add(self.places.number(place), more) { Err(Full) } else { Ok(()) }
    }

    /// Finds a way to make room at home for a newcomer, without changes. Searches depth first, and
    /// passes each line once, so that no move undoes what another relies on.
    #[inline(always)]
    pub(super) fn way_out<const R: u32, I: InstructionSet>(&self, set: I, place: Place) -> Option<Way> {
        let mut way = Way { moves: [None; DEPTH] };
        // For each line passed, the candidates to try next.
        let mut lists = [[None; NARROW]; DEPTH];
        let mut passed = [place.line; DEPTH];
        let mut depth = 0;
        let mut need = Need { line: place.line, newcomer: place.fingerprint, is_guest: false };
        loop {
            (way.moves[depth], lists[depth]) =
                self.room_next_door::<R, I, true>(set, need, &passed[..=depth]);
            if way.moves[depth].is_some() {
                return Some(way);
            }
            loop {
                let next =
                    if depth + 1 < DEPTH { lists[depth].iter_mut().find_map(Option::take) } else { None };
                if let Some(next) = next {
                    way.moves[depth] = Some(next);
                    depth += 1;
                    passed[depth] = next.to;
                    // The line that it goes to must get room for it by losing one.
                    need = Need { line: next.to, newcomer: next.fingerprint, is_guest: true };
                    break;
                }
                if depth == 0 {
                    return None;
                }
                depth -= 1;
                way.moves[depth] = None;
            }
        }
    }

    /// Finds a resident of a line that can leave at once to make room for a newcomer. Lowest
    /// quotients come first, with the newcomer among them if this is its home. With `LISTS` it also
    /// returns residents that could leave if their other line had room; in the first line passed
    /// only these, since from there none can leave at once.
    #[inline(always)]
    fn room_next_door<const R: u32, I: InstructionSet, const LISTS: bool>(
        &self,
        set: I,
        need: Need,
        passed: &[usize],
    ) -> (Option<Move>, [Option<Move>; NARROW]) {
        let Need { line: from, newcomer, is_guest } = need;
        let line = &self.lines[from];
        let runs = slots::runs_below::<R, I>(set, line, MOVABLE);
        // The first few usually suffice, so their lines are awaited together.
        self.prefetch_next_door(from, runs);
        let marks = slots::marks::<R, I>(set, line);
        let room = Newcomer::new::<R, I>(set, line, newcomer, is_guest);
        let only_lists = LISTS && passed.len() == 1;
        let mut list = [None; NARROW];
        let (mut listed, mut tried) = (0, 0);
        let mut is_newcomers_turn = !is_guest && newcomer.quotient < MOVABLE;
        // Loops and no closures, which would be compiled without the instruction set.
        for (quotient, run) in runs {
            for is_new in [true, false] {
                let fingerprint = if is_new {
                    if !is_newcomers_turn || newcomer.quotient > quotient {
                        continue;
                    }
                    is_newcomers_turn = false;
                    newcomer
                } else {
                    let residents = run & !marks;
                    // Most other lines are full, which two words tell.
                    let other = &self.lines[self.places.other(from, quotient)];
                    if !LISTS && (residents == 0 || slots::is_full::<R, I>(set, other)) {
                        continue;
                    }
                    let remainder = slots::remainder::<R>(line, residents.trailing_zeros() & 63);
                    let fingerprint = Fingerprint { quotient, remainder };
                    // Of several in a run, some may be saturated.
                    let suits = residents != 0
                        && (residents.count_ones() < SATURATED
                            || slots::residents::<R, I>(set, line, fingerprint).count_ones() < SATURATED)
                        && room.has_room_without::<R>(residents.trailing_zeros() & 63);
                    if !suits {
                        continue;
                    }
                    tried += 1;
                    fingerprint
                };
                let to = self.places.other(from, fingerprint.quotient);
                if passed.contains(&to) {
                    continue;
                }
                let candidate = Some(Move { from, to, fingerprint, is_new });
                if !only_lists && slots::has_room_for_guest::<R, I>(set, &self.lines[to], fingerprint) {
                    return (candidate, list);
                }
                if LISTS && listed < NARROW {
                    list[listed] = candidate;
                    listed += 1;
                } else if only_lists {
                    return (None, list);
                }
            }
            if tried >= BREADTH {
                break;
            }
        }
        // If it comes after all of them, and none could leave.
        if is_newcomers_turn {
            let to = self.places.other(from, newcomer.quotient);
            let is_free =
                !passed.contains(&to) && slots::has_room_for_guest::<R, I>(set, &self.lines[to], newcomer);
            if is_free {
                return (Some(Move { from, to, fingerprint: newcomer, is_new: true }), list);
            }
        }
        (None, list)
    }

    /// Prefetches the other lines of the first few runs.
    #[inline(always)]
    fn prefetch_next_door(&self, from: usize, runs: slots::RunsBelow) {
        for (quotient, _) in runs.take(PREFETCHED) {
            self.lines.prefetch_line(self.places.other(from, quotient));
        }
    }

    /// Prefetches what an insertion reads if its home has no room.
    #[inline(always)]
    pub(super) fn prefetch_room<const R: u32, I: InstructionSet>(&self, set: I, place: Place) {
        let Place { line, fingerprint } = place;
        let home = &self.lines[line];
        if leaves(slots::threshold(home), fingerprint.quotient) {
            self.prefetch_guest(place);
        }
        if !slots::has_room::<R, I>(set, home, fingerprint.quotient) {
            self.prefetch_next_door(line, slots::runs_below::<R, I>(set, home, MOVABLE));
        }
    }

    #[inline(always)]
    fn go<const R: u32, I: InstructionSet>(&mut self, set: I, step: Move) {
        let Move { from, to, fingerprint, is_new } = step;
        slots::add::<R, I>(set, &mut self.lines[to], fingerprint, true);
        let line = &mut self.lines[from];
        let threshold = next_even(fingerprint.quotient);
        if is_new {
            slots::set_threshold(line, slots::threshold(line).max(threshold));
        } else {
            let slot = slots::residents::<R, I>(set, line, fingerprint).trailing_zeros();
            slots::take_raising::<R, I>(set, line, fingerprint.quotient, slot, threshold);
        }
    }

    /// Removes the fingerprint of a word.
    #[inline(always)]
    pub(super) fn remove<const R: u32, I: InstructionSet>(&mut self, set: I, word: u64) -> Removed {
        let Place { line, fingerprint } = self.places.of(word);
        let home = &mut self.lines[line];
        let residents = slots::residents::<R, I>(set, home, fingerprint);
        let threshold = slots::threshold(home);
        // One resident, and no counted copies.
        let is_plain = residents != 0
            && residents & (residents - 1) == 0
            && (!leaves(threshold, fingerprint.quotient) || self.copies.is_empty());
        if !is_plain {
            return run_rarely::<R, I, _>(set, RemoveWithCare { table: self, word });
        }
        self.len = self.len.saturating_sub(1);
        slots::take::<R, I>(set, home, fingerprint.quotient, residents.trailing_zeros());
        if threshold > 0 {
            self.prefetch_guests(line, threshold);
            run_rarely::<R, I, _>(set, PullHome { table: self, line });
        }
        Removed::Slot
    }

    #[inline(always)]
    pub(super) fn remove_with_care<const R: u32, I: InstructionSet>(
        &mut self,
        set: I,
        place: Place,
    ) -> Removed {
        let Place { line, fingerprint } = place;
        let copies = self.copies::<R, I>(set, place);
        if copies.slots == 0 {
            return Removed::Nothing;
        }
        self.len = self.len.saturating_sub(1);
        if copies.counted > 0 || copies.are_saturated() {
            self.copies.take(self.places.number(place));
            return Removed::Counted;
        }
        let mut freed = line;
        if copies.residents > 0 {
            let home = &mut self.lines[line];
            let residents = slots::residents::<R, I>(set, home, fingerprint);
            slots::take::<R, I>(set, home, fingerprint.quotient, residents.trailing_zeros());
        } else if !self.stash.take(self.places.number(place)) {
            freed = self.places.other(line, fingerprint.quotient);
            let guests = slots::guests::<R, I>(set, &self.lines[freed], fingerprint);
            slots::take::<R, I>(set, &mut self.lines[freed], fingerprint.quotient, guests.trailing_zeros());
        }
        self.pull_home::<R, I>(set, freed);
        Removed::Slot
    }

    /// Brings fingerprints home to a line with room, and lowers its threshold if none is left
    /// outside; then repeats this for the line that they came from.
    #[inline(always)]
    pub(super) fn pull_home<const R: u32, I: InstructionSet>(&mut self, set: I, line: usize) {
        let mut at = line;
        for _ in 0..PULLS {
            let threshold = slots::threshold(&self.lines[at]);
            if threshold == 0 {
                return;
            }
            if threshold == STASHED {
                if !self.pull_from_stash::<R, I>(set, at) {
                    return;
                }
                continue;
            }
            let Some((quotient, from)) = self.highest_guest::<R, I>(set, at, threshold) else {
                slots::set_threshold(&mut self.lines[at], threshold - 2);
                continue;
            };
            let other = &self.lines[from];
            let guests = slots::run::<R, I>(set, other, quotient) & slots::marks::<R, I>(set, other);
            let slot = guests.trailing_zeros();
            let remainder = slots::remainder::<R>(other, slot);
            if !slots::has_room::<R, I>(set, &self.lines[at], quotient) {
                return;
            }
            self.prefetch_guests(from, slots::threshold(&self.lines[from]));
            slots::take::<R, I>(set, &mut self.lines[from], quotient, slot);
            slots::add::<R, I>(set, &mut self.lines[at], Fingerprint { quotient, remainder }, false);
            at = from;
        }
    }

    /// Prefetches the lines of the guests of a line's four highest quotients, two of which
    /// [`pull_home`](Self::pull_home) reads at least.
    #[inline(always)]
    fn prefetch_guests(&self, line: usize, threshold: u32) {
        for quotient in threshold.saturating_sub(4)..threshold.min(MOVABLE) {
            self.lines.prefetch_line(self.places.other(line, quotient));
        }
    }

    /// The guest of the two highest quotients below a line's threshold, and its place.
    #[inline(always)]
    fn highest_guest<const R: u32, I: InstructionSet>(
        &self,
        set: I,
        line: usize,
        threshold: u32,
    ) -> Option<(u32, usize)> {
        for quotient in [threshold - 1, threshold - 2] {
            let from = self.places.other(line, quotient);
            let other = &self.lines[from];
            let guests = slots::run::<R, I>(set, other, quotient) & slots::marks::<R, I>(set, other);
            if guests != 0 && from != line {
                return Some((quotient, from));
            }
        }
        None
    }

    /// Brings a stashed fingerprint home, or lowers the threshold if there is none; reports whether
    /// it could.
    #[inline(always)]
    fn pull_from_stash<const R: u32, I: InstructionSet>(&mut self, set: I, line: usize) -> bool {
        let number = |line| self.places.number(Place { line, fingerprint: Fingerprint::default() });
        let Some(first) = self.stash.first(number(line), number(line + 1)) else {
            slots::set_threshold(&mut self.lines[line], MOVABLE);
            return true;
        };
        let fingerprint = self.places.at(first).fingerprint;
        let has_room = slots::has_room::<R, I>(set, &self.lines[line], fingerprint.quotient);
        if has_room {
            slots::add::<R, I>(set, &mut self.lines[line], fingerprint, false);
            self.stash.take(first);
        }
        has_room
    }
}
