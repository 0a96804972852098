//! Filters in parts, for programs that copy large ones piece by piece.

use alloc::vec::Vec;

use super::Filter;
use crate::bytes::{LoadError, Outline, WordArray};
use crate::filter::cores::Apart;

impl<C: Apart, D> Filter<C, D> {
    /// All of the filter but its digester and its large arrays: eight words and a few per layer.
    pub fn outline(&self) -> Vec<u64> {
        let mut outline = self.core.layout_block().words().to_vec();
        self.core.records(&mut outline);
        outline
    }

    /// The large arrays, without which the [outline](Self::outline) is useless.
    pub fn arrays(&self) -> Vec<&dyn WordArray> {
        let mut arrays = Vec::new();
        self.core.arrays(&mut arrays);
        arrays
    }

    /// The large arrays of a filter that [`with_outline`](Self::with_outline) made.
    ///
    /// Other changes make keys vanish, or appear.
    pub fn arrays_mut(&mut self) -> Vec<&mut dyn WordArray> {
        let mut arrays = Vec::new();
        self.core.arrays_mut(&mut arrays);
        arrays
    }

    /// A filter of this outline; all its arrays are 0, and together have at most `max_bytes` bytes.
    /// Once they are filled, [`check_arrays`](Self::check_arrays) tells whether they fit.
    ///
    /// # Errors
    /// If the outline is invalid or of larger arrays, or if there is no memory for them.
    ///
    /// # Example
    /// ```
    /// use oneread::filter::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1000, 0.01)?;
    /// filter.insert("key");
    /// let mut copy = BloomFilter::with_outline(&filter.outline(), *filter.digester(), 1 << 20)?;
    /// assert!(!copy.contains("key"));
    /// for (from, to) in filter.arrays().into_iter().zip(copy.arrays_mut()) {
    ///     // Word by word, or in pieces of any other size.
    ///     for at in 0..from.word_count() {
    ///         let mut word = [0; 8];
    ///         from.copy_to(at, &mut word);
    ///         to.copy_from(at, &word);
    ///     }
    /// }
    /// copy.check_arrays()?;
    /// assert!(copy.contains("key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_outline(outline: &[u64], digester: D, max_bytes: u64) -> Result<Self, LoadError> {
        let (layout, mut records) = Outline::new(outline, max_bytes)?;
        let core = C::read(&layout, &mut records)?;
        records.finish()?;
        Ok(Self::of(core, digester))
    }

    /// Checks that the arrays can belong to a filter of this outline.
    ///
    /// # Errors
    /// If they cannot.
    pub fn check_arrays(&self) -> Result<(), LoadError> {
        self.core.check_content()
    }
}
