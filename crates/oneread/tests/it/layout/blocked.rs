//! Blocked layouts.

use oneread::layout::{BlockedLayout, LayoutError, Quantity};

#[test]
fn refuses_no_blocks_and_too_many() {
    assert_eq!(BlockedLayout::new(0), Err(LayoutError::Zero { what: Quantity::Blocks }));
    // 2^46 bits in blocks of 2^9.
    let most = 1 << 37;
    for blocks in [most + 1, u64::MAX] {
        let too_large = LayoutError::TooLarge { what: Quantity::Blocks, expected: most, found: blocks };
        assert_eq!(BlockedLayout::new(blocks), Err(too_large));
    }
    assert_eq!(BlockedLayout::new(most).unwrap().bits(), 1 << 46);
}

#[test]
fn a_block_is_a_cache_line() {
    let layout = BlockedLayout::new(1).unwrap();
    assert_eq!((layout.blocks(), layout.bits(), layout.byte_len()), (1, 512, 64));
    assert_eq!(BlockedLayout::HASHES, 8);
}
