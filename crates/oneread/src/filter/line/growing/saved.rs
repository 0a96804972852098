//! A growing line filter as bytes: records of its layers, their lines, their stashes.

use alloc::vec::Vec;

use super::{GrowingLine, GrowingLineFilter, Layer, nest};
use crate::bits::{Line, Lines, LittleEndian, Words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, Viewed, write_words};
use crate::filter::cores::{Counted, HasLayout};
use crate::filter::layers;
use crate::filter::line::places::Stash;
use crate::filter::line::{Fingerprints, LineTable};
use crate::layout::{GrowingLayout, LineLayout};

/// More layers than doubling from one key to 2^46 takes.
const MOST_LAYERS: usize = 64;

/// Fields of a layer's record at the beginning of the payload: number, fingerprints at most, fingerprints, bits of a remainder, lines, entries of
/// the stash, and two that are 0. So lines begin at cache lines.
const RECORD: usize = 8;

const IMPOSSIBLE: LoadError =
    LoadError::Invalid { what: "a layer of impossible number, fingerprints or lines" };

fn encode_record<S: Lines>(layer: &Layer<S>) -> [u64; RECORD] {
    let layout = layer.filter.layout();
    [
        u64::from(layer.number),
        layer.room,
        layer.filter.len(),
        u64::from(layout.remainder_bits()),
        layout.lines(),
        layer.filter.stashed(),
        0,
        0,
    ]
}

/// A layer over the lines that `take` hands out, without its stash; and how many entries that has.
fn decode_record<S: Lines>(
    record: [u64; RECORD],
    take: impl FnOnce(LineLayout) -> Result<S, LoadError>,
) -> Result<(Layer<S>, u64), LoadError> {
    let [number, room, fingerprints, remainder_bits, lines, stashed, zero, zero_too] = record;
    let layout = LineLayout::new(u32::try_from(remainder_bits).unwrap_or(u32::MAX), lines);
    // One below the largest number, for a layer that follows.
    let number = u16::try_from(number).ok().filter(|&number| number < u16::MAX);
    match (number, layout) {
        (Some(number), Ok(layout))
            if fingerprints <= room && stashed <= layout.stash() && (zero, zero_too) == (0, 0) =>
        {
            let filter = LineTable::over_lines(layout, take(layout)?, Stash::default(), fingerprints);
            Ok((Layer { number, room, filter }, stashed))
        }
        _ => Err(IMPOSSIBLE),
    }
}

/// Layers with the stashes that `take` hands out.
fn with_stashes<S>(
    layers: Vec<(Layer<S>, u64)>,
    mut take: impl FnMut(u64) -> Result<Vec<u64>, LoadError>,
) -> Result<Vec<Layer<S>>, LoadError> {
    let with_stash = |(mut layer, stashed): (Layer<S>, u64)| {
        layer.filter.table.stash = Stash { numbers: take(stashed)? };
        Ok(layer)
    };
    layers.into_iter().map(with_stash).collect()
}

/// Layers have rising numbers, and the fingerprint in an older one is a function of that in a newer one.
fn check_order<S: Lines>(layers: &[Layer<S>]) -> Result<(), LoadError> {
    let follows = |older: &Layer<S>, newer: &Layer<S>| {
        older.number < newer.number && nest(older.filter.layout(), newer.filter.layout())
    };
    if layers.windows(2).all(|pair| follows(&pair[0], &pair[1])) {
        Ok(())
    } else {
        Err(LoadError::Invalid { what: "layers out of order" })
    }
}

/// Layers have lines that insertions and removals make, and the fingerprints that they say.
fn check_layers<S: Lines>(layers: &[Layer<S>]) -> Result<(), LoadError> {
    for Layer { filter, .. } in layers {
        filter.check()?;
        if Fingerprints::new(&filter.table).count() as u64 != filter.len() {
            return Err(LoadError::Invalid { what: "a layer with more or fewer fingerprints than it says" });
        }
    }
    Ok(())
}

/// The layout, the number of layers and the number of keys.
fn decode_layout(block: &LayoutBlock) -> Result<(GrowingLayout, usize, u64), LoadError> {
    let [first_items, rate, growth, tightening, layers, len] = block.fields()?;
    let (layout, count) =
        layers::decode_layout([first_items, rate, growth, tightening, layers], MOST_LAYERS)?;
    Ok((layout, count, len))
}

impl<D: Identified> Saved for GrowingLineFilter<D> {
    const KIND: Kind = Kind::GrowingLine;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        let [first_items, rate, growth, tightening, layers] =
            layers::encode_layout(self.layout, self.layers.len());
        LayoutBlock::new([first_items, rate, growth, tightening, layers, self.len])
    }

    fn payload_length(&self) -> u64 {
        let words = |layer: &Layer<Vec<Line>>| {
            RECORD as u64 + layer.filter.layout().byte_len() / 8 + layer.filter.stashed()
        };
        8 * self.layers.iter().map(words).sum::<u64>()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        for layer in &self.layers {
            write_words(&Vec::from(encode_record(layer)), sink);
        }
        for layer in &self.layers {
            write_words(&layer.filter.table.lines, sink);
        }
        for layer in &self.layers {
            write_words(&layer.filter.table.stash.numbers, sink);
        }
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let (layout, count, len) = decode_layout(layout)?;
        let layers = layers::read(count, payload, |record, payload| {
            decode_record(record, |layout| payload.lines(layout.lines()))
        })?;
        let layers = with_stashes(layers, |entries| payload.words(entries))?;
        check_order(&layers)?;
        Ok(Self { layout, digester, len, layers })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        check_layers(&self.layers)
    }
}

impl<'a, D: Identified> Viewed<'a> for GrowingLine<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::GrowingLine;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        const LENGTH: LoadError =
            LoadError::Invalid { what: "the payload is shorter or longer than its layers and stashes" };
        let (layout, count, len) = decode_layout(layout)?;
        let (layers, mut rest) = layers::view_first(count, payload, |record, take| {
            decode_record(record, |layout| take(layout.byte_len() / 8))
        })?;
        let layers = with_stashes(layers, |entries| {
            let (own, after) = rest.split(entries).ok_or(LENGTH)?;
            rest = after;
            // A copy, and no larger than the bytes that it is a copy of.
            Ok((0..own.len()).map(|at| own.word(at)).collect())
        })?;
        if !rest.is_empty() {
            return Err(LENGTH);
        }
        check_order(&layers)?;
        Ok(Self { layout, digester, len, layers })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        check_layers(&self.layers)
    }
}
