//! The commands about versions as a whole.

use anyhow::Result;
use indicatif::{HumanBytes, HumanCount};
use oneread_dataset::{Keep, State, VersionInfo};
use serde_json::json;

use super::{at, spinner};
use crate::Outcome;
use crate::args::dataset::{Gc, Pin, Publish, Rollback, Unpin, Verify, Versions};
use crate::output::{Align, print, print_json, table};

pub(super) fn publish(args: &Publish) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    let before = waiting.on(dataset.publish(&args.version))?;
    if args.json {
        return print_json(&json!({"current": args.version, "before": before}));
    }
    let before = before.map_or_else(|| "nothing".to_owned(), |before| format!("version {before}"));
    print(&format!("version {} is current, {before} was before", args.version))
}

pub(super) fn rollback(args: &Rollback) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    let before = waiting.on(dataset.current())?;
    let current = waiting.on(dataset.rollback(args.version.as_deref()))?;
    if args.json {
        return print_json(&json!({"current": current, "before": before}));
    }
    print(&format!("version {current} is current again"))
}

pub(super) fn pin(args: &Pin) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    waiting.on(dataset.pin(&args.name, &args.version))?;
    if args.json {
        return print_json(&json!({"pin": args.name, "version": args.version}));
    }
    print(&format!("version {} is kept until the pin {} is removed", args.version, args.name))
}

pub(super) fn unpin(args: &Unpin) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    waiting.on(dataset.unpin(&args.name))?;
    if args.json {
        return print_json(&json!({"removed": args.name}));
    }
    print(&format!("the pin {} is removed", args.name))
}

pub(super) fn list(args: &Versions) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    let versions = waiting.on(dataset.versions())?;
    if args.json {
        return print_json(&versions);
    }
    let heading = ["version", "state", "keys", "bytes", "shards", "pins"].map(str::to_owned);
    let number = |number: Option<u64>, shown: fn(u64) -> String| number.map(shown).unwrap_or_default();
    let row = |version: &VersionInfo| {
        let state = match (version.current, version.state) {
            (true, _) => "current",
            (_, State::Finished) => "finished",
            (_, State::Unfinished) => "unfinished",
            _ => "damaged",
        };
        [
            version.version.clone(),
            state.to_owned(),
            number(version.items, |items| HumanCount(items).to_string()),
            number(version.bytes, |bytes| HumanBytes(bytes).to_string()),
            number(version.shards.map(u64::from), |shards| shards.to_string()),
            version.pins.join(", "),
        ]
    };
    let rows: Vec<_> = std::iter::once(heading).chain(versions.iter().map(row)).collect();
    let right = Align::Right;
    print(&table([Align::Left, Align::Left, right, right, right, Align::Left], &rows))
}

pub(super) fn gc(args: &Gc) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    let keep = Keep::new().versions(args.keep as usize).min_age(args.min_age).dry_run(args.dry_run);
    let spinner = spinner("looking for old versions, and removing them")?;
    let collected = waiting.on(dataset.gc(&keep))?;
    spinner.finish_and_clear();
    if args.json {
        return print_json(&collected);
    }
    let what = if args.dry_run { "would be removed" } else { "removed" };
    print(&format!(
        "{} versions {what}, {}; {} kept",
        collected.removed.len(),
        HumanBytes(collected.bytes),
        collected.kept.len()
    ))
}

pub(super) fn verify(args: &Verify) -> Result<Outcome> {
    let (dataset, waiting) = at(&args.url)?;
    let bar = spinner("reading the first shard")?;
    let progress = |shards: u32| bar.set_message(format!("{shards} shards checked"));
    let verified = waiting.on(dataset.verify(args.version.as_deref(), progress))?;
    bar.finish_and_clear();
    if args.json {
        print_json(&verified)?;
    } else {
        for damage in &verified.damage {
            print(damage)?;
        }
        let state = if verified.damage.is_empty() { "whole" } else { "damaged" };
        print(&format!(
            "version {} is {state}: {} shards, {} keys, {}",
            verified.version,
            verified.shards,
            HumanCount(verified.items),
            HumanBytes(verified.bytes)
        ))?;
    }
    Ok(if verified.damage.is_empty() { Outcome::Done } else { Outcome::Negative })
}
