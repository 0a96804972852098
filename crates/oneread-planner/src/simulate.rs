//! `oneread simulate table`: a multilevel table under churn.

use anyhow::{Context, Result, ensure};
use oneread::layout::{Hints, Keep, Maps, Moves, MultilevelLayout, Restriction};
use oneread_study::simulate::{Estimate, Lifetimes, Report, Simulation};
use serde::Serialize;

use crate::args::simulate::{Levels, Simulate, Table};
use crate::document::{Align, table};

/// A question to the simulator: a subcommand of `oneread simulate` and its flags.
#[derive(clap::Args)]
pub struct Simulated {
    #[command(subcommand)]
    command: Simulate,
}

impl Simulated {
    /// The number of tables to simulate.
    #[must_use]
    pub fn trials(&self) -> u64 {
        let Simulate::Table(args) = &self.command;
        args.trials
    }

    /// About how many insertions and deletions the simulation takes.
    #[must_use]
    pub fn work(&self) -> u64 {
        let Simulate::Table(args) = &self.command;
        args.items.saturating_add(args.steps.saturating_mul(2)).saturating_mul(args.trials)
    }

    /// The slots of the table; 0 if there is no such table.
    #[must_use]
    pub fn slots(&self) -> u64 {
        let Simulate::Table(args) = &self.command;
        layout(args).map_or(0, |layout| layout.capacity())
    }

    /// Simulates. `progress` is called after each trial, from any thread.
    ///
    /// # Errors
    /// If there is no such table, or no memory for it.
    pub fn run(&self, progress: impl Fn() + Sync) -> Result<Outcome> {
        let Simulate::Table(args) = &self.command;
        let layout = layout(args).context("there is no such table")?;
        let buckets = layout.levels().to_vec();
        let simulation = Simulation::new(layout, args.items).context("it cannot be simulated")?;
        let lifetimes = match args.lifetimes {
            Lifetimes::HeavyTailed { .. } => Lifetimes::HeavyTailed { shape: args.shape },
            others => others,
        };
        let simulation = simulation.with_steps(args.steps).with_lifetimes(lifetimes);
        let report =
            simulation.run(args.trials, args.seed, progress).context("the simulation ended early")?;
        Ok(Outcome { document: Document::new(args, buckets, &report), json: args.json })
    }
}

/// What a simulation measured.
pub struct Outcome {
    document: Document,
    json: bool,
}

impl Outcome {
    /// What the command prints: tables, or JSON if a flag says so.
    ///
    /// # Errors
    /// If a number has no JSON, which does not happen.
    pub fn text(&self) -> Result<String> {
        if self.json { self.json() } else { Ok(self.document.text()) }
    }

    /// What the command prints with `--json`.
    ///
    /// # Errors
    /// If a number has no JSON, which does not happen.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.document)?)
    }
}

fn layout(args: &Table) -> Result<MultilevelLayout> {
    /// The papers' tables halve from level to level.
    const DEFAULT_RATIO: f64 = 0.5;
    let fanout = args.restricted.unwrap_or(1);
    ensure!(
        args.maps != Maps::Nested || fanout == 1,
        "--maps nested leads to one bucket, and --restricted names {fanout}: give --restricted 1, or other --maps"
    );
    let layout = match &args.levels {
        Levels::Count(levels) => {
            let first = args.first_level.unwrap_or(args.items);
            MultilevelLayout::geometric(first, args.ratio.unwrap_or(DEFAULT_RATIO), *levels)?
        }
        Levels::Sizes(sizes) => {
            ensure!(
                args.first_level.is_none() && args.ratio.is_none(),
                "--levels gives the buckets of each level: leave out --first-level and --ratio, or give a number of levels"
            );
            MultilevelLayout::new(sizes.clone())?
        }
    };
    Ok(layout.with_slots(args.slots)?.with_moves(moves(args))?)
}

fn moves(args: &Table) -> Moves {
    let hints = args.hints.map(|rule| Hints { rule, chain: args.moves });
    match (args.restricted, args.second_chance, hints) {
        (Some(fanout), _, _) => {
            let keep = match args.keep {
                Keep::Random => Keep::Random,
                Keep::Greedy(_) => Keep::Greedy(args.ties),
            };
            Moves::Restricted(Restriction { fanout, maps: args.maps, keep })
        }
        (None, false, None) => Moves::None,
        (None, true, None) => Moves::SecondChance,
        (None, false, Some(hints)) => Moves::Hints(hints),
        (None, true, Some(hints)) => Moves::Both(hints),
    }
}

/// The output. A single trial has no standard errors: these are null then.
#[derive(Serialize)]
struct Document {
    items: u64,
    levels: Vec<u64>,
    steps: u64,
    trials: u64,
    seed: u64,
    /// Items in the stash, averaged over all steps but the first 16 per item; null without such
    /// steps.
    mean_stash: Option<f64>,
    mean_stash_standard_error: Option<f64>,
    end_stash: f64,
    end_stash_standard_error: f64,
    max_stash: u64,
    mean_of_max_stash: f64,
    mean_of_max_stash_standard_error: f64,
    /// Items at the end, averaged over trials.
    level_occupancy: Vec<f64>,
    level_occupancy_standard_error: Vec<f64>,
    level_maximum: Vec<u64>,
    /// The number of trials that ended with 0, 1, 2, … items in the stash.
    end_stash_counts: Vec<u64>,
    moves_an_insertion: Option<f64>,
    moves_a_deletion: Option<f64>,
}

impl Document {
    fn new(args: &Table, levels: Vec<u64>, report: &Report) -> Self {
        let mean = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.mean);
        let occupancy = report.level_occupancy();
        Self {
            items: args.items,
            levels,
            steps: args.steps,
            trials: args.trials,
            seed: args.seed,
            mean_stash: mean(report.mean_stash()),
            mean_stash_standard_error: report.mean_stash().map(|estimate| estimate.standard_error),
            end_stash: report.end_stash().mean,
            end_stash_standard_error: report.end_stash().standard_error,
            max_stash: report.max_stash(),
            mean_of_max_stash: report.mean_of_max_stash().mean,
            mean_of_max_stash_standard_error: report.mean_of_max_stash().standard_error,
            level_occupancy: occupancy.iter().map(|estimate| estimate.mean).collect(),
            level_occupancy_standard_error: occupancy
                .iter()
                .map(|estimate| estimate.standard_error)
                .collect(),
            level_maximum: report.level_maximum().to_vec(),
            end_stash_counts: report.end_stash_counts().to_vec(),
            moves_an_insertion: mean(report.moves_an_insertion()),
            moves_a_deletion: mean(report.moves_a_deletion()),
        }
    }

    fn text(&self) -> String {
        let row = |cells: [&str; 5]| cells.map(str::to_owned);
        let mut rows = vec![row(["", "buckets", "items at the end", "±", "most"])];
        for (level, &buckets) in self.levels.iter().enumerate() {
            rows.push([
                format!("level {level}"),
                buckets.to_string(),
                number(self.level_occupancy[level]),
                number(self.level_occupancy_standard_error[level]),
                self.level_maximum[level].to_string(),
            ]);
        }
        let (end, error) = (number(self.end_stash), number(self.end_stash_standard_error));
        rows.push(row(["stash", "", &end, &error, &self.max_stash.to_string()]));
        let over_time = match (self.mean_stash, self.mean_stash_standard_error) {
            (Some(mean), Some(error)) => format!(
                "In the stash over time: {} ± {} items, after the first {} steps.",
                number(mean),
                number(error),
                16 * self.items
            ),
            _ => {
                format!("No average over time: that takes more than {} steps (16 an item).", 16 * self.items)
            }
        };
        let moves = match (self.moves_an_insertion, self.moves_a_deletion) {
            (Some(insertion), Some(deletion)) => {
                format!("\nMoves: {} an insertion, {} a deletion.", number(insertion), number(deletion))
            }
            _ => String::new(),
        };
        format!(
            "{} items, {} steps, {} trials, seed {}.\n\n{}\n\n{over_time}\n\
             Most in the stash of a trial: {} ± {} on average.{moves}",
            self.items,
            self.steps,
            self.trials,
            self.seed,
            table([Align::Left, Align::Right, Align::Right, Align::Right, Align::Right], &rows),
            number(self.mean_of_max_stash),
            number(self.mean_of_max_stash_standard_error),
        )
    }
}

/// Formats about four digits; unknown values are a dash.
fn number(value: f64) -> String {
    match value {
        _ if value.is_nan() => "–".to_owned(),
        0.0 => "0".to_owned(),
        _ if value < 0.001 => format!("{value:.1e}"),
        _ if value < 10.0 => format!("{value:.4}"),
        _ => format!("{value:.1}"),
    }
}
