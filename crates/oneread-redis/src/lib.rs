//! A module for Redis (7.0 and later) and Valkey that speaks RedisBloom's commands on the filters
//! of `oneread`.
//!
//! ```sh
//! cargo build --release -p oneread-redis
//! redis-server --loadmodule target/release/liboneread_redis.so
//! redis-cli bf.reserve users 0.001 1000000
//! redis-cli bf.add users alice
//! ```
//!
//! `README.md` of this crate tells which commands there are, how they differ from RedisBloom's, and
//! how to run a cluster.
//!
//! # From a command to its bytes
//! 1. The server calls an entry of `commands`, which `engine` has made safe: arguments are slices,
//!    keys are borrowed, a panic is an error reply.
//! 2. A command asks a value of `values`, which knows nothing of servers.
//! 3. What changed goes to replicas and the append-only file: as it came, or, if a value was made,
//!    with the settings it was made with, so that they hold the same bytes whatever their own
//!    settings are.
//! 4. `types` saves and loads values as the library's containers in strings of at most 16 MiB, each
//!    checked as it is read.
//!
//! # Why not the macro of `valkey-module`
//! The names of our commands are known only when the module is loaded (`PREFIX`), and replies to
//! `BF.EXISTS` should cost no allocation.

mod allocator;
mod commands;
mod engine;
mod info;
mod settings;
mod types;
mod values;

use std::ffi::c_int;

use valkey_module::raw;

/// What the server calls the module.
const NAME: &std::ffi::CStr = c"oneread";

/// Of the module, as the server shows it.
const VERSION: c_int = 1;

/// Called by the server when it loads the module.
///
/// # Safety
/// To be called by the server.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
) -> c_int {
    // SAFETY: the server calls this with its context. Nothing of ours was allocated before.
    let status = unsafe {
        raw::Export_RedisModule_Init(context, NAME.as_ptr(), VERSION, raw::REDISMODULE_APIVER_1 as c_int)
    };
    if status != raw::REDISMODULE_OK as c_int {
        return raw::REDISMODULE_ERR as c_int;
    }
    // SAFETY: the server gives so many arguments.
    let (context, arguments) = unsafe { engine::on_load(context, arguments, count) };
    let loaded = settings::read_arguments(arguments)
        .and_then(|()| commands::register(&context))
        .and_then(|()| types::register(&context))
        .and_then(|()| settings::register(&context))
        .and_then(|()| info::register(&context));
    match loaded {
        Ok(()) => raw::REDISMODULE_OK as c_int,
        Err(words) => {
            context.log(&format!("oneread is not loaded: {words}"));
            raw::REDISMODULE_ERR as c_int
        }
    }
}
