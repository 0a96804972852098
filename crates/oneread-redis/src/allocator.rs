//! Allocates from the server, so that memory counts in `used_memory`, `maxmemory` and `MEMORY
//! USAGE`.
//!
//! The server's allocator guarantees an alignment of 16 bytes only, but a filter's lines are
//! aligned to 64. For those this allocates more than needed, and stores the server's address
//! directly before the address that it returns.
//!
//! `RedisModule_Alloc` ends the server when memory runs out; `RedisModule_TryAlloc` returns null.
//! The library allocates large parts with `try_reserve`, so that a filter that is too large only
//! fails its command.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use valkey_module::raw;

/// The alignment that the server's allocator guarantees.
const ALIGNED: usize = 16;

/// The room for the server's address.
const NOTE: usize = size_of::<*mut u8>();

pub(crate) struct FromServer;

#[global_allocator]
static ALLOCATOR: FromServer = FromServer;

/// The server's functions, or `None` before the module is loaded and in tests without a server. The
/// system's allocator serves then; inside a server nothing is allocated before loading.
#[inline]
fn server() -> Option<(unsafe extern "C" fn(usize) -> *mut c_void, unsafe extern "C" fn(*mut c_void))> {
    // SAFETY: these are written once, on loading, before any other thread of ours exists. Every
    // server that can load the module (Redis 7.0 or later) has `TryAlloc`; without it, `Alloc`
    // serves.
    unsafe { Some((raw::RedisModule_TryAlloc.or(raw::RedisModule_Alloc)?, raw::RedisModule_Free?)) }
}

/// A function of the server that allocates a count of items of a size, set to 0.
type Calloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;

/// `RedisModule_TryCalloc`, which Redis has from 7.4 on and Valkey from 8.0 on; else null.
static TRY_CALLOC: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Looks for functions that not all servers have.
pub(crate) fn on_load() {
    // SAFETY: `GetApi` was resolved with all other functions; it writes a function's address, or
    // leaves the null.
    unsafe {
        if let Some(get) = raw::RedisModule_GetApi {
            let mut found: *mut c_void = std::ptr::null_mut();
            get(c"RedisModule_TryCalloc".as_ptr(), (&raw mut found).cast());
            TRY_CALLOC.store(found, Ordering::Relaxed);
        }
    }
}

/// Below this size, writing zeros costs less than the system's fresh pages.
const LARGE: usize = 1 << 20;

/// Memory set to 0, or null. Large memory comes as pages that the system zeroes on first use.
///
/// # Safety
/// Only with the server's functions, once the module is loaded.
unsafe fn zeroed(
    size: usize,
    alloc: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
) -> *mut u8 {
    let try_calloc = TRY_CALLOC.load(Ordering::Relaxed);
    // SAFETY: the caller's; the pointer has the type of the function of its name, and memory is
    // freed once.
    unsafe {
        if size < LARGE {
            let given: *mut u8 = alloc(size).cast();
            if !given.is_null() {
                given.write_bytes(0, size);
            }
            return given;
        }
        if !try_calloc.is_null() {
            return std::mem::transmute::<*mut c_void, Calloc>(try_calloc)(1, size).cast();
        }
        let Some(calloc) = raw::RedisModule_Calloc else { return std::ptr::null_mut() };
        // `Calloc` ends the server when memory runs out, so this tries the size beforehand. Large
        // memory is allocated by the thread of the commands alone.
        let tried = alloc(size);
        if tried.is_null() {
            return std::ptr::null_mut();
        }
        free(tried);
        calloc(1, size).cast()
    }
}

/// Whether allocations are measured, and the bytes that they took.
static IS_MEASURING: AtomicBool = AtomicBool::new(false);
static MEASURED: AtomicUsize = AtomicUsize::new(0);

/// The bytes of the server's memory that `make` allocates, with what the server's allocator adds.
/// Only for commands: one thread runs them.
pub(crate) fn measure<T>(make: impl FnOnce() -> T) -> usize {
    MEASURED.store(0, Ordering::Relaxed);
    IS_MEASURING.store(true, Ordering::Relaxed);
    let made = make();
    IS_MEASURING.store(false, Ordering::Relaxed);
    drop(made);
    MEASURED.load(Ordering::Relaxed)
}

/// The bytes of the server's memory that an allocation of this size takes.
pub(crate) fn taken(bytes: usize) -> usize {
    let Some((alloc, free)) = server() else { return bytes };
    // SAFETY: the server's functions; memory is freed once, unused.
    unsafe {
        let given = alloc(bytes);
        if given.is_null() {
            return bytes;
        }
        let taken = raw::RedisModule_MallocSize.map_or(bytes, |size| size(given));
        free(given);
        taken
    }
}

#[cold]
fn add_measured(given: *mut c_void) {
    // SAFETY: the server just returned this address.
    let bytes = unsafe { raw::RedisModule_MallocSize.map_or(0, |size| size(given)) };
    MEASURED.fetch_add(bytes, Ordering::Relaxed);
}

/// The first address with this alignment behind the note of the server's address.
///
/// # Safety
/// `given` has the bytes of [`padded`].
unsafe fn aligned(given: *mut u8, align: usize) -> *mut u8 {
    if given.is_null() {
        return given;
    }
    // SAFETY: at least the requested bytes follow the stored address and at most `align` bytes of
    // padding.
    unsafe {
        let start = given.add(NOTE);
        let aligned = start.add(start.align_offset(align));
        aligned.cast::<*mut u8>().sub(1).write_unaligned(given);
        aligned
    }
}

/// The bytes that hold the layout at any address.
fn padded(layout: Layout) -> Option<usize> {
    // The server's addresses are multiples of 8, so that the note fits into the padding.
    layout.size().checked_add(layout.align())
}

// SAFETY: memory from the server's allocator goes back to it, and memory from the system's
// allocator to that one; alignment is as described above.
unsafe impl GlobalAlloc for FromServer {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((alloc, _)) = server() else {
            // SAFETY: the caller keeps the contract of `alloc`.
            return unsafe { System.alloc(layout) };
        };
        let is_aligned = layout.align() <= ALIGNED;
        let size = if is_aligned { Some(layout.size()) } else { padded(layout) };
        let Some(size) = size else { return std::ptr::null_mut() };
        // SAFETY: any size is valid.
        let given = unsafe { alloc(size) };
        if IS_MEASURING.load(Ordering::Relaxed) && !given.is_null() {
            add_measured(given);
        }
        // SAFETY: the size has room for the alignment.
        if is_aligned { given.cast() } else { unsafe { aligned(given.cast(), layout.align()) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some((alloc, free)) = server() else {
            // SAFETY: the caller keeps the contract of `alloc_zeroed`.
            return unsafe { System.alloc_zeroed(layout) };
        };
        // SAFETY: any size is valid, and the padded one has room for the alignment.
        unsafe {
            if layout.align() <= ALIGNED {
                return zeroed(layout.size(), alloc, free);
            }
            let Some(size) = padded(layout) else { return std::ptr::null_mut() };
            aligned(zeroed(size, alloc, free), layout.align())
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let Some((_, free)) = server() else {
            // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` also used the
            // system's allocator.
            return unsafe { System.dealloc(pointer, layout) };
        };
        if layout.align() <= ALIGNED {
            // SAFETY: `alloc` returned the server's address unchanged.
            unsafe { free(pointer.cast()) };
        } else {
            // SAFETY: `alloc` stored the server's address there.
            unsafe { free(pointer.cast::<*mut u8>().sub(1).read_unaligned().cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_server_the_system_serves() {
        let layout = Layout::from_size_align(100, 64).unwrap();
        // SAFETY: freed once, with the same layout.
        unsafe {
            let pointer = FromServer.alloc(layout);
            assert!(!pointer.is_null() && pointer.addr().is_multiple_of(64));
            FromServer.dealloc(pointer, layout);
        }
    }
}
