//! All commands: their flags, functions and descriptions.
//!
//! Names of arguments, summaries and complexities of RedisBloom's commands are the ones that
//! clients know from its `COMMAND DOCS`. Options of our own are in the README only, so that
//! programs that read these descriptions see RedisBloom's commands.

use std::ffi::c_int;

use valkey_module::raw;

use super::describe::Access::{Adds, Changes, Deletes, Reads};
use super::describe::Keys::{AllSources, CountedSources, First};
use super::describe::{Argument, Description, Keys};
use super::{bloom, cuckoo, own, sketch, top};
use crate::engine::run;

/// A function that the server calls for a command.
pub(super) type Entry =
    unsafe extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

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

/// Reads in negligible time.
const READS: &str = "readonly fast";
/// Reads in time proportional to the value's size.
const READS_ALL: &str = "readonly";
/// Writes and may allocate.
const WRITES: &str = "write deny-oom";
/// Writes without allocating.
const REMOVES: &str = "write fast";

/// A command of the module.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) flags: &'static str,
    pub(super) entry: Entry,
    pub(super) description: Description,
}

impl Command {
    /// The access-list category: the part of the name before the dot, except for `bf` and `cf`.
    pub(super) fn category(&self) -> &'static str {
        match self.name.split('.').next() {
            Some("bf") => "bloom",
            Some("cf") => "cuckoo",
            other => other.unwrap_or("oneread"),
        }
    }

    const fn new(
        name: &'static str,
        flags: &'static str,
        entry: Entry,
        arity: c_int,
        (keys, arguments): (Keys, &'static [Argument]),
        [since, complexity, summary]: [&'static str; 3],
    ) -> Self {
        Self {
            name,
            flags,
            entry,
            description: Description { summary, complexity, since, arity, keys, arguments },
        }
    }
}

const KEY: Argument = Argument::key("key", 0);
const ITEM: Argument = Argument::text("item");
const ITEMS: Argument = ITEM.repeated();
const DATA: Argument = Argument::text("data");
const ITERATOR: Argument = Argument::integer("iterator");
const CAPACITY: Argument = Argument::integer("capacity").after("CAPACITY").optional();
const ERROR: Argument = Argument::number("error").after("ERROR").optional();
const EXPANSION: Argument = Argument::integer("expansion").after("EXPANSION").optional();
const BUCKET_SIZE: Argument = Argument::integer("bucketsize").after("BUCKETSIZE").optional();
const MAX_ITERATIONS: Argument = Argument::integer("maxiterations").after("MAXITERATIONS").optional();
const NOCREATE: Argument = Argument::word("nocreate", "NOCREATE").optional();
const NONSCALING: Argument = Argument::word("nonscaling", "NONSCALING").optional();
const WORD_ITEMS: Argument = Argument::word("items", "ITEMS");
const BLOOM_FIELD: Argument = Argument::one_of(
    "single_value",
    &[
        Argument::word("capacity", "CAPACITY"),
        Argument::word("size", "SIZE"),
        Argument::word("filters", "FILTERS"),
        Argument::word("items", "ITEMS"),
        Argument::word("expansion", "EXPANSION"),
    ],
)
.optional();
const WEIGHTS: Argument = Argument::block(
    "weights",
    &[Argument::word("weights", "WEIGHTS"), Argument::number("weight").repeated()],
)
.optional();
const TOP_PARAMETERS: Argument = Argument::block(
    "params",
    &[Argument::integer("width"), Argument::integer("depth"), Argument::number("decay")],
)
.optional();

const fn integer(name: &'static str) -> Argument {
    Argument::integer(name)
}

const fn number(name: &'static str) -> Argument {
    Argument::number(name)
}

const LAST_LAYER: &str = "O(k), where k is the number of hash functions used by the last sub-filter";
const ALL_ITEMS: &str = "O(k * n), where k is the number of hash functions and n is the number of items";
const LAYERS_AND_MOVES: &str = "O(k + i), where k is the number of sub-filters and i is maxIterations";
const ITEMS_LAYERS_AND_MOVES: &str =
    "O(n * (k + i)), where n is the number of items, k is the number of sub-filters and i is maxIterations";
const LAYERS: &str = "O(k), where k is the number of sub-filters";
const ITEMS_AND_LAYERS: &str = "O(k * n), where k is the number of sub-filters and n is the number of items";
const SIZE: &str = "O(n), where n is the capacity";
const ITEM_COUNT: &str = "O(n) where n is the number of items";
const CONSTANT: &str = "O(1)";

#[rustfmt::skip]
pub(super) static COMMANDS: [Command; 47] = [
    Command::new("bf.reserve", WRITES, entry!(bloom::reserve), -4, (First(Adds), &[KEY, number("error_rate"), integer("capacity"), EXPANSION, NONSCALING]),
        ["1.0.0", CONSTANT, "Creates a new Bloom Filter"]),
    Command::new("bf.add", WRITES, entry!(bloom::add), 3, (First(Adds), &[KEY, ITEM]),
        ["1.0.0", LAST_LAYER, "Adds an item to a Bloom Filter"]),
    Command::new("bf.madd", WRITES, entry!(bloom::add_many), -3, (First(Adds), &[KEY, ITEMS]),
        ["1.0.0", ALL_ITEMS, "Adds one or more items to a Bloom Filter. A filter will be created if it does not exist"]),
    Command::new("bf.insert", WRITES, entry!(bloom::insert), -4, (First(Adds), &[KEY, CAPACITY, ERROR, EXPANSION, NOCREATE, NONSCALING, WORD_ITEMS, ITEMS]),
        ["1.0.0", ALL_ITEMS, "Adds one or more items to a Bloom Filter. A filter will be created if it does not exist"]),
    Command::new("bf.exists", READS, entry!(bloom::exists), 3, (First(Reads), &[KEY, ITEM]),
        ["1.0.0", LAST_LAYER, "Checks whether an item exists in a Bloom Filter"]),
    Command::new("bf.mexists", READS, entry!(bloom::exist_many), -3, (First(Reads), &[KEY, ITEMS]),
        ["1.0.0", ALL_ITEMS, "Checks whether one or more items exist in a Bloom Filter"]),
    Command::new("bf.info", READS, entry!(bloom::info), -2, (First(Reads), &[KEY, BLOOM_FIELD]),
        ["1.0.0", CONSTANT, "Returns information about a Bloom Filter"]),
    Command::new("bf.card", READS, entry!(bloom::cardinality), 2, (First(Reads), &[KEY]),
        ["2.4.4", CONSTANT, "Returns the cardinality of a Bloom filter"]),
    Command::new("bf.debug", READS, entry!(bloom::debug), 2, (First(Reads), &[KEY]),
        ["1.0.0", "O(n), where n is the number of sub-filters", "Returns the sizes of the layers of a Bloom filter"]),
    Command::new("bf.scandump", READS_ALL, entry!(bloom::scan_dump), 3, (First(Reads), &[KEY, ITERATOR]),
        ["1.0.0", SIZE, "Begins an incremental save of the bloom filter"]),
    Command::new("bf.loadchunk", WRITES, entry!(bloom::load_chunk), 4, (First(Changes), &[KEY, ITERATOR, DATA]),
        ["1.0.0", SIZE, "Restores a filter previously saved using SCANDUMP"]),
    Command::new("bf.load", WRITES, entry!(bloom::load), 3, (First(Changes), &[KEY, DATA]),
        ["1.0.0", SIZE, "Restores a Bloom filter from all of its bytes"]),
    Command::new("cf.reserve", WRITES, entry!(cuckoo::reserve), -3, (First(Adds), &[KEY, integer("capacity"), BUCKET_SIZE, MAX_ITERATIONS, EXPANSION]),
        ["1.0.0", CONSTANT, "Creates a new Cuckoo Filter"]),
    Command::new("cf.add", WRITES, entry!(cuckoo::add), 3, (First(Adds), &[KEY, ITEM]),
        ["1.0.0", LAYERS_AND_MOVES, "Adds an item to a Cuckoo Filter"]),
    Command::new("cf.addnx", WRITES, entry!(cuckoo::add_new), 3, (First(Adds), &[KEY, ITEM]),
        ["1.0.0", LAYERS_AND_MOVES, "Adds an item to a Cuckoo Filter if the item did not exist previously."]),
    Command::new("cf.insert", WRITES, entry!(cuckoo::insert), -4, (First(Adds), &[KEY, CAPACITY, NOCREATE, WORD_ITEMS, ITEMS]),
        ["1.0.0", ITEMS_LAYERS_AND_MOVES, "Adds one or more items to a Cuckoo Filter. A filter will be created if it does not exist"]),
    Command::new("cf.insertnx", WRITES, entry!(cuckoo::insert_new), -4, (First(Adds), &[KEY, CAPACITY, NOCREATE, WORD_ITEMS, ITEMS]),
        ["1.0.0", ITEMS_LAYERS_AND_MOVES, "Adds one or more items to a Cuckoo Filter if the items did not exist previously. A filter will be created if it does not exist"]),
    Command::new("cf.exists", READS, entry!(cuckoo::exists), 3, (First(Reads), &[KEY, ITEM]),
        ["1.0.0", LAYERS, "Checks whether one or more items exist in a Cuckoo Filter"]),
    Command::new("cf.mexists", READS, entry!(cuckoo::exist_many), -3, (First(Reads), &[KEY, ITEMS]),
        ["1.0.0", ITEMS_AND_LAYERS, "Checks whether one or more items exist in a Cuckoo Filter"]),
    Command::new("cf.del", REMOVES, entry!(cuckoo::delete), 3, (First(Deletes), &[KEY, ITEM]),
        ["1.0.0", LAYERS, "Deletes an item from a Cuckoo Filter"]),
    Command::new("cf.count", READS, entry!(cuckoo::count), 3, (First(Reads), &[KEY, ITEM]),
        ["1.0.0", LAYERS, "Return the number of times an item might be in a Cuckoo Filter"]),
    Command::new("cf.compact", READS, entry!(cuckoo::compact), 2, (First(Reads), &[KEY]),
        ["1.0.0", CONSTANT, "Does nothing: layers that have become empty are dropped at once"]),
    Command::new("cf.info", READS, entry!(cuckoo::info), 2, (First(Reads), &[KEY]),
        ["1.0.0", CONSTANT, "Returns information about a Cuckoo Filter"]),
    Command::new("cf.debug", READS, entry!(cuckoo::debug), 2, (First(Reads), &[KEY]),
        ["1.0.0", CONSTANT, "Returns information about a cuckoo filter as one line of text"]),
    Command::new("cf.scandump", READS_ALL, entry!(cuckoo::scan_dump), 3, (First(Reads), &[KEY, ITERATOR]),
        ["1.0.0", SIZE, "Begins an incremental save of the bloom filter"]),
    Command::new("cf.loadchunk", WRITES, entry!(cuckoo::load_chunk), 4, (First(Changes), &[KEY, ITERATOR, DATA]),
        ["1.0.0", SIZE, "Restores a filter previously saved using SCANDUMP"]),
    Command::new("cms.initbydim", WRITES, entry!(sketch::init_by_dimensions), 4, (First(Adds), &[KEY, integer("width"), integer("depth")]),
        ["2.0.0", CONSTANT, "Initializes a Count-Min Sketch to dimensions specified by user"]),
    Command::new("cms.initbyprob", WRITES, entry!(sketch::init_by_probability), 4, (First(Adds), &[KEY, number("error"), number("probability")]),
        ["2.0.0", CONSTANT, "Initializes a Count-Min Sketch to accommodate requested tolerances."]),
    Command::new("cms.incrby", WRITES, entry!(sketch::increase), -4, (First(Changes), &[KEY, Argument::block("items", &[ITEM, integer("increment")]).repeated()]),
        ["2.0.0", ITEM_COUNT, "Increases the count of one or more items by increment"]),
    Command::new("cms.query", READS, entry!(sketch::query), -3, (First(Reads), &[KEY, ITEMS]),
        ["2.0.0", ITEM_COUNT, "Returns the count for one or more items in a sketch"]),
    Command::new("cms.merge", WRITES, entry!(sketch::merge), -4, (CountedSources, &[KEY, integer("numKeys"), Argument::key("source", 1).repeated(), WEIGHTS]),
        ["2.0.0", "O(n) where n is the number of sketches", "Merges several sketches into one sketch"]),
    Command::new("cms.info", READS, entry!(sketch::info), 2, (First(Reads), &[KEY]),
        ["2.0.0", CONSTANT, "Returns information about a sketch"]),
    Command::new("topk.reserve", WRITES, entry!(top::reserve), -3, (First(Adds), &[KEY, integer("topk"), TOP_PARAMETERS]),
        ["2.0.0", CONSTANT, "Initializes a Top-K sketch with specified parameters"]),
    Command::new("topk.add", WRITES, entry!(top::add), -3, (First(Changes), &[KEY, ITEMS]),
        ["2.0.0", "O(n * k) where n is the number of items and k is the depth", "Adds an item to a Top-k sketch. Multiple items can be added at the same time."]),
    Command::new("topk.incrby", WRITES, entry!(top::increase), -4, (First(Changes), &[KEY, Argument::block("item_increment", &[ITEM, integer("increment")]).repeated()]),
        ["2.0.0", "O(n * k * incr) where n is the number of items, k is the depth and incr is the increment", "Increases the count of one or more items by increment"]),
    Command::new("topk.query", READS, entry!(top::query), -3, (First(Reads), &[KEY, ITEMS]),
        ["2.0.0", ITEM_COUNT, "Checks whether one or more items are in a sketch"]),
    Command::new("topk.count", READS, entry!(top::estimate), -3, (First(Reads), &[KEY, ITEMS]),
        ["2.0.0", ITEM_COUNT, "Return the count for one or more items are in a sketch"]),
    Command::new("topk.list", READS, entry!(top::list), -2, (First(Reads), &[KEY, Argument::word("withcount", "WITHCOUNT").optional()]),
        ["2.0.0", "O(k*log(k)) where k is the value of top-k", "Return the full list of items in Top-K sketch."]),
    Command::new("topk.info", READS, entry!(top::info), 2, (First(Reads), &[KEY]),
        ["2.0.0", CONSTANT, "Returns information about a sketch"]),
    Command::new("oneread.merge", WRITES, entry!(own::merge), -3, (AllSources, &[KEY, Argument::key("source", 1).repeated()]),
        ["0.1.0", "O(n), where n is the size of the sources", "Makes the destination the union of itself and the sources"]),
    Command::new("oneread.stats", READS_ALL, entry!(own::stats), 2, (First(Reads), &[KEY]),
        ["0.1.0", "O(n), where n is the size of the value", "Returns the planned and the present figures of a value"]),
    // The append-only file and replicas use these for values whose creation must name a seed, or
    // whose type has no chunk commands in RedisBloom.
    Command::new("oneread.makesketch", WRITES, entry!(sketch::make), 5, (First(Adds), &[KEY, integer("width"), integer("depth"), integer("seed")]),
        ["0.1.0", CONSTANT, "Makes a sketch with a seed"]),
    Command::new("oneread.loadsketch", WRITES, entry!(sketch::load_chunk), 4, (First(Changes), &[KEY, ITERATOR, DATA]),
        ["0.1.0", SIZE, "Restores a sketch saved by ONEREAD.DUMPSKETCH"]),
    Command::new("oneread.dumpsketch", READS_ALL, entry!(sketch::scan_dump), 3, (First(Reads), &[KEY, ITERATOR]),
        ["0.1.0", SIZE, "Saves a sketch chunk by chunk"]),
    Command::new("oneread.maketop", WRITES, entry!(top::make), 7, (First(Adds), &[KEY, integer("topk"), integer("width"), integer("depth"), number("decay"), integer("seed")]),
        ["0.1.0", CONSTANT, "Makes a Top-K sketch with a seed"]),
    Command::new("oneread.loadtop", WRITES, entry!(top::load_chunk), 4, (First(Changes), &[KEY, ITERATOR, DATA]),
        ["0.1.0", SIZE, "Restores a Top-K sketch saved by ONEREAD.DUMPTOP"]),
    Command::new("oneread.dumptop", READS_ALL, entry!(top::scan_dump), 3, (First(Reads), &[KEY, ITERATOR]),
        ["0.1.0", SIZE, "Saves a Top-K sketch chunk by chunk"]),
];
