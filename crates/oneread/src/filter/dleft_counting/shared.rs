//! The tables of a format, shared by all filters with the same format.
//!
//! They take 80 KiB, whatever the size of the filter: far more than the buckets of small filters or
//! layers.

use alloc::sync::Arc;

use super::format::Format;
use crate::bits::OutOfMemory;
use crate::layout::DLeftCountingLayout;

/// The format of a layout, shared with another filter if possible.
#[cfg(feature = "std")]
pub(super) fn format_of(layout: DLeftCountingLayout) -> Result<Arc<Format>, OutOfMemory> {
    use alloc::sync::Weak;
    use alloc::vec::Vec;
    use std::sync::{Mutex, PoisonError};

    use crate::layout::{Remainders, Repeats};

    /// The policies that determine a format.
    type Policies = (Remainders, Repeats, u32, u32);
    /// At most one entry per combination of policies: some dozens.
    static MADE: Mutex<Vec<(Policies, Weak<Format>)>> = Mutex::new(Vec::new());

    let policies = (layout.remainders(), layout.repeats(), layout.capacity(), layout.counter_bits());
    // A panic elsewhere leaves the list intact: an entry is pushed or not.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let same =
        |(of, format): &(Policies, Weak<Format>)| (*of == policies).then(|| format.upgrade()).flatten();
    if let Some(format) = made.iter().find_map(same) {
        return Ok(format);
    }
    let format = Arc::new(Format::new(layout)?);
    made.retain(|(_, format)| format.strong_count() > 0);
    made.push((policies, Arc::downgrade(&format)));
    Ok(format)
}

/// Without the standard library there are no locks, and each filter has its own.
#[cfg(not(feature = "std"))]
pub(super) fn format_of(layout: DLeftCountingLayout) -> Result<Arc<Format>, OutOfMemory> {
    Ok(Arc::new(Format::new(layout)?))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn filters_of_one_format_share_it_and_others_do_not() {
        let layout = DLeftCountingLayout::new(3, 40).unwrap();
        let [first, second] =
            [40, 77].map(|buckets| format_of(DLeftCountingLayout::new(3, buckets).unwrap()).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        for other in [
            layout.with_capacity(layout.capacity() - 1).unwrap(),
            layout.with_counter_bits(layout.counter_bits() + 1).unwrap(),
        ] {
            assert!(!Arc::ptr_eq(&first, &format_of(other).unwrap()), "{other:?}");
        }
    }
}
