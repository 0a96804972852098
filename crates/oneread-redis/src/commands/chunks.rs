//! `SCANDUMP` and `LOADCHUNK`, the same for every kind of value.

use crate::engine::{Arg, Args, Context, Failure, Key, Open, Outcome};
use crate::types::Kept;
use crate::values::{ChunkError, Loading, Pieces, Slot};

/// The errors of a kind of value: clients know them, and some compare all of the text.
pub(super) struct Errors {
    /// The number of a chunk is none.
    pub(super) number: &'static str,
    /// The first chunk is not one.
    pub(super) first: &'static str,
    /// Another chunk is damaged or out of order.
    pub(super) chunk: &'static str,
}

/// Those of all kinds but cuckoo filters.
pub(super) const ERRORS: Errors =
    Errors { number: "Second argument must be numeric", first: BAD_DATA, chunk: BAD_DATA };
pub(super) const BAD_DATA: &str = "received bad data";

fn number(argument: Arg<'_>, errors: &Errors) -> Result<u64, Failure> {
    argument.integer().and_then(|number| u64::try_from(number).ok()).ok_or_else(|| errors.number.into())
}

/// Replies with the number of the next chunk and its bytes; at the end with 0 and no bytes.
pub(super) fn scan_dump<V: Kept>(context: &Context, arguments: Args<'_>, errors: &Errors) -> Outcome {
    arguments.expect(3..=3)?;
    let number = number(arguments.at(2)?, errors)?;
    let key = Key::open(context, arguments.at(1)?, Open::ToRead);
    let value = key.value::<V>()?.ok_or("ERR not found")?;
    let next = Pieces::of(&*value).next(number).map_err(|_| errors.chunk)?;
    let (next, bytes) = next.unwrap_or_default();
    context.array(2);
    context.integer(next);
    context.bytes(&bytes);
    Ok(())
}

/// Takes a chunk; the last one completes the value.
pub(super) fn load_chunk<V: Kept>(context: &Context, arguments: Args<'_>, errors: &Errors) -> Outcome {
    arguments.expect(4..=4)?;
    let (name, chunk) = (arguments.at(1)?, arguments.at(3)?.bytes());
    let number = number(arguments.at(2)?, errors)?;
    let mut key = Key::open(context, name, Open::ToWrite);
    match (key.slot_mut::<V>()?, number) {
        (None, 1) => {
            let loading = Loading::begin(chunk, context.most_bytes()).map_err(|error| match error {
                ChunkError::Refused(refused) => Failure::from(refused),
                ChunkError::Damaged(_) => errors.first.into(),
            })?;
            key.set(Slot::<V>::Loading(Box::new(loading)));
        }
        (None, _) => return Err("ERR not found".into()),
        (Some(_), 1) => return Err("ERR item exists".into()),
        (Some(Slot::Loading(loading)), _) => match loading.take(number, chunk) {
            Ok(None) => {}
            Ok(Some(value)) => key.set_value(*value),
            Err(ChunkError::Refused(_)) => return Err(errors.chunk.into()),
            Err(ChunkError::Damaged(_)) => {
                // The bytes are no value, so that no further chunk can help.
                key.delete();
                context.replicate_as_it_came();
                return Err(errors.chunk.into());
            }
        },
        (Some(_), _) => return Err(errors.chunk.into()),
    }
    context.replicate_as_it_came();
    context.notify(V::LOADS, name);
    context.ok();
    Ok(())
}
