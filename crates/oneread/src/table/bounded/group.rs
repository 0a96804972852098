//! Sixteen slots by their tags, and the tags of keys that spilled elsewhere: half a cache line.
//!
//! # Layout
//! ```text
//! byte  0 ............... 15 16 ............. 29 30 31
//!       a tag for each slot   out-tags            more
//!       0 = the slot is free  0 = none            out-tags that found no room here
//! ```
//!
//! # Invariants
//! A key is *out* if this group is its home and it lies in another group. For each tag t, at most
//! as many keys with tag t are out as there are out-tags t, except for `more` keys in all. So while
//! `more` is 0, a key whose tag is not among the out-tags is not out.
//!
//! The order of out-tags is arbitrary, and equal ones are interchangeable.

use super::slots::{equal, equal_from_out, equal_in_halves};

/// Slots per group: the bytes that one comparison looks at.
pub(super) const SLOTS: usize = 16;

/// Out-tags per group: the room that tags and a count leave in half a cache line.
const OUT_TAGS: usize = 14;

/// The bits of the out-tags among the sixteen bytes that begin with them.
const OUT_BITS: u32 = (1 << OUT_TAGS) - 1;

/// Eight bits of a digest that tell most keys of a group apart. Never 0, which marks a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u8);

impl Tag {
    /// The tag of a word: its lowest bits, since its highest choose the home. Two of 256 words have
    /// tag 1.
    #[inline(always)]
    pub(super) const fn of(word: u64) -> Self {
        let low = word as u8;
        Self(low + (low == 0) as u8)
    }

    /// Decodes a stored tag, where 0 means none.
    #[inline(always)]
    const fn kept(byte: u8) -> Option<Self> {
        if byte == 0 { None } else { Some(Self(byte)) }
    }

    #[inline(always)]
    pub(super) const fn get(self) -> u8 {
        self.0
    }
}

/// A set of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set(u32);

impl Set {
    pub(super) const EMPTY: Self = Self(0);

    #[inline(always)]
    pub(super) const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    #[inline(always)]
    pub(super) const fn without_first(self) -> Self {
        Self(self.0 & self.0.wrapping_sub(1))
    }

    /// Returns a bit for each slot.
    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Reports whether it has at least as many slots as `other`: its slots and those missing in
    /// `other` then make sixteen or more.
    ///
    /// This counts bits only once, because the default x86-64 target has no instruction for it.
    #[inline(always)]
    pub(super) const fn has_as_many_as(self, other: Self) -> bool {
        (self.0 | !other.0 << SLOTS).count_ones() >= SLOTS as u32
    }
}

impl Iterator for Set {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let first = self.first()?;
        *self = self.without_first();
        Some(first)
    }
}

/// A group of slots; see the file's layout and invariants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct Group {
    tags: [u8; SLOTS],
    out: [u8; OUT_TAGS],
    more: u16,
}

impl Group {
    /// The tag of a slot; `None` if the slot is free.
    #[inline(always)]
    pub(super) fn tag(&self, slot: usize) -> Option<Tag> {
        Tag::kept(self.tags[slot])
    }

    #[inline(always)]
    pub(super) fn set_tag(&mut self, slot: usize, tag: Option<Tag>) {
        self.tags[slot] = tag.map_or(0, Tag::get);
    }

    /// The slots with this tag.
    #[inline(always)]
    pub(super) fn matching(&self, tag: Tag) -> Set {
        Set(equal(&self.tags, tag.get()))
    }

    /// The free slots.
    #[inline(always)]
    pub(super) fn free(&self) -> Set {
        Set(equal(&self.tags, 0))
    }

    /// The slots in use.
    #[inline(always)]
    pub(super) fn in_use(&self) -> Set {
        Set(self.free().0 ^ ((1 << SLOTS) - 1))
    }

    /// Reports whether a key with this tag may be out.
    ///
    /// The bytes of `more` are compared like out-tags. They can equal a tag only if `more` is not
    /// 0, and then any key may be out.
    #[inline(always)]
    pub(super) fn may_be_out(&self, tag: Tag) -> bool {
        (equal_from_out(self, tag.get()) | u32::from(self.more)) != 0
    }

    /// Reports whether a key with this tag may be in a slot here, or out.
    #[inline(always)]
    pub(super) fn may_have(&self, tag: Tag) -> bool {
        (equal_in_halves(self, tag.get()) | u32::from(self.more)) != 0
    }

    /// Records that a key with this tag goes out.
    #[inline(always)]
    pub(super) fn goes_out(&mut self, tag: Tag) {
        match self.first_out(0) {
            Some(at) => self.out[at] = tag.get(),
            // Cannot overflow: fewer keys can be out of one group (`route.rs`).
            None => self.more = self.more.saturating_add(1),
        }
    }

    /// Records that a key with this tag is no longer out.
    pub(super) fn comes_back(&mut self, tag: Tag) {
        match self.first_out(tag.get()) {
            Some(at) => self.out[at] = 0,
            // With inconsistent digests there may be nothing to take back.
            None => self.more = self.more.saturating_sub(1),
        }
    }

    /// The index of the first out-tag that equals `byte`.
    #[inline(always)]
    fn first_out(&self, byte: u8) -> Option<usize> {
        Set(equal_from_out(self, byte) & OUT_BITS).first()
    }

    /// Returns one of the out-tags.
    #[inline(always)]
    pub(super) fn an_out_tag(&self) -> Option<Tag> {
        let none = equal_from_out(self, 0);
        let at = Set(!none & OUT_BITS).first()?;
        Tag::kept(self.out[at])
    }

    /// Clears the out-tags and the count.
    pub(super) fn nothing_is_out(&mut self) {
        self.out = [0; OUT_TAGS];
        self.more = 0;
    }

    /// Copies the out-tags and the count of another group.
    pub(super) fn copy_out_tags(&mut self, other: &Self) {
        self.out = other.out;
        self.more = other.more;
    }
}

/// Like [`equal_portable`], for the bytes from the first out-tag on.
#[cfg_attr(all(target_arch = "x86_64", target_feature = "sse2", not(miri)), allow(dead_code))]
pub(super) fn equal_from_out_portable(group: &Group, byte: u8) -> u32 {
    let mut bytes = [0; SLOTS];
    bytes[..OUT_TAGS].copy_from_slice(&group.out);
    bytes[OUT_TAGS..].copy_from_slice(&group.more.to_ne_bytes());
    equal_portable(&bytes, byte)
}

/// Like [`equal_portable`], for both halves: bit i is set if byte i of either half is equal.
#[cfg_attr(all(target_arch = "x86_64", target_feature = "sse2", not(miri)), allow(dead_code))]
pub(super) fn equal_in_halves_portable(group: &Group, byte: u8) -> u32 {
    equal_portable(&group.tags, byte) | equal_from_out_portable(group, byte)
}

/// Returns a bit for each byte that equals `byte`. Compares eight bytes at a time, without SIMD.
#[cfg_attr(all(target_arch = "x86_64", target_feature = "sse2", not(miri)), allow(dead_code))]
#[inline(always)]
pub(super) fn equal_portable(bytes: &[u8; SLOTS], byte: u8) -> u32 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    /// Moves bit 8i to bit 56 + i; no two of the products that meet there are both 1.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let zeros = |half: u64| {
        let other = half ^ (ONES * u64::from(byte));
        // The sum sets a byte's highest bit if its lower ones are not all 0, without a carry to the
        // next.
        let zero = !(((other & !HIGHS) + !HIGHS) | other) & HIGHS;
        (zero >> 7).wrapping_mul(GATHER) >> 56
    };
    let bits = u128::from_le_bytes(*bytes);
    let [low, high] = [bits as u64, (bits >> 64) as u64].map(zeros);
    (low | high << 8) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_compare_agree_with_one_by_one() {
        let mut state = 1u64;
        for round in 0..if cfg!(miri) { 100 } else { 20_000 } {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some rounds draw few values, so that many bytes are equal; others draw neighbours of
            // the byte.
            let spread = [1, 2, 3, 255][round % 4];
            let bytes: [u8; SLOTS] =
                core::array::from_fn(|at| ((state.rotate_left(4 * at as u32) >> 40) % (spread + 1)) as u8);
            for byte in [0, 1, 2, 127, 128, 255, (state >> 56) as u8] {
                let expected = (0..SLOTS).filter(|&at| bytes[at] == byte).fold(0, |bits, at| bits | 1 << at);
                assert_eq!(equal(&bytes, byte), expected, "{bytes:?} {byte}");
                assert_eq!(equal_portable(&bytes, byte), expected, "{bytes:?} {byte}");
                // Both halves at once: out-tags in another order, followed by the count.
                let (out, more) =
                    (core::array::from_fn(|at| bytes[(5 * at + 3) % SLOTS]), (state >> 48) as u16);
                let group = Group { tags: bytes, out, more };
                let second = [&out[..], &more.to_ne_bytes()].concat();
                let expected = (0..SLOTS)
                    .filter(|&at| bytes[at] == byte || second[at] == byte)
                    .fold(0, |bits, at| bits | 1 << at);
                assert_eq!(equal_in_halves(&group, byte), expected, "{group:?} {byte}");
                assert_eq!(equal_in_halves_portable(&group, byte), expected, "{group:?} {byte}");
            }
        }
    }

    #[test]
    fn out_tags_are_remembered_until_as_many_came_back() {
        let mut group = Group::default();
        let tag = |tag: u64| Tag::of(tag);
        assert!(group.an_out_tag().is_none() && !group.may_be_out(tag(7)));
        for t in 1..=20 {
            group.goes_out(tag(t));
        }
        // Fourteen out-tags are stored. The other six keys are only counted, so any key may be out.
        assert!((1..256).all(|t| group.may_be_out(tag(t))));
        (15..=20).for_each(|t| group.comes_back(tag(t)));
        for t in 1..256 {
            assert_eq!(group.may_be_out(tag(t)), t <= 14, "{t}");
        }
        for left in (0..14).rev() {
            let tag = group.an_out_tag().expect("some are left");
            group.comes_back(tag);
            assert_eq!((1..256).filter(|&t| group.may_be_out(self::Tag::of(t))).count(), left);
        }
        assert_eq!(group, Group::default());
    }

    #[test]
    fn the_larger_of_two_sets_is_told_without_counting_both() {
        // All pairs of set sizes: the lowest slots in one set, the highest in the other.
        for (one, other) in (0..=SLOTS).flat_map(|one| (0..=SLOTS).map(move |other| (one, other))) {
            let low = Set((1 << one) - 1);
            let high = Set(((1 << SLOTS) - 1) ^ ((1 << (SLOTS - other)) - 1));
            assert_eq!((low.len(), high.len()), (one as u32, other as u32));
            assert_eq!(low.has_as_many_as(high), one >= other, "{one} {other}");
            assert_eq!(high.has_as_many_as(low), other >= one, "{one} {other}");
        }
    }

    #[test]
    fn only_nothing_has_the_tag_of_nothing() {
        assert_eq!((Tag::of(0).get(), Tag::of(256).get(), Tag::of(0x1ff).get()), (1, 1, 255));
    }
}
