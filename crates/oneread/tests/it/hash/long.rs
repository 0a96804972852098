//! The bounds on collisions of long strings, counted exhaustively for smaller words.

/// The number of keys, of `words` words with `bits` bits, under which these words and zeros
/// have the same digest.
///
/// This is the sum of long strings with smaller words. Adding to a key what is added to its word
/// changes no product, and check words are linear. So the count for two strings depends only on the
/// differences of their words, and zeros can be one of the two.
fn keys_under_which_words_collide_with_zeros(words: &[u64], bits: u32) -> u64 {
    let (mask, square_mask) = ((1 << bits) - 1, (1 << (2 * bits)) - 1);
    let digest = |words: &mut dyn Iterator<Item = u64>, keys: u64| {
        let (mut products, mut check, mut at) = (0u64, 0u64, 0);
        while let (Some(a), Some(b)) = (words.next(), words.next()) {
            let key = |at: u32| keys >> (at * bits) & mask;
            products += ((a + key(at)) & mask) * ((b + key(at + 1)) & mask);
            check = 9 * check + 3 * a + b;
            at += 2;
        }
        (products + ((check & mask) << bits)) & square_mask
    };
    let all_keys = 0..1 << (words.len() as u32 * bits);
    let zeros = |keys| digest(&mut words.iter().map(|_| 0), keys);
    all_keys.filter(|&keys| digest(&mut words.iter().copied(), keys) == zeros(keys)).count() as u64
}

#[test]
#[cfg_attr(miri, ignore = "too many keys for an interpreter")]
fn scaled_down_no_pair_collides_more_often_than_the_words_allow() {
    // The proved bound: one in 2^bits of all keys, and none if only one word differs.
    for (count, bits) in [(2, 5), (4, 3)] {
        let word = |number: u64, at: u32| number >> (at * bits) & ((1 << bits) - 1);
        for number in 1..1u64 << (count * bits) {
            let words: Vec<u64> = (0..count).map(|at| word(number, at)).collect();
            let collisions = keys_under_which_words_collide_with_zeros(&words, bits);
            assert!(collisions <= 1 << ((count - 1) * bits), "{words:?}: {collisions}");
            if words.iter().filter(|&&word| word != 0).count() == 1 {
                assert_eq!(collisions, 0, "{words:?}");
            }
        }
    }
}
