//! One table per subject, as Markdown for people and as JSON for programs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::machine::Machine;
use crate::measure::{Effort, Row};
use crate::subjects::Subject;

#[derive(Serialize)]
struct Document<'a> {
    subject: &'a str,
    machine: &'a Machine,
    effort: Effort,
    rows: &'a [Row],
}

/// Prints the table and writes it as Markdown and JSON.
pub(crate) fn publish(
    subject: &Subject,
    machine: &Machine,
    effort: Effort,
    rows: &[Row],
    out: &Path,
) -> Result<()> {
    let table = markdown(subject, machine, effort, rows)?;
    println!("{table}");
    let document = Document { subject: subject.name, machine, effort, rows };
    for (extension, text) in [("md", table), ("json", serde_json::to_string_pretty(&document)?)] {
        let path = out.join(subject.name).with_extension(extension);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The first words of the names of other crates. Every other contestant is ours.
const PEERS: [&str; 16] = [
    "ahash",
    "cdb64",
    "cmsketch",
    "cuckoofilter",
    "fastbloom",
    "fjall",
    "foldhash",
    "griddle",
    "hashbrown",
    "heed",
    "qfilter",
    "redb",
    "sbbf",
    "std",
    "the raw disk",
    "xorf",
];

fn is_peer(row: &Row) -> bool {
    PEERS.iter().any(|peer| row.name.starts_with(peer))
}

fn markdown(subject: &Subject, machine: &Machine, effort: Effort, rows: &[Row]) -> Result<String> {
    let mut text = String::new();
    writeln!(text, "## {}: {}\n", subject.name, subject.about)?;
    let warning = if effort.quick { " (a quick look: not for quoting)" } else { "" };
    writeln!(text, "{machine}. Medians of {} interleaved rounds{warning}.\n", effort.rounds())?;
    summary(&mut text, rows)?;
    writeln!(text, "### All rows\n")?;
    writeln!(text, "| workload | subject | time | ratio | to | spread | memory, errors, reads |")?;
    writeln!(text, "|{}", " --- |".repeat(7))?;
    for row in rows {
        let Row { workload, name, peer, ratio, spread, .. } = row;
        let time = with_unit(seconds(row));
        let percent = spread * 100.0;
        let facts = facts(row);
        writeln!(text, "| {workload} | {name} | {time} | {ratio:.2} | {peer} | {percent:.0}% | {facts} |")?;
    }
    Ok(text)
}

/// Our fastest contestant beside the fastest of the other crates, for each workload with both.
///
/// Where every workload starts with its size ("10M u64, Bloom 12: hit"), sizes are columns.
fn summary(text: &mut String, rows: &[Row]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let workloads = rows.iter().map(|row| &*row.workload).filter(|workload| seen.insert(*workload));
    let pairs: Vec<(&str, [&Row; 2])> = workloads
        .filter_map(|workload| {
            let fastest = |of_peers: bool| {
                let rows = rows.iter().filter(|row| row.workload == workload && is_peer(row) == of_peers);
                rows.max_by(|a, b| a.million_per_second.total_cmp(&b.million_per_second))
            };
            Some((workload, [fastest(false)?, fastest(true)?]))
        })
        .collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let sized: Option<Vec<_>> =
        pairs.iter().map(|(workload, pair)| Some((sized(workload)?, *pair))).collect();
    match sized {
        Some(pairs) => by_size(text, &pairs),
        None => by_workload(text, &pairs),
    }
}

/// Splits "10M u64, Bloom 12: hit" and "10M u64: hit" into the size and the rest.
fn sized(workload: &str) -> Option<(&str, &str)> {
    let is_sized = workload.starts_with(|c: char| c.is_ascii_digit());
    is_sized.then(|| workload.split_once(", ").or_else(|| workload.split_once(": ")))?
}

/// One column per size, one row per kind of work.
fn by_size(text: &mut String, pairs: &[((&str, &str), [&Row; 2])]) -> Result<()> {
    let mut sizes: Vec<&str> = Vec::new();
    let mut works: Vec<&str> = Vec::new();
    for ((size, work), _) in pairs {
        if !sizes.contains(size) {
            sizes.push(size);
        }
        if !works.contains(work) {
            works.push(work);
        }
    }
    writeln!(text, "How many times as fast our fastest is as the fastest of the others.\n")?;
    writeln!(text, "| | {} |", sizes.join(" | "))?;
    writeln!(text, "|{}", " --- |".repeat(1 + sizes.len()))?;
    for work in works {
        write!(text, "| {work} |")?;
        for size in &sizes {
            let pair = pairs.iter().find(|(name, _)| *name == (*size, work));
            write!(text, " {} |", pair.map_or_else(String::new, |(_, pair)| verdict(pair)))?;
        }
        writeln!(text)?;
    }
    writeln!(text)?;
    Ok(())
}

fn by_workload(text: &mut String, pairs: &[(&str, [&Row; 2])]) -> Result<()> {
    writeln!(text, "| workload | our fastest | time | fastest peer | time | times as fast |")?;
    writeln!(text, "|{}", " --- |".repeat(6))?;
    for (workload, pair) in pairs {
        let [ours, theirs] = pair.map(|row| format!("{} | {}", row.name, with_unit(seconds(row))));
        writeln!(text, "| {workload} | {ours} | {theirs} | {} |", verdict(pair))?;
    }
    writeln!(text)?;
    Ok(())
}

/// How many times as fast ours is; bold where it is at least as fast.
fn verdict([ours, theirs]: &[&Row; 2]) -> String {
    let times = ours.million_per_second / theirs.million_per_second;
    if times >= 1.0 { format!("**{times:.2}**") } else { format!("{times:.2}") }
}

fn seconds(row: &Row) -> f64 {
    1e-6 / row.million_per_second
}

/// The facts printed beside a row's time.
fn facts(row: &Row) -> String {
    let bar = row.bar_seconds.map(|bar| {
        let verdict = if seconds(row) <= bar { "met" } else { "missed" };
        format!("at most {}: {verdict}", with_unit(bar))
    });
    let facts = row.facts.iter().map(|(name, value)| format!("{name} {}", four_digits(*value)));
    bar.into_iter().chain(facts).collect::<Vec<_>>().join("; ")
}

/// A time in the largest unit in which it is at least 1.
fn with_unit(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let (size, unit) = units.into_iter().find(|(size, _)| seconds >= *size).unwrap_or((1e-9, "ns"));
    format!("{:.2} {unit}", seconds / size)
}

/// Formats a number of any size in few characters.
fn four_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (0.01..10_000.0).contains(&size) => {
            let decimals = 3 - size.log10().floor().max(0.0) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{four_digits, sized, with_unit};

    #[test]
    fn times_are_in_the_largest_unit() {
        let shown: Vec<_> = [2.5e-10, 8.49e-9, 1e-6, 0.0123, 2.1].into_iter().map(with_unit).collect();
        assert_eq!(shown, ["0.25 ns", "8.49 ns", "1.00 µs", "12.30 ms", "2.10 s"]);
    }

    #[test]
    fn a_workload_is_a_size_and_a_kind_of_work() {
        assert_eq!(sized("10M u64, Bloom 12: hit"), Some(("10M u64", "Bloom 12: hit")));
        assert_eq!(sized("10M u64: batch hit"), Some(("10M u64", "batch hit")));
        assert_eq!(sized("hit, cold, once each"), None);
    }

    #[test]
    fn numbers_are_short_whatever_their_size() {
        let shown: Vec<_> =
            [0.0, 0.0004587, 0.25, 1.0, 13.2, 9999.0, 1e6].into_iter().map(four_digits).collect();
        assert_eq!(shown, ["0", "4.59e-4", "0.250", "1.000", "13.20", "9999", "1.00e6"]);
    }
}
