//! `oneread simulate`: tries out designs before they are built.

mod table;

use anyhow::Result;

use crate::args::simulate::Simulate;

pub(crate) fn run(command: &Simulate) -> Result<()> {
    match command {
        Simulate::Table(args) => table::run(args),
    }
}
