//! Places large values among the bytes of all runs.

use super::PAGE;

/// The start of the next value after one that ends at `end`: right there, unless starting at the
/// next page boundary makes it touch fewer pages.
pub(crate) fn place(end: u64, length: u64) -> Option<u64> {
    let page = PAGE as u64;
    let touched = (end % page).checked_add(length)?.div_ceil(page);
    if touched <= length.div_ceil(page) { Some(end) } else { end.checked_next_multiple_of(page) }
}
