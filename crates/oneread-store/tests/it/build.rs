//! Building: duplicates, little memory, options, and failures that leave nothing behind.

use oneread_store::{Builder, Duplicates, Error, Options, Sealed, verify_in};

use super::{Pairs, below, builder, model, pairs, random, store};

#[test]
fn the_last_of_equal_keys_wins() {
    let mut random = random(1);
    // Ten thousand pairs of at most a thousand keys, some values large.
    let pairs: Pairs = (0..10_000u32)
        .map(|number| {
            let key = below(&mut random, 1000).to_string().into_bytes();
            let length = if number % 50 == 0 { 2000 } else { 10 };
            (key, number.to_le_bytes().repeat(length / 4))
        })
        .collect();
    for memory in [1 << 16, 1 << 28] {
        let (bytes, report) =
            builder(Options::new().memory_bytes(memory), &pairs).finish_in_memory().unwrap();
        let model = model(&pairs);
        assert_eq!((report.items, report.replaced), (model.len() as u64, 10_000 - model.len() as u64));
        assert!(verify_in(&bytes).unwrap().is_whole());
        let store = Sealed::open_in(bytes).unwrap();
        for (key, value) in &model {
            assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
        }
    }
}

#[test]
fn equal_keys_are_refused_if_asked() {
    let options = Options::new().duplicates(Duplicates::Refuse);
    let mut once = Builder::new(options.clone()).unwrap();
    let mut twice = Builder::new(options).unwrap();
    for number in 0..500u32 {
        once.insert(&number.to_le_bytes(), b"value").unwrap();
        twice.insert(&number.to_le_bytes(), b"value").unwrap();
    }
    assert_eq!(once.finish_in_memory().unwrap().1.items, 500);
    twice.insert(&77u32.to_le_bytes(), b"value").unwrap();
    let error = twice.finish_in_memory().unwrap_err();
    assert!(matches!(&error, Error::DuplicateKey { key } if key == &77u32.to_le_bytes()), "{error}");
    assert!(error.to_string().contains("M\\x00\\x00\\x00"), "{error}");
}

#[test]
fn little_memory_and_many_threads_give_the_same_bytes() {
    let mut pairs = pairs(8000, 2, |_| 16, |random| below(random, 300) as usize);
    pairs.extend((0..50u8).map(|n| (vec![n; 3], vec![n; 1500 + 100 * usize::from(n)])));
    let options = || Options::new().segment_pages(32);
    let (expected, report) = builder(options(), &pairs).finish_in_memory().unwrap();
    assert!(report.segments > 8);
    for (memory, threads) in [(0, 1), (1 << 14, 3), (1 << 18, 2), (1 << 20, 8), (1 << 30, 1)] {
        let options = options().memory_bytes(memory).threads(threads);
        let (bytes, report) = builder(options, &pairs).finish_in_memory().unwrap();
        assert!(bytes == expected, "{memory} bytes, {threads} threads");
        assert!(memory > 1 << 21 || report.spilled_bytes > 1_000_000, "{memory} bytes: {report:?}");
    }
    // Nor does writing past the system's cache change the bytes.
    let folder = tempfile::tempdir().unwrap();
    for memory in [0, 1 << 30] {
        let path = folder.path().join(memory.to_string());
        builder(options().memory_bytes(memory), &pairs).finish(&path).unwrap();
        assert!(std::fs::read(path).unwrap() == expected, "{memory} bytes");
    }
    // Nor does the order matter.
    pairs.reverse();
    assert!(builder(options(), &pairs).finish_in_memory().unwrap().0 == expected);
}

#[test]
fn records_that_leave_gaps_are_placed() {
    // A page holds three records of 1052 bytes: at most 0.77 of it can be used. Three levels with
    // three slots per page fill to 0.73 of that.
    let pairs = pairs(3000, 3, |_| 24, |_| 1024);
    let (bytes, report) = builder(Options::new(), &pairs).finish_in_memory().unwrap();
    assert!(verify_in(&bytes).unwrap().is_whole());
    assert!(report.utilisation > 0.55, "{report:?}");
}

#[test]
fn mixed_sizes_fill_pages_well() {
    let pairs = pairs(40_000, 4, |_| 16, |random| below(random, 400) as usize);
    let (_, report) = builder(Options::new(), &pairs).finish_in_memory().unwrap();
    assert!(report.utilisation >= 0.95, "{report:?}");
    assert!(report.ram_bytes_per_key < 1.3, "{report:?}");
}

#[test]
fn keys_that_are_too_long_are_refused_and_building_goes_on() {
    let mut builder = Builder::new(Options::new()).unwrap();
    let error = builder.insert(&[7; 1025], b"").unwrap_err();
    assert!(matches!(error, Error::KeyTooLong { found: 1025 }), "{error}");
    builder.insert(&[7; 1024], b"").unwrap();
    assert_eq!(builder.len(), 1);
    assert_eq!(builder.finish_in_memory().unwrap().1.items, 1);
}

#[test]
fn options_out_of_range_are_named() {
    let bad = [
        (Options::new().miss_rate(0.0), "miss_rate"),
        (Options::new().miss_rate(f64::NAN), "miss_rate"),
        (Options::new().load(1.1), "load"),
        (Options::new().segment_pages(0), "segment_pages"),
        (Options::new().segment_pages(u32::MAX), "segment_pages"),
        (Options::new().threads(0), "threads"),
    ];
    for (options, name) in bad {
        let error = Builder::new(options).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_failure_leaves_nothing_behind_and_a_store_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let first = pairs(100, 5, |_| 16, |_| 10);
    builder(Options::new(), &first).finish(&path).unwrap();
    let old = std::fs::read(&path).unwrap();

    let mut refusing = builder(Options::new().duplicates(Duplicates::Refuse), &first);
    refusing.insert(&first[0].0, b"again").unwrap();
    refusing.finish(&path).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), old);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    // Missing folders, for the store or for temporary files.
    let error = builder(Options::new(), &first).finish(folder.path().join("no/such/a.store")).unwrap_err();
    assert!(error.to_string().starts_with("cannot lock the store"), "{error}");
    assert!(error.to_string().contains("no/such/a.store"), "{error}");
    let options = Options::new().temporary_folder(folder.path().join("no")).memory_bytes(0);
    let mut spilling = Builder::new(options).unwrap();
    let failed = first.iter().find_map(|(key, value)| spilling.insert(key, value).err()).unwrap();
    assert!(failed.to_string().starts_with("cannot make a temporary file"), "{failed}");
    assert!(failed.to_string().contains(folder.path().join("no").to_str().unwrap()), "{failed}");

    // A store replaces another as a whole, while the old one stays readable.
    let open = Sealed::open(&path).unwrap();
    let second = pairs(50, 6, |_| 16, |_| 10);
    builder(Options::new(), &second).finish(&path).unwrap();
    assert_eq!(Sealed::open(&path).unwrap().len(), 50);
    assert_eq!(open.get(&first[0].0).unwrap().as_ref(), Some(&first[0].1));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    // Every write to this device reports a full disk.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(mut full) = full else { return };
    let error = std::io::Write::write_all(&mut full, b"x").unwrap_err();
    let error = Error::Io { what: "write the store", path: None, source: error };
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[test]
fn progress_reaches_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = pairs(5000, 7, |_| 16, |_| 100);
    let mut seen = Vec::new();
    let builder = builder(Options::new().segment_pages(8).memory_bytes(1 << 16), &pairs);
    builder.finish_with_progress(folder.path().join("a"), |progress| seen.push(progress)).unwrap();
    assert!(seen.len() > 3 && seen.is_sorted_by_key(|progress| progress.done));
    let last = seen.last().unwrap();
    assert_eq!((last.done, last.total), (5000, 5000));
}

/// Set in a process that may only write small files: the folder to build in.
#[cfg(unix)]
const LIMITED: &str = "ONEREAD_TEST_LIMITED";

/// Large enough to be written in several pieces.
#[cfg(unix)]
fn several_megabytes() -> Pairs {
    pairs(30_000, 3, |_| 16, |random| if below(random, 100) == 0 { 3000 } else { 100 })
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_leaves_everything_as_it_was() {
    // A file size limit works like a full disk: one write is cut short, and the next one fails. The
    // shell sets the limit and ignores the signal that would end the process.
    if let Some(folder) = std::env::var_os(LIMITED) {
        let folder = std::path::PathBuf::from(folder);
        let options = Options::new().seed(7).temporary_folder(&folder);
        let mut builder = Builder::new(options).unwrap();
        let inserted = several_megabytes().iter().try_for_each(|(key, value)| builder.insert(key, value));
        let error = match inserted {
            Ok(()) => builder.finish(folder.join("a.store")).unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(error.to_string().starts_with("cannot write"), "{error}");
        // The error names the file, or the folder of temporary files.
        assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
        return;
    }
    let whole = builder(Options::new(), &several_megabytes()).finish_in_memory().unwrap().0.len();
    let folder = tempfile::tempdir().unwrap();
    let old = store(&pairs(10, 1, |_| 8, |_| 8));
    std::fs::write(folder.path().join("a.store"), &old).unwrap();
    // In blocks of 512 bytes, or of 1024 in some shells: nothing, a page, some pieces, all but the
    // last piece.
    for blocks in [0, 8, 100, 2000, whole / 3000, whole / 1024 - 1] {
        let ran = std::process::Command::new("sh")
            .arg("-c")
            .arg(format!("trap '' XFSZ; ulimit -f {blocks} && exec \"$0\" --exact \"$1\""))
            .arg(std::env::current_exe().unwrap())
            .arg("build::a_full_disk_is_an_error_and_leaves_everything_as_it_was")
            .env(LIMITED, folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{blocks} blocks: {said}");
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.store"], "{blocks} blocks");
        assert!(std::fs::read(folder.path().join("a.store")).unwrap() == old, "{blocks} blocks");
    }
}
