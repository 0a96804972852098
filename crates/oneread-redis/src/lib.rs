//! A module for Redis (7.0 and later) and Valkey that offers RedisBloom's commands on the filters
//! of `oneread`.
//!
//! ```sh
//! cargo build --release -p oneread-redis
//! redis-server --loadmodule target/release/liboneread_redis.so
//! redis-cli bf.reserve users 0.001 1000000
//! redis-cli bf.add users alice
//! ```
//!
//! The `README.md` of this crate lists the commands, how they differ from RedisBloom's, and how to
//! run a cluster.
//!
//! # From a command to its bytes
//! 1. The server calls an entry of `commands`. `engine` makes the call safe: arguments are slices,
//!    keys are borrowed, a panic becomes an error reply.
//! 2. A command uses a value of `values`, which does not depend on the server.
//! 3. Changes go to replicas and the append-only file as the command that made them. A command that
//!    makes a value is replaced by one that names all its settings, so that replicas with other
//!    settings hold the same bytes.
//! 4. `types` saves and loads values as the library's containers, in strings of at most 16 MiB.
//!    Each is checked as it is read.
//!
//! # Why not the macro of `valkey-module`
//! The names of our commands are known only when the module is loaded (`PREFIX`), and replies to
//! `BF.EXISTS` must not allocate.

mod allocator;
mod commands;
mod engine;
mod info;
mod settings;
mod types;
mod values;

use std::ffi::c_int;

use valkey_module::raw;

/// The module's name in the server.
const NAME: &std::ffi::CStr = c"oneread";

/// The module's version, as the server shows it.
const VERSION: c_int = 1;

/// The server calls this to load the module.
///
/// # Safety
/// Only the server may call this.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
) -> c_int {
    // SAFETY: the server calls this with its context. The module has allocated nothing before.
    let status = unsafe {
        raw::Export_RedisModule_Init(context, NAME.as_ptr(), VERSION, raw::REDISMODULE_APIVER_1 as c_int)
    };
    if status != raw::REDISMODULE_OK as c_int {
        return raw::REDISMODULE_ERR as c_int;
    }
    allocator::on_load();
    // SAFETY: the server passes `count` arguments.
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
