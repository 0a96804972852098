//! `oneread store create`: creates an empty store.

use anyhow::{Result, bail};
use oneread_store::{Builder, Occupant, Options};

use super::facts::{self, Built};
use super::target::{self, Target};
use crate::args::store::Create;
use crate::output::{print, print_json};

pub(super) fn run(args: &Create) -> Result<()> {
    let lock = target::locked(&args.path)?;
    if lock.occupant() != Occupant::Nothing {
        bail!("{}: there already is such a file: name another one, or remove it", args.path.display());
    }
    let target = Target::of(&args.path, lock, false)?;
    let builder = Builder::new(Options::new().seed(args.seed).temporary_folder(target.folder()))?;
    let built = Built::of(&target.write(builder, |_| {})?);
    if args.json { print_json(&built) } else { print(&facts::table(built.rows())) }
}
