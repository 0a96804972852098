//! Restricted hashing: items that collide in a cell go on to few cells of the next level.
//!
//! The first level has as many cells as there are items, and each next level half as many as the
//! one before. A level is divided into l equal parts (two halves, with a fan-out of l = 2). A
//! cell's items go on to l cells of the next level, its children, one in each part; an item's own
//! child is drawn uniformly. A cell is the child of 2l cells, two of each part above it. Of the
//! items that reach a cell, one stays and the others go on; after the last level they go to the
//! stash.
//!
//! The number of items that reach a cell of the first level is binomial. The distributions in the
//! parts of one level determine those of the next. x items that reach a cell are divided among its
//! children, and one of them is kept. What goes to a child is summed over the 2l cells above it.
//! Cells are treated as independent, as in the paper (section IV-B): in a large table the cells
//! above a cell form a tree. The parts are alike unless ties go to the left, which relieves the
//! children in the first part.

use alloc::vec;
use alloc::vec::Vec;

use libm::{exp, log1p as ln_1p};
use oneread::layout::{Keep, MAX_PLACES, Ties};
use oneread::plan::OutOfRange;
use oneread::workspace::{check, convolution};

/// The most cells of the next level that a cell's items go on to.
pub const MAX_FANOUT: u32 = 8;

/// Smaller probabilities are left out, so that a stash below 1e-80 becomes 0.
const NEGLIGIBLE: f64 = 1e-100;

/// More items than this never reach a cell. Its factorial fits in a float.
const MAX_IN_CELL: usize = 150;

/// A table with restricted hashing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Restricted {
    /// The expected items of each level.
    pub expected: Vec<f64>,
    /// The expected items in the stash.
    pub expected_stash: f64,
}

/// Computes the table of section IV: `items` items, as many cells in the first level and half as
/// many in each next one. Each cell's items go on to `fanout` cells (ℓ in the paper).
///
/// The paper prints 0.618, 1.236 and 2.470 for the random policy with six levels, a fan-out of 2
/// and 8192, 16384 and 32768 items; this agrees within a third of a percent. For the greedy policy
/// it prints 0.0455, 0.0908 and 0.1815, which neither tie rule gives; the paper does not state its
/// rule.
///
/// # What is exact
/// The recursion is exact to rounding. Independence of cells is an approximation, as in the paper.
///
/// # Errors
/// If there are no items or more than 2^46, no levels, a last level without a whole cell,
/// or if the fan-out is 0 or above [`MAX_FANOUT`].
///
/// # Example
/// ```
/// use oneread::layout::{Keep, Ties};
/// use oneread_study::plan::moves::restricted;
///
/// let random = restricted(8192, 6, 2, Keep::Random)?.expected_stash;
/// let greedy = restricted(8192, 6, 2, Keep::Greedy(Ties::Random))?.expected_stash;
/// assert_eq!(format!("{random:.4} {greedy:.4}"), "0.6165 0.0281");
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn restricted(items: u64, levels: u32, fanout: u32, policy: Keep) -> Result<Restricted, OutOfRange> {
    check("items", items as f64, 1.0, MAX_PLACES as f64)?;
    check("levels", f64::from(levels), 1.0, f64::from(items.ilog2() + 1))?;
    check("fan-out", f64::from(fanout), 1.0, f64::from(MAX_FANOUT))?;
    let mut cells = items as f64;
    // One part stands for all, unless ties distinguish them.
    let apart = if policy == Keep::Greedy(Ties::Left) { fanout } else { 1 };
    let mut parts = vec![first_level(cells); apart as usize];
    let mut expected = vec![];
    for level in 0..levels {
        if level > 0 {
            parts = next_level(&parts, fanout, policy);
            cells /= 2.0;
        }
        expected.push(cells * mean(&parts, |coming| coming[1..].iter().sum()));
    }
    let left = |coming: &[f64]| (0..).map(f64::from).zip(&coming[1..]).map(|(left, p)| left * p).sum();
    Ok(Restricted { expected, expected_stash: cells * mean(&parts, left) })
}

/// The mean over the parts of a level.
fn mean(parts: &[Vec<f64>], of: impl Fn(&[f64]) -> f64) -> f64 {
    parts.iter().map(|coming| of(coming)).sum::<f64>() / parts.len() as f64
}

/// The distribution of the items that reach a cell of the first level: binomial, n trials at 1/n.
fn first_level(items: f64) -> Vec<f64> {
    if items == 1.0 {
        return vec![0.0, 1.0];
    }
    let mut probability = exp(items * ln_1p(-1.0 / items));
    let mut coming = vec![];
    for count in (0..).map(f64::from) {
        coming.push(probability);
        probability *= (items - count) / (count + 1.0) / (items - 1.0);
        if probability < NEGLIGIBLE {
            return coming;
        }
    }
    coming
}

/// The distributions of the items that reach a cell of each part of the next level, the child of
/// two cells of each part above. One part stands for all if they are alike.
fn next_level(parts: &[Vec<f64>], fanout: u32, policy: Keep) -> Vec<Vec<f64>> {
    let feeds = 2 * fanout / parts.len() as u32;
    let next = |child| {
        let mut sum = vec![1.0];
        for coming in parts {
            let mut passed = match policy {
                Keep::Random => passed_at_random(coming, fanout),
                Keep::Greedy(ties) => passed_greedily(coming, fanout, child, ties),
            };
            trim(&mut passed);
            for _ in 0..feeds {
                sum = convolution(&sum, &passed);
                trim(&mut sum);
            }
        }
        // Otherwise a rounding error would grow by 2l at each level.
        let total: f64 = sum.iter().sum();
        sum.iter_mut().for_each(|probability| *probability /= total);
        sum
    };
    (0..parts.len() as u32).map(next).collect()
}

/// Leaves out the negligible upper end.
fn trim(distribution: &mut Vec<f64>) {
    distribution.truncate(MAX_IN_CELL + 1);
    while distribution.len() > 2 && distribution.last().is_some_and(|&last| last < NEGLIGIBLE) {
        distribution.pop();
    }
}

/// What a cell passes on to one of its children if it keeps any item: each other item is that
/// child's with probability 1/l.
fn passed_at_random(coming: &[f64], fanout: u32) -> Vec<f64> {
    let mut passed = vec![0.0; coming.len()];
    let own = 1.0 / f64::from(fanout);
    // The distribution of a child's items among those passed on.
    let mut of_child = vec![1.0];
    passed[0] += coming[0];
    for probability in &coming[1..] {
        for (sum, of_child) in passed.iter_mut().zip(&of_child) {
            *sum += probability * of_child;
        }
        of_child = convolution(&of_child, &[1.0 - own, own]);
    }
    passed
}

/// What a cell passes on to one of its children (from 0) if it keeps an item of the fullest child.
///
/// Of x items, a are the child's with probability x!/l^x · 1/a! · [z^(x−a)] Π over the others of Σ
/// z^b/b!. If one of these a is kept, the others have at most a; the tie rule decides among those
/// that have a too. Otherwise, an item of another child is kept. The difference of the two
/// probabilities keeps its digits: the same a is also passed on if a + 1 are the child's and one of
/// them is kept, which has at least a 2lx-th of the probability that a are.
fn passed_greedily(coming: &[f64], fanout: u32, child: u32, ties: Ties) -> Vec<f64> {
    let most = coming.len() - 1;
    let others = fanout - 1;
    let mut inverse_factorial = vec![1.0];
    for i in 1..=most {
        inverse_factorial.push(inverse_factorial[i - 1] / i as f64);
    }
    let any = power(&inverse_factorial, others, most);
    let mut passed = vec![0.0; most + 1];
    for own in 0..=most {
        let (fewer, as_many) = (&inverse_factorial[..own], &inverse_factorial[..=own]);
        let kept = match ties {
            // Children to the left have fewer.
            Ties::Left => product(&power(fewer, child, most), &power(as_many, others - child, most), most),
            // With t others that have as many, one in t + 1 is kept from this child.
            Ties::Random => {
                let mut sum = vec![0.0; most + 1];
                let mut choices = 1.0;
                for tied in 0..=others {
                    let start = own * tied as usize;
                    let rest = power(fewer, others - tied, most);
                    let weight = choices * pow(inverse_factorial[own], tied) / f64::from(tied + 1);
                    for (sum, rest) in sum.iter_mut().skip(start).zip(&rest) {
                        *sum += weight * rest;
                    }
                    choices *= f64::from(others - tied) / f64::from(tied + 1);
                }
                sum
            }
        };
        // x!/l^x, for x from `own`.
        let mut scale = 1.0;
        for x in 1..=own {
            scale *= x as f64 / f64::from(fanout);
        }
        for (rest, probability) in coming[own..].iter().enumerate() {
            let at = |polynomial: &[f64]| polynomial.get(rest).copied().unwrap_or(0.0);
            let (any, kept) = (at(&any), at(&kept));
            let weight = probability * scale * inverse_factorial[own];
            if own == 0 {
                passed[0] += weight * any;
            } else {
                passed[own - 1] += weight * kept;
                passed[own] += weight * (any - kept).max(0.0);
            }
            scale *= (own + rest + 1) as f64 / f64::from(fanout);
        }
    }
    passed
}

/// The product of two polynomials, up to a degree.
fn product(a: &[f64], b: &[f64], degree: usize) -> Vec<f64> {
    let mut product = convolution(a, b);
    product.truncate(degree + 1);
    product
}

/// The power of a polynomial, up to a degree.
fn power(polynomial: &[f64], exponent: u32, degree: usize) -> Vec<f64> {
    (0..exponent).fold(vec![1.0], |power, _| product(&power, polynomial, degree))
}

fn pow(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * base)
}
