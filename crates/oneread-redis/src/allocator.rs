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

// SAFETY: memory from the server's allocator goes back to it, and memory from the system's
// allocator to that one; alignment is as described above.
unsafe impl GlobalAlloc for FromServer {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((alloc, _)) = server() else {
            // SAFETY: the caller keeps the contract of `alloc`.
            return unsafe { System.alloc(layout) };
        };
        if layout.align() <= ALIGNED {
            // SAFETY: any size is valid.
            return unsafe { alloc(layout.size()) }.cast();
        }
        let Some(size) = layout.size().checked_add(layout.align() + NOTE) else {
            return std::ptr::null_mut();
        };
        // SAFETY: any size is valid.
        let given: *mut u8 = unsafe { alloc(size) }.cast();
        if given.is_null() {
            return given;
        }
        // SAFETY: at least `size` bytes follow the stored address and at most `align` bytes of
        // padding.
        unsafe {
            let start = given.add(NOTE);
            let aligned = start.add(start.align_offset(layout.align()));
            aligned.cast::<*mut u8>().sub(1).write_unaligned(given);
            aligned
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
