//! Counts keys exactly, including changes that are not on pages yet.
//!
//! Each root has the [`Totals`] of its pages. A change in memory adds what it sets and subtracts
//! what it replaces: a change of the second buffer, or a record on a page. Finding that record
//! takes a read, so it is not done when the change is made, but when somebody counts. The result is
//! kept with the change.
//!
//! # Why it may be kept
//! The record that a change replaces is on a page of the root in which it was found. It stays the
//! same until the change itself is merged: pages change only by merges of the second buffer, and
//! the page of a key in the second buffer is never looked up for a change in the first. Once
//! merged, the change is no longer consulted.

use std::sync::Arc;

use oneread::hash::Digester;

use super::buffer::{Change, OnPage};
use super::reader::{PageLookup, Reader};
use super::root::{LogBuffer, Root};
use crate::Error;
use crate::totals::Totals;

impl Reader {
    /// The totals of all keys and values at one moment.
    pub(super) fn totals(&self) -> Result<Totals, Error> {
        self.totals_of(&self.root())
    }

    pub(super) fn totals_of(&self, root: &Arc<Root>) -> Result<Totals, Error> {
        let mut totals = root.totals;
        let mut unknown: Vec<(&LogBuffer, u64, Change)> = Vec::new();
        let mut count = |buffer, word, change: &Change, below: Option<OnPage>| match below {
            Some(below) => replace(&mut totals, change, below),
            None => unknown.push((buffer, word, change.clone())),
        };
        {
            // Both are of one moment. The second buffer does not change, so nobody waits for it.
            let active = root.active.read();
            let frozen = root.frozen.as_ref().map(|buffer| (&**buffer, buffer.read()));
            for (word, change) in active.range(0..=u64::MAX) {
                let older = frozen.as_ref().and_then(|(_, frozen)| frozen.get(word, change.key()));
                let below = older.map_or_else(|| change.on_page(), |older| Some(older.merged()));
                count(&*root.active, word, change, below);
            }
            if let Some((buffer, frozen)) = &frozen
                && let Ok(first) = u64::try_from(root.merged)
            {
                for (word, change) in frozen.range(first..=u64::MAX) {
                    count(buffer, word, change, change.on_page());
                }
            }
        }
        let mut scratch = Vec::new();
        for (buffer, word, change) in unknown {
            let key = change.key();
            let digest = self.digester.digest(key);
            let found =
                self.find_on_pages(root.clone(), digest, key, &mut scratch, |value, _, _| value.byte_len())?;
            let on_page = match found {
                PageLookup::Found(length) => OnPage::Present(length),
                PageLookup::Absent { .. } => OnPage::Absent,
            };
            buffer.read().keep_on_page(word, key, on_page);
            replace(&mut totals, &change, on_page);
        }
        Ok(totals)
    }
}

/// Adds a change and subtracts what it replaces.
fn replace(totals: &mut Totals, change: &Change, old: OnPage) {
    let key_bytes = change.key().len();
    if let OnPage::Present(value_bytes) = old {
        totals.subtract(Totals::of(key_bytes, value_bytes));
    }
    if let Some(value) = change.value() {
        totals.add(Totals::of(key_bytes, value.len() as u64));
    }
}
