//! Histograms of lookup times, in little memory and accurate to a sixteenth.

use std::time::Duration;

use serde::Serialize;

/// Each doubling of the time has 2^4 = 16 equal parts.
const PART_BITS: u32 = 4;
const PARTS: usize = 1 << PART_BITS;

/// Counts durations. Below 16 ns each nanosecond has its own count, above that each sixteenth of a
/// doubling.
#[derive(Clone)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum_ns: u128,
    max_ns: u64,
}

/// The number of lookups that took at least `from_ns` and less than `below_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Doubling {
    pub(crate) from_ns: u64,
    pub(crate) below_ns: u64,
    pub(crate) lookups: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        let octaves = (u64::BITS - PART_BITS + 1) as usize;
        Self { counts: vec![0; octaves * PARTS], total: 0, sum_ns: 0, max_ns: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, duration: Duration) {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[index(ns)] += 1;
        self.total += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(ours, theirs)| *ours += theirs);
        self.total += other.total;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The exact mean; `None` without durations, like all below.
    pub(crate) fn mean_ns(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum_ns as f64 / self.total as f64)
    }

    /// The exact maximum.
    pub(crate) fn max_ns(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max_ns)
    }

    /// A time that this fraction of the durations did not exceed: at most a sixteenth too large.
    pub(crate) fn quantile_ns(&self, part: f64) -> Option<u64> {
        let wanted = (self.total as f64 * part).ceil().max(1.0) as u64;
        let mut seen = 0;
        let at = self.counts.iter().position(|&count| {
            seen += count;
            seen >= wanted
        })?;
        Some((start(at + 1) - 1).min(self.max_ns))
    }

    /// The counts by doublings, from the first that has any to the last.
    pub(crate) fn doublings(&self) -> Vec<Doubling> {
        let doubling = |(octave, counts): (usize, &[u64])| Doubling {
            from_ns: start(octave * PARTS),
            below_ns: start((octave + 1) * PARTS),
            lookups: counts.iter().sum(),
        };
        let mut all: Vec<_> = self.counts.chunks(PARTS).enumerate().map(doubling).collect();
        while all.last().is_some_and(|last| last.lookups == 0) {
            all.pop();
        }
        let empty = all.iter().take_while(|doubling| doubling.lookups == 0).count();
        all.split_off(empty)
    }

    /// A bar for a number of lookups; all lookups together would have this `width`.
    pub(crate) fn bar(&self, lookups: u64, width: usize) -> String {
        if lookups == 0 {
            return String::new();
        }
        let share = lookups as f64 / self.total.max(1) as f64;
        // Counts above 0 are always visible.
        let eighths = ((share * (8 * width) as f64).round() as usize).max(1);
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        format!("{}{rest} {:.2}%", "█".repeat(eighths / 8), share * 100.0)
    }
}

/// The index of a duration's count.
fn index(ns: u64) -> usize {
    let octave = ns.checked_ilog2().unwrap_or(0);
    if octave < PART_BITS {
        return ns as usize;
    }
    let part = (ns >> (octave - PART_BITS)) as usize % PARTS;
    (octave - PART_BITS + 1) as usize * PARTS + part
}

/// The shortest duration of a count; after the last, the longest possible.
fn start(index: usize) -> u64 {
    let (octave, part) = (index / PARTS, (index % PARTS) as u64);
    if octave == 0 {
        return part;
    }
    let shift = octave as u32 - 1;
    if shift > u64::BITS - PART_BITS - 1 { u64::MAX } else { (PARTS as u64 + part) << shift }
}

/// Formats a time for people.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 && unit != "ns" { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_between_the_borders_of_its_count() {
        let near = |ns: u64| [ns.saturating_sub(1), ns, ns.saturating_add(1)];
        for ns in (0..64).flat_map(|bit| near(1 << bit)).chain(near(u64::MAX)).chain(0..2000) {
            let at = index(ns);
            assert!(start(at) <= ns && (ns < start(at + 1) || ns == u64::MAX), "{ns}");
            // A part is a sixteenth of its doubling, or a nanosecond.
            assert!(start(at + 1) - start(at) <= (start(at) / 16).max(1), "{ns}");
        }
    }

    #[test]
    fn quantiles_of_a_uniform_distribution_are_their_parts() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.quantile_ns(0.5), histogram.mean_ns()), (None, None));
        for ns in 1..=1000 {
            histogram.add(Duration::from_nanos(ns));
        }
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        for histogram in [histogram, twice] {
            assert_eq!((histogram.mean_ns(), histogram.max_ns()), (Some(500.5), Some(1000)));
            for part in [0.01, 0.5, 0.9, 0.99, 1.0] {
                let found = histogram.quantile_ns(part).unwrap() as f64;
                let exact = 1000.0 * part;
                assert!(found >= exact && found <= exact * 17.0 / 16.0 + 1.0, "{part}: {found}");
            }
        }
    }

    #[test]
    fn doublings_begin_and_end_with_something() {
        let mut histogram = Histogram::new();
        for ns in [20, 31, 100, 2000] {
            histogram.add(Duration::from_nanos(ns));
        }
        let doublings = histogram.doublings();
        assert_eq!(doublings[0], Doubling { from_ns: 16, below_ns: 32, lookups: 2 });
        assert_eq!(doublings.last(), Some(&Doubling { from_ns: 1024, below_ns: 2048, lookups: 1 }));
        assert_eq!(doublings.len(), 7);
        assert_eq!(histogram.bar(2, 30), format!("{} 50.00%", "█".repeat(15)));
        assert_eq!(
            (time(999.0), time(1024.0), time(65_536.0)),
            ("999 ns".into(), "1.0 µs".into(), "66 µs".into())
        );
    }
}
