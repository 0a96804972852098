//! Which records cannot all lie in the levels of a segment, whatever its size: they go to overflow
//! pages.
//!
//! Random digests hardly ever come here. The bounds are such that a false alarm costs little: with
//! a single overflow page a lookup of its keys reads one page, as any other.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::format::geometry::{self, LEVELS, Shape};
use crate::format::guide::Form;

use super::group::Entry;

/// The pages of a record in all levels, or [`NO_PAGE`].
type Choice = [u32; LEVELS];

/// In place of a page in a level without pages.
const NO_PAGE: u32 = u32::MAX;

fn choice(entry: &Entry, levels: [u32; LEVELS]) -> Choice {
    std::array::from_fn(|level| match levels[level] {
        0 => NO_PAGE,
        pages => geometry::page(entry.digest, level, pages),
    })
}

/// Divides records, which come by digests, into those whose digest is theirs alone and the others.
/// A guide cannot tell keys of one digest apart.
pub(crate) fn alone(entries: &[Entry]) -> (Cow<'_, [Entry]>, Vec<Entry>) {
    if entries.windows(2).all(|pair| pair[0].digest != pair[1].digest) {
        return (Cow::Borrowed(entries), Vec::new());
    }
    let (mut alone, mut shared) = (Vec::new(), Vec::new());
    for same in entries.chunk_by(|a, b| a.digest == b.digest) {
        if same.len() == 1 { &mut alone } else { &mut shared }.extend_from_slice(same);
    }
    (Cow::Owned(alone), shared)
}

/// How many of `mean` expected events chance brings together at most: eight deviations of a Poisson
/// number, and some more for small means. Exceeded with a chance below 1e-12.
fn by_chance(mean: f64) -> f64 {
    mean + 8.0 * mean.sqrt() + 12.0
}

/// How many of these records have each choice of pages.
fn count<'a>(entries: impl Iterator<Item = &'a Entry>, levels: [u32; LEVELS]) -> HashMap<Choice, u32> {
    let mut counts = HashMap::new();
    entries.for_each(|entry| *counts.entry(choice(entry, levels)).or_default() += 1);
    counts
}

/// The records that share all their pages with more others than chance brings together, by their
/// numbers.
///
/// Looks at them in a segment of `most` pages first, then of fewer: the more pages, the fewer
/// others have the same pages by chance. So records that do not collide by choice stay in the
/// levels.
pub(super) fn crowded(entries: &[Entry], shape: Shape, least: u64, most: u64) -> Vec<usize> {
    for pages in [most, 2 * least, least] {
        let levels = shape.levels(pages.min(most) as u32);
        let choices: f64 = levels.iter().map(|&pages| f64::from(pages.max(1))).product();
        let limit = by_chance(entries.len() as f64 / choices);
        let counts = count(entries.iter(), levels);
        if counts.values().any(|&count| f64::from(count) > limit) {
            let is_crowded = |entry: &Entry| f64::from(counts[&choice(entry, levels)]) > limit;
            return (0..entries.len()).filter(|&number| is_crowded(&entries[number])).collect();
        }
    }
    Vec::new()
}

/// The most keys of one guide in a segment whose guides have so many keys on average.
///
/// What the guide can tell apart, or what chance may bring together.
pub(crate) fn most_keys(form: Form, mean: f64) -> u32 {
    form.most_keys().max(by_chance(mean) as u32)
}

/// Divides the records of one guide into as many as it may have, and the others: those that share
/// all their pages with most others in a segment of such levels.
pub(super) fn divide(
    mut entries: Vec<Entry>,
    most: usize,
    levels: [u32; LEVELS],
) -> (Vec<Entry>, Vec<Entry>) {
    let counts = count(entries.iter(), levels);
    entries.sort_by_key(|entry| (counts[&choice(entry, levels)], entry.digest));
    let others = entries.split_off(most.min(entries.len()));
    (entries, others)
}
