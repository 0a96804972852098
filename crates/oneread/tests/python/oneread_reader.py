#!/usr/bin/env python3
"""Reads the files of oneread, from docs/format.md alone and with nothing but Python's standard library.

    oneread_reader.py query FILE u64|str    keys by lines on stdin: prints 1 (perhaps there) or 0 (not there) for each,
                                            or for a Count-Min sketch how often it came, at most, or for a summary the levels
                                            where it can be, in the order in which to read them, - if there are none
    oneread_reader.py items FILE u64|str    the items of a table with such keys and 64-bit values, in the order of their places:
                                            prints level, key and value of each, having looked the key up by its digest
    oneread_reader.py checksum              bytes in hexadecimal by lines on stdin: prints the XXH3-64 of each
    oneread_reader.py vectors FILE          compares digests and words with those of digest_vectors.tsv

It is slow (a megabyte a second or so) and meant to be read. Files that are damaged, or made by a digester with a secret, are
refused with a sentence on stderr and exit code 2.
"""

import functools
import struct
import sys

M32, M64 = 2**32 - 1, 2**64 - 1

# XXH3 with 64 bits, after the specification at https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md: all
# lengths, seeds, and the default secret.

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def rotate(word, bits):
    return (word << bits | word >> (64 - bits)) & M64


def swap(word, size):
    return int.from_bytes(word.to_bytes(size, "little"), "big")


def fold(a, b):
    """Both halves of the 128-bit product, added without carry."""
    product = a * b
    return (product & M64) ^ (product >> 64)


def avalanche(h):
    h ^= h >> 37
    h = h * MX1 & M64
    return h ^ h >> 32


def avalanche_xxh64(h):
    h = (h ^ h >> 33) * P64_2 & M64
    h = (h ^ h >> 29) * P64_3 & M64
    return h ^ h >> 32


def secret_xor(at, size=8):
    """Two neighbours in the secret."""
    read = u64 if size == 8 else u32
    return read(SECRET, at) ^ read(SECRET, at + size)


def one_to_three(data):
    """The bytes of a key of one to three, and its length, in 32 bits."""
    size = len(data)
    return data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8


def mix16(data, at, secret, seed):
    return fold(u64(data, at) ^ (u64(SECRET, secret) + seed & M64), u64(data, at + 8) ^ (u64(SECRET, secret + 8) - seed & M64))


def long_accumulators(data, secret):
    """The eight lanes after all of a long input."""
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    size, last = len(data), len(secret) - 64
    stripes_a_block = last // 8
    keys = [struct.unpack_from("<8Q", secret, 8 * i) for i in range(stripes_a_block)]
    scramble_key = struct.unpack_from("<8Q", secret, last)

    def stripe(at, key):
        lanes = struct.unpack_from("<8Q", data, at)
        for i in range(8):
            keyed = lanes[i] ^ key[i]
            acc[i ^ 1] = acc[i ^ 1] + lanes[i] & M64
            acc[i] = acc[i] + (keyed & M32) * (keyed >> 32) & M64

    for number in range((size - 1) // 64):
        stripe(64 * number, keys[number % stripes_a_block])
        if number % stripes_a_block == stripes_a_block - 1:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ scramble_key[i]) * P32_1 & M64
    stripe(size - 64, struct.unpack_from("<8Q", secret, last - 7))
    return acc


def merge(acc, secret, at, start):
    pairs = (fold(acc[2 * i] ^ u64(secret, at + 16 * i), acc[2 * i + 1] ^ u64(secret, at + 16 * i + 8)) for i in range(4))
    return avalanche(start + sum(pairs) & M64)


def seeded_secret(seed):
    """The secret of long inputs."""
    words = struct.unpack("<24Q", SECRET)
    return struct.pack("<24Q", *((word + (-seed if i % 2 else seed)) & M64 for i, word in enumerate(words)))


def xxh3_64_long(data, seed):
    """XXH3-64 with a seed, of more than 240 bytes."""
    secret = seeded_secret(seed)
    return merge(long_accumulators(data, secret), secret, 11, len(data) * P64_1 & M64)


def xxh3_64(data):
    """XXH3-64 without a seed."""
    size = len(data)
    if size == 0:
        return avalanche_xxh64(secret_xor(56))
    if size <= 3:
        return avalanche_xxh64(one_to_three(data) ^ secret_xor(0, 4))
    if size <= 8:
        h = (u32(data, size - 4) + (u32(data, 0) << 32)) ^ secret_xor(8)
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * MX2 & M64
        h ^= (h >> 35) + size
        h = h * MX2 & M64
        return h ^ h >> 28
    if size <= 16:
        low, high = u64(data, 0) ^ secret_xor(24), u64(data, size - 8) ^ secret_xor(40)
        return avalanche(size + swap(low, 8) + high + fold(low, high) & M64)
    acc = size * P64_1 & M64
    if size <= 128:
        for i in reversed(range((size - 1) // 32 + 1)):
            acc += mix16(data, 16 * i, 32 * i, 0) + mix16(data, size - 16 * (i + 1), 32 * i + 16, 0)
        return avalanche(acc & M64)
    if size <= 240:
        acc = avalanche(acc + sum(mix16(data, 16 * i, 16 * i, 0) for i in range(8)) & M64)
        acc += sum(mix16(data, 16 * i, 16 * (i - 8) + 3, 0) for i in range(8, size // 16))
        return avalanche(acc + mix16(data, size - 16, 136 - 17, 0) & M64)
    return xxh3_64_long(data, 0)


# From a key to its places: docs/format.md.

PHI = 0x9E3779B97F4A7C15
FILTER, BLOCKED, COUNT_MIN, TABLE, SUMMARY = 2**31, 2**31 + 1, 2**31 + 2, 2**31 + 3, 2**31 + 4
DLEFT_COUNTING, DLEFT, LINE, PLACED = (2**31 + i for i in range(8, 12))


def spread(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def portable(key, seed):
    """The digest of a number of up to 64 bits, or of bytes, as its low and high half."""
    if isinstance(key, int):
        product = (key & M64 ^ spread(seed + PHI & M64)) * (spread(seed + 2 * PHI & M64) | 1)
        return product & M64, product >> 64
    return short(key, seed) if len(key) <= 16 else long(key, seed)


def short(key, seed):
    """The digest of at most 16 bytes: the sum without carry of two products, the halves of the second exchanged."""
    width = 8 if len(key) >= 8 else 4
    if len(key) >= width:
        first, second = key[:width], key[-width:]
    elif key:
        first, second = key[:1], bytes([key[len(key) // 2], key[-1]])
    else:
        first, second = b"", b""

    def product(part, step, multiplier):
        raised = int.from_bytes(part, "little") + (len(key) + 1) * spread(seed + step * PHI & M64) & M64
        return raised * (spread(seed + multiplier * PHI & M64) | 1)

    first, second = product(first, 3, 5), product(second, 4, 6)
    return first & M64 ^ second >> 64, second & M64 ^ first >> 64


def long(key, seed):
    """The digest of more than 16 bytes: a sum of products of words, each with a number of the seed added to it."""

    def number(index):
        return spread(seed + index * PHI & M64)

    def cut(data, size):
        return [data[at : at + size] for at in range(0, len(data) - size, size)] + [data[-size:]]

    def total(lanes, first_key):
        products = check = 0
        for i, lane in enumerate(lanes):
            a, b = u64(lane, 0), u64(lane, 8)
            products += (a + number(first_key + 2 * i) & M64) * (b + number(first_key + 2 * i + 1) & M64)
            check = 9 * check + 3 * a + b & M64
        return (products + (check << 64)) % 2**128

    if len(key) <= 128:
        digest = total(cut(key, 16), 8)
    else:
        blocks = [total(cut(block, 16), 8).to_bytes(16, "little") for block in cut(key, 128)]
        digest = total(blocks, 24)
    digest += len(key) * (number(7) | 1)
    return digest & M64, digest >> 64 & M64


@functools.lru_cache(maxsize=None)
def salt_of(domain, index):
    return spread((domain + 1) * PHI & M64) + index * PHI & M64


def word(digest, domain, index):
    low, high = digest
    salt = salt_of(domain, index)
    return fold(low ^ salt, high + rotate(salt, 32) & M64)


def reduce(word, m):
    return word * m >> 64


def places(scheme, domain, k, m, digest):
    def w(index):
        return word(digest, domain, index)

    def h(index):
        return reduce(w(index), m)

    if scheme == 0:
        return [h(i) for i in range(k)]
    if scheme == 1:
        start, step = w(0), w(1)
        growth = rotate(start, 32) ^ step
        return [reduce(start + i * step + i * (i - 1) // 2 * growth & M64, m) for i in range(k)]
    if scheme in (2, 3, 4, 5):
        power = {2: lambda i: 0, 3: lambda i: i * i, 4: lambda i: i**3, 5: lambda i: (i**3 - i) // 6}[scheme]
        h0, h1 = h(0), h(1)
        return [(h0 + i * h1 + power(i)) % m for i in range(k)]
    if scheme in (6, 7):
        h0, h1, h2, h3 = h(0), h(1), h(2), h(3) if scheme == 7 else 0
        return [(h0 + i * h1 + i * (i - 1) // 2 * h2 + i * (i - 1) * (i - 2) // 6 * h3) % m for i in range(k)]
    band = m // k
    if scheme == 8:
        g0, g1 = reduce(w(0), band), reduce(w(1), band)
        return [i * band + (g0 + i * g1) % band for i in range(k)]
    return [i * band + reduce(w(i), band) for i in range(k)]


# Containers.


class Refused(Exception):
    """The file is not one that can be read."""


def check(condition, what):
    if not condition:
        raise Refused(what)


def bit(payload, at):
    return payload[at >> 3] >> (at & 7) & 1


def unused_bits_are_zero(payload, used):
    return int.from_bytes(payload, "little") >> used == 0


class BloomFilter:
    """Bits, hashes and scheme over a payload; also a layer of a growing filter."""

    def __init__(self, layout, payload, domain=FILTER):
        self.bits, self.hashes, self.scheme = layout
        self.payload, self.domain = payload, domain
        check_places(self.bits, self.hashes, self.scheme)
        check(len(payload) == 8 * (-(-self.bits // 64)), "the payload has another length than the layout says")
        check(unused_bits_are_zero(payload, self.bits), "there are bits beyond the last")

    def answer(self, digest):
        return int(all(bit(self.payload, at) for at in places(self.scheme, self.domain, self.hashes, self.bits, digest)))


class BlockedFilter:
    def __init__(self, layout, payload):
        (self.blocks,) = layout
        check(1 <= self.blocks <= 2**37, "impossible blocks")
        check(len(payload) == 64 * self.blocks, "the payload has another length than the layout says")
        self.payload = payload

    def answer(self, digest):
        w = word(digest, BLOCKED, 0)
        block, numbers = reduce(w, self.blocks), (w * 0xD1342543DE82EF95 & M64) >> 16
        return int(all(bit(self.payload, 512 * block + 64 * i + (numbers >> 6 * i & 63)) for i in range(8)))


class CountingFilter:
    def __init__(self, layout, payload):
        self.counters, self.hashes, self.scheme, self.width, counting = layout
        check_places(self.counters, self.hashes, self.scheme)
        check(2 <= self.width <= 8 and counting <= 1, "impossible counters")
        used = self.counters * self.width
        check(len(payload) == 8 * (-(-used // 64)), "the payload has another length than the layout says")
        check(unused_bits_are_zero(payload, used), "there are bits beyond the last counter")
        self.payload = payload

    def counter(self, at):
        return any(bit(self.payload, at * self.width + i) for i in range(self.width))

    def answer(self, digest):
        return int(all(map(self.counter, places(self.scheme, FILTER, self.hashes, self.counters, digest))))


class CountMinSketch:
    def __init__(self, layout, payload):
        self.width, self.depth, form, self.total = layout
        self.scheme = 9 if form >= 2 else 8
        check(1 <= self.depth <= 64 and 1 <= self.width * self.depth <= 2**46 and form <= 3, "an impossible sketch")
        check(len(payload) == 8 * self.width * self.depth, "the payload has another length than the layout says")
        self.payload = payload

    def answer(self, digest):
        return min(u64(self.payload, 8 * at) for at in places(self.scheme, COUNT_MIN, self.depth, self.width * self.depth, digest))


class GrowingFilter:
    def __init__(self, layout, payload):
        first, rate, growth, tightening, count = layout
        as_float = lambda field: struct.unpack("<d", struct.pack("<Q", field))[0]
        check(1 <= first <= 2**46 and 2 <= growth < 2**32 and 1 <= count <= 4096, "impossible layers")
        check(0 < as_float(rate) < 1 and 0 < as_float(tightening) < 1, "an impossible rate")
        check(len(payload) >= 48 * count, "the payload has another length than the layout says")
        self.layers, at = [], 48 * count
        for record in range(count):
            number, items, capacity, bits, hashes, scheme = struct.unpack_from("<6Q", payload, 48 * record)
            check(number < 47 and capacity == first * growth**number <= 2**46 and items <= capacity, "an impossible layer")
            end = at + 8 * (-(-bits // 64))
            self.layers.append(BloomFilter((bits, hashes, scheme), payload[at:end], 2**32 - 1 - number))
            at = end
        check(at == len(payload), "the payload has another length than the layout says")

    def answer(self, digest):
        return int(any(layer.answer(digest) for layer in self.layers))


class LineFilter:
    """Fingerprints in the order of their quotients, a line of 512 bits at a time."""

    QUOTIENTS, MOVABLE, STASHED = 52, 28, 30
    SLOTS_AND_MARKS = {8: (48, 24), 9: (44, 16), 10: (40, 16), 12: (33, 27), 16: (26, 14)}

    def __init__(self, layout, payload):
        self.bits, self.lines, _, stashed, counted = layout
        check(self.bits in self.SLOTS_AND_MARKS and 1 <= self.lines <= 2**37, "impossible lines or remainders")
        check(stashed <= 32 + self.lines // 16, "an impossible stash")
        end = 64 * self.lines + 8 * stashed
        check(len(payload) == end + 16 * counted, "the payload has another length than the layout says")
        self.slots, self.marks = self.SLOTS_AND_MARKS[self.bits]
        check(2 * counted <= self.slots * self.lines + stashed, "more counts than slots for them")
        self.payload = payload
        self.stash = struct.unpack_from(f"<{stashed}Q", payload, 64 * self.lines)
        self.sums = [reduce(word(portable(q, 0), LINE, 1), self.lines) for q in range(self.MOVABLE)]
        self.read = functools.lru_cache(maxsize=None)(self.decode)
        for line in range(self.lines):
            self.read(line)
        for line in range(self.lines):
            guests = [(q, r) for q, r, guest in self.read(line)[1] if guest]
            for q, _ in guests:
                home = self.other(line, q) if q < self.MOVABLE else line
                check(home != line and self.read(home)[0] > q, "a guest that nobody would find")
            check(len(set(guests)) == len(guests), "a guest that is there twice")
        check(list(self.stash) == sorted(self.stash), "a stash in disorder")
        for number in self.stash:
            line = (number >> self.bits) // self.QUOTIENTS
            check(line < self.lines and self.read(line)[0] == self.STASHED, "a stashed fingerprint that nobody would find")
        self.copies = list(struct.iter_unpack("<QQ", payload[end:]))
        numbers = [number for number, _ in self.copies]
        check(numbers == sorted(set(numbers)), "counts in disorder")
        for number, count in self.copies:
            check(count > 0, "a count of 0")
            check(number < self.lines * self.QUOTIENTS << self.bits, "a count of no fingerprint")
            check(self.held(number) >= 2, "counted copies of a fingerprint with fewer than two slots")

    def other(self, line, q):
        return (self.sums[q] - line) % self.lines

    def decode(self, line):
        """The threshold, and quotient, remainder and whether it is a guest's of each slot in use."""
        bits = int.from_bytes(self.payload[64 * line : 64 * line + 64], "little")

        def field(at, width):
            return bits >> at & (1 << width) - 1

        k, f, r = self.slots, self.marks, self.bits
        quotients = [q for q in range(self.QUOTIENTS) if bits >> q & 1]
        starts = field(56 + f, k)
        check(bool(starts) == bool(quotients), "a line with quotients and no slots, or slots and no quotients")
        starts = starts or 1
        if quotients and bin(starts).count("1") == len(quotients):
            starts |= 1 << k
        used = starts.bit_length() - 1
        check(starts & 1 and bin(starts).count("1") == len(quotients) + 1, "other starts than quotients")
        check(field(56, f) >> used == 0, "a mark beyond the last slot")
        remainders = [0] * k
        for plane in range(r % 8):
            for slot in range(k):
                remainders[slot] |= field(56 + f + k + plane * k + slot, 1) << 8 + plane
        for row in range(r // 8):
            for slot in range(k):
                remainders[slot] |= field(512 - 8 * k * (row + 1) + 8 * slot, 8) << 8 * row
        check(not any(remainders[used:]), "something is beyond the last slot")
        held, run = [], -1
        for slot in range(used):
            run += starts >> slot & 1
            held.append((quotients[run], remainders[slot], bool(field(56, f) >> slot & 1)))
        return 2 * field(52, 4), held

    def held(self, number):
        """The slots and entries of the stash that a fingerprint has."""
        quotients, r = number >> self.bits, number & (1 << self.bits) - 1
        home, q = quotients // self.QUOTIENTS, quotients % self.QUOTIENTS
        threshold, held = self.read(home)
        found = held.count((q, r, False))
        if q < min(self.MOVABLE, threshold):
            found += self.read(self.other(home, q))[1].count((q, r, True))
        return found + (self.stash.count(number) if threshold == self.STASHED else 0)

    def answer(self, digest):
        return int(self.held(word(digest, LINE, 0) * (self.lines * self.QUOTIENTS << self.bits) >> 64) > 0)


class UsualBuckets:
    """Buckets of 64 bits, semi-sorted and not grouped."""

    words = 1
    # By state.
    LOADS = [0, 1, 2, 3] + 5 * [4] + 6 * [5] + [6]

    def lanes(self, bucket):
        load = self.LOADS[bucket >> 60]
        width = 60 // load if load > 0 else 0
        return width, [bucket >> lane * width & (1 << width) - 1 for lane in range(load)]

    def is_valid(self, group):
        width, lanes = self.lanes(*group)
        sixteenths = [lane >> width - 16 & 1 for lane in lanes] if width >= 16 else []
        return (lanes or group == (0,)) and sixteenths == sorted(sixteenths)

    def has(self, group, _, fingerprint):
        state = group[0] >> 60
        width, lanes = self.lanes(*group)
        if 4 <= state <= 14:
            # The state tells which lanes have this sixteenth bit.
            zeros = state - (4 if state <= 8 else 9)
            lanes = lanes[zeros:] if fingerprint >> 48 & 1 else lanes[:zeros]
        return fingerprint >> 64 - width in lanes


def compositions(total, parts):
    """All ways to write a number as a sum of so many, in order."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


class OtherBuckets:
    """Buckets of 128 bits, in groups, without semi-sorting, or of fixed fingerprints."""

    def __init__(self, large, semisort, division, group):
        self.large, self.semisort, self.division, self.group = large, semisort, division, group
        self.space, self.capacity = (120, 11) if large else (60, 6)
        self.words = group * (2 if large else 1)
        self.leading = large or group > 1
        loads = range(self.capacity + 1)
        self.states = [counts for load in loads for counts in compositions(load, 2 ** self.told(load))]
        self.length = functools.lru_cache(maxsize=None)(self.length)
        self.parsed = functools.lru_cache(maxsize=None)(self.parsed)

    def told(self, load):
        if self.division == 2 or self.semisort == 0:
            return 0
        if not self.large:
            return 1 if load in (4, 5) else 0
        return 1 if self.semisort == 1 else {6: 2, 7: 2, 11: 0}.get(load, 1)

    def divided(self, loads, bucket):
        bits, total = self.space * self.group, sum(loads)
        quotient = min(60, self.space // self.capacity if self.division == 2 else bits // total)
        left_over = bits - total * quotient if quotient < 60 else 0
        for number, load in enumerate(loads):
            more = self.division == 1 and 0 < load <= left_over
            left_over -= load if more else 0
            if number == bucket:
                return quotient + more + self.told(load)

    def length(self, loads, bucket):
        """Of the fingerprints in a bucket that is not empty."""
        lengths = [self.divided(loads, bucket)]
        for number, load in enumerate(loads):
            if load > (number == bucket):
                before = loads[:number] + (load - 1,) + loads[number + 1 :]
                lengths.append(self.length(before, bucket))
        return min(lengths)

    def parsed(self, group):
        """The states of the buckets as counts, the widths of their lanes, and the string of the group; None if there is no such state."""
        counts, string, words = [], 0, self.words // self.group
        for number in range(self.group):
            bucket = sum(word << 64 * at for at, word in enumerate(group[words * number : words * (number + 1)]))
            if bucket >> self.space >= len(self.states):
                return None
            counts.append(self.states[bucket >> self.space])
            string |= (bucket & (1 << self.space) - 1) << number * self.space
        loads = tuple(map(sum, counts))
        widths = [self.length(loads, number) - self.told(load) if load > 0 else 0 for number, load in enumerate(loads)]
        return counts, widths, string

    def is_valid(self, group):
        parsed = self.parsed(group)
        if parsed is None:
            return False
        counts, widths, string = parsed
        return string >> sum(sum(count) * width for count, width in zip(counts, widths)) == 0

    def has(self, group, bucket, fingerprint):
        counts, widths, string = self.parsed(group)
        own, width = counts[bucket], widths[bucket]
        told = self.told(sum(own))
        value = (fingerprint >> 64 - told if self.leading else fingerprint >> 48 & 1) if told > 0 else 0
        if told > 0 and self.leading:
            fingerprint = fingerprint << told & M64
        first = sum(sum(count) * width for count, width in zip(counts[:bucket], widths)) + sum(own[:value]) * width
        lanes = (string >> first + lane * width & (1 << width) - 1 for lane in range(own[value]))
        return any(lane == fingerprint >> 64 - width for lane in lanes)


class DLeftFilter:
    """Buckets all over a table or in pages."""

    def __init__(self, layout, payload):
        ways, self.pages, *sizes = layout
        large, semisort, ties, division, self.group, *zeros = struct.pack("<Q", ways)
        check(large <= 1 and semisort <= 2 and ties <= 1 and division <= 2 and 1 <= self.group <= 4 and not any(zeros), "impossible ways")
        usual = large == 0 and semisort > 0 and division < 2 and self.group == 1
        self.buckets = UsualBuckets() if usual else OtherBuckets(large, semisort, division, self.group)
        self.sizes = [size for size in sizes if size > 0]
        check(self.sizes and not any(sizes[len(self.sizes) :]), "impossible sub-tables")
        check(not any(size % self.group for size in self.sizes), "sub-tables that are no whole groups")
        length = "the payload has another length than the layout says"
        bits = 128 if large else 64
        if self.pages > 0:
            expected = [127, 64, 64, 0] if large else [254, 128, 128, 0]
            check(sizes == expected and self.pages <= 2**30 and self.group == 1, "impossible pages")
            check(len(payload) == 4096 * (self.pages + 1) - 128, length)
            check(not any(payload[: 4096 - 128]), "something is before the first page")
            payload = payload[4096 - 128 :]
        else:
            check(max(self.sizes) <= 16 * min(self.sizes) and bits * sum(self.sizes) <= 2**46, "impossible sub-tables")
            check(len(payload) == bits // 8 * sum(self.sizes), length)
        self.words = struct.unpack(f"<{len(payload) // 8}Q", payload)
        for page in range(self.pages):
            checksum, zero = self.words[512 * page + 510 : 512 * page + 512]
            check(xxh3_64_long(payload[4096 * page : 4096 * page + 4080], page) == checksum, "a page is damaged")
            check(zero == 0, "something is after a page's checksum")
        groups = (at for at in range(0, len(self.words), self.buckets.words) if self.pages == 0 or at % 512 < 510)
        check(all(self.buckets.is_valid(self.words[at : at + self.buckets.words]) for at in groups), "an impossible bucket")

    def choices(self, digest):
        """The key's buckets, and its fingerprint."""
        if self.pages > 0:
            w, (first, second, third) = word(digest, DLEFT, 0), self.sizes
            # As many as would fill a page.
            page = (first + second + third + 2 // self.buckets.words) * reduce(w, self.pages)
            places = (w & 65535) * first >> 16, first + (w >> 16) % second, first + second + (w >> 16) // second % third
            return [page + place for place in places], word(digest, DLEFT, 1)
        d = len(self.sizes)
        buckets = [sum(self.sizes[:i]) + reduce(word(digest, DLEFT, i), self.sizes[i]) for i in range(d)]
        return buckets, word(digest, DLEFT, d)

    def has(self, bucket, fingerprint):
        at = bucket // self.group * self.buckets.words
        return self.buckets.has(self.words[at : at + self.buckets.words], bucket % self.group, fingerprint)

    def answer(self, digest):
        buckets, fingerprint = self.choices(digest)
        return int(any(self.has(bucket, fingerprint) for bucket in buckets))


class DLeftCountingFilter:
    """Remainders in cells with counters; also a layer of a growing one."""

    def __init__(self, layout, payload):
        self.subtables, self.each, remainders, most, self.counter, repeats, keys = layout
        check(1 <= self.subtables <= 8 and 1 <= self.each and 128 * self.subtables * self.each <= 2**46, "impossible buckets")
        check(remainders <= 2 and repeats <= 1 and self.counter <= 2 and keys < 2**63, "impossible cells")
        check((4 if remainders == 0 else 5) <= most <= 12 and (remainders == 0 or most != 11), "impossible cells")
        check(remainders < 2 or repeats == 1 or self.counter == 2, "impossible counters")
        check(len(payload) == 16 * self.subtables * self.each, "the payload has another length than the layout says")
        classes = [m for m in (5, 6, 7, 8, 9, 10, 12) if m <= most and not (remainders == 1 and most == 12 and m == 5)]
        self.one_size, self.minimal = remainders == 1, 120 // most - self.counter
        self.told_always = self.one_size and most <= 10
        # Each state as how many cells there are of each group, how wide they are, and whether the group tells a bit.
        self.states = [((0, 0), (0, 0), False)]
        before = 0
        for m in [most] if remainders == 0 else classes:
            told = self.one_size and m <= 10
            widths = 120 // m, before if remainders == 2 else 120 // m
            for counts in ((zero, one) for zero in range(m + 1) for one in range(m + 1 - zero)):
                in_order = counts[0] > 0 and (before > 0 or counts[1] == 0) if remainders == 2 else told or counts[1] == 0
                if sum(counts) > 0 and in_order and sum(n * width for n, width in zip(counts, widths)) <= 120:
                    self.states.append((counts, widths, told))
            before = 120 // m
        self.buckets = [int.from_bytes(payload[at : at + 16], "little") for at in range(0, len(payload), 16)]
        check(all(map(self.is_valid, self.buckets)), "an impossible bucket")

    def is_valid(self, bucket):
        if bucket >> 120 >= len(self.states):
            return False
        counts, widths, _ = self.states[bucket >> 120]
        return (bucket & (1 << 120) - 1) >> sum(n * width for n, width in zip(counts, widths)) == 0

    def cells(self):
        return sum(sum(self.states[bucket >> 120][0]) for bucket in self.buckets)

    def has(self, bucket, remainder):
        counts, widths, told = self.states[bucket >> 120]
        at = 0
        for group in (0, 1):
            stored = widths[group] - self.counter
            for _ in range(counts[group]):
                same = bucket >> at & (1 << stored) - 1 == remainder >> 64 - stored
                if same and (not told or remainder & 1 == group):
                    return True
                at += widths[group]
        return False

    def answer(self, digest):
        place, remainder = reduce(word(digest, DLEFT_COUNTING, 0), self.each), word(digest, DLEFT_COUNTING, 1)
        minimal = remainder >> 64 - self.minimal
        if self.told_always:
            minimal = minimal << 1 | remainder & 1
        for i in range(self.subtables):
            shift = reduce(word((minimal, 0x243F6A8885A308D3), DLEFT_COUNTING, 2 + i), self.each) if i > 0 else 0
            if self.has(self.buckets[i * self.each + (place + shift) % self.each], remainder):
                return 1
        return 0


class GrowingDLeftCountingFilter:
    def __init__(self, layout, payload):
        first, rate, growth, tightening, count = layout
        as_float = lambda field: struct.unpack("<d", struct.pack("<Q", field))[0]
        check(1 <= first <= 2**46 and 2 <= growth < 2**32 and 1 <= count <= 64, "impossible layers")
        check(0 < as_float(rate) < 1 and 0 < as_float(tightening) < 1, "an impossible rate")
        words = Words(payload)
        records = [words.numbers(8) for _ in range(count)]
        numbers = [record[0] for record in records]
        check(numbers == sorted(set(numbers)) and numbers[-1] < 65535, "layers out of order")
        self.layers = []
        for _, room, cells, keys, each, most, subtables, counter in records:
            check(cells <= room and counter == 2 and 1 <= subtables <= 8, "an impossible layer")
            layer = DLeftCountingFilter((subtables, each, 0, most, counter, 0, keys), words.take(2 * subtables * each))
            check(layer.cells() == cells, "a layer with more or fewer cells than it says")
            self.layers.append(layer)
        words.end()

    def answer(self, digest):
        return int(any(layer.answer(digest) for layer in self.layers))


class GrowingLineFilter:
    """Layers of line filters: all their lines, then the stash and the counts of each."""

    def __init__(self, layout, payload):
        first, rate, growth, tightening, count, _ = layout
        as_float = lambda field: struct.unpack("<d", struct.pack("<Q", field))[0]
        check(1 <= first <= 2**46 and 2 <= growth < 2**32 and 1 <= count <= 64, "impossible layers")
        check(0 < as_float(rate) < 1 and 0 < as_float(tightening) < 1, "an impossible rate")
        words = Words(payload)
        records = [words.numbers(8) for _ in range(count)]
        numbers = [record[0] for record in records]
        check(numbers == sorted(set(numbers)) and numbers[-1] < 65535, "layers out of order")
        for (_, _, _, bits, lines, *_), (_, _, _, more_bits, more_lines, *_) in zip(records, records[1:]):
            check(lines > 0 and more_lines % lines == 0 and more_bits >= bits, "layers that do not nest")
        lines = [words.take(8 * record[4]) for record in records]
        rests = [words.take(record[5] + 2 * record[6]) for record in records]
        words.end()
        self.layers = []
        for (_, room, held, bits, count, stashed, counted, zero), own, rest in zip(records, lines, rests):
            check(held <= room and zero == 0, "an impossible layer")
            layer = LineFilter((bits, count, held, stashed, counted), own + rest)
            found = stashed + sum(len(layer.read(line)[1]) for line in range(count))
            check(found == held, "a layer with more or fewer fingerprints than it says")
            self.layers.append(layer)

    def answer(self, digest):
        return int(any(layer.answer(digest) for layer in self.layers))


class PlacedFilter:
    """Fingerprints in cells of their own."""

    def __init__(self, layout, payload):
        self.cells, self.width, keys, self.attempt = layout
        check(1 <= self.cells <= 2**46 and 1 <= self.width <= 32 and keys <= self.cells and self.attempt < 64, "impossible cells")
        words = Words(payload)
        self.bits = words.bits(self.cells * self.width)
        words.end()
        check(sum(self.cell(at) > 0 for at in range(self.cells)) == keys, "more or fewer cells in use than keys")

    def cell(self, at):
        return number(self.bits, at * self.width, self.width)

    def answer(self, digest):
        *own, last = (word(digest, PLACED, 5 * self.attempt + i) for i in range(5))
        fingerprint = reduce(last, 2**self.width - 1) + 1
        return int(any(self.cell(reduce(w, self.cells)) == fingerprint for w in own))


class MultilevelTable:
    """Levels, places in use and items. Keys and values are for their types to read."""

    def __init__(self, layout, payload):
        count, self.slots, self.stash, moves, attempts, self.generation = layout
        self.policy, *self.parameters = struct.pack("<Q", moves)[:4]
        check(1 <= count <= 64 and 1 <= self.slots <= 1024 and self.stash <= 2**20 and attempts <= 1024, "an impossible table")
        check(self.generation < 2**32 and moves < 2**32 and self.policy <= 4, "an impossible table")
        check(len(payload) >= 8 * count, "the payload has another length than the layout says")
        self.levels = struct.unpack_from(f"<{count}Q", payload)
        check(min(self.levels) >= 1 and self.slots * sum(self.levels) <= 2**46, "impossible levels")
        self.places = self.slots * sum(self.levels) + self.stash
        bits = 8 * count
        hints = bits + 8 * (-(-self.places // 64))
        end = hints + (8 * (-(-sum(self.levels) // 2)) if self.policy in (2, 3) else 0)
        check(len(payload) >= end, "the payload has another length than the layout says")
        self.bits, self.records = payload[bits:hints], payload[end:]
        check(unused_bits_are_zero(self.bits, self.places), "there are bits beyond the last")
        if self.policy in (2, 3):
            places = struct.unpack_from(f"<{sum(self.levels)}I", payload, hints)
            deeper = (place == M32 or self.level(bucket * self.slots) < self.level(place) for bucket, place in enumerate(places))
            check(all(deeper), "a hint at no deeper place")

    def level(self, place):
        """The level of a place; the stash is the one after the last, and there is nothing behind it."""
        for level, buckets in enumerate(self.levels):
            if place < buckets * self.slots:
                return level
            place -= buckets * self.slots
        return len(self.levels) if place < self.stash else -1

    def buckets(self, digest):
        """A key's bucket in each level."""
        own = [word(digest, TABLE, 128 * self.generation + level) for level in range(len(self.levels))]
        if self.policy < 4:
            return [reduce(w, buckets) for w, buckets in zip(own, self.levels)]
        maps, _, fanout = self.parameters
        chosen = [reduce(own[0], self.levels[0])]
        for level, buckets in list(enumerate(self.levels))[1:]:
            child, above = reduce(own[level], fanout), chosen[-1]

            def random(x):
                high = (x ^ spread(PHI)) * (spread(2 * PHI & M64) | 1) & M64
                return word(((128 * self.generation << 32) + 256 * level + child, high), TABLE, 0)

            part = buckets // fanout
            if maps == 0:
                chosen.append(child * part + (above + reduce(random(M64), part)) % part)
            else:
                chosen.append(reduce(random(above), buckets) if maps == 1 else above % buckets)
        return chosen

    def items(self, read_key, digest_of):
        """Level, key and value of each item, its key being where a lookup finds it."""
        at, seen = 0, set()
        for place in (place for place in range(self.places) if bit(self.bits, place)):
            key, at = read_key(self.records, at)
            value, at = u64(self.records, at), at + 8
            level = self.level(place)
            if level < len(self.levels):
                first = self.slots * (sum(self.levels[:level]) + self.buckets(digest_of(key))[level])
                check(first <= place < first + self.slots, "an item in a bucket that is not its own")
            check(key not in seen, "a key twice")
            seen.add(key)
            yield level, key, value
        check(len(self.records) - at < 8 and not any(self.records[at:]), "something behind the last item")


def number(payload, at, width):
    """The number of so many bits from a bit on."""
    return int.from_bytes(payload[at >> 3 : (at + width + 7) >> 3], "little") >> (at & 7) & (1 << width) - 1


def bits_of(most):
    """The bits of a number from 0 to most."""
    return most.bit_length()


def shown(levels):
    return ",".join(map(str, levels)) or "-"


def up_to(level):
    """A level and those above it; of -1, none."""
    return shown(range(level, -1, -1))


def string_of(digest, first, width):
    """The first bits of two words, one behind the other."""
    return (word(digest, SUMMARY, first) << 64 | word(digest, SUMMARY, first + 1)) >> (128 - width)


class Words:
    """A payload, taken from its front."""

    def __init__(self, payload):
        self.payload, self.at = payload, 0

    def take(self, count):
        end = self.at + 8 * count
        check(end <= len(self.payload), "the payload has another length than the layout says")
        taken, self.at = self.payload[self.at : end], end
        return taken

    def numbers(self, count):
        return struct.unpack(f"<{count}Q", self.take(count))

    def bits(self, count):
        taken = self.take(-(-count // 64))
        check(unused_bits_are_zero(taken, count), "there are bits beyond the last")
        return taken

    def end(self):
        check(self.at == len(self.payload), "the payload has another length than the layout says")


class List:
    """The keys of the deepest levels."""

    def __init__(self, first, levels, items, width, bits, start):
        self.first, self.items, self.width, self.bits, self.start = first, items, width, bits, start
        self.level_width = bits_of(levels)
        check(max([self.spilled()] + [level for level, _ in self.entries()]) <= levels, "a level that there is not")
        check(all(level > 0 or string == 0 for level, string in self.entries()), "a string without a level")

    @staticmethod
    def length(levels, items, width):
        check((levels, items, width) == (0, 0, 0) or 1 <= levels <= 63 and 1 <= items <= 1024 and 1 <= width <= 128, "an impossible list")
        return bits_of(levels) + items * (bits_of(levels) + width)

    def spilled(self):
        return number(self.bits, self.start, self.level_width)

    def entries(self):
        for at in range(self.items):
            entry = self.start + self.level_width + at * (self.level_width + self.width)
            yield number(self.bits, entry, self.level_width), number(self.bits, entry + self.level_width, self.width)

    def deepest(self, digest):
        own = string_of(digest, 64, self.width) if self.items else None
        found = [level for level, string in self.entries() if level > 0 and string == own]
        return self.first + max(found + [self.spilled()]) - 1


class MultiFilterSummary:
    """A filter for each level, of bits."""

    width = 2

    def __init__(self, layout, payload):
        count, *of_list = layout
        check(1 <= count <= 64 and count + of_list[0] <= 64, "impossible filters")
        words = Words(payload)
        self.filters = [self.filter(words.numbers(self.width)) for _ in range(count)]
        self.contents(words, of_list)
        words.end()

    def filter(self, record):
        check(1 <= record[0] <= 2**46 and 1 <= record[1] <= 64, "an impossible filter")
        return record

    def contents(self, words, of_list):
        starts = [sum(record[0] for record in self.filters[:at]) for at in range(len(self.filters) + 1)]
        bits = words.bits(starts[-1] + List.length(*of_list))
        self.list = List(len(self.filters), *of_list, bits, starts[-1])
        self.places = [(bits, start, 1) for start in starts[:-1]]

    def has(self, level, digest):
        m, k = self.filters[level][:2]
        bits, start, width = self.places[level]
        places = (start + width * reduce(word(digest, SUMMARY, i), m) for i in range(k))
        return all(number(bits, place, width) > 0 for place in places)

    def answer(self, digest):
        for level in range(len(self.filters)):
            if not self.has(level, digest):
                return up_to(level - 1)
        return up_to(self.list.deepest(digest))


class CountingMultiFilterSummary(MultiFilterSummary):
    """The same of counters, each filter in words of its own."""

    width = 4

    def filter(self, record):
        check(1 <= record[2] <= 8 and record[3] <= 1, "impossible counters")
        return super().filter(record)

    def contents(self, words, of_list):
        self.places = [(words.bits(m * width), 0, width) for m, _, width, _ in self.filters]
        length = List.length(*of_list)
        self.list = List(len(self.filters), *of_list, words.bits(length), 0)


class SingleFilterSummary:
    """A filter of cells, each with a level from 1, or 0."""

    def __init__(self, layout, payload):
        self.cells, self.hashes, self.levels = layout
        check_places(self.cells, self.hashes, 9)
        check(1 <= self.levels <= 64, "impossible levels")
        words = Words(payload)
        self.contents(words)
        words.end()

    def contents(self, words):
        self.three = 4 <= self.levels <= 5
        if self.three:
            length = -(-self.cells // 3)
            self.bits = words.take(-(-length // 8))
            digits = (6 ** min(3, max(0, self.cells - 3 * at)) for at in range(len(self.bits)))
            check(all(byte < most for byte, most in zip(self.bits, digits)), "a byte that is no three cells")
        else:
            self.bits = words.bits(self.cells * bits_of(self.levels))
        check(all(self.cell(at) <= self.levels for at in range(self.cells)), "a level that there is not")

    def cell(self, at):
        if self.three:
            return self.bits[at // 3] // 6 ** (at % 3) % 6
        return number(self.bits, at * bits_of(self.levels), bits_of(self.levels))

    def answer(self, digest):
        return up_to(min(self.cell(place) for place in places(9, SUMMARY, self.hashes, self.cells, digest)) - 1)


class CountingSingleFilterSummary(SingleFilterSummary):
    """A counter for each level in each cell, level by level."""

    def contents(self, words):
        self.widths = words.numbers(self.levels)
        check(all(1 <= width <= 8 for width in self.widths), "impossible counters")
        self.counters = [words.bits(self.cells * width) for width in self.widths]

    def cell(self, at):
        counters = [number(bits, at * width, width) for bits, width in zip(self.counters, self.widths)]
        return max([level + 1 for level, counter in enumerate(counters) if counter > 0], default=0)


class InterpolationSummary:
    """Strings with levels, in order."""

    def __init__(self, layout, payload):
        self.width, levels, count, block_bits = layout
        check(1 <= self.width <= 128 and 1 <= levels <= 64 and count <= 2**46, "an impossible summary")
        check(block_bits <= min(46, self.width), "impossible blocks")
        words, level_width = Words(payload), bits_of(levels - 1)
        lengths = words.numbers(2**block_bits if block_bits > 0 else 0)
        bits = words.bits(count * (self.width + level_width))
        words.end()
        starts = [at * (self.width + level_width) for at in range(count)]
        entries = [(number(bits, at, self.width), number(bits, at + self.width, level_width)) for at in starts]
        strings = [string for string, _ in entries]
        check(strings == sorted(strings) and all(level < levels for _, level in entries), "strings that are not in order")
        blocks = [string >> (self.width - block_bits) for string in strings]
        check(all(blocks.count(block) == length for block, length in enumerate(lengths)), "a string in another block than its own")
        self.entries = entries

    def answer(self, digest):
        own = string_of(digest, 0, self.width)
        return shown(sorted({level for string, level in self.entries if string == own}, reverse=True))


def check_places(m, k, scheme):
    check(1 <= m <= 2**46 and 1 <= k <= 64 and scheme <= 9, "impossible bits, hashes or scheme")
    check(scheme < 8 or (m >= k and m % k == 0), "bands that leave bits over")


# Each kind with the number of its words in the layout.
KINDS = {1: (BloomFilter, 3), 2: (BlockedFilter, 1), 3: (CountingFilter, 5), 4: (CountMinSketch, 4), 5: (GrowingFilter, 5)}
KINDS[6] = DLeftFilter, 6
KINDS[50] = LineFilter, 5
KINDS[16] = MultilevelTable, 6
KINDS[17] = MultiFilterSummary, 4
KINDS[18] = SingleFilterSummary, 3
KINDS[19] = CountingMultiFilterSummary, 4
KINDS[20] = CountingSingleFilterSummary, 3
KINDS[21] = InterpolationSummary, 4
KINDS[48] = DLeftCountingFilter, 7
KINDS[49] = GrowingDLeftCountingFilter, 5
KINDS[51] = PlacedFilter, 4
KINDS[52] = GrowingLineFilter, 6


def read(container):
    """The structure in the bytes, and the seed of its digests."""
    check(len(container) >= 128 and container[:8] == b"\x89oneread", "not a file of oneread")
    version, kind, digester, zero = struct.unpack_from("<4H", container, 8)
    check(version <= 1, "written in a later version")
    seed, payload_length, payload_checksum, zero_too, header_checksum = struct.unpack_from("<16s4Q", container, 16)
    check(xxh3_64(container[:56] + container[64:128]) == header_checksum, "the header is damaged")
    check(version == 1 and zero == 0 and zero_too == 0, "reserved fields are in use")
    check(kind in KINDS, "a structure of unknown kind")
    check(len(container) == 128 + payload_length, "the file was cut short or added to")
    check(digester == 1 and seed[8:] == bytes(8), "made by another digester than the portable one")
    structure, fields = KINDS[kind]
    layout = struct.unpack_from("<8Q", container, 64)
    check(not any(layout[fields:]), "the layout has more fields than its kind")
    payload = container[128:]
    check(xxh3_64(payload) == payload_checksum, "the payload is damaged")
    return structure(layout[:fields], payload), u64(seed, 0)


def query(path, type_):
    with open(path, "rb") as file:
        structure, seed = read(file.read())
    parse = int if type_ == "u64" else str.encode
    for line in sys.stdin:
        print(structure.answer(portable(parse(line.rstrip("\n")), seed)))


def items(path, type_):
    with open(path, "rb") as file:
        table, seed = read(file.read())
    check(isinstance(table, MultilevelTable), "not a table")

    def string(records, at):
        end = at + 8 + u64(records, at)
        return records[at + 8 : end], end

    read_key = string if type_ == "str" else lambda records, at: (u64(records, at), at + 8)
    for level, key, value in table.items(read_key, lambda key: portable(key, seed)):
        print(level, key.decode() if type_ == "str" else key, value, sep="\t")


def checksum():
    for line in sys.stdin:
        print(f"{xxh3_64(bytes.fromhex(line)):016x}")


def vectors(path):
    """Prints how many rows agree; the first that does not is an error."""
    count = 0
    for line in open(path, encoding="ascii").read().splitlines()[1:]:
        digester, seed, type_, key, digest, word_0, word_9 = line.split("\t")
        if digester != "portable":
            continue
        if type_ in ("str", "bytes"):
            key = bytes.fromhex(key)
        elif type_ in ("u128", "i128", "ipv6"):
            key = (int(key) & 2**128 - 1).to_bytes(16, "little")
        else:
            key = int(key)
        low, high = portable(key, int(seed, 16))
        found = f"{high:016x}{low:016x}", f"{word((low, high), FILTER, 0):016x}", f"{word((low, high), FILTER, 9):016x}"
        check(found == (digest, word_0, word_9), f"expected {digest} {word_0} {word_9}, found {found}, in: {line}")
        count += 1
    print(count)


def main():
    command = sys.argv[1:]
    if command[:1] == ["query"] and len(command) == 3 and command[2] in ("u64", "str"):
        query(command[1], command[2])
    elif command[:1] == ["items"] and len(command) == 3 and command[2] in ("u64", "str"):
        items(command[1], command[2])
    elif command == ["checksum"]:
        checksum()
    elif command[:1] == ["vectors"] and len(command) == 2:
        vectors(command[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        print(f"{sys.argv[0]}: {refused}", file=sys.stderr)
        sys.exit(2)
