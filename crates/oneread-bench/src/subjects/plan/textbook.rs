//! The recursion of appendix III-A as printed: item by item, over all items, from the first level
//! to the last.
//!
//! Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008. Two things are not in
//! the text. Probabilities below 1e-80 are dropped; without that, no plan of 100,000 items would
//! end. And the crisis probability is the sum over one or more items without room. The code is
//! still fast: its loop has no divisions, and the compiler vectorizes it.

/// Smaller probabilities are dropped at both ends of a distribution.
const NEGLIGIBLE: f64 = 1e-80;

/// The probability that any of `items` items finds no room in levels of `levels[i]` buckets with
/// one slot each.
pub(super) fn crisis_probability(levels: &[u64], items: u64) -> f64 {
    let mut given = vec![0.0; items as usize + 1];
    given[items as usize] = 1.0;
    for &buckets in levels {
        given = passed_on(&given, buckets as usize);
    }
    given[1..].iter().sum()
}

/// The distribution of the number of items that a level passes on because their bucket was taken;
/// `given` is the distribution of the number that arrive.
fn passed_on(given: &[f64], buckets: usize) -> Vec<f64> {
    let most = given.iter().rposition(|probability| *probability >= NEGLIGIBLE).unwrap_or(0);
    // The probability that an item finds its bucket taken, or free, by the number of taken buckets.
    let most_taken = most.min(buckets);
    let taken: Vec<_> = (0..=most_taken).map(|count| count as f64 / buckets as f64).collect();
    let free: Vec<_> = taken.iter().map(|taken| 1.0 - taken).collect();

    // After `come` items, `now[low..=high]` is the distribution of the number of taken buckets.
    let (mut now, mut next) = (vec![0.0; most_taken + 1], vec![0.0; most_taken + 1]);
    let (mut low, mut high) = (0, 0);
    now[0] = 1.0;
    let mut sums = vec![0.0; most + 1];
    for come in 0..=most {
        if given[come] >= NEGLIGIBLE {
            // Of `come` items, those that took no bucket are passed on.
            for (sum, probability) in sums[come - high..=come - low].iter_mut().rev().zip(&now[low..=high]) {
                *sum += given[come] * probability;
            }
        }
        if high < most_taken {
            high += 1;
            now[high] = 0.0;
        }
        next[low] = now[low] * taken[low];
        let stays = now[low + 1..=high].iter().zip(&taken[low + 1..=high]);
        let grows = now[low..high].iter().zip(&free[low..high]);
        for ((next, (p, taken)), (q, free)) in next[low + 1..=high].iter_mut().zip(stays).zip(grows) {
            *next = p * taken + q * free;
        }
        (now, next) = (next, now);
        while low < high && now[low] < NEGLIGIBLE {
            low += 1;
        }
        while high > low && now[high] < NEGLIGIBLE {
            high -= 1;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::crisis_probability;

    #[test]
    fn small_tables_are_as_counted_by_hand() {
        // Two items, one level of four buckets: the same bucket with probability 1/4.
        assert!((crisis_probability(&[4], 2) - 0.25).abs() < 1e-15);
        // Three items, two buckets and then one. With probability 1/4 all three pick the same
        // bucket: two are passed on, and one finds no room. Otherwise one is passed on and finds
        // room.
        assert!((crisis_probability(&[2, 1], 3) - 0.25).abs() < 1e-15);
        assert_eq!(crisis_probability(&[2, 1], 1), 0.0);
    }

    #[test]
    fn the_papers_table_has_the_papers_crises() {
        // Section IX: less than 1.01e-12.
        let crisis = crisis_probability(&[40_000, 10_000, 5_000, 2_500, 2_500], 10_000);
        assert!((1.0e-12..1.01e-12).contains(&crisis), "{crisis:e}");
    }
}
