//! `oneread filter`: sets of lines, in files that say which lines are certainly not in them.

mod any;
mod build;
mod change;
mod digester;
mod facts;
mod file;
mod info;
mod layout;
mod merge;
mod progress;
mod query;
mod spill;

use anyhow::Result;

use crate::Outcome;
use crate::args::Filter;

pub(crate) fn run(command: &Filter) -> Result<Outcome> {
    match command {
        Filter::Build(args) => build::run(args).map(|()| Outcome::Done),
        Filter::Query(args) => query::run(args),
        Filter::Info(args) => info::run(args).map(|()| Outcome::Done),
        Filter::Add(args) => change::add(args).map(|()| Outcome::Done),
        Filter::Remove(args) => change::remove(args).map(|()| Outcome::Done),
        Filter::Merge(args) => merge::run(args).map(|()| Outcome::Done),
    }
}
