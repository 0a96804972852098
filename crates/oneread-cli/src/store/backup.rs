//! `oneread store backup`: copies a store as of one moment.

use anyhow::{Context, Result, bail};
use oneread_store::{Builder, Occupant, Options};

use super::any::Any;
use super::facts::{self, Built};
use super::target::{self, Target};
use super::{explained, opened};
use crate::args::store::Backup;
use crate::output::{print, print_json};

pub(super) fn run(args: &Backup) -> Result<()> {
    let store = Any::open(&args.path)?;
    // Checked before anything is read, and again when the copy is made.
    let lock = target::locked(&args.copy)?;
    if lock.occupant() != Occupant::Nothing {
        bail!("{}: there already is such a file: name another one, or remove it", args.copy.display());
    }
    let report = match &store {
        Any::Live(store) => {
            drop(lock);
            let copied = store.backup(&args.copy).map_err(explained);
            copied.with_context(|| format!("{}: cannot copy it", args.path.display()))?
        }
        Any::Sealed(store) => {
            let target = Target::of(&args.copy, lock, false)?;
            let options = Options::new().seed(store.seed()).temporary_folder(target.folder());
            let mut builder = Builder::new(options)?;
            opened(&args.path, || {
                for pair in store.iter() {
                    let (key, value) = pair.map_err(explained)?;
                    builder.insert(&key, &value)?;
                }
                Ok(())
            })?;
            target.write(builder, |_| {})?
        }
    };
    let built = Built::of(&report);
    if args.json { print_json(&built) } else { print(&facts::table(built.rows())) }
}
