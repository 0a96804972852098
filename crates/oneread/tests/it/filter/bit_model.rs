//! The obviously correct model of filters of bits: a set of the bits that are 1.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::payload_of_bits;

/// The bits that are 1, one by one.
pub(super) struct BitModel {
    pub(super) ones: BTreeSet<u64>,
    words: u64,
    bits_of: Box<dyn Fn(u64) -> Vec<u64>>,
}

impl BitModel {
    /// A model of `words` words; `bits_of` names the bits of a key.
    pub(super) fn new(words: u64, bits_of: impl Fn(u64) -> Vec<u64> + 'static) -> Self {
        Self { ones: BTreeSet::new(), words, bits_of: Box::new(bits_of) }
    }

    pub(super) fn contains(&self, key: u64) -> bool {
        (self.bits_of)(key).iter().all(|bit| self.ones.contains(bit))
    }

    pub(super) fn insert(&mut self, key: u64) -> bool {
        let before = self.contains(key);
        self.ones.extend((self.bits_of)(key));
        before
    }

    pub(super) fn payload(&self) -> Vec<u8> {
        payload_of_bits(self.ones.iter().copied(), self.words)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Insert(u64),
    Clear,
    Union(Vec<u64>),
    Intersect(Vec<u64>),
    Extend(Vec<u64>),
    SaveAndLoad,
    InsertAtomically(u64),
}

/// Few keys, so that sequences repeat them.
pub(super) const KEYS: u64 = 60;

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let keys = || prop::collection::vec(0..KEYS, 0..40);
    let step = prop_oneof![
        6 => (0..KEYS).prop_map(Step::Insert),
        1 => Just(Step::Clear),
        1 => keys().prop_map(Step::Union),
        1 => keys().prop_map(Step::Intersect),
        1 => keys().prop_map(Step::Extend),
        1 => Just(Step::SaveAndLoad),
        2 => (0..KEYS).prop_map(Step::InsertAtomically),
    ];
    prop::collection::vec(step, 1..30)
}

/// Takes steps with a filter and its model. `$filled` makes both of some keys, and `$check`
/// compares what is special to the filter.
macro_rules! does_what_bits_do {
    ($filter:ident, $atomic:ident, $view:ident, $steps:expr, $filled:expr, $check:expr) => {{
        let filled = $filled;
        let (mut filter, mut model): ($filter, BitModel) = filled(&[]);
        // The keys that must be found, whatever bits they share. Intersections may remove keys.
        let mut inserted = std::collections::BTreeSet::new();
        for step in $steps {
            match step {
                Step::Insert(key) => {
                    prop_assert_eq!(filter.insert(&key), model.insert(key));
                    inserted.insert(key);
                }
                Step::Clear => {
                    filter.clear();
                    model.ones.clear();
                    inserted.clear();
                }
                Step::Union(keys) => {
                    let (other, other_model) = filled(&keys);
                    filter.union(&other).unwrap();
                    model.ones.extend(other_model.ones);
                    inserted.extend(keys);
                }
                Step::Intersect(keys) => {
                    let (other, other_model) = filled(&keys);
                    // The same in an atomic filter.
                    let mut again = filter.clone();
                    filter.intersect(&other).unwrap();
                    again.intersect(&$atomic::from(other)).unwrap();
                    prop_assert!(filter == again);
                    model.ones.retain(|one| other_model.ones.contains(one));
                    inserted.retain(|key| keys.contains(key));
                }
                Step::Extend(keys) => {
                    filter.extend(&keys);
                    keys.iter().for_each(|&key| _ = model.insert(key));
                    inserted.extend(keys);
                }
                Step::SaveAndLoad => {
                    let bytes = filter.to_bytes();
                    filter = $filter::from_bytes(&bytes).unwrap();
                    let view = $view::open(&bytes).unwrap();
                    prop_assert!(*view == filter);
                    prop_assert!((0..KEYS).all(|key| view.contains(&key) == filter.contains(&key)));
                }
                Step::InsertAtomically(key) => {
                    let atomic = $atomic::from(filter);
                    prop_assert_eq!(atomic.contains(&key), model.contains(key));
                    prop_assert_eq!(atomic.insert(&key), model.insert(key));
                    prop_assert!(atomic.contains(&key));
                    filter = $filter::from(atomic);
                    inserted.insert(key);
                }
            }
            prop_assert_eq!(payload(&filter), model.payload());
            prop_assert_eq!(filter.ones(), model.ones.len() as u64);
            prop_assert_eq!(filter.is_empty(), model.ones.is_empty());
            prop_assert!($check(&filter, &model));
            for key in 0..KEYS {
                prop_assert_eq!(filter.contains(&key), model.contains(key), "key {}", key);
            }
            prop_assert!(inserted.iter().all(|key| filter.contains(key)), "a key was forgotten");
        }
    }};
}

pub(super) use does_what_bits_do;
