//! A saved table, searched where its bytes lie.
//!
//! # Invariants
//! 1. What the bytes say is never trusted: a record that is not there, or not what its type writes, is no item.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use super::saved::decode;
use crate::bits::{LittleEndian, Words, reserved};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Record, View, Viewed};
use crate::hash::{Digester, Portable};
use crate::layout::MultilevelLayout;
use crate::table::placement::SavedPlaces;

/// A [`MultilevelTable`](super::MultilevelTable) searched where its bytes lie, such as a mapped file.
///
/// Keys and values are read from their records as they are asked for, and so are given by value.
///
/// # Costs
/// Items are saved one after the other, in the order of their places. Opening counts the bits that say which places are in use, one bit
/// a place, and keeps a 64-bit count for 512 of them. Where records have a fixed length ([`Record::BYTES`]) that is all: the
/// items are not read, and a lookup goes straight to those of its buckets. Where they have not, as with strings, opening goes from
/// record to record once, and keeps where every eighth begins; a lookup then passes over at most seven others for each that it
/// reads.
///
/// # Limits
/// Only lookups: to change a table, load it. As with all views, what a damaged payload answers is undefined until
/// [`verify`](View::verify) was asked, but nothing panics. Whether each item is in a bucket of its own, only loading checks.
///
/// # Example
/// ```
/// use oneread::bytes::Saved;
/// use oneread::layout::MultilevelLayout;
/// use oneread::table::{MultilevelTable, MultilevelTableView};
///
/// let mut table = MultilevelTable::new(MultilevelLayout::for_items(100, 3.0, 0.5, 4)?)?;
/// table.insert("one".to_owned(), 1u32)?;
/// let bytes = table.to_bytes();
///
/// let view: MultilevelTableView<String, u32> = MultilevelTableView::open(&bytes)?;
/// assert_eq!((view.get("two"), view.get("one"), view.len()), (None, Some(1), 1));
/// view.verify()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type MultilevelTableView<'a, K, V, D = Portable> = View<'a, SavedTable<'a, K, V, D>>;

/// What a [`MultilevelTableView`] can do.
#[derive(Clone)]
pub struct SavedTable<'a, K, V, D = Portable> {
    layout: MultilevelLayout,
    digester: D,
    places: SavedPlaces<'a>,
    records: Records<'a>,
    of: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: Record, V: Record, D: Identified> Viewed<'a> for SavedTable<'a, K, V, D> {
    const KIND: Kind = Kind::Multilevel;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let mut rest = payload;
        let (layout, generation) = decode(layout, |levels| {
            let short = LoadError::Invalid { what: "the payload is shorter than its levels" };
            let (sizes, behind) = rest.split(levels).ok_or(short)?;
            rest = behind;
            Ok((0..sizes.len()).map(|level| sizes.word(level)).collect())
        })?;
        let (places, rest) = SavedPlaces::over(&layout, generation, rest)?;
        let records = Records::over::<(K, V)>(places.len(), rest.borrowed_bytes())?;
        Ok(Self { layout, digester, places, records, of: PhantomData })
    }
}

impl<K: Record, V: Record, D> SavedTable<'_, K, V, D> {
    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() as usize
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The layout of the table.
    #[must_use]
    pub fn layout(&self) -> &MultilevelLayout {
        &self.layout
    }

    /// The digester that its keys went through.
    #[must_use]
    pub fn digester(&self) -> &D {
        &self.digester
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The key that is there and its value.
    #[must_use]
    pub fn get_key_value<Q: ?Sized + Eq>(&self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.places.find(self.digester.digest(key), |number| {
            let mut record = self.records.from::<(K, V)>(number)?;
            let present = K::read(&mut record).filter(|present| present.borrow() == key)?;
            Some((present, V::read(&mut record)?))
        })
    }

    /// Whether a key is there.
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let is_it = |number| K::read(&mut self.records.from::<(K, V)>(number)?).filter(|k| k.borrow() == key);
        self.places.find(self.digester.digest(key), is_it).is_some()
    }

    /// The items, in the order of their places. It ends early where a damaged payload has none.
    pub fn iter(&self) -> impl Iterator<Item = (K, V)> + '_ {
        let mut rest = self.records.bytes;
        (0..self.places.len()).map_while(move |_| <(K, V)>::read(&mut rest))
    }
}

impl<K, V, D> fmt::Debug for SavedTable<'_, K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedTable").field("len", &self.places.len()).finish_non_exhaustive()
    }
}

/// Records between two marks.
const RECORDS_A_MARK: u64 = 8;

/// Records one after the other.
#[derive(Clone)]
struct Records<'a> {
    bytes: &'a [u8],
    /// Where records 0, 8, 16, … begin, if they have no fixed length.
    marks: Vec<u64>,
}

impl<'a> Records<'a> {
    /// So many records, then zeros up to a whole word.
    fn over<T: Record>(count: u64, bytes: &'a [u8]) -> Result<Self, LoadError> {
        let missing = LoadError::Invalid { what: "an item that its type does not have" };
        let mut rest = bytes;
        let mut marks = Vec::new();
        if let Some(length) = T::BYTES {
            let all = usize::try_from(count).ok().and_then(|count| count.checked_mul(length));
            let Some((_, behind)) = all.and_then(|all| bytes.split_at_checked(all)) else {
                return Err(missing);
            };
            rest = behind;
        } else {
            marks = reserved(count.div_ceil(RECORDS_A_MARK))?;
            for number in 0..count {
                if number % RECORDS_A_MARK == 0 {
                    marks.push((bytes.len() - rest.len()) as u64);
                }
                if T::skip(&mut rest).is_none() {
                    return Err(missing);
                }
            }
        }
        if rest.len() >= 8 || rest.iter().any(|&byte| byte != 0) {
            return Err(LoadError::Invalid { what: "something behind the last item" });
        }
        Ok(Self { bytes, marks })
    }

    /// The bytes from a record on.
    fn from<T: Record>(&self, number: u64) -> Option<&'a [u8]> {
        if let Some(length) = T::BYTES {
            return self.bytes.get(usize::try_from(number).ok()?.checked_mul(length)?..);
        }
        let mark = *self.marks.get(usize::try_from(number / RECORDS_A_MARK).ok()?)?;
        let mut rest = self.bytes.get(usize::try_from(mark).ok()?..)?;
        for _ in 0..number % RECORDS_A_MARK {
            T::skip(&mut rest)?;
        }
        Some(rest)
    }
}
