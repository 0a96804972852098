//! The commands.

mod bloom;
mod chunks;
mod cuckoo;
mod options;
mod own;
mod sketch;

use std::ffi::c_int;

use valkey_module::raw;

use crate::engine::{Context, c_string, run, server};
use crate::settings;

/// A function that the server calls for a command.
type Entry = unsafe extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

/// Wraps a command so that the server can call it.
macro_rules! entry {
    ($command:expr) => {{
        unsafe extern "C" fn entry(
            context: *mut raw::RedisModuleCtx,
            arguments: *mut *mut raw::RedisModuleString,
            count: c_int,
        ) -> c_int {
            // SAFETY: the server calls this for a command.
            unsafe { run(context, arguments, count, $command) }
        }
        entry
    }};
}

/// The positions of keys: the first, the last (negative counts from the end), and the step.
type Keys = (c_int, c_int, c_int);

const FIRST: Keys = (1, 1, 1);
const ALL: Keys = (1, -1, 1);

/// Reads in negligible time.
const READS: &str = "readonly fast";
/// Reads in time proportional to the value's size.
const READS_ALL: &str = "readonly";
/// Writes and may allocate.
const WRITES: &str = "write deny-oom";
/// Writes without allocating.
const REMOVES: &str = "write fast";

/// Name, flags, keys, access-list category, function.
static COMMANDS: [(&str, &str, Keys, &str, Entry); 33] = [
    ("bf.reserve", WRITES, FIRST, "bloom", entry!(bloom::reserve)),
    ("bf.add", WRITES, FIRST, "bloom", entry!(bloom::add)),
    ("bf.madd", WRITES, FIRST, "bloom", entry!(bloom::add_many)),
    ("bf.insert", WRITES, FIRST, "bloom", entry!(bloom::insert)),
    ("bf.exists", READS, FIRST, "bloom", entry!(bloom::exists)),
    ("bf.mexists", READS, FIRST, "bloom", entry!(bloom::exist_many)),
    ("bf.info", READS, FIRST, "bloom", entry!(bloom::info)),
    ("bf.card", READS, FIRST, "bloom", entry!(bloom::cardinality)),
    ("bf.scandump", READS_ALL, FIRST, "bloom", entry!(bloom::scan_dump)),
    ("bf.loadchunk", WRITES, FIRST, "bloom", entry!(bloom::load_chunk)),
    ("cf.reserve", WRITES, FIRST, "cuckoo", entry!(cuckoo::reserve)),
    ("cf.add", WRITES, FIRST, "cuckoo", entry!(cuckoo::add)),
    ("cf.addnx", WRITES, FIRST, "cuckoo", entry!(cuckoo::add_new)),
    ("cf.insert", WRITES, FIRST, "cuckoo", entry!(cuckoo::insert)),
    ("cf.insertnx", WRITES, FIRST, "cuckoo", entry!(cuckoo::insert_new)),
    ("cf.exists", READS, FIRST, "cuckoo", entry!(cuckoo::exists)),
    ("cf.mexists", READS, FIRST, "cuckoo", entry!(cuckoo::exist_many)),
    ("cf.del", REMOVES, FIRST, "cuckoo", entry!(cuckoo::delete)),
    ("cf.count", READS, FIRST, "cuckoo", entry!(cuckoo::count)),
    ("cf.info", READS, FIRST, "cuckoo", entry!(cuckoo::info)),
    ("cf.scandump", READS_ALL, FIRST, "cuckoo", entry!(cuckoo::scan_dump)),
    ("cf.loadchunk", WRITES, FIRST, "cuckoo", entry!(cuckoo::load_chunk)),
    ("cms.initbydim", WRITES, FIRST, "cms", entry!(sketch::init_by_dimensions)),
    ("cms.initbyprob", WRITES, FIRST, "cms", entry!(sketch::init_by_probability)),
    ("cms.incrby", WRITES, FIRST, "cms", entry!(sketch::increase)),
    ("cms.query", READS, FIRST, "cms", entry!(sketch::query)),
    // An argument gives the number of its sources, so it reports its keys itself.
    ("cms.merge", "write deny-oom getkeys-api", FIRST, "cms", entry!(sketch::merge)),
    ("cms.info", READS, FIRST, "cms", entry!(sketch::info)),
    ("oneread.merge", WRITES, ALL, "oneread", entry!(own::merge)),
    ("oneread.stats", READS_ALL, FIRST, "oneread", entry!(own::stats)),
    // The append-only file uses these for a value whose creation must name its seed, or whose type
    // has no chunk commands in RedisBloom.
    ("oneread.makesketch", WRITES, FIRST, "oneread", entry!(sketch::make)),
    ("oneread.loadsketch", WRITES, FIRST, "oneread", entry!(sketch::load_chunk)),
    ("oneread.dumpsketch", READS_ALL, FIRST, "oneread", entry!(sketch::scan_dump)),
];

/// Registers all commands, with the prefix if there is one.
pub(crate) fn register(context: &Context) -> Result<(), String> {
    // Servers before 7.4 have no categories for modules. SAFETY: the context is that of loading;
    // names live until the calls return.
    unsafe {
        if let Some(add) = raw::RedisModule_AddACLCategory {
            for category in ["bloom", "cuckoo", "cms", "oneread"] {
                // Ignores the error for an existing category.
                add(context.pointer(), c_string(category).as_ptr());
            }
        }
        for &(name, flags, (first, last, step), category, entry) in &COMMANDS {
            let (shown, flags) = (settings::named(name), c_string(flags));
            let name = c_string(&shown);
            let status = server!(RedisModule_CreateCommand(
                context.pointer(),
                name.as_ptr(),
                Some(entry),
                flags.as_ptr(),
                first,
                last,
                step
            ));
            if status != raw::REDISMODULE_OK as c_int {
                return Err(format!(
                    "the server has a command {shown} already (Redis 8 brings it itself): load with PREFIX name, \
                     and ours is called name.{shown}"
                ));
            }
            if let (Some(set), Some(_)) =
                (raw::RedisModule_SetCommandACLCategories, raw::RedisModule_AddACLCategory)
            {
                let command = server!(RedisModule_GetCommand(context.pointer(), name.as_ptr()));
                let access = if flags.to_bytes().starts_with(b"readonly") { "read" } else { "write" };
                set(command, c_string(&format!("{access} {category}")).as_ptr());
            }
        }
    }
    Ok(())
}
