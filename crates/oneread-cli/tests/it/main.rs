//! The command as its users call it: a process, its output, its exit code, the files it leaves.

mod beside;
mod choosing;
mod cli;
mod dataset;
mod filter;
mod guide;
mod manual;
mod plan;
mod promises;
mod reproduce;
mod shell;
mod simulate;
mod solve;
mod store;
#[cfg(feature = "server")]
mod studio;
