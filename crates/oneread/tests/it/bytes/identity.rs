//! A file names the digester that made it, and no secret.

use oneread::bytes::{Identified, Identity, LoadError, Saved, Viewed};
use oneread::filter::{
    BlockedBloomFilter, BloomFilter, BloomView, CountMinSketch, CountingBloomFilter, GrowingFilter,
};
use oneread::hash::{Keyed, Portable};
use oneread::layout::{BlockedLayout, BloomLayout, CountMinLayout, CountingLayout, GrowingLayout};
use oneread_study::hash::Ideal;

use super::{DIGESTER, SEED, bloom};

const SECRET: [u8; 16] = *b"sixteen secrets!";

fn layout() -> BloomLayout {
    BloomLayout::new(1000, 5).unwrap()
}

fn keyed() -> BloomFilter<Keyed> {
    let mut filter = BloomFilter::with_digester(layout(), Keyed::with_secret(SECRET)).unwrap();
    (0..50u64).for_each(|key| _ = filter.insert(&key));
    filter
}

#[test]
fn the_digester_given_must_be_the_one_that_made_the_file() {
    let bytes = bloom().to_bytes();
    let seed = bloom().digester().seed();
    assert!(BloomFilter::from_bytes_with(&bytes, Portable::with_seed(seed)).is_ok());
    assert!(BloomFilter::load_with(&*bytes, Portable::with_seed(seed)).is_ok());
    assert!(BloomView::open_with(&bytes, Portable::with_seed(seed)).is_ok());
    let other = Portable::with_seed(seed + 1);
    assert!(matches!(BloomFilter::from_bytes_with(&bytes, other), Err(LoadError::Digester)));
    assert!(matches!(BloomFilter::load_with(&*bytes, other), Err(LoadError::Digester)));
    assert!(matches!(BloomView::open_with(&bytes, other), Err(LoadError::Digester)));
    let other = Ideal::with_seed(seed);
    assert!(matches!(BloomFilter::from_bytes_with(&bytes, other), Err(LoadError::Digester)));
    let other = Keyed::with_secret(SECRET);
    assert!(matches!(BloomFilter::from_bytes_with(&bytes, other), Err(LoadError::Digester)));
}

#[test]
fn keyed_filters_are_loaded_with_their_secret_only() {
    let (filter, secret) = (keyed(), Keyed::with_secret(SECRET));
    let bytes = filter.to_bytes();
    assert!(matches!(BloomFilter::<Keyed>::from_bytes(&bytes), Err(LoadError::DigesterNeeded)));
    assert!(matches!(BloomFilter::<Keyed>::load(&*bytes), Err(LoadError::DigesterNeeded)));
    let view: Result<BloomView<'_, Keyed>, LoadError> = Viewed::open(&bytes);
    assert!(matches!(view, Err(LoadError::DigesterNeeded)));
    assert!(BloomFilter::<Portable>::from_bytes(&bytes).is_err());
    let wrong = Keyed::with_secret([0; 16]);
    assert!(matches!(BloomFilter::from_bytes_with(&bytes, wrong), Err(LoadError::Digester)));
    assert!(matches!(BloomView::open_with(&bytes, wrong), Err(LoadError::Digester)));
    let loaded = BloomFilter::from_bytes_with(&bytes, secret).unwrap();
    let streamed = BloomFilter::load_with(&*bytes, secret).unwrap();
    let view = BloomView::open_with(&bytes, secret).unwrap();
    view.verify().unwrap();
    for key in 0..1000u64 {
        assert_eq!(loaded.contains(&key), filter.contains(&key));
        assert_eq!(streamed.contains(&key), filter.contains(&key));
        assert_eq!(view.contains(&key), filter.contains(&key));
    }
    assert_eq!(loaded.to_bytes(), bytes);
}

#[test]
fn no_file_contains_the_secret() {
    let digester = Keyed::with_secret(SECRET);
    let mut files = [
        keyed().to_bytes(),
        BlockedBloomFilter::with_digester(BlockedLayout::new(2).unwrap(), digester).unwrap().to_bytes(),
        CountingBloomFilter::with_digester(CountingLayout::new(9, 2, 4).unwrap(), digester)
            .unwrap()
            .to_bytes(),
        CountMinSketch::with_digester(CountMinLayout::new(9, 2).unwrap(), digester).unwrap().to_bytes(),
        GrowingFilter::with_digester(GrowingLayout::new(9, 0.1).unwrap(), digester).unwrap().to_bytes(),
    ];
    for bytes in &mut files {
        // Not even half of it, in either byte order.
        for half in [&SECRET[..8], &SECRET[8..]] {
            let reversed: Vec<u8> = half.iter().rev().copied().collect();
            assert!(!bytes.windows(8).any(|window| window == half || window == reversed));
        }
        assert_eq!(&bytes[DIGESTER..DIGESTER + 2], &[2, 0]);
    }
    // The fingerprint of the secret is the same in all files, so that related files can be
    // recognised.
    assert!(files.iter().all(|bytes| bytes[SEED..SEED + 16] == files[0][SEED..SEED + 16]));
}

#[test]
fn identities_have_the_numbers_of_the_format() {
    let seed = 0x0123_4567_89ab_cdef;
    let wide = [0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(Portable::with_seed(seed).identity(), Identity { digester: 1, seed: wide });
    assert_eq!(Ideal::with_seed(seed).identity(), Identity { digester: 3, seed: wide });
    // SipHash-2-4-128 of "oneread: the secret that made this file" under the key 00..0f, by the
    // function in tests/golden/digest_vectors.py.
    let secret = std::array::from_fn(|i| i as u8);
    let stands_for_it = u128::from_str_radix(KEYED_IDENTITY, 16).unwrap().to_le_bytes();
    assert_eq!(Keyed::with_secret(secret).identity(), Identity { digester: 2, seed: stands_for_it });

    assert_eq!(
        Portable::from_identity(&Identity { digester: 1, seed: wide }),
        Some(Portable::with_seed(seed))
    );
    assert_eq!(Portable::from_identity(&Identity { digester: 3, seed: wide }), None);
    assert_eq!(Ideal::from_identity(&Identity { digester: 3, seed: wide }), Some(Ideal::with_seed(seed)));
    assert_eq!(Ideal::from_identity(&Identity { digester: 1, seed: wide }), None);
    // None of these digesters has a seed of more than 64 bits.
    let too_wide = [1; 16];
    assert_eq!(Portable::from_identity(&Identity { digester: 1, seed: too_wide }), None);
    assert_eq!(Ideal::from_identity(&Identity { digester: 3, seed: too_wide }), None);
    assert!(Keyed::from_identity(&Identity { digester: 2, seed: stands_for_it }).is_none());
}

const KEYED_IDENTITY: &str = "9fdd268c7d3b774ac616cdfd5cf2051b";
