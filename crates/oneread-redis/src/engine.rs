//! A safe interface to the server: contexts, arguments, keys. It holds all `unsafe` of the
//! commands.
//!
//! # Why this is sound
//! Only one thread of the server touches keys, and it runs a command from call to return. The
//! command borrows a [`Context`] and its [`Args`] for that time. A [`Key`] is open until it is
//! dropped. [`Key::set`] stored its value with the same type: the server checks a key's type, and
//! no other module can use ours. A mutable borrow of a value borrows its key, and a command opens a
//! key for writing only once.

use std::borrow::Cow;
use std::ffi::{CString, c_int, c_long, c_longlong, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use valkey_module::raw;

use crate::types::Kept;
use crate::values::{Changing, Held, Refused, Slot};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The number of arguments is wrong; the server has the words of the error.
    Arity,
    /// The key holds another type.
    WrongType,
    /// These words. The first, if in capitals, is the error code for clients.
    Says(Cow<'static, str>),
}

impl From<&'static str> for Failure {
    fn from(words: &'static str) -> Self {
        Self::Says(words.into())
    }
}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self::Says(words.into())
    }
}

impl From<Refused> for Failure {
    fn from(Refused(words): Refused) -> Self {
        Self::Says(format!("ERR {words}").into())
    }
}

pub(crate) type Outcome = Result<(), Failure>;

/// Calls a function of the server. All functions used here exist since 7.0 and were resolved when
/// the module was loaded.
macro_rules! server {
    ($function:ident($($argument:expr),* $(,)?)) => {
        (raw::$function.expect("a function of the server"))($($argument),*)
    };
}
pub(crate) use server;

/// The call of a command.
pub(crate) struct Context(*mut raw::RedisModuleCtx);

/// Text as a C string, cut at the first zero byte.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).expect("no zero bytes are left")
}

impl Context {
    pub(crate) const fn pointer(&self) -> *mut raw::RedisModuleCtx {
        self.0
    }

    pub(crate) fn integer(&self, value: u64) {
        // SAFETY: see the top.
        unsafe {
            server!(RedisModule_ReplyWithLongLong(self.0, c_longlong::try_from(value).unwrap_or(i64::MAX)))
        };
    }

    pub(crate) fn signed(&self, value: i64) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplyWithLongLong(self.0, value)) };
    }

    /// 0 or 1 for clients that use RESP2.
    pub(crate) fn boolean(&self, value: bool) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplyWithBool(self.0, value.into())) };
    }

    pub(crate) fn number(&self, value: f64) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplyWithDouble(self.0, value)) };
    }

    pub(crate) fn null(&self) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplyWithNull(self.0)) };
    }

    pub(crate) fn ok(&self) {
        self.simple("OK");
    }

    pub(crate) fn simple(&self, words: &str) {
        let words = c_string(words);
        // SAFETY: see the top; the words live until the call returns.
        unsafe { server!(RedisModule_ReplyWithSimpleString(self.0, words.as_ptr())) };
    }

    pub(crate) fn bytes(&self, bytes: &[u8]) {
        // SAFETY: see the top; the bytes live until the call returns.
        unsafe { server!(RedisModule_ReplyWithStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) };
    }

    /// Starts an array of `length` replies.
    pub(crate) fn array(&self, length: usize) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplyWithArray(self.0, length as c_long)) };
    }

    /// Starts a map of `length` pairs of replies; an array for clients that use RESP2.
    pub(crate) fn map(&self, length: usize) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplyWithMap(self.0, length as c_long)) };
    }

    pub(crate) fn is_resp3(&self) -> bool {
        self.has(raw::REDISMODULE_CTX_FLAGS_RESP3)
    }

    /// Whether the command comes from a client. Commands from a master or the append-only file were
    /// accepted under the limits of their time; refusing them here would lose data on this server
    /// only.
    pub(crate) fn is_of_client(&self) -> bool {
        !self.has(raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    /// Whether the server reads its own files or its master's.
    pub(crate) fn is_loading(&self) -> bool {
        self.has(raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    fn has(&self, any: u32) -> bool {
        // SAFETY: see the top.
        let flags = unsafe { server!(RedisModule_GetContextFlags(self.0)) };
        flags as u32 & any != 0
    }

    /// The context of saving or loading a value.
    ///
    /// # Safety
    /// The server is saving or loading.
    pub(crate) unsafe fn of_io(io: *mut raw::RedisModuleIO) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { server!(RedisModule_GetContextFromIO(io)) })
    }

    /// The largest size of a value in bytes.
    pub(crate) fn most_bytes(&self) -> u64 {
        if self.is_of_client() { crate::settings::MAX_BYTES.get() } else { u64::MAX }
    }

    pub(crate) fn error(&self, words: &str) {
        let words = c_string(words);
        // SAFETY: see the top; the words live until the call returns.
        unsafe { server!(RedisModule_ReplyWithError(self.0, words.as_ptr())) };
    }

    pub(crate) fn log(&self, words: &str) {
        let words = c_string(words);
        // SAFETY: see the top; the format takes one string, which lives until the call returns.
        unsafe { server!(RedisModule_Log(self.0, c"warning".as_ptr(), c"%s".as_ptr(), words.as_ptr())) };
    }

    /// Sends the command unchanged to replicas and the append-only file.
    pub(crate) fn replicate_as_it_came(&self) {
        // SAFETY: see the top.
        unsafe { server!(RedisModule_ReplicateVerbatim(self.0)) };
    }

    /// Sends this command instead to replicas and the append-only file.
    pub(crate) fn replicate(&self, command: &str, arguments: &[&[u8]]) {
        let command = c_string(command);
        // SAFETY: see the top; the strings are freed after the call, which copies what it needs.
        // The format `v` takes an array of strings and its length.
        unsafe {
            let mut strings: Vec<*mut raw::RedisModuleString> = arguments
                .iter()
                .map(|bytes| server!(RedisModule_CreateString(self.0, bytes.as_ptr().cast(), bytes.len())))
                .collect();
            server!(RedisModule_Replicate(
                self.0,
                command.as_ptr(),
                c"v".as_ptr(),
                strings.as_mut_ptr(),
                strings.len()
            ));
            for string in strings {
                server!(RedisModule_FreeString(self.0, string));
            }
        }
    }

    /// Notifies subscribers of the keyspace events of modules.
    pub(crate) fn notify(&self, event: &str, key: Arg<'_>) {
        let event = c_string(event);
        // SAFETY: see the top.
        unsafe {
            server!(RedisModule_NotifyKeyspaceEvent(
                self.0,
                raw::REDISMODULE_NOTIFY_MODULE,
                event.as_ptr(),
                key.0.as_ptr()
            ))
        };
    }

    /// If the server only requests the positions of the keys, reports them and returns true.
    pub(crate) fn tells_keys(&self, positions: impl Iterator<Item = usize>) -> bool {
        // SAFETY: see the top.
        unsafe {
            if server!(RedisModule_IsKeysPositionRequest(self.0)) == 0 {
                return false;
            }
            for position in positions {
                server!(RedisModule_KeyAtPos(self.0, position as c_int));
            }
        }
        true
    }
}

/// The arguments of a command; number 0 is its name.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(&'a [NonNull<raw::RedisModuleString>]);

impl<'a> Args<'a> {
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// The argument at `position`, or an arity error.
    pub(crate) fn at(&self, position: usize) -> Result<Arg<'a>, Failure> {
        self.0.get(position).map(|&string| Arg(string, PhantomData)).ok_or(Failure::Arity)
    }

    /// All arguments from a position on.
    pub(crate) fn from(&self, position: usize) -> impl ExactSizeIterator<Item = Arg<'a>> + Clone + 'a {
        self.0[position.min(self.0.len())..].iter().map(|&string| Arg(string, PhantomData))
    }

    /// Fails unless the number of arguments, including the name, is in the range.
    pub(crate) fn expect(&self, lengths: impl std::ops::RangeBounds<usize>) -> Outcome {
        if lengths.contains(&self.len()) { Ok(()) } else { Err(Failure::Arity) }
    }
}

/// An argument of a command.
#[derive(Clone, Copy)]
pub(crate) struct Arg<'a>(NonNull<raw::RedisModuleString>, PhantomData<&'a ()>);

impl<'a> Arg<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: the server keeps an argument and its bytes unchanged until the command returns.
        unsafe {
            let start = server!(RedisModule_StringPtrLen(self.0.as_ptr(), &mut length));
            std::slice::from_raw_parts(start.cast(), length)
        }
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        self.bytes().eq_ignore_ascii_case(word.as_bytes())
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        let mut value = 0;
        // SAFETY: as above.
        let status = unsafe { server!(RedisModule_StringToLongLong(self.0.as_ptr(), &mut value)) };
        (status == raw::REDISMODULE_OK as c_int).then_some(value)
    }

    /// A finite number.
    pub(crate) fn number(&self) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: as above.
        let status = unsafe { server!(RedisModule_StringToDouble(self.0.as_ptr(), &mut value)) };
        (status == raw::REDISMODULE_OK as c_int && value.is_finite()).then_some(value)
    }
}

/// How a key is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    ToRead,
    ToWrite,
}

/// An open key.
pub(crate) struct Key<'c> {
    /// Null if there is no such key and it was opened for reading.
    pointer: *mut raw::RedisModuleKey,
    context: PhantomData<&'c Context>,
}

impl<'c> Key<'c> {
    pub(crate) fn open(context: &'c Context, name: Arg<'_>, how: Open) -> Self {
        let mode = match how {
            Open::ToRead => raw::REDISMODULE_READ,
            Open::ToWrite => raw::REDISMODULE_READ | raw::REDISMODULE_WRITE,
        };
        // SAFETY: see the top.
        let pointer = unsafe { server!(RedisModule_OpenKey(context.0, name.0.as_ptr(), mode as c_int)) };
        Self { pointer, context: PhantomData }
    }

    pub(crate) fn is_empty(&self) -> bool {
        // SAFETY: the key is open, or null, which the server reports as empty.
        let kind = unsafe { server!(RedisModule_KeyType(self.pointer)) };
        kind == raw::REDISMODULE_KEYTYPE_EMPTY as c_int
    }

    fn held<V: Kept>(&self) -> Result<Option<NonNull<Slot<V>>>, Failure> {
        if self.is_empty() {
            return Ok(None);
        }
        // SAFETY: the key is open and not empty.
        unsafe {
            if server!(RedisModule_ModuleTypeGetType(self.pointer)) != V::registered().load(Ordering::Relaxed)
            {
                return Err(Failure::WrongType);
            }
            Ok(NonNull::new(server!(RedisModule_ModuleTypeGetValue(self.pointer)).cast()))
        }
    }

    /// The content of the key, if any.
    pub(crate) fn slot<V: Kept>(&self) -> Result<Option<&Slot<V>>, Failure> {
        // SAFETY: see the top.
        Ok(self.held()?.map(|held| unsafe { held.as_ref() }))
    }

    /// The content of the key, if any, for changing.
    pub(crate) fn slot_mut<V: Kept>(&mut self) -> Result<Option<&mut Slot<V>>, Failure> {
        // SAFETY: see the top.
        Ok(self.held()?.map(|mut held| unsafe { held.as_mut() }))
    }

    /// The value of the key, if it exists and is complete.
    pub(crate) fn value<V: Kept>(&self) -> Result<Option<Held<'_, V>>, Failure> {
        let Some(slot) = self.slot()? else { return Ok(None) };
        Ok(Some(slot.value().ok_or(STILL_LOADING)??))
    }

    /// The value of the key, if it exists and is complete, for changing.
    pub(crate) fn value_mut<V: Kept>(&mut self) -> Result<Option<Changing<'_, V>>, Failure> {
        let Some(slot) = self.slot_mut()? else { return Ok(None) };
        Ok(Some(slot.change().ok_or(STILL_LOADING)??))
    }

    /// Stores a value in a key that was opened for writing, and replaces its content.
    pub(crate) fn set_value<V: Kept>(&mut self, value: V) {
        self.set(Slot::of(value));
    }

    /// Stores `slot` in a key that was opened for writing, and replaces its content.
    pub(crate) fn set<V: Kept>(&mut self, slot: Slot<V>) {
        let held = V::hand_over(slot);
        // SAFETY: the key is open for writing. The server frees the old value, with our own
        // function if it is ours, and owns the new one.
        unsafe {
            server!(RedisModule_ModuleTypeSetValue(
                self.pointer,
                V::registered().load(Ordering::Relaxed),
                held.cast::<c_void>()
            ))
        };
    }

    /// Deletes a key that was opened for writing.
    pub(crate) fn delete(self) {
        // SAFETY: the key is open for writing.
        unsafe { server!(RedisModule_DeleteKey(self.pointer)) };
    }
}

const STILL_LOADING: &str = "ERR chunks of the value are still missing";

impl Drop for Key<'_> {
    fn drop(&mut self) {
        if !self.pointer.is_null() {
            // SAFETY: the key is open and is closed only once.
            unsafe { server!(RedisModule_CloseKey(self.pointer)) };
        }
    }
}

/// Runs a command and replies. A panic, which would be a bug of ours, becomes an error, and the
/// server continues.
///
/// # Safety
/// Only the server may call this, for a command.
pub(crate) unsafe fn run(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    command: fn(&Context, Args<'_>) -> Outcome,
) -> c_int {
    let context = Context(context);
    // SAFETY: the server passes `count` arguments, none of them null, valid until the command
    // returns.
    let arguments = unsafe {
        std::slice::from_raw_parts(arguments.cast::<NonNull<raw::RedisModuleString>>(), count as usize)
    };
    let outcome =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| command(&context, Args(arguments))));
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(Failure::Arity)) => {
            // SAFETY: see the top.
            unsafe { server!(RedisModule_WrongArity(context.0)) };
        }
        Ok(Err(Failure::WrongType)) => {
            context.error("WRONGTYPE Operation against a key holding the wrong kind of value");
        }
        Ok(Err(Failure::Says(words))) => context.error(&words),
        Err(_) => context.error("ERR an error in the module; please report it"),
    }
    raw::REDISMODULE_OK as c_int
}

/// The context and arguments of loading the module.
///
/// # Safety
/// As for [`run`].
pub(crate) unsafe fn on_load<'a>(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
) -> (Context, Args<'a>) {
    let arguments: &[NonNull<raw::RedisModuleString>] = if count == 0 {
        &[]
    } else {
        // SAFETY: as in `run`.
        unsafe { std::slice::from_raw_parts(arguments.cast(), count as usize) }
    };
    (Context(context), Args(arguments))
}
