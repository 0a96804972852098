//! Finds the records that cannot all lie in a segment's levels, whatever its size. They go to
//! overflow pages.
//!
//! Random digests almost never come here. A false alarm costs little: with a single overflow page,
//! a lookup of its keys still reads one page.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::format::geometry::{self, LEVELS, Shape};
use crate::format::guide::Form;

use super::group::Entry;

/// The page of a record in each level, or [`NO_PAGE`].
type Choice = [u32; LEVELS];

/// Stands for the page in a level without pages.
const NO_PAGE: u32 = u32::MAX;

fn choice(entry: &Entry, levels: [u32; LEVELS]) -> Choice {
    std::array::from_fn(|level| match levels[level] {
        0 => NO_PAGE,
        pages => geometry::page(entry.digest, level, pages),
    })
}

/// Separates records with a unique digest from the others, since a guide cannot tell keys with
/// equal digests apart. `entries` is sorted by digest.
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

/// An upper bound on a Poisson count with this `mean`, exceeded with a chance below 1e-12: eight
/// deviations, and some more for small means.
fn by_chance(mean: f64) -> f64 {
    mean + 8.0 * mean.sqrt() + 12.0
}

/// Counts the records with each choice of pages.
fn count<'a>(entries: impl Iterator<Item = &'a Entry>, levels: [u32; LEVELS]) -> HashMap<Choice, u32> {
    let mut counts = HashMap::new();
    entries.for_each(|entry| *counts.entry(choice(entry, levels)).or_default() += 1);
    counts
}

/// The indices of records that share all their pages with more others than chance explains.
///
/// Looks at a segment of `most` pages first, then at smaller ones: with more pages, fewer records
/// share theirs by chance. So records that do not collide by choice stay in the levels. Among few
/// pages, some of them share all pages with a crowd by chance. As many records as chance explains
/// stay: first those that share their pages with the fewest others among `most`.
pub(super) fn crowded(entries: &[Entry], shape: Shape, least: u64, most: u64) -> Vec<usize> {
    for pages in [most, 2 * least, least] {
        let levels = shape.levels(pages.min(most) as u32);
        let choices: f64 = levels.iter().map(|&pages| f64::from(pages.max(1))).product();
        let mean = entries.len() as f64 / choices;
        let limit = by_chance(mean);
        let counts = count(entries.iter(), levels);
        let mut crowds: HashMap<Choice, Vec<usize>> = HashMap::new();
        for (number, entry) in entries.iter().enumerate() {
            let choice = choice(entry, levels);
            if f64::from(counts[&choice]) > limit {
                crowds.entry(choice).or_default().push(number);
            }
        }
        if crowds.is_empty() {
            continue;
        }
        // Groups that arise by chance are almost never more than two deviations above the mean; a
        // group of this size is far below the limit.
        let stay = if pages < most { (mean + 2.0 * mean.sqrt()).ceil() as usize } else { 0 };
        let fine = shape.levels(most as u32);
        let counts = count(crowds.values().flatten().map(|&number| &entries[number]), fine);
        let mut crowded = Vec::new();
        for mut numbers in crowds.into_values() {
            // Entries are sorted by digest, so the result depends on nothing else.
            numbers.sort_by_key(|&number| counts[&choice(&entries[number], fine)]);
            crowded.extend_from_slice(&numbers[stay..]);
        }
        crowded.sort_unstable();
        return crowded;
    }
    Vec::new()
}

/// The most keys of one guide when guides have `mean` keys on average: what the guide can tell
/// apart, or what chance explains, whichever is larger.
pub(crate) fn most_keys(form: Form, mean: f64) -> u32 {
    form.most_keys().max(by_chance(mean) as u32)
}

/// Splits the records of one guide: keeps at most `most`, and returns as second those that share
/// all their pages with the most others.
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

#[cfg(test)]
mod tests {
    use oneread::hash::{Digest, Digester};
    use oneread_study::hash::Ideal;

    use super::*;
    use crate::digest::Portable;

    fn entry(digest: Digest) -> Entry {
        Entry { digest, segment: 0, start: 0, length: 250 }
    }

    /// A crowd once took along all keys that shared its pages by chance. In a segment of 7 pages of
    /// a live store, 241 hits of other keys then read 243 pages.
    #[test]
    fn keys_that_share_the_pages_of_a_crowd_by_chance_stay() {
        const CROWD: u64 = 48;
        const OTHERS: u64 = 37;
        const TRIALS: u64 = 200;
        let (shape, least, most) = (Shape::THREE[1], 7, 120);
        let colliding = Portable::with_seed(1);
        let (mut of_crowd, mut of_others) = (0, 0u64);
        for trial in 0..TRIALS {
            let source = Ideal::with_seed(trial);
            let crowd: Vec<_> =
                (0..CROWD).map(|key| colliding.digest(format!("crowd {key}").as_bytes())).collect();
            let others = (0..OTHERS).map(|key| source.digest(&key));
            let mut entries: Vec<_> = crowd.iter().copied().chain(others).map(entry).collect();
            entries.sort_unstable_by_key(|entry| entry.digest);
            for number in crowded(&entries, shape, least, most) {
                let is_of_crowd = crowd.contains(&entries[number].digest);
                *(if is_of_crowd { &mut of_crowd } else { &mut of_others }) += 1;
            }
        }
        // Almost all of the crowd goes; what chance explains stays.
        assert!(of_crowd >= TRIALS * (CROWD - 10), "{of_crowd}");
        // Other records go if they share a choice among `most` pages with the crowd. The crowd has
        // at most 16 such choices: two pages in the first level, four in the second, two in the
        // third. So their number is at most Poisson with this mean, and six deviations above it are
        // exceeded with a chance below 1e-6.
        assert_eq!(shape.levels(most as u32), [88, 25, 7]);
        let mean = (TRIALS * OTHERS * 16) as f64 / f64::from(88 * 25 * 7);
        assert!((of_others as f64) <= mean + 6.0 * mean.sqrt(), "{of_others}, {mean} expected at most");
    }
}
