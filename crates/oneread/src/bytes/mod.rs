//! Structures as bytes: saved, loaded, and queried in place.
//!
//! Every structure that implements [`Saved`] writes one self-describing container: its kind,
//! digester, seed, layout and payload, and checksums over all of it. `docs/format.md` specifies
//! every byte. Every later release loads what a release has written.
//!
//! ```
//! use oneread::filter::{BloomFilter, BloomView};
//!
//! let mut filter = BloomFilter::with_rate(1000, 0.01)?;
//! filter.insert("key");
//! let bytes = filter.to_bytes();
//!
//! let loaded = BloomFilter::from_bytes(&bytes)?;
//! assert!(!loaded.contains("another key") && loaded.contains("key"));
//!
//! // Queried where it lies, for example in a mapped file: nothing is copied.
//! let view = BloomView::open(&bytes)?;
//! assert!(!view.contains("another key") && view.contains("key"));
//! view.verify()?;
//!
//! let damaged = [&bytes[..200], &[bytes[200] ^ 1], &bytes[201..]].concat();
//! assert!(BloomFilter::from_bytes(&damaged).is_err());
//! assert!(BloomView::open(&damaged)?.verify().is_err()); // opening does not read the payload
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod header;
mod identity;
mod parts;
mod record;
mod saved;
#[cfg(feature = "serde")]
mod serde;
mod source;
mod view;

pub use error::LoadError;
pub use header::Kind;
pub use identity::{Identified, Identity};
pub use parts::WordArray;
pub use record::Record;
pub use saved::Saved;
pub use view::{View, Viewed};

pub(crate) use header::LayoutBlock;
pub(crate) use parts::{Outline, Zeros};
pub(crate) use source::{Owned, Payload, Rest, Source};

use crate::bits::Words;

/// Passes words to `sink` as little-endian bytes, in pieces of a few kilobytes.
pub(crate) fn write_words(words: &impl Words, sink: &mut dyn FnMut(&[u8])) {
    const PIECE: usize = 512;
    let mut piece = [[0; 8]; PIECE];
    for start in (0..words.len()).step_by(PIECE) {
        let count = PIECE.min(words.len() - start);
        for (i, bytes) in piece[..count].iter_mut().enumerate() {
            *bytes = words.word(start + i).to_le_bytes();
        }
        sink(piece[..count].as_flattened());
    }
}
