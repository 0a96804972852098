//! Opening a live store to be written: its parts, made of what the files say.

use std::sync::Arc;

use super::checkpointer::Checkpointer;
use super::disk::{Disk, OpenMode};
use super::files::{Files, Paths};
use super::group_commit::GroupCommit;
use super::load::{Loaded, load};
use super::log::Log;
use super::options::StoreOptions;
use super::ranked::Locks;
use super::reader::Reader;
use super::root::CurrentRoot;
use super::writer::Writer;
use crate::Error;
use crate::digest::Portable;
use crate::read::counters::Counters;

/// The parts of a store whose lock is held. A sealed one has become live before.
pub(super) fn open(
    disk: Arc<dyn Disk>,
    paths: Paths,
    mut options: StoreOptions,
) -> Result<(Writer, Arc<Checkpointer>), Error> {
    let loaded = load(&*disk, &paths, OpenMode::Write, options.lose_damaged_log)?;
    let log = open_log(&*disk, &paths, &loaded)?.for_buffer(options.buffer_bytes);
    let Loaded { manifest, data, root, .. } = loaded;
    options.miss_rate = manifest.miss_rate;
    let files = Files::new(disk, paths, manifest.store);
    let reader = Arc::new(Reader {
        files: files.clone(),
        digester: Portable::with_seed(manifest.seed),
        data,
        root: CurrentRoot::new(root),
        counters: Counters::new(),
        stamp: None,
    });
    let locks = Locks::new();
    let commits = Arc::new(GroupCommit::new(files, locks, &log));
    let segment_pages = manifest.segment_pages;
    let checkpointer = Arc::new(Checkpointer::new(reader, commits, locks, options, manifest));
    Ok((Writer::new(checkpointer.clone(), locks, log, segment_pages), checkpointer))
}

/// Opens the newest log, to go on behind its last whole record.
fn open_log(disk: &dyn Disk, paths: &Paths, loaded: &Loaded) -> Result<Log, Error> {
    let opened = |number: u64, mode| disk.open(&paths.log(number), mode).map_err(Error::io("open the log"));
    let number = loaded.root.active.log;
    // A process that was killed may have left to the system what it had done last: the name of the
    // manifest, and the end of logs. Whatever is built on them comes after they are safe.
    paths.sync_folder(disk)?;
    if let Some(frozen) = &loaded.root.frozen {
        opened(frozen.log, OpenMode::Write)?.sync().map_err(Error::sync("the log"))?;
    }
    let session = Portable::random().seed();
    if let Some(end) = &loaded.newest {
        let file = opened(number, OpenMode::Write)?;
        if end.damaged {
            // What is given up must not be found again.
            file.truncate(end.end).map_err(Error::io("cut the log"))?;
        }
        let log = Log::resume(file, end, session)?;
        log.file.sync().map_err(Error::sync("the log"))?;
        return Ok(log);
    }
    // As the end of the log before names it; and emptied, so that nothing follows that was written
    // under that name.
    let file = opened(number, OpenMode::Create)?;
    let log = Log::begin(file, loaded.manifest.store, number, loaded.session.unwrap_or(session))?;
    log.file.sync().map_err(Error::sync("the log"))?;
    paths.sync_folder(disk)?;
    Ok(log.with_session(session))
}
