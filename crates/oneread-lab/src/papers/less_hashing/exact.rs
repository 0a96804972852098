//! The exact false-positive probability of schemes that make k locations from two hash values, under ideal hash
//! functions: what `oneread::plan` gives the limit of.
//!
//! Given the k locations of a key z that was not inserted, the n items hit them independently of each other. An item
//! is a pair of uniform hash values (a, b), and hits a set of z's locations; the number of pairs for each set is counted.
//! z is found if every location is hit, whose probability is, by inclusion and exclusion over the sets T of locations
//! that no item hits,
//!
//! ```text
//!   Σ over T of (−1)^|T| · (1 − q_T)^n,    q_T = the fraction of pairs that hit a location in T
//! ```

use rayon::prelude::*;

/// The partition scheme: location i is a + ib in a band of its own, modulo the size of a band.
///
/// An item's distance from z is as uniform as the item, so z may be (0, 0): location i is hit if a + ib = 0.
pub(super) fn partitioned(band: u64, hashes: u32, items: u64) -> f64 {
    let mut pairs = Pairs::new(band, hashes);
    for step in 0..band {
        for i in 0..hashes {
            pairs.hit(modulo_minus(0, u64::from(i) * step % band, band), i);
        }
        pairs.count();
    }
    pairs.all_hit(items)
}

/// (Extended) double hashing: location i is a + ib + f(i) modulo the size of the table.
///
/// The probability is an average over z's second value; its first one only shifts everything. Without f, what
/// multiplies all values by a number prime to the size permutes the pairs, so values with the same greatest common divisor
/// with the size have the same probability.
pub(super) fn double(size: u64, hashes: u32, items: u64, f: fn(u64) -> u64) -> f64 {
    let offsets: Vec<u64> = (0..u64::from(hashes)).map(|i| f(i) % size).collect();
    let given = |step: u64| given_step(size, &offsets, items, step);
    let weighted: Vec<f64> = if offsets.iter().all(|&offset| offset == 0) {
        let mut classes = vec![0u64; size as usize + 1];
        (0..size).for_each(|step| classes[greatest_common_divisor(step, size) as usize] += 1);
        let classes: Vec<_> = classes.into_iter().enumerate().filter(|&(_, count)| count > 0).collect();
        classes.into_par_iter().map(|(divisor, count)| count as f64 * given(divisor as u64 % size)).collect()
    } else {
        (0..size).into_par_iter().map(given).collect()
    };
    weighted.iter().sum::<f64>() / size as f64
}

/// The probability given z's second value.
fn given_step(size: u64, offsets: &[u64], items: u64, step_of_key: u64) -> f64 {
    let hashes = offsets.len() as u32;
    let locations = |step: u64| {
        (0..).zip(offsets).map(move |(i, offset): (u64, _)| (i * step + offset) % size).collect::<Vec<_>>()
    };
    let of_key = locations(step_of_key);
    let mut pairs = Pairs::new(size, hashes);
    for step in 0..size {
        for of_item in locations(step) {
            for (j, &of_key) in (0..).zip(&of_key) {
                pairs.hit(modulo_minus(of_key, of_item, size), j);
            }
        }
        pairs.count();
    }
    pairs.all_hit(items)
}

/// Counts the pairs (a, b) by the set of locations that they hit, for one b after the other.
struct Pairs {
    size: u64,
    hashes: u32,
    /// By a, for the present b: the set, a bit for each location.
    sets: Vec<u16>,
    /// The a that hit any location for the present b.
    hitting: Vec<u32>,
    /// The number of pairs by the set that they hit; those that hit none are not counted.
    counts: Vec<u64>,
}

impl Pairs {
    fn new(size: u64, hashes: u32) -> Self {
        assert!(hashes <= u16::BITS && size <= u64::from(u32::MAX), "sets of at most 16 locations");
        let sets = vec![0; size as usize];
        Self { size, hashes, sets, hitting: Vec::new(), counts: vec![0; 1 << hashes] }
    }

    fn hit(&mut self, a: u64, location: u32) {
        let set = &mut self.sets[a as usize];
        if *set == 0 {
            self.hitting.push(a as u32);
        }
        *set |= 1 << location;
    }

    /// Counts what hits were made for the present b, and goes on to the next.
    fn count(&mut self) {
        for a in self.hitting.drain(..) {
            let set = std::mem::take(&mut self.sets[a as usize]);
            self.counts[usize::from(set)] += 1;
        }
    }

    /// The probability that so many pairs hit all locations together.
    fn all_hit(mut self, items: u64) -> f64 {
        let total = self.size as f64 * self.size as f64;
        let all: u64 = self.counts.iter().sum();
        // From here on: the number of pairs whose set is within a set.
        for location in 0..self.hashes {
            for set in 0..self.counts.len() {
                if set >> location & 1 == 1 {
                    self.counts[set] += self.counts[set ^ (1 << location)];
                }
            }
        }
        let everything = self.counts.len() - 1;
        let terms = (0..self.counts.len()).map(|missed| {
            let hitting = (all - self.counts[everything ^ missed]) as f64 / total;
            let none_hits = (items as f64 * (-hitting).ln_1p()).exp();
            if missed.count_ones() % 2 == 0 { none_hits } else { -none_hits }
        });
        terms.sum()
    }
}

/// a − b modulo the size; both are below it.
fn modulo_minus(a: u64, b: u64, size: u64) -> u64 {
    if a >= b { a - b } else { a + size - b }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table of n items and every key, by brute force.
    fn brute_force(size: u64, items: u32, locations: impl Fn(u64, u64) -> Vec<u64>) -> f64 {
        let pairs: Vec<Vec<u64>> = (0..size * size).map(|pair| locations(pair / size, pair % size)).collect();
        let (mut found, mut all) = (0u64, 0u64);
        for table in 0..pairs.len().pow(items) {
            let items: Vec<_> =
                (0..items).map(|i| &pairs[table / pairs.len().pow(i) % pairs.len()]).collect();
            for key in &pairs {
                all += 1;
                let hit = |location: &u64| items.iter().any(|item| item.contains(location));
                found += u64::from(key.iter().all(hit));
            }
        }
        found as f64 / all as f64
    }

    #[test]
    fn small_tables_are_counted_right() {
        for size in [4, 5] {
            for f in [|_| 0, |i| i * i, |i| i * i * i] {
                let locations = |a, b| (0..3).map(|i| (a + i * b + f(i)) % size).collect();
                let expected = brute_force(size, 2, locations);
                assert!((double(size, 3, 2, f) - expected).abs() < 1e-12, "size {size}");
            }
            let in_bands = |a, b| (0..3).map(|i| i * size + (a + i * b) % size).collect();
            let expected = brute_force(size, 2, in_bands);
            assert!((partitioned(size, 3, 2) - expected).abs() < 1e-12, "bands of {size}");
        }
    }
}
