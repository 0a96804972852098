//! Locations on a polynomial in i, stepped by its differences: double hashing and its relatives.
//!
//! Location i of each scheme here is a polynomial in i, of degree 1 to 3, modulo m. Its value and
//! its forward differences at 0 determine it, and adding each difference to the one before it steps
//! from i to i + 1 (Newton). So one loop of additions serves all schemes. A scheme is its
//! differences at 0: some from the digest, plus fixed ones.
//!
//! ```text
//!                         value   1st      2nd   3rd
//! double                  h1      h2       0     0
//! + i²      0 1 4 9 …     h1      h2 + 1   2     0
//! + i³      0 1 8 27 …    h1      h2 + 1   6     6
//! enhanced  0 0 1 4 10 …  h1      h2       1     1
//! triple                  h1      h2       h3    0
//! quadruple               h1      h2       h3    h4
//! ```

use super::super::{Digest, Domain, reduce};
use super::{Parameters, ProbeError, Scheme};

/// The highest degree of a scheme's polynomial.
const DEGREE: usize = 3;

/// Locations on a polynomial of degree at most three, with `WORDS` differences drawn from the
/// digest and `FIRST`, `SECOND` and `THIRD` added to its differences at 0. Use its named forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrence<const WORDS: usize, const FIRST: u64, const SECOND: u64, const THIRD: u64> {
    parameters: Parameters,
    /// The fixed part of the differences, modulo the size.
    fixed: [u64; DEGREE + 1],
}

/// h1 + i·h2: two hash functions do the work of k.
///
/// If h2 = 0, all locations of a digest are the same; the paper's analysis allows it.
pub type Double = Recurrence<2, 0, 0, 0>;

/// h1 + i·h2 + i²: the extended double hashing of less-hashing's section 4.2, with f(i) = i².
pub type ExtendedSquare = Recurrence<2, 1, 2, 0>;

/// h1 + i·h2 + i³: extended double hashing with f(i) = i³.
pub type ExtendedCube = Recurrence<2, 1, 6, 6>;

/// h1 + i·h2 + (i³ − i)/6: Dillinger and Manolios' enhanced double hashing, whose step grows by i.
pub type Enhanced = Recurrence<2, 0, 1, 1>;

/// h1 + i·h2 + i(i−1)/2·h3: triple hashing, in which a third function accelerates the step.
pub type Triple = Recurrence<3, 0, 0, 0>;

/// h1 + i·h2 + i(i−1)/2·h3 + i(i−1)(i−2)/6·h4: like [`Triple`], and a fourth function changes the
/// acceleration.
pub type Quadruple = Recurrence<4, 0, 0, 0>;

impl<const WORDS: usize, const FIRST: u64, const SECOND: u64, const THIRD: u64>
    Recurrence<WORDS, FIRST, SECOND, THIRD>
{
    /// The degree of the polynomial. Differences beyond it are 0, and the loop is unrolled up to
    /// it.
    const DEGREE: usize = match (WORDS, SECOND, THIRD) {
        (4.., _, _) => 3,
        (_, _, 1..) => 3,
        (3, _, _) => 2,
        (_, 1.., _) => 2,
        _ => 1,
    };
}

impl<const WORDS: usize, const FIRST: u64, const SECOND: u64, const THIRD: u64> Scheme
    for Recurrence<WORDS, FIRST, SECOND, THIRD>
{
    const NAME: &'static str = match (WORDS, FIRST, SECOND, THIRD) {
        (2, 0, 0, 0) => "double",
        (2, 1, 2, 0) => "extended-square",
        (2, 1, 6, 6) => "extended-cube",
        (2, 0, 1, 1) => "enhanced",
        (3, 0, 0, 0) => "triple",
        (4, 0, 0, 0) => "quadruple",
        _ => "recurrence",
    };

    fn new(domain: Domain, hashes: u32, size: u64) -> Result<Self, ProbeError> {
        const { assert!(1 <= WORDS && WORDS <= DEGREE + 1, "a polynomial of degree 3 has four differences") };
        let parameters = Parameters::new(domain, hashes, size)?;
        Ok(Self { parameters, fixed: [0, FIRST % size, SECOND % size, THIRD % size] })
    }

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    #[inline(always)]
    fn locations(&self, digest: Digest) -> impl ExactSizeIterator<Item = u64> {
        let Parameters { domain, hashes, size } = self.parameters;
        let mut differences = self.fixed;
        for (index, difference) in differences.iter_mut().enumerate().take(WORDS) {
            let hash = reduce(digest.word(domain, index as u32), size);
            *difference = add_modulo(hash, *difference, size);
        }
        (0..hashes).map(move |_| {
            let location = differences[0];
            for order in 0..Self::DEGREE {
                differences[order] = add_modulo(differences[order], differences[order + 1], size);
            }
            location
        })
    }
}

/// The sum modulo `size` of two numbers below it; `size` is at most 2^63, so nothing overflows.
#[inline(always)]
pub(super) fn add_modulo(a: u64, b: u64, size: u64) -> u64 {
    let sum = a + b;
    // The smaller of the two: if the sum is below the size, subtracting wraps to a huge number.
    sum.min(sum.wrapping_sub(size))
}
