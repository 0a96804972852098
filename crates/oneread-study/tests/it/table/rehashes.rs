//! Cuckoo tables with 10 to a million items rehash as seldom as the theorem says.

use oneread_study::hash::Ideal;
use oneread_study::table::{CuckooTable, Digested, StudyTable};

use crate::fixtures::chernoff_most;

/// With m = (2 + ε)·n buckets, c = 2n/m = 1/(1 + ε/2) and a timeout of t moves, an insertion leads
/// to a rehash only if
///
/// - the items and their buckets, as edges and vertices, have a connected part with two cycles.
///   Such a part has a path of k vertices whose ends have one more edge each, back into it. There
///   are at most m^k·k²/2 ways, n^(k+1) choices of items, and a probability of (2/m²)^(k+1) that
///   they have these buckets. The sum over k of k²·c^(k+1)/(2m) is c²·(1 + c)/(1 − c)³/(2m);
/// - or one of its two buckets has a simple path of l = t/3 − 1 other items. A third of a walk of t
///   moves follows a simple path from its start (Pagh, Rodler, "Cuckoo Hashing", 2004, lemma 1). On
///   average there are c^l such paths, for each of n insertions and 2 buckets.
fn rehash_bound(items: f64, epsilon: f64) -> f64 {
    let c = 1.0 / (1.0 + epsilon / 2.0);
    let timeout = (6.0 * items.log2()).ceil();
    let cyclic = c * c * (1.0 + c) / (1.0 - c).powi(3) / (2.0 * (2.0 + epsilon) * items);
    cyclic + 2.0 * items * c.powf((timeout / 3.0).ceil() - 1.0)
}

fn cuckoo_tables_seldom_rehash(items: u64, epsilon: f64, tables: u64) {
    let mut rehashed = 0;
    for number in 0..tables {
        let mut seed = number << 32;
        let draw = move |_| {
            seed += 1;
            Digested(Ideal::with_seed(seed))
        };
        let mut table = CuckooTable::for_items(items, epsilon, draw).unwrap();
        (0..items).for_each(|key| assert_eq!(table.insert(key, ()), Ok(None)));
        assert!((0..items).all(|key| table.get(&key).is_some()));
        rehashed += u64::from(table.rehashes() > 0);
    }
    let most = chernoff_most(rehash_bound(items as f64, epsilon) * tables as f64, 1e-9);
    assert!(
        rehashed as f64 <= most,
        "{items} items, ε = {epsilon}: {rehashed} of {tables} tables, at most {most}"
    );
}

#[test]
fn cuckoo_tables_rehash_as_seldom_as_the_theorem_says() {
    for epsilon in [2.0, 6.0] {
        for (items, tables) in [(10, 20_000), (100, 5000), (10_000, 40)] {
            cuckoo_tables_seldom_rehash(items, epsilon, tables);
        }
    }
}

#[test]
#[ignore = "long: about 5 s"]
fn cuckoo_tables_of_a_million_items_seldom_rehash() {
    cuckoo_tables_seldom_rehash(1_000_000, 2.0, 4);
    cuckoo_tables_seldom_rehash(1_000_000, 0.5, 2);
}
