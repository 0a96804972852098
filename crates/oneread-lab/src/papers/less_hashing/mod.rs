//! Less Hashing, Same Performance.
//!
//! The text has no numbers for figure 1; section 6 describes it in words. They are read as follows,
//! for p = (1 − e^(−k/c))^k and filters of n items:
//!
//! - "close to p": within a quarter of p;
//! - "small values of n" for c: those with Pr(E) > p. E, in section 2, is that an item shares both
//!   hash values with the key; such items alone then cause as many false positives as a standard
//!   filter has;
//! - "no longer particularly useful": more than twice p;
//! - "while the other schemes are": at most two thirds of the partition scheme's rate.

mod beyond;

use oneread::filter::BloomFilter;
use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, MAX_HASHES};
use oneread::plan::{bloom, probes};
use oneread_study::hash::Ideal;

use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::{Experiment, Finding, Paper, Printed};

/// c in the paper.
const BITS_PER_KEY: [u64; 4] = [4, 8, 12, 16];

/// n in the paper; the text does not show the figure's axis.
const ITEMS: [u64; 3] = [100, 1000, 10_000];

/// In the order and with the names of the paper.
const SCHEMES: [(SchemeName, &str, &str); 5] = [
    (SchemeName::Independent, "standard", "standard scheme"),
    (SchemeName::Partitioned, "partition", "partition scheme"),
    (SchemeName::Double, "double", "double hashing scheme"),
    (SchemeName::ExtendedSquare, "square", "extended double hashing scheme with i²"),
    (SchemeName::ExtendedCube, "cube", "extended double hashing scheme with i³"),
];

/// The first of the keys that are never inserted.
const ABSENT: u64 = 1 << 60;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = Vec::new();
    experiments.extend(SCHEMES[1..].iter().map(|&(scheme, name, title)| convergence(scheme, name, title)));
    experiments.extend(BITS_PER_KEY.map(best_hashes));
    for bits_per_key in BITS_PER_KEY {
        for items in ITEMS {
            let figure = |(scheme, name, title)| {
                let filter = Filter { bits_per_key, items, scheme };
                filter.experiment(name, title)
            };
            experiments.extend(SCHEMES.map(figure));
        }
    }
    experiments.push(bands_are_not_better());
    experiments.extend(beyond::experiments());
    experiments
}

super::experiment_of!(Paper::LessHashing);

/// The k that minimizes p.
fn hashes(bits_per_key: u64) -> u32 {
    let p = |hashes: &u32| bloom::asymptotic(bits_per_key as f64, *hashes);
    (1..=MAX_HASHES).min_by(|a, b| p(a).total_cmp(&p(b))).expect("one or more")
}

fn limit(bits_per_key: u64) -> f64 {
    bloom::asymptotic(bits_per_key as f64, hashes(bits_per_key))
}

/// The best k is always one of section 6's two candidates.
fn best_hashes(bits_per_key: u64) -> Experiment {
    const MANY: u64 = 1_000_000;
    let optimum = bits_per_key as f64 * std::f64::consts::LN_2;
    new(
        format!("6/hashes-c{bits_per_key}"),
        format!("The k that minimises p for c = {bits_per_key} is one of ⌊c ln 2⌋ and ⌈c ln 2⌉ (section 6)"),
        Printed::statement("⌊c ln 2⌋ or ⌈c ln 2⌉", optimum.floor()..=optimum.ceil()),
        move |_| {
            let best = bloom::optimal_hashes(bits_per_key * MANY, MANY);
            let finding = Finding::calculated(hashes(bits_per_key).into()).confirmed_by(best.into());
            Ok(finding.note(format!("p = {}", number(limit(bits_per_key)))))
        },
    )
}

/// Theorems 2 and 3: the limit for many items is p. The verdict depends on how fast the excess over
/// p falls.
fn convergence(scheme: SchemeName, name: &str, title: &'static str) -> Experiment {
    const BITS_PER_KEY: u64 = 8;
    const ITEMS: [u64; 3] = [25, 100, 400];
    let theorem = if scheme == SchemeName::Partitioned { 2 } else { 3 };
    new(
        format!("theorem-{theorem}/{name}"),
        format!(
            "The false positives of the {title} converge to p (theorem {theorem}): four times the items leave at most half of \
             the excess over p, at c = 8 and from 25 to 400 items"
        ),
        Printed::statement("lim Pr(F) = (1 − e^(−k/c))^k", 0.0..=0.5),
        move |_| {
            let p = limit(BITS_PER_KEY);
            let excess = ITEMS.map(|items| {
                let filter = Filter { bits_per_key: BITS_PER_KEY, items, scheme };
                filter.exact() / p - 1.0
            });
            let left = excess.windows(2).map(|pair| pair[1] / pair[0]);
            let excess = excess.map(|excess| format!("{:.2}%", 100.0 * excess)).join(", ");
            Ok(Finding::calculated(left.fold(0.0, f64::max)).note(format!("excess over p: {excess}")))
        },
    )
}

/// Section 6: "the partitioned version of a standard Bloom filter never performs better than the
/// original version".
fn bands_are_not_better() -> Experiment {
    new(
        "6/bands-never-better",
        "A partitioned standard filter never performs better than the original (section 6): the least ratio of their false \
         positives over figure 1's filters",
        Printed::statement("never performs better", 1.0..=f64::INFINITY),
        |_| {
            let mut least = f64::INFINITY;
            for bits_per_key in BITS_PER_KEY {
                for items in ITEMS {
                    // As many bits as bands can use, for a fair comparison.
                    let banded =
                        Filter { bits_per_key, items, scheme: SchemeName::IndependentBands }.layout();
                    let plain = banded.with_scheme(SchemeName::Independent)?;
                    let [banded, plain] =
                        [banded, plain].map(|layout| bloom::false_positive_probability(layout, items));
                    least = least.min(banded / plain);
                }
            }
            Ok(Finding::calculated(least))
        },
    )
}

/// One point of figure 1.
#[derive(Clone, Copy)]
struct Filter {
    bits_per_key: u64,
    items: u64,
    scheme: SchemeName,
}

impl Filter {
    fn layout(self) -> BloomLayout {
        BloomLayout::new(self.bits_per_key * self.items, hashes(self.bits_per_key))
            .and_then(|layout| layout.with_scheme(self.scheme))
            .expect("the paper's filters can be built")
    }

    fn experiment(self, name: &str, title: &str) -> Experiment {
        let Self { bits_per_key, items, .. } = self;
        let (words, reading, agreeing) = self.reading();
        new(
            format!("figure-1/c{bits_per_key}-n{items}-{name}"),
            format!("{title}, c = {bits_per_key}, n = {items}: \"{words}\" (section 6, figure 1): {reading}"),
            Printed::statement(words, agreeing),
            move |context| self.find(context),
        )
    }

    /// What section 6 says about the point, how this is read, and the agreeing probabilities.
    fn reading(self) -> (&'static str, &'static str, std::ops::RangeInclusive<f64>) {
        /// "Close to p".
        const CLOSE: f64 = 0.25;
        /// "No longer useful", as a multiple of p.
        const USELESS: f64 = 2.0;
        /// "The others are", as a share of the partition scheme's false positives.
        const USEFUL: f64 = 2.0 / 3.0;

        let p = limit(self.bits_per_key);
        let partition = Self { scheme: SchemeName::Partitioned, ..self };
        let layout = partition.layout();
        let band = (layout.bits() / u64::from(layout.hashes())) as f64;
        // Pr(E) in section 2.
        let shares_both = -(self.items as f64 * (-1.0 / (band * band)).ln_1p()).exp_m1();
        if shares_both <= p {
            let close = p * (1.0 - CLOSE)..=p * (1.0 + CLOSE);
            ("essentially indistinguishable … close to p", "within a quarter of p", close)
        } else if self.scheme == SchemeName::Partitioned {
            let useless = USELESS * p..=f64::INFINITY;
            ("no longer particularly useful for small values of n", "more than twice p", useless)
        } else {
            let useful = 0.0..=USEFUL * partition.exact();
            ("while the other schemes are [useful]", "at most two thirds of the partition scheme's", useful)
        }
    }

    /// The probability with ideal hash functions.
    fn exact(self) -> f64 {
        let layout = self.layout();
        let (bits, hashes) = (layout.bits(), layout.hashes());
        match self.scheme {
            SchemeName::Partitioned => probes::partitioned(bits / u64::from(hashes), hashes, self.items),
            SchemeName::Double => probes::double(bits, hashes, self.items, |_| 0),
            SchemeName::ExtendedSquare => probes::double(bits, hashes, self.items, |i| i * i),
            SchemeName::ExtendedCube => probes::double(bits, hashes, self.items, |i| i * i * i),
            _ => Ok(bloom::false_positive_probability(layout, self.items)),
        }
        .expect("the paper's filters are within the range of the exact calculation")
    }

    /// Whether [`exact`](Self::exact) takes a second rather than hours: extended schemes lack the
    /// symmetry.
    fn is_exact_feasible(self) -> bool {
        const MOST_BITS: u64 = 4000;
        let extended = matches!(self.scheme, SchemeName::ExtendedSquare | SchemeName::ExtendedCube);
        !extended || self.layout().bits() <= MOST_BITS
    }

    /// The paper's experiment: trials of ⌈10/p⌉ queries each, on the library's filters.
    fn find(self, context: &Context) -> Result<Finding, Error> {
        let (layout, p) = (self.layout(), limit(self.bits_per_key));
        let queries = (10.0 / p).ceil() as u64;
        // 10,000 trials in the paper.
        let measured = context.trials(context.effort(400, 10_000), |seed| {
            let mut filter =
                BloomFilter::with_digester(layout, Ideal::with_seed(seed)).expect("a small filter");
            (0..self.items).for_each(|key| _ = filter.insert(&key));
            let found = (ABSENT..ABSENT + queries).filter(|key| filter.contains(key)).count();
            found as f64 / queries as f64
        });
        let planned = bloom::false_positive_probability(layout, self.items);
        let finding = if self.is_exact_feasible() {
            Finding::calculated(self.exact())
        } else {
            /// The error bound of the extrapolated part: see `oneread::plan::probes`.
            const EXTRAPOLATED: f64 = 0.06;
            let off_by = EXTRAPOLATED * probes::excess(layout, self.items as f64);
            Finding::calculated(planned).at_most_higher_by(off_by).at_most_lower_by(off_by)
        };
        let note = format!("{:.3}·p measured; the plan says {:.3}·p", measured.value / p, planned / p);
        Ok(finding.and_measured(measured).note(note))
    }
}
