//! What a store reports about itself, and that threads can share it.

use oneread_store::{Builder, FileReader, MapReader, Options, Sealed, verify, verify_with_progress};

use super::{below, builder, model, pairs, store};

fn is_shared<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn all_readers_agree() {
    is_shared::<Sealed<FileReader>>();
    is_shared::<Sealed<MapReader>>();
    is_shared::<Sealed<Vec<u8>>>();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let pairs = pairs(3000, 1, |_| 20, |random| super::below(random, 2000) as usize);
    let report = builder(Options::new(), &pairs).finish(&path).unwrap();
    assert_eq!(report.disk_bytes, std::fs::metadata(&path).unwrap().len());
    let (in_memory, same) = builder(Options::new(), &pairs).finish_in_memory().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), in_memory);
    assert_eq!(report, same);
    let file = Sealed::open(&path).unwrap();
    // SAFETY: nobody else knows the file, and it is not written again.
    let map = unsafe { Sealed::open_mapped(&path) }.unwrap();
    let memory = Sealed::open_in(in_memory).unwrap();
    for (key, value) in &model(&pairs) {
        assert_eq!(file.get(key).unwrap().as_ref(), Some(value));
        assert_eq!(map.get(key).unwrap().as_ref(), Some(value));
        assert_eq!(memory.get(key).unwrap().as_ref(), Some(value));
    }
    let keys: Vec<_> = pairs.iter().map(|(key, _)| key).collect();
    for (found, (_, value)) in file.get_many(&keys).into_iter().zip(&pairs) {
        assert_eq!(found.unwrap().as_ref(), Some(value));
    }
    assert!(file.get_many::<&str>(&[]).is_empty());
    assert_eq!(file.iter().filter(Result::is_ok).count(), 3000);
    assert!(verify(&path).unwrap().is_whole() && map.verify().unwrap().is_whole());
    assert_eq!(file.stats().levels, map.stats().levels);
}

#[test]
fn threads_share_a_store() {
    let pairs = pairs(2000, 2, |_| 16, |_| 50);
    let store = Sealed::open_in(super::store(&pairs)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (key, value) in &pairs {
                    assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
                }
            });
        }
    });
    assert_eq!(store.reads().hits, 8000);
}

#[test]
fn a_lookup_may_look_up() {
    let mut builder = Builder::new(Options::new()).unwrap();
    builder.insert(b"a", b"b").unwrap();
    builder.insert(b"b", b"c").unwrap();
    let folder = tempfile::tempdir().unwrap();
    builder.finish(folder.path().join("s")).unwrap();
    let store = Sealed::open(folder.path().join("s")).unwrap();
    let followed = store.get_with(b"a", |next| store.get(next).unwrap()).unwrap();
    assert_eq!(followed, Some(Some(b"c".to_vec())));
}

#[test]
fn stats_add_up() {
    let pairs = pairs(20_000, 3, |_| 16, |_| 100);
    let bytes = builder(Options::new().segment_pages(200), &pairs).finish_in_memory().unwrap().0;
    let store = Sealed::open_in(bytes.clone()).unwrap();
    let stats = store.stats();
    assert_eq!(stats.items, 20_000);
    assert_eq!((stats.key_bytes, stats.value_bytes), (320_000, 2_000_000));
    assert_eq!(stats.disk_bytes, bytes.len() as u64);
    assert_eq!(stats.levels.iter().map(|level| level.items).sum::<u64>(), 20_000);
    assert_eq!(stats.levels.iter().map(|level| level.pages).sum::<u64>(), stats.pages);
    // A key, its value, two lengths and a tag are 119 bytes.
    let used = stats.utilisation * stats.pages as f64 * 4096.0;
    assert!((used - 20_000.0 * 119.0).abs() < 1.0, "{used}");
    // Two levels, the second a quarter of the first, up to rounding in each of three segments.
    assert_eq!(stats.segments, 3);
    let pages: Vec<_> = stats.levels.iter().map(|level| level.pages as f64).collect();
    assert!((pages[1] / pages[0] - 0.25).abs() < 0.02 && pages[2] == 0.0, "{pages:?}");
    let guides = stats.levels[0].pages * u64::from(stats.guide_bytes);
    assert_eq!(stats.guide_homes, 1);
    assert!(stats.ram_bytes >= guides && stats.ram_bytes < guides + 200, "{stats:?}");
    assert_eq!((stats.reads.per_hit(), stats.reads.per_miss()), (None, None));
}

#[test]
fn the_keys_of_all_pages_are_all_keys() {
    let pairs = pairs(3000, 9, |_| 12, |random| below(random, 1500) as usize);
    let store = Sealed::open_in(store(&pairs)).unwrap();
    let pages = store.stats().pages;
    let mut keys: Vec<_> = (0..pages).flat_map(|page| store.keys_on_page(page).unwrap()).collect();
    keys.sort_unstable();
    // Big-endian numbers sort numerically.
    assert!(keys.iter().eq(pairs.iter().map(|(key, _)| key)));
    assert!(
        store.keys_on_page(pages).unwrap().is_empty() && store.keys_on_page(u64::MAX).unwrap().is_empty()
    );
}

#[test]
fn verifying_tells_how_far_it_is_with_and_without_a_summary() {
    let mut bytes = store(&pairs(100_000, 9, |_| 12, |_| 100));
    for damaged in [false, true] {
        if damaged {
            *bytes.last_mut().unwrap() ^= 1;
        }
        let (mut last, mut told) = (0, 0);
        let found = verify_with_progress(&bytes, |progress| {
            assert!(progress.done > last && progress.done <= progress.total);
            (last, told) = (progress.done, told + 1);
        });
        let found = found.unwrap();
        assert_eq!((found.is_whole(), found.pages), (!damaged, last));
        assert!(told > 1 && last == Sealed::open_in(&bytes[..]).map_or(last, |store| store.stats().pages));
    }
}
