//! Keys of several parts: tuples, options, lists of integers and paths.
//!
//! **Invariant.** The bytes of a composite key are never a prefix of those of another one. Each
//! value begins with a tag, and values of variable length write their length first. So two keys
//! share their bytes only if they have the same shape and the same parts.

use alloc::vec::Vec;

use super::{Canonical, Key};

// Tags of values. No UTF-8 text contains a byte above 0xF7. A composite key begins with such a
// byte, so no text is the same key.
const WORD: u8 = 1;
const WIDE: u8 = 2;
const BYTES: u8 = 3;
const LIST: u8 = 0xfc;
const SOME: u8 = 0xfd;
const NONE: u8 = 0xfe;
const TUPLE: u8 = 0xff;

/// The bytes of a key that were written for hashing: up to 64 of them in place, more on the heap.
#[derive(Clone)]
pub struct Written {
    near: [u8; Self::NEAR],
    len: usize,
    /// All of the bytes, once `near` has no room for them.
    far: Vec<u8>,
    /// Whether they are a string of bytes, which has no tag and length of its own.
    is_string: bool,
}

impl Written {
    /// Enough for a tuple of seven integers.
    const NEAR: usize = 64;

    const fn new() -> Self {
        Self { near: [0; Self::NEAR], len: 0, far: Vec::new(), is_string: false }
    }

    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        if self.far.is_empty() { &self.near[..self.len] } else { &self.far }
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if self.far.is_empty() {
            if let Some(place) = self.near.get_mut(self.len..self.len + bytes.len()) {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
                return;
            }
            self.far.extend_from_slice(&self.near[..self.len]);
        }
        self.far.extend_from_slice(bytes);
    }

    #[inline]
    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.put(&[tag]);
        self.put(bytes);
    }

    #[inline]
    fn value(&mut self, value: &(impl Key + ?Sized)) {
        match value.canonical() {
            Canonical::Word(word) => self.tagged(WORD, &word.to_le_bytes()),
            Canonical::Wide(wide) => self.tagged(WIDE, &wide.to_le_bytes()),
            Canonical::Bytes(bytes) => self.string(bytes),
            Canonical::Written(written) if written.is_string => self.string(written.as_bytes()),
            Canonical::Written(written) => self.put(written.as_bytes()),
        }
    }

    #[inline]
    fn string(&mut self, bytes: &[u8]) {
        self.tagged(BYTES, &(bytes.len() as u64).to_le_bytes());
        self.put(bytes);
    }
}

impl From<&[u8]> for Written {
    fn from(bytes: &[u8]) -> Self {
        let mut written = Self { is_string: true, ..Self::new() };
        written.put(bytes);
        written
    }
}

impl<T: Key> Key for Option<T> {
    #[inline]
    fn canonical(&self) -> Canonical<'_> {
        let mut written = Written::new();
        match self {
            None => written.put(&[NONE]),
            Some(value) => {
                written.put(&[SOME]);
                written.value(value);
            }
        }
        Canonical::Written(written)
    }
}

macro_rules! tuples {
    ($(($count:literal: $($name:ident)*))*) => {$(
        impl<$($name: Key),*> Key for ($($name,)*) {
            #[inline]
            fn canonical(&self) -> Canonical<'_> {
                #[expect(non_snake_case, reason = "a field is named as its type")]
                let ($($name,)*) = self;
                let mut written = Written::new();
                written.put(&[TUPLE, $count]);
                $(written.value($name);)*
                Canonical::Written(written)
            }
        }
    )*};
}

tuples! {
    (1: A)
    (2: A B)
    (3: A B C)
    (4: A B C D)
    (5: A B C D E)
    (6: A B C D E F)
    (7: A B C D E F G)
    (8: A B C D E F G H)
}

macro_rules! lists {
    ($($number:ty),*) => {$(
        impl Key for [$number] {
            #[inline]
            fn canonical(&self) -> Canonical<'_> {
                let mut written = Written::new();
                written.tagged(LIST, &(self.len() as u64).to_le_bytes());
                self.iter().for_each(|number| written.value(number));
                Canonical::Written(written)
            }
        }

        impl<const N: usize> Key for [$number; N] {
            #[inline]
            fn canonical(&self) -> Canonical<'_> {
                self.as_slice().canonical()
            }
        }

        impl Key for Vec<$number> {
            #[inline]
            fn canonical(&self) -> Canonical<'_> {
                self.as_slice().canonical()
            }
        }
    )*};
}

lists!(u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// Paths and strings of the operating system, where these are strings of bytes. On Windows they
/// have no form that is the same everywhere.
#[cfg(all(unix, feature = "std"))]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use super::{Canonical, Key, Written};

    impl Key for OsStr {
        #[inline]
        fn canonical(&self) -> Canonical<'_> {
            Canonical::Bytes(self.as_bytes())
        }
    }

    impl Key for OsString {
        #[inline]
        fn canonical(&self) -> Canonical<'_> {
            self.as_os_str().canonical()
        }
    }

    impl Key for Path {
        /// Equal paths may differ in their bytes: `a//b`, `a/./b`, `a/b/`.
        fn canonical(&self) -> Canonical<'_> {
            let bytes = self.as_os_str().as_bytes();
            let redundant = bytes.len() > 1
                && (bytes.ends_with(b"/")
                    || bytes.ends_with(b"/.")
                    || bytes.windows(2).any(|pair| pair == b"//")
                    || bytes.windows(3).any(|three| three == b"/./"));
            if !redundant {
                return Canonical::Bytes(bytes);
            }
            let plain: PathBuf = self.components().collect();
            Canonical::Written(Written::from(plain.as_os_str().as_bytes()))
        }
    }

    impl Key for PathBuf {
        fn canonical(&self) -> Canonical<'_> {
            self.as_path().canonical()
        }
    }
}
