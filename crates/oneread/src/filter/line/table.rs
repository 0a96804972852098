//! The lines and the stash: looking up, inserting and removing fingerprints.
//!
//! # Why nothing is lost
//! Let *copies of x* be the slots with fingerprint x among the residents of its home, the guests of its other line, and the entries of
//! the stash; nobody else's. Marks tell guests from residents, the two lines of a quotient name each other, and the stash has whole numbers: so
//! each slot and entry is a copy of one x. Claim: x has as many copies as keys of fingerprint x are there, unless four residents
//! once stood together (see *sticks* below), and then at least four; and a lookup finds each copy. By cases:
//! - *Insert, room at home*: one resident more.
//! - *Insert, no room at home*: a resident y ≠ x of its home, or x itself, becomes a guest of its other line (or makes room for that by the same rule,
//!   three lines deep). A copy of y goes and one comes. Lookups of y see it, since the threshold of its home now is above its quotient.
//! - *Insert, no way out*: an entry in the stash. The threshold of its home becomes `STASHED`, which sends lookups there.
//! - *Remove*: a copy of x goes, and only one: a resident, else the guest, else an entry. If there is none, the key was never inserted.
//! - *Pull home*: the guest of quotient t − 1 in the other line becomes a resident of the line with threshold t: its copies are as many.
//! - *Lower the threshold* from t to t − 1: if the other line of quotient t − 1 has no guest of it, no copy is there. From `STASHED`: if the
//!   stash has no number of this line.
//! - *Sticks*: an insertion that finds four residents x adds none, and a removal that finds four takes none. None of the four ever leaves: they are
//!   passed over when a line needs room. So there are four for good, and a key of fingerprint x is found for good.
//!
//! A guest is never twice in a line: so a key that comes often takes four slots of its home and one of the other line, and no line fills with it.

use alloc::vec::Vec;

use super::STASHED;
use super::places::{MOVABLE, Place, Places, Stash};
use super::simd::Vector;
use super::slots::{self, Fingerprint};
use crate::bits::{Line, Lines};
use crate::filter::Full;
use crate::layout::LineLayout;

/// Lines that a removal looks at beside its own, to bring guests home. Four read more and pull hardly more; with two the second
/// lines of lookups were a fifth more.
const PULLS: u32 = 3;

/// Quotients of a line that are tried, one after the other, for a fingerprint that can leave.
const BREADTH: usize = 20;

/// Of these, how many are tried again to find room by a further move.
const NARROW: usize = 4;

/// Moves that make room for one insertion, at most.
const DEPTH: usize = 3;

#[derive(Clone)]
pub(super) struct Table<S> {
    pub(super) layout: LineLayout,
    pub(super) places: Places,
    pub(super) lines: S,
    pub(super) stash: Stash,
    pub(super) len: u64,
}

/// A fingerprint leaves its home for its other line.
#[derive(Clone, Copy)]
struct Move {
    from: usize,
    to: usize,
    fingerprint: Fingerprint,
    /// The newcomer goes there directly.
    is_new: bool,
}

/// The moves that make room, the last one first.
struct Way {
    moves: [Option<Move>; DEPTH],
    count: usize,
}

impl<S: Lines> Table<S> {
    #[inline(always)]
    pub(super) fn contains<const R: u32, V: Vector>(&self, vector: V, place: Place) -> bool {
        let Place { line, fingerprint } = place;
        let (found, threshold) = self.lines.read_line(line, |line| {
            (slots::residents::<R, V>(vector, line, fingerprint) != 0, slots::threshold(line))
        });
        found || leaves(threshold, fingerprint.quotient) && self.is_elsewhere::<R, V>(vector, place, threshold)
    }

    /// Whether a fingerprint is in its other line, or in the stash.
    #[inline(always)]
    fn is_elsewhere<const R: u32, V: Vector>(&self, vector: V, place: Place, threshold: u32) -> bool {
        let Place { line, fingerprint } = place;
        let is_guest = fingerprint.quotient < MOVABLE && {
            let other = self.places.other(line, fingerprint.quotient);
            self.lines.read_line(other, |line| slots::guests::<R, V>(vector, line, fingerprint) != 0)
        };
        is_guest || threshold == STASHED && self.stash.contains(self.places.number(place))
    }
}

/// Whether fingerprints of a quotient may have left a line with this threshold.
#[inline(always)]
pub(super) fn leaves(threshold: u32, quotient: u32) -> bool {
    // Of a line with stashed fingerprints, all may have: `STASHED` is above the rest.
    threshold > quotient.min(MOVABLE)
}

impl Table<Vec<Line>> {
    /// Inserts a fingerprint; says whether it may have been there before.
    #[inline(always)]
    pub(super) fn insert<const R: u32, V: Vector>(&mut self, vector: V, place: Place) -> Result<bool, Full> {
        let Place { line, fingerprint } = place;
        let home = &mut self.lines[line];
        let residents = slots::residents::<R, V>(vector, home, fingerprint);
        let threshold = slots::threshold(home);
        let has_room = slots::has_room::<R, V>(vector, home, fingerprint.quotient);
        if has_room && residents == 0 && !leaves(threshold, fingerprint.quotient) {
            slots::add::<R, V>(vector, home, fingerprint, false);
            self.len = self.len.saturating_add(1);
            return Ok(false);
        }
        self.insert_with_care::<R, V>(vector, place, residents, has_room)
    }

    #[inline(never)]
    fn insert_with_care<const R: u32, V: Vector>(
        &mut self,
        vector: V,
        place: Place,
        residents: u64,
        has_room: bool,
    ) -> Result<bool, Full> {
        let Place { line, fingerprint } = place;
        let threshold = slots::threshold(&self.lines[line]);
        let before = residents != 0
            || leaves(threshold, fingerprint.quotient) && self.is_elsewhere::<R, V>(vector, place, threshold);
        if residents.count_ones() >= LineLayout::STICKS_AT {
            // There for good.
        } else if has_room {
            slots::add::<R, V>(vector, &mut self.lines[line], fingerprint, false);
        } else if let Some(way) = self.way_out::<R, V>(vector, place) {
            self.go::<R, V>(vector, &way);
            let is_gone = way.moves.iter().flatten().any(|way| way.is_new);
            if !is_gone {
                slots::add::<R, V>(vector, &mut self.lines[line], fingerprint, false);
            }
        } else if self.stash.add(self.places.number(place), self.layout.stash()) {
            slots::set_threshold(&mut self.lines[line], STASHED);
        } else {
            return Err(Full);
        }
        self.len = self.len.saturating_add(1);
        Ok(before)
    }

    /// How to make room at home for a newcomer: looks only.
    fn way_out<const R: u32, V: Vector>(&self, vector: V, place: Place) -> Option<Way> {
        let mut way = Way { moves: [None; DEPTH], count: 0 };
        let mut passed = [place.line; DEPTH];
        self.search::<R, V>(vector, place.line, place.fingerprint, false, 1, &mut passed, &mut way).then_some(way)
    }

    /// Looks for a resident of a line that can leave, so that a newcomer, perhaps a guest, has room. `passed` are the lines of the moves so
    /// far, of which there are `depth`, this one the last: a way passes each line once, so that no move undoes what another relies on.
    #[allow(clippy::too_many_arguments, reason = "the state of a search")]
    fn search<const R: u32, V: Vector>(
        &self,
        vector: V,
        from: usize,
        newcomer: Fingerprint,
        is_guest: bool,
        depth: usize,
        passed: &mut [usize; DEPTH],
        way: &mut Way,
    ) -> bool {
        let mut found: [Option<Move>; BREADTH] = [None; BREADTH];
        let mut count = 0;
        for fingerprint in self.movable::<R, V>(vector, from, newcomer, is_guest) {
            let to = self.places.other(from, fingerprint.quotient);
            if passed[..depth].contains(&to) {
                continue;
            }
            let is_new = !is_guest && fingerprint == newcomer;
            let candidate = Move { from, to, fingerprint, is_new };
            if slots::has_room_for_guest::<R, V>(vector, &self.lines[to], fingerprint) {
                way.moves[way.count] = Some(candidate);
                way.count += 1;
                return true;
            }
            found[count] = Some(candidate);
            count += 1;
            if count == BREADTH {
                break;
            }
        }
        if depth == DEPTH {
            return false;
        }
        for candidate in found.into_iter().flatten().take(NARROW) {
            passed[depth] = candidate.to;
            // The line it goes to must come to have room for it by losing one.
            if self.search::<R, V>(vector, candidate.to, candidate.fingerprint, true, depth + 1, passed, way) {
                way.moves[way.count] = Some(candidate);
                way.count += 1;
                return true;
            }
        }
        false
    }

    /// The residents of a line that can leave so that a newcomer has room, one for each quotient, the lowest first; the newcomer itself too, if
    /// it is at home here.
    fn movable<const R: u32, V: Vector>(
        &self,
        vector: V,
        from: usize,
        newcomer: Fingerprint,
        is_guest: bool,
    ) -> impl Iterator<Item = Fingerprint> {
        let line = self.lines[from];
        let mut last = None;
        let new = (!is_guest && newcomer.quotient < MOVABLE).then_some(newcomer);
        let mut waiting = new;
        let residents = slots::all::<R>(&line)
            .filter(|&(_, is_guest)| !is_guest)
            .map(|(fingerprint, _)| fingerprint)
            .take_while(|fingerprint| fingerprint.quotient < MOVABLE);
        let mut residents = residents.peekable();
        let ordered = core::iter::from_fn(move || {
            let is_newcomers_turn = match (waiting, residents.peek()) {
                (Some(new), Some(next)) => new.quotient <= next.quotient,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if is_newcomers_turn { waiting.take().map(|new| (new, true)) } else { residents.next().map(|next| (next, false)) }
        });
        ordered.filter_map(move |(fingerprint, is_new)| {
            let sticks = || {
                let copies = slots::residents::<R, V>(vector, &line, fingerprint);
                copies.count_ones() >= LineLayout::STICKS_AT
            };
            let suits = is_new
                || last != Some(fingerprint.quotient)
                    && !sticks()
                    && room_without::<R, V>(vector, line, fingerprint, newcomer, is_guest);
            if suits {
                last = Some(fingerprint.quotient);
            }
            suits.then_some(fingerprint)
        })
    }

    fn go<const R: u32, V: Vector>(&mut self, vector: V, way: &Way) {
        for &Move { from, to, fingerprint, is_new } in way.moves.iter().flatten() {
            slots::add::<R, V>(vector, &mut self.lines[to], fingerprint, true);
            let line = &mut self.lines[from];
            if !is_new {
                let residents = slots::residents::<R, V>(vector, line, fingerprint);
                slots::take::<R, V>(vector, line, fingerprint.quotient, residents.trailing_zeros());
            }
            slots::set_threshold(line, slots::threshold(line).max(fingerprint.quotient + 1));
        }
    }

    /// Removes a fingerprint; says whether it was there.
    #[inline(always)]
    pub(super) fn remove<const R: u32, V: Vector>(&mut self, vector: V, place: Place) -> bool {
        let Place { line, fingerprint } = place;
        let home = &mut self.lines[line];
        let residents = slots::residents::<R, V>(vector, home, fingerprint);
        if residents == 0 {
            return self.remove_elsewhere::<R, V>(vector, place);
        }
        self.len = self.len.saturating_sub(1);
        if residents.count_ones() < LineLayout::STICKS_AT {
            slots::take::<R, V>(vector, home, fingerprint.quotient, residents.trailing_zeros());
            if slots::threshold(home) > 0 {
                self.pull_home::<R, V>(vector, line);
            }
        }
        true
    }

    #[inline(never)]
    fn remove_elsewhere<const R: u32, V: Vector>(&mut self, vector: V, place: Place) -> bool {
        let Place { line, fingerprint } = place;
        let threshold = slots::threshold(&self.lines[line]);
        if !leaves(threshold, fingerprint.quotient) {
            return false;
        }
        if fingerprint.quotient < MOVABLE {
            let at = self.places.other(line, fingerprint.quotient);
            let other = &mut self.lines[at];
            let guests = slots::guests::<R, V>(vector, other, fingerprint);
            if guests != 0 {
                slots::take::<R, V>(vector, other, fingerprint.quotient, guests.trailing_zeros());
                self.len = self.len.saturating_sub(1);
                self.pull_home::<R, V>(vector, at);
                return true;
            }
        }
        let is_stashed = threshold == STASHED && self.stash.take(self.places.number(place));
        if is_stashed {
            self.len = self.len.saturating_sub(1);
            self.pull_home::<R, V>(vector, line);
        }
        is_stashed
    }

    /// Brings fingerprints home to a line that has room again, and lowers its threshold where nobody is left outside; then the same for the line that
    /// they came from.
    #[inline(always)]
    fn pull_home<const R: u32, V: Vector>(&mut self, vector: V, line: usize) {
        let mut at = line;
        for _ in 0..PULLS {
            let threshold = slots::threshold(&self.lines[at]);
            if threshold == 0 {
                return;
            }
            if threshold == STASHED {
                if !self.pull_from_stash::<R, V>(vector, at) {
                    return;
                }
                continue;
            }
            let quotient = threshold - 1;
            let from = self.places.other(at, quotient);
            let other = &self.lines[from];
            let guests = slots::run::<R, V>(vector, other, quotient) & slots::marks::<R>(other);
            if guests == 0 || from == at {
                slots::set_threshold(&mut self.lines[at], quotient);
                continue;
            }
            let slot = guests.trailing_zeros();
            let remainder = slots::remainder::<R>(other, slot);
            if !slots::has_room::<R, V>(vector, &self.lines[at], quotient) {
                return;
            }
            slots::take::<R, V>(vector, &mut self.lines[from], quotient, slot);
            slots::add::<R, V>(vector, &mut self.lines[at], Fingerprint { quotient, remainder }, false);
            at = from;
        }
    }

    /// Brings a stashed fingerprint home, or lowers the threshold if there is none; says whether it could.
    #[cold]
    fn pull_from_stash<const R: u32, V: Vector>(&mut self, vector: V, line: usize) -> bool {
        let number = |line| self.places.number(Place { line, fingerprint: Fingerprint::default() });
        let Some(first) = self.stash.first(number(line), number(line + 1)) else {
            slots::set_threshold(&mut self.lines[line], MOVABLE);
            return true;
        };
        let fingerprint = self.places.at(first).fingerprint;
        let has_room = slots::has_room::<R, V>(vector, &self.lines[line], fingerprint.quotient);
        if has_room {
            slots::add::<R, V>(vector, &mut self.lines[line], fingerprint, false);
            self.stash.take(first);
        }
        has_room
    }
}

/// Whether a newcomer would have room in a line without one of its residents.
fn room_without<const R: u32, V: Vector>(
    vector: V,
    mut line: Line,
    fingerprint: Fingerprint,
    newcomer: Fingerprint,
    is_guest: bool,
) -> bool {
    if !is_guest && !slots::is_crowded::<R>(&line) {
        return true;
    }
    let residents = slots::residents::<R, V>(vector, &line, fingerprint);
    slots::take::<R, V>(vector, &mut line, fingerprint.quotient, residents.trailing_zeros());
    if is_guest {
        slots::has_room_for_guest::<R, V>(vector, &line, newcomer)
    } else {
        slots::has_room::<R, V>(vector, &line, newcomer.quotient)
    }
}
