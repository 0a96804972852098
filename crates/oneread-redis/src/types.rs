//! The module's data types: how the server saves, loads, copies, measures and frees values.

use std::ffi::{c_char, c_int, c_longlong, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use valkey_module::raw;

use crate::allocator::{measure, taken};
use crate::engine::{Context, c_string, server};
use crate::settings;
use crate::values::{
    BloomValue, ChunkError, CuckooValue, Loading, Refused, SketchValue, Slot, TopValue, Value,
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

/// What the server keeps for a value of a module, and does not count: an object, and a pair of
/// pointers.
const OBJECT: usize = 32;

/// What a value takes, with what the structures and the allocator add to its content. For a small
/// one that is what a copy takes, for others what each array would take by itself.
unsafe extern "C" fn memory<V: Kept>(value: *const c_void) -> usize {
    // SAFETY: see `slot`.
    let slot = unsafe { slot::<V>(value) };
    let bytes = slot.byte_len();
    if bytes > SHARES_PAGES {
        let pieces = slot.pieces();
        let arrays = pieces.array_bytes();
        return bytes - arrays.iter().sum::<usize>() + arrays.into_iter().map(taken).sum::<usize>();
    }
    match slot.try_clone() {
        Ok(copy) => OBJECT + measure(|| Box::new(copy.clone())),
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
            && let Ok(copy) = slot.try_clone()
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
    unsafe { slot::<V>(value) }.try_clone().map_or(std::ptr::null_mut(), |copy| V::hand_over(copy).cast())
}

unsafe extern "C" fn digest<V: Kept>(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    let mut checksum = xxhash_rust::xxh3::Xxh3Default::new();
    // SAFETY: see `slot`; the bytes live until the call returns.
    unsafe {
        _ = slot::<V>(value).pieces().all(|_, piece| checksum.update(piece));
        let checksum = checksum.digest128().to_le_bytes();
        server!(RedisModule_DigestAddStringBuffer(digest, checksum.as_ptr().cast(), checksum.len()));
        server!(RedisModule_DigestEndSequence(digest));
    }
}

/// A value is the number of its pieces, and the pieces.
unsafe extern "C" fn save<V: Kept>(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: see `slot`; the bytes live until each call returns.
    // Like the server itself, this ends the process without memory: a snapshot that is cut short
    // would be worse.
    unsafe {
        let slot = slot::<V>(value);
        let pieces = slot.pieces();
        server!(RedisModule_SaveUnsigned(io, pieces.count()));
        pieces
            .all(|_, piece| {
                server!(RedisModule_SaveStringBuffer(io, piece.as_ptr().cast(), piece.len()));
            })
            .expect("memory for a piece");
    }
}

fn log(io: *mut raw::RedisModuleIO, words: &str) {
    let words = c_string(words);
    // SAFETY: the server is saving or loading a value of ours; the format takes one string, which
    // lives until the call returns.
    unsafe { server!(RedisModule_LogIOError(io, c"warning".as_ptr(), c"%s".as_ptr(), words.as_ptr())) };
}

/// A string that the server has read.
struct Loaded {
    start: *mut c_char,
    length: usize,
}

impl Loaded {
    fn read(io: *mut raw::RedisModuleIO) -> Result<Self, Refused> {
        let mut length = 0;
        // SAFETY: the server is loading a value of ours; on an error it returns null.
        let (start, failed) = unsafe {
            let start = server!(RedisModule_LoadStringBuffer(io, &mut length));
            (start, server!(RedisModule_IsIOError(io)) != 0)
        };
        let loaded = Self { start, length };
        if failed || start.is_null() { Err(Refused("it is cut short".into())) } else { Ok(loaded) }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the server returned that many bytes, which live as long as this.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if !self.start.is_null() {
            // SAFETY: the server allocated it for us.
            unsafe { server!(RedisModule_Free(self.start.cast())) };
        }
    }
}

fn load_pieces<V: Kept>(io: *mut raw::RedisModuleIO, most_bytes: u64) -> Result<Slot<V>, Refused> {
    // SAFETY: the server is loading a value of ours.
    let (count, failed) =
        unsafe { (server!(RedisModule_LoadUnsigned(io)), server!(RedisModule_IsIOError(io)) != 0) };
    if failed || count == 0 {
        return Err(Refused("it is cut short".into()));
    }
    let first = Loaded::read(io)?;
    let mut loading = Loading::begin(first.bytes(), most_bytes).map_err(ChunkError::reason)?;
    for at in 1..count {
        let piece = Loaded::read(io)?;
        let number = loading.number_of(piece.bytes());
        if let Some(value) = loading.take(number, piece.bytes()).map_err(ChunkError::reason)? {
            let is_last = at + 1 == count;
            return if is_last {
                Ok(Slot::of(*value))
            } else {
                Err(Refused("there is more of it than it says".into()))
            };
        }
    }
    Ok(Slot::Loading(Box::new(loading)))
}

unsafe extern "C" fn load<V: Kept>(io: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    // SAFETY: the server is loading a value of ours.
    let context = unsafe { Context::of_io(io) };
    let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        if version != ENCODING {
            return Err(Refused(format!("version {version} is not known, only {ENCODING}")));
        }
        load_pieces::<V>(io, context.most_bytes())
    }));
    let refused = match loaded {
        Ok(Ok(slot)) => {
            if context.is_loading()
                && let Some(Ok(value)) = slot.value()
            {
                V::loaded(&value);
            }
            return V::hand_over(slot).cast();
        }
        Ok(Err(Refused(words))) => words,
        Err(_) => "an error in the module; please report it".to_owned(),
    };
    log(io, &format!("a {} cannot be loaded: {refused}", V::NAME));
    std::ptr::null_mut()
}

/// Writes the chunks of `SCANDUMP`.
unsafe extern "C" fn rewrite<V: Kept>(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    let command = c_string(&settings::named(V::LOADS));
    // SAFETY: see `slot`. The format takes a string of the server, a number, and bytes with their
    // length; all live until the call returns.
    unsafe {
        let pieces = slot::<V>(value).pieces();
        let emit = |number: u64, chunk: &[u8]| {
            server!(RedisModule_EmitAOF(
                io,
                command.as_ptr(),
                c"slb".as_ptr(),
                key,
                number as c_longlong,
                chunk.as_ptr().cast::<c_char>(),
                chunk.len()
            ));
        };
        pieces.all(emit).expect("memory for a piece, as in `save`");
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
            let old = old.cast::<Slot<BloomValue>>();
            let new = Box::into_raw(Box::new(old.read()));
            drop(Box::from_raw(old.cast::<std::mem::MaybeUninit<Slot<BloomValue>>>()));
            new.cast()
        }
    }

    #[test]
    fn a_moved_value_has_its_items() {
        let options = BloomOptions { rate: 0.01, capacity: 100, expansion: 2, tightening: 0.85, seed: 1 };
        let mut value = BloomValue::new(&options).expect("memory");
        for item in 0..1000u32 {
            value.add(&item.to_le_bytes(), u64::MAX).expect("memory");
        }
        let before = BloomValue::hand_over(Slot::of(value)).cast::<c_void>();
        let mut held = before;
        // SAFETY: one thread of this test program uses the function; the value is freed once.
        unsafe {
            raw::RedisModule_DefragAlloc = Some(moving);
            assert_eq!(defrag::<BloomValue>(std::ptr::null_mut(), std::ptr::null_mut(), &mut held), 0);
            assert_ne!(held, before);
            let value = slot::<BloomValue>(held).value().expect("complete").expect("memory");
            assert!((0..1000u32).all(|item| value.contains(&item.to_le_bytes())));
            free::<BloomValue>(held);
        }
    }
}
