//! `CMS.*`

use super::chunks;
use super::options::{check_size, fraction, integer};
use crate::engine::{Args, Context, Failure, Key, Open, Outcome};
use crate::settings::{adopt_sketch_seed, named, sketch_seed};
use crate::values::{Refused, SketchValue, SumError, try_clone};

const ABSENT: &str = "CMS: key does not exist";

/// The most rows of a sketch: the library's limit on hash functions.
const MOST_ROWS: i64 = 64;

/// `CMS.INITBYDIM key width depth`
pub(super) fn init_by_dimensions(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(4..=4)?;
    create(context, arguments, sketch_seed(), || {
        let width = integer(arguments.at(2)?, 1..=i64::MAX).ok_or("CMS: invalid width")?;
        let depth = integer(arguments.at(3)?, 1..=MOST_ROWS).ok_or("CMS: invalid depth")?;
        Ok((width as u64, depth as u32))
    })
}

/// `CMS.INITBYPROB key error probability`
pub(super) fn init_by_probability(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(4..=4)?;
    create(context, arguments, sketch_seed(), || {
        let error = fraction(arguments.at(2)?).ok_or("CMS: invalid overestimation value")?;
        let probability = fraction(arguments.at(3)?).ok_or("CMS: invalid prob value")?;
        // RedisBloom computes with 32 bits, where this is 1.
        if probability as f32 >= 1.0 {
            return Err("CMS: invalid init arguments".into());
        }
        Ok(SketchValue::dimensions(error, probability))
    })
}

/// `ONEREAD.MAKESKETCH key width depth seed`: how both are replicated.
pub(super) fn make(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(5..=5)?;
    let seed = integer(arguments.at(4)?, 0..=i64::MAX).ok_or("ERR bad seed")?;
    if !context.is_of_client() {
        adopt_sketch_seed(seed as u64);
    }
    create(context, arguments, seed as u64, || {
        let width = integer(arguments.at(2)?, 1..=i64::MAX).ok_or("CMS: invalid width")?;
        let depth = integer(arguments.at(3)?, 1..=MOST_ROWS).ok_or("CMS: invalid depth")?;
        Ok((width as u64, depth as u32))
    })
}

fn create(
    context: &Context,
    arguments: Args<'_>,
    seed: u64,
    dimensions: impl FnOnce() -> Result<(u64, u32), Failure>,
) -> Outcome {
    let name = arguments.at(1)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    if !key.is_empty() {
        return Err("CMS: key already exists".into());
    }
    let (width, depth) = dimensions()?;
    check_size(context, SketchValue::byte_len_of(width, depth))?;
    key.set_value(SketchValue::new(width, depth, seed)?);
    let numbers = [width.to_string(), depth.to_string(), seed.to_string()];
    let mut told = vec![name.bytes()];
    told.extend(numbers.iter().map(|number| number.as_bytes()));
    context.replicate(&named("oneread.makesketch"), &told);
    context.notify("cms.init", name);
    context.ok();
    Ok(())
}

/// `CMS.INCRBY key item increment [item increment ...]`
pub(super) fn increase(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(4..)?;
    if arguments.len() % 2 == 1 {
        return Err(Failure::Arity);
    }
    let name = arguments.at(1)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    let mut sketch = key.value_mut::<SketchValue>()?.ok_or(ABSENT)?;
    let mut pairs = Vec::with_capacity(arguments.len() / 2);
    for at in (2..arguments.len()).step_by(2) {
        let increment = arguments.at(at + 1)?.integer().ok_or("CMS: Cannot parse number")?;
        let increment = u64::try_from(increment).map_err(|_| "CMS: Number cannot be negative")?;
        pairs.push((arguments.at(at)?.bytes(), increment));
    }
    context.array(pairs.len());
    for (item, increment) in pairs {
        match sketch.add(item, increment) {
            u32::MAX => context.error("CMS: INCRBY overflow"),
            estimate => context.integer(estimate.into()),
        }
    }
    context.replicate_as_it_came();
    context.notify("cms.incrby", name);
    Ok(())
}

/// `CMS.QUERY key item [item ...]`
pub(super) fn query(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let sketch = key.value::<SketchValue>()?.ok_or(ABSENT)?;
    let items = arguments.from(2);
    context.array(items.len());
    items.for_each(|item| context.integer(sketch.estimate(item.bytes())));
    Ok(())
}

/// `CMS.MERGE destination numkeys source [source ...] [WEIGHTS weight [weight ...]]`
pub(super) fn merge(context: &Context, arguments: Args<'_>) -> Outcome {
    let count = arguments.at(2).ok().and_then(|count| count.integer());
    let sources = count.map_or(0, |count| count.clamp(0, arguments.len().saturating_sub(3) as i64) as usize);
    // A key position at or beyond the end of the arguments crashes the server.
    let positions = std::iter::once(1).chain(3..3 + sources).filter(|&at| at < arguments.len());
    if context.tells_keys(positions) {
        return Ok(());
    }
    arguments.expect(4..)?;
    let name = arguments.at(1)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    key.value::<SketchValue>()?.ok_or(ABSENT)?;
    let count = count.ok_or("CMS: invalid numkeys")?;
    if count <= 0 {
        return Err("CMS: Number of keys must be positive".into());
    }
    let behind = arguments.len() as i64 - 3 - count;
    let weighted = behind > 0 && arguments.at(3 + count as usize)?.is("WEIGHTS");
    if weighted && behind != count + 1 {
        return Err("CMS: wrong number of keys/weights".into());
    }
    if !weighted && behind != 0 {
        return Err("CMS: wrong number of keys".into());
    }
    let mut parts: Vec<(SketchValue, i64)> = Vec::new();
    parts.try_reserve_exact(sources).map_err(Refused::from)?;
    for at in 0..sources {
        let weight = if weighted {
            arguments.at(4 + sources + at)?.integer().ok_or("CMS: invalid weight value")?
        } else {
            1
        };
        let source = arguments.at(3 + at)?;
        // The destination is open already, and it may also be a source.
        let part = if source.bytes() == name.bytes() {
            try_clone(&*key.value::<SketchValue>()?.ok_or(ABSENT)?)?
        } else {
            try_clone(&*Key::open(context, source, Open::ToRead).value::<SketchValue>()?.ok_or(ABSENT)?)?
        };
        parts.push((part, weight));
    }
    let mut sketch = key.value_mut::<SketchValue>()?.ok_or(ABSENT)?;
    let parts: Vec<(&SketchValue, i64)> = parts.iter().map(|(part, weight)| (part, *weight)).collect();
    sketch.set_to_sum(&parts).map_err(|error| match error {
        SumError::Dimensions => "CMS: width/depth is not equal",
        SumError::OutOfRange => "CMS: MERGE overflow",
        SumError::Seeds => "CMS: sketches of different seeds cannot be merged",
    })?;
    context.replicate_as_it_came();
    context.notify("cms.merge", name);
    context.ok();
    Ok(())
}

/// `CMS.INFO key`
pub(super) fn info(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let sketch = key.value::<SketchValue>()?.ok_or(ABSENT)?;
    let fields = [("width", sketch.width()), ("depth", sketch.depth().into()), ("count", sketch.total())];
    context.map(fields.len());
    for (name, value) in fields {
        context.simple(name);
        context.integer(value);
    }
    Ok(())
}

/// `ONEREAD.DUMPSKETCH key iterator`: like `BF.SCANDUMP`; RedisBloom has no such command for
/// sketches.
pub(super) fn scan_dump(context: &Context, arguments: Args<'_>) -> Outcome {
    chunks::scan_dump::<SketchValue>(context, arguments, &chunks::ERRORS)
}

/// `ONEREAD.LOADSKETCH key iterator data`
pub(super) fn load_chunk(context: &Context, arguments: Args<'_>) -> Outcome {
    chunks::load_chunk::<SketchValue>(context, arguments, &chunks::ERRORS)
}
