"""Digests equal those of Rust, in every process."""

import os
import pathlib
import pickle
import subprocess
import sys
import uuid

import numpy
import pytest

import oneread

# Written by a program that shares no code with the library, and checked by the tests in Rust.
VECTORS = pathlib.Path(__file__).parents[2] / "oneread/tests/golden/digest_vectors.tsv"

INTEGERS = {"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "usize", "isize", "bool"}


def vectors():
    for line in VECTORS.read_text().splitlines()[1:]:
        digester, seed, kind, key, digest = line.split("\t")[:5]
        if digester == "portable":
            yield int(seed, 16), kind, key, bytes.fromhex(digest)[::-1]


def test_integers_have_the_digests_of_the_golden_file():
    checked = 0
    for seed, kind, key, digest in vectors():
        wide = kind in {"u128", "i128"} and not -(2**63) <= int(key) < 2**64
        if kind in INTEGERS or wide:
            assert oneread.digest(int(key), seed=seed) == digest, (kind, key)
            checked += 1
    assert checked > 50


def test_bytes_have_the_digests_of_the_golden_file():
    checked = 0
    for seed, kind, key, digest in vectors():
        if kind == "bytes":
            data = bytes.fromhex(key)
            for form in (data, bytearray(data), memoryview(data)):
                assert oneread.digest(form, seed=seed) == digest, key
            checked += 1
    assert checked > 20


def test_equal_keys_of_other_types_have_one_digest():
    def digest(key):
        return oneread.digest(key, seed=7)

    assert digest("é") == digest("é".encode())
    assert digest(True) == digest(1) == digest(numpy.uint8(1)) == digest(numpy.int64(1))
    number = uuid.UUID(int=7)
    assert digest(number) == digest(number.bytes)
    distinct = [
        7,
        2**64,
        2**64 + 7,
        2**126,
        -(2**63) - 1,
        -(2**127),
        2**128,
        -(2**127) - 1,
        2**200,
        -(2**200),
        "7",
        (7,),
        (7, 7),
        ("77",),
        ("7", "7"),
        (("7",), "7"),
        ("7", ("7",)),
    ]
    assert len({digest(key) for key in distinct}) == len(distinct)


def test_what_is_no_key_is_refused():
    seen = oneread.BloomFilter(10)
    for wrong in (1.5, None, [1], {}, object(), (1, None), numpy.float64(1)):
        with pytest.raises(TypeError):
            seen.add(wrong)
        with pytest.raises(TypeError):
            wrong in seen  # noqa: B015
    nested = ()
    for _ in range(100_000):
        nested = (nested,)
    for wrong in ((), tuple(range(9)), nested):
        with pytest.raises(ValueError):
            seen.add(wrong)
    with pytest.raises(ValueError):
        seen.add("\ud800")
    assert not seen


CHILD = """
import pickle, sys
seen = pickle.loads(bytes.fromhex(sys.stdin.read()))
keys = ["a", b"b", 3, ("c", 4), 2**70]
print([key in seen for key in keys], ["x" in seen, 5 in seen], hash("a"))
"""


def test_a_pickled_filter_answers_in_another_process(kind):
    seen = kind(100, 1e-5)
    seen.update(["a", b"b", 3, ("c", 4), 2**70])
    hashes = set()
    for seed in ("1", "2"):
        child = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=pickle.dumps(seen).hex(),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        answers, other = child.stdout.rsplit("] ", 1)
        assert answers == "[True, True, True, True, True] [False, False"
        hashes.add(other)
    assert len(hashes) == 2  # the seeds did change the hashes of Python


def test_tuples_are_hashed_as_the_format_says():
    """docs/format.md: a tag and a count; then words, wide words and strings with their tags."""

    def written(part):
        if isinstance(part, int):
            word = -(2**63) <= part < 2**64
            size, tag = (8, 1) if word else (16, 2)
            return bytes([tag]) + (part % 2 ** (8 * size)).to_bytes(size, "little")
        if isinstance(part, tuple):
            return bytes([0xFF, len(part)]) + b"".join(map(written, part))
        data = part.encode() if isinstance(part, str) else part
        return b"\x03" + len(data).to_bytes(8, "little") + data

    for key in [("a",), (1, -1), ("ab", "c"), ("a", b"bc"), (uuid.UUID(int=5).bytes,), (2**64, ("x", (7,)), "y" * 100), tuple(range(8))]:
        assert oneread.digest(key, seed=9) == oneread.digest(written(key), seed=9)
    number = uuid.UUID(int=5)
    assert oneread.digest((number,), seed=9) == oneread.digest((number.bytes,), seed=9)
