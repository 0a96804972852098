//! Owned words, shared words and words in somebody else's bytes read alike.

use oneread::bits::{AtomicWords, Line, Lines, LittleEndian, OutOfMemory, Words};
use proptest::prelude::*;

/// Reads everything, in every way.
fn reads(words: &impl Words, expected: &[u64]) {
    assert_eq!(words.len(), expected.len());
    assert_eq!(words.is_empty(), expected.is_empty());
    for (at, &word) in expected.iter().enumerate() {
        assert_eq!(words.word(at), word, "word {at}");
        words.prefetch(at);
    }
    // Prefetching beyond the end does nothing.
    words.prefetch(expected.len());
    words.prefetch(usize::MAX);
    assert_eq!(words.count_ones(), expected.iter().map(|word| u64::from(word.count_ones())).sum::<u64>());
}

fn reads_lines(lines: &impl Lines, expected: &[u64]) {
    for (at, line) in expected.chunks_exact(Line::WORDS).enumerate() {
        lines.read_line(at, |found| assert_eq!(found.0, line, "line {at}"));
        lines.prefetch_line(at);
    }
}

proptest! {
    #[test]
    fn all_storages_hold_the_same_words(words in prop::collection::vec(any::<u64>(), 0..40), offset in 0usize..8) {
        reads(&words, &words);
        let atomic = AtomicWords::from(&*words);
        reads(&atomic, &words);
        reads_lines(&atomic, &words);
        reads(&atomic.clone(), &words);
        prop_assert_eq!(Vec::from(&atomic), words.clone());
        // Bytes at any address, with a partial word at the end.
        let mut bytes = vec![0xaa; offset];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(vec![0xaa; offset]);
        let view = LittleEndian::new(&bytes[offset..]);
        reads(&view, &words);
        reads_lines(&view, &words);
        prop_assert_eq!(view.as_bytes(), &bytes[offset..bytes.len() - offset]);
        for at in 0..=words.len() {
            let (head, tail) = view.split(at as u64).unwrap();
            reads(&head, &words[..at]);
            reads(&tail, &words[at..]);
        }
        prop_assert!(view.split(words.len() as u64 + 1).is_none() && view.split(u64::MAX).is_none());
        let lines: Vec<Line> = words.as_chunks().0.iter().map(|line| Line(*line)).collect();
        reads(&lines, &words[..lines.len() * Line::WORDS]);
        reads_lines(&lines, &words);
    }

    #[test]
    fn atomic_bits_are_set_and_stay(locations in prop::collection::vec(0u64..1280, 0..200)) {
        let mut model = [0u64; 20];
        let mut words = AtomicWords::from(&model[..]);
        for location in locations {
            let (at, bit) = ((location / 64) as usize, 1 << (location % 64));
            prop_assert_eq!(words.set_bit(location), model[at] & bit != 0);
            model[at] |= bit;
            prop_assert!(words.set_bit(location), "set already");
        }
        reads(&words, &model);
        words.clear();
        reads(&words, &[0; 20]);
    }
}

#[test]
fn lines_begin_at_cache_lines() {
    assert_eq!((size_of::<Line>(), align_of::<Line>()), (64, 64));
    assert_eq!((Line::WORDS, Line::BYTES), (8, 64));
}

#[test]
fn out_of_memory_says_what_was_asked_for() {
    assert_eq!(OutOfMemory { bytes: 7 }.to_string(), "there is no memory for 7 bytes: use a smaller layout");
}
