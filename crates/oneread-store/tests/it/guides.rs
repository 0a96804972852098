//! Lookups whose caller reads the pages: the same answers, with the same reads, as the store's own.

use oneread_store::{Builder, Error, Guides, Options, Sealed, Step};

const KEYS: u32 = 5000;

fn key(number: u32) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// Every hundredth value is too large to lie beside its key.
fn value(number: u32) -> Vec<u8> {
    vec![number as u8; if number.is_multiple_of(100) { 3000 } else { number as usize % 50 }]
}

fn store() -> Vec<u8> {
    let mut builder = Builder::new(Options::new().seed(5).segment_pages(16)).unwrap();
    for number in 0..KEYS {
        builder.insert(&key(number), &value(number)).unwrap();
    }
    builder.finish_in_memory().unwrap().0
}

fn guides(store: &[u8]) -> Result<Guides, Error> {
    let header = &store[..Guides::HEADER_BYTES];
    let range = Guides::range(header)?;
    assert_eq!(range.end, store.len() as u64);
    Guides::open(header, &store[range.start as usize..])
}

#[test]
fn a_caller_reads_what_the_store_reads() {
    let store = store();
    let guides = guides(&store).unwrap();
    let sealed = Sealed::open_in(&store).unwrap();
    assert_eq!((guides.len(), guides.seed()), (sealed.len(), sealed.seed()));
    assert_eq!(guides.ram_bytes(), sealed.stats().ram_bytes);
    let (mut pages, mut runs) = (0, 0);
    for number in 0..4 * KEYS {
        let key = key(number);
        let mut search = guides.search(&key);
        let mut found = None;
        while let Some(range) = search.range() {
            if range.end - range.start == 4096 {
                pages += 1;
            } else {
                runs += 1;
            };
            if let Step::Found(value) = search.read(&store[range.start as usize..range.end as usize]).unwrap()
            {
                found = Some(value.to_vec());
            }
        }
        assert_eq!(found, (number < KEYS).then(|| value(number)));
        assert_eq!(found, sealed.get(&key).unwrap());
    }
    let reads = sealed.stats().reads;
    assert_eq!((pages, runs), (reads.hit_pages + reads.miss_pages, reads.runs));
    assert_eq!(runs, u64::from(KEYS) / 100);
}

#[test]
fn every_page_names_its_keys_and_no_other_page_passes_for_it() {
    let store = store();
    let guides = guides(&store).unwrap();
    let page = |number: u64| {
        let range = guides.page_range(number);
        &store[range.start as usize..range.end as usize]
    };
    let all: usize =
        (0..guides.pages()).map(|number| guides.keys_on(number, page(number)).unwrap().len()).sum();
    assert_eq!(all, KEYS as usize);
    assert!(matches!(guides.keys_on(1, page(0)), Err(Error::Page { page: 1, .. })));
    assert!(matches!(guides.keys_on(guides.pages(), page(0)), Err(Error::Page { .. })));
    assert!(matches!(guides.keys_on(0, &page(0)[1..]), Err(Error::Page { .. })));
}

#[test]
fn damaged_bytes_are_errors_and_can_be_read_again() {
    let store = store();
    let guides = guides(&store).unwrap();
    for number in [0, 1, 100, 101] {
        let key = key(number);
        let mut search = guides.search(&key);
        let mut found = None;
        while let Some(range) = search.range() {
            let bytes = &store[range.start as usize..range.end as usize];
            let mut damaged = bytes.to_vec();
            damaged[bytes.len() / 2] ^= 1;
            assert!(search.read(&damaged).unwrap_err().is_damage());
            assert!(search.read(&bytes[1..]).unwrap_err().is_damage());
            assert_eq!(search.range(), Some(range.clone()));
            if let Step::Found(value) = search.read(bytes).unwrap() {
                found = Some(value.to_vec());
            }
        }
        assert_eq!(found, Some(value(number)));
    }
    let header = &store[..Guides::HEADER_BYTES];
    let range = Guides::range(header).unwrap();
    let section = &store[range.start as usize..];
    assert!(Guides::range(&header[1..]).is_err());
    assert!(Guides::range(&[]).is_err());
    for at in [0, 8, 100, section.len() - 1] {
        let mut damaged = section.to_vec();
        damaged[at] ^= 1;
        assert!(Guides::open(header, &damaged).unwrap_err().is_damage(), "{at}");
    }
    assert!(Guides::open(header, &section[1..]).unwrap_err().is_damage());
    assert!(Guides::open(header, &[]).unwrap_err().is_damage());
}
