//! What can go wrong while the server starts.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// An error of starting the server, with advice in its message.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option has no sensible value.
    Option {
        /// The option.
        what: &'static str,
        /// What it should be.
        expected: String,
    },
    /// An address that other machines reach, and no token.
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// An address cannot be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificates or the key of TLS cannot be used.
    Tls {
        /// What is wrong with them.
        what: String,
    },
    /// A source cannot be opened.
    Source {
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    pub(super) fn option(what: &'static str, expected: impl fmt::Display) -> Self {
        Self::Option { what, expected: expected.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { what, expected } => write!(f, "{what}: expected {expected}"),
            Self::Open { address } => write!(
                f,
                "other machines reach {address}, and there is no token: give one, listen on 127.0.0.1, or say that \
                 everybody may read"
            ),
            Self::Listen { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::Tls { what } => write!(f, "TLS: {what}"),
            Self::Source { name, source } => write!(f, "{name}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { source, .. } => Some(source),
            Self::Source { source, .. } => Some(&**source),
            Self::Option { .. } | Self::Open { .. } | Self::Tls { .. } => None,
        }
    }
}
