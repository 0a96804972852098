//! The command `oneread`.
//!
//! Exit codes: 0 done, 1 a negative answer, 2 bad use or a failure, with one line on stderr. After
//! bad use, suggestions and usage follow.

mod args;
mod dataset;
mod demo;
mod filter;
mod lines;
mod manual;
mod output;
mod plan;
mod replace;
mod reproduce;
mod serve;
mod simulate;
mod store;
mod studio;

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use args::{Args, Command};

const NEGATIVE: u8 = 1;
const FAILED: u8 = 2;

/// The outcome of a command that succeeded.
enum Outcome {
    Done,
    /// The answer to a yes-or-no question is no.
    Negative,
}

fn main() -> ExitCode {
    let args = match args::parsed() {
        Ok(args) => args,
        Err(error) => return refuse(&error),
    };
    match run(args) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Negative) => ExitCode::from(NEGATIVE),
        // The reader of our output has seen enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let style = clap::builder::Styles::styled();
            let style = style.get_error();
            // Coloured on a terminal, plain elsewhere.
            anstream::eprintln!("{style}error:{style:#} {error:#}");
            ExitCode::from(FAILED)
        }
    }
}

fn run(args: Args) -> Result<Outcome> {
    match args.command {
        Command::Demo(args) => demo::run(&args).map(|()| Outcome::Done),
        Command::Completions(args) => manual::completions(args.shell).map(|()| Outcome::Done),
        Command::Man(args) => manual::pages(args.out.as_deref()).map(|()| Outcome::Done),
        Command::Dataset(command) => dataset::run(&command),
        Command::Filter(command) => filter::run(&command),
        Command::Plan(question) => plan::run(question).map(|()| Outcome::Done),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Serve(args) => serve::run(&args).map(|()| Outcome::Done),
        Command::Simulate(question) => simulate::run(&question).map(|()| Outcome::Done),
        Command::Store(command) => store::run(&command),
        Command::Studio(args) => studio::run(&args).map(|()| Outcome::Done),
    }
}

/// Prints the requested help, or one line about the error in the arguments and suggestions below
/// it.
fn refuse(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // If stdout is gone, nobody reads the help.
            _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            _ = error.print();
            ExitCode::from(FAILED)
        }
        _ => {
            // The sentence ends at the first empty line; suggestions and usage follow.
            let message = error.render().ansi().to_string();
            let (sentence, rest) = message.split_once("\n\n").unwrap_or((&message, ""));
            let sentence: Vec<_> = sentence.lines().map(str::trim).collect();
            anstream::eprintln!("{}", sentence.join(" "));
            if !rest.is_empty() {
                anstream::eprint!("\n{rest}");
            }
            ExitCode::from(FAILED)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
