"""Batches answer as single keys do, whatever holds the keys."""

import threading

import numpy
import pytest

import oneread

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def check(keys, singles, absent, absent_singles):
    """The first half of the keys is added at once, and then all are looked up."""
    seen, model = (oneread.LineFilter(10_000, 1e-9, seed=1) for _ in range(2))
    seen.add_many(keys)
    for key in singles:
        model.add(key)
    assert len(seen) == len(model) and all(key in seen for key in singles)
    for threads in (1, 3):
        found = seen.contains_many(keys, threads=threads)
        assert found.dtype == bool and found.all() and len(found) == len(singles)
        found = seen.contains_many(absent, threads=threads)
        assert found.tolist() == [key in model for key in absent_singles]
        assert not found.all()
    assert seen.discard_many(keys) == len(singles) and not seen


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numpy_integers(dtype):
    info = numpy.iinfo(dtype)
    keys = numpy.array([info.min, info.max, 0, 1, 5, 100], dtype=dtype)
    absent = numpy.array([2, 3, 100], dtype=dtype)
    check(keys, [int(key) for key in keys], absent, [2, 3, 100])


def test_numpy_strings():
    keys = numpy.array([b"", b"a", b"ab", b"a\0b", b"0123456789abcdef"])
    check(keys, list(keys), numpy.array([b"b", b"ab"]), [b"b", b"ab"])
    text = numpy.array(["é", "ab"])
    check(text, ["é", "ab"], numpy.array(["x", "ab"]), ["x", "ab"])


def test_large_batches_on_threads():
    keys = numpy.arange(300_000, dtype="uint64")
    seen = oneread.BloomFilter(300_000, 1e-3, seed=2)
    seen.add_many(keys[::2].copy())
    one = seen.contains_many(keys)
    assert one[::2].all() and one[1::2].mean() < 2e-3
    for threads in (2, 7):
        assert (seen.contains_many(keys, threads=threads) == one).all()
    assert (seen.contains_many(iter(range(300_000))) == one).all()
    single = numpy.array([int(key) in seen for key in keys[:20_000]])
    assert (one[:20_000] == single).all()


def test_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    text = ["", "é", "ab", "a" * 12, "a" * 13, "x" * 5000]
    for kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view"):
        if hasattr(pyarrow, kind):
            array = pyarrow.array(text, type=getattr(pyarrow, kind)())
            check(array, text, pyarrow.array(["no", "ab"], type=array.type), ["no", "ab"])
            check(array[1:4], text[1:4], array[:2], text[:2])
    for kind in INTEGERS:
        array = pyarrow.array([1, 2, 100], type=getattr(pyarrow, kind)())
        absent = pyarrow.array([3, 2], type=array.type)
        check(array, [1, 2, 100], absent, [3, 2])
    chunks = pyarrow.chunked_array([["a"], [], ["b", "c"]], type=pyarrow.string())
    check(chunks, ["a", "b", "c"], pyarrow.array(["d"]), ["d"])
    fixed = pyarrow.array([b"0123456789abcdef"], type=pyarrow.binary(16))
    check(fixed, [b"0123456789abcdef"], pyarrow.array([b"x" * 16], type=pyarrow.binary(16)), [b"x" * 16])
    seen = oneread.BloomFilter(10)
    with pytest.raises(ValueError, match="null"):
        seen.add_many(pyarrow.array(["a", None]))
    for wrong in (pyarrow.array([1.5]), pyarrow.array([[1]]), pyarrow.table({"a": [1]})):
        with pytest.raises(TypeError):
            seen.add_many(wrong)
    assert not seen


def test_polars_and_pandas():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for series in (polars.Series, pandas.Series):
        check(series(["a", "bc", "é" * 20]), ["a", "bc", "é" * 20], series(["x", "a"]), ["x", "a"])
        check(series([1, -2, 300]), [1, -2, 300], series([5, 300]), [5, 300])


def test_plain_iterables_and_buffers():
    check([1, "a", (2, "b")], [1, "a", (2, "b")], [3, "a"], [3, "a"])
    check(b"\x01\x05", [1, 5], bytearray(b"\x05\x06"), [5, 6])
    check({"a": 1, "b": 2}, ["a", "b"], {"c"}, ["c"])
    seen = oneread.BloomFilter(10, 1e-9)
    seen.add_many(iter([1, "a"]))
    assert seen.contains_many(iter(["a", "b", 1])).tolist() == [True, False, True]
    assert seen.contains_many([]).tolist() == seen.contains_many(numpy.array([], dtype="int32")).tolist() == []


def test_arrays_that_are_no_keys():
    seen = oneread.BloomFilter(10)
    for wrong in (numpy.array([1.5]), [1.5], 7, None, [None], numpy.array([None])):
        with pytest.raises(TypeError):
            seen.add_many(wrong)
    for wrong in (numpy.zeros((2, 2), dtype=int), numpy.arange(10)[::2], numpy.array([1], dtype=">i4")):
        with pytest.raises(ValueError):
            seen.contains_many(wrong)
    for threads in (0, 1000):
        with pytest.raises(ValueError):
            seen.contains_many([1], threads=threads)

    def failing():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        seen.add_many(failing())


def test_a_buffer_that_changes_meanwhile_gives_some_answers():
    keys, seen = numpy.arange(100_000, dtype="uint64"), oneread.BloomFilter(1000)
    done = threading.Event()

    def change():
        while not done.is_set():
            keys[:] = keys[::-1].copy()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            assert len(seen.contains_many(keys)) == len(keys)
    finally:
        done.set()
        thread.join()
