//! `TOPK.*`

use super::chunks;
use super::options::{check_size, integer};
use crate::engine::{Args, Context, Failure, Key, Open, Outcome};
use crate::settings::{filter_seed, named};
use crate::values::{TopOptions, TopValue};

const ABSENT: &str = "TopK: key does not exist";
const BAD_INCREMENT: &str =
    "TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000";

/// The most items that one value keeps: each change searches them all.
const MAX_ITEMS: i64 = 1 << 20;
/// The most rows, as of a sketch.
const MAX_ROWS: i64 = 64;
/// As in RedisBloom.
const MAX_INCREMENT: i64 = 100_000;

/// The sizes that RedisBloom uses unless told others.
const USUAL: (u32, u32, f64) = (8, 7, 0.9);

/// `TOPK.RESERVE key topk [width depth decay]`
pub(super) fn reserve(context: &Context, arguments: Args<'_>) -> Outcome {
    if !matches!(arguments.len(), 3 | 6) {
        return Err(Failure::Arity);
    }
    create(context, arguments, filter_seed())
}

/// `ONEREAD.MAKETOP key topk width depth decay seed`: how it is replicated.
pub(super) fn make(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(7..=7)?;
    create(context, arguments, integer(arguments.at(6)?, 0..=i64::MAX).ok_or("ERR bad seed")? as u64)
}

fn create(context: &Context, arguments: Args<'_>, seed: u64) -> Outcome {
    let name = arguments.at(1)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    if !key.is_empty() {
        return Err("TopK: key already exists".into());
    }
    let items = integer(arguments.at(2)?, 1..=MAX_ITEMS).ok_or("TopK: invalid k")? as u32;
    let (mut width, mut depth, mut decay) = USUAL;
    if arguments.len() > 3 {
        width = integer(arguments.at(3)?, 1..=u32::MAX.into()).ok_or("TopK: invalid width")? as u32;
        depth = integer(arguments.at(4)?, 1..=MAX_ROWS).ok_or("TopK: invalid depth")? as u32;
        decay = (arguments.at(5)?.number().filter(|&decay| decay > 0.0 && decay <= 1.0))
            .ok_or("TopK: invalid decay value. must be '<= 1' & '> 0'")?;
    }
    let options = TopOptions { items, width, depth, decay, seed };
    check_size(context, options.byte_len())?;
    let value = TopValue::new(&options)
        .map_err(|_| Failure::from("ERR Insufficient memory to create topk data structure"))?;
    key.set_value(value);
    let numbers =
        [items.to_string(), width.to_string(), depth.to_string(), decay.to_string(), seed.to_string()];
    let mut told = vec![name.bytes()];
    told.extend(numbers.iter().map(|number| number.as_bytes()));
    context.replicate(&named("oneread.maketop"), &told);
    context.notify("topk.reserve", name);
    context.ok();
    Ok(())
}

/// `TOPK.ADD key item [item ...]`
pub(super) fn add(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    let mut key = Key::open(context, arguments.at(1)?, Open::ToWrite);
    let mut top = key.value_mut::<TopValue>()?.ok_or(ABSENT)?;
    context.array(arguments.len() - 2);
    for item in arguments.from(2) {
        count(context, &mut top, item.bytes(), 1);
    }
    context.replicate_as_it_came();
    context.notify("topk.add", arguments.at(1)?);
    Ok(())
}

/// `TOPK.INCRBY key item increment [item increment ...]`
pub(super) fn increase(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(4..)?;
    if arguments.len() % 2 == 1 {
        return Err(Failure::Arity);
    }
    let mut key = Key::open(context, arguments.at(1)?, Open::ToWrite);
    let mut top = key.value_mut::<TopValue>()?.ok_or(ABSENT)?;
    let pairs = (2..arguments.len()).step_by(2);
    context.array(pairs.len());
    for at in pairs {
        match integer(arguments.at(at + 1)?, 0..=MAX_INCREMENT) {
            Some(times) => count(context, &mut top, arguments.at(at)?.bytes(), times as u32),
            None => context.error(BAD_INCREMENT),
        }
    }
    context.replicate_as_it_came();
    context.notify("topk.incrby", arguments.at(1)?);
    Ok(())
}

/// Counts an item and replies with the one that left, if any.
fn count(context: &Context, top: &mut TopValue, item: &[u8], times: u32) {
    match top.add(item, times) {
        Ok(None) => context.null(),
        Ok(Some(left)) => context.bytes(&left),
        Err(refused) => context.error(&format!("ERR {}", refused.0)),
    }
}

/// `TOPK.QUERY key item [item ...]`
pub(super) fn query(context: &Context, arguments: Args<'_>) -> Outcome {
    answer(context, arguments, |top, item| context.boolean(top.contains(item)))
}

/// `TOPK.COUNT key item [item ...]`
pub(super) fn estimate(context: &Context, arguments: Args<'_>) -> Outcome {
    answer(context, arguments, |top, item| context.integer(top.count(item)))
}

fn answer(context: &Context, arguments: Args<'_>, answer: impl Fn(&TopValue, &[u8])) -> Outcome {
    arguments.expect(3..)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let top = key.value::<TopValue>()?.ok_or(ABSENT)?;
    context.array(arguments.len() - 2);
    arguments.from(2).for_each(|item| answer(&top, item.bytes()));
    Ok(())
}

/// `TOPK.LIST key [WITHCOUNT]`
pub(super) fn list(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=3)?;
    let with_count = arguments.len() == 3;
    if with_count && !arguments.at(2)?.is("WITHCOUNT") {
        return Err("WITHCOUNT keyword expected".into());
    }
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let top = key.value::<TopValue>()?.ok_or(ABSENT)?;
    let items = top.list();
    context.array(items.len() * if with_count { 2 } else { 1 });
    for (item, count) in items {
        context.bytes(item);
        if with_count {
            context.integer(count);
        }
    }
    Ok(())
}

/// `TOPK.INFO key`
pub(super) fn info(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let top = key.value::<TopValue>()?.ok_or(ABSENT)?;
    let options = top.options();
    context.map(4);
    for (name, value) in [("k", options.items), ("width", options.width), ("depth", options.depth)] {
        context.simple(name);
        context.integer(value.into());
    }
    context.simple("decay");
    context.number(options.decay);
    Ok(())
}

/// `ONEREAD.DUMPTOP key iterator`: like `BF.SCANDUMP`, for the append-only file.
pub(super) fn scan_dump(context: &Context, arguments: Args<'_>) -> Outcome {
    chunks::scan_dump::<TopValue>(context, arguments, &chunks::ERRORS)
}

/// `ONEREAD.LOADTOP key iterator data`
pub(super) fn load_chunk(context: &Context, arguments: Args<'_>) -> Outcome {
    chunks::load_chunk::<TopValue>(context, arguments, &chunks::ERRORS)
}
