//! Section 6.1: tests the families' theorems with every function of small fields and words on every
//! key.
//!
//! The measured value is the smallest constant c of the definition, with no chance involved. The
//! calculation is its closed form, where there is one. Elsewhere it is the constant that `oneread`
//! promises, and c may be smaller.

use oneread_study::hash::family::{
    AffineScalarProduct, AnyPrime, FamilyError, HashFunction, Linear, LinearNonzero, MultiplyAddShift,
    MultiplyShift, Polynomial, Rolling, ScalarProduct, Tabulation,
};

use super::census::{Census, vectors};
use super::new;
use crate::experiment::Error;
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// Fields small enough to enumerate.
const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        linear_is_universal(),
        linear_nonzero_is_universal(),
        linear_is_independent(false),
        linear_is_independent(true),
        degree_of_polynomials(),
        polynomials_are_independent(),
        reduced_polynomials_are_independent(),
        multiply_shift_is_universal(),
        multiply_add_shift_is_independent(),
        multiply_add_shift_in_wider_words(),
        tabulation_is_three_independent(),
        tabulation_is_not_four_independent(),
        scalar_products_are_universal(),
        affine_scalar_products_are_independent(),
        rolling_is_universal(),
        degree_of_rolling(),
        rolling_then_linear_is_independent(),
    ]
}

fn field(prime: u64) -> AnyPrime {
    AnyPrime::new(prime).expect("a prime")
}

/// The largest of several constants, each found by enumeration.
fn largest(constants: impl IntoIterator<Item = Result<f64, Error>>) -> Result<Measured, Error> {
    let constants: Vec<f64> = constants.into_iter().collect::<Result<_, _>>()?;
    Ok(Measured::exhaustive(constants.into_iter().fold(0.0, f64::max)))
}

/// A promised constant and the one found, which may be lower.
fn promised(c: f64, found: Measured) -> Finding {
    Finding::calculated(c).at_most_lower_by(c).and_measured(found)
}

/// Small fields with all numbers of buckets: p and m.
fn fields_and_buckets() -> impl Iterator<Item = (u64, u64)> {
    PRIMES.into_iter().flat_map(|p| (1..=p).map(move |m| (p, m)))
}

/// The sizes of the residue classes of [p] modulo m.
fn class_sizes(p: u64, m: u64) -> impl Iterator<Item = u64> {
    (0..m).map(move |residue| p / m + u64::from(residue < p % m))
}

/// All functions of L.
fn all_linear(p: u64, m: u64) -> impl Iterator<Item = Linear<AnyPrime>> {
    (0..p * p).map(move |i| Linear::new(field(p), i / p, i % p, m).expect("parameters in the field"))
}

fn linear_is_universal() -> Experiment {
    new(
        "6.1/linear-universal",
        "L is 2-universal (6.1, linear congruence): the smallest constant in all fields up to 13, with any m",
        Printed::at_most("2"),
        |_| {
            let measured =
                largest(fields_and_buckets().map(|(p, m)| {
                    Ok(Census::of(&(0..p).collect::<Vec<_>>(), all_linear(p, m))?.universal())
                }))?;
            // (r, s) takes each value of [p]² once, so two keys collide for the pairs in a common
            // class.
            let exact = fields_and_buckets().map(|(p, m)| {
                let colliding: u64 = class_sizes(p, m).map(|size| size * size).sum();
                (colliding * m) as f64 / (p * p) as f64
            });
            Ok(Finding::calculated(exact.fold(0.0, f64::max)).and_measured(measured))
        },
    )
}

fn linear_nonzero_is_universal() -> Experiment {
    new(
        "6.1/linear-nonzero-universal",
        "L′, without a = 0, is 1-universal (6.1, linear congruence): the smallest constant in all fields up to 13",
        Printed::at_most("1.0"),
        |_| {
            let measured = largest(fields_and_buckets().map(|(p, m)| {
                let functions = (p..p * p).map(|i| LinearNonzero::new(field(p), i / p, i % p, m));
                let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
                Ok(Census::of(&(0..p).collect::<Vec<_>>(), functions)?.universal())
            }))?;
            let exact = fields_and_buckets().map(|(p, m)| {
                let colliding: u64 = class_sizes(p, m).map(|size| size * size.saturating_sub(1)).sum();
                (colliding * m) as f64 / (p * (p - 1)) as f64
            });
            Ok(Finding::calculated(exact.fold(0.0, f64::max)).and_measured(measured))
        },
    )
}

fn linear_is_independent(large_field: bool) -> Experiment {
    let (name, claim, printed) = if large_field {
        (
            "6.1/linear-independent-large-field",
            "L is (2, 2)-independent if p ≥ 4m (6.1, lemma K's example)",
            "2",
        )
    } else {
        ("6.1/linear-independent", "L is (2, 4)-independent (6.1, linear congruence)", "4")
    };
    new(
        name,
        format!("{claim}: the smallest constant in all fields up to 13"),
        Printed::at_most(printed),
        move |_| {
            let cases = || fields_and_buckets().filter(|(p, m)| !large_field || *p >= 4 * m);
            let measured = largest(cases().map(|(p, m)| {
                Ok(Census::of(&(0..p).collect::<Vec<_>>(), all_linear(p, m))?.independent(2))
            }))?;
            // Both keys may be in the largest class.
            let exact = cases().map(|(p, m)| ((p.div_ceil(m) * m) as f64 / p as f64).powi(2));
            Ok(Finding::calculated(exact.fold(0.0, f64::max)).and_measured(measured))
        },
    )
}

/// All functions of Pₖ.
fn all_polynomials(p: u64, k: u32) -> impl Iterator<Item = Polynomial<AnyPrime>> {
    vectors(p, k)
        .into_iter()
        .map(move |coefficients| Polynomial::new(field(p), coefficients).expect("coefficients in the field"))
}

/// The degree of a function from a field to itself: the number of differences that make it 0, minus
/// one.
fn degree(function: &Polynomial<AnyPrime>, p: u64) -> Result<u32, Error> {
    let mut values: Vec<u64> = (0..p).map(|key| function.hash(&key)).collect::<Result<_, _>>()?;
    let mut differences = 0;
    while values.iter().any(|&value| value != 0) {
        values = (0..values.len()).map(|x| (values[(x + 1) % values.len()] + p - values[x]) % p).collect();
        differences += 1;
    }
    Ok(u32::saturating_sub(differences, 1))
}

fn degree_of_polynomials() -> Experiment {
    const PRIME: u64 = 7;
    const K: u32 = 3;
    new(
        "6.1/polynomial-degree",
        "P_k has polynomials of degree k, of which one goes through k given points (6.1, polynomial hashing): the highest \
         degree in P_3 over the field of 7",
        Printed::number("3"),
        |_| {
            let degrees = all_polynomials(PRIME, K).map(|function| degree(&function, PRIME).map(f64::from));
            let note = "k coefficients make degree k − 1, and the lemma is right for that";
            // A polynomial of k coefficients has degree at most k − 1.
            Ok(Finding::calculated(f64::from(K - 1)).and_measured(largest(degrees)?).note(note))
        },
    )
}

fn polynomials_are_independent() -> Experiment {
    new(
        "6.1/polynomial-independent",
        "P_k is (k, 1)-independent (6.1, polynomial hashing): the smallest constant for k up to 4 in small fields",
        Printed::at_most("1.0"),
        |_| {
            let cases = [(5, 1), (5, 2), (5, 3), (5, 4), (7, 3), (3, 3)];
            let measured = largest(cases.map(|(p, k)| {
                Ok(Census::of(&(0..p).collect::<Vec<_>>(), all_polynomials(p, k))?.independent(k))
            }))?;
            // One polynomial of p^k goes through k points.
            Ok(Finding::calculated(1.0).and_measured(measured))
        },
    )
}

fn reduced_polynomials_are_independent() -> Experiment {
    new(
        "6.1/polynomial-modulo",
        "P_k mod m is (k, 2)-independent if p ≥ 2km (6.1, polynomial hashing): the smallest constant in the smallest such \
         fields",
        Printed::at_most("2"),
        |_| {
            let cases = [(5, 1, 2), (11, 2, 2), (13, 2, 3), (13, 3, 2), (17, 4, 2)];
            let measured = largest(cases.map(|(p, k, m)| {
                let functions: Result<Vec<_>, FamilyError> =
                    all_polynomials(p, k).map(|polynomial| polynomial.modulo(m)).collect();
                Ok(Census::of(&(0..p).collect::<Vec<_>>(), functions?)?.independent(k))
            }))?;
            let exact = cases.map(|(p, k, m)| ((p.div_ceil(m) * m) as f64 / p as f64).powi(k as i32));
            Ok(Finding::calculated(exact.into_iter().fold(0.0, f64::max)).and_measured(measured))
        },
    )
}

fn multiply_shift_is_universal() -> Experiment {
    new(
        "6.1/multiply-shift-universal",
        "M is 2-universal (6.1, multiply-shift): the smallest constant on words of 8 bits, for all numbers of result bits",
        Printed::at_most("2"),
        |_| {
            let keys: Vec<u8> = (0..=u8::MAX).collect();
            let measured = largest((1..=u8::BITS).map(|result_bits| {
                let functions = (1..=u8::MAX).step_by(2).map(|a| MultiplyShift::<u8>::new(a, result_bits));
                let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
                Ok(Census::of(&keys, functions)?.universal())
            }))?;
            Ok(promised(MultiplyShift::<u8>::new(1, 1)?.guarantee().c, measured))
        },
    )
}

/// Keys whose differences are 128, 64 and odd: all kinds that matter to multiply-shift.
const SOME_KEYS: [u8; 13] = [0, 1, 2, 3, 5, 8, 13, 64, 127, 128, 129, 192, 255];

/// The smallest constant of M′ on words of 8 bits, and the promised one.
fn multiply_add_shift(precision: u32, result_bits: u32) -> Result<(f64, f64), Error> {
    let size = 1u32 << precision;
    let functions = (0..size / 2 * size).map(|i| {
        let (multiplier, offset) = ((2 * (i / size) + 1) as u16, (i % size) as u16);
        MultiplyAddShift::<u8>::with_precision(precision, multiplier, offset, result_bits)
    });
    let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
    let promise = functions[0].guarantee().c;
    Ok((Census::of(&SOME_KEYS, functions)?.independent(2), promise))
}

/// The constants of M′ with words of several precisions: (bits of the precision, result bits).
fn multiply_add_shift_in(name: &str, claim: &str, cases: [(u32, u32); 2], note: &'static str) -> Experiment {
    new(name, claim, Printed::statement("2-independent", 1.0..=2.0), move |_| {
        let found: Vec<_> =
            cases.into_iter().map(|(w, l)| multiply_add_shift(w, l)).collect::<Result<_, _>>()?;
        let promise = found.iter().map(|(_, promise)| *promise).fold(0.0, f64::max);
        let measured = largest(found.into_iter().map(|(c, _)| Ok(c)))?;
        Ok(Finding::calculated(promise).and_measured(measured).note(note))
    })
}

fn multiply_add_shift_is_independent() -> Experiment {
    multiply_add_shift_in(
        "6.1/multiply-add-shift-independent",
        "M′ is 2-independent, in words of w′ = w + ℓ − 1 bits (6.1, multiply-shift; exercise 7 asks for some constant): one \
         constant does for 1 and 2 result bits",
        [(8, 1), (9, 2)],
        "the constant is 2: keys that differ by 2^(w−1) only",
    )
}

fn multiply_add_shift_in_wider_words() -> Experiment {
    multiply_add_shift_in(
        "6.1/multiply-add-shift-wider",
        "M′ is 2-independent, in words of w′ ≥ w + ℓ bits (6.1, multiply-shift): the constant for 1 and 2 result bits",
        [(9, 1), (10, 2)],
        "one bit more than needed makes it exact",
    )
}

/// All tables of two 2-bit characters, with `result_bits` result bits.
fn all_tabulations(result_bits: u32) -> Result<Census, Error> {
    const CHARACTER_BITS: u32 = 2;
    const FREE_ENTRIES: u32 = 8;
    let functions = (0..1u64 << (FREE_ENTRIES * result_bits)).map(|contents| {
        let entry = |i: u32| contents >> (i * result_bits) & ((1 << result_bits) - 1);
        // Four characters make a byte; the upper two are 0 in all keys below.
        let entries = (0..16).map(|i| if i < FREE_ENTRIES { entry(i) } else { 0 }).collect();
        Tabulation::<u8>::new(CHARACTER_BITS, result_bits, entries)
    });
    let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
    Ok(Census::of(&(0..16).collect::<Vec<u8>>(), functions)?)
}

fn tabulation_is_three_independent() -> Experiment {
    new(
        "6.1/tabulation-three-independent",
        "Tabulation hashing is 3-independent (6.1, tabulation): the smallest constant of two 2-bit characters and two result \
         bits",
        Printed::statement("3-independent", 1.0..=1.0),
        |_| {
            let census = all_tabulations(2)?;
            let promise = Tabulation::<u8>::new(2, 2, vec![0; 16])?.guarantee();
            let measured = Measured::exhaustive(census.independent(promise.k as u32));
            Ok(Finding::calculated(promise.c).and_measured(measured).note("exactly: the constant is 1"))
        },
    )
}

fn tabulation_is_not_four_independent() -> Experiment {
    new(
        "6.1/tabulation-not-four-independent",
        "Tabulation hashing is not 4-independent (6.1, tabulation): twice the buckets need at least twice the constant",
        Printed::statement("not 4-independent", 2.0..=f64::INFINITY),
        |_| {
            let [one_bit, two_bits] =
                [all_tabulations(1)?.independent(4), all_tabulations(2)?.independent(4)];
            // Of the keys (0,0), (0,1), (1,0), (1,1), the fourth hash is the xor of the others: c =
            // m^4/m^3.
            let finding = Finding::calculated(2.0).and_measured(Measured::exhaustive(two_bits / one_bit));
            Ok(finding.note(format!("two buckets need {one_bit}, four need {two_bits}")))
        },
    )
}

fn scalar_products_are_universal() -> Experiment {
    new(
        "6.1/scalar-product-universal",
        "S is 1-universal (6.1, scalar products): the smallest constant for vectors of up to 3 numbers in small fields",
        Printed::at_most("1.0"),
        |_| {
            let measured = largest([(2, 3), (3, 2), (5, 2), (7, 2), (5, 3)].map(|(p, d)| {
                let functions = vectors(p, d).into_iter().map(|t| ScalarProduct::new(field(p), t));
                let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
                Ok(Census::of::<[u64], _, _>(&vectors(p, d), functions)?.universal())
            }))?;
            Ok(promised(ScalarProduct::new(field(5), vec![1])?.guarantee().c, measured))
        },
    )
}

fn affine_scalar_products_are_independent() -> Experiment {
    new(
        "6.1/affine-scalar-product-independent",
        "S′ mod m is (2, 2)-independent if p ≥ 4m (6.1, scalar products): the smallest constant in the smallest such fields",
        Printed::at_most("2"),
        |_| {
            let cases = [(5, 2, 1), (11, 2, 2), (13, 1, 3)];
            let measured = largest(cases.map(|(p, d, m)| {
                let functions = vectors(p, d + 1).into_iter().map(|mut t| {
                    let offset = t.pop().expect("one component more");
                    AffineScalarProduct::new(field(p), t, offset)?.modulo(m)
                });
                let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
                Ok(Census::of::<[u64], _, _>(&vectors(p, d), functions)?.independent(2))
            }))?;
            let exact =
                cases.map(|(p, _, m): (u64, u32, u64)| ((p.div_ceil(m) * m) as f64 / p as f64).powi(2));
            Ok(Finding::calculated(exact.into_iter().fold(0.0, f64::max)).and_measured(measured))
        },
    )
}

/// All functions of R.
fn all_rolling(p: u64, d: u32) -> impl Iterator<Item = Rolling<AnyPrime>> {
    (0..p).map(move |point| Rolling::new(field(p), point, d as usize).expect("a point of the field"))
}

const ROLLING_PRIME: u64 = 5;
const ROLLING_LENGTH: u32 = 3;

fn rolling_is_universal() -> Experiment {
    new(
        "6.1/rolling-universal",
        "R is d-universal (6.1, rolling hashes): the smallest constant for vectors of d = 3 numbers in the field of 5",
        Printed::at_most("3"),
        |_| {
            let census = Census::of::<[u64], _, _>(
                &vectors(ROLLING_PRIME, ROLLING_LENGTH),
                all_rolling(ROLLING_PRIME, ROLLING_LENGTH),
            )?;
            let promise = Rolling::new(field(ROLLING_PRIME), 0, ROLLING_LENGTH as usize)?.guarantee();
            let finding =
                Finding::calculated(promise.c).and_measured(Measured::exhaustive(census.universal()));
            Ok(finding.note("true, and d − 1 is enough: the polynomial has degree at most d − 1"))
        },
    )
}

fn degree_of_rolling() -> Experiment {
    new(
        "6.1/rolling-degree",
        "The difference of two vectors of d components is a polynomial of degree d, with at most d roots (6.1, rolling hashes): \
         the most roots for d = 3 in the field of 5",
        Printed::number("3"),
        |_| {
            let zero = vec![0; ROLLING_LENGTH as usize];
            let mut most = 0;
            for vector in vectors(ROLLING_PRIME, ROLLING_LENGTH).into_iter().filter(|vector| *vector != zero)
            {
                let mut roots = 0;
                for function in all_rolling(ROLLING_PRIME, ROLLING_LENGTH) {
                    roots += u32::from(function.hash(vector.as_slice())? == 0);
                }
                most = most.max(roots);
            }
            // With d coefficients the degree is at most d − 1.
            let finding = Finding::calculated(f64::from(ROLLING_LENGTH - 1));
            Ok(finding.and_measured(Measured::exhaustive(f64::from(most))).note("degree d − 1"))
        },
    )
}

fn rolling_then_linear_is_independent() -> Experiment {
    new(
        "6.1/rolling-then-linear-independent",
        "R ∘ L is (2, 5/2)-independent if p ≥ 4dm (6.1, rolling hashes): the smallest constant in the smallest such fields",
        Printed::at_most("2.5"),
        |_| {
            let cases = [(5, 1, 1), (11, 1, 2), (17, 2, 2)];
            let measured = largest(cases.map(|(p, d, m)| {
                let functions =
                    all_rolling(p, d).flat_map(|inner| all_linear(p, m).map(move |outer| inner.then(outer)));
                let functions: Vec<_> = functions.collect::<Result<_, _>>()?;
                Ok(Census::of::<[u64], _, _>(&vectors(p, d), functions)?.independent(2))
            }))?;
            let exact = cases.map(|(p, d, m): (u64, u32, u64)| {
                // Two vectors collide at d − 1 of the points before L is applied; the largest class
                // of L has ⌈p/m⌉ of p residues.
                let (class, roots) = (p.div_ceil(m), u64::from(d - 1));
                ((p - roots) * class * class + roots * p * class) as f64 * (m * m) as f64 / p.pow(3) as f64
            });
            Ok(Finding::calculated(exact.into_iter().fold(0.0, f64::max)).and_measured(measured))
        },
    )
}
