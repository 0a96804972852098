//! Brings memory into the cache before it is needed.
//!
//! Why unsafe: a batch of 32 lookups that prefetches all its cache lines waits for memory once
//! rather than 32 times (`docs/decisions/batches.md`). There is no safe intrinsic for it.

/// Prefetches the cache line of `items[at]`. Does nothing if `at` is out of range, or on machines
/// without such an instruction.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    if let Some(item) = items.get(at) {
        prefetch_address(core::ptr::from_ref(item).cast());
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch_address(address: *const i8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: prefetching reads nothing that the program could observe and never faults, whatever
    // the address; SSE, which has the instruction, is part of every x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
}

/// Like `prefetch`, but for writing: no other processor keeps a copy of the line.
#[inline(always)]
pub fn prefetch_to_write<T>(items: &[T], at: usize) {
    if let Some(item) = items.get(at) {
        prefetch_address_to_write(core::ptr::from_ref(item).cast());
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch_address_to_write(address: *const i8) {
    // SAFETY: prefetching reads and writes nothing that the program could observe and never faults,
    // whatever the address. Processors without the instruction ignore it. (The compiler's intrinsic
    // prefetches for reading, unless it knows that the machine has this instruction.)
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn prefetch_address(_address: *const i8) {}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn prefetch_address_to_write(_address: *const i8) {}
