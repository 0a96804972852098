//! Insertions from many threads.

use alloc::vec::Vec;

use super::choices::{self, Choice, Choices, with_choices};
use super::{AtomicDLeftFilter, DLeft, DLeftFilter, many, simd};
use crate::bits::AtomicWords;
use crate::filter::Full;
use crate::filter::cores::{ChangeShared, Clear, Shared};
use crate::hash::Digest;
use crate::layout::BucketBits;

/// An insertion replaces one word, a bucket. If another thread changed it meanwhile, all buckets
/// are read again. (A change in *another* bucket may make this choice no longer the best, but it
/// remains valid.)
impl ChangeShared for DLeft<AtomicWords> {
    type Inserted = Result<bool, Full>;

    #[inline]
    fn insert(&self, digest: Digest) -> Result<bool, Full> {
        match self.usual_pages {
            Some(pages) => self.insert_at(choices::paged(digest, pages.get(), BucketBits::Bits64)),
            None => self.insert_other_layout(digest),
        }
    }

    fn insert_many(&self, digests: impl Iterator<Item = Digest>, _scratch: u64) -> Result<(), Full> {
        with_choices!(self, choose => {
            // SAFETY: `Choices`, which makes the buckets, and the words are of one layout, which
            // has a word for each bucket.
            unsafe { many::insert(self.isa, &mut &self.words, digests.map(choose)) }
        })
    }
}

impl Clear for DLeft<AtomicWords> {
    type Cleared = ();

    fn clear(&mut self) {
        self.words.clear();
    }
}

impl DLeft<AtomicWords> {
    #[inline(never)]
    fn insert_other_layout(&self, digest: Digest) -> Result<bool, Full> {
        with_choices!(self, choose => self.insert_at(choose(digest)))
    }

    #[inline(always)]
    fn insert_at<const DD: usize>(&self, choice: Choice<DD>) -> Result<bool, Full> {
        let Choice { buckets, fingerprint } = choice;
        // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has a
        // word for each bucket.
        unsafe { simd::insert::<DD, true, _>(self.isa, &mut &self.words, buckets, fingerprint) }.into()
    }
}

impl<D> TryFrom<DLeftFilter<D>> for AtomicDLeftFilter<D> {
    /// Returns the filter if its buckets are not single words in the default encoding.
    type Error = DLeftFilter<D>;

    fn try_from(filter: DLeftFilter<D>) -> Result<Self, DLeftFilter<D>> {
        if filter.core().codec.is_some() {
            return Err(filter);
        }
        let shared = |DLeft { layout, words, .. }: DLeft<Vec<u64>>| {
            Shared(DLeft::over_words(layout, AtomicWords::from(&*words)))
        };
        Ok(filter.map(shared))
    }
}

impl<D> From<AtomicDLeftFilter<D>> for DLeftFilter<D> {
    fn from(filter: AtomicDLeftFilter<D>) -> Self {
        filter.map(|Shared(DLeft { layout, words, .. })| DLeft::over_words(layout, Vec::from(&words)))
    }
}
