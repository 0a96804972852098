//! The words of a digest that the store draws. The levels of a segment draw from [`Domain::TABLE`].

use oneread::hash::Domain;
use oneread::workspace::reserved_domain;

/// Selects the segment of a key.
pub(crate) const DIRECTORY: Domain = reserved_domain(5);
/// Draws the equations of guides.
pub(crate) const GUIDE: Domain = reserved_domain(6);
/// Draws the one-byte tags in pages.
pub(crate) const TAG: Domain = reserved_domain(7);
