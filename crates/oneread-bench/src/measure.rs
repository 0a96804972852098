//! Interleaved rounds and their medians.
//!
//! The machines are shared and noisy, so a single timing means little. A contest runs each
//! contestant once per round, in an order that rotates. It reports the median rate, and the median
//! of the *ratios within a round*: a disturbance affects the whole round and cancels in the ratio.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// How long to measure.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Effort {
    rounds: usize,
    /// Whether inputs are reduced for a first look.
    pub(crate) quick: bool,
}

impl Effort {
    pub(crate) const FULL: Effort = Effort { rounds: 9, quick: false };
    pub(crate) const QUICK: Effort = Effort { rounds: 3, quick: true };

    pub(crate) fn rounds(self) -> usize {
        self.rounds
    }
}

/// One timing: a number of operations and the time they took.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    operations: u64,
    elapsed: Duration,
}

impl Sample {
    /// A sample of `operations` that took `elapsed`.
    pub(crate) fn new(operations: u64, elapsed: Duration) -> Self {
        Self { operations, elapsed }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

impl Sum for Sample {
    fn sum<I: Iterator<Item = Self>>(samples: I) -> Self {
        samples.fold(Self { operations: 0, elapsed: Duration::ZERO }, |sum, sample| Self {
            operations: sum.operations + sample.operations,
            elapsed: sum.elapsed + sample.elapsed,
        })
    }
}

/// Times `work`, which returns the number of operations it did.
pub(crate) fn timed(work: impl FnOnce() -> u64) -> Sample {
    let start = Instant::now();
    let operations = work();
    Sample { operations, elapsed: start.elapsed() }
}

/// Like [`timed`], but counts only the processor time of this thread. Waits and other programs on a
/// busy machine are not included.
pub(crate) fn timed_on_processor(work: impl FnOnce() -> u64) -> Sample {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let start = now();
    let operations = work();
    Sample { operations, elapsed: now() - start }
}

/// One way to do a workload.
pub(crate) struct Contestant<'a> {
    name: String,
    /// Facts printed beside its rate, such as bits per key or false positives.
    facts: BTreeMap<&'static str, f64>,
    /// The longest time that one operation may take, if there is a limit.
    bar: Option<Duration>,
    round: Box<dyn FnMut() -> Sample + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant that prepares its input and then times itself, once per round.
    pub(crate) fn new(name: impl Into<String>, round: impl FnMut() -> Sample + 'a) -> Self {
        Self { name: name.into(), facts: BTreeMap::new(), bar: None, round: Box::new(round) }
    }

    /// Adds facts that are printed beside the rate.
    pub(crate) fn with_facts(mut self, facts: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        self.facts.extend(facts);
        self
    }

    /// Sets the longest time that one operation may take.
    pub(crate) fn with_bar(self, bar: Option<Duration>) -> Self {
        Self { bar, ..self }
    }
}

/// A measured row of a subject's table.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) workload: String,
    pub(crate) name: String,
    /// The contestant that `ratio` compares with.
    pub(crate) peer: String,
    /// Median over the rounds.
    pub(crate) million_per_second: f64,
    /// Median over the rounds of this rate divided by the rate of `peer` in the same round.
    pub(crate) ratio: f64,
    /// Interquartile range of the rates, as a fraction of the median.
    pub(crate) spread: f64,
    /// The longest time that one operation may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bar_seconds: Option<f64>,
    #[serde(flatten)]
    pub(crate) facts: BTreeMap<&'static str, f64>,
}

/// Collects the rows of one subject.
pub(crate) struct Bench {
    effort: Effort,
    /// Contests whose names do not contain this text are skipped.
    only: String,
    rows: Vec<Row>,
    progress: ProgressBar,
}

impl Bench {
    pub(crate) fn new(effort: Effort, only: String) -> Self {
        let progress = ProgressBar::new_spinner();
        progress.set_style(
            ProgressStyle::with_template("{spinner} {elapsed_precise} {msg}").expect("a valid template"),
        );
        Self { effort, only, rows: Vec::new(), progress }
    }

    pub(crate) fn effort(&self) -> Effort {
        self.effort
    }

    /// The sizes of a subject's contests.
    pub(crate) fn sizes(&self, quick: &'static [usize], full: &'static [usize]) -> &'static [usize] {
        if self.effort.quick { quick } else { full }
    }

    /// Whether to run this contest. A subject checks this before it prepares an expensive one.
    pub(crate) fn wants(&self, workload: &str) -> bool {
        workload.contains(&self.only)
    }

    /// Reports progress before a long contest.
    pub(crate) fn say(&self, what: String) {
        self.progress.set_message(what);
        self.progress.tick();
    }

    /// Prints a progress line that stays, with the time since the start.
    pub(crate) fn tell(&self, what: &str) {
        let seconds = self.progress.elapsed().as_secs();
        self.progress.suspend(|| eprintln!("{:02}:{:02} {what}", seconds / 60, seconds % 60));
    }

    /// Measures all contestants at one workload; `peer` names the contestant whose rate counts as
    /// 1.
    pub(crate) fn contest(&mut self, workload: &str, peer: &str, contestants: Vec<Contestant<'_>>) {
        self.contest_in(self.effort.rounds, workload, peer, contestants);
    }

    /// Like [`contest`](Self::contest), with `rounds` rounds instead of the default.
    pub(crate) fn contest_in(
        &mut self,
        rounds: usize,
        workload: &str,
        peer: &str,
        mut contestants: Vec<Contestant<'_>>,
    ) {
        if !self.wants(workload) {
            return;
        }
        let peer_at = contestants
            .iter()
            .position(|contestant| contestant.name == peer)
            .unwrap_or_else(|| panic!("no contestant of `{workload}` is called `{peer}`"));
        let mut rates = vec![Vec::new(); contestants.len()];
        for round in 0..=rounds {
            for turn in 0..contestants.len() {
                let at = (turn + round) % contestants.len();
                self.say(format!("{workload}, round {round}: {}", contestants[at].name));
                let sample = (contestants[at].round)();
                // Round 0 warms caches and page tables, and is not counted.
                if round > 0 {
                    rates[at].push(sample.operations as f64 / sample.elapsed.as_secs_f64() / 1e6);
                }
            }
        }
        for (contestant, own) in contestants.into_iter().zip(&rates) {
            let ratios = own.iter().zip(&rates[peer_at]).map(|(ours, theirs)| ours / theirs).collect();
            let row = Row {
                workload: workload.to_owned(),
                name: contestant.name,
                peer: peer.to_owned(),
                million_per_second: quantile(own.clone(), 0.5),
                ratio: quantile(ratios, 0.5),
                spread: (quantile(own.clone(), 0.75) - quantile(own.clone(), 0.25))
                    / quantile(own.clone(), 0.5),
                bar_seconds: contestant.bar.map(|bar| bar.as_secs_f64()),
                facts: contestant.facts,
            };
            // Print at once: a run may take an hour and be interrupted.
            let Row { workload, name, ratio, peer, spread, .. } = &row;
            let nanoseconds = 1e3 / row.million_per_second;
            self.tell(&format!(
                "{workload}: {name} {nanoseconds:.1} ns, {ratio:.2} of {peer} (spread {:.0}%)",
                100.0 * spread
            ));
            self.rows.push(row);
        }
    }

    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.progress.finish_and_clear();
        self.rows
    }
}

/// The quantile at `fraction`, interpolated linearly between two values.
fn quantile(mut values: Vec<f64>, fraction: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = fraction * (values.len() - 1) as f64;
    let (below, above) = (values[at.floor() as usize], values[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_sorted_values() {
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(vec![4.0, 1.0, 2.0, 3.0], 0.5), 2.5);
        assert_eq!(quantile(vec![1.0, 2.0, 3.0, 4.0, 5.0], 0.25), 2.0);
        assert_eq!(quantile(vec![7.0], 0.75), 7.0);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        // Both slow down from round to round by the same factor: the rates vary, but the ratio
        // stays 2.
        let sample = |operations, round: &mut u64| {
            *round += 1;
            Sample { operations, elapsed: Duration::from_secs(*round) }
        };
        let (mut first, mut second) = (0, 0);
        let mut bench = Bench::new(Effort { rounds: 7, quick: true }, String::new());
        bench.contest(
            "test",
            "slow",
            vec![
                Contestant::new("slow", move || sample(1_000_000, &mut first)),
                Contestant::new("fast", move || sample(2_000_000, &mut second)),
            ],
        );
        let rows = bench.into_rows();
        assert!((rows[1].ratio - 2.0).abs() < 1e-12 && (rows[0].ratio - 1.0).abs() < 1e-12);
        // Rounds 1 to 7 take 2 to 8 seconds (round 0 took 1): the median round takes 5.
        assert!((rows[0].million_per_second - 0.2).abs() < 1e-12);
    }
}
