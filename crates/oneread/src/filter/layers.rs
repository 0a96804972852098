//! Filters of layers as bytes: what a growing filter and one that can delete have in common.

use alloc::vec::Vec;

use crate::bits::{LittleEndian, Words};
use crate::bytes::{LoadError, Payload};
use crate::layout::{GrowingLayout, LayoutError};

const SHORT: LoadError = LoadError::Invalid { what: "the payload is shorter than its layers" };

/// A container's fields: first items, rate, growth, tightening, layers.
pub(super) fn encode_layout(layout: GrowingLayout, layers: usize) -> [u64; 5] {
    [
        layout.first_items(),
        layout.rate().to_bits(),
        u64::from(layout.growth()),
        layout.tightening().to_bits(),
        layers as u64,
    ]
}

/// The layout and the number of layers of a container's fields.
pub(super) fn decode_layout(
    fields: [u64; 5],
    most_layers: usize,
) -> Result<(GrowingLayout, usize), LoadError> {
    let [first_items, rate, growth, tightening, layers] = fields;
    let layout = || -> Result<GrowingLayout, LayoutError> {
        let growth = u32::try_from(growth).unwrap_or(0);
        let layout = GrowingLayout::new(first_items, f64::from_bits(rate))?;
        layout.with_growth(growth)?.with_tightening(f64::from_bits(tightening))
    };
    let layout =
        layout().map_err(|_| LoadError::Invalid { what: "a growing filter of impossible rate or growth" })?;
    match usize::try_from(layers) {
        Ok(layers) if (1..=most_layers).contains(&layers) => Ok((layout, layers)),
        _ => Err(LoadError::Invalid { what: "a growing filter of no layers, or too many" }),
    }
}

/// The layers of a payload that begins with a record of so many words for each. `decode` makes a layer of its record and of what it takes
/// of the payload.
pub(super) fn read<'p, const RECORD: usize, L>(
    count: usize,
    payload: &mut Payload<'p>,
    decode: impl Fn([u64; RECORD], &mut Payload<'p>) -> Result<L, LoadError>,
) -> Result<Vec<L>, LoadError> {
    let records = payload.words((count * RECORD) as u64)?;
    let records = records.as_chunks().0.iter();
    records.map(|record| decode(*record, payload)).collect()
}

/// The same where they lie; they must be all that is there.
pub(super) fn view<'a, const RECORD: usize, L>(
    count: usize,
    payload: LittleEndian<'a>,
    decode: impl Fn(
        [u64; RECORD],
        &mut dyn FnMut(u64) -> Result<LittleEndian<'a>, LoadError>,
    ) -> Result<L, LoadError>,
) -> Result<Vec<L>, LoadError> {
    let (layers, rest) = view_first(count, payload, decode)?;
    if rest.is_empty() {
        Ok(layers)
    } else {
        Err(LoadError::Invalid { what: "the payload is longer than its layers" })
    }
}

/// The same, and what follows them.
pub(super) fn view_first<'a, const RECORD: usize, L>(
    count: usize,
    payload: LittleEndian<'a>,
    decode: impl Fn(
        [u64; RECORD],
        &mut dyn FnMut(u64) -> Result<LittleEndian<'a>, LoadError>,
    ) -> Result<L, LoadError>,
) -> Result<(Vec<L>, LittleEndian<'a>), LoadError> {
    let (records, mut rest) = payload.split((count * RECORD) as u64).ok_or(SHORT)?;
    let mut take = |words| {
        let (own, after) = rest.split(words).ok_or(SHORT)?;
        rest = after;
        Ok(own)
    };
    let record = |at: usize| core::array::from_fn(|field| records.word(at * RECORD + field));
    let layers: Result<Vec<L>, LoadError> = (0..count).map(|at| decode(record(at), &mut take)).collect();
    Ok((layers?, rest))
}
