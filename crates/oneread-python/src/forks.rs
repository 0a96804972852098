//! Counts the forks of this process, so that a child notices what it cannot use.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

static FORKS: AtomicU64 = AtomicU64::new(0);

/// Counts a fork; the package registers it with `os.register_at_fork`, to run in the child.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The forks between the first process and this one.
pub(crate) fn count() -> u64 {
    FORKS.load(Ordering::Relaxed)
}
