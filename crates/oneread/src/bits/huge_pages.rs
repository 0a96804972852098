//! Large pages, so that a lookup misses one cache and not two.
//!
//! Why unsafe: the processor caches too few page addresses for a structure of many megabytes. A
//! random read then waits for its page's address before it waits for the data. Pages of 2 MiB avoid
//! the first wait. Most Linux systems give them only on request, and no safe call requests them.

/// Advises the system to put the memory of a vector that is about to be filled on large pages. The
/// system may decline.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
pub fn ask_for_large_pages<T>(memory: &mut [core::mem::MaybeUninit<T>]) {
    const HUGE_PAGE: usize = 2 << 20;
    const PAGE: usize = 4096;
    // The second-level address cache covers smaller structures, which would waste most of a large
    // page.
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

/// Does nothing on systems without this call.
#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
pub fn ask_for_large_pages<T>(_memory: &mut [core::mem::MaybeUninit<T>]) {}
