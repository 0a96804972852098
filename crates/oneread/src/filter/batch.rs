//! Many keys at once: ask for all their memory before waiting for any of it.

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
    // Most absent keys fail at one of the first two locations: ask for those of all keys, and for the others only of the keys that pass. (Asking for
    // two more before the rest took as long for absent keys, and half as long again for others.)
    let ask_for_first = |digest| {
        let (mut first, mut at) = ([0; 2], 0);
        scheme.all(digest, |location| {
            // With one location only, twice that.
            first = [if at == 0 { location } else { first[1] }, location];
            if at >= passed {
                ask(location);
            }
            at += 1;
            at < passed + 2
        });
        first
    };
    let ask_for_others = |digest| {
        let mut at = 0;
        scheme.all(digest, |location| {
            if at >= passed + 2 {
                ask(location);
            }
            at += 1;
            true
        });
    };
    let others_pass = |digest| {
        let mut at = 0;
        scheme.all(digest, |location| {
            at += 1;
            at <= passed + 2 || test(location)
        })
    };
    in_batches(digests, |digests| {
        let mut first = [[0; 2]; BATCH];
        for (first, &digest) in first.iter_mut().zip(digests) {
            *first = ask_for_first(digest);
        }
        // Without a branch, which one key in four would take, and from the locations as they were asked for: with 10 million keys at 12 bits,
        // lookups of absent ones took 28 ns with a branch and each location worked out again, and 25 to 26 this way.
        let (mut left, mut count) = ([0u8; BATCH], 0);
        for (key, &[one, other]) in first[..digests.len()].iter().enumerate() {
            left[count] = key as u8;
            count += usize::from(test(one) & test(other));
        }
        let left = &left[..count];
        left.iter().for_each(|&key| ask_for_others(digests[usize::from(key)]));
        const { assert!(BATCH <= u32::BITS as usize) };
        let mut found = 0u32;
        for &key in left {
            found |= u32::from(others_pass(digests[usize::from(key)])) << key;
        }
        (0..digests.len()).for_each(|key| answer(found >> key & 1 == 1));
    });
}
