//! The groups that a key can be in, in the order in which they are tried.
//!
//! The home comes from the digest. All others follow from the home and the tag alone, so that
//! whoever has an out-tag knows where its key can be. They are: the other group of the home's line,
//! both groups of three other home lines, both of a line of the last level, both of the stash.
//!
//! At most 255 tags times 128 slots, and 48 more, can hold keys that are out of one group: fewer
//! than the 65535 that a group can count.

use super::group::Tag;
use super::slots::GROUPS;
use crate::hash::{Digest, Domain, reduce};
use crate::layout::BoundedLayout;

/// Home lines beside the key's own that it can be in. With two, the last level would have to be
/// larger.
pub(super) const OTHER_LINES: usize = 3;

/// The lines of a route: the home's, the others, that of the last level, the stash.
pub(super) const LINES: usize = 1 + OTHER_LINES + 2;

/// The word that a home and a tag are taken from, and those that other lines are.
const HOME_WORD: u32 = 0;
const FIRST_OTHER_WORD: u32 = 1;
const LAST_LEVEL_WORD: u32 = FIRST_OTHER_WORD + OTHER_LINES as u32;

/// The word of a digest that its home and its tag come from.
#[inline(always)]
pub(super) fn word(digest: Digest) -> u64 {
    digest.word(Domain::BOUNDED, HOME_WORD)
}

/// Where keys of a layout can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Routes {
    home_lines: u64,
    last_lines: u64,
}

impl Routes {
    pub(super) fn new(layout: &BoundedLayout) -> Self {
        Self { home_lines: layout.home_lines(), last_lines: layout.last_lines() }
    }

    /// The line number `line` of a key's route, after the home's, which is 0.
    #[inline(always)]
    fn line(&self, home: usize, tag: Tag, line: usize) -> usize {
        let home_line = (home / GROUPS) as u64;
        let word = |index| Digest::from_halves(home as u64, tag.get().into()).word(Domain::BOUNDED, index);
        let at = match line {
            0 => home_line,
            1..=OTHER_LINES => {
                // Any line but the home's, if there is one.
                let word = word(FIRST_OTHER_WORD + line as u32 - 1);
                let at = home_line + 1 + reduce(word, self.home_lines - 1);
                if at < self.home_lines { at } else { at - self.home_lines }
            }
            _ if line == OTHER_LINES + 1 => self.home_lines + reduce(word(LAST_LEVEL_WORD), self.last_lines),
            _ => self.home_lines + self.last_lines,
        };
        at as usize
    }

    /// Its groups.
    #[inline(always)]
    pub(super) fn groups_of_line(&self, home: usize, tag: Tag, line: usize) -> [usize; GROUPS] {
        let line = self.line(home, tag, line);
        [line * GROUPS, line * GROUPS + 1]
    }
}
