//! `ONEREAD.*`: commands that RedisBloom does not have.

use super::options::check_size;
use crate::engine::{Args, Context, Failure, Key, Open, Outcome};
use crate::types::Kept;
use crate::values::{BloomValue, CuckooValue, Refused, SketchValue, SumError, TopValue, Value, try_clone};

/// `ONEREAD.MERGE destination source [source ...]`: the destination becomes the union of itself, if
/// it exists, and the sources.
pub(super) fn merge(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(3..)?;
    let first = Key::open(context, arguments.at(2)?, Open::ToRead);
    if first.slot::<CuckooValue>().is_ok_and(|slot| slot.is_some()) {
        return Err(
            "ERR filters with deletion cannot be joined: keys that are in both would be counted wrongly"
                .into(),
        );
    }
    if first.slot::<SketchValue>().is_ok_and(|slot| slot.is_some()) {
        drop(first);
        return merge_all::<SketchValue>(context, arguments, |own, other| {
            let before = try_clone(own)?;
            own.set_to_sum(&[(&before, 1), (other, 1)]).map_err(|error| {
                Refused(match error {
                    SumError::OutOfRange => "a count would be too large".into(),
                    _ => "sketches of different sizes or seeds cannot be joined".into(),
                })
            })
        });
    }
    drop(first);
    merge_all::<BloomValue>(context, arguments, BloomValue::merge)
}

fn merge_all<V: Kept>(
    context: &Context,
    arguments: Args<'_>,
    join: impl Fn(&mut V, &V) -> Result<(), Refused>,
) -> Outcome {
    let name = arguments.at(1)?;
    // Computes the union before the destination changes, so that an error changes nothing.
    let mut joined =
        Key::open(context, name, Open::ToRead).value::<V>()?.map(|value| try_clone(&*value)).transpose()?;
    for source in arguments.from(2) {
        if source.bytes() == name.bytes() && joined.is_some() {
            continue;
        }
        let key = Key::open(context, source, Open::ToRead);
        let value = key.value::<V>()?.ok_or("ERR not found")?;
        match &mut joined {
            None => joined = Some(try_clone(&*value)?),
            Some(joined) => {
                // The layers of growing filters add up, so that merging back and forth would double
                // them each time.
                check_size(context, (joined.byte_len() + value.byte_len()) as u64)?;
                join(joined, &value)?;
            }
        }
    }
    let joined = joined.ok_or("ERR not found")?;
    Key::open(context, name, Open::ToWrite).set_value(joined);
    context.replicate_as_it_came();
    context.notify("oneread.merge", name);
    context.ok();
    Ok(())
}

/// One statistic of a value.
enum Fact {
    Text(&'static str),
    Count(u64),
    Number(f64),
}

/// `ONEREAD.STATS key`: planned and actual figures.
pub(super) fn stats(context: &Context, arguments: Args<'_>) -> Outcome {
    arguments.expect(2..=2)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    if key.is_empty() {
        return Err("ERR not found".into());
    }
    let facts = match (key.value::<BloomValue>(), key.value::<CuckooValue>(), key.value::<SketchValue>()) {
        (Ok(Some(filter)), ..) => {
            let mut facts =
                filter_facts("bloom", filter.len(), filter.byte_len(), filter.layers(), filter.seed());
            facts.extend(rates(filter.planned_rate(), filter.present_rate()));
            facts.push(("load", Fact::Number(filter.len() as f64 / filter.capacity() as f64)));
            facts
        }
        (_, Ok(Some(filter)), _) => {
            let mut facts =
                filter_facts("cuckoo", filter.len(), filter.byte_len(), filter.layers(), filter.seed());
            facts.extend(rates(filter.planned_rate(), filter.present_rate()));
            facts.push(("load", Fact::Number(filter.len() as f64 / filter.slots() as f64)));
            facts
        }
        (.., Ok(Some(sketch))) => vec![
            ("kind", Fact::Text("count-min")),
            ("total", Fact::Count(sketch.total())),
            ("bytes", Fact::Count(sketch.byte_len() as u64)),
            ("width", Fact::Count(sketch.width())),
            ("depth", Fact::Count(sketch.depth().into())),
            ("seed", Fact::Count(sketch.seed())),
        ],
        (Err(Failure::Says(words)), ..)
        | (_, Err(Failure::Says(words)), _)
        | (.., Err(Failure::Says(words))) => {
            return Err(Failure::Says(words));
        }
        _ => top_facts(&*key.value::<TopValue>()?.ok_or(Failure::WrongType)?),
    };
    context.map(facts.len());
    for (name, fact) in facts {
        context.simple(name);
        match fact {
            Fact::Text(text) => context.simple(text),
            Fact::Count(count) => context.integer(count),
            Fact::Number(number) => context.number(number),
        }
    }
    Ok(())
}

fn top_facts(top: &TopValue) -> Vec<(&'static str, Fact)> {
    let options = top.options();
    vec![
        ("kind", Fact::Text("top-k")),
        ("bytes", Fact::Count(top.byte_len() as u64)),
        ("k", Fact::Count(options.items.into())),
        ("width", Fact::Count(options.width.into())),
        ("depth", Fact::Count(options.depth.into())),
        ("decay", Fact::Number(options.decay)),
        ("seed", Fact::Count(options.seed)),
    ]
}

fn filter_facts(
    kind: &'static str,
    items: u64,
    bytes: usize,
    layers: usize,
    seed: u64,
) -> Vec<(&'static str, Fact)> {
    vec![
        ("kind", Fact::Text(kind)),
        ("items", Fact::Count(items)),
        ("bytes", Fact::Count(bytes as u64)),
        ("bits_per_item", Fact::Number(bytes as f64 * 8.0 / items.max(1) as f64)),
        ("layers", Fact::Count(layers as u64)),
        ("seed", Fact::Count(seed)),
    ]
}

fn rates(planned: f64, present: f64) -> [(&'static str, Fact); 2] {
    [
        ("planned_false_positive_rate", Fact::Number(planned)),
        ("present_false_positive_rate", Fact::Number(present)),
    ]
}
