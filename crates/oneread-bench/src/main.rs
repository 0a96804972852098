//! `oneread-bench`: measures oneread beside other crates and reports ratios from interleaved
//! rounds.
//!
//! Run it as `cargo xtask bench [subject]…`.

mod machine;
mod measure;
mod memory;
mod pictures;
mod report;
mod subjects;
mod workload;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Parser;

use measure::{Bench, Effort};

/// Measures oneread beside other crates.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Args {
    /// Subjects to measure; all of them if none is named.
    subjects: Vec<String>,
    /// Fewer rounds and smaller inputs, for a first look. Do not quote these numbers.
    #[arg(long)]
    quick: bool,
    /// Only contests whose names contain this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Folder for the tables, as Markdown and as JSON.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    out: PathBuf,
    /// Only draw the pictures of the results of `frontier` into this folder.
    #[arg(long, value_name = "DIR")]
    draw: Option<PathBuf>,
    /// In `store`, measure the live store.
    #[arg(long)]
    live: bool,
    /// List the subjects.
    #[arg(long)]
    list: bool,
}

fn main() -> Result<()> {
    let mut args = Args::parse();
    if args.live {
        args.subjects.iter_mut().filter(|name| *name == "store").for_each(|name| name.push_str("-live"));
    }
    if let Some(folder) = args.draw {
        return pictures::draw(&args.out, &folder);
    }
    let all = &subjects::ALL;
    if args.list {
        for subject in all {
            println!("{:10} {}", subject.name, subject.about);
        }
        return Ok(());
    }
    for name in &args.subjects {
        if !all.iter().any(|subject| subject.name == name) {
            let names: Vec<_> = all.iter().map(|subject| subject.name).collect();
            bail!("there is no subject `{name}`: choose among {}", names.join(", "));
        }
    }
    let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    let machine = machine::Machine::look();
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    for subject in all {
        if args.subjects.is_empty() || args.subjects.iter().any(|name| name == subject.name) {
            let mut bench = Bench::new(effort, args.only.clone());
            (subject.run)(&mut bench)?;
            report::publish(subject, &machine, effort, &bench.into_rows(), &args.out)?;
        }
    }
    Ok(())
}
