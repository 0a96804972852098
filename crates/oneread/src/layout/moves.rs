//! What a multilevel table does when items collide, are removed, or find no room.

use super::error::check_places;
use super::{LayoutError, MultilevelLayout, Quantity, Ties};

/// Which items a multilevel table moves, and when.
///
/// | policy | on an insertion | on a deletion | extra memory |
/// | --- | --- | --- | --- |
/// | [`None`](Moves::None) | – | – | – |
/// | [`SecondChance`](Moves::SecondChance) | at most one item, one level down | – | – |
/// | [`Hints`](Moves::Hints) | – | one item, or a chain of them, up | one hint per bucket |
/// | [`Both`](Moves::Both) | as Second Chance | as hints | one hint per bucket |
/// | [`Restricted`](Moves::Restricted) | at most one item per level, along one path down | the items that the policy requires | – |
///
/// # Buckets read
/// In a table of d levels, a lookup reads at most d buckets, one per level, and each change begins
/// with a lookup. Bits in fast memory say which buckets have room. A change therefore reads other
/// buckets only for their items: to see whether one can move, or is where a hint says. The stash is
/// in fast memory and does not count. So a change, with its lookup, reads at most
///
/// | policy | insertion | deletion |
/// | --- | --- | --- |
/// | none, Second Chance | d | d |
/// | hints, or both: [`Deepest`](HintRule::Deepest) | 2d − 2, but at least d | d |
/// | hints, or both: the other rules | d | d |
/// | restricted, [`Random`](Keep::Random) | 2d − 1, but at most the number below | 1 + ℓ + … + ℓ^(d − 1) |
/// | restricted, [`Greedy`](Keep::Greedy) | 1 + ℓ + … + ℓ^(d − 1) | 1 + ℓ + … + ℓ^(d − 1) |
///
/// *Second Chance* considers only items of the new item's own buckets, which the lookup of an
/// absent key has read. *A deletion with hints* looks up to level i, in i + 1 buckets at most.
/// Hints then lead from level to deeper level, which adds at most d − 1 − i reads. *Deepest*: an
/// item that goes to level i found i buckets full. If the hint of one is deeper than i, its target
/// is read. For i = d − 1 that is the stash, so that there are at most d − 2 of these. An item
/// that Second Chance moves from level i to i + 1 adds a read if the hint of the bucket it leaves
/// is deeper than i + 1: again at most d − 2. *Restricted*: all reads are below the item's bucket
/// of the first level. An insertion with random keep also reads one bucket per level on the way
/// down, and shares the first with its lookup. [`MultilevelLayout::most_insertion_reads`] and
/// [`most_removal_reads`](MultilevelLayout::most_removal_reads) compute these.
///
/// # Source
/// Kirsch, Mitzenmacher, "On the Performance of Multiple Choice Hash Tables with Moves on Deletes
/// and Inserts", 2008: sections II (Second Chance), III (hints) and IV (restricted hashing). The
/// text does not say how hints are written; [`HintRule`] names the rule that reproduces Table I.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Moves {
    /// Items stay where they are put.
    #[default]
    None,
    /// An insertion that finds its buckets of two levels full may move an item of the first to its
    /// bucket of the second.
    SecondChance,
    /// A bucket remembers where an item went that found it full, and takes it back when it has
    /// room.
    Hints(Hints),
    /// Second Chance on insertions, hints on deletions.
    Both(Hints),
    /// Items that a bucket cannot keep go to few buckets of the next level, so that a deletion
    /// finds what to move back without hints.
    Restricted(Restriction),
}

impl Moves {
    /// Reports whether insertions give items a second chance.
    #[must_use]
    pub const fn second_chance(self) -> bool {
        matches!(self, Self::SecondChance | Self::Both(_))
    }

    /// The hints, if any.
    #[must_use]
    pub const fn hints(self) -> Option<Hints> {
        match self {
            Self::Hints(hints) | Self::Both(hints) => Some(hints),
            _ => None,
        }
    }

    /// The restriction, if any.
    #[must_use]
    pub const fn restriction(self) -> Option<Restriction> {
        match self {
            Self::Restricted(restriction) => Some(restriction),
            _ => None,
        }
    }
}

/// How hints are written and followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub struct Hints {
    /// Which hint a bucket keeps.
    pub rule: HintRule,
    /// How many items a deletion moves.
    pub chain: HintChain,
}

/// Which hint a bucket keeps.
///
/// An inserted item writes its place as a hint into each bucket that it found full, even if that
/// place is the stash. An item that Second Chance moves is hinted at in the bucket it left. A
/// bucket that is left with room forgets its hint. A hint is followed only if the item at that
/// place has the bucket among its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum HintRule {
    /// The newest. The paper's choice.
    #[default]
    Replace,
    /// The newest, unless the present one points to a deeper level and is still valid: an insertion
    /// checks it. Better than the paper's choice: in its table of 8192 items with four levels,
    /// Second Chance and one move per deletion, the stash needs 0.76 items instead of 1.20.
    Deepest,
    /// The newest that points to the next level; items of deeper levels write none.
    Next,
    /// The newest, unless the present one points to a deeper level, valid or not: an insertion
    /// reads nothing to check it. The paper compares its choice with this rule: the stash needs
    /// 1.22 items in the same table.
    DeepestUnchecked,
}

/// How many items a deletion moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum HintChain {
    /// At most one.
    #[default]
    One,
    /// One into the free slot, another into the slot that it leaves, and so on: at most one per
    /// level.
    Recursive,
}

/// Restricted hashing: an item's bucket in the next level depends on its bucket in this one.
///
/// A bucket has `fanout` children (ℓ in the paper), which are buckets of the next level. The digest
/// draws one of them for an item. Of all items that reach a bucket, it keeps one.
///
/// # Example
/// ```
/// use oneread::layout::{Maps, Moves, MultilevelLayout, Restriction};
///
/// let layout = MultilevelLayout::geometric(8192, 0.5, 6)?;
/// let nine = Restriction { fanout: 9, ..Restriction::default() };
/// assert!(layout.clone().with_moves(Moves::Restricted(nine)).is_err());
/// // h2(h1(x))
/// let chain = Restriction { fanout: 1, maps: Maps::Random, ..Restriction::default() };
/// assert!(layout.with_moves(Moves::Restricted(chain)).is_ok());
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub struct Restriction {
    /// The children per bucket.
    pub fanout: u32,
    /// Which buckets its children are.
    pub maps: Maps,
    /// Which item a bucket keeps.
    pub keep: Keep,
}

impl Default for Restriction {
    /// Two children by shifts, any item kept.
    fn default() -> Self {
        Self { fanout: 2, maps: Maps::Shifts, keep: Keep::Random }
    }
}

impl Restriction {
    /// The most children of a bucket.
    pub const MAX_FANOUT: u32 = 8;

    /// The most buckets of the last level below one of the first: a deletion may read all of them.
    pub const MAX_BELOW: u64 = 4096;

    /// Checks whether a table of these levels can be restricted so.
    pub(super) fn check(self, layout: &MultilevelLayout) -> Result<(), LayoutError> {
        check_places(Quantity::Children, u64::from(self.fanout), u64::from(Self::MAX_FANOUT))?;
        if self.maps == Maps::Nested {
            check_places(Quantity::ChildrenOfNestedMaps, u64::from(self.fanout), 1)?;
        }
        check_places(Quantity::SlotsPerBucket, u64::from(layout.slots()), 1)?;
        let below = layout.levels()[1..].iter().try_fold(1u64, |below, _| {
            let below = below * u64::from(self.fanout);
            check_places(Quantity::LastBuckets, below, Self::MAX_BELOW).map(|()| below)
        });
        below?;
        if self.maps == Maps::Shifts {
            for &buckets in &layout.levels()[1..] {
                check_places(Quantity::BucketsPerChild, buckets / u64::from(self.fanout), u64::MAX)?;
            }
        }
        Ok(())
    }
}

/// Which buckets of the next level are a bucket's children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Maps {
    /// The next level is divided into as many equal parts as a bucket has children. Child j of
    /// bucket y is y plus a constant, modulo the size of a part, in part j. All buckets then have
    /// the same number of parents.
    #[default]
    Shifts,
    /// A fixed random function of the bucket and the child. With one child, the paper's h2(h1(x)).
    Random,
    /// Bucket y modulo the size of the next level: the paper's h(x) mod 2^(k−i+1), where level
    /// sizes are powers of two. One child.
    Nested,
}

/// Which of the items that reach a bucket it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Keep {
    /// Any of them, with the same probability.
    #[default]
    Random,
    /// One of those whose bucket in the next level would get the most; the tie rule decides between
    /// several such buckets.
    Greedy(Ties),
}

/// What happens to an item that finds no room in any level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum OnCrisis {
    /// It goes to the stash; if that is full, the insertion fails.
    #[default]
    Stash,
    /// All items are placed anew with fresh hash functions, in time proportional to the table. If
    /// no attempt places all of them in the levels, the item goes to the stash.
    Rebuild {
        /// How often fresh functions are tried, 1 to [`MAX_ATTEMPTS`](OnCrisis::MAX_ATTEMPTS).
        attempts: u32,
    },
}

impl OnCrisis {
    /// The most attempts per rebuild.
    pub const MAX_ATTEMPTS: u32 = 1024;
}
