//! Digests beside foldhash and XXH3, and the cost of the studied families beside them.
//!
//! foldhash and XXH3 are called directly, with a fixed seed. foldhash makes 64 bits with one
//! multiplication, and `foldhash, quality` with two. Ours makes one multiplication for the digest,
//! which identifies the key, and one for each word drawn from it, which a structure uses.

use std::hash::BuildHasher;
use std::hint::black_box;

use anyhow::Result;
use foldhash::{fast, quality};
use oneread::hash::{Digest, Digester, Domain, Keyed, Portable, Std};
use oneread_study::hash::Ideal;
use oneread_study::hash::family::{
    AffineScalarProduct, HashFunction, Linear, LinearNonzero, MERSENNE_61, MultiplyAddShift, MultiplyShift,
    Polynomial, Reduced, Rolling, ScalarProduct, StringHash, Tabulation, TotalHashFunction, TupleTabulation,
};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::measure::{Bench, Contestant, timed};
use crate::workload::{generator, random_bytes, random_words};

/// 800 kB of words, and about as much of other keys. They fit the L2 cache, so that this measures
/// hashing and not memory.
const WORDS: usize = 100_000;
const BYTES: usize = 1 << 20;

/// The families map to 2^20 buckets, or to their whole field where they cannot map to less.
const RESULT_BITS: u32 = 20;
const BUCKETS: u64 = 1 << RESULT_BITS;

/// Vectors of eight numbers are as long as strings of 64 bytes.
const DIMENSION: usize = 8;

/// Hashes per step. A loop of one hash is so short that its alignment changes its speed by a third.
const UNROLLED: usize = 8;

const SEED: u64 = 1;
const SECRET: [u8; 16] = [1; 16];

const FOLDHASH: &str = "foldhash";
const XXH3: &str = "XXH3-128";

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let passes = if bench.effort().quick { 5 } else { 50 };
    let words = random_words(WORDS, SEED);
    let words = Keys { keys: &words, passes };
    bench.contest("u64, independent", FOLDHASH, word_digests(words, Order::Independent));
    bench.contest("u64, dependent", FOLDHASH, word_digests(words, Order::Dependent));

    let bytes = random_bytes(BYTES, SEED);
    for length in [16, 64, 1024] {
        // Lengths are known only at run time, as for most keys.
        let keys: Vec<&[u8]> = bytes.chunks_exact(black_box(length)).collect();
        bench.contest(&format!("{length} bytes"), XXH3, byte_digests(Keys { keys: &keys, passes }));
    }

    bench.contest("u64, families", FOLDHASH, word_families(words)?);
    let strings: Vec<&[u8]> = bytes.chunks_exact(black_box(8 * DIMENSION)).collect();
    let vectors: Vec<[u64; DIMENSION]> = strings.iter().map(|string| vector(string)).collect();
    let (strings, vectors) = (Keys { keys: &strings, passes }, Keys { keys: &vectors, passes });
    bench.contest("64 bytes, families", XXH3, vector_families(strings, vectors)?);
    Ok(())
}

/// The numbers of a string, as elements of the default field.
fn vector(string: &[u8]) -> [u64; DIMENSION] {
    let (numbers, _) = string.as_chunks();
    std::array::from_fn(|at| u64::from_le_bytes(numbers[at]) % MERSENNE_61)
}

fn word_digests(words: Keys<'_, u64>, order: Order) -> Vec<Contestant<'_>> {
    fn first(digest: Digest) -> u64 {
        digest.word(Domain::FILTER, 0)
    }

    let (fast, quality) = (fast::FixedState::with_seed(SEED), quality::FixedState::with_seed(SEED));
    let (portable, keyed) = (Portable::with_seed(SEED), Keyed::with_secret(SECRET));
    let (ideal, std) = (Ideal::with_seed(SEED), Std(fast.clone()));
    vec![
        words.in_order(FOLDHASH, order, move |key| fast.hash_one(key)),
        words.in_order("foldhash, quality", order, move |key| quality.hash_one(key)),
        words.in_order("Portable, half of the digest", order, move |key| {
            u128::from(portable.digest(&key)) as u64
        }),
        words.in_order("Portable, the digest", order, move |key| {
            let digest = u128::from(portable.digest(&key));
            (digest >> 64) as u64 ^ digest as u64
        }),
        words.in_order("Portable, one word", order, move |key| first(portable.digest(&key))),
        words.in_order("Portable, two words", order, move |key| {
            let digest = portable.digest(&key);
            first(digest) ^ digest.word(Domain::FILTER, 1)
        }),
        words.in_order("Keyed, one word", order, move |key| first(keyed.digest(&key))),
        words.in_order("Ideal, one word", order, move |key| first(ideal.digest(&key))),
        words.in_order("Std(foldhash), one word", order, move |key| first(std.digest(&key))),
    ]
}

fn byte_digests<'a>(strings: Keys<'a, &'a [u8]>) -> Vec<Contestant<'a>> {
    let foldhash = fast::FixedState::with_seed(SEED);
    let (portable, keyed) = (Portable::with_seed(SEED), Keyed::with_secret(SECRET));
    vec![
        strings.each(XXH3, move |key| xxh3_128_with_seed(key, SEED)),
        strings.each(FOLDHASH, move |key| foldhash.hash_one(key)),
        strings.each("Portable, the digest", move |key| portable.digest(key)),
        strings.each("Portable, one word", move |key| portable.digest(key).word(Domain::FILTER, 0)),
        strings.each("Keyed, the digest", move |key| keyed.digest(key)),
    ]
}

/// The families of 64-bit words; those of a field reduce them modulo its prime.
fn word_families(words: Keys<'_, u64>) -> Result<Vec<Contestant<'_>>> {
    fn total<'a>(
        words: Keys<'a, u64>,
        name: &str,
        function: impl TotalHashFunction<u64> + 'a,
    ) -> Contestant<'a> {
        words.each(name, move |key| function.hash_any(key))
    }

    let foldhash = fast::FixedState::with_seed(SEED);
    let rng = &mut generator(SEED + 1);
    let mut contestants = vec![
        words.each(FOLDHASH, move |key| foldhash.hash_one(key)),
        total(words, "Linear", Reduced::new(Linear::draw(BUCKETS, rng)?)),
        total(words, "LinearNonzero", Reduced::new(LinearNonzero::draw(BUCKETS, rng)?)),
    ];
    for k in [2, 5, 20] {
        let polynomial = Polynomial::draw(k, rng)?.modulo(BUCKETS)?;
        contestants.push(total(words, &format!("Polynomial, k = {k}"), Reduced::new(polynomial)));
    }
    contestants.push(total(words, "MultiplyShift", MultiplyShift::draw(RESULT_BITS, rng)?));
    contestants.push(total(words, "MultiplyAddShift", MultiplyAddShift::draw(RESULT_BITS, rng)?));
    for bits in [8, 16] {
        let tabulation = Tabulation::draw(bits, RESULT_BITS, rng)?;
        contestants.push(total(words, &format!("Tabulation, {bits}-bit characters"), tabulation));
    }
    Ok(contestants)
}

/// The families of vectors, tuples and strings.
fn vector_families<'a>(
    strings: Keys<'a, &'a [u8]>,
    vectors: Keys<'a, [u64; DIMENSION]>,
) -> Result<Vec<Contestant<'a>>> {
    const IN_UNIVERSE: &str = "components are below the prime, and lengths are right";
    let rng = &mut generator(SEED + 1);
    let product = ScalarProduct::draw(DIMENSION, rng)?;
    let affine = AffineScalarProduct::draw(DIMENSION, rng)?.modulo(BUCKETS)?;
    let rolling = Rolling::draw(DIMENSION, rng)?.then(Linear::draw(BUCKETS, rng)?)?;
    let tabulation = TupleTabulation::<u64, DIMENSION>::draw(8, RESULT_BITS, rng)?;
    let string = StringHash::draw(8 * DIMENSION, BUCKETS, rng)?;
    Ok(vec![
        strings.each(XXH3, move |key| xxh3_128_with_seed(key, SEED)),
        vectors.each("ScalarProduct", move |key| product.hash(key).expect(IN_UNIVERSE)),
        vectors.each("AffineScalarProduct", move |key| affine.hash(key.as_slice()).expect(IN_UNIVERSE)),
        vectors.each("Rolling, then Linear", move |key| rolling.hash(key.as_slice()).expect(IN_UNIVERSE)),
        vectors.each("TupleTabulation, 8-bit characters", move |key| tabulation.hash_any(key)),
        strings.each("StringHash, byte by byte", move |key| string.hash(key).expect(IN_UNIVERSE)),
    ])
}

/// Whether a key can be hashed before the hash of the previous key is known.
#[derive(Clone, Copy)]
enum Order {
    /// It can: measures keys per second.
    Independent,
    /// It cannot: measures the latency of one hash.
    Dependent,
}

/// The keys of a contest, and how many times a round hashes them.
struct Keys<'a, K> {
    keys: &'a [K],
    passes: usize,
}

impl<K> Clone for Keys<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Keys<'_, K> {}

impl<'a, K> Keys<'a, K> {
    /// A contestant that hashes the keys one at a time.
    fn each<R>(self, name: &str, hash: impl Fn(&K) -> R + 'a) -> Contestant<'a> {
        let Self { keys, passes } = self;
        Contestant::new(name, move || {
            timed(|| {
                let (steps, rest) = keys.as_chunks::<UNROLLED>();
                for _ in 0..passes {
                    for step in steps {
                        step.iter().for_each(|key| _ = black_box(hash(key)));
                    }
                }
                (passes * (keys.len() - rest.len())) as u64
            })
        })
    }
}

impl<'a> Keys<'a, u64> {
    fn in_order(self, name: &str, order: Order, hash: impl Fn(u64) -> u64 + 'a) -> Contestant<'a> {
        let Self { keys, passes } = self;
        match order {
            Order::Independent => self.each(name, move |key| hash(*key)),
            Order::Dependent => Contestant::new(name, move || {
                timed(|| {
                    let keys_of_passes = (0..passes).flat_map(|_| keys);
                    black_box(keys_of_passes.fold(0, |last, key| hash(key ^ last)));
                    (passes * keys.len()) as u64
                })
            }),
        }
    }
}
