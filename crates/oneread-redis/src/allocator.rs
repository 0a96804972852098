//! Memory from the server, so that it counts in `used_memory`, `maxmemory` and `MEMORY USAGE`.
//!
//! The server's allocator promises 16 bytes of alignment and no more, but a filter's lines are
//! aligned to 64. For those we ask for more than is needed, and write the address that the server
//! gave right before the one that we hand out.
//!
//! `RedisModule_Alloc` ends the server where memory is out. `RedisModule_TryAlloc` answers null, so
//! that a filter that is too large is an error of its command: the library allocates what may be
//! large by `try_reserve`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;

use valkey_module::raw;

/// What the server's allocator aligns to.
const ALIGNED: usize = 16;

/// The room for the address that the server gave.
const NOTE: usize = size_of::<*mut u8>();

pub(crate) struct FromServer;

#[global_allocator]
static ALLOCATOR: FromServer = FromServer;

/// The server's functions, once the module has been introduced to it. Before that, as in tests that
/// no server runs, there are none, and the system's allocator serves: nothing is allocated in a
/// server before the introduction.
#[inline]
fn server() -> Option<(unsafe extern "C" fn(usize) -> *mut c_void, unsafe extern "C" fn(*mut c_void))> {
    // SAFETY: these are written once, on loading, before any other thread of ours exists. Every
    // server that can load the module has `TryAlloc` (Redis 7.0); one that had not would serve by
    // `Alloc`.
    unsafe { Some((raw::RedisModule_TryAlloc.or(raw::RedisModule_Alloc)?, raw::RedisModule_Free?)) }
}

// SAFETY: memory comes from the server's allocator and goes back to it, or both to the system's;
// alignment is as below.
unsafe impl GlobalAlloc for FromServer {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((alloc, _)) = server() else {
            // SAFETY: the caller keeps the contract of `alloc`.
            return unsafe { System.alloc(layout) };
        };
        if layout.align() <= ALIGNED {
            // SAFETY: any size will do.
            return unsafe { alloc(layout.size()) }.cast();
        }
        let Some(size) = layout.size().checked_add(layout.align() + NOTE) else {
            return std::ptr::null_mut();
        };
        // SAFETY: any size will do.
        let given: *mut u8 = unsafe { alloc(size) }.cast();
        if given.is_null() {
            return given;
        }
        // SAFETY: behind the note and at most `align` bytes, `size` bytes are left.
        unsafe {
            let start = given.add(NOTE);
            let aligned = start.add(start.align_offset(layout.align()));
            aligned.cast::<*mut u8>().sub(1).write_unaligned(given);
            aligned
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let Some((_, free)) = server() else {
            // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` took it from the
            // system too.
            return unsafe { System.dealloc(pointer, layout) };
        };
        if layout.align() <= ALIGNED {
            // SAFETY: `alloc` took it from the server as it is.
            unsafe { free(pointer.cast()) };
        } else {
            // SAFETY: `alloc` wrote the address there.
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
