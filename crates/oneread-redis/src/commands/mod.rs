//! The commands.

mod bloom;
mod chunks;
mod cuckoo;
mod describe;
mod options;
mod own;
mod sketch;
mod table;
mod top;

use std::ffi::c_int;

use valkey_module::raw;

use crate::engine::{Context, c_string, server};
use crate::settings;
use table::{COMMANDS, Command};

/// Registers all commands, with the prefix if there is one.
pub(crate) fn register(context: &Context) -> Result<(), String> {
    // Servers before 7.4 have no categories for modules. SAFETY: written once, before this.
    if let Some(add) = unsafe { raw::RedisModule_AddACLCategory } {
        // No command here is of `tdigest`, but rules for access that name it are valid.
        for category in ["bloom", "cuckoo", "cms", "topk", "tdigest", "oneread"] {
            // Ignores the error for an existing category. SAFETY: the context is that of loading,
            // and the name lives until the call returns.
            unsafe { add(context.pointer(), c_string(category).as_ptr()) };
        }
    }
    COMMANDS.iter().try_for_each(|command| register_one(context, command))
}

fn register_one(context: &Context, command: &Command) -> Result<(), String> {
    let shown = settings::named(command.name);
    let (name, flags) = (c_string(&shown), c_string(command.flags));
    // SAFETY: the context is that of loading; names live until the calls return, and the command
    // is the one just made.
    unsafe {
        // The description replaces these positions of keys.
        let status = server!(RedisModule_CreateCommand(
            context.pointer(),
            name.as_ptr(),
            Some(command.entry),
            flags.as_ptr(),
            1,
            1,
            1
        ));
        if status != raw::REDISMODULE_OK as c_int {
            return Err(format!(
                "the server has a command {shown} already (Redis 8 brings it itself): load with PREFIX name, \
                 and ours is called name.{shown}"
            ));
        }
        let registered = server!(RedisModule_GetCommand(context.pointer(), name.as_ptr()));
        if registered.is_null() || !command.description.tell(registered) {
            return Err(format!("the server does not take the description of {shown}"));
        }
        if let (Some(set), Some(_)) =
            (raw::RedisModule_SetCommandACLCategories, raw::RedisModule_AddACLCategory)
        {
            let access = if command.flags.starts_with("readonly") { "read" } else { "write" };
            set(registered, c_string(&format!("{access} {}", command.category())).as_ptr());
        }
    }
    Ok(())
}
