#!/usr/bin/env python3
"""Writes digest_vectors.tsv: digests and words of many keys, for any implementation to compare with.

This is an implementation of the digests apart from the library's, after docs/format.md. It needs nothing but Python:

    python3 digest_vectors.py > digest_vectors.tsv
"""

M32, M64 = 2**32 - 1, 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
FILTER = 1 << 31  # the number of the domain of filters


def folded_multiply(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def spread(word):
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & M64
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & M64
    return word ^ (word >> 31)


def word(digest, domain, index):
    salt = (spread((domain + 1) * GOLDEN & M64) + index * GOLDEN) & M64
    rotated = (salt << 32 | salt >> 32) & M64
    return folded_multiply((digest & M64) ^ salt, (digest >> 64) + rotated & M64)


def portable_word(key, seed):
    mask = spread((seed + GOLDEN) & M64)
    multiplier = spread((seed + 2 * GOLDEN) & M64) | 1
    return (key ^ mask) * multiplier


def portable_bytes(key, seed):
    return portable_short(key, seed) if len(key) <= 16 else portable_long(key, seed)


def pieces(key, size):
    """The pieces that end before the last byte, then the last one, which may overlap the piece before it."""
    starts = range(0, len(key) - size, size)
    return [key[at : at + size] for at in starts] + [key[-size:]]


def lane_sum(lanes, keys):
    """128 bits: the products of the keyed words of all lanes, and the words as digits to base 3 in the upper half."""
    products = check = 0
    for lane, (first, second) in zip(lanes, keys):
        a, b = lane & M64, lane >> 64
        products += (a + first & M64) * (b + second & M64)
        check = 9 * check + 3 * a + b
    return products + (check << 64)


def portable_long(key, seed):
    number = lambda index: spread((seed + index * GOLDEN) & M64)
    block_keys = [(number(8 + 2 * i), number(9 + 2 * i)) for i in range(8)]
    as_lanes = lambda part: [int.from_bytes(lane, "little") for lane in pieces(part, 16)]
    if len(key) <= 128:
        total = lane_sum(as_lanes(key), block_keys)
    else:
        blocks = [lane_sum(as_lanes(block), block_keys) & 2**128 - 1 for block in pieces(key, 128)]
        total = lane_sum(blocks, [(number(24 + 2 * i), number(25 + 2 * i)) for i in range(len(blocks))])
    return total + len(key) * (number(7) | 1) & 2**128 - 1


def portable_short(key, seed):
    number = lambda part: int.from_bytes(part, "little")
    if len(key) >= 8:
        numbers = number(key[:8]), number(key[-8:])
    elif len(key) >= 4:
        numbers = number(key[:4]), number(key[-4:])
    elif key:
        numbers = key[0], key[len(key) // 2] | key[-1] << 8
    else:
        numbers = 0, 0
    step = [spread((seed + i * GOLDEN) & M64) for i in (3, 4)]
    multiplier = [spread((seed + i * GOLDEN) & M64) | 1 for i in (5, 6)]
    first, second = ((numbers[i] + step[i] * (len(key) + 1) & M64) * multiplier[i] for i in (0, 1))
    # The halves of the second product exchanged.
    return first ^ (second & M64) << 64 ^ second >> 64


def siphash128(key, secret):
    """SipHash-2-4 with 128 bits of output."""
    k0, k1 = int.from_bytes(secret[:8], "little"), int.from_bytes(secret[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & M64

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    padded = key + bytes(7 - len(key) % 8) + bytes([len(key) & 0xFF])
    for at in range(0, len(padded), 8):
        block = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= block
        rounds(2)
        v[0] ^= block
    v[2] ^= 0xEE
    rounds(4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return low | (v[0] ^ v[1] ^ v[2] ^ v[3]) << 64


# As printed with the authors' reference code: key 00..0f, inputs "" and "00".
assert siphash128(b"", bytes(range(16))).to_bytes(16, "little").hex() == "a3817f04ba25a8e66df67214c7550293"
assert siphash128(b"\0", bytes(range(16))).to_bytes(16, "little").hex() == "da87c1d86b99af44347659119b22fc45"


def philox(counter, key):
    """Philox4x32-10."""
    w = [counter >> shift & M32 for shift in (0, 32, 64, 96)]
    k = [key & M32, key >> 32]
    for _ in range(10):
        first, second = w[0] * 0xD2511F53, w[2] * 0xCD9E8D57
        w = [second >> 32 ^ w[1] ^ k[0], second & M32, first >> 32 ^ w[3] ^ k[1], first & M32]
        k = [k[0] + 0x9E3779B9 & M32, k[1] + 0xBB67AE85 & M32]
    return w[0] | w[1] << 32 | w[2] << 64 | w[3] << 96


# The known answers published with the authors' Random123.
assert philox(0, 0) == 0x9B00DBD8_BC57AC4C_E169C58D_6627E8D5
assert philox(2**128 - 1, 2**64 - 1) == 0x6D5451FD_A20BC7C6_41C83B0E_408F276D

NUMBERS = {
    "u8": [0, 7, 255],
    "u16": [65535],
    "u32": [4294967295],
    "u64": [0, 1, 2, 7, 1 << 32, 1 << 63, M64],
    "usize": [7, M32],
    "i8": [-1, -128, 127],
    "i16": [-32768],
    "i32": [-2147483648, 7],
    "i64": [-1, -(1 << 63)],
    "isize": [-7],
    "bool": [0, 1],
    "char": [0x61, 0x1F980],
    "ipv4": [0x7F000001],
}
WIDE = {"u128": [0, 7, 2**128 - 1], "i128": [-1], "ipv6": [0x20010DB8 << 96 | 1]}
TEXTS = ["", "a", "key", "caf\u00e9", "0123456789abcdef", "x" * 17]
# Lengths on both sides of every branch: 0, 1-3, 4-7, 8-16, 17-128 by lanes of 16, longer by blocks of 128.
LENGTHS = [0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 127, 128, 129, 240, 256, 257, 1024]
SEEDS = [0, 1, 0x123456789ABCDEF0, M64]
SECRETS = [bytes(16), bytes(range(16))]


def row(digester, seed, kind, key, digest):
    print(digester, seed, kind, key, f"{digest:032x}", f"{word(digest, FILTER, 0):016x}", f"{word(digest, FILTER, 9):016x}", sep="\t")


def main():
    print("digester\tseed\ttype\tkey\tdigest\tword 0 of filters\tword 9 of filters")
    for seed in SEEDS:
        seeded = lambda kind, key, digest: row("portable", f"{seed:016x}", kind, key, digest)
        for kind, numbers in NUMBERS.items():
            for number in numbers:
                seeded(kind, number, portable_word(number & M64, seed))
        for kind, numbers in WIDE.items():
            for number in numbers:
                seeded(kind, number, portable_bytes((number & (2**128 - 1)).to_bytes(16, "little"), seed))
        for text in TEXTS:
            seeded("str", text.encode().hex(), portable_bytes(text.encode(), seed))
        for length in LENGTHS:
            key = bytes(i * 7 & 0xFF for i in range(length))
            seeded("bytes", key.hex(), portable_bytes(key, seed))
        row("ideal", f"{seed:016x}", "u64", 7, philox(7, seed))
        row("ideal", f"{seed:016x}", "u128", 2**127 + 5, philox(2**127 + 5, seed))
    for secret in SECRETS:
        keyed = lambda kind, key, bytes_: row("keyed", secret.hex(), kind, key, siphash128(bytes_, secret))
        keyed("u64", 7, (7).to_bytes(8, "little"))
        keyed("i8", -1, M64.to_bytes(8, "little"))
        keyed("u128", 7, (7).to_bytes(16, "little"))
        keyed("str", "key".encode().hex(), b"key")
        for length in [0, 1, 7, 8, 9, 63]:
            keyed("bytes", bytes(range(length)).hex(), bytes(range(length)))


if __name__ == "__main__":
    main()
