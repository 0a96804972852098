//! A digester for tests: keys with certain prefixes get digests that collide.
//!
//! The digest depends only on the key and the seed, so that threads, processes and reopened stores
//! agree on it.

use std::sync::OnceLock;

use oneread::hash::{self, Digest, Digester, Domain};
use oneread_study::hash::Ideal;

/// Keys with this prefix share one digest.
pub(crate) const TWIN: &[u8] = b"twin ";

/// Keys of this prefix and a decimal number below [`CROWD_KEYS`] have distinct digests and the same
/// page in every level, if the levels have at most 64, 8 and 4 pages.
pub(crate) const CROWD: &[u8] = b"crowd ";
pub(crate) const CROWD_KEYS: usize = 10_000;

/// By level, the number of parts of all words; the words of crowded keys lie in part 0.
const PARTS: [u64; 3] = [64, 8, 4];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable(hash::Portable);

impl Portable {
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self(hash::Portable::with_seed(seed))
    }

    pub(crate) fn random() -> Self {
        Self(hash::Portable::random())
    }

    pub(crate) fn seed(self) -> u64 {
        self.0.seed()
    }
}

impl Digester<[u8]> for Portable {
    fn digest(&self, key: &[u8]) -> Digest {
        if key.starts_with(TWIN) {
            return Digest::from_halves(0x0123_4567_89ab_cdef, 0x0f1e_2d3c_4b5a_6978);
        }
        let number = key.strip_prefix(CROWD).and_then(|rest| std::str::from_utf8(rest).ok()?.parse().ok());
        match number {
            Some(number) => crowd(number),
            None => self.0.digest(key),
        }
    }
}

/// The digest of one key of the crowd; the search for all of them runs once.
fn crowd(number: usize) -> Digest {
    static DIGESTS: OnceLock<Vec<Digest>> = OnceLock::new();
    let digests = DIGESTS.get_or_init(|| {
        let source = Ideal::with_seed(26);
        let candidates = (0u64..).map(|number| source.digest(&number));
        candidates.filter(|&digest| is_in_crowd(digest)).take(CROWD_KEYS).collect()
    });
    digests[number]
}

/// Reports whether a digest has the crowd's pages in the first `levels` levels, or pages within
/// `near` times their range.
fn shares_pages(digest: Digest, levels: usize, near: u64) -> bool {
    let word = |level: usize| digest.word(Domain::TABLE, level as u32);
    (0..levels).all(|level| word(level) < u64::MAX / PARTS[level] * near)
}

fn is_in_crowd(digest: Digest) -> bool {
    shares_pages(digest, PARTS.len(), 1)
}

/// Reports whether a digest has another home than the crowd in any level 0 of at least two pages.
pub(crate) fn has_other_home(digest: Digest) -> bool {
    digest.word(Domain::TABLE, 0) >= 1 << 63
}

/// Reports whether a digest may share all its pages with the crowd in a segment of two levels.
pub(crate) fn is_near_crowd(digest: Digest) -> bool {
    shares_pages(digest, 2, 2)
}
