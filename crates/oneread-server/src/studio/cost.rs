//! What lookups cost: page reads, at prices that the user gives.

use super::query::Fields;

/// Prices, each a field of the page.
pub(super) struct Prices {
    /// The share of lookups that find their key.
    pub(super) hits: f64,
    /// Of a drive, per month.
    pub(super) drive: f64,
    /// The reads per second that the drive does.
    pub(super) drive_reads: f64,
    /// Of 1,000 `GET` requests of an object store.
    pub(super) requests: f64,
    /// Of a gigabyte in an object store, per month.
    pub(super) gigabyte: f64,
}

/// Usual prices in dollars: of a 1 TB drive rented by the month, and of S3 Standard in us-east-1.
pub(super) const USUAL: [(&str, &str); 5] = [
    ("hits", "0.5"),
    ("drive", "20"),
    ("drive_reads", "100000"),
    ("requests", "0.0004"),
    ("gigabyte", "0.023"),
];

const SECONDS_PER_MONTH: f64 = 30.0 * 24.0 * 3600.0;
const MILLION: f64 = 1e6;
const GIGABYTE: f64 = 1e9;

/// Costs in the unit of the prices.
pub(super) struct Costs {
    /// Pages that a lookup reads on average.
    pub(super) reads: f64,
    /// Of a million lookups, as the share of a drive's time.
    pub(super) drive: f64,
    /// Of a million lookups, as requests.
    pub(super) requests: f64,
    /// Of the file in an object store, per month.
    pub(super) stored: f64,
    /// The lookups per second that one drive serves.
    pub(super) lookups_per_second: f64,
}

impl Prices {
    pub(super) fn of(fields: &Fields) -> Self {
        let number = |at: usize, range| {
            let (name, usual) = USUAL[at];
            fields.number(name, usual.parse().expect("a number"), range)
        };
        const ANY: (f64, f64) = (0.0, 1e9);
        Self {
            hits: number(0, (0.0, 1.0)),
            drive: number(1, ANY),
            drive_reads: number(2, (1.0, 1e12)),
            requests: number(3, ANY),
            gigabyte: number(4, ANY),
        }
    }

    /// The costs of a store with these reads.
    pub(super) fn costs(&self, per_hit: f64, per_miss: f64, disk_bytes: f64) -> Costs {
        let reads = self.hits * per_hit + (1.0 - self.hits) * per_miss;
        Costs {
            reads,
            drive: MILLION * reads / self.drive_reads / SECONDS_PER_MONTH * self.drive,
            requests: MILLION * reads * self.requests / 1000.0,
            stored: disk_bytes / GIGABYTE * self.gigabyte,
            lookups_per_second: self.drive_reads / reads.max(1e-9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: half of the lookups read 1 page, the others 0.01, so 505,000 pages for a million.
    #[test]
    fn a_million_lookups_cost_their_reads() {
        let prices = Prices::of(&Fields::default());
        let costs = prices.costs(1.0, 0.01, 12e9);
        assert!((costs.reads - 0.505).abs() < 1e-12);
        // 505 thousands of requests for $0.0004 each.
        assert!((costs.requests - 0.202).abs() < 1e-12);
        // 5.05 seconds of a drive's 2,592,000, for $20.
        assert!((costs.drive - 5.05 / 2_592_000.0 * 20.0).abs() < 1e-12);
        assert!((costs.stored - 12.0 * 0.023).abs() < 1e-12);
        let none = Prices::of(&Fields::of("drive_reads=0&hits=7&requests=-1")).costs(1.0, 0.0, 0.0);
        assert!(none.reads == 1.0 && none.requests == 0.0 && none.drive.is_finite());
    }
}
