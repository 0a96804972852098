//! Many keys at once: ask for all their memory before waiting for any of it.

use core::ops::Range;

use crate::hash::Digest;
use crate::hash::probes::AnyScheme;

/// Keys in flight. More do not help (a core has about this many outstanding cache misses), and these
/// digests still lie in the first-level cache.
pub(crate) const BATCH: usize = 32;

/// A structure below this size lies in a second-level cache, where asking costs more than waiting.
pub(crate) const CACHED_BYTES: usize = 1 << 19;

/// The same for filters with many lines a key, and for those that hardly compute. Below this size most lines come from a third-level cache, and a processor
/// waits for several at once, asked or not: with a million keys at 12 bits, asking for a Bloom filter's lines and gathering them took twice the
/// time of one key after the other (insertions 35 ns and 20, hits 44 and 21), and with 8 million half of it or less.
pub(crate) const NEARBY_BYTES: usize = 6 << 20;

/// Calls `work` with the items, at most [`BATCH`] at a time, in order; `filler` may be any value.
#[inline(always)]
pub(crate) fn in_batches_of<T: Copy>(items: impl Iterator<Item = T>, filler: T, mut work: impl FnMut(&[T])) {
    let mut batch = [filler; BATCH];
    let mut filled = 0;
    for item in items {
        batch[filled] = item;
        filled += 1;
        if filled == BATCH {
            work(&batch);
            filled = 0;
        }
    }
    if filled > 0 {
        work(&batch[..filled]);
    }
}

/// The same for digests.
#[inline(always)]
pub(crate) fn in_batches(digests: impl Iterator<Item = Digest>, work: impl FnMut(&[Digest])) {
    in_batches_of(digests, Digest::from_halves(0, 0), work);
}

/// Looks digests up, of which all locations must pass the test but the first `passed`, which did already; `ask` asks for a location to be brought near, and
/// `answer` gets the answers in order.
#[inline(always)]
pub(crate) fn contains_in_batches(
    scheme: &AnyScheme,
    passed: usize,
    digests: impl Iterator<Item = Digest>,
    ask: impl Fn(u64),
    test: impl Fn(u64) -> bool,
    mut answer: impl FnMut(bool),
) {
    // Most absent keys fail at one of the first two locations: ask for those of all keys, and for the others only of the keys that pass.
    let first = passed..passed + 2;
    let ask_for = |digest, which: Range<usize>| {
        let mut at = 0;
        scheme.all(digest, |location| {
            if which.contains(&at) {
                ask(location);
            }
            at += 1;
            at < which.end
        });
    };
    let first_pass = |digest| {
        let (mut pass, mut at) = (true, 0);
        scheme.all(digest, |location| {
            pass &= at < first.start || test(location);
            at += 1;
            at < first.end
        });
        pass
    };
    let others_pass = |digest| {
        let mut at = 0;
        scheme.all(digest, |location| {
            at += 1;
            at <= passed || test(location)
        })
    };
    in_batches(digests, |digests| {
        let mut passed = [false; BATCH];
        digests.iter().for_each(|&digest| ask_for(digest, first.clone()));
        for (passed, &digest) in passed.iter_mut().zip(digests) {
            *passed = first_pass(digest);
            if *passed {
                ask_for(digest, first.end..usize::MAX);
            }
        }
        for (passed, &digest) in passed.iter().zip(digests) {
            answer(*passed && others_pass(digest));
        }
    });
}
