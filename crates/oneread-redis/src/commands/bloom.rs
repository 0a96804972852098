//! `BF.*`

use oneread::layout::GrowingLayout;

use super::chunks;
use super::options::{MOST_EXPANSION, MOST_ITEMS, Options, UNKNOWN, check_size, fraction, integer};
use crate::engine::{Arg, Args, Context, Failure, Key, Open, Outcome};
use crate::settings::{BF_ERROR_RATE, BF_EXPANSION, BF_INITIAL_SIZE, filter_seed, named};
use crate::values::{AddError, BloomOptions, BloomValue, Loading, Value};

const NOT_FOUND: &str = "ERR not found";

/// The configured defaults.
fn usual() -> BloomOptions {
    BloomOptions {
        rate: BF_ERROR_RATE.get(),
        capacity: BF_INITIAL_SIZE.get(),
        expansion: BF_EXPANSION.get() as u32,
        tightening: GrowingLayout::TIGHTENING,
        seed: filter_seed(),
    }
}

/// `BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING] [TIGHTENING t] [SEED s]`
pub(super) fn reserve(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(4..=11)?;
    let name = arguments.at(1)?;
    let mut options = usual();
    let rate = arguments.at(2)?;
    rate.number().ok_or("ERR bad error rate")?;
    options.rate = fraction(rate).ok_or("ERR error rate must be in the range (0.000000, 1.000000)")?;
    let capacity = arguments.at(3)?.integer().ok_or("ERR bad capacity")?;
    if !(1..=MOST_ITEMS).contains(&capacity) {
        return Err(format!("ERR capacity must be in the range [1, {MOST_ITEMS}]").into());
    }
    options.capacity = capacity as u64;
    let mut words = Options::behind(arguments, 4);
    let (mut asked, mut nonscaling) = (None, false);
    while let Some(word) = words.next() {
        if word.is("EXPANSION") {
            let value = words.next().ok_or("ERR no expansion")?.integer().ok_or("ERR bad expansion")?;
            if !(0..=MOST_EXPANSION).contains(&value) {
                return Err(format!("ERR expansion must be in the range [0, {MOST_EXPANSION}]").into());
            }
            asked = Some(value as u32);
        } else if word.is("NONSCALING") {
            nonscaling = true;
        } else {
            own_option(&mut options, word, &mut words)?;
        }
    }
    if nonscaling && asked.is_some_and(|expansion| expansion > 0) {
        return Err("Nonscaling filters cannot expand".into());
    }
    options.expansion = if nonscaling { 0 } else { asked.unwrap_or(options.expansion) };
    let mut key = Key::open(context, name, Open::ToWrite);
    if key.slot::<BloomValue>()?.is_some() {
        return Err("ERR item exists".into());
    }
    create(context, &mut key, &options)?;
    replicate_insertion(context, name, Some(&options), std::iter::empty(), 0);
    context.notify("bf.reserve", name);
    context.ok();
    Ok(())
}

/// The options that RedisBloom does not have.
fn own_option(options: &mut BloomOptions, word: Arg<'_>, words: &mut Options<'_>) -> Outcome {
    if word.is("SEED") {
        options.seed = integer(words.value()?, 0..=i64::MAX).ok_or("ERR bad seed")? as u64;
    } else if word.is("TIGHTENING") {
        options.tightening = fraction(words.value()?).ok_or("ERR bad tightening ratio")?;
    } else {
        return Err(UNKNOWN.into());
    }
    Ok(())
}

fn create(context: &Context, key: &mut Key<'_>, options: &BloomOptions) -> Outcome {
    check_size(context, options.byte_len()?)?;
    key.set_value(BloomValue::new(options)?);
    Ok(())
}

/// Sends on what was done. Replicas make a filter with the settings of their master, not with their
/// own.
fn replicate_insertion<'a>(
    context: &Context,
    name: Arg<'_>,
    made: Option<&BloomOptions>,
    items: impl ExactSizeIterator<Item = Arg<'a>>,
    taken: usize,
) {
    let are_all_taken = taken == items.len();
    let items: Vec<&[u8]> = items.take(taken).map(|item| item.bytes()).collect();
    let Some(options) = made else {
        if are_all_taken {
            return context.replicate_as_it_came();
        }
        return context.replicate(&named("bf.madd"), &[&[name.bytes()], &*items].concat());
    };
    let [rate, capacity] = [options.rate.to_string(), options.capacity.to_string()];
    let [expansion, seed] = [options.expansion.to_string(), options.seed.to_string()];
    let tightening = options.tightening.to_string();
    let own = [b"TIGHTENING".as_slice(), tightening.as_bytes(), b"SEED", seed.as_bytes()];
    let mut arguments: Vec<&[u8]> = vec![name.bytes()];
    if items.is_empty() {
        arguments.extend([rate.as_bytes(), capacity.as_bytes(), b"EXPANSION", expansion.as_bytes()]);
        arguments.extend(own);
        context.replicate(&named("bf.reserve"), &arguments);
    } else {
        arguments.extend([b"CAPACITY".as_slice(), capacity.as_bytes(), b"ERROR", rate.as_bytes()]);
        arguments.extend([b"EXPANSION".as_slice(), expansion.as_bytes()]);
        arguments.extend(own);
        arguments.push(b"ITEMS");
        arguments.extend(items);
        context.replicate(&named("bf.insert"), &arguments);
    }
}

/// `BF.ADD key item`
pub(super) fn add(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    insert_all(context, arguments.at(1)?, arguments.from(2), Some(usual()), false)
}

/// `BF.MADD key item [item ...]`
pub(super) fn add_many(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    insert_all(context, arguments.at(1)?, arguments.from(2), Some(usual()), true)
}

/// `BF.INSERT key [CAPACITY c] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] [TIGHTENING t]
/// [VALIDATESCALETO n] [SEED s] ITEMS item [item ...]`
pub(super) fn insert(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(4..)?;
    let (mut options, mut create, mut scaled) = (usual(), true, None);
    let mut words = Options::behind(arguments, 2);
    loop {
        let Some(word) = words.next() else { return Err(Failure::Arity) };
        if word.is("ITEMS") {
            break;
        } else if word.is("CAPACITY") {
            options.capacity = integer(words.value()?, 1..=MOST_ITEMS).ok_or("Bad capacity")? as u64;
        } else if word.is("ERROR") {
            options.rate = fraction(words.value()?).ok_or("Bad error rate")?;
        } else if word.is("EXPANSION") {
            options.expansion = integer(words.value()?, 0..=MOST_EXPANSION).ok_or("Bad expansion")? as u32;
        } else if word.is("VALIDATESCALETO") {
            scaled = Some(integer(words.value()?, 1..=MOST_ITEMS).ok_or("ERR bad validate_scale_to")?);
        } else if word.is("NOCREATE") {
            create = false;
        } else if word.is("NONSCALING") {
            options.expansion = 0;
        } else {
            own_option(&mut options, word, &mut words)?;
        }
    }
    if let Some(scaled) = scaled {
        if options.expansion == 0 {
            return Err("ERR cannot use NONSCALING and VALIDATESCALETO options together".into());
        }
        if options.scaled_capacity(context.most_bytes())? < scaled as u64 {
            return Err("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit".into());
        }
    }
    insert_all(context, arguments.at(1)?, words.items()?, create.then_some(options), true)
}

/// Adds items. Makes a new filter if the key is empty and `options` are given.
fn insert_all<'a>(
    context: &Context,
    name: Arg<'_>,
    items: impl ExactSizeIterator<Item = Arg<'a>> + Clone,
    options: Option<BloomOptions>,
    as_array: bool,
) -> Outcome {
    let mut key = Key::open(context, name, Open::ToWrite);
    let mut made = None;
    if key.slot::<BloomValue>()?.is_none() {
        let options = options.ok_or(NOT_FOUND)?;
        create(context, &mut key, &options)?;
        made = Some(options);
    }
    let mut filter = key.value_mut::<BloomValue>()?.ok_or(NOT_FOUND)?;
    let most_bytes = context.most_bytes();
    let mut answers = Vec::with_capacity(items.len());
    for item in items.clone() {
        let answer = filter.add(item.bytes(), most_bytes);
        let stops = answer.is_err();
        answers.push(answer);
        if stops {
            break;
        }
    }
    // Nothing to replicate if nothing changed. What was refused here must not be added elsewhere.
    if made.is_some() || answers.contains(&Ok(true)) {
        let taken = answers.iter().filter(|answer| answer.is_ok()).count();
        replicate_insertion(context, name, made.as_ref(), items, taken);
        context.notify("bf.add", name);
    }
    if as_array {
        context.array(answers.len());
    }
    for answer in answers {
        match answer {
            Ok(added) => context.boolean(added),
            Err(AddError::Full) => context.error("ERR non scaling filter is full"),
            Err(AddError::Refused(refused)) => context.error(&format!("ERR {}", refused.0)),
        }
    }
    Ok(())
}

/// `BF.EXISTS key item`
pub(super) fn exists(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let item = arguments.at(2)?.bytes();
    context.boolean(key.value::<BloomValue>()?.is_some_and(|filter| filter.contains(item)));
    Ok(())
}

/// `BF.MEXISTS key item [item ...]`
pub(super) fn exist_many(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let items = arguments.from(2);
    let filter = key.value::<BloomValue>()?;
    context.array(items.len());
    match filter {
        Some(filter) => filter.contains_many(items.map(|item| item.bytes()), |found| context.boolean(found)),
        None => items.for_each(|_| context.boolean(false)),
    }
    Ok(())
}

/// `BF.INFO key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]`
pub(super) fn info(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=3)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let filter = key.value::<BloomValue>()?.ok_or(NOT_FOUND)?;
    let fields = [
        ("CAPACITY", "Capacity", Some(filter.capacity())),
        ("SIZE", "Size", Some(filter.byte_len() as u64)),
        ("FILTERS", "Number of filters", Some(filter.layers() as u64)),
        ("ITEMS", "Number of items inserted", Some(filter.len())),
        ("EXPANSION", "Expansion rate", filter.expansion().map(u64::from)),
    ];
    let reply = |value: Option<u64>| value.map_or_else(|| context.null(), |value| context.integer(value));
    if let Ok(word) = arguments.at(2) {
        if word.is("MAXSCALEDCAPACITY") {
            return one_field(context, "Max scaled capacity", || {
                context.integer(filter.scaled_capacity(context.most_bytes()));
            });
        } else if word.is("TIGHTENING") {
            return one_field(context, "Tightening ratio", || match filter.tightening() {
                Some(tightening) => context.number(tightening),
                None => context.null(),
            });
        }
        let field = fields.iter().find(|(asked, ..)| word.is(asked));
        let &(_, name, value) = field.ok_or("Invalid information value")?;
        return one_field(context, name, || reply(value));
    }
    context.map(fields.len());
    for (_, name, value) in fields {
        context.simple(name);
        reply(value);
    }
    Ok(())
}

/// One field: with its name for clients that use RESP3.
fn one_field(context: &Context, name: &str, reply: impl FnOnce()) -> Outcome {
    if context.is_resp3() {
        context.map(1);
        context.simple(name);
    } else {
        context.array(1);
    }
    reply();
    Ok(())
}

/// `BF.DEBUG key`
pub(super) fn debug(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let filter = key.value::<BloomValue>()?.ok_or(NOT_FOUND)?;
    let layers = filter.layer_facts()?;
    context.array(1 + layers.len());
    context.bytes(format!("size:{}", filter.len()).as_bytes());
    for layer in layers {
        let line = format!(
            "bytes:{} bits:{} hashes:{} hashwidth:64 capacity:{} size:{} ratio:{:?}",
            layer.bytes, layer.bits, layer.hashes, layer.capacity, layer.items, layer.rate
        );
        context.bytes(line.as_bytes());
    }
    Ok(())
}

/// `BF.LOAD key data`: all bytes of a filter at once, as the chunks of `BF.SCANDUMP`, joined.
pub(super) fn load(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..=3)?;
    let (name, bytes) = (arguments.at(1)?, arguments.at(2)?.bytes());
    check_size(context, bytes.len() as u64)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    if key.slot::<BloomValue>()?.is_some() {
        return Err("ERR item exists".into());
    }
    let value = Loading::<BloomValue>::all(bytes, context.most_bytes()).map_err(|_| chunks::BAD_DATA)?;
    key.set_value(*value);
    context.replicate_as_it_came();
    context.notify("bf.load", name);
    context.ok();
    Ok(())
}

/// `BF.CARD key`
pub(super) fn cardinality(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    context.integer(key.value::<BloomValue>()?.map_or(0, |filter| filter.len()));
    Ok(())
}

/// `BF.SCANDUMP key iterator`
pub(super) fn scan_dump(context: &Context, arguments: Args<'_>) -> Outcome {
    chunks::scan_dump::<BloomValue>(context, arguments, &chunks::ERRORS)
}

/// `BF.LOADCHUNK key iterator data`
pub(super) fn load_chunk(context: &Context, arguments: Args<'_>) -> Outcome {
    chunks::load_chunk::<BloomValue>(context, arguments, &chunks::ERRORS)
}
