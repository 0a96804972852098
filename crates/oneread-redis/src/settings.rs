//! The module's configuration: `CONFIG SET oneread.…` at run time, the same names as arguments when
//! the module is loaded.

use std::ffi::{c_char, c_int, c_longlong, c_void};
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::sync::{OnceLock, RwLock};

use oneread::hash::Portable;
use valkey_module::raw;

use crate::engine::{Arg, Args, Context, c_string, server};

/// An integer setting.
pub(crate) struct Number {
    name: &'static str,
    value: AtomicI64,
    least: i64,
    most: i64,
}

impl Number {
    const fn new(name: &'static str, value: i64, least: i64, most: i64) -> Self {
        Self { name, value: AtomicI64::new(value), least, most }
    }

    /// The value of a setting; 0 if it is negative.
    pub(crate) fn get(&self) -> u64 {
        u64::try_from(self.value.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

/// A probability setting. The server has no such type, so this is a text setting.
pub(crate) struct Rate {
    name: &'static str,
    bits: AtomicU64,
    /// The text that the server shows.
    text: AtomicPtr<raw::RedisModuleString>,
}

impl Rate {
    const fn new(name: &'static str, value: f64) -> Self {
        Self { name, bits: AtomicU64::new(value.to_bits()), text: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.bits.load(Ordering::Relaxed))
    }

    fn parse(text: &[u8]) -> Option<f64> {
        let rate: f64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
        (rate > 0.0 && rate < 1.0).then_some(rate)
    }
}

pub(crate) static BF_ERROR_RATE: Rate = Rate::new("bf-error-rate", 0.01);
pub(crate) static CF_ERROR_RATE: Rate = Rate::new("cf-error-rate", 0.01);
pub(crate) static BF_INITIAL_SIZE: Number = Number::new("bf-initial-size", 100, 1, 1 << 40);
pub(crate) static BF_EXPANSION: Number = Number::new("bf-expansion-factor", 2, 0, 32_768);
pub(crate) static CF_INITIAL_SIZE: Number = Number::new("cf-initial-size", 1024, 4, 1 << 40);
pub(crate) static CF_EXPANSION: Number = Number::new("cf-expansion-factor", 1, 0, 32_768);
pub(crate) static CF_BUCKET_SIZE: Number = Number::new("cf-bucket-size", 2, 1, 255);
pub(crate) static CF_MAX_ITERATIONS: Number = Number::new("cf-max-iterations", 20, 1, 65_535);
pub(crate) static CF_MAX_EXPANSIONS: Number = Number::new("cf-max-expansions", 32, 1, 65_535);
/// The largest size of a value that is reserved or loaded in chunks; 1 GiB by default.
pub(crate) static MAX_BYTES: Number = Number::new("max-bytes", 1 << 30, 1024, i64::MAX);
/// The seed of new values, or -1 for random ones. Values with equal seeds can be merged.
static SEED: Number = Number::new("seed", -1, -1, i64::MAX);

/// The seed of new sketches if the setting is -1; negative until it is drawn.
static SKETCH_SEED: AtomicI64 = AtomicI64::new(-1);

/// An unpredictable seed of 63 bits, as commands take it.
fn random_seed() -> u64 {
    Portable::random().seed() >> 1
}

/// The configured seed, or a random one for this value alone. Without the seed nobody can choose
/// items that collide.
pub(crate) fn filter_seed() -> u64 {
    u64::try_from(SEED.value.load(Ordering::Relaxed)).unwrap_or_else(|_| random_seed())
}

/// The configured seed, or a random one that all sketches of this server share, because `CMS.MERGE`
/// must be able to join any two of the same size.
pub(crate) fn sketch_seed() -> u64 {
    if let Ok(seed) = u64::try_from(SEED.value.load(Ordering::Relaxed)) {
        return seed;
    }
    // One thread runs all commands, so this cannot race.
    u64::try_from(SKETCH_SEED.load(Ordering::Relaxed)).unwrap_or_else(|_| {
        let seed = random_seed();
        adopt_sketch_seed(seed);
        seed
    })
}

/// Adopts the seed of a sketch from a restart or a master, so that new sketches can be merged with
/// it.
pub(crate) fn adopt_sketch_seed(seed: u64) {
    SKETCH_SEED.store(i64::try_from(seed).unwrap_or(-1), Ordering::Relaxed);
}

static NUMBERS: [&Number; 9] = [
    &BF_INITIAL_SIZE,
    &BF_EXPANSION,
    &CF_INITIAL_SIZE,
    &CF_EXPANSION,
    &CF_BUCKET_SIZE,
    &CF_MAX_ITERATIONS,
    &CF_MAX_EXPANSIONS,
    &MAX_BYTES,
    &SEED,
];

static RATES: [&Rate; 2] = [&BF_ERROR_RATE, &CF_ERROR_RATE];

/// The prefix of all command names, with its dot.
static PREFIX: OnceLock<String> = OnceLock::new();

/// The name of a command, with the configured prefix.
pub(crate) fn named(command: &str) -> String {
    format!("{}{command}", PREFIX.get().map_or("", String::as_str))
}

/// Reads the arguments of the module: pairs of a name and a value.
pub(crate) fn read_arguments(arguments: Args<'_>) -> Result<(), String> {
    if arguments.len() % 2 == 1 {
        return Err("arguments come in pairs of a name and a value".into());
    }
    for at in (0..arguments.len()).step_by(2) {
        let pair = arguments.at(at).and_then(|name| Ok((name, arguments.at(at + 1)?)));
        let Ok((name, value)) = pair else { continue };
        read_argument(name, value)?;
    }
    Ok(())
}

/// The names that RedisBloom's older documentation has for these arguments.
const OLDER_NAMES: [(&str, &str); 3] = [
    ("error_rate", "bf-error-rate"),
    ("initial_size", "bf-initial-size"),
    ("cf_max_expansions", "cf-max-expansions"),
];

fn read_argument(name: Arg<'_>, value: Arg<'_>) -> Result<(), String> {
    let older = OLDER_NAMES.iter().find(|(older, _)| name.is(older)).map(|&(_, name)| name);
    let is = |known: &str| name.is(known) || older == Some(known);
    let shown = String::from_utf8_lossy(value.bytes());
    if name.is("prefix") {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if value.bytes().is_empty() || !value.bytes().iter().all(allowed) {
            return Err(format!("PREFIX {shown}: letters, digits, - and _ make a prefix"));
        }
        // A second load keeps the prefix of the first.
        _ = PREFIX.set(format!("{}.", shown.to_ascii_lowercase()));
        return Ok(());
    }
    if let Some(number) = NUMBERS.iter().find(|number| is(number.name)) {
        let allowed = number.least..=number.most;
        let read = value.integer().filter(|value| allowed.contains(value));
        let read =
            read.ok_or_else(|| format!("{} {shown}: from {} to {}", number.name, number.least, number.most))?;
        number.value.store(read, Ordering::Relaxed);
        return Ok(());
    }
    if let Some(rate) = RATES.iter().find(|rate| is(rate.name)) {
        let read =
            Rate::parse(value.bytes()).ok_or_else(|| format!("{} {shown}: between 0 and 1", rate.name))?;
        rate.bits.store(read.to_bits(), Ordering::Relaxed);
        return Ok(());
    }
    Err(format!("{}: there is no such argument", String::from_utf8_lossy(name.bytes())))
}

/// Registers the settings with the server and reads its configuration of them.
pub(crate) fn register(context: &Context) -> Result<(), String> {
    for number in NUMBERS {
        let name = c_string(number.name);
        // SAFETY: the name lives until the call returns; the setting is static.
        let status = unsafe {
            server!(RedisModule_RegisterNumericConfig(
                context.pointer(),
                name.as_ptr(),
                number.value.load(Ordering::Relaxed),
                raw::REDISMODULE_CONFIG_DEFAULT,
                number.least,
                number.most,
                Some(get_number),
                Some(set_number),
                None,
                std::ptr::from_ref(number).cast_mut().cast()
            ))
        };
        check(status, number.name)?;
    }
    for rate in RATES {
        let (name, default) = (c_string(rate.name), c_string(&rate.get().to_string()));
        // SAFETY: the texts live until the call returns; the setting is static.
        let status = unsafe {
            server!(RedisModule_RegisterStringConfig(
                context.pointer(),
                name.as_ptr(),
                default.as_ptr(),
                raw::REDISMODULE_CONFIG_DEFAULT,
                Some(get_rate),
                Some(set_rate),
                None,
                std::ptr::from_ref(rate).cast_mut().cast()
            ))
        };
        check(status, rate.name)?;
    }
    // SAFETY: the context is that of loading.
    check(unsafe { server!(RedisModule_LoadConfigs(context.pointer())) }, "the configuration")
}

fn check(status: c_int, what: &str) -> Result<(), String> {
    if status == raw::REDISMODULE_OK as c_int {
        Ok(())
    } else {
        Err(format!("the server does not take {what}"))
    }
}

unsafe extern "C" fn get_number(_: *const c_char, setting: *mut c_void) -> c_longlong {
    // SAFETY: `register` passed this pointer.
    unsafe { &*setting.cast::<Number>() }.value.load(Ordering::Relaxed)
}

unsafe extern "C" fn set_number(
    _: *const c_char,
    value: c_longlong,
    setting: *mut c_void,
    _: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: `register` passed this pointer. The server has checked the range.
    unsafe { &*setting.cast::<Number>() }.value.store(value, Ordering::Relaxed);
    raw::REDISMODULE_OK as c_int
}

unsafe extern "C" fn get_rate(_: *const c_char, setting: *mut c_void) -> *mut raw::RedisModuleString {
    // SAFETY: `register` passed this pointer.
    unsafe { &*setting.cast::<Rate>() }.text.load(Ordering::Relaxed)
}

unsafe extern "C" fn set_rate(
    _: *const c_char,
    value: *mut raw::RedisModuleString,
    setting: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    // Only one thread changes the server's settings, but this lock costs nothing.
    static CHANGING: RwLock<()> = RwLock::new(());
    let _changing = CHANGING.write();
    let mut length = 0;
    // SAFETY: `register` passed the setting; the server passes the value, and a place for the error
    // text.
    unsafe {
        let setting = &*setting.cast::<Rate>();
        let start = server!(RedisModule_StringPtrLen(value, &mut length));
        let Some(rate) = Rate::parse(std::slice::from_raw_parts(start.cast(), length)) else {
            let words = "a rate lies between 0 and 1";
            let none = std::ptr::null_mut();
            *error = server!(RedisModule_CreateString(none, words.as_ptr().cast(), words.len()));
            return raw::REDISMODULE_ERR as c_int;
        };
        let none = std::ptr::null_mut();
        let text = server!(RedisModule_CreateString(none, start, length));
        setting.bits.store(rate.to_bits(), Ordering::Relaxed);
        let before = setting.text.swap(text, Ordering::Relaxed);
        if !before.is_null() {
            server!(RedisModule_FreeString(none, before));
        }
    }
    raw::REDISMODULE_OK as c_int
}
