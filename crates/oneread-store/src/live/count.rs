//! How many keys there are, exactly, with changes that are not on pages yet.
//!
//! Pages know what they have, and each root has the [`Totals`] of its pages. A change in memory
//! adds to them what it sets and takes away what it replaces: a change of the second buffer, or a
//! record on a page. Whether there is one on a page is not known when a change is made, since that
//! would take a read. So it is looked for when somebody counts, and kept with the change.
//!
//! # Why it may be kept
//! The record that a change replaces is on a page of the root in which it was looked for. It stays
//! as it is until the change itself is merged: pages change only by merges of the second buffer,
//! and a key that is in the second buffer is never looked for on behalf of a change in the first.
//! From then on the change counts as merged and nobody asks.

use std::sync::Arc;

use oneread::hash::Digester;

use super::buffer::{Change, OnPage};
use super::manifest::Totals;
use super::reader::{PageLookup, Reader};
use super::root::{LogBuffer, Root};
use crate::Error;
use crate::format::record::Stored;

impl Reader {
    /// What all keys and values come to at one moment.
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
            // Both at one moment. The second one does not change, so nobody waits for it.
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
                self.find_on_pages(root.clone(), digest, key, &mut scratch, |stored, _, _| match stored {
                    Stored::Inline(value) => value.len() as u64,
                    Stored::Run(run) => run.length,
                })?;
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

/// Counts a change, and no longer what it replaces.
fn replace(totals: &mut Totals, change: &Change, old: OnPage) {
    let key = change.key().len() as u64;
    // Totals of a damaged manifest may be anything.
    if let OnPage::Present(value) = old {
        totals.items = totals.items.wrapping_sub(1);
        totals.key_bytes = totals.key_bytes.wrapping_sub(key);
        totals.value_bytes = totals.value_bytes.wrapping_sub(value);
    }
    if let Some(value) = change.value() {
        totals.items = totals.items.wrapping_add(1);
        totals.key_bytes = totals.key_bytes.wrapping_add(key);
        totals.value_bytes = totals.value_bytes.wrapping_add(value.len() as u64);
    }
}
