//! Which words of a digest the store draws. The levels of a segment draw from [`Domain::TABLE`].

use oneread::hash::Domain;
use oneread::workspace::reserved_domain;

/// The segment that a key is in.
pub(crate) const DIRECTORY: Domain = reserved_domain(5);
/// The equations of guides.
pub(crate) const GUIDE: Domain = reserved_domain(6);
/// The one-byte tags in pages.
pub(crate) const TAG: Domain = reserved_domain(7);
