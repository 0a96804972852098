//! A structure that threads share: in memory, or in a mapped file.

use std::sync::{PoisonError, RwLock};

use pyo3::prelude::*;

use crate::errors;

/// A structure in memory `M`, or in a mapped file `F`.
pub(super) enum Body<M, F> {
    Memory(M),
    File(F),
}

impl<M, F> Body<M, F> {
    /// The structure, to change it.
    pub(super) fn changed(&mut self) -> PyResult<&mut M> {
        match self {
            Self::Memory(memory) => Ok(memory),
            Self::File(_) => Err(errors::read_only(
                "a filter that was opened with mmap=True is read-only: change a copy of it, or open it with \
                 mmap=False",
            )),
        }
    }
}

/// A body that one thread changes or many read.
///
/// The lock is held for one operation, and never while Python code runs. So a thread that waits for
/// it while it holds the interpreter's lock would wait for a thread that needs neither; it releases
/// the interpreter's lock all the same, for the others.
pub(super) struct Guarded<B>(RwLock<B>);

impl<B: Send + Sync> Guarded<B> {
    pub(super) const fn new(body: B) -> Self {
        Self(RwLock::new(body))
    }

    /// Runs a short operation with the interpreter's lock, unless another thread is at work.
    #[inline]
    pub(super) fn read<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&B) -> T + Send) -> T {
        match self.0.try_read() {
            Ok(body) => work(&body),
            Err(_) => py.detach(|| self.read_alone(work)),
        }
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn write<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut B) -> T + Send) -> T {
        match self.0.try_write() {
            Ok(mut body) => work(&mut body),
            Err(_) => py.detach(|| self.write_alone(work)),
        }
    }

    /// Runs an operation in a thread that does not hold the interpreter's lock. (A panic cannot
    /// leave a body that is unsafe to use.)
    pub(super) fn read_alone<T>(&self, work: impl FnOnce(&B) -> T) -> T {
        work(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same, to change it.
    pub(super) fn write_alone<T>(&self, work: impl FnOnce(&mut B) -> T) -> T {
        work(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads two bodies that are not the same, in the order of their addresses: so threads that
    /// lock the same two never wait for each other.
    pub(super) fn read_two<T>(&self, other: &Self, work: impl FnOnce(&B, &B) -> T) -> T {
        if self.is_before(other) {
            self.read_alone(|body| other.read_alone(|other| work(body, other)))
        } else {
            other.read_alone(|other| self.read_alone(|body| work(body, other)))
        }
    }

    /// The same, to change the first one.
    pub(super) fn write_one_of_two<T>(&self, other: &Self, work: impl FnOnce(&mut B, &B) -> T) -> T {
        if self.is_before(other) {
            self.write_alone(|body| other.read_alone(|other| work(body, other)))
        } else {
            other.read_alone(|other| self.write_alone(|body| work(body, other)))
        }
    }

    fn is_before(&self, other: &Self) -> bool {
        std::ptr::from_ref(self) < std::ptr::from_ref(other)
    }
}
