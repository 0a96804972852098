//! Keys of several parts have the bytes that `docs/format.md` gives them.

use std::collections::HashMap;
use std::fmt::Debug;

use oneread::hash::{Canonical, Digester, Key, Keyed, Portable};

/// Asserts that a key has the digest of these bytes.
fn is_written(key: &(impl Key + Debug + ?Sized), pieces: &[&[u8]]) {
    let bytes = pieces.concat();
    let (portable, keyed) = (Portable::with_seed(7), Keyed::with_secret([7; 16]));
    assert_eq!(portable.digest(key), portable.digest(&bytes), "{key:?}");
    assert_eq!(keyed.digest(key), keyed.digest(&bytes), "{key:?}");
}

#[test]
fn parts_are_written_as_the_format_says() {
    let seven = [1, 7, 0, 0, 0, 0, 0, 0, 0];
    let minus = [1, 255, 255, 255, 255, 255, 255, 255, 255];
    let length = |n: u8| [n, 0, 0, 0, 0, 0, 0, 0];
    is_written(&(7u8, -1i32), &[&[0xff, 2], &seven, &minus]);
    is_written(&("ab",), &[&[0xff, 1, 3], &length(2), b"ab"]);
    is_written(&(7u128, true), &[&[0xff, 2, 2, 7], &[0; 15], &[1, 1], &[0; 7]]);
    is_written(&None::<u64>, &[&[0xfe]]);
    is_written(&Some(7u64), &[&[0xfd], &seven]);
    is_written(&Some(Some("a")), &[&[0xfd, 0xfd, 3], &length(1), b"a"]);
    is_written(&[7u16, 7], &[&[0xfc], &length(2), &seven, &seven]);
    is_written(&[][..] as &[u64], &[&[0xfc], &length(0)]);
    is_written(&(Some(7i64), ((), "").1), &[&[0xff, 2, 0xfd], &seven, &[3], &length(0)]);
    // More than fits without the heap.
    let long = "x".repeat(100);
    is_written(&(7, &long, 7), &[&[0xff, 3], &seven, &[3], &length(100), long.as_bytes(), &seven]);
    is_written(&vec![7i32; 9], &[&[0xfc], &length(9), &seven.repeat(9)]);
}

#[test]
fn keys_of_different_shapes_or_parts_differ() {
    let digester = Portable::with_seed(3);
    let keys: [Box<dyn Key>; 21] = [
        Box::new(("ab", "c")),
        Box::new(("a", "bc")),
        Box::new(("abc",)),
        Box::new("abc"),
        Box::new((1, 2)),
        Box::new((2, 1)),
        Box::new([1, 2]),
        Box::new(((1, 2),)),
        Box::new((1, (2,))),
        Box::new((1, 2, 3)),
        Box::new(((1, 2), 3)),
        Box::new((1, (2, 3))),
        Box::new([1u64]),
        Box::new((1u64,)),
        Box::new(Some(1u64)),
        Box::new(1u64),
        Box::new(None::<u64>),
        Box::new(Some(None::<u64>)),
        Box::new((None::<u64>, Some(1u64))),
        Box::new((Some(1u64), None::<u64>)),
        Box::new((1u128,)),
    ];
    let mut seen = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        if let Some(other) = seen.insert(digester.digest(&**key), at) {
            panic!("keys {other} and {at} have one digest");
        }
    }
}

#[test]
fn what_borrows_as_a_list_has_its_digest() {
    let digester = Portable::with_seed(3);
    let list = digester.digest(&[1u64, 2][..]);
    assert_eq!(digester.digest(&[1u64, 2]), list);
    assert_eq!(digester.digest(&vec![1u64, 2]), list);
    assert_eq!(digester.digest(&[1i8, 2]), list);
    assert_eq!(digester.digest(&(&1u8, String::from("a"))), digester.digest(&(1u64, "a")));
}

#[cfg(unix)]
#[test]
fn equal_paths_are_the_same_key_and_that_of_their_text() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::{Path, PathBuf};

    let digester = Portable::with_seed(3);
    let texts = ["", ".", "/", "a", "a/b", "/a/b", "./a", "../a", "a/../b", ".a", "a./b", "a/.b", "a b/ä"];
    for text in texts {
        assert_eq!(digester.digest(Path::new(text)), digester.digest(text), "{text}");
        assert_eq!(digester.digest(&OsString::from(text)), digester.digest(text), "{text}");
    }
    let equal = [
        ("a//b", "a/b"),
        ("a/./b", "a/b"),
        ("a/b/", "a/b"),
        ("a/b/.", "a/b"),
        ("//", "/"),
        ("/.", "/"),
        ("./", "."),
        ("./a//./b//", "./a/b"),
    ];
    for (long, short) in equal {
        assert_eq!(Path::new(long), Path::new(short));
        assert_eq!(digester.digest(&PathBuf::from(long)), digester.digest(short), "{long}");
    }
    assert_ne!(digester.digest(Path::new("./a")), digester.digest(Path::new("a")));
    let bytes = vec![b'/', 0xff];
    assert_eq!(digester.digest(&OsString::from_vec(bytes.clone())), digester.digest(&bytes));
}

/// The bytes of a path that was normalised, and of a string without a borrow, once went into tuples
/// without a tag and a length: equal paths were different keys there, and different tuples equal.
#[test]
#[cfg(unix)]
fn strings_are_the_same_parts_whether_they_are_borrowed_or_not() {
    use std::path::Path;

    struct Owned(&'static str);
    impl Key for Owned {
        fn canonical(&self) -> Canonical<'_> {
            self.0.canonical().into_owned()
        }
    }
    let digester = Portable::with_seed(5);
    let borrowed = digester.digest(&("ab", "c"));
    assert_ne!(digester.digest(&("a", "bc")), borrowed);
    assert_eq!(digester.digest(&(Owned("ab"), Owned("c"))), borrowed);
    assert_eq!(digester.digest(&Some(Owned("ab"))), digester.digest(&Some("ab")));
    assert_eq!(digester.digest(&Owned("ab")), digester.digest("ab"));
    let paths = |path: &'static str| digester.digest(&(Path::new(path), "c"));
    assert_eq!(paths("a//b/"), paths("a/b"));
    assert_ne!(paths("a//b/"), digester.digest(&(Path::new("a"), "bc")));
}
