//! Asking for large pages, so that a lookup misses one cache and not two.
//!
//! Why unsafe: a structure of more than a few megabytes has more pages than the processor remembers
//! the addresses of, so that a random read waits for its page's address first and then for the
//! data. With pages of 2 MiB it waits for the data alone. Most Linux systems give such pages only
//! to those who ask, and there is no safe call for it.

/// Asks the system to put the memory of a vector that is about to be filled on large pages. A wish,
/// not a condition.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
pub fn ask_for_large_pages<T>(memory: &mut [core::mem::MaybeUninit<T>]) {
    const HUGE_PAGE: usize = 2 << 20;
    const PAGE: usize = 4096;
    // Smaller structures fit the second-level address cache, and would waste most of a large page.
    if size_of_val(memory) < 2 * HUGE_PAGE {
        return;
    }
    let memory = memory.as_mut_ptr_range();
    let start = memory.start.addr().next_multiple_of(PAGE);
    let length = (memory.end.addr() - start) / PAGE * PAGE;
    // SAFETY: the range lies within memory that is borrowed mutably, and this advice changes
    // nothing in it. If the system refuses, nothing has happened.
    unsafe { libc::madvise(memory.start.with_addr(start).cast(), length, libc::MADV_HUGEPAGE) };
}

/// Does nothing where there is no such call.
#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
pub fn ask_for_large_pages<T>(_memory: &mut [core::mem::MaybeUninit<T>]) {}
