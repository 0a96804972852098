//! The classes of filters: a name and a constructor each.

use pyo3::prelude::*;

use super::any::{Name, Owned};
use super::body::Body;
use super::class::{Filter, RemovableFilter};
use crate::keys;

fn made(py: Python<'_>, name: Name, items: u64, rate: f64, seed: Option<u64>) -> PyResult<Filter> {
    let filter = py.detach(|| Owned::new(name, items, rate, keys::digester(seed)))?;
    Ok(Filter::new(Body::Memory(filter)))
}

/// The initializer of a base.
macro_rules! over {
    ($filter:expr, Filter) => {
        $filter
    };
    ($filter:expr, $base:ident) => {
        $filter.add_subclass($base)
    };
}

/// Makes a class for each kind. Those with `RemovableFilter` can remove keys.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $class:ident: $base:tt;)*) => {
        $(
            $(#[$doc])*
            #[pyclass(module = "oneread", frozen, extends = $base)]
            pub(crate) struct $class;

            #[pymethods]
            impl $class {
                #[new]
                #[pyo3(signature = (items, rate=0.01, *, seed=None))]
                fn new(py: Python<'_>, items: u64, rate: f64, seed: Option<u64>) -> PyResult<PyClassInitializer<Self>> {
                    Ok(Self::initializer(made(py, Name::$kind, items, rate, seed)?))
                }
            }

            impl $class {
                fn initializer(filter: Filter) -> PyClassInitializer<Self> {
                    over!(PyClassInitializer::from(filter), $base).add_subclass(Self)
                }
            }
        )*

        /// The filter as an object of its class.
        pub(super) fn wrapped(py: Python<'_>, filter: Filter) -> PyResult<Py<PyAny>> {
            Ok(match filter.name() {
                $(Name::$kind => Py::new(py, $class::initializer(filter))?.into_any(),)*
            })
        }
    };
}

kinds! {
    /// A Bloom filter: the fewest bits for adding and looking up, 9.6 per key at a rate of 1%.
    ///
    /// `BloomFilter(items, rate=0.01, *, seed=None)` has room for `items` keys; beyond that its
    /// rate rises. Without a seed, one is drawn, and saved with the filter.
    Bloom => BloomFilter: Filter;
    /// A blocked Bloom filter: the fastest lookup, one cache line; 10.1 bits per key at a rate of
    /// 1%.
    Blocked => BlockedBloomFilter: Filter;
    /// A counting Bloom filter: keys can be removed; 38 bits per key at a rate of 1%. `LineFilter`
    /// takes a third of that.
    Counting => CountingBloomFilter: RemovableFilter;
    /// A d-left filter: the fewest false positives from 16 bits per key on. `FullError` if a key
    /// finds no room.
    DLeft => DLeftFilter: Filter;
    /// A d-left counting filter: keys can be removed; 13 to 17 bits per key. `FullError` if a key
    /// finds no room.
    DLeftCounting => DLeftCountingFilter: RemovableFilter;
    /// A line filter: keys can be removed, in the fewest bits and one cache line per lookup; 13.2
    /// bits per key at a rate of 0.07%. `FullError` if a key finds no room.
    Line => LineFilter: RemovableFilter;
    /// A growing filter: a Bloom filter that keeps its rate at any number of keys; `items` is that
    /// of its first layer.
    Growing => GrowingFilter: Filter;
    /// A growing line filter: keys can be removed, and their number need not be known; `items` is
    /// that of its first layer.
    GrowingLine => GrowingLineFilter: RemovableFilter;
}
