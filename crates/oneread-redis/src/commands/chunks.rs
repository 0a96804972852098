//! `SCANDUMP` and `LOADCHUNK`, the same for every kind of value.

use crate::engine::{Arg, Args, Context, Failure, Key, Open, Outcome};
use crate::types::Kept;
use crate::values::{Dump, Loading, Slot};

fn number(argument: Arg<'_>, words: &'static str) -> Result<u64, Failure> {
    argument.integer().and_then(|number| u64::try_from(number).ok()).ok_or_else(|| words.into())
}

/// Replies with the number of the next chunk and its bytes; at the end with 0 and no bytes.
pub(super) fn scan_dump<V: Kept>(context: &Context, arguments: Args<'_>, wrong: &'static str) -> Outcome {
    arguments.expect(3..=3)?;
    let number = number(arguments.at(2)?, wrong)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let value = key.value::<V>()?.ok_or("ERR not found")?;
    let (next, bytes) = Dump::next(value, number).unwrap_or_default();
    context.array(2);
    context.integer(next);
    context.bytes(&bytes);
    Ok(())
}

/// Takes a chunk; the last one completes the value.
pub(super) fn load_chunk<V: Kept>(context: &Context, arguments: Args<'_>, wrong: &'static str) -> Outcome {
    arguments.expect(4..=4)?;
    let (name, chunk) = (arguments.at(1)?, arguments.at(3)?.bytes());
    let number = number(arguments.at(2)?, wrong)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    match (key.slot_mut::<V>()?, number) {
        (None, 1) => key.set(Slot::<V>::Loading(Loading::begin(chunk, context.most_bytes())?)),
        (None, _) => return Err("ERR not found".into()),
        (Some(_), 1) => return Err("ERR item exists".into()),
        (Some(Slot::Ready(_)), _) => return Err("ERR received bad data: the value is complete".into()),
        (Some(Slot::Loading(loading)), _) => match loading.take::<V>(number, chunk) {
            Ok(None) => {}
            Ok(Some(value)) => key.set(Slot::Ready(value)),
            Err(refused) => {
                let complete = loading.is_complete();
                if complete {
                    // The bytes are complete but damaged, so no further chunk can help.
                    key.delete();
                    context.replicate_as_it_came();
                }
                return Err(format!("ERR received bad data: {}", refused.0).into());
            }
        },
    }
    context.replicate_as_it_came();
    context.notify(V::LOADS, name);
    context.ok();
    Ok(())
}
