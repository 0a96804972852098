//! The module's data types: how the server saves, loads, copies, measures and frees values.

use std::ffi::{c_char, c_int, c_longlong, c_void};
use std::io::Read;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use valkey_module::raw;

use crate::allocator::measure;
use crate::engine::{Context, c_string, server};
use crate::settings;
use crate::values::{
    BloomValue, CuckooValue, Dump, Refused, SketchValue, Slot, TopValue, Value, length_of, strings, try_clone,
};

/// The version of the written format; other versions are refused.
const ENCODING: c_int = 1;

/// A value stored in keys of the server.
pub(crate) trait Kept: Value {
    /// The server's name of the type: nine letters.
    const NAME: &'static str;
    /// The command that loads it in chunks.
    const LOADS: &'static str;
    /// The type as registered with the server.
    fn registered() -> &'static AtomicPtr<raw::RedisModuleType>;
    /// The number of values alive.
    fn alive() -> &'static AtomicU64;

    /// Called for each value that the server loads when it starts or becomes a replica.
    fn loaded(_value: &Self) {}

    /// Passes a value to the server, which frees it with [`free`].
    fn hand_over(slot: Slot<Self>) -> *mut Slot<Self> {
        Self::alive().fetch_add(1, Ordering::Relaxed);
        Box::into_raw(Box::new(slot))
    }
}

macro_rules! kept {
    ($value:ty, $name:literal, $loads:literal $(, $loaded:item)?) => {
        impl Kept for $value {
            const NAME: &'static str = $name;
            const LOADS: &'static str = $loads;
            $($loaded)?

            fn registered() -> &'static AtomicPtr<raw::RedisModuleType> {
                static REGISTERED: AtomicPtr<raw::RedisModuleType> = AtomicPtr::new(std::ptr::null_mut());
                &REGISTERED
            }

            fn alive() -> &'static AtomicU64 {
                static ALIVE: AtomicU64 = AtomicU64::new(0);
                &ALIVE
            }
        }
    };
}

kept!(BloomValue, "oneread-b", "bf.loadchunk");
kept!(CuckooValue, "oneread-c", "cf.loadchunk");
kept!(
    SketchValue,
    "oneread-s",
    "oneread.loadsketch",
    fn loaded(sketch: &Self) {
        settings::adopt_sketch_seed(sketch.seed());
    }
);

kept!(TopValue, "oneread-t", "oneread.loadtop");

/// Registers all types; fails if the server refuses one.
pub(crate) fn register(context: &Context) -> Result<(), String> {
    register_one::<BloomValue>(context)?;
    register_one::<CuckooValue>(context)?;
    register_one::<SketchValue>(context)?;
    register_one::<TopValue>(context)
}

fn register_one<V: Kept>(context: &Context) -> Result<(), String> {
    let mut methods = raw::RedisModuleTypeMethods {
        version: raw::REDISMODULE_TYPE_METHOD_VERSION.into(),
        rdb_load: Some(load::<V>),
        rdb_save: Some(save::<V>),
        aof_rewrite: Some(rewrite::<V>),
        mem_usage: Some(memory::<V>),
        digest: Some(digest::<V>),
        free: Some(free::<V>),
        free_effort: Some(free_effort::<V>),
        copy: Some(copy::<V>),
        aux_load: None,
        aux_save: None,
        aux_save2: None,
        aux_save_triggers: 0,
        unlink: None,
        defrag: Some(defrag::<V>),
        copy2: None,
        free_effort2: None,
        mem_usage2: None,
        unlink2: None,
    };
    let name = c_string(V::NAME);
    // SAFETY: the name and the methods live until the call returns; the server copies them.
    let registered = unsafe {
        server!(RedisModule_CreateDataType(context.pointer(), name.as_ptr(), ENCODING, &mut methods))
    };
    if registered.is_null() {
        return Err(format!("the server does not take the data type {}", V::NAME));
    }
    V::registered().store(registered, Ordering::Relaxed);
    Ok(())
}

/// The content of a key of type `V`.
///
/// # Safety
/// `value` came from [`Kept::hand_over`] with the same `V` and was not freed. The server guarantees
/// this: it calls these functions only with values of their type.
unsafe fn slot<'a, V: Kept>(value: *const c_void) -> &'a Slot<V> {
    // SAFETY: as above.
    unsafe { &*value.cast() }
}

unsafe extern "C" fn free<V: Kept>(value: *mut c_void) {
    V::alive().fetch_sub(1, Ordering::Relaxed);
    // SAFETY: see `slot`; the server frees a value once.
    drop(unsafe { Box::from_raw(value.cast::<Slot<V>>()) });
}

/// What a value takes. For a small one that is what a copy of it takes: what the structures and the
/// allocator add to the content is most of it.
unsafe extern "C" fn memory<V: Kept>(value: *const c_void) -> usize {
    // SAFETY: see `slot`.
    let slot = unsafe { slot::<V>(value) };
    let bytes = slot.byte_len();
    if bytes > SHARES_PAGES {
        return bytes;
    }
    match try_clone(slot) {
        Ok(_) => measure(|| Box::new(slot.clone())),
        Err(_) => bytes,
    }
}

/// 1 per 64 KiB, so that lazy freeing moves large values to another thread.
unsafe extern "C" fn free_effort<V: Kept>(_: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: see `slot`.
    1 + (unsafe { slot::<V>(value) }.byte_len() >> 16)
}

/// Values up to this size share pages with others, and so can leave holes.
const SHARES_PAGES: usize = 1 << 16;

/// Moves a value if the server says that its place is a hole in a sparse page. What the value owns
/// was mostly allocated with it, and is copied as well, so that those pages empty too.
unsafe extern "C" fn defrag<V: Kept>(
    context: *mut raw::RedisModuleDefragCtx,
    _: *mut raw::RedisModuleString,
    value: *mut *mut c_void,
) -> c_int {
    const { assert!(align_of::<Slot<V>>() <= 16, "allocated by the server without padding") };
    // SAFETY: the server passes a value of ours and forgets its address if this writes another one.
    // `DefragAlloc` frees the old memory, to which nothing else points, and returns a copy.
    unsafe {
        let moved = server!(RedisModule_DefragAlloc(context, *value));
        if moved.is_null() {
            return 0;
        }
        *value = moved;
        let slot = &mut *moved.cast::<Slot<V>>();
        if slot.byte_len() <= SHARES_PAGES
            && let Ok(copy) = try_clone(slot)
        {
            *slot = copy;
        }
    }
    0
}

unsafe extern "C" fn copy<V: Kept>(
    _: *mut raw::RedisModuleString,
    _: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: see `slot`. Null tells the server that there is no copy, which `COPY` answers with an
    // error.
    try_clone(unsafe { slot::<V>(value) }).map_or(std::ptr::null_mut(), |copy| V::hand_over(copy).cast())
}

unsafe extern "C" fn digest<V: Kept>(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    let mut checksum = xxhash_rust::xxh3::Xxh3Default::new();
    // SAFETY: see `slot`; the bytes live until the call returns.
    unsafe {
        slot::<V>(value).encode(&mut |piece| checksum.update(piece));
        let checksum = checksum.digest128().to_le_bytes();
        server!(RedisModule_DigestAddStringBuffer(digest, checksum.as_ptr().cast(), checksum.len()));
        server!(RedisModule_DigestEndSequence(digest));
    }
}

/// A value is its length, then strings of at most [`Dump::LONGEST`] bytes.
unsafe extern "C" fn save<V: Kept>(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: see `slot`; the bytes live until each call returns.
    unsafe {
        let slot = slot::<V>(value);
        server!(RedisModule_SaveUnsigned(io, length_of(slot)));
        strings(slot, Dump::LONGEST, |string| {
            server!(RedisModule_SaveStringBuffer(io, string.as_ptr().cast(), string.len()));
        });
    }
}

/// Reads the strings of a saved value in order.
struct Strings {
    io: *mut raw::RedisModuleIO,
    /// Unread bytes of the value.
    left: u64,
    string: *mut c_char,
    length: usize,
    taken: usize,
}

impl Strings {
    fn release(&mut self) {
        if !self.string.is_null() {
            // SAFETY: the server allocated it for us.
            unsafe { server!(RedisModule_Free(self.string.cast())) };
            self.string = std::ptr::null_mut();
        }
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        self.release();
    }
}

impl Read for Strings {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        if self.taken == self.length {
            self.release();
            (self.length, self.taken) = (0, 0);
            // SAFETY: the server is loading a value of ours; on an error it returns null.
            unsafe {
                self.string = server!(RedisModule_LoadStringBuffer(self.io, &mut self.length));
                if server!(RedisModule_IsIOError(self.io)) != 0 || self.string.is_null() || self.length == 0 {
                    self.length = 0;
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        let count = buffer.len().min(self.length - self.taken).min(self.left as usize);
        // SAFETY: the string has at least `count` unread bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.string.cast::<u8>().add(self.taken), count) };
        buffer[..count].copy_from_slice(bytes);
        self.taken += count;
        self.left -= count as u64;
        Ok(count)
    }
}

unsafe extern "C" fn load<V: Kept>(io: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    let loaded = std::panic::catch_unwind(|| -> Result<Slot<V>, Refused> {
        if version != ENCODING {
            return Err(Refused(format!("version {version} is not known, only {ENCODING}")));
        }
        // SAFETY: the server is loading a value of ours.
        let left = unsafe {
            let left = server!(RedisModule_LoadUnsigned(io));
            if server!(RedisModule_IsIOError(io)) != 0 {
                return Err(Refused("it is cut short".into()));
            }
            left
        };
        let mut strings = Strings { io, left, string: std::ptr::null_mut(), length: 0, taken: 0 };
        let slot = Slot::decode(&mut strings)?;
        if strings.left > 0 || strings.taken < strings.length {
            return Err(Refused("there is more of it than it says".into()));
        }
        Ok(slot)
    });
    let refused = match loaded {
        Ok(Ok(slot)) => {
            if let Slot::Ready(value) = &slot
                && is_loading(io)
            {
                V::loaded(value);
            }
            return V::hand_over(slot).cast();
        }
        Ok(Err(Refused(words))) => words,
        Err(_) => "an error in the module; please report it".to_owned(),
    };
    let words = c_string(&format!("a {} cannot be loaded: {refused}", V::NAME));
    // SAFETY: the format takes one string, which lives until the call returns.
    unsafe { server!(RedisModule_LogIOError(io, c"warning".as_ptr(), c"%s".as_ptr(), words.as_ptr())) };
    std::ptr::null_mut()
}

/// Whether the server reads its own file or its master's data, as opposed to a client's `RESTORE`.
fn is_loading(io: *mut raw::RedisModuleIO) -> bool {
    // SAFETY: the server is loading a value of ours.
    let flags = unsafe { server!(RedisModule_GetContextFlags(server!(RedisModule_GetContextFromIO(io)))) };
    flags as u32 & raw::REDISMODULE_CTX_FLAGS_LOADING != 0
}

/// Writes the chunks of `SCANDUMP`.
unsafe extern "C" fn rewrite<V: Kept>(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    let command = c_string(&settings::named(V::LOADS));
    let emit = |number: u64, chunk: &[u8]| {
        // SAFETY: the format takes a string of the server, a number, and bytes with their length;
        // all live until the call returns.
        unsafe {
            server!(RedisModule_EmitAOF(
                io,
                command.as_ptr(),
                c"slb".as_ptr(),
                key,
                number as c_longlong,
                chunk.as_ptr().cast::<c_char>(),
                chunk.len()
            ));
        }
    };
    // SAFETY: see `slot`.
    match unsafe { slot::<V>(value) } {
        Slot::Ready(value) => {
            let mut number = 0;
            while let Some((next, chunk)) = Dump::next(value, number) {
                emit(next, &chunk);
                number = next;
            }
        }
        Slot::Loading(loading) => loading.chunks().for_each(|(number, chunk)| emit(number, &chunk)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::BloomOptions;

    /// Moves memory as the server does if it lies in a sparse page.
    unsafe extern "C" fn moving(_: *mut raw::RedisModuleDefragCtx, old: *mut c_void) -> *mut c_void {
        // SAFETY: the value below is a box of this type, which is not used again.
        unsafe {
            let slot = *Box::from_raw(old.cast::<Slot<BloomValue>>());
            Box::into_raw(Box::new(slot)).cast()
        }
    }

    #[test]
    fn a_moved_value_has_its_items() {
        let options = BloomOptions { rate: 0.01, capacity: 100, expansion: 2, tightening: 0.85, seed: 1 };
        let mut value = BloomValue::new(&options).expect("memory");
        for item in 0..1000u32 {
            value.add(&item.to_le_bytes(), u64::MAX).expect("memory");
        }
        let before = BloomValue::hand_over(Slot::Ready(value)).cast::<c_void>();
        let mut held = before;
        // SAFETY: one thread of this test program uses the function; the value is freed once.
        unsafe {
            raw::RedisModule_DefragAlloc = Some(moving);
            assert_eq!(defrag::<BloomValue>(std::ptr::null_mut(), std::ptr::null_mut(), &mut held), 0);
            assert_ne!(held, before);
            let Slot::Ready(value) = slot::<BloomValue>(held) else { panic!("complete") };
            assert!((0..1000u32).all(|item| value.contains(&item.to_le_bytes())));
            free::<BloomValue>(held);
        }
    }
}
