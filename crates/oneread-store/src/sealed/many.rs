//! Many lookups at once, to keep a fast disk busy.

use crate::read::many;
use crate::{Error, ReadAt};

use super::Sealed;

impl<R: ReadAt> Sealed<R> {
    /// Returns the values of many keys, in order. Keeps as many reads in flight as the medium
    /// [needs](ReadAt::in_flight), each on its own thread.
    ///
    /// Each call starts threads, at about ten microseconds each. This pays off from a few hundred
    /// uncached keys on.
    ///
    /// # Example
    /// ```
    /// use oneread_store::{Builder, Options, Sealed};
    ///
    /// let mut builder = Builder::new(Options::new())?;
    /// builder.insert(b"a", b"1")?;
    /// builder.insert(b"b", b"2")?;
    /// let store = Sealed::open_in(builder.finish_in_memory()?.0)?;
    /// let values: Result<Vec<_>, _> = store.get_many(&["b", "c", "a"]).into_iter().collect();
    /// assert_eq!(values?, [Some(b"2".to_vec()), None, Some(b"1".to_vec())]);
    /// # Ok::<(), oneread_store::Error>(())
    /// ```
    pub fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        self.get_many_with(keys, self.reader.in_flight())
    }

    /// Like [`get_many`](Self::get_many), but on `threads` threads.
    pub fn get_many_with<K: AsRef<[u8]> + Sync>(
        &self,
        keys: &[K],
        threads: usize,
    ) -> Vec<Result<Option<Vec<u8>>, Error>> {
        many::each(keys, threads, |key| self.get(key.as_ref()))
    }
}
