//! The module's section of `INFO`.

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use valkey_module::raw;

use crate::engine::{Context, server};
use crate::types::Kept;
use crate::values::{BloomValue, CuckooValue, SketchValue, TopValue};

/// Valkey's option of this name, from 9.0 on; other servers ignore it. Values move between the
/// nodes of a cluster as in replication, and nothing outside them depends on the slot.
const HANDLE_ATOMIC_SLOT_MIGRATION: c_int = 1 << 5;

pub(crate) fn register(context: &Context) -> Result<(), String> {
    // SAFETY: the context is that of loading.
    unsafe {
        server!(RedisModule_SetModuleOptions(
            context.pointer(),
            raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS as c_int | HANDLE_ATOMIC_SLOT_MIGRATION
        ));
        if server!(RedisModule_RegisterInfoFunc(context.pointer(), Some(tell)))
            == raw::REDISMODULE_OK as c_int
        {
            Ok(())
        } else {
            Err("the server does not take a section of INFO".into())
        }
    }
}

unsafe extern "C" fn tell(info: *mut raw::RedisModuleInfoCtx, _for_crash_report: c_int) {
    let counts = [
        (c"bloom_filters", BloomValue::alive()),
        (c"cuckoo_filters", CuckooValue::alive()),
        (c"sketches", SketchValue::alive()),
        (c"top_lists", TopValue::alive()),
    ];
    // SAFETY: the server calls this function; the names are static.
    unsafe {
        // The server refuses a section that was not requested; its fields must then be skipped.
        if server!(RedisModule_InfoAddSection(info, c"values".as_ptr())) != raw::REDISMODULE_OK as c_int {
            return;
        }
        for (name, alive) in counts {
            server!(RedisModule_InfoAddFieldULongLong(info, name.as_ptr(), alive.load(Ordering::Relaxed)));
        }
    }
}
