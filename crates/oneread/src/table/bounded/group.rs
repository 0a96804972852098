//! Sixteen slots by their tags, and the tags of keys that had to go elsewhere: half a cache line.
//!
//! # Layout
//! ```text
//! byte  0 ............... 15 16 ............. 29 30 31
//!       a tag for each slot   out-tags            more
//!       0 = the slot is free  0 = none            out-tags that found no room here
//! ```
//!
//! # Invariants
//! A key is *out* if this is its home and it lies in another group. For each tag t there are at
//! most as many keys out with the tag t as there are out-tags t, but for `more` keys in all. So a
//! key whose tag is neither among the out-tags, while `more` is 0, is not out.
//!
//! The order of out-tags means nothing, and equal ones are interchangeable.

use super::slots::{equal, equal_from_out, equal_in_halves};

/// Slots of a group: what one comparison of sixteen bytes looks at.
pub(super) const SLOTS: usize = 16;

/// Out-tags of a group: what half a cache line has room for beside the tags and a count.
const OUT_TAGS: usize = 14;

/// The bits of the out-tags among sixteen bytes that begin with them.
const OUT_BITS: u32 = (1 << OUT_TAGS) - 1;

/// Eight bits of a digest that tell most keys of a group apart. Never 0, which is a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(u8);

impl Tag {
    /// The tag of a word: its lowest bits, since its highest choose the home. Of 256 words two have
    /// the tag 1.
    #[inline(always)]
    pub(super) const fn of(word: u64) -> Self {
        let low = word as u8;
        Self(low + (low == 0) as u8)
    }

    /// A tag as it is kept, where 0 is none.
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

    /// A bit for each slot.
    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it has as many slots as another, or more: its own and those that the other has not
    /// are then sixteen.
    ///
    /// Processors that cannot count bits, which programs are built for if nobody says otherwise, so
    /// count once.
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

/// See the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct Group {
    tags: [u8; SLOTS],
    out: [u8; OUT_TAGS],
    more: u16,
}

impl Group {
    /// The tag of a slot, if it is in use.
    #[inline(always)]
    pub(super) fn tag(&self, slot: usize) -> Option<Tag> {
        Tag::kept(self.tags[slot])
    }

    #[inline(always)]
    pub(super) fn set_tag(&mut self, slot: usize, tag: Option<Tag>) {
        self.tags[slot] = tag.map_or(0, Tag::get);
    }

    /// The slots with a tag.
    #[inline(always)]
    pub(super) fn matching(&self, tag: Tag) -> Set {
        Set(equal(&self.tags, tag.get()))
    }

    /// The slots that are free.
    #[inline(always)]
    pub(super) fn free(&self) -> Set {
        Set(equal(&self.tags, 0))
    }

    /// The slots that are in use.
    #[inline(always)]
    pub(super) fn in_use(&self) -> Set {
        Set(self.free().0 ^ ((1 << SLOTS) - 1))
    }

    /// Whether a key with this tag may be out.
    ///
    /// The bytes of `more` are compared like out-tags: only if it is not 0 can they be equal to a
    /// tag, and then anything may be out.
    #[inline(always)]
    pub(super) fn may_be_out(&self, tag: Tag) -> bool {
        (equal_from_out(self, tag.get()) | u32::from(self.more)) != 0
    }

    /// Whether a key with this tag may be in a slot here, or out.
    #[inline(always)]
    pub(super) fn may_have(&self, tag: Tag) -> bool {
        (equal_in_halves(self, tag.get()) | u32::from(self.more)) != 0
    }

    /// A key with this tag goes out.
    #[inline(always)]
    pub(super) fn goes_out(&mut self, tag: Tag) {
        match self.first_out(0) {
            Some(at) => self.out[at] = tag.get(),
            // The keys that can be out of one group are fewer: see `route.rs`.
            None => self.more = self.more.saturating_add(1),
        }
    }

    /// A key with this tag is no longer out.
    pub(super) fn comes_back(&mut self, tag: Tag) {
        match self.first_out(tag.get()) {
            Some(at) => self.out[at] = 0,
            // Where digests contradict each other there may be nothing to take back.
            None => self.more = self.more.saturating_sub(1),
        }
    }

    /// Where the out-tags have a byte.
    #[inline(always)]
    fn first_out(&self, byte: u8) -> Option<usize> {
        Set(equal_from_out(self, byte) & OUT_BITS).first()
    }

    /// An out-tag, if there is one.
    #[inline(always)]
    pub(super) fn an_out_tag(&self) -> Option<Tag> {
        let none = equal_from_out(self, 0);
        let at = Set(!none & OUT_BITS).first()?;
        Tag::kept(self.out[at])
    }

    /// Nothing is out any more.
    pub(super) fn nothing_is_out(&mut self) {
        self.out = [0; OUT_TAGS];
        self.more = 0;
    }

    /// What is out is what is out of another group.
    pub(super) fn copy_out_tags(&mut self, other: &Self) {
        self.out = other.out;
        self.more = other.more;
    }
}

/// The same as [`equal_portable`] for the bytes from the first out-tag on.
#[cfg_attr(all(target_arch = "x86_64", target_feature = "sse2", not(miri)), allow(dead_code))]
pub(super) fn equal_from_out_portable(group: &Group, byte: u8) -> u32 {
    let mut bytes = [0; SLOTS];
    bytes[..OUT_TAGS].copy_from_slice(&group.out);
    bytes[OUT_TAGS..].copy_from_slice(&group.more.to_ne_bytes());
    equal_portable(&bytes, byte)
}

/// The same for both halves, one upon the other.
#[cfg_attr(all(target_arch = "x86_64", target_feature = "sse2", not(miri)), allow(dead_code))]
pub(super) fn equal_in_halves_portable(group: &Group, byte: u8) -> u32 {
    equal_portable(&group.tags, byte) | equal_from_out_portable(group, byte)
}

/// The bytes that equal one, as a bit for each: eight at a time, where there is nothing better.
#[cfg_attr(all(target_arch = "x86_64", target_feature = "sse2", not(miri)), allow(dead_code))]
#[inline(always)]
pub(super) fn equal_portable(bytes: &[u8; SLOTS], byte: u8) -> u32 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    /// Brings bit 8i to bit 56 + i; no two of the products that meet there are both 1.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let zeros = |half: u64| {
        let other = half ^ (ONES * u64::from(byte));
        // A byte's highest bit is set by the sum if its lower ones are not all 0: no carry leaves a
        // byte.
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
            // Few values in some rounds, so that many bytes are equal; neighbours of the byte in
            // others.
            let spread = [1, 2, 3, 255][round % 4];
            let bytes: [u8; SLOTS] =
                core::array::from_fn(|at| ((state.rotate_left(4 * at as u32) >> 40) % (spread + 1)) as u8);
            for byte in [0, 1, 2, 127, 128, 255, (state >> 56) as u8] {
                let expected = (0..SLOTS).filter(|&at| bytes[at] == byte).fold(0, |bits, at| bits | 1 << at);
                assert_eq!(equal(&bytes, byte), expected, "{bytes:?} {byte}");
                assert_eq!(equal_portable(&bytes, byte), expected, "{bytes:?} {byte}");
                // Both halves, one upon the other: out-tags in another order, and a count behind
                // them.
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
        // Fourteen are known by their tags, so that of any other six may be out.
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
        // Sets of all sizes, in all pairs: the lowest slots of one, the highest of the other.
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
