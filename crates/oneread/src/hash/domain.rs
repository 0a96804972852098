//! A register of domains, so that no two structures draw the same words of a digest.

use super::mix::{GOLDEN, spread};

/// A name space of words: [`Digest::word`](super::Digest::word) gives unrelated words in different
/// domains.
///
/// Two structures on one path, such as a table and its summary, must never use the same bits of a
/// digest. Keys that the first has sorted by these bits would look alike to the second. A domain
/// per structure prevents this. The library's own domains are the constants here; [`Domain::new`]
/// makes one for your structure.
///
/// ```
/// use oneread::hash::{Digester, Domain, Portable};
///
/// const SHARD: Domain = Domain::new(1);
/// const SLOT: Domain = Domain::new(2);
/// let digest = Portable::with_seed(7).digest("key");
/// assert_ne!(digest.word(SHARD, 0), digest.word(SLOT, 0));
/// assert_eq!(digest.word(SHARD, 0), digest.word(Domain::new(1), 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    id: u32,
    /// The start of the Weyl sequence of this domain's words; a field, so that the code has it as a
    /// constant.
    start: u64,
}

/// The library's own domains have this bit of their number set.
const RESERVED: u32 = 1 << 31;

impl Domain {
    /// The probe locations of a Bloom filter, counting or not.
    pub const FILTER: Domain = Domain::numbered(RESERVED);
    /// The block of a blocked Bloom filter, and the bits in it.
    pub const BLOCKED: Domain = Domain::numbered(RESERVED + 1);
    /// The columns of a Count-Min sketch.
    pub const COUNT_MIN: Domain = Domain::numbered(RESERVED + 2);
    /// The buckets of a multilevel table, level by level.
    pub const TABLE: Domain = Domain::numbered(RESERVED + 3);
    /// The strings and probe locations of a table's summary.
    pub const SUMMARY: Domain = Domain::numbered(RESERVED + 4);
    // 5, 6 and 7 belong to the crate `oneread-store`.
    /// The buckets and the fingerprint of a d-left filter.
    pub const DLEFT: Domain = Domain::numbered(RESERVED + 9);

    /// The buckets and remainders of a d-left counting filter.
    pub const DLEFT_COUNTING: Domain = Domain::numbered(RESERVED + 8);
    /// The cells and the fingerprint of a placed filter.
    pub const PLACED: Domain = Domain::numbered(RESERVED + 11);

    /// The line and the fingerprint of a line filter.
    pub const LINE: Domain = Domain::numbered(RESERVED + 10);

    /// The home group and the tag of a key in a bounded map, and its other groups.
    pub const BOUNDED: Domain = Domain::numbered(RESERVED + 12);

    /// The probe locations of a growing filter's layer, which have the highest 32768 numbers.
    pub(crate) const fn layer(index: u16) -> Self {
        Self::numbered(u32::MAX - (index & 0x7fff) as u32)
    }

    /// A domain for your own structures. The highest bit of `id` is ignored: that half of the
    /// numbers belongs to the library.
    #[must_use]
    pub const fn new(id: u32) -> Self {
        Self::numbered(id & !RESERVED)
    }

    /// The number that names this domain in file formats.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.id
    }

    /// A domain of one of this workspace's crates; the register above lists `number`.
    #[must_use]
    pub(crate) const fn reserved(number: u32) -> Self {
        Self::numbered(RESERVED | number)
    }

    const fn numbered(id: u32) -> Self {
        Self { id, start: spread((id as u64 + 1).wrapping_mul(GOLDEN)) }
    }

    /// The constant that separates word `index` of this domain from all others.
    #[inline(always)]
    pub(super) const fn salt(self, index: u32) -> u64 {
        self.start.wrapping_add((index as u64).wrapping_mul(GOLDEN))
    }
}
