//! One table a subject, as Markdown for people and as JSON for programs.

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

/// Prints the table and writes it beside its JSON form.
pub(crate) fn publish(
    subject: &dyn Subject,
    machine: &Machine,
    effort: Effort,
    rows: &[Row],
    out: &Path,
) -> Result<()> {
    let table = markdown(subject, machine, effort, rows)?;
    println!("{table}");
    let document = Document { subject: subject.name(), machine, effort, rows };
    for (extension, text) in [("md", table), ("json", serde_json::to_string_pretty(&document)?)] {
        let path = out.join(subject.name()).with_extension(extension);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn markdown(subject: &dyn Subject, machine: &Machine, effort: Effort, rows: &[Row]) -> Result<String> {
    let facts: BTreeSet<_> = rows.iter().flat_map(|row| row.facts.keys().copied()).collect();
    let mut text = String::new();
    writeln!(text, "## {}: {}\n", subject.name(), subject.about())?;
    let warning = if effort.quick { " (a quick look: not for quoting)" } else { "" };
    writeln!(text, "{machine}. Medians of {} interleaved rounds{warning}.\n", effort.rounds())?;
    let with_bars = rows.iter().any(|row| row.bar_seconds.is_some());
    write!(text, "| workload | subject | M/s | time | ratio | to | spread |")?;
    if with_bars {
        write!(text, " at most |")?;
    }
    for fact in &facts {
        write!(text, " {fact} |")?;
    }
    writeln!(text, "\n|{}", " --- |".repeat(7 + usize::from(with_bars) + facts.len()))?;
    for row in rows {
        let Row { workload, name, peer, million_per_second, ratio, spread, .. } = row;
        let (seconds, percent) = (1e-6 / million_per_second, spread * 100.0);
        let (rate, time) = (four_digits(*million_per_second), with_unit(seconds));
        write!(text, "| {workload} | {name} | {rate} | {time} | {ratio:.2} | {peer} | {percent:.0}% |")?;
        match row.bar_seconds {
            Some(bar) if seconds <= bar => write!(text, " {}: met |", with_unit(bar))?,
            Some(bar) => write!(text, " {}: missed |", with_unit(bar))?,
            None if with_bars => write!(text, " – |")?,
            None => {}
        }
        for fact in &facts {
            match row.facts.get(fact) {
                Some(value) => write!(text, " {} |", four_digits(*value))?,
                None => write!(text, " – |")?,
            }
        }
        writeln!(text)?;
    }
    Ok(text)
}

/// A time in the largest unit of which it is one or more.
fn with_unit(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let (size, unit) = units.into_iter().find(|(size, _)| seconds >= *size).unwrap_or((1e-9, "ns"));
    format!("{:.2} {unit}", seconds / size)
}

/// A number in few characters, whatever its size.
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
    use super::{four_digits, with_unit};

    #[test]
    fn times_are_in_the_largest_unit() {
        let shown: Vec<_> = [2.5e-10, 8.49e-9, 1e-6, 0.0123, 2.1].into_iter().map(with_unit).collect();
        assert_eq!(shown, ["0.25 ns", "8.49 ns", "1.00 µs", "12.30 ms", "2.10 s"]);
    }

    #[test]
    fn numbers_are_short_whatever_their_size() {
        let shown: Vec<_> =
            [0.0, 0.0004587, 0.25, 1.0, 13.2, 9999.0, 1e6].into_iter().map(four_digits).collect();
        assert_eq!(shown, ["0", "4.59e-4", "0.250", "1.000", "13.20", "9999", "1.00e6"]);
    }
}
