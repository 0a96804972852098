//! The background thread: takes steps while there is work, and syncs when it is time.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::checkpointer::{Checkpointer, Step};
use super::options::SyncPolicy;
use crate::Error;

/// The delay before a failed step is repeated.
const AGAIN: Duration = Duration::from_millis(50);

/// Starts the thread.
pub(super) fn start(checkpointer: Arc<Checkpointer>) -> Result<JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name("oneread-store".to_owned());
    thread.spawn(move || checkpointer.run()).map_err(Error::io("start a thread"))
}

impl Checkpointer {
    /// Ends the thread.
    pub(super) fn stop(&self, worker: JoinHandle<()>) {
        self.round.lock().stop = true;
        self.turned.notify_all();
        // A panic was already reported.
        _ = worker.join();
    }

    fn run(&self) {
        /// Without this, threads that wait for a dead worker would never wake up.
        struct OnPanic<'a>(&'a Checkpointer);
        impl Drop for OnPanic<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.reader.files.fail("the work of the store's own thread");
                    self.0.turned.notify_all();
                }
            }
        }
        let _on_panic = OnPanic(self);
        let interval = match self.options.sync {
            SyncPolicy::Every(interval) => interval.max(Duration::from_millis(1)),
            SyncPolicy::Always | SyncPolicy::Never => Duration::MAX,
        };
        let mut last = Instant::now();
        loop {
            let round = self.round.lock();
            if round.stop {
                return;
            }
            let mut failed = false;
            if self.reader.root.active().1 && self.reader.files.check().is_ok() {
                drop(round);
                failed = self.work().is_err();
            } else {
                drop(self.wait(round, interval));
            }
            if interval != Duration::MAX && last.elapsed() >= interval {
                last = Instant::now();
                // The failure is kept, and the next writer gets it.
                _ = self.commits.flush();
            }
            if failed {
                std::thread::sleep(AGAIN.min(interval));
            }
        }
    }

    /// Takes a step; keeps an error for writers.
    fn work(&self) -> Result<(), ()> {
        match self.step() {
            Ok(Step::Merged) => {}
            Ok(Step::Ended) => self.drop_spent(),
            Err(error) => {
                self.round.lock().error = Some(error);
                self.turned.notify_all();
                return Err(());
            }
        }
        Ok(())
    }
}
