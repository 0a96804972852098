//! The groups that a key can be in, in the order of the search.
//!
//! The home comes from the digest. All others follow from the home and the tag, so an out-tag is
//! enough to find its key. They are: the other group of the home's line, both groups of three other
//! home lines, both of a line of the last level, and both of the stash.
//!
//! The keys out of one group lie in at most 255 tags times 128 slots, and 48 more: fewer than the
//! 65535 that a group can count.

use super::group::Tag;
use super::slots::GROUPS;
use crate::hash::{Digest, Domain, reduce};
use crate::layout::BoundedLayout;

/// Home lines on a route besides the key's own. With two, the last level would have to be larger.
pub(super) const OTHER_LINES: usize = 3;

/// The lines of a route: the home's, the others, one of the last level, the stash.
pub(super) const LINES: usize = 1 + OTHER_LINES + 2;

/// The word of a digest that gives home and tag, and the first of those that give other lines.
const HOME_WORD: u32 = 0;
const FIRST_OTHER_WORD: u32 = 1;
const LAST_LEVEL_WORD: u32 = FIRST_OTHER_WORD + OTHER_LINES as u32;

/// The word of a digest that gives its home and its tag.
#[inline(always)]
pub(super) fn word(digest: Digest) -> u64 {
    digest.word(Domain::BOUNDED, HOME_WORD)
}

/// The routes of a layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Routes {
    home_lines: u64,
    last_lines: u64,
}

impl Routes {
    pub(super) fn new(layout: &BoundedLayout) -> Self {
        Self { home_lines: layout.home_lines(), last_lines: layout.last_lines() }
    }

    /// Line number `line` of a route; the home's line is number 0.
    #[inline(always)]
    fn line(&self, home: usize, tag: Tag, line: usize) -> usize {
        let home_line = (home / GROUPS) as u64;
        let word = |index| Digest::from_halves(home as u64, tag.get().into()).word(Domain::BOUNDED, index);
        let at = match line {
            0 => home_line,
            1..=OTHER_LINES => {
                // Any line except the home's, if there is one.
                let word = word(FIRST_OTHER_WORD + line as u32 - 1);
                let at = home_line + 1 + reduce(word, self.home_lines - 1);
                if at < self.home_lines { at } else { at - self.home_lines }
            }
            _ if line == OTHER_LINES + 1 => self.home_lines + reduce(word(LAST_LEVEL_WORD), self.last_lines),
            _ => self.home_lines + self.last_lines,
        };
        at as usize
    }

    /// The groups of that line.
    #[inline(always)]
    pub(super) fn groups_of_line(&self, home: usize, tag: Tag, line: usize) -> [usize; GROUPS] {
        let line = self.line(home, tag, line);
        [line * GROUPS, line * GROUPS + 1]
    }
}
