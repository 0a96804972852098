//! Where large values lie among the bytes of all runs.

use super::PAGE;

/// Where the next value begins, when those before it end at `end`: right there, unless at the next
/// page boundary it would lie on fewer pages.
pub(crate) fn place(end: u64, length: u64) -> Option<u64> {
    let page = PAGE as u64;
    let touched = (end % page).checked_add(length)?.div_ceil(page);
    if touched <= length.div_ceil(page) { Some(end) } else { end.checked_next_multiple_of(page) }
}
