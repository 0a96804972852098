//! The table of states that gives the 128 bits of a bucket their meaning.
//!
//! # Layout
//! ```text
//!   bits 0 … 119: cells of group 0, cells of group 1, zeros      bits 120 … 127: the state
//!   a cell, from its lowest bit: the remainder, its tail first; the counter
//! ```
//! A state is a class, which is the number of cells that the bits are divided into, and the number
//! of cells in each group:
//!
//! | remainders | group 0 | group 1 | states |
//! | --- | --- | --- | --- |
//! | fixed | all | none | loads 0 to the capacity |
//! | one size | those whose implied bit is 0 | those whose implied bit is 1 | 246 for 5, 6, 7, 8, 9, 10 cells; 238 for 6, 7, 8, 9, 10, 12, where the last class implies nothing and all are in group 0 |
//! | two sizes | the shorter ones, of the class | the longer ones, of the class before | 219 for 5, 6, 7, 8, 9, 10, 12 cells |
//!
//! # Invariants
//! 1. State 0 is the empty bucket. It is of the first class, whatever the bucket held before.
//! 2. A class is entered only when the one before has no room. It is left for the one before only
//!    when no cell is of the shorter length, and for the first when no cell is left.
//! 3. The table also has the states after an insertion and after a removal, so that a change is a
//!    look-up and a shift.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::fixed::FixedCells;
use crate::bits::{OutOfMemory, reserved};
use crate::layout::{DLeftCountingLayout, Remainders, Repeats};

/// The position of a bucket's state.
pub(super) const STATE_AT: u32 = DLeftCountingLayout::CELL_SPACE;

/// The bits of the cells.
pub(super) const CELLS: u128 = (1 << STATE_AT) - 1;

/// The number of states that 8 bits can express.
const STATES: usize = 256;

/// What an insertion does to a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Insertion {
    /// The state to which the present cells are cut first; often the present state.
    pub(super) cut: u8,
    /// The group of the new cell.
    pub(super) group: u8,
    /// The state with the new cell; 0 if there is no room.
    pub(super) after: u8,
}

/// One state of a bucket.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct State {
    /// By group: a 1 in the lowest bit of each cell.
    pub(super) ones: [u128; 2],
    /// By group: a 1 in the highest bit of each remainder.
    pub(super) tops: [u128; 2],
    /// Ones in the stored bits of the minimal remainders.
    pub(super) minimal: u128,
    /// By group: the shift from a word to its remainder.
    pub(super) shift: [u8; 2],
    /// By group: the bits of a cell.
    pub(super) width: [u8; 2],
    /// By group: the number of cells.
    pub(super) count: [u8; 2],
    /// By group: the position of the last cell, if there is one.
    pub(super) last: [u8; 2],
    /// The number of cells.
    pub(super) load: u8,
    /// 1 if the group is the implied bit of the remainder, else 0.
    pub(super) told: u8,
    /// By group: the state without one of its cells.
    pub(super) removed: [u8; 2],
    /// By implied bit.
    pub(super) insertion: [Insertion; 2],
}

/// What a lookup needs to know about a bucket, by its state and the word's lowest bit, if a
/// remainder can be in one group only: that of the implied bit, or the only one. It fits one cache
/// line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Row {
    pub(super) ones: u128,
    pub(super) tops: u128,
    pub(super) minimal: u128,
    /// The load, shifted up by [`LOAD_AT`]. With the bucket's number in the lower bits, the minimum
    /// is the least loaded bucket and, of equals, the first.
    pub(super) load: u64,
    pub(super) shift: u8,
    /// The bits of a cell.
    pub(super) width: u8,
    /// The state without one of the cells.
    pub(super) removed: u8,
}

/// Above the numbers of all buckets, which are below 2^42.
pub(super) const LOAD_AT: u32 = 48;

/// What an insertion does to a bucket, by the same index.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Growth {
    /// The bits of the cells that remain when they are cut, of each half.
    pub(super) keep: [u64; 2],
    /// How many of the lower half.
    pub(super) kept_low: u8,
    /// The new state; 0 if there is no room.
    pub(super) after: u8,
    /// The position of the new cell.
    pub(super) at: u8,
    /// Its number of bits.
    pub(super) width: u8,
    /// The shift from a word to its remainder.
    pub(super) shift: u8,
}

/// The format of a filter's buckets.
#[derive(Clone, Debug)]
pub(super) struct Format {
    /// All 256 states, those that do not exist without cells, so that every number is an index.
    states: Box<[State; STATES]>,
    /// The number of states that exist.
    count: usize,
    rows: Box<[Row; 2 * STATES]>,
    growths: Box<[Growth; 2 * STATES]>,
    pub(super) counter_bits: u32,
    /// Whether a key's remainder may be in either group.
    pub(super) two_sizes: bool,
    pub(super) repeats: Repeats,
    /// Whether the cells of a row are all that can have its word's minimal remainder: the implied
    /// bit belongs to that, or there is one group.
    pub(super) minimal_by_row: bool,
    /// Set if all remainders have one length: it suffices to read them.
    pub(super) fixed: Option<FixedCells>,
}

impl Format {
    pub(super) fn new(layout: DLeftCountingLayout) -> Result<Self, OutOfMemory> {
        let mut classes: Vec<u32> = (layout.fewest_cells()..=layout.capacity()).collect();
        if layout.remainders() != Remainders::Fixed {
            classes.retain(|&cells| cells != 11);
        }
        let builder = Builder { layout, classes };
        let keys = builder.keys();
        let mut states = table::<State, STATES>()?;
        for (state, &key) in states.iter_mut().zip(&keys) {
            *state = builder.state(key, &keys);
        }
        let mut rows = table::<Row, { 2 * STATES }>()?;
        let mut growths = table::<Growth, { 2 * STATES }>()?;
        for number in 0..keys.len() {
            for told in 0..2 {
                rows[place(number, told)] = states[number].row(told);
                growths[place(number, told)] = growth(&states, number, told);
            }
        }
        Ok(Self {
            states,
            count: keys.len(),
            rows,
            growths,
            counter_bits: layout.counter_bits(),
            two_sizes: layout.remainders() == Remainders::TwoSizes,
            repeats: layout.repeats(),
            minimal_by_row: layout.always_told() || layout.remainders() == Remainders::Fixed,
            fixed: FixedCells::new(layout),
        })
    }

    /// The state of a bucket. If it does not exist, in a damaged file, the bucket has no cells.
    #[inline(always)]
    pub(super) fn state(&self, bucket: u128) -> &State {
        self.state_of((bucket >> STATE_AT) as u8)
    }

    #[inline(always)]
    pub(super) fn state_of(&self, number: u8) -> &State {
        &self.states[usize::from(number)]
    }

    /// The row of a bucket and a word.
    #[inline(always)]
    pub(super) fn row(&self, bucket: u128, word: u64) -> &Row {
        &self.rows[place((bucket >> STATE_AT) as usize, word as usize & 1)]
    }

    /// What inserting a word does to a bucket.
    #[inline(always)]
    pub(super) fn growth(&self, bucket: u128, word: u64) -> &Growth {
        &self.growths[place((bucket >> STATE_AT) as usize, word as usize & 1)]
    }

    /// Reports whether these are the bits of a bucket: a state that exists, and nothing beyond its
    /// cells.
    pub(super) fn is_valid(&self, bucket: u128) -> bool {
        let state = self.state(bucket);
        let end =
            (0..2).map(|group| u32::from(state.count[group]) * u32::from(state.width[group])).sum::<u32>();
        bucket >> STATE_AT < self.count as u128 && (bucket & CELLS) >> end == 0
    }
}

/// The index of the row of a state and the lowest bit of a word. All states of one bit come first,
/// so that a key uses one half of the table.
#[inline(always)]
fn place(state: usize, bit: usize) -> usize {
    (state + bit * STATES) & (2 * STATES - 1)
}

/// A table of defaults, or an error if there is no memory for it.
fn table<T: Clone + Default, const LEN: usize>() -> Result<Box<[T; LEN]>, OutOfMemory> {
    let mut table = reserved(LEN as u64)?;
    table.resize(LEN, T::default());
    Ok(table.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!("a table of that length")))
}

impl State {
    fn row(&self, told: usize) -> Row {
        let group = told & usize::from(self.told);
        Row {
            ones: self.ones[group],
            tops: self.tops[group],
            minimal: self.minimal,
            load: u64::from(self.load) << LOAD_AT,
            shift: self.shift[group],
            width: self.width[group],
            removed: self.removed[group],
        }
    }

    /// The bits of a cell.
    fn cell_bits(&self, cell: u8) -> u32 {
        u32::from(self.width[usize::from(cell >= self.count[0])])
    }
}

fn growth(states: &[State; STATES], number: usize, told: usize) -> Growth {
    let Insertion { cut, group, after } = states[number].insertion[told];
    if after == 0 {
        return Growth::default();
    }
    let mut keep = CELLS;
    if usize::from(cut) != number {
        let (from, to) = (&states[number], &states[usize::from(cut)]);
        let mut at = 0;
        keep = 0;
        // The tail of a remainder is the tail of its cell.
        for cell in 0..from.load {
            let (width, cut_width) = (from.cell_bits(cell), to.cell_bits(cell));
            keep |= ((1 << cut_width) - 1) << (at + width - cut_width);
            at += width;
        }
    }
    let (state, group) = (&states[usize::from(after)], usize::from(group));
    Growth {
        keep: [keep as u64, (keep >> u64::BITS) as u64],
        kept_low: (keep as u64).count_ones() as u8,
        after,
        at: state.last[group],
        width: state.width[group],
        shift: state.shift[group],
    }
}

/// A state in readable form: the class as an index, and the cells of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    class: usize,
    count: [u32; 2],
}

const EMPTY: Key = Key { class: 0, count: [0, 0] };

struct Builder {
    layout: DLeftCountingLayout,
    /// By their numbers of cells.
    classes: Vec<u32>,
}

impl Builder {
    /// All states, the empty one first.
    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::from([EMPTY]);
        for (class, &cells) in self.classes.iter().enumerate() {
            for first in 0..=cells {
                for second in 0..=cells - first {
                    let key = Key { class, count: [first, second] };
                    if self.exists(key) {
                        keys.push(key);
                    }
                }
            }
        }
        assert!(keys.len() <= STATES, "{} states do not fit", keys.len());
        keys
    }

    /// Reports whether a bucket can be in this state, the empty one excepted.
    fn exists(&self, Key { class, count: [first, second] }: Key) -> bool {
        let [width, other] = self.widths(class);
        let fits = first * width + second * other <= DLeftCountingLayout::CELL_SPACE;
        let load = first + second;
        load > 0
            && load <= self.classes[class]
            && fits
            && match self.layout.remainders() {
                Remainders::Fixed => second == 0,
                Remainders::OneSize => second == 0 || self.tells(class),
                // If all were of the longer length, it would be the class before.
                Remainders::TwoSizes => second == 0 || class > 0 && first > 0,
            }
    }

    /// The bits of a cell in each group.
    fn widths(&self, class: usize) -> [u32; 2] {
        let of = |class: usize| DLeftCountingLayout::cell_bits(self.classes[class]);
        match self.layout.remainders() {
            Remainders::TwoSizes => [of(class), of(class.saturating_sub(1))],
            _ => [of(class); 2],
        }
    }

    /// Reports whether the state implies a bit of each remainder.
    fn tells(&self, class: usize) -> bool {
        self.layout.remainders() == Remainders::OneSize && self.classes[class] <= 10
    }

    fn state(&self, key: Key, keys: &[Key]) -> State {
        let widths = self.widths(key.class);
        let [first, second] = key.count;
        let counter_bits = self.layout.counter_bits();
        let minimal_bits = self.layout.minimal_stored_bits();
        let begin = [0, first * widths[0]];
        let mut state = State {
            shift: widths.map(|width| (u64::BITS - (width - counter_bits)) as u8),
            width: widths.map(|width| width as u8),
            count: [first as u8, second as u8],
            load: (first + second) as u8,
            told: u8::from(self.tells(key.class)),
            ..State::default()
        };
        for group in 0..2 {
            let remainder_bits = widths[group] - counter_bits;
            for cell in 0..key.count[group] {
                let at = begin[group] + cell * widths[group];
                state.ones[group] |= 1 << at;
                state.tops[group] |= 1 << (at + remainder_bits - 1);
                state.minimal |= ((1 << minimal_bits) - 1) << (at + remainder_bits - minimal_bits);
                state.last[group] = at as u8;
            }
            if key.count[group] > 0 {
                state.removed[group] = number(self.without(key, group), keys);
            }
            state.insertion[group] = self.insertion(key, group, keys);
        }
        state
    }

    /// The state after removing a cell of the group.
    fn without(&self, mut key: Key, group: usize) -> Key {
        key.count[group] -= 1;
        match key.count {
            [0, 0] => EMPTY,
            // The longer remainders are the shorter ones of the class before.
            [0, second] if self.layout.remainders() == Remainders::TwoSizes => {
                Key { class: key.class - 1, count: [second, 0] }
            }
            _ => key,
        }
    }

    fn insertion(&self, key: Key, told: usize, keys: &[Key]) -> Insertion {
        let found = match self.layout.remainders() {
            Remainders::TwoSizes => self.insertion_of_two_sizes(key),
            _ => self.insertion_of_one_size(key, told),
        };
        found.map_or_else(Insertion::default, |(cut, group)| {
            let mut after = cut;
            after.count[group] += 1;
            // All have the present length, and the new one is the first of the next.
            let relabelled = !self.exists(cut) && cut.count[0] == 0 && cut.count[1] > 0;
            let cut = if relabelled { Key { class: cut.class - 1, count: [cut.count[1], 0] } } else { cut };
            Insertion { cut: number(cut, keys), group: group as u8, after: number(after, keys) }
        })
    }

    /// The state to which the present cells are cut, and the group of the new one.
    fn insertion_of_one_size(&self, key: Key, told: usize) -> Option<(Key, usize)> {
        let [first, second] = key.count;
        let class = if first + second < self.classes[key.class] { key.class } else { key.class + 1 };
        if class == self.classes.len() {
            return None;
        }
        Some(if self.tells(class) {
            (Key { class, ..key }, told)
        } else {
            (Key { class, count: [first + second, 0] }, 0)
        })
    }

    /// Like [`insertion_of_one_size`](Self::insertion_of_one_size), but cuts as few cells as
    /// possible, and prefers the longer length for the new one.
    fn insertion_of_two_sizes(&self, key: Key) -> Option<(Key, usize)> {
        let [shorter, longer] = key.count;
        let cut_some = |class: usize, shorter: u32, longer: u32| {
            (0..=longer).find_map(|cut| {
                let cut = Key { class, count: [shorter + cut, longer - cut] };
                let fits = |group: usize| {
                    let mut after = cut;
                    after.count[group] += 1;
                    self.exists(after).then_some((cut, group))
                };
                fits(1).or_else(|| fits(0))
            })
        };
        let next = key.class + 1;
        cut_some(key.class, shorter, longer)
            .or_else(|| (next < self.classes.len()).then(|| cut_some(next, 0, shorter + longer))?)
    }
}

fn number(key: Key, keys: &[Key]) -> u8 {
    keys.iter().position(|&other| other == key).expect("a state that exists") as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layouts() -> impl Iterator<Item = DLeftCountingLayout> {
        let plain = DLeftCountingLayout::new(4, 1).unwrap();
        Remainders::ALL.into_iter().flat_map(move |remainders| {
            (4..=12).flat_map(move |capacity| {
                (0..=2).filter_map(move |bits| {
                    plain.with_policies(remainders, capacity, bits, Repeats::Copy).ok()
                })
            })
        })
    }

    #[test]
    fn there_are_as_many_states_as_counted() {
        let used = |remainders, capacity| {
            let layout = DLeftCountingLayout::new(4, 1).unwrap();
            Format::new(layout.with_policies(remainders, capacity, 1, Repeats::Copy).unwrap()).unwrap().count
        };
        // Counted by another program.
        assert_eq!((used(Remainders::OneSize, 10), used(Remainders::OneSize, 12)), (246, 238));
        assert_eq!((used(Remainders::TwoSizes, 10), used(Remainders::TwoSizes, 12)), (157, 219));
        assert_eq!(used(Remainders::Fixed, 8), 9);
    }

    #[test]
    fn every_insertion_adds_a_cell_and_cuts_only() {
        let mut seen = 0;
        for layout in layouts() {
            let format = Format::new(layout).unwrap();
            let widths = |state: &State| -> Vec<u8> {
                let of =
                    |group: usize| core::iter::repeat_n(state.width[group], usize::from(state.count[group]));
                of(0).chain(of(1)).collect()
            };
            for number in 0..format.count {
                let state = &format.states[number];
                for told in 0..2 {
                    let Insertion { cut, group, after } = state.insertion[told];
                    if after == 0 {
                        assert_eq!(u32::from(state.load), layout.capacity(), "{layout:?}");
                        continue;
                    }
                    let (cut, after) = (&format.states[usize::from(cut)], &format.states[usize::from(after)]);
                    assert_eq!(
                        (cut.load, after.load),
                        (state.load, state.load + 1),
                        "{layout:?}, state {number}"
                    );
                    assert!(widths(state).iter().zip(widths(cut)).all(|(now, cut)| *now >= cut));
                    // The cells of the cut bucket are those of the bucket after, without the new
                    // one.
                    let mut others = widths(after);
                    let at = if group == 0 { after.count[0] - 1 } else { after.load - 1 };
                    others.remove(usize::from(at));
                    assert_eq!(others, widths(cut), "{layout:?}, state {number}");
                    seen += 1;
                }
                for group in (0..2).filter(|&group| state.count[group] > 0) {
                    let mut left = widths(state);
                    left.remove(if group == 0 { 0 } else { usize::from(state.count[0]) });
                    assert_eq!(widths(&format.states[usize::from(state.removed[group])]), left);
                }
            }
        }
        assert!(seen > 5000, "{seen}");
    }

    #[test]
    fn remainders_are_never_shorter_than_the_minimal_one() {
        for layout in layouts() {
            let format = Format::new(layout).unwrap();
            for state in &format.states[..format.count] {
                for group in (0..2).filter(|&group| state.count[group] > 0) {
                    let bits = 64 - u32::from(state.shift[group]);
                    assert!(bits >= layout.minimal_stored_bits(), "{layout:?}");
                    assert_eq!(bits + layout.counter_bits(), u32::from(state.width[group]));
                }
                let cells = u32::from(state.load);
                assert_eq!(state.minimal.count_ones(), cells * layout.minimal_stored_bits(), "{layout:?}");
            }
        }
    }
}
