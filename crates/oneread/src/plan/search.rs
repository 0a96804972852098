//! The least number that serves, by halving, where all larger ones serve too.

use alloc::vec::Vec;

use super::float::{ceil, exp, floor, ln};

/// Finds the least number from `low` + 1 to `high` that serves. All from some number on must serve,
/// including `high`.
pub fn least(mut low: u64, mut high: u64, mut serves: impl FnMut(u64) -> bool) -> u64 {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        *(if serves(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

/// Like [`least`], but starts near a guess and moves away by steps that grow by a factor; `None` if
/// `most` does not serve.
pub fn least_near(
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

/// Rounds up to four digits, so that the printed number still meets the target.
#[must_use]
pub fn rounded_up(number: f64) -> f64 {
    if number <= 0.0 || !number.is_finite() {
        return number;
    }
    let unit = exp(core::f64::consts::LN_10 * (floor(ln(number) / core::f64::consts::LN_10) - 3.0));
    // Rounds up even a number that is round but for its last bits: the target must be met.
    ceil(number * (1.0 + 1e-9) / unit) * unit
}

/// Finds the least value from `asked` on that meets all targets, to three digits; `None` if `most`
/// does not. Larger values must be easier.
pub fn least_possible<E>(
    asked: f64,
    most: f64,
    mut serves: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    const PRECISION: f64 = 1e-3;
    let (mut low, mut high) = (ln(asked), ln(most));
    if low >= high || !serves(most)? {
        return Ok(None);
    }
    while high - low > PRECISION {
        let middle = low + (high - low) / 2.0;
        *(if serves(exp(middle))? { &mut high } else { &mut low }) = middle;
    }
    Ok(Some(rounded_up(exp(high))))
}

/// Splits off the first result from the others within a limit. Returns the first alone as an error
/// if it exceeds the limit.
pub fn first_within<P>(mut found: Vec<P>, fits: impl Fn(&P) -> bool) -> Result<(P, Vec<P>), Option<P>> {
    if !found.first().is_some_and(&fits) {
        return Err(found.into_iter().next());
    }
    let best = found.remove(0);
    found.retain(fits);
    Ok((best, found))
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
