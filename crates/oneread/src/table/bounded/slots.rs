//! The memory of a bounded map: groups of tags, and the items of each group's sixteen slots.
//!
//! Why unsafe: a free slot holds no item, and only its group's tag says so. As `Option<(K, V)>` a
//! pair of words would take 24 bytes per slot instead of 16: 28.9 bytes per entry at 90% of the
//! slots instead of 20. All unsafe code of the map is in this file.
//!
//! # Invariants
//! 1. There are as many blocks as groups.
//! 2. The item of a slot is initialized exactly if the slot has a tag. A tag is set after its item
//!    is written, and cleared before the item is moved out. No user code runs in between.
//! 3. `homes` is at least 1 and at most the number of groups.

use alloc::vec::Vec;
use core::mem::{self, MaybeUninit};
use core::ops::Range;
use core::slice;

use super::group::{Group, SLOTS, Set, Tag};
use crate::bits::{OutOfMemory, prefetch, reserved, zeroed};
use crate::hash::reduce;

/// Groups per line.
pub(super) const GROUPS: usize = 2;

/// Two groups in one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line([Group; GROUPS]);

/// The items of a group. Aligned, so that items whose size divides 64 bytes never straddle two
/// lines.
#[repr(C, align(64))]
struct Block<K, V>([MaybeUninit<(K, V)>; SLOTS]);

/// All slots; see the file's invariants. A place is sixteen times the group number, plus the slot.
pub(super) struct Slots<K, V> {
    lines: Vec<Line>,
    blocks: Vec<Block<K, V>>,
    /// The first `homes` groups can be homes.
    homes: usize,
}

/// A group with its items, and the slots found in it.
pub(super) struct Seen<'a, K, V> {
    at: usize,
    group: &'a Group,
    block: &'a Block<K, V>,
    /// Slots that are in use.
    found: Set,
}

impl<K, V> Slots<K, V> {
    /// Creates `lines` lines of free slots, of which the first `home_lines` are homes.
    pub(super) fn new(lines: u64, home_lines: u64) -> Result<Self, OutOfMemory> {
        assert!(0 < home_lines && home_lines <= lines, "{home_lines} of {lines} lines are homes");
        // The larger allocation first, so that failing wastes little work.
        let mut blocks = reserved(lines.saturating_mul(GROUPS as u64))?;
        let lines = zeroed(Line::default(), lines)?;
        blocks.resize_with(lines.len() * GROUPS, || Block([const { MaybeUninit::uninit() }; SLOTS]));
        Ok(Self { lines, blocks, homes: home_lines as usize * GROUPS })
    }

    /// Clones the items at the same places.
    pub(super) fn try_clone(&self) -> Result<Self, OutOfMemory>
    where
        K: Clone,
        V: Clone,
    {
        let mut clone = Self::new(self.lines.len() as u64, (self.homes / GROUPS) as u64)?;
        // If a clone panics, `clone` drops the items before it.
        for (place, item) in self.iter() {
            let Some(tag) = self.tag(place) else { continue };
            clone.put(place, tag, item.clone());
        }
        clone.copy_out_tags(self);
        Ok(clone)
    }

    #[inline(always)]
    pub(super) fn groups(&self) -> &[Group] {
        self.lines.as_slice().as_flattened_groups()
    }

    #[inline(always)]
    pub(super) fn homes(&self) -> usize {
        self.homes
    }

    #[inline(always)]
    pub(super) fn group_mut(&mut self, at: usize) -> &mut Group {
        &mut self.lines[at / GROUPS].0[at % GROUPS]
    }

    pub(super) fn places(&self) -> usize {
        self.blocks.len() * SLOTS
    }

    /// The size of the heap memory in bytes.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.lines.as_slice()) + size_of_val(self.blocks.as_slice())
    }

    /// The home of a word.
    #[inline(always)]
    pub(super) fn home(&self, word: u64) -> usize {
        reduce(word, self.homes as u64) as usize
    }

    /// Borrows the home of a word.
    ///
    /// Why unchecked: see [`Seen::find`].
    #[inline(always)]
    pub(super) fn see_home(&self, word: u64) -> Seen<'_, K, V> {
        let at = self.home(word);
        // SAFETY: `home` is a number below `homes` (`reduce`), `homes` is at most the number of
        // groups (invariant 3), and there are as many blocks (invariant 1).
        let (group, block) = unsafe { (self.groups().get_unchecked(at), self.blocks.get_unchecked(at)) };
        Seen { at, group, block, found: Set::EMPTY }
    }

    /// Borrows a group.
    #[inline]
    pub(super) fn see(&self, at: usize) -> Seen<'_, K, V> {
        Seen { at, group: &self.groups()[at], block: &self.blocks[at], found: Set::EMPTY }
    }

    /// Borrows the home of a word, mutably.
    #[inline(always)]
    pub(super) fn see_home_mut(&mut self, word: u64) -> SeenMut<'_, K, V> {
        let at = self.home(word);
        // SAFETY: `home` is a number below `homes` (`reduce`), `homes` is at most the number of
        // groups (invariant 3), and there are as many blocks (invariant 1).
        let (group, block) = unsafe {
            (self.lines.as_flattened_groups_mut().get_unchecked_mut(at), self.blocks.get_unchecked_mut(at))
        };
        SeenMut { at, group, block }
    }

    /// Returns the first item in these groups that has this tag and satisfies `is_it`, with its
    /// place.
    ///
    /// Compares the tags of all groups before it looks at an item: one branch to predict instead of
    /// one per group.
    #[inline(always)]
    pub(super) fn find_among<'a, const N: usize>(
        &'a self,
        groups: [usize; N],
        tag: Tag,
        mut is_it: impl FnMut(usize, &'a (K, V)) -> bool,
    ) -> Option<(usize, &'a (K, V))> {
        const { assert!(N * SLOTS <= 64) };
        let mut matching = 0u64;
        for (index, &at) in groups.iter().enumerate() {
            matching |= u64::from(self.groups()[at].matching(tag).bits()) << (index * SLOTS);
        }
        while matching != 0 {
            let bit = matching.trailing_zeros() as usize;
            matching &= matching - 1;
            let (at, slot) = (groups[bit / SLOTS], bit % SLOTS);
            // SAFETY: the bit is one that `matching` set, so the slot has the tag, which is not 0;
            // by invariant 2 the item of a slot with a tag is initialized.
            let item = unsafe { self.blocks[at].0[slot].assume_init_ref() };
            if is_it(at * SLOTS + slot, item) {
                return Some((at * SLOTS + slot, item));
            }
        }
        None
    }

    /// The tag at a place; `None` if it is free.
    #[inline(always)]
    pub(super) fn tag(&self, place: usize) -> Option<Tag> {
        self.groups()[place / SLOTS].tag(place % SLOTS)
    }

    /// The item at a place; `None` if it is free.
    #[inline(always)]
    pub(super) fn get(&self, place: usize) -> Option<&(K, V)> {
        let item = &self.blocks.get(place / SLOTS)?.0[place % SLOTS];
        // SAFETY: the closure runs only if the slot has a tag; by invariant 2 its item is
        // initialized then.
        self.tag(place).map(|_| unsafe { item.assume_init_ref() })
    }

    /// Like [`get`](Self::get), but mutable.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut (K, V)> {
        self.tag(place)?;
        // SAFETY: `tag` returned if the slot had none; by invariant 2 the item of a slot with a tag
        // is initialized.
        Some(unsafe { self.blocks[place / SLOTS].0[place % SLOTS].assume_init_mut() })
    }

    /// Puts an item at a free place.
    ///
    /// # Panics
    /// If the place is in use.
    #[inline(always)]
    pub(super) fn put(&mut self, place: usize, tag: Tag, item: (K, V)) {
        let (at, slot) = (place / SLOTS, place % SLOTS);
        let group = &mut self.lines[at / GROUPS].0[at % GROUPS];
        assert!(group.tag(slot).is_none(), "place {place} is in use");
        self.blocks[at].0[slot].write(item);
        group.set_tag(slot, Some(tag));
    }

    /// Takes out the item at a place, if there is one.
    #[inline(always)]
    pub(super) fn take(&mut self, place: usize) -> Option<(K, V)> {
        let (at, slot) = (place / SLOTS, place % SLOTS);
        let item = &self.blocks[at].0[slot];
        let group = &mut self.lines[at / GROUPS].0[at % GROUPS];
        group.tag(slot)?;
        group.set_tag(slot, None);
        // SAFETY: the slot had a tag, so its item is initialized (invariant 2). The tag is gone, so
        // that this is the only copy: nothing reads or drops the slot's bytes before another item
        // is written to them.
        Some(unsafe { item.assume_init_read() })
    }

    /// Takes out the next item from `place` on, and advances `place` past it.
    pub(super) fn take_next(&mut self, place: &mut usize) -> Option<(K, V)> {
        while let Some(group) = self.groups().get(*place / SLOTS) {
            match group.in_use().find(|slot| *slot >= *place % SLOTS) {
                Some(slot) => {
                    let at = *place / SLOTS * SLOTS + slot;
                    *place = at + 1;
                    return self.take(at);
                }
                None => *place = (*place / SLOTS + 1) * SLOTS,
            }
        }
        None
    }

    /// The number of items in some groups.
    pub(super) fn count(&self, groups: Range<usize>) -> usize {
        self.groups()[groups].iter().map(|group| group.in_use().len() as usize).sum()
    }

    /// Iterates over the items in the order of their places.
    pub(super) fn iter(&self) -> Iter<'_, K, V> {
        Iter { slots: self, at: 0, left: self.groups()[0].in_use() }
    }

    /// Iterates over the items, mutably.
    pub(super) fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut {
            groups: self.lines.as_slice().as_flattened_groups().iter(),
            blocks: self.blocks.iter_mut(),
            items: [].iter_mut(),
            next: 0,
            left: Set::EMPTY,
        }
    }

    /// Copies the out-tags of slots of the same size.
    pub(super) fn copy_out_tags<L, W>(&mut self, other: &Slots<L, W>) {
        for (line, other) in self.lines.iter_mut().zip(&other.lines) {
            line.0.iter_mut().zip(&other.0).for_each(|(group, other)| group.copy_out_tags(other));
        }
    }

    /// Clears the out-tags of all groups.
    pub(super) fn nothing_is_out(&mut self) {
        self.lines.iter_mut().flat_map(|line| &mut line.0).for_each(Group::nothing_is_out);
    }
}

/// Views lines as groups.
trait AsGroups {
    fn as_flattened_groups(&self) -> &[Group];
    fn as_flattened_groups_mut(&mut self) -> &mut [Group];
}

impl AsGroups for [Line] {
    #[inline(always)]
    fn as_flattened_groups(&self) -> &[Group] {
        const { assert!(size_of::<Line>() == GROUPS * size_of::<Group>()) };
        // SAFETY: `Line` is `repr(C)` with one field, an array of two groups whose 64 bytes fill
        // its alignment, so it has no padding: `n` lines are `2n` initialized groups in a row.
        // Shared and valid for as long as `self` is.
        unsafe { slice::from_raw_parts(self.as_ptr().cast(), self.len() * GROUPS) }
    }

    #[inline(always)]
    fn as_flattened_groups_mut(&mut self) -> &mut [Group] {
        // SAFETY: `n` lines are `2n` groups in a row, as in `as_flattened_groups`; the borrow of
        // `self` is exclusive, and any group's bytes are a valid group.
        unsafe { slice::from_raw_parts_mut(self.as_mut_ptr().cast(), self.len() * GROUPS) }
    }
}

impl<'a, K, V> Seen<'a, K, V> {
    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub(super) fn group(&self) -> &'a Group {
        self.group
    }

    /// Finds the slots with this tag.
    #[inline(always)]
    pub(super) fn look_for(&mut self, tag: Tag) {
        self.found = self.group.matching(tag);
    }

    /// Returns the first found item that satisfies the test, with its place.
    ///
    /// Why unchecked: the compiler cannot see that a slot of a set is below sixteen.
    #[inline(always)]
    pub(super) fn find(
        &self,
        mut is_it: impl FnMut(usize, &'a (K, V)) -> bool,
    ) -> Option<(usize, &'a (K, V))> {
        let mut left = self.found;
        while let Some(slot) = left.first() {
            let place = self.at * SLOTS + slot;
            // SAFETY: `found` is empty or what `matching` gave for this group, so `slot` is below
            // sixteen and has a tag; by invariant 2 its item is initialized. Group and block are
            // borrowed, so neither has changed since.
            let item = unsafe { self.block.0.get_unchecked(slot).assume_init_ref() };
            if is_it(place, item) {
                return Some((place, item));
            }
            // Rarely reached: the first match is mostly the right one.
            left = left.without_first();
        }
        None
    }

    /// Prefetches the tags.
    #[inline(always)]
    pub(super) fn prefetch_group(&self) {
        prefetch(slice::from_ref(self.group), 0);
    }

    /// Prefetches the first item found; returns whether there is one.
    #[inline(always)]
    pub(super) fn prefetch_found(&self) -> bool {
        let first = self.found.first();
        if let Some(slot) = first {
            prefetch(&self.block.0, slot);
        }
        first.is_some()
    }
}

/// A group that was looked up, with its items, mutable.
pub(super) struct SeenMut<'a, K, V> {
    at: usize,
    group: &'a mut Group,
    block: &'a mut Block<K, V>,
}

impl<K, V> SeenMut<'_, K, V> {
    /// Reports whether no key with this tag and this home can be present.
    #[inline(always)]
    pub(super) fn lacks(&self, tag: Tag) -> bool {
        !self.group.may_have(tag)
    }

    /// Returns a free slot, if there is one.
    #[inline(always)]
    pub(super) fn free(&self) -> Option<usize> {
        self.group.free().first()
    }

    /// Puts an item into the first free slot and returns its place. Without one, returns the item.
    #[inline(always)]
    pub(super) fn put(self, tag: Tag, item: (K, V)) -> Result<usize, (usize, (K, V))> {
        let Some(slot) = self.free() else { return Err((self.at, item)) };
        self.block.0[slot].write(item);
        self.group.set_tag(slot, Some(tag));
        Ok(self.at * SLOTS + slot)
    }
}

/// Iterates over the items with their places.
pub(super) struct Iter<'a, K, V> {
    slots: &'a Slots<K, V>,
    /// The current group, and its remaining slots.
    at: usize,
    left: Set,
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (usize, &'a (K, V));

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(slot) = self.left.next() {
                // SAFETY: `left` are slots of group `at` that have tags, and the map is borrowed
                // since they were read; by invariant 2 their items are initialized.
                let item = unsafe { self.slots.blocks[self.at].0[slot].assume_init_ref() };
                return Some((self.at * SLOTS + slot, item));
            }
            self.left = self.slots.groups().get(self.at + 1)?.in_use();
            self.at += 1;
        }
    }
}

/// Iterates over the items, mutably.
pub(super) struct IterMut<'a, K, V> {
    groups: slice::Iter<'a, Group>,
    blocks: slice::IterMut<'a, Block<K, V>>,
    /// The items of the current group from slot `next` on, and its remaining slots.
    items: slice::IterMut<'a, MaybeUninit<(K, V)>>,
    next: usize,
    left: Set,
}

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = &'a mut (K, V);

    fn next(&mut self) -> Option<&'a mut (K, V)> {
        loop {
            if let Some(slot) = self.left.next() {
                let item = self.items.nth(slot - self.next)?;
                self.next = slot + 1;
                // SAFETY: `left` are slots with tags of the group beside `items`; by invariant 2
                // their items are initialized.
                return Some(unsafe { item.assume_init_mut() });
            }
            self.left = self.groups.next()?.in_use();
            self.items = self.blocks.next()?.0.iter_mut();
            self.next = 0;
        }
    }
}

/// SSE2 versions of the comparisons.
///
/// SSE2 is part of every x86-64, so nothing is detected at run time.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };

    use super::{Group, SLOTS};

    #[inline(always)]
    pub(in super::super) fn equal(bytes: &[u8; SLOTS], byte: u8) -> u32 {
        // SAFETY: the load needs SSE2, which the `cfg` of the module asks for, and sixteen readable
        // bytes at any alignment: `bytes` is an array of sixteen.
        compare(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }, byte)
    }

    /// Like `equal`, for the bytes from the first out-tag on.
    #[inline(always)]
    pub(in super::super) fn equal_from_out(group: &Group, byte: u8) -> u32 {
        const { assert!(size_of::<Group>() == 2 * SLOTS) };
        // SAFETY: SSE2 is there, by the `cfg`. A group is 32 bytes (asserted above) of three
        // integer fields without padding, so its second sixteen bytes are initialized and inside
        // the reference.
        compare(unsafe { _mm_loadu_si128(core::ptr::from_ref(group).cast::<__m128i>().add(1)) }, byte)
    }

    /// Like `equal`, for both halves: bit i is set if byte i of either half is equal.
    #[inline(always)]
    pub(in super::super) fn equal_in_halves(group: &Group, byte: u8) -> u32 {
        const { assert!(size_of::<Group>() == 2 * SLOTS) };
        // SAFETY: SSE2 is there, by the `cfg`. A group is 32 bytes (asserted above) of three
        // integer fields without padding, so both sixteen bytes are initialized and inside the
        // reference.
        unsafe {
            let (halves, byte) = (core::ptr::from_ref(group).cast::<__m128i>(), _mm_set1_epi8(byte as i8));
            let [tags, out] = [0, 1].map(|half| _mm_cmpeq_epi8(_mm_loadu_si128(halves.add(half)), byte));
            _mm_movemask_epi8(_mm_or_si128(tags, out)) as u32
        }
    }

    #[inline(always)]
    fn compare(bytes: __m128i, byte: u8) -> u32 {
        // SAFETY: these instructions need SSE2, which the `cfg` of the module asks for, and no
        // memory.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32 }
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
pub(super) use sse2::{equal, equal_from_out, equal_in_halves};

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
pub(super) use super::group::{
    equal_from_out_portable as equal_from_out, equal_in_halves_portable as equal_in_halves,
    equal_portable as equal,
};

impl<K, V> Drop for Slots<K, V> {
    fn drop(&mut self) {
        /// If the drop of one item panics, drops the others. A second panic aborts.
        struct Rest<'a, K, V>(&'a mut Slots<K, V>, usize);
        impl<K, V> Rest<'_, K, V> {
            fn drop_all(&mut self) {
                while let Some(item) = self.0.take_next(&mut self.1) {
                    drop(item);
                }
            }
        }
        impl<K, V> Drop for Rest<'_, K, V> {
            fn drop(&mut self) {
                self.drop_all();
            }
        }
        if mem::needs_drop::<(K, V)>() {
            Rest(self, 0).drop_all();
        }
    }
}
