//! d-left layouts keep their parameters, divide bits as the paper does, and refuse invalid
//! parameters.

use oneread::layout::{BucketBits, DLeftLayout, LayoutError, MAX_PLACES, Quantity, Semisort, Ties};

#[test]
fn refuses_what_no_filter_can_have() {
    use BucketBits::{Bits64, Bits128};
    assert_eq!(DLeftLayout::new(0, 1, Bits64), Err(LayoutError::Zero { what: Quantity::Subtables }));
    assert_eq!(DLeftLayout::uneven(&[], Bits64), Err(LayoutError::Zero { what: Quantity::Subtables }));
    for found in [9, u32::MAX] {
        let error = LayoutError::TooLarge { what: Quantity::Subtables, expected: 8, found: u64::from(found) };
        assert_eq!(DLeftLayout::new(found, 1, Bits64), Err(error));
    }
    assert_eq!(DLeftLayout::new(3, 0, Bits64), Err(LayoutError::Zero { what: Quantity::Buckets }));
    assert_eq!(DLeftLayout::uneven(&[1, 0], Bits64), Err(LayoutError::Zero { what: Quantity::Buckets }));
    for buckets in [MAX_PLACES / 128 + 1, u64::MAX] {
        assert!(matches!(DLeftLayout::new(1, buckets, Bits128), Err(LayoutError::TooLarge { .. })));
    }
    assert!(DLeftLayout::new(1, MAX_PLACES / 128, Bits128).is_ok());
    assert!(DLeftLayout::new(2, MAX_PLACES / 128, Bits128).is_err());
    assert!(DLeftLayout::uneven(&[16, 1], Bits64).is_ok());
    assert!(DLeftLayout::uneven(&[17, 1], Bits64).is_err());

    let layout = DLeftLayout::uneven(&[8, 4], Bits64).unwrap();
    assert_eq!(layout.with_group(0), Err(LayoutError::Zero { what: Quantity::BucketsPerGroup }));
    assert!(layout.with_group(5).is_err());
    assert!(layout.with_group(17).is_err());
    assert!(layout.with_group(4).is_ok());
}

#[test]
fn keeps_its_parameters() {
    let layout = DLeftLayout::new(3, 1025, BucketBits::Bits128).unwrap();
    assert_eq!(layout.buckets(), [1025; 3]);
    assert_eq!((layout.semisort(), layout.group(), layout.ties()), (Semisort::Paper, 1, Ties::Left));
    assert_eq!((layout.total_buckets(), layout.bits(), layout.byte_len()), (3075, 393_600, 49_200));
    let layout = layout.with_semisort(Semisort::One).with_ties(Ties::Random).with_group(4).unwrap();
    assert_eq!((layout.semisort(), layout.group(), layout.ties()), (Semisort::One, 4, Ties::Random));
    // Rounded down to whole groups.
    assert_eq!(layout.buckets(), [1024; 3]);
    let uneven = DLeftLayout::uneven(&[256, 128, 128], BucketBits::Bits64).unwrap();
    assert_eq!((uneven.buckets(), uneven.capacity()), (&[256, 128, 128][..], 6));
}

#[test]
fn fingerprints_have_the_paper_s_lengths() {
    let lengths = |bits, semisort| -> Vec<u32> {
        let layout = DLeftLayout::new(3, 1, bits).unwrap().with_semisort(semisort);
        (0..=layout.capacity()).map(|load| layout.fingerprint_bits(load, load)).collect()
    };
    assert_eq!(lengths(BucketBits::Bits64, Semisort::None), [0, 60, 30, 20, 15, 12, 10]);
    assert_eq!(lengths(BucketBits::Bits64, Semisort::One), [0, 60, 30, 20, 16, 13, 10]);
    assert_eq!(lengths(BucketBits::Bits64, Semisort::Paper), [0, 60, 30, 20, 16, 13, 10]);
    let plain = lengths(BucketBits::Bits128, Semisort::None);
    assert_eq!(plain, [0, 120, 60, 40, 30, 24, 20, 17, 15, 13, 12, 10]);
    let one = lengths(BucketBits::Bits128, Semisort::One);
    assert!(plain.iter().zip(&one).skip(1).all(|(plain, one)| plain + 1 == *one));
    let paper = lengths(BucketBits::Bits128, Semisort::Paper);
    assert_eq!(paper, [0, 121, 61, 41, 31, 25, 22, 19, 16, 14, 13, 10]);
}

#[test]
fn a_group_shares_its_bits() {
    let layout = DLeftLayout::new(3, 4, BucketBits::Bits64).unwrap().with_group(4).unwrap();
    // The paper's example: loads 5, 4, 4, 3 have 15 bits each, and the state implies one more at 4
    // and 5.
    assert_eq!([5, 4, 3].map(|load| layout.fingerprint_bits(load, 16)), [16, 16, 15]);
}

#[test]
fn stored_bits_and_states_fit_into_a_bucket() {
    for (bits, states) in [(BucketBits::Bits64, 16), (BucketBits::Bits128, 256)] {
        for semisort in [Semisort::None, Semisort::One, Semisort::Paper] {
            let layout = DLeftLayout::new(3, 1, bits).unwrap().with_semisort(semisort);
            let mut needed = 0;
            for load in 0..=layout.capacity() {
                // No implied bits: the load alone. One: how many begin with 0. Two: how the load
                // divides among four.
                let plain = layout.with_semisort(Semisort::None).fingerprint_bits(load, load);
                let told = layout.fingerprint_bits(load, load) - plain;
                needed += [1, load + 1, (load + 1) * (load + 2) * (load + 3) / 6][told as usize];
                assert!(load * plain <= bits.fingerprint_space());
            }
            assert!(needed <= states, "{needed} states of {states}");
            if semisort == Semisort::Paper {
                assert_eq!(needed, states);
            }
        }
    }
}
