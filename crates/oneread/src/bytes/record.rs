//! Keys and values as bytes.

use alloc::string::String;
use alloc::vec::Vec;

/// A key or value that a saved table can hold.
///
/// # Encoding
/// Numbers are little-endian, `usize` and `isize` as 64 bits. A `bool` is a byte and a `char` 32
/// bits. Byte arrays are written as they are, strings and byte vectors after a 64-bit length. Pairs
/// follow one another. An option is a byte, 0 or 1, and its value.
///
/// # Your own types
/// Write the fields one after the other, and read them back in the same order.
///
/// ```
/// use oneread::bytes::Record;
///
/// #[derive(Debug, PartialEq)]
/// struct Hop { port: u16, host: String }
///
/// impl Record for Hop {
///     fn write(&self, bytes: &mut Vec<u8>) {
///         self.port.write(bytes);
///         self.host.write(bytes);
///     }
///     fn read(bytes: &mut &[u8]) -> Option<Self> {
///         Some(Self { port: Record::read(bytes)?, host: Record::read(bytes)? })
///     }
/// }
///
/// let mut bytes = Vec::new();
/// Hop { port: 258, host: "a".to_owned() }.write(&mut bytes);
/// assert_eq!(bytes, [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, b'a']);
/// assert_eq!(Hop::read(&mut &bytes[..10]), None);
/// assert_eq!(Hop::read(&mut &bytes[..]), Some(Hop { port: 258, host: "a".to_owned() }));
/// ```
pub trait Record: Sized {
    /// Appends the bytes.
    fn write(&self, bytes: &mut Vec<u8>);

    /// Reads a value from the front and advances `bytes` past it. Returns `None` if the bytes are
    /// too few or invalid.
    fn read(bytes: &mut &[u8]) -> Option<Self>;
}

/// The first `length` bytes, if there are enough.
fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(first)
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Record for $number {
            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Record::read(bytes).map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

macro_rules! as_another {
    ($($own:ty as $other:ty: |$value:ident| $read:expr;)*) => {$(
        impl Record for $own {
            fn write(&self, bytes: &mut Vec<u8>) {
                (*self as $other).write(bytes);
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                let $value = <$other>::read(bytes)?;
                $read
            }
        }
    )*};
}

as_another! {
    usize as u64: |value| value.try_into().ok();
    isize as i64: |value| value.try_into().ok();
    bool as u8: |value| (value < 2).then_some(value == 1);
    char as u32: |value| char::from_u32(value);
}

impl<const N: usize> Record for [u8; N] {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(*first)
    }
}

impl Record for Vec<u8> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.len().write(bytes);
        bytes.extend_from_slice(self);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let length = usize::read(bytes)?;
        take(bytes, length).map(<[u8]>::to_vec)
    }
}

impl Record for String {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.len().write(bytes);
        bytes.extend_from_slice(self.as_bytes());
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(Record::read(bytes)?).ok()
    }
}

impl Record for () {
    fn write(&self, _: &mut Vec<u8>) {}

    fn read(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl<A: Record, B: Record> Record for (A, B) {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::read(bytes)?, B::read(bytes)?))
    }
}

impl<T: Record> Record for Option<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.is_some().write(bytes);
        if let Some(value) = self {
            value.write(bytes);
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        if bool::read(bytes)? { T::read(bytes).map(Some) } else { Some(None) }
    }
}
