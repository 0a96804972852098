//! Options of commands: words, with or without a value.

use crate::engine::{Arg, Args, Context, Failure};
use crate::values::too_large;

/// Iterates over the arguments from a position on.
pub(super) struct Options<'a> {
    arguments: Args<'a>,
    at: usize,
}

impl<'a> Options<'a> {
    pub(super) const fn behind(arguments: Args<'a>, position: usize) -> Self {
        Self { arguments, at: position }
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Option<Arg<'a>> {
        let word = self.arguments.at(self.at).ok();
        self.at += 1;
        word
    }

    /// The value of the previous word.
    pub(super) fn value(&mut self) -> Result<Arg<'a>, Failure> {
        self.next().ok_or(Failure::Arity)
    }

    /// All remaining arguments, at least one.
    pub(super) fn items(&self) -> Result<impl ExactSizeIterator<Item = Arg<'a>> + Clone + 'a, Failure> {
        let items = self.arguments.from(self.at);
        if items.len() == 0 { Err(Failure::Arity) } else { Ok(items) }
    }
}

/// An integer within a range.
pub(super) fn integer(value: Arg<'_>, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    value.integer().filter(|value| range.contains(value))
}

/// A probability strictly between 0 and 1.
pub(super) fn fraction(value: Arg<'_>) -> Option<f64> {
    value.number().filter(|&value| value > 0.0 && value < 1.0)
}

pub(super) const UNKNOWN: &str = "Unknown argument received";

/// The largest capacity that a command accepts; the size in bytes is checked as well.
pub(super) const MOST_ITEMS: i64 = 1 << 40;
pub(super) const MOST_EXPANSION: i64 = 32_768;

/// Fails if something would take more bytes than allowed, before any are allocated.
pub(super) fn check_size(context: &Context, bytes: u64) -> Result<(), Failure> {
    let most = context.most_bytes();
    if bytes <= most { Ok(()) } else { Err(too_large(bytes, most).into()) }
}
