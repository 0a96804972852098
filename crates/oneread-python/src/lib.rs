//! The extension module `oneread._oneread`; `python/oneread` gives it its public names.

mod arrow;
mod batch;
mod changes;
mod errors;
mod filters;
mod forks;
mod keys;
mod pairs;
mod plan;
mod store;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _oneread {
    #[pymodule_export]
    use super::changes::Batch;
    #[pymodule_export]
    use super::errors::{CorruptError, FullError};
    #[pymodule_export]
    use super::filters::{
        BlockedBloomFilter, BloomFilter, CountMinSketch, CountingBloomFilter, DLeftCountingFilter,
        DLeftFilter, Filter, GrowingFilter, GrowingLineFilter, LineFilter, RemovableFilter,
    };
    #[pymodule_export]
    use super::forks::forked;
    #[pymodule_export]
    use super::keys::digest;
    #[pymodule_export]
    use super::pairs::{PairIterator, build};
    #[pymodule_export]
    use super::plan::{plan_filter, plan_store};
    #[pymodule_export]
    use super::store::BaseStore;
}
