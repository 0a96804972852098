//! The guarantees of families as values, and the lemmas that compute with them.

/// A c-universal family: two distinct keys share a bucket with probability at most c/m.
///
/// Every family is m-universal, since no probability is above 1; only c < m is a guarantee.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, first definition and lemma G.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Universal {
    /// How many times more likely a collision may be than for a random function.
    pub c: f64,
}

impl Universal {
    /// Lemma G: the guarantee of this family, with `range` values (r in the lecture), followed by
    /// an independent one with `buckets` values (m).
    ///
    /// A c-universal family followed by a (2, d)-independent one is (2, (c·m/r + 1)·d)-independent.
    /// If the outer family is only 1-independent, so is the composition, with the outer constant.
    ///
    /// # Example
    ///
    /// ```
    /// use oneread_study::hash::family::{Independent, Universal};
    ///
    /// // Scalar products (c = 1) followed by linear functions: d = 4 at worst, and r = p ≥ m.
    /// let outer = Independent { k: 2, c: 4.0 };
    /// assert_eq!(Universal { c: 1.0 }.then(100, outer, 100), Independent { k: 2, c: 8.0 });
    /// // With p ≥ 4m, d is 2 and the collisions of the first family hardly count.
    /// let outer = Independent { k: 2, c: 2.0 };
    /// assert_eq!(Universal { c: 1.0 }.then(400, outer, 100), Independent { k: 2, c: 2.5 });
    /// ```
    pub fn then(self, range: u128, outer: Independent, buckets: u128) -> Independent {
        if outer.k < 2 {
            return outer;
        }
        Independent { k: 2, c: (self.c * buckets as f64 / range as f64 + 1.0) * outer.c }
    }
}

/// A (k, c)-independent family: k distinct keys map to k given buckets with probability at most
/// c/m^k.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, second definition and lemmas M and K. Differs
/// from the notes in: a number of buckets that divides the range keeps the constants, since all
/// classes are then equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Independent {
    /// How many keys behave like independent ones.
    pub k: usize,
    /// How many times more likely an outcome may be than for a random function.
    pub c: f64,
}

impl Independent {
    /// The universality that follows from independence: c if k ≥ 2, else only the trivial m.
    pub fn universal(self, buckets: u128) -> Universal {
        Universal { c: if self.k >= 2 { self.c } else { buckets as f64 } }
    }

    /// Lemmas M and K: the independence that remains when a family with `range` values (r in the
    /// lecture) is reduced modulo `buckets` (m ≤ r).
    ///
    /// (k, c) becomes (k, 2c) if r ≥ 2km, and (k, 2^k·c) otherwise.
    ///
    /// # Example
    ///
    /// ```
    /// use oneread_study::hash::family::Independent;
    ///
    /// let pairwise = Independent { k: 2, c: 1.0 };
    /// assert_eq!(pairwise.modulo(101, 100), Independent { k: 2, c: 4.0 });
    /// assert_eq!(pairwise.modulo(401, 100), Independent { k: 2, c: 2.0 });
    /// assert_eq!(pairwise.modulo(400, 100), pairwise);
    /// ```
    pub fn modulo(self, range: u128, buckets: u128) -> Independent {
        if divides(buckets, range) {
            return self;
        }
        // r ≥ 2km, written as ⌊⌊r/m⌋/2⌋ ≥ k: products could overflow.
        let ratio = range.checked_div(buckets).unwrap_or(0);
        let factor = if ratio / 2 >= self.k as u128 { 2.0 } else { power_of_two(self.k) };
        Independent { k: self.k, c: factor * self.c }
    }

    /// Lemma M: the universality that remains when a family with `range` values is reduced modulo
    /// `buckets`: 2c if k ≥ 2.
    pub fn modulo_universal(self, range: u128, buckets: u128) -> Universal {
        let factor = if divides(buckets, range) || self.k < 2 { 1.0 } else { 2.0 };
        Universal { c: factor * self.universal(buckets).c }
    }
}

fn divides(divisor: u128, number: u128) -> bool {
    number.checked_rem(divisor) == Some(0)
}

fn power_of_two(exponent: usize) -> f64 {
    (0..exponent.min(f64::MAX_EXP as usize)).fold(1.0, |power, _| power * 2.0)
}
