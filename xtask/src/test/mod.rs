//! `cargo xtask test`: the steps that a change must pass.
//!
//! Without `--all`, a step needs only the Rust toolchain and writes only to `target/`.

mod steps;
mod tree;
mod words;

use std::fs::{self, File};
use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::{Context, Result, bail};

use crate::needs::Need;
use crate::shell::{print_to, say};
use steps::STEPS;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only these steps; `--list` shows their names.
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// Run everything: also long tests, servers, browser, Miri, fuzzing and packages. Installs what
    /// is missing, and says so first.
    #[arg(long)]
    all: bool,
    /// Skip a step (repeatable); the last lines of the output list the skipped steps.
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// List the steps instead of running them.
    #[arg(long)]
    list: bool,
}

/// How thorough a step is that runs with and without `--all`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    Quick,
    Full,
}

/// One step of the test command.
struct Step {
    name: &'static str,
    /// What it checks, for `--list`.
    checks: &'static str,
    /// Whether it runs without `--all`.
    is_quick: bool,
    /// Whether it runs beside other steps, if there are any. Such a step compiles to a folder of
    /// its own, prints through `shell::step` only, and often leaves one of two cores idle.
    is_aside: bool,
    /// Approximate duration from scratch on two idle cores, in seconds.
    seconds: u32,
    needs: &'static [Need],
    run: fn(Effort) -> Result<()>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    for name in args.only.iter().chain(&args.skip) {
        if !STEPS.iter().any(|step| step.name == name) {
            bail!("there is no step `{name}`: `cargo xtask test --list` shows the steps");
        }
    }
    if args.list {
        list();
        return Ok(());
    }
    let is_chosen = |step: &&Step| {
        if args.only.is_empty() {
            args.all || step.is_quick
        } else {
            args.only.iter().any(|name| name == step.name)
        }
    };
    let (skipped, chosen): (Vec<&Step>, Vec<&Step>) =
        STEPS.iter().filter(is_chosen).partition(|step| args.skip.iter().any(|name| name == step.name));
    install(&chosen)?;
    let effort = if args.all { Effort::Full } else { Effort::Quick };
    let mut outcome = Outcome::default();
    let (quick, slow): (Vec<&Step>, Vec<&Step>) = chosen.into_iter().partition(|step| step.is_quick);
    let (aside, ahead): (Vec<&Step>, Vec<&Step>) = slow.iter().partition(|step| step.is_aside);
    outcome.run(&quick, effort);
    if outcome.failure.is_none() {
        if aside.is_empty() || ahead.is_empty() {
            outcome.run(&slow, effort);
        } else {
            outcome.run_beside(&ahead, &aside, effort)?;
        }
    }
    eprintln!();
    summarize(&outcome.times);
    for step in &skipped {
        eprintln!("  skipped: {}", step.name);
    }
    match outcome.failure {
        Some(failure) => bail!("{failure}"),
        None => eprintln!("all {} steps passed in {}", outcome.times.len(), shown(start.elapsed())),
    }
    Ok(())
}

/// What became of steps that ran one after the other.
#[derive(Default)]
struct Outcome {
    times: Vec<(&'static str, Duration)>,
    /// What failed, and the command that repeats it alone.
    failure: Option<String>,
}

impl Outcome {
    /// Runs steps up to the first that fails.
    fn run(&mut self, steps: &[&Step], effort: Effort) {
        for step in steps {
            let start = Instant::now();
            say(&format!("\n━━ {}: {}", step.name, step.checks));
            let result = (step.run)(effort);
            if let Err(error) = result {
                self.failure = Some(format!(
                    "step `{}` failed after {}: {error:#}\n  repeat it alone: cargo xtask test {}",
                    step.name,
                    shown(start.elapsed()),
                    step.name
                ));
                return;
            }
            self.times.push((step.name, start.elapsed()));
        }
    }

    /// Runs steps while others run beside them. What those print is shown when they end.
    fn run_beside(&mut self, steps: &[&Step], aside: &[&Step], effort: Effort) -> Result<()> {
        let names: Vec<&str> = aside.iter().map(|step| step.name).collect();
        let path = format!("target/xtask-{}.log", names.join("-"));
        let names = names.join(", ");
        // It is not there if the build folder is elsewhere.
        fs::create_dir_all("target").context("cannot make the folder target")?;
        let log = File::create(&path).with_context(|| format!("cannot write {path}"))?;
        eprintln!("\n━━ {names}: beside the steps that follow, printing to {path}");
        let beside = thread::scope(|scope| {
            let beside = scope.spawn(move || {
                print_to(log);
                let mut outcome = Outcome::default();
                outcome.run(aside, effort);
                outcome
            });
            self.run(steps, effort);
            if let (Some(failure), false) = (&self.failure, beside.is_finished()) {
                eprintln!("\n{failure}\n\nwaiting for {names}; Ctrl-C ends it");
            }
            beside.join().expect("steps return errors")
        });
        eprintln!("\n━━ what {names} printed");
        io::copy(&mut File::open(&path)?, &mut io::stderr())?;
        self.times.extend(beside.times);
        let failures: Vec<String> = self.failure.take().into_iter().chain(beside.failure).collect();
        self.failure = (!failures.is_empty()).then(|| failures.join("\n"));
        Ok(())
    }
}

/// Installs everything before the first step runs, so that a missing tool is reported at once.
fn install(steps: &[&Step]) -> Result<()> {
    let mut done: Vec<Need> = Vec::new();
    for step in steps {
        for &need in step.needs {
            if !done.contains(&need) {
                need.ensure(step.name)?;
                done.push(need);
            }
        }
    }
    Ok(())
}

fn list() {
    for (title, is_quick) in [("cargo xtask test", true), ("added by --all", false)] {
        println!("{title}:");
        for step in STEPS.iter().filter(|step| step.is_quick == is_quick) {
            println!(
                "  {:<10} {:>5}  {}",
                step.name,
                shown(Duration::from_secs(step.seconds.into())),
                step.checks
            );
            let needs: Vec<&str> = step.needs.iter().map(|need| need.name()).collect();
            if !needs.is_empty() {
                println!("  {:<10} {:>5}  needs {}", "", "", needs.join(", "));
            }
        }
    }
    println!("\nTimes are from scratch, on two idle cores. One step alone: cargo xtask test STEP");
}

fn summarize(times: &[(&str, Duration)]) {
    for (name, time) in times {
        eprintln!("  {name:<10} {:>6}", shown(*time));
    }
}

/// Formats minutes and seconds.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn fake(name: &'static str, is_aside: bool, run: fn(Effort) -> Result<()>) -> Step {
        Step { name, checks: "", is_quick: false, is_aside, seconds: 0, needs: &[], run }
    }

    #[test]
    fn steps_beside_others_are_counted_and_their_failures_named() {
        std::env::set_current_dir(crate::shell::root()).unwrap();
        let shell = |_| crate::shell::step("echo", &mut crate::shell::with_args("rustc", &["--version"]));
        let good = fake("good", false, |_| Ok(()));
        let bad = fake("bad", false, |_| bail!("a bad step"));
        let aside = fake("aside", true, shell);
        let worse = fake("worse", true, |_| bail!("a worse step"));

        let mut outcome = Outcome::default();
        outcome.run_beside(&[&good], &[&aside], Effort::Full).unwrap();
        assert_eq!(outcome.failure, None);
        assert_eq!(outcome.times.iter().map(|time| time.0).collect::<Vec<_>>(), ["good", "aside"]);
        let log = fs::read_to_string("target/xtask-aside.log").unwrap();
        assert!(log.contains("── echo: rustc --version\nrustc "), "{log}");

        let mut outcome = Outcome::default();
        outcome.run_beside(&[&bad, &good], &[&worse, &aside], Effort::Full).unwrap();
        let failure = outcome.failure.unwrap();
        assert!(failure.contains("repeat it alone: cargo xtask test bad"), "{failure}");
        assert!(failure.contains("repeat it alone: cargo xtask test worse"), "{failure}");
        assert!(outcome.times.is_empty());
    }
}
