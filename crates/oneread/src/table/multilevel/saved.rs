//! Saved tables: `docs/format.md`, kind 16.

use alloc::vec::Vec;

use super::MultilevelTable;
use super::changed::Reads;
use crate::bits::reserved;
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Record, Saved, write_words};
use crate::hash::Digester;
use crate::layout::{
    HintChain, HintRule, Hints, Keep, LayoutError, Maps, Moves, MultilevelLayout, OnCrisis, Restriction, Ties,
};
use crate::table::placement::Placement;

impl<K, V, D> Saved for MultilevelTable<K, V, D>
where
    K: Record + Eq,
    V: Record,
    D: Identified + Digester<K>,
{
    const KIND: Kind = Kind::Multilevel;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        let layout = &self.layout;
        let attempts = match layout.on_crisis() {
            OnCrisis::Stash => 0,
            OnCrisis::Rebuild { attempts } => attempts,
        };
        LayoutBlock::new([
            layout.level_count() as u64,
            layout.slots().into(),
            layout.stash().into(),
            encode_moves(layout.moves()),
            attempts.into(),
            self.placement.generation().into(),
        ])
    }

    fn payload_length(&self) -> u64 {
        let mut length = 0;
        self.write_payload(&mut |piece| length += piece.len() as u64);
        length
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.layout.levels().to_vec(), sink);
        self.placement.write(sink);
        let mut record = Vec::new();
        let mut written = 0;
        for (key, value) in self {
            record.clear();
            key.write(&mut record);
            value.write(&mut record);
            written += record.len();
            sink(&record);
        }
        sink(&[0; 8][..written.next_multiple_of(8) - written]);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let (layout, generation) = decode(layout, |levels| payload.words(levels))?;
        let placement = Placement::read(&layout, generation, payload)?;
        // The occupancy bits, which have been read, bound this allocation.
        let mut entries = reserved(placement.places() as u64)?;
        let words = payload.words(payload.words_left())?;
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let mut rest = bytes.as_slice();
        for place in 0..placement.places() {
            let entry = if placement.in_use(place) {
                let record = <(K, V)>::read(&mut rest);
                Some(record.ok_or(LoadError::Invalid { what: "an item that its type cannot decode" })?)
            } else {
                None
            };
            entries.push(entry);
        }
        if rest.len() >= 8 || rest.iter().any(|&byte| byte != 0) {
            return Err(LoadError::Invalid { what: "bytes after the last item" });
        }
        let table = Self { layout, digester, placement, entries, reads: Reads::default() };
        for (place, entry) in table.entries.iter().enumerate() {
            if let Some((key, _)) = entry
                && table.place_of(key) != Some(place)
            {
                return Err(LoadError::Invalid { what: "an item in a bucket that is not its own, or twice" });
            }
        }
        Ok(table)
    }
}

/// Decodes the layout and the generation, given the sizes of the levels.
fn decode(
    block: &LayoutBlock,
    sizes: impl FnOnce(u64) -> Result<Vec<u64>, LoadError>,
) -> Result<(MultilevelLayout, u32), LoadError> {
    let [levels, slots, stash, moves, attempts, generation] = block.fields()?;
    if levels > MultilevelLayout::MAX_LEVELS as u64 {
        return Err(LoadError::Invalid { what: "a table with too many levels" });
    }
    let narrow = |field: u64| u32::try_from(field).unwrap_or(u32::MAX);
    let layout = decode_layout(sizes(levels)?, narrow(slots), narrow(stash), moves, narrow(attempts))?;
    let generation =
        u32::try_from(generation).map_err(|_| LoadError::Invalid { what: "a generation beyond 32 bits" })?;
    Ok((layout, generation))
}

fn decode_layout(
    levels: Vec<u64>,
    slots: u32,
    stash: u32,
    moves: u64,
    attempts: u32,
) -> Result<MultilevelLayout, LoadError> {
    let moves = decode_moves(moves).ok_or(LoadError::Invalid { what: "unknown moves of a table" })?;
    let on_crisis = if attempts == 0 { OnCrisis::Stash } else { OnCrisis::Rebuild { attempts } };
    let layout = || {
        MultilevelLayout::new(levels)?
            .with_slots(slots)?
            .with_stash(stash)?
            .with_moves(moves)?
            .with_crisis(on_crisis)
    };
    layout().map_err(|_: LayoutError| LoadError::Invalid { what: "an invalid layout of a table" })
}

/// Encodes the policy in four bytes: its kind, then its parameters.
fn encode_moves(moves: Moves) -> u64 {
    let hints = |hints: Hints| {
        let rule = match hints.rule {
            HintRule::Replace => 0,
            HintRule::Deepest => 1,
            HintRule::Next => 2,
            HintRule::DeepestUnchecked => 3,
        };
        [rule, u8::from(hints.chain == HintChain::Recursive), 0]
    };
    let (policy, rest) = match moves {
        Moves::None => (0, [0; 3]),
        Moves::SecondChance => (1, [0; 3]),
        Moves::Hints(own) => (2, hints(own)),
        Moves::Both(own) => (3, hints(own)),
        Moves::Restricted(Restriction { fanout, maps, keep }) => {
            let maps = match maps {
                Maps::Shifts => 0,
                Maps::Random => 1,
                Maps::Nested => 2,
            };
            let keep = match keep {
                Keep::Random => 0,
                Keep::Greedy(Ties::Random) => 1,
                Keep::Greedy(Ties::Left) => 2,
            };
            (4, [maps, keep, fanout as u8])
        }
    };
    u32::from_le_bytes([policy, rest[0], rest[1], rest[2]]).into()
}

fn decode_moves(field: u64) -> Option<Moves> {
    let [policy, first, second, third] = u32::try_from(field).ok()?.to_le_bytes();
    let hints = || {
        let rules = [HintRule::Replace, HintRule::Deepest, HintRule::Next, HintRule::DeepestUnchecked];
        let rule = rules.get(usize::from(first)).copied()?;
        let chain = [HintChain::One, HintChain::Recursive].get(usize::from(second)).copied()?;
        (third == 0).then_some(Hints { rule, chain })
    };
    match policy {
        0 if field == 0 => Some(Moves::None),
        1 if field == 1 => Some(Moves::SecondChance),
        2 => hints().map(Moves::Hints),
        3 => hints().map(Moves::Both),
        4 => {
            let maps = [Maps::Shifts, Maps::Random, Maps::Nested].get(usize::from(first)).copied()?;
            let keeps = [Keep::Random, Keep::Greedy(Ties::Random), Keep::Greedy(Ties::Left)];
            let keep = keeps.get(usize::from(second)).copied()?;
            Some(Moves::Restricted(Restriction { fanout: third.into(), maps, keep }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_refused_or_stands_for_its_moves() {
        let mut known = 0;
        for field in (0..1 << 20).chain((0..16).map(|fanout| fanout << 24 | 4)) {
            if let Some(moves) = decode_moves(field) {
                known += 1;
                assert_eq!(encode_moves(moves), field);
            }
        }
        // None, Second Chance, eight hints, eight of both, nine restrictions without children, and
        // 16 more.
        assert_eq!(known, 1 + 1 + 8 + 8 + 9 + 16);
        assert_eq!(decode_moves(1 << 32), None);
    }
}
