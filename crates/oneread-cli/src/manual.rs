//! `oneread completions` and `oneread man`: help for shells and for `man`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Command;
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
            page_of(args::command()).render(&mut page)?;
            written(&page)
        }
        Some(folder) => {
            let write = || {
                let mut command = args::command().disable_help_subcommand(true);
                command.build();
                fs::create_dir_all(folder).and_then(|()| write_pages(&command, folder))
            };
            write().with_context(|| format!("{}: cannot write the manual pages", folder.display()))
        }
    }
}

/// Writes the pages of a command and of its subcommands.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    let mut shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.try_for_each(|command| write_pages(command, folder))?;
    page_of(command.clone()).generate_to(folder).map(|_| ())
}

/// A page with the program's name and version at the bottom, also of a subcommand.
fn page_of(command: Command) -> Man {
    Man::new(command).source(format!("{NAME} {}", env!("CARGO_PKG_VERSION")))
}

fn written(text: &[u8]) -> Result<()> {
    Ok(io::stdout().lock().write_all(text)?)
}
