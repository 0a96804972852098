//! `oneread store create`: a store without keys.

use std::fs;

use anyhow::{Result, bail};
use oneread_store::{Builder, Options};

use super::facts::{self, Built};
use super::target::Target;
use crate::args::store::Create;
use crate::output::{print, print_json};

pub(super) fn run(args: &Create) -> Result<()> {
    if fs::symlink_metadata(&args.path).is_ok() {
        bail!("{}: there already is such a file: name another one, or remove it", args.path.display());
    }
    let target = Target::new(&args.path, false)?;
    let builder = Builder::new(Options::new().seed(args.seed).temporary_folder(target.folder()))?;
    let built = Built::of(&target.write(|path| Ok(builder.finish(path)?))?);
    if args.json { print_json(&built) } else { print(&facts::table(built.rows())) }
}
