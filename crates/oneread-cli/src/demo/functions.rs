//! Every family and digester, each as a function from a number to a bucket.

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;
use std::ops::Range;

use anyhow::Result;
use oneread::hash::family::{
    AffineScalarProduct, Compose, HashFunction, Independent, KeyError, Linear, LinearNonzero, MERSENNE_61,
    MultiplyAddShift, MultiplyShift, Polynomial, Rolling, ScalarProduct, StringHash, Tabulation,
    TupleTabulation, Universal,
};
use oneread::hash::{Digester, Domain, FromFamily, Ideal, Keyed, Portable, Std, reduce};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::{BUCKETS, Function, RESULT_BITS};

/// The size of the field that the families of numbers and vectors compute in.
const FIELD: u128 = MERSENNE_61 as u128;

/// A number, as the vector or string of its bytes.
const LENGTH: usize = size_of::<u64>();

const DOMAIN: Domain = Domain::new(0);

/// Draws a function of every family, and seeds every digester.
pub(super) fn draw(seed: u64) -> Result<Vec<Function>> {
    let rng = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut functions = words(rng)?;
    functions.extend(vectors(rng)?);
    functions.extend(digesters(seed, rng)?);
    Ok(functions)
}

fn words(rng: &mut Pcg64Mcg) -> Result<Vec<Function>> {
    let linear = Linear::draw(BUCKETS, rng)?;
    let nonzero = LinearNonzero::draw(BUCKETS, rng)?;
    let shift = MultiplyShift::<u64>::draw(RESULT_BITS, rng)?;
    let add_shift = MultiplyAddShift::<u64>::draw(RESULT_BITS, rng)?;
    let mut functions = vec![
        function("Linear", independent(linear.guarantee()), move |key| linear.hash(&key)),
        function("LinearNonzero", universal(nonzero.guarantee()), move |key| nonzero.hash(&key)),
        function("MultiplyShift", universal(shift.guarantee()), move |key| shift.hash(&key)),
        function("MultiplyAddShift", independent(add_shift.guarantee()), move |key| add_shift.hash(&key)),
    ];
    for k in [2, 5, 20] {
        let polynomial = Polynomial::draw(k, rng)?;
        let guarantee = polynomial.guarantee().modulo(FIELD, BUCKETS.into());
        let reduced = polynomial.modulo(BUCKETS)?;
        let name = format!("Polynomial, k = {k}");
        functions.push(function(name, independent(guarantee), move |key| reduced.hash(&key)));
    }
    for bits in [8, 16] {
        let tabulation = Tabulation::<u64>::draw(bits, RESULT_BITS, rng)?;
        let name = format!("Tabulation, {bits}-bit characters");
        functions.push(function(name, independent(tabulation.guarantee()), move |key| tabulation.hash(&key)));
    }
    Ok(functions)
}

fn vectors(rng: &mut Pcg64Mcg) -> Result<Vec<Function>> {
    fn vector(key: u64) -> [u64; LENGTH] {
        key.to_le_bytes().map(u64::from)
    }

    let tuple = TupleTabulation::<u32, 2>::draw(8, RESULT_BITS, rng)?;
    let (product, rolling) = (ScalarProduct::draw(LENGTH, rng)?, Rolling::draw(LENGTH, rng)?);
    let (after_product, after_rolling) = (Linear::draw(BUCKETS, rng)?, Linear::draw(BUCKETS, rng)?);
    let then = |inner: Universal, outer: Linear| inner.then(FIELD, outer.guarantee(), BUCKETS.into());
    let product_promise = then(product.guarantee(), after_product);
    let rolling_promise = then(rolling.guarantee(), after_rolling);
    let product = Compose::new(product, after_product)?;
    let rolling = rolling.then(after_rolling)?;
    let affine = AffineScalarProduct::draw(LENGTH, rng)?;
    let affine_promise = affine.guarantee().modulo(FIELD, BUCKETS.into());
    let affine = affine.modulo(BUCKETS)?;
    let string = StringHash::draw(LENGTH, BUCKETS, rng)?;
    Ok(vec![
        function("TupleTabulation", independent(tuple.guarantee()), move |key| {
            tuple.hash(&[key as u32, (key >> u32::BITS) as u32])
        }),
        function("ScalarProduct, then Linear", independent(product_promise), move |key| {
            product.hash(vector(key).as_slice())
        }),
        function("AffineScalarProduct", independent(affine_promise), move |key| {
            affine.hash(vector(key).as_slice())
        }),
        function("Rolling, then Linear", independent(rolling_promise), move |key| {
            rolling.hash(vector(key).as_slice())
        }),
        function("StringHash", independent(string.guarantee()), move |key| string.hash(&key.to_le_bytes())),
    ])
}

fn digesters(seed: u64, rng: &mut Pcg64Mcg) -> Result<Vec<Function>> {
    let mut secret = [0; 16];
    rng.fill_bytes(&mut secret);
    // The standard library's hasher with its fixed keys, so that the same seed gives the same table.
    let std = Std(BuildHasherDefault::<DefaultHasher>::default());
    let family = FromFamily::new(
        MultiplyShift::<u64>::draw(u64::BITS, rng)?,
        MultiplyShift::<u64>::draw(u64::BITS, rng)?,
    );
    Ok(vec![
        digester("Portable", "none: tested", Portable::with_seed(seed)),
        digester("Keyed", "while its key is secret", Keyed::with_secret(secret)),
        digester("Std, DefaultHasher", "as its hasher", std),
        digester("Ideal", "none: as good as random", Ideal::with_seed(seed)),
        digester("FromFamily, MultiplyShift", "as its family", family),
    ])
}

fn function(
    name: impl Into<String>,
    promise: impl Into<String>,
    hash: impl Fn(u64) -> Result<u64, KeyError> + 'static,
) -> Function {
    let batch = move |keys: Range<u64>, buckets: &mut [u64]| {
        for (key, bucket) in keys.zip(buckets) {
            // A compiler that knows the next key steps from hash to hash, and the time would be that of another
            // function.
            *bucket = hash(black_box(key))?;
        }
        Ok(())
    };
    Function { name: name.into(), promise: promise.into(), hash: Box::new(batch) }
}

fn digester(name: &str, promise: &str, digester: impl Digester<u64> + 'static) -> Function {
    function(name, promise, move |key| Ok(reduce(digester.digest(&key).word(DOMAIN, 0), BUCKETS)))
}

fn independent(promise: Independent) -> String {
    format!("({}, {})-independent", promise.k, rounded(promise.c))
}

fn universal(promise: Universal) -> String {
    format!("{}-universal", rounded(promise.c))
}

/// Constants of theorems are small numbers, give or take 2^-40.
fn rounded(c: f64) -> f64 {
    (c * 100.0).round() / 100.0
}
