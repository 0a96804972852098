//! The canonical form of keys: what a portable digest is computed from.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::composite::Written;

/// The form in which a key is hashed: the same on every platform.
#[derive(Clone)]
#[non_exhaustive]
pub enum Canonical<'a> {
    /// A number of at most 64 bits.
    Word(u64),
    /// A number of 128 bits.
    Wide(u128),
    /// A string of bytes.
    Bytes(&'a [u8]),
    /// The bytes of a key of several parts, written for hashing.
    Written(Written),
}

impl Canonical<'_> {
    /// The same form, without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Canonical<'static> {
        match self {
            Self::Word(word) => Canonical::Word(word),
            Self::Wide(wide) => Canonical::Wide(wide),
            Self::Bytes(bytes) => Canonical::Written(Written::from(bytes)),
            Self::Written(written) => Canonical::Written(written),
        }
    }
}

/// A key that has the same digest on every platform and in every release.
///
/// # How keys are written
/// - Unsigned integers of up to 64 bits, `usize`, `bool` and `char`: their value as a `u64`. So
///   `7u8` and `7usize` are the same key.
/// - Signed integers of up to 64 bits and `isize`: sign-extended to 64 bits. So `-1i8` and `-1i64`
///   are the same key, and so are `7i32` and `7u64`.
/// - `u128` and `i128`: 128 bits; `7u128` is not the same key as `7u64`.
/// - IPv4 addresses: the 32-bit number, as a word. IPv6 addresses: the 128-bit number.
/// - Byte slices, byte arrays, byte vectors and strings: their bytes, so that `"a"` and `b"a"` are
///   the same key.
/// - Tuples of up to eight keys, options of keys, and arrays, slices and vectors of integers: their
///   parts with tags. So keys of different shapes differ: `("ab", "c")` and `("a", "bc")`, `(1, 2)`
///   and `[1, 2]`, `Some(7)` and `7`. `docs/format.md` has the bytes. Up to 64 bytes need no heap
///   memory.
/// - `OsStr` and `Path` on Unix: their bytes. A path is normalised first (`a/./b/` is `a/b`), so
///   that equal paths are equal keys, and a path in UTF-8 is the same key as its text. On Windows
///   they are not bytes and not keys: use `path.to_str()`.
/// - References, boxes and the like: what they point to.
///
/// A type that can be borrowed as another ([`core::borrow::Borrow`]) has that type's canonical
/// form.
///
/// # Your own types
/// A wrapper delegates to the type it wraps, and a key of several fields to the tuple of them. Or
/// use [`Std`](super::Std), which takes any [`core::hash::Hash`] type but is not portable.
///
/// ```
/// use oneread::hash::{Canonical, Digester, Key, Portable};
///
/// struct Isbn(u64);
/// impl Key for Isbn {
///     fn canonical(&self) -> Canonical<'_> {
///         self.0.canonical()
///     }
/// }
/// let digester = Portable::with_seed(0);
/// assert_ne!(digester.digest(&Isbn(9780262033848)), digester.digest(&Isbn(9780201896855)));
/// assert_eq!(digester.digest(&Isbn(9780262033848)), digester.digest(&9780262033848u64));
///
/// struct Flow { host: String, port: u16 }
/// impl Key for Flow {
///     fn canonical(&self) -> Canonical<'_> {
///         (&self.host, self.port).canonical().into_owned()
///     }
/// }
/// let flow = Flow { host: "a".to_owned(), port: 443 };
/// assert_ne!(digester.digest(&flow), digester.digest(&("a", 80)));
/// assert_eq!(digester.digest(&flow), digester.digest(&("a", 443)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key that has the same digest everywhere",
    label = "not a portable key",
    note = "implement `oneread::hash::Key` for it, by a tuple of its fields: `(self.a, &self.b).canonical().into_owned()`",
    note = "or use the digester `oneread::hash::Std`, which takes any type that implements `Hash`; what it makes cannot be saved"
)]
pub trait Key {
    /// The form that is hashed.
    fn canonical(&self) -> Canonical<'_>;
}

macro_rules! keys_by_value {
    ($($number:ty: |$value:ident| $canonical:expr;)*) => {$(
        impl Key for $number {
            #[inline(always)]
            fn canonical(&self) -> Canonical<'_> {
                let $value = *self;
                $canonical
            }
        }
    )*};
}

keys_by_value! {
    u8: |value| Canonical::Word(u64::from(value));
    u16: |value| Canonical::Word(u64::from(value));
    u32: |value| Canonical::Word(u64::from(value));
    u64: |value| Canonical::Word(value);
    usize: |value| Canonical::Word(value as u64);
    u128: |value| Canonical::Wide(value);
    i8: |value| Canonical::Word(i64::from(value) as u64);
    i16: |value| Canonical::Word(i64::from(value) as u64);
    i32: |value| Canonical::Word(i64::from(value) as u64);
    i64: |value| Canonical::Word(value as u64);
    isize: |value| Canonical::Word(value as i64 as u64);
    i128: |value| Canonical::Wide(value as u128);
    bool: |value| Canonical::Word(u64::from(value));
    char: |value| Canonical::Word(u64::from(u32::from(value)));
    Ipv4Addr: |value| Canonical::Word(u64::from(value.to_bits()));
    Ipv6Addr: |value| Canonical::Wide(value.to_bits());
}

impl Key for IpAddr {
    #[inline]
    fn canonical(&self) -> Canonical<'_> {
        match self {
            IpAddr::V4(address) => Canonical::Word(u64::from(address.to_bits())),
            IpAddr::V6(address) => Canonical::Wide(address.to_bits()),
        }
    }
}

macro_rules! keys_by_bytes {
    ($($string:ty: |$value:ident| $bytes:expr;)*) => {$(
        impl Key for $string {
            #[inline(always)]
            fn canonical(&self) -> Canonical<'_> {
                let $value = self;
                Canonical::Bytes($bytes)
            }
        }
    )*};
}

keys_by_bytes! {
    [u8]: |value| value;
    str: |value| value.as_bytes();
    String: |value| value.as_bytes();
    Vec<u8>: |value| value.as_slice();
}

impl<const N: usize> Key for [u8; N] {
    #[inline(always)]
    fn canonical(&self) -> Canonical<'_> {
        Canonical::Bytes(self)
    }
}

macro_rules! keys_by_pointer {
    ($($pointer:ty),*) => {$(
        impl<Q: Key + ?Sized> Key for $pointer {
            #[inline(always)]
            fn canonical(&self) -> Canonical<'_> {
                (**self).canonical()
            }
        }
    )*};
}

keys_by_pointer!(&Q, &mut Q, Box<Q>, Rc<Q>, Arc<Q>);

impl<Q: Key + ToOwned + ?Sized> Key for Cow<'_, Q> {
    #[inline(always)]
    fn canonical(&self) -> Canonical<'_> {
        (**self).canonical()
    }
}
