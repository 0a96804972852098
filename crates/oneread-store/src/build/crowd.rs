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
/// levels. Among few pages, some of them share all pages with a crowd by chance: as many records as
/// chance brings together stay, those first that share their pages with the fewest others among
/// `most`.
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
        // Those that are there by chance are hardly ever more than two deviations above the mean,
        // and so many are far below the limit.
        let stay = if pages < most { (mean + 2.0 * mean.sqrt()).ceil() as usize } else { 0 };
        let fine = shape.levels(most as u32);
        let counts = count(crowds.values().flatten().map(|&number| &entries[number]), fine);
        let mut crowded = Vec::new();
        for mut numbers in crowds.into_values() {
            // They come by digests, so that the result depends on nothing else.
            numbers.sort_by_key(|&number| counts[&choice(&entries[number], fine)]);
            crowded.extend_from_slice(&numbers[stay..]);
        }
        crowded.sort_unstable();
        return crowded;
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

#[cfg(test)]
mod tests {
    use oneread::hash::{Digest, Digester};
    use oneread_study::hash::Ideal;

    use super::*;
    use crate::digest::Portable;

    fn entry(digest: Digest) -> Entry {
        Entry { digest, segment: 0, start: 0, length: 250 }
    }

    /// In a segment of 7 pages, a crowd took all keys with it that shared its pages by chance: in a
    /// live store, 241 hits of other keys took 243 pages.
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
        // Nearly all of the crowd goes: those stay that could be there by chance.
        assert!(of_crowd >= TRIALS * (CROWD - 10), "{of_crowd}");
        // Others go if they share a choice among `most` pages with the crowd too. That has at most
        // 16 such choices: two pages in the first level, four in the second, two in the third. So
        // the number of others that go is at most a Poisson number of this mean, above which six
        // deviations are exceeded with a chance below 1e-6.
        assert_eq!(shape.levels(most as u32), [88, 25, 7]);
        let mean = (TRIALS * OTHERS * 16) as f64 / f64::from(88 * 25 * 7);
        assert!((of_others as f64) <= mean + 6.0 * mean.sqrt(), "{of_others}, {mean} expected at most");
    }
}
