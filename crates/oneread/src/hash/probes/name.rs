//! Schemes as values, for layouts, files and the command line.

use core::fmt;
use core::str::FromStr;

use super::{
    Accelerated, Double, Enhanced, ExtendedCube, ExtendedSquare, Independent, IndependentBands, Partitioned,
    ProbeError, Quadruple, Scheme, Triple,
};

/// Names a probe scheme. The discriminants are those of the file format and never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum SchemeName {
    /// [`Independent`]
    Independent = 0,
    /// [`Accelerated`]
    #[default]
    Accelerated = 1,
    /// [`Double`]
    Double = 2,
    /// [`ExtendedSquare`]
    ExtendedSquare = 3,
    /// [`ExtendedCube`]
    ExtendedCube = 4,
    /// [`Enhanced`]
    Enhanced = 5,
    /// [`Triple`]
    Triple = 6,
    /// [`Quadruple`]
    Quadruple = 7,
    /// [`Partitioned`]
    Partitioned = 8,
    /// [`IndependentBands`]
    IndependentBands = 9,
}

impl SchemeName {
    /// All schemes, in the order of their numbers.
    pub const ALL: [SchemeName; 10] = [
        Self::Independent,
        Self::Accelerated,
        Self::Double,
        Self::ExtendedSquare,
        Self::ExtendedCube,
        Self::Enhanced,
        Self::Triple,
        Self::Quadruple,
        Self::Partitioned,
        Self::IndependentBands,
    ];

    /// The scheme with this number in a file.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The scheme's number in a file.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Reports whether each hash has a band of the table to itself.
    #[must_use]
    pub const fn is_banded(self) -> bool {
        matches!(self, Self::Partitioned | Self::IndependentBands)
    }

    /// The name on the command line and in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Independent => Independent::NAME,
            Self::Accelerated => Accelerated::NAME,
            Self::Double => Double::NAME,
            Self::ExtendedSquare => ExtendedSquare::NAME,
            Self::ExtendedCube => ExtendedCube::NAME,
            Self::Enhanced => Enhanced::NAME,
            Self::Triple => Triple::NAME,
            Self::Quadruple => Quadruple::NAME,
            Self::Partitioned => Partitioned::NAME,
            Self::IndependentBands => IndependentBands::NAME,
        }
    }
}

impl fmt::Display for SchemeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SchemeName {
    type Err = ProbeError;

    fn from_str(name: &str) -> Result<Self, ProbeError> {
        Self::ALL.into_iter().find(|scheme| scheme.as_str() == name).ok_or(ProbeError::UnknownScheme)
    }
}
