//! Two filters: merged, intersected, compared.

use super::Filter;
use crate::filter::MergeError;
use crate::filter::cores::{Intersect, Same, Union};

impl<C, D> Filter<C, D> {
    /// Adds all keys of another filter of the same layout, digester and seed.
    ///
    /// # Errors
    /// If the layouts or digesters differ, or if there is no room; nothing is changed then.
    pub fn union<E>(&mut self, other: &Filter<E, D>) -> Result<(), MergeError>
    where
        C: Union<E>,
        D: PartialEq,
    {
        self.check_digester(other)?;
        self.core.union(&other.core)
    }

    /// Keeps what may be in both filters. The rate is at most the smaller of the two, but higher
    /// than that of a filter built from the common keys.
    ///
    /// # Errors
    /// If the layouts or digesters differ; nothing is changed then.
    pub fn intersect<E>(&mut self, other: &Filter<E, D>) -> Result<(), MergeError>
    where
        C: Intersect<E>,
        D: PartialEq,
    {
        self.check_digester(other)?;
        self.core.intersect(&other.core)
    }
}

impl<C: Same<E>, E, D: PartialEq> PartialEq<Filter<E, D>> for Filter<C, D> {
    /// Equal filters have the same layout, digester and bits, and so give the same answers.
    fn eq(&self, other: &Filter<E, D>) -> bool {
        self.digester == other.digester && self.core.is_same(&other.core)
    }
}

impl<C: Same<C>, D: Eq> Eq for Filter<C, D> {}
