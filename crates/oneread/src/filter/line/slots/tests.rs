//! Compares all instruction sets on lines that are filled, emptied and queried, and predictions of
//! changes with their effect.

use alloc::vec::Vec;

use super::super::simd::{self, LineWork};
use super::*;
use crate::filter::simd::{InstructionSet, Isa, Portable};
use crate::hash::{self, Digester, Domain};

/// A change of a line.
#[derive(Clone, Copy)]
enum Change {
    /// A fingerprint, and whether it is a guest's.
    Add(Fingerprint, bool),
    /// The slot of a quotient, and the least threshold afterwards.
    Take(u32, u32, u32),
}

/// Makes a change if there is room for it, and reports whether there was.
struct Make<'a> {
    line: &'a mut Line,
    change: Change,
}

impl LineWork for Make<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> bool {
        let line = self.line;
        match self.change {
            Change::Add(fingerprint, is_guest) => {
                let has_room = if is_guest {
                    has_room_for_guest::<R, I>(set, line, fingerprint)
                } else {
                    has_room::<R, I>(set, line, fingerprint.quotient)
                };
                if has_room {
                    add::<R, I>(set, line, fingerprint, is_guest);
                }
                has_room
            }
            Change::Take(quotient, slot, 0) => {
                take::<R, I>(set, line, quotient, slot);
                true
            }
            Change::Take(quotient, slot, threshold) => {
                take_raising::<R, I>(set, line, quotient, slot, threshold);
                true
            }
        }
    }
}

/// Lines from empty to full, each made with all instruction sets.
fn lines_of<const R: u32>() -> Vec<Line> {
    let words = hash::Portable::with_seed(u64::from(R));
    let mut lines: Vec<(Isa, Line)> = Isa::available().map(|isa| (isa, Line::default())).collect();
    let mut seen = Vec::new();
    for step in 0..if cfg!(miri) { 100 } else { 4000u64 } {
        let word = words.digest(&step).word(Domain::LINE, 0);
        let (quotient, remainder) =
            ((word % u64::from(LineLayout::QUOTIENTS)) as u32, (word >> 8) as u32 & low(R) as u32);
        let line = lines[0].1;
        let used = all::<R>(&line).count() as u64;
        // By turns mostly growing and mostly shrinking.
        let grows = step / 400 % 2 == 0;
        let is_add = word >> 40 & 3 != 0;
        let change = if used == 0 || is_add == grows {
            Change::Add(Fingerprint { quotient, remainder }, word >> 48 & 3 == 0)
        } else {
            let slot = (word >> 50) % used;
            let (fingerprint, _) = all::<R>(&line).nth(slot as usize).unwrap();
            Change::Take(fingerprint.quotient, slot as u32, (word >> 42 & 7) as u32 * 4)
        };
        let done: Vec<bool> =
            lines.iter_mut().map(|(isa, line)| simd::run(*isa, R, Make { line, change })).collect();
        let changed = lines[0].1;
        for (at, (isa, line)) in lines.iter().enumerate() {
            assert_eq!((line, done[at]), (&changed, done[0]), "{R} bits, step {step}, {isa:?}");
        }
        assert!(is_valid::<R>(&changed), "{R} bits, step {step}");
        let expected =
            used + u64::from(done[0]) * 2 * u64::from(matches!(change, Change::Add(..))) - u64::from(done[0]);
        assert_eq!(all::<R>(&changed).count() as u64, expected, "{R} bits, step {step}");
        seen.push(changed);
    }
    seen
}

fn every_path_makes_the_same_lines<const R: u32>() {
    let lines = lines_of::<R>();
    let full = lines.iter().filter(|line| is_full::<R, _>(Portable, line)).count();
    assert!(cfg!(miri) || full > 100, "{R} bits: {full} full lines");
}

#[test]
fn every_path_makes_the_same_lines_of_every_length() {
    every_path_makes_the_same_lines::<8>();
    every_path_makes_the_same_lines::<9>();
    every_path_makes_the_same_lines::<10>();
    every_path_makes_the_same_lines::<12>();
    every_path_makes_the_same_lines::<16>();
}

fn room_is_foretold<const R: u32>() {
    let mut foretold = [0, 0];
    for line in lines_of::<R>().iter().step_by(if cfg!(miri) { 50 } else { 7 }) {
        for (number, (leaving, _)) in all::<R>(line).enumerate().filter(|(_, (_, is_guest))| !is_guest) {
            let mut less = *line;
            take::<R, _>(Portable, &mut less, leaving.quotient, number as u32);
            for quotient in (0..LineLayout::QUOTIENTS).step_by(3) {
                for is_guest in [false, true] {
                    let newcomer = Fingerprint { quotient, remainder: leaving.remainder };
                    let has_room = if is_guest {
                        has_room_for_guest::<R, _>(Portable, &less, newcomer)
                    } else {
                        has_room::<R, _>(Portable, &less, quotient)
                    };
                    let told = Newcomer::new::<R, _>(Portable, line, newcomer, is_guest);
                    assert_eq!(told.has_room_without::<R>(number as u32), has_room, "{R} bits, {line:?}");
                    foretold[usize::from(has_room)] += 1;
                }
            }
        }
    }
    assert!(cfg!(miri) || foretold.iter().all(|&count| count > 1000), "{R} bits: {foretold:?}");
}

#[test]
fn room_for_a_newcomer_is_what_is_there_once_a_resident_is_gone() {
    room_is_foretold::<8>();
    room_is_foretold::<10>();
    room_is_foretold::<16>();
}
