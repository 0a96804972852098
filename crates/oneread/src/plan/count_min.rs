//! The error of a count-min sketch, with independent rows and with rows made of two words.
//!
//! Letters in the formulas: d rows of w counters; counts a(x) ≥ 0 of items x, N in all. The
//! estimate of an item y is the least of its d counters. In row i, y's counter is too high by Z(i),
//! the counts of the other items that share it. The estimate is never too low, and too high by the
//! least Z(i). A conservative update never makes an estimate larger than a plain one, so that all
//! bounds hold for it too.
//!
//! # Independent rows
//! An item shares y's counter in row i with probability 1/w, so E[Z(i)] ≤ N/w and, by Markov,
//! Pr(Z(i) > ε·N) ≤ 1/(εw). All rows fail at once with probability at most (1/(εw))^d; with w =
//! ⌈e/ε⌉ and d = ⌈ln(1/δ)⌉ this is at most e^(−d) ≤ δ.
//!
//! # Two words
//! Row i at h1 + i·h2 mod w, for two independent uniform words h1, h2 below w. "Less Hashing, Same
//! Performance" says that this works and leaves the proof to a technical report. The proof here is
//! ours.
//!
//! *One other item x.* Let u and v be the differences of its words from y's, modulo w. They are
//! uniform and independent, and x meets y in row i if and only if u + i·v = 0. So each row is met
//! with probability 1/w. If x meets y in the rows i and j, (i − j)·v = 0, which gcd(i − j, w)
//! values of v satisfy; each leaves one value of u: the probability is gcd(i − j, w)/w². If w has
//! no prime factor below d, each gcd is 1, then v = 0 and u = 0, and x meets y in *all* rows. So
//! the probability that x meets y in more than one row is at most G/w², where G = 1 if w has no
//! prime factor below d, and else G = Σ over pairs of rows of gcd(i − j, w).
//!
//! *All items.* Let F be the counts of all items that meet y in more than one row, and Z′(i) the
//! counts of those that meet it in row i alone: Z(i) ≤ F + Z′(i). For each x, at most one of the d
//! indicators "meets y in row i alone" is 1, so that they are negatively associated (zero-one
//! lemma). Indicators of different items are independent, so all together are negatively
//! associated. The Z′(i) are increasing functions of disjoint sets of them, so that they are
//! negatively associated too: Dubhashi, Ranjan, "Balls and Bins: A Case Study in Negative
//! Dependence", 1998. Therefore Pr(all Z′(i) > s) ≤ Π Pr(Z′(i) > s) ≤ (N/(ws))^d: for the part Z′,
//! two words are as good as d.
//!
//! *Together.* Two bounds follow, for n other items:
//! - F > 0 has probability at most n·G/w², and without it all Z′(i) > ε·N: Pr(fail) ≤ n·G/w² +
//!   (1/(εw))^d.
//! - For any share s of ε that we give to F, by Markov: Pr(fail) ≤ G/(s·ε·w²) + (1/((1 − s)·εw))^d.
//!   With s = 1/(d + 1) the second term is (1 + 1/d)^d < e times the one of independent rows,
//!   whatever n.
//!
//! *What this means.* Beyond what independent rows promise, two words fail with probability n/w²
//! or, with w = e/ε and any n, (d + 1)·ε/e² (where G = 1). Part of this is real: 1/ε items of
//! slightly more than ε·N each share all of y's counters with probability 1/(εw²) = ε/e², for any
//! number of rows. So two words suffice for δ well above ε, or for few items in wide rows; a
//! smaller δ needs independent rows. Theorem 1 of "Less Hashing" agrees in the limit: as n and w
//! grow together, the numbers of items that y meets in each row become independent.
//!
//! # Source
//! Cormode, Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
//! Applications",
//! 2005. Kirsch, Mitzenmacher, "Less Hashing, Same Performance: Building a Better Bloom Filter",
//!       2006, sections 1 and 7.

use core::f64::consts::E;

use crate::layout::{CountMinLayout, LayoutError, Quantity, check_fraction};

use super::float::{ceil, exp, ln};

/// Finds the layout whose estimates are more than ε·N too high with probability at most δ.
///
/// It has ⌈e/ε⌉ counters in each of ⌈ln(1/δ)⌉ independent rows. The probability is over the choice
/// of hash functions, for an item fixed beforehand. For rows made of two words, see
/// [`two_word_failure_bound`].
///
/// # Errors
/// If ε or δ is not between 0 and 1, if δ is below e^−64, or if there are too many counters.
///
/// # Example
/// ```
/// use oneread::plan::count_min;
///
/// assert!(count_min::for_error(0.01, 0.0).is_err());
/// let layout = count_min::for_error(0.01, 0.01)?;
/// assert_eq!((layout.width(), layout.depth()), (272, 5));
/// assert!(count_min::failure_bound(layout, 0.01) <= 0.01);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_error(epsilon: f64, delta: f64) -> Result<CountMinLayout, LayoutError> {
    check_fraction(Quantity::Epsilon, epsilon)?;
    check_fraction(Quantity::Delta, delta)?;
    // A float above the range becomes the largest number, which is still too large.
    CountMinLayout::new(ceil(E / epsilon) as u64, ceil(-ln(delta)) as u32)
}

/// A bound on the probability that an estimate is more than `epsilon`·N too high, with independent
/// rows: (1/(εw))^d.
///
/// It is Markov's bound and holds for any counts; usually it is far too high. It is at most 1, even
/// if `epsilon` is 0, negative or NaN. For an `epsilon` of 1 or more it still holds, though no
/// estimate is more than N too high.
#[must_use]
pub fn failure_bound(layout: CountMinLayout, epsilon: f64) -> f64 {
    all_rows_bound(layout, epsilon)
}

/// Like [`failure_bound`], but for row i at h1 + i·h2 mod w and `others` other items, as derived
/// [above](self).
///
/// The smaller of n·G/w² + (1/(εw))^d and (d + 1)·G/(ε·w²) + (1/((1 − 1/(d + 1))·εw))^d, and at
/// most 1. G is 1 if w has no prime factor below d (best: choose a prime), else it is larger.
/// Rigorous for any width, depth and counts. If the number of other items is unknown, pass
/// `u64::MAX`.
///
/// # Example
/// ```
/// use oneread::layout::CountMinLayout;
/// use oneread::plan::count_min;
///
/// // A prime width; independent rows promise e^-10 = 4.5e-5 for ε = 0.001.
/// let layout = CountMinLayout::new(2719, 10)?;
/// let independent = count_min::failure_bound(layout, 0.001);
/// let two_words = count_min::two_word_failure_bound(layout, 0.001, u64::MAX);
/// assert!(independent < 4.6e-5);
/// assert!(two_words > 1.5e-3 && two_words < 1.7e-3);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn two_word_failure_bound(layout: CountMinLayout, epsilon: f64, others: u64) -> f64 {
    if layout.depth() == 1 {
        return all_rows_bound(layout, epsilon);
    }
    let depth = f64::from(layout.depth());
    let width = layout.width() as f64;
    // Pr(an item meets y in more than one row) ≤ G/w².
    let shares_rows = pairs_of_shared_rows(layout) / width / width;
    let share = 1.0 / (depth + 1.0);
    let by_items = others as f64 * shares_rows + all_rows_bound(layout, epsilon);
    let by_counts = shares_rows / (share * epsilon) + all_rows_bound(layout, (1.0 - share) * epsilon);
    if epsilon > 0.0 { by_items.min(by_counts).min(1.0) } else { 1.0 }
}

/// (1/(εw))^d, at most 1.
fn all_rows_bound(layout: CountMinLayout, epsilon: f64) -> f64 {
    let one_row = 1.0 / (epsilon * layout.width() as f64);
    if epsilon > 0.0 && one_row < 1.0 { exp(f64::from(layout.depth()) * ln(one_row)) } else { 1.0 }
}

/// G: 1 if the width has no prime factor below the depth, else Σ over pairs of rows i < j of gcd(j
/// − i, w).
fn pairs_of_shared_rows(layout: CountMinLayout) -> f64 {
    let (width, depth) = (layout.width(), u64::from(layout.depth()));
    let differences = 1..depth;
    if differences.clone().all(|difference| gcd(difference, width) == 1) {
        return 1.0;
    }
    differences.map(|difference| ((depth - difference) * gcd(difference, width)) as f64).sum()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
