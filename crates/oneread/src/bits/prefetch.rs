//! Bringing memory near before it is needed.
//!
//! Why unsafe: a batch of 32 lookups that asks for all its cache lines first waits for memory once
//! rather than 32 times. Measured on the blocked filter with 40 million keys, batches were 2.1 to
//! 2.3 times as fast as single operations. There is no safe intrinsic for it.

/// Asks for the cache line of `items[at]`. Does nothing out of range, or where there is no such
/// instruction.
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

/// Asks for the cache line of `items[at]` as one that will be written: no other processor keeps a
/// copy. Does nothing out of range, or where there is no such instruction.
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
    // whatever the address; processors without the instruction do nothing in its place. (The
    // compiler's own function for it makes a prefetch to read, unless it knows that the machine has
    // it.)
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
