//! The value of `TOPK.*` keys: the items that occur most often in a stream.
//!
//! # Invariants
//! 1. `heap` has k entries, those with a count of 0 are vacant, and no entry counts more than the
//!    entries below it.
//! 2. The same commands lead to the same bytes on every server: the random numbers are part of the
//!    value.

use oneread::bytes::WordArray;
use oneread::hash::{Digest, Digester, Domain, Portable, reduce};

use super::{Reader, Refused, Value, Writer, check_memory, too_large};

/// The settings of a new value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TopOptions {
    /// The number of items to keep (k).
    pub(crate) items: u32,
    pub(crate) width: u32,
    pub(crate) depth: u32,
    pub(crate) decay: f64,
    pub(crate) seed: u64,
}

/// Keeps the items with the highest counts, with `HeavyKeeper`.
///
/// An item has a cell in each row: a fingerprint and a count. An occurrence adds to the count of a
/// cell with the item's fingerprint. In a cell with another fingerprint it takes 1 from the count
/// with probability decayᶜᵒᵘⁿᵗ, and takes the cell over once the count is 0. So rare items leave
/// the counts of frequent ones alone. An item's estimate is its highest count; the k items with the
/// highest estimates stand in a heap.
///
/// # Source
/// Gong, Yang, Zhang, Li, Uhlig, Chen, Uden, Li, "`HeavyKeeper`: An Accurate Algorithm for Finding
/// Top-k Elephant Flows", 2018. Like RedisBloom, an item enters the heap when its estimate reaches
/// the lowest count there, not only when it exceeds it by 1.
#[derive(Clone)]
pub(crate) struct TopValue {
    options: TopOptions,
    /// The state of the random numbers.
    random: u64,
    /// Rows of `width` cells: the fingerprint in the high half, the count in the low half.
    cells: Vec<u64>,
    heap: Vec<Entry>,
}

/// An item among the k.
#[derive(Clone, Default)]
struct Entry {
    count: u32,
    fingerprint: u32,
    item: Box<[u8]>,
}

/// The first number of an outline: the version of the format.
const VERSION: u64 = 1;

/// The cells and the fingerprint of an item.
const CELLS: Domain = Domain::new(1);

/// Below this probability, no further occurrence is likely to change a cell: 2⁻⁶⁴.
const NEVER: f64 = 1.0 / (1u128 << 64) as f64;

impl TopOptions {
    /// The bytes of a new value without its items, computed before any are allocated.
    pub(crate) fn byte_len(&self) -> u64 {
        let cells = u64::from(self.width) * u64::from(self.depth);
        cells.saturating_mul(8).saturating_add(u64::from(self.items) * size_of::<Entry>() as u64)
    }

    fn digest(&self, item: &[u8]) -> Digest {
        Portable::with_seed(self.seed).digest(item)
    }

    fn fingerprint(digest: Digest) -> u32 {
        digest.word(CELLS, 0) as u32
    }

    /// The cell of each row.
    fn places(self, digest: Digest) -> impl Iterator<Item = usize> {
        (0..self.depth).map(move |row| {
            let column = reduce(digest.word(CELLS, row + 1), self.width.into());
            (u64::from(row) * u64::from(self.width) + column) as usize
        })
    }
}

/// decay to the power of count. Only multiplications, which give the same bits on all machines.
fn power(decay: f64, mut count: u32) -> f64 {
    let (mut result, mut square) = (1.0, decay);
    while count > 0 {
        if count & 1 == 1 {
            result *= square;
        }
        square *= square;
        count >>= 1;
    }
    result
}

impl TopValue {
    pub(crate) fn new(options: &TopOptions) -> Result<Self, Refused> {
        let bytes = usize::try_from(options.byte_len())?;
        check_memory(bytes)?;
        Ok(Self {
            options: *options,
            random: options.seed,
            cells: vec![0; options.width as usize * options.depth as usize],
            heap: vec![Entry::default(); options.items as usize],
        })
    }

    pub(crate) const fn options(&self) -> &TopOptions {
        &self.options
    }

    /// A random number below 1, by splitmix64.
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Counts `times` occurrences; returns the item that left the k, if one did.
    pub(crate) fn add(&mut self, item: &[u8], times: u32) -> Result<Option<Box<[u8]>>, Refused> {
        if times == 0 {
            return Ok(None);
        }
        check_memory(item.len())?;
        let digest = self.options.digest(item);
        let fingerprint = TopOptions::fingerprint(digest);
        let mut most = 0;
        for place in self.options.places(digest) {
            most = most.max(self.count_in(place, fingerprint, times));
        }
        let lowest = self.heap[0].count;
        if most == 0 || most < lowest {
            return Ok(None);
        }
        if let Some(at) = self.position(item, fingerprint) {
            // The estimate may be lower than before, where other items took from all cells.
            let before = std::mem::replace(&mut self.heap[at].count, most);
            if most < before {
                self.sift_up(at);
            } else {
                self.sift_down(at);
            }
            return Ok(None);
        }
        let entered = Entry { count: most, fingerprint, item: item.into() };
        let left = std::mem::replace(&mut self.heap[0], entered);
        self.sift_down(0);
        Ok((left.count > 0).then_some(left.item))
    }

    /// Counts occurrences in a cell; returns the item's count there, or 0 if the cell is another's.
    fn count_in(&mut self, place: usize, fingerprint: u32, times: u32) -> u32 {
        let cell = self.cells[place];
        let (owner, mut count) = ((cell >> 32) as u32, cell as u32);
        if count > 0 && owner != fingerprint {
            let left = self.decay(&mut count, times);
            let owner = if left > 0 { fingerprint } else { owner };
            self.cells[place] = u64::from(owner) << 32 | u64::from(count.max(left));
            return left;
        }
        count = count.saturating_add(times);
        self.cells[place] = u64::from(fingerprint) << 32 | u64::from(count);
        count
    }

    /// Lets occurrences of another item take from a count. Returns how many were left, with the one
    /// that made it 0, when that happened; else 0.
    fn decay(&mut self, count: &mut u32, times: u32) -> u32 {
        let decay = self.options.decay;
        let mut chance = power(decay, *count);
        if chance >= 1.0 {
            let left = (times + 1).saturating_sub(*count);
            *count = count.saturating_sub(times);
            return left;
        }
        for left in (1..=times).rev() {
            if chance < NEVER {
                return 0;
            }
            if self.draw() < chance {
                *count -= 1;
                if *count == 0 {
                    return left;
                }
                chance /= decay;
            }
        }
        0
    }

    fn position(&self, item: &[u8], fingerprint: u32) -> Option<usize> {
        self.heap
            .iter()
            .position(|entry| entry.count > 0 && entry.fingerprint == fingerprint && *entry.item == *item)
    }

    /// Moves an entry down until no entry below it has a lower count. Of equal counts, the one that
    /// came first is on top, and so leaves first, as in RedisBloom.
    fn sift_down(&mut self, mut at: usize) {
        let mut is_first = true;
        while let Some(left) = self.heap.get(2 * at + 1) {
            let right = self.heap.get(2 * at + 2);
            let below = 2 * at + 1 + usize::from(right.is_some_and(|right| right.count < left.count));
            let (count, moved) = (self.heap[below].count, self.heap[at].count);
            if count > moved || (count == moved && !is_first) {
                return;
            }
            self.heap.swap(at, below);
            (at, is_first) = (below, false);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        while at > 0 && self.heap[at].count < self.heap[(at - 1) / 2].count {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// Reports whether an item is among the k.
    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        self.position(item, TopOptions::fingerprint(self.options.digest(item))).is_some()
    }

    /// The estimated count of an item.
    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        let digest = self.options.digest(item);
        let fingerprint = TopOptions::fingerprint(digest);
        let count = |place| {
            let cell: u64 = self.cells[place];
            if (cell >> 32) as u32 == fingerprint { cell & u64::from(u32::MAX) } else { 0 }
        };
        self.options.places(digest).map(count).max().unwrap_or(0)
    }

    /// The items and their counts, the highest first.
    pub(crate) fn list(&self) -> Vec<(&[u8], u64)> {
        let mut entries: Vec<&Entry> = self.heap.iter().filter(|entry| entry.count > 0).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        entries.into_iter().map(|entry| (&*entry.item, entry.count.into())).collect()
    }
}

impl Value for TopValue {
    fn write_outline(&self, writer: &mut Writer) {
        let TopOptions { items, width, depth, decay, seed } = self.options;
        writer.fields([VERSION, items.into(), width.into(), depth.into()]);
        writer.rate(decay);
        writer.fields([seed, self.random]);
        for entry in &self.heap {
            writer.number(entry.count.into());
            writer.bytes(&entry.item);
        }
    }

    fn from_outline(reader: &mut Reader<'_>, most_bytes: u64) -> Result<Self, Refused> {
        let (version, items, width) = (reader.number()?, reader.narrow()?, reader.narrow()?);
        let (depth, decay) = (reader.narrow()?, reader.rate()?);
        let (seed, random) = (reader.number()?, reader.number()?);
        let options = TopOptions { items, width, depth, decay, seed };
        let is_possible = items > 0 && width > 0 && depth > 0 && decay > 0.0 && decay <= 1.0;
        if version != VERSION || !is_possible {
            return Err(Refused("a top list of another version, or with impossible options".into()));
        }
        // Two bytes or more for each item.
        let cells = u64::from(width) * u64::from(depth);
        if cells.saturating_mul(8) > most_bytes || u64::from(items) * 2 > reader.0.len() as u64 {
            return Err(too_large(options.byte_len(), most_bytes));
        }
        check_memory(usize::try_from(options.byte_len())?)?;
        let mut heap: Vec<Entry> = Vec::with_capacity(items as usize);
        for at in 0..items as usize {
            let (count, item) = (reader.narrow()?, reader.bytes()?);
            let above = at.checked_sub(1).map_or(0, |at| heap[at / 2].count);
            if count < above || (count == 0 && !item.is_empty()) {
                return Err(Refused("items out of order".into()));
            }
            let fingerprint = TopOptions::fingerprint(options.digest(item));
            heap.push(Entry { count, fingerprint, item: item.into() });
        }
        Ok(Self { options, random, cells: vec![0; cells as usize], heap })
    }

    fn arrays(&self) -> Vec<&dyn WordArray> {
        vec![&self.cells]
    }

    fn arrays_mut(&mut self) -> Vec<&mut dyn WordArray> {
        vec![&mut self.cells]
    }

    fn byte_len(&self) -> usize {
        let items: usize = self.heap.iter().map(|entry| entry.item.len()).sum();
        self.cells.len() * 8 + self.heap.len() * size_of::<Entry>() + items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(items: u32, width: u32, depth: u32, decay: f64) -> TopValue {
        TopValue::new(&TopOptions { items, width, depth, decay, seed: 7 }).unwrap()
    }

    #[test]
    fn the_most_frequent_items_of_a_skewed_stream_are_found() {
        // Item i of 10,000 occurs 20,000 / i times, in an order that mixes all items. The twenty
        // most frequent occur 1000 times and more; the cells of 4 rows of 200 hold 800 of 10,000
        // items.
        let mut top = value(20, 200, 4, 0.9);
        let mut times: Vec<(u64, u64)> = (1..=10_000u64).map(|item| (item, 20_000 / item)).collect();
        let mut state = 2026u64;
        let mut total = 0;
        while !times.is_empty() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % times.len();
            let (item, left) = &mut times[at];
            top.add(&item.to_le_bytes(), 1).unwrap();
            *left -= 1;
            total += 1;
            if *left == 0 {
                times.swap_remove(at);
            }
        }
        assert!(total > 190_000);
        let listed = top.list();
        assert_eq!(listed.len(), 20);
        // The frequent items dominate the end of the stream, so that most of them are in the list;
        // their counts are never too high, unless fingerprints of 32 bits collide.
        let found = (1..=20u64).filter(|item| top.contains(&item.to_le_bytes())).count();
        assert!(found >= 18, "{found} of the 20 most frequent");
        for (item, count) in listed {
            let item = u64::from_le_bytes(item.try_into().unwrap());
            assert!(count <= 20_000 / item, "item {item}: {count}");
        }
    }

    #[test]
    fn another_item_takes_from_a_count_one_by_one() {
        // With a decay of 1 each occurrence takes 1; the one that makes it 0 counts for the other.
        let mut top = value(1, 1, 1, 1.0);
        for (item, times, expected) in
            [("a", 5, [5, 0]), ("b", 3, [2, 0]), ("b", 2, [0, 1]), ("a", 1, [1, 0]), ("b", 9, [0, 9])]
        {
            top.add(item.as_bytes(), times).unwrap();
            assert_eq!([top.count(b"a"), top.count(b"b")], expected, "{item} {times}");
        }
        // At 0.5 and a count of 1, half of 2000 single occurrences take it: 1000 ± 6·22.4, a chance
        // of 2e-9 to be outside.
        let taken = (0..2000u64).filter(|&seed| {
            let mut top =
                TopValue::new(&TopOptions { items: 1, width: 1, depth: 1, decay: 0.5, seed }).unwrap();
            top.add(b"a", 1).unwrap();
            top.add(b"b", 1).unwrap();
            top.count(b"b") == 1
        });
        let taken = taken.count();
        assert!((866..=1134).contains(&taken), "{taken}");
    }

    #[test]
    fn the_heap_keeps_its_order_and_survives_a_reload() {
        let mut top = value(5, 3, 2, 0.9);
        let mut state = 1u64;
        for round in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let item = format!("item {}", (state >> 33) % 40);
            top.add(item.as_bytes(), (state >> 20) as u32 % 4).unwrap();
            for at in 1..top.heap.len() {
                assert!(top.heap[(at - 1) / 2].count <= top.heap[at].count, "round {round}");
            }
            if round % 1000 == 0 {
                let outline = |top: &TopValue| {
                    let mut writer = Writer::default();
                    top.write_outline(&mut writer);
                    writer.finish()
                };
                let bytes = outline(&top);
                let mut loaded = TopValue::from_outline(&mut Reader(&bytes), u64::MAX).unwrap();
                assert_eq!(bytes, outline(&loaded));
                loaded.cells.clone_from(&top.cells);
                top = loaded;
            }
        }
    }
}
