use oneread_study::hash::family::{Independent, Universal};

const PAIRS: Independent = Independent { k: 2, c: 1.5 };

#[test]
fn lemma_m_doubles_universality_and_quadruples_independence() {
    assert_eq!(PAIRS.modulo_universal(101, 100), Universal { c: 3.0 });
    assert_eq!(PAIRS.modulo(101, 100), Independent { k: 2, c: 6.0 });
    // For k keys, 2^k.
    assert_eq!(Independent { k: 5, c: 1.0 }.modulo(101, 100), Independent { k: 5, c: 32.0 });
}

#[test]
fn lemma_k_doubles_from_two_k_m_on() {
    // 2·5·100 = 1000.
    let five = Independent { k: 5, c: 1.5 };
    assert_eq!(five.modulo(999, 100).c, 48.0);
    assert_eq!(five.modulo(1001, 100).c, 3.0);
}

#[test]
fn classes_of_equal_size_cost_nothing() {
    assert_eq!(PAIRS.modulo(1000, 100), PAIRS);
    assert_eq!(PAIRS.modulo_universal(1000, 100), Universal { c: 1.5 });
}

#[test]
fn lemma_g_weighs_collisions_by_the_ratio_of_the_ranges() {
    // (c·m/r + 1)·d: (3·100/400 + 1)·2 = 3.5.
    let outer = Independent { k: 2, c: 2.0 };
    assert_eq!(Universal { c: 3.0 }.then(400, outer, 100), Independent { k: 2, c: 3.5 });
    // More independence of the outer family does not help.
    assert_eq!(
        Universal { c: 3.0 }.then(400, Independent { k: 7, c: 2.0 }, 100),
        Independent { k: 2, c: 3.5 }
    );
    let single = Independent { k: 1, c: 2.0 };
    assert_eq!(Universal { c: 3.0 }.then(400, single, 100), single);
}

#[test]
fn one_independence_promises_nothing_about_collisions() {
    // Exercise 1: the constant functions are (1, 1)-independent, and all keys collide under each.
    assert_eq!(Independent { k: 1, c: 1.0 }.universal(100), Universal { c: 100.0 });
    assert_eq!(Independent { k: 1, c: 1.0 }.modulo_universal(1001, 100), Universal { c: 100.0 });
    assert_eq!(PAIRS.universal(100), Universal { c: 1.5 });
}

#[test]
fn absurd_arguments_do_not_panic() {
    let huge = Independent { k: usize::MAX, c: 1.0 };
    assert_eq!(huge.modulo(u128::MAX, u128::MAX - 1).c, f64::INFINITY);
    assert_eq!(PAIRS.modulo(0, 0).k, 2);
    assert!(Universal { c: 1.0 }.then(0, PAIRS, 0).c.is_nan());
}
