//! `CF.*`

use super::chunks;
use super::options::{MOST_EXPANSION, MOST_ITEMS, Options, UNKNOWN, check_size, integer};
use crate::engine::{Arg, Args, Context, Failure, Key, Open, Outcome};
use crate::settings::{
    CF_BUCKET_SIZE, CF_ERROR_RATE, CF_EXPANSION, CF_INITIAL_SIZE, CF_MAX_EXPANSIONS, CF_MAX_ITERATIONS,
    filter_seed, named,
};
use crate::values::{AddError, CuckooOptions, CuckooValue, Value};

const NOT_FOUND: &str = "ERR not found";

/// The configured defaults.
fn usual() -> CuckooOptions {
    CuckooOptions {
        rate: CF_ERROR_RATE.get(),
        capacity: CF_INITIAL_SIZE.get(),
        expansion: CF_EXPANSION.get() as u32,
        bucket_size: CF_BUCKET_SIZE.get() as u32,
        max_iterations: CF_MAX_ITERATIONS.get() as u32,
        seed: filter_seed(),
    }
}

/// `CF.RESERVE key capacity [BUCKETSIZE b] [MAXITERATIONS i] [EXPANSION n] [ERROR e] [SEED s]`
pub(super) fn reserve(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    let name = arguments.at(1)?;
    let mut options = usual();
    let capacity = arguments.at(2)?.integer().ok_or("Bad capacity")?;
    let mut words = Options::behind(arguments, 3);
    while let Some(word) = words.next() {
        let mut option = |name: &str, range: std::ops::RangeInclusive<i64>| -> Result<u32, Failure> {
            let value = words.value()?.integer().ok_or_else(|| format!("Couldn't parse {name}"))?;
            if range.contains(&value) {
                return Ok(value as u32);
            }
            let (least, most) = range.into_inner();
            Err(format!("{name}: value must be in the range [{least}, {most}]").into())
        };
        if word.is("BUCKETSIZE") {
            options.bucket_size = option("BUCKETSIZE", 1..=255)?;
        } else if word.is("MAXITERATIONS") {
            options.max_iterations = option("MAXITERATIONS", 1..=65_535)?;
        } else if word.is("EXPANSION") {
            options.expansion = option("EXPANSION", 0..=MOST_EXPANSION)?;
        } else {
            own_option(&mut options, word, &mut words)?;
        }
    }
    if !(2 * i64::from(options.bucket_size)..=MOST_ITEMS).contains(&capacity) {
        return Err(format!("Capacity must be in the range [2 * BUCKETSIZE, {MOST_ITEMS}]").into());
    }
    options.capacity = capacity as u64;
    let mut key = Key::open(context, name, Open::ToWrite);
    if key.slot::<CuckooValue>()?.is_some() {
        return Err("ERR item exists".into());
    }
    create(context, &mut key, &options)?;
    replicate_creation(context, name, &options);
    context.notify("cf.reserve", name);
    context.ok();
    Ok(())
}

/// The options that RedisBloom does not have.
fn own_option(options: &mut CuckooOptions, word: Arg<'_>, words: &mut Options<'_>) -> Outcome {
    if word.is("ERROR") {
        options.rate = super::options::fraction(words.value()?).ok_or("Bad error rate")?;
    } else if word.is("SEED") {
        options.seed = integer(words.value()?, 0..=i64::MAX).ok_or("ERR bad seed")? as u64;
    } else {
        return Err(UNKNOWN.into());
    }
    Ok(())
}

fn create(context: &Context, key: &mut Key<'_>, options: &CuckooOptions) -> Outcome {
    check_size(context, options.byte_len()?)?;
    key.set_value(CuckooValue::new(options)?);
    Ok(())
}

/// Replicas make a filter with the settings of their master, not with their own.
fn replicate_creation(context: &Context, name: Arg<'_>, options: &CuckooOptions) {
    let capacity = options.capacity.to_string();
    let words = [
        ("BUCKETSIZE", options.bucket_size.to_string()),
        ("MAXITERATIONS", options.max_iterations.to_string()),
        ("EXPANSION", options.expansion.to_string()),
        ("ERROR", options.rate.to_string()),
        ("SEED", options.seed.to_string()),
    ];
    let mut arguments: Vec<&[u8]> = vec![name.bytes(), capacity.as_bytes()];
    arguments.extend(words.iter().flat_map(|(word, value)| [word.as_bytes(), value.as_bytes()]));
    context.replicate(&named("cf.reserve"), &arguments);
}

/// `CF.ADD key item`
pub(super) fn add(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    insert_all(context, arguments.at(1)?, arguments.from(2), Some(usual()), How { new: false, array: false })
}

/// `CF.ADDNX key item`
pub(super) fn add_new(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    insert_all(context, arguments.at(1)?, arguments.from(2), Some(usual()), How { new: true, array: false })
}

/// `CF.INSERT key [CAPACITY c] [NOCREATE] ITEMS item [item ...]`
pub(super) fn insert(context: &Context, arguments: Args<'_>) -> Outcome {
    insert_with_options(context, arguments, How { new: false, array: true })
}

/// `CF.INSERTNX key [CAPACITY c] [NOCREATE] ITEMS item [item ...]`
pub(super) fn insert_new(context: &Context, arguments: Args<'_>) -> Outcome {
    insert_with_options(context, arguments, How { new: true, array: true })
}

fn insert_with_options(context: &Context, arguments: Args<'_>, how: How) -> Outcome {
    arguments.expect(4..)?;
    let (mut options, mut create) = (usual(), true);
    let mut words = Options::behind(arguments, 2);
    loop {
        let Some(word) = words.next() else { return Err(Failure::Arity) };
        if word.is("ITEMS") {
            break;
        } else if word.is("CAPACITY") {
            let value = words.value()?.integer().ok_or("Bad capacity")?;
            let least = 2 * i64::from(options.bucket_size);
            if !(least..=MOST_ITEMS).contains(&value) {
                return Err(format!("Capacity must be in the range [{least}, {MOST_ITEMS}]").into());
            }
            options.capacity = value as u64;
        } else if word.is("NOCREATE") {
            create = false;
        } else {
            own_option(&mut options, word, &mut words)?;
        }
    }
    insert_all(context, arguments.at(1)?, words.items()?, create.then_some(options), how)
}

/// How items are added.
#[derive(Clone, Copy)]
struct How {
    /// Only items that are absent.
    new: bool,
    /// Reply with an array.
    array: bool,
}

/// Adds items. Makes a new filter if the key is empty and `options` are given.
fn insert_all<'a>(
    context: &Context,
    name: Arg<'_>,
    items: impl ExactSizeIterator<Item = Arg<'a>>,
    options: Option<CuckooOptions>,
    how: How,
) -> Outcome {
    let mut key = Key::open(context, name, Open::ToWrite);
    if key.slot::<CuckooValue>()?.is_none() {
        let options = options.ok_or(NOT_FOUND)?;
        create(context, &mut key, &options)?;
        replicate_creation(context, name, &options);
    }
    let mut filter = key.value_mut::<CuckooValue>()?.ok_or(NOT_FOUND)?;
    if context.is_of_client() && filter.layers() as u64 >= CF_MAX_EXPANSIONS.get() {
        return Err("Maximum expansions reached".into());
    }
    if how.array {
        context.array(items.len());
    }
    let (mut added, mut refused, most_bytes) = (Vec::new(), false, context.most_bytes());
    for item in items {
        if how.new && filter.contains(item.bytes()) {
            reply(context, 0, how);
            continue;
        }
        match filter.add(item.bytes(), most_bytes) {
            Ok(()) => {
                added.push(item.bytes());
                reply(context, 1, how);
                continue;
            }
            Err(_) if how.array => reply(context, -1, how),
            Err(AddError::Full) => context.error("Filter is full"),
            Err(AddError::Refused(refused)) => context.error(&format!("ERR {}", refused.0)),
        }
        refused = true;
    }
    if added.is_empty() {
        return Ok(());
    }
    // The filter exists on replicas by now, so the command cannot make one with other settings
    // there. What was refused here must not be added elsewhere.
    if refused {
        let words = [name.bytes(), b"NOCREATE", b"ITEMS"];
        context.replicate(&named("cf.insert"), &[&words, &*added].concat());
    } else {
        context.replicate_as_it_came();
    }
    context.notify("cf.add", name);
    Ok(())
}

/// Replies with a number where there are three answers, else with a boolean, which is a number in
/// RESP2.
fn reply(context: &Context, answer: i64, how: How) {
    if (how.new && how.array) || (answer < 0 && !context.is_resp3()) {
        context.signed(answer);
    } else {
        context.boolean(answer > 0);
    }
}

/// `CF.EXISTS key item`
pub(super) fn exists(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let item = arguments.at(2)?.bytes();
    context.boolean(key.value::<CuckooValue>()?.is_some_and(|filter| filter.contains(item)));
    Ok(())
}

/// `CF.MEXISTS key item [item ...]`
pub(super) fn exist_many(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let items = arguments.from(2);
    let filter = key.value::<CuckooValue>()?;
    context.array(items.len());
    match filter {
        Some(filter) => filter.contains_many(items.map(|item| item.bytes()), |found| context.boolean(found)),
        None => items.for_each(|_| context.boolean(false)),
    }
    Ok(())
}

/// `CF.DEL key item`
pub(super) fn delete(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    let name = arguments.at(1)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    let mut filter = key.value_mut::<CuckooValue>()?.ok_or("Not found")?;
    let deleted = filter.delete(arguments.at(2)?.bytes());
    if deleted {
        context.replicate_as_it_came();
        context.notify("cf.del", name);
    }
    context.boolean(deleted);
    Ok(())
}

/// `CF.COUNT key item`
pub(super) fn count(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let item = arguments.at(2)?.bytes();
    context.integer(key.value::<CuckooValue>()?.map_or(0, |filter| filter.count(item)));
    Ok(())
}

/// `CF.INFO key`
pub(super) fn info(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let filter = key.value::<CuckooValue>()?.ok_or(NOT_FOUND)?;
    let fields = [
        ("Size", filter.byte_len() as u64),
        ("Number of buckets", filter.buckets()),
        ("Number of filters", filter.layers() as u64),
        ("Number of items inserted", filter.len()),
        ("Number of items deleted", filter.deleted()),
        ("Bucket size", filter.bucket_size().into()),
        ("Expansion rate", filter.expansion().into()),
        ("Max iterations", filter.max_iterations().into()),
    ];
    context.map(fields.len());
    for (name, value) in fields {
        context.simple(name);
        context.integer(value);
    }
    Ok(())
}

/// `CF.DEBUG key`
pub(super) fn debug(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let filter = key.value::<CuckooValue>()?.ok_or(NOT_FOUND)?;
    let line = format!(
        "bktsize:{} buckets:{} items:{} deletes:{} filters:{} max_iterations:{} expansion:{}",
        filter.bucket_size(),
        filter.buckets(),
        filter.len(),
        filter.deleted(),
        filter.layers(),
        filter.max_iterations(),
        filter.expansion()
    );
    context.bytes(line.as_bytes());
    Ok(())
}

/// `CF.COMPACT key`: RedisBloom moves items to older layers. Here a layer that has become empty is
/// dropped at once, and items stay where they are.
pub(super) fn compact(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    key.value::<CuckooValue>()?.ok_or("Cuckoo filter was not found")?;
    context.ok();
    Ok(())
}

const ERRORS: chunks::Errors = chunks::Errors {
    number: "Invalid position",
    first: "Couldn't create filter!",
    chunk: "Couldn't load chunk!",
};

/// `CF.SCANDUMP key iterator`
pub(super) fn scan_dump(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    let number = arguments.at(2)?.integer().filter(|&number| number >= 0).ok_or(ERRORS.number)?;
    // Clients expect no chunks of an empty filter.
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    if number == 0 && key.value::<CuckooValue>()?.is_some_and(|filter| filter.len() == 0) {
        context.array(2);
        context.integer(0);
        context.null();
        return Ok(());
    }
    drop(key);
    chunks::scan_dump::<CuckooValue>(context, arguments, &ERRORS)
}

/// `CF.LOADCHUNK key iterator data`
pub(super) fn load_chunk(context: &Context, arguments: Args<'_>) -> Outcome {
    if arguments.len() == 4 && arguments.at(2)?.integer() == Some(0) {
        return Err(ERRORS.number.into());
    }
    chunks::load_chunk::<CuckooValue>(context, arguments, &ERRORS)
}
