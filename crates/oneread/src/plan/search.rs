//! The least number that serves, by halving, where all larger ones serve too.

/// Finds the least number from `low` + 1 to `high` that serves. All from some number on must serve,
/// including `high`.
pub(super) fn least(mut low: u64, mut high: u64, mut serves: impl FnMut(u64) -> bool) -> u64 {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        *(if serves(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

/// Like [`least`], but starts near a guess and moves away by steps that grow by a factor; `None` if
/// `most` does not serve.
pub(super) fn least_near(
    guess: u64,
    first_step: u64,
    factor: u64,
    most: u64,
    mut serves: impl FnMut(u64) -> bool,
) -> Option<u64> {
    let guess = guess.clamp(1, most);
    let mut step = first_step.max(1);
    if serves(guess) {
        let mut high = guess;
        loop {
            let next = high.saturating_sub(step);
            if next == 0 || !serves(next) {
                return Some(least(next, high, serves));
            }
            (high, step) = (next, step.saturating_mul(factor));
        }
    }
    let mut low = guess;
    while low < most {
        let next = low.saturating_add(step).min(most);
        if serves(next) {
            return Some(least(low, next, serves));
        }
        (low, step) = (next, step.saturating_mul(factor));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_serves_is_found_from_any_guess() {
        for threshold in [1, 2, 3, 17, 255, 256, 1000] {
            for guess in [1, 2, 16, 255, 300, 1000, 5000] {
                assert_eq!(
                    least_near(guess, guess / 256, 4, 1000, |number| number >= threshold),
                    Some(threshold)
                );
            }
        }
        assert_eq!(least_near(5, 1, 2, 1000, |_| false), None);
    }
}
