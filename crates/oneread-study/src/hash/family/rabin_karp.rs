//! Rabin–Karp: finds a string with the rolling hash of a window.
//!
//! # Invariants
//! 1. While positions remain, the window of `Matches` holds as many bytes as the needle, from the
//!    next position on.
//! 2. A position is returned only after its bytes were compared with the needle.

use core::iter::FusedIterator;
use core::ops::Range;

use rand_core::Rng;

use super::field::check_parameter;
use super::{FamilyError, Mersenne61, PrimeField, RollingWindow};

/// Finds all occurrences of a string in a text, including overlapping ones, with the hash of a
/// rolling window.
///
/// The answer is always right, because equal hashes only lead to a comparison of the bytes. Chance
/// affects only the time.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Rolling hashes from polynomials" and exercise
/// 10, with the hash taken in Zₚ for p = 2^61 − 1 rather than reduced to m buckets.
///
/// # Costs
/// For a needle of d bytes in a haystack of n bytes, with k occurrences: two multiplications per
/// byte and d comparisons per occurrence. By the (d − 1)-universality of R, there are at most n·(d
/// − 1)/p false alarms in expectation, with at most d comparisons each. That is O(n + d·k) in
/// expectation while d² < p.
///
/// # Limits
/// The expectation is over the drawn point, for texts that do not depend on it. Faster searches
/// exist (the two-way algorithm with vector instructions, as in `memchr`); this one demonstrates
/// the idea.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::RabinKarp;
/// use rand_core::SeedableRng;
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let search = RabinKarp::new(b"ana", &mut rng);
/// assert_eq!(search.find(b"apple"), None);
/// assert_eq!(search.find(b"banana"), Some(1));
/// assert_eq!(search.find_all(b"banana").collect::<Vec<_>>(), [1, 3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RabinKarp<'n> {
    needle: &'n [u8],
    needle_hash: u64,
    empty: RollingWindow<Mersenne61>,
}

impl<'n> RabinKarp<'n> {
    /// A search for `needle` with a random point.
    ///
    /// The empty needle occurs at every position, including the end of the haystack, as for
    /// [`str::match_indices`].
    pub fn new<R: Rng + ?Sized>(needle: &'n [u8], rng: &mut R) -> Self {
        Self::at(needle, Mersenne61.draw_element(rng))
    }

    /// A search for `needle` with the given point of the field modulo 2^61 − 1.
    ///
    /// # Errors
    /// [`FamilyError::OutsideField`] if the point is not below 2^61 − 1.
    pub fn with_point(needle: &'n [u8], point: u64) -> Result<Self, FamilyError> {
        check_parameter(Mersenne61, point)?;
        Ok(Self::at(needle, point))
    }

    fn at(needle: &'n [u8], point: u64) -> Self {
        let empty = RollingWindow::empty(Mersenne61, point);
        Self { needle, needle_hash: fill(empty, needle).value(), empty }
    }

    /// The first occurrence in the haystack.
    pub fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.find_all(haystack).next()
    }

    /// The positions of all occurrences in the haystack, in ascending order.
    pub fn find_all<'h>(&self, haystack: &'h [u8]) -> Matches<'n, 'h> {
        // A slice has at most isize::MAX bytes: adding 1 cannot overflow.
        let positions = 0..(haystack.len() + 1).saturating_sub(self.needle.len());
        let first = haystack.get(..self.needle.len()).unwrap_or(&[]);
        Matches { search: *self, haystack, positions, window: fill(self.empty, first), false_alarms: 0 }
    }
}

fn fill(mut window: RollingWindow<Mersenne61>, bytes: &[u8]) -> RollingWindow<Mersenne61> {
    for &byte in bytes {
        window.push_element(byte.into());
    }
    window
}

/// The positions of all occurrences; made by [`RabinKarp::find_all`].
#[derive(Debug, Clone)]
pub struct Matches<'n, 'h> {
    search: RabinKarp<'n>,
    haystack: &'h [u8],
    positions: Range<usize>,
    window: RollingWindow<Mersenne61>,
    false_alarms: u64,
}

impl Matches<'_, '_> {
    /// The number of windows so far with the needle's hash but other bytes.
    pub fn false_alarms(&self) -> u64 {
        self.false_alarms
    }
}

impl Iterator for Matches<'_, '_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let length = self.search.needle.len();
        loop {
            let position = self.positions.next()?;
            let hit = self.window.value() == self.search.needle_hash;
            if !self.positions.is_empty() {
                let (oldest, newest) = (self.haystack[position], self.haystack[position + length]);
                self.window.slide_elements(oldest.into(), newest.into());
            }
            if hit {
                if self.haystack[position..position + length] == *self.search.needle {
                    return Some(position);
                }
                self.false_alarms += 1;
            }
        }
    }
}

impl FusedIterator for Matches<'_, '_> {}
