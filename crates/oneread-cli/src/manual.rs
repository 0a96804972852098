//! `oneread completions` and `oneread man`: help for shells and for `man`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args;

const NAME: &str = "oneread";

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), NAME, &mut script);
    written(&script)
}

/// Prints the manual page of the command, or writes the pages of all subcommands to a folder.
pub(crate) fn pages(out: Option<&Path>) -> Result<()> {
    match out {
        None => {
            let mut page = Vec::new();
            Man::new(args::command()).render(&mut page)?;
            written(&page)
        }
        Some(folder) => {
            let write = || {
                fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(args::command(), folder))
            };
            write().with_context(|| format!("{}: cannot write the manual pages", folder.display()))
        }
    }
}

fn written(text: &[u8]) -> Result<()> {
    Ok(io::stdout().lock().write_all(text)?)
}
