//! How a blocked Bloom filter is laid out.

use super::error::check_places;
use super::{LayoutError, MAX_PLACES, Quantity};

/// A Bloom filter in cache-line blocks: a key sets one bit in each of its block's eight words.
///
/// [`plan::blocked`](crate::plan::blocked) computes its odds, and finds the smallest layout for a
/// rate.
///
/// # Example
/// ```
/// use oneread::layout::BlockedLayout;
///
/// assert!(BlockedLayout::new(0).is_err());
/// let layout = BlockedLayout::new(3)?;
/// assert_eq!((layout.bits(), layout.byte_len()), (1536, 192));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BlockedLayout {
    blocks: u64,
}

impl BlockedLayout {
    /// The bits per block: a cache line of 64 bytes.
    pub const BLOCK_BITS: u64 = 512;

    /// The bits that a key sets: one in each 64-bit word of its block.
    pub const HASHES: u32 = 8;

    /// The most blocks: [`MAX_PLACES`] bits.
    pub const MAX_BLOCKS: u64 = MAX_PLACES / Self::BLOCK_BITS;

    /// Takes `blocks` blocks of 512 bits.
    ///
    /// # Errors
    /// If there are no blocks or more than [`MAX_BLOCKS`](Self::MAX_BLOCKS).
    pub fn new(blocks: u64) -> Result<Self, LayoutError> {
        check_places(Quantity::Blocks, blocks, Self::MAX_BLOCKS)?;
        Ok(Self { blocks })
    }

    /// The number of blocks.
    #[must_use]
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The bits of all blocks.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.blocks * Self::BLOCK_BITS
    }

    /// The bytes of all blocks.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.bits() / 8
    }
}
