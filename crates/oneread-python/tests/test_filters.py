"""Filters beside sets."""

import copy
import io
import math
import os
import pickle
import random
import threading

import pytest

import oneread


def test_a_filter_never_forgets_beside_a_set(removable):
    """Adds and removes at random; a set with counts is the model."""
    seen, model, random_ = removable(4000, 1e-5, seed=1), {}, random.Random(2)
    for _ in range(20_000):
        key = random_.randrange(2000)
        if random_.random() < 0.5:
            if model.get(key, 0) < 2:  # few enough copies for every kind to count
                seen.add(key)
                model[key] = model.get(key, 0) + 1
        elif model.get(key):
            seen.remove(key)
            model[key] -= 1
    present = [key for key, count in model.items() if count]
    assert len(present) > 500
    assert all(key in seen for key in present)
    # A rate of 1e-5: four false positives among 2000 absent keys have a probability of 7e-9.
    assert sum(key in seen for key in range(10_000, 12_000)) <= 3
    absent = [key for key in range(2000) if not model.get(key)]
    assert len(absent) > 200 and sum(key in seen for key in absent) <= 3
    with pytest.raises(KeyError):
        seen.remove("absent")
    assert not seen.discard("absent")


def test_the_rate_is_kept(kind):
    """A binomial number of false positives, 6 standard deviations: 1e-9."""
    items, rate, trials = 5000, 0.01, 50_000
    seen = kind(items, rate, seed=3)
    seen.add_many(range(items))
    assert seen.contains_many(range(items)).all()
    found = int(seen.contains_many(range(10**6, 10**6 + trials)).sum())
    assert found <= trials * rate + 6 * math.sqrt(trials * rate)
    assert seen.rate <= 1.2 * rate
    # The estimate from bits has a standard error below 1.5% here; d-left filters skip duplicates.
    assert 0.9 * items < len(seen) < 1.1 * items


def test_set_habits(kind):
    seen = kind(1000, 1e-5, seed=4)
    assert not seen and len(seen) == 0 and "a" not in seen
    seen.update(["a", "b"], range(3), b"\x07")
    assert seen and "a" in seen and 2 in seen and 7 in seen and 8 not in seen
    twin = seen.copy()
    assert twin == seen and not (twin != seen) and seen != 1
    twin.add("c")
    assert twin != seen and "c" not in seen
    assert copy.copy(seen) == copy.deepcopy(seen) == pickle.loads(pickle.dumps(seen)) == seen
    assert type(pickle.loads(pickle.dumps(seen))) is kind
    assert seen.add_if_absent("d") and not seen.add_if_absent("d")
    text = repr(seen)
    assert text.startswith(f"{kind.__name__}(items=") and "bits=" in text and "rate=" in text
    with pytest.raises(TypeError):
        hash(seen)
    seen.clear()
    assert not seen and "a" not in seen
    assert seen.seed == 4 and 0 <= seen.load <= 1 and seen.bits > 0


@pytest.mark.parametrize("name", ["BloomFilter", "BlockedBloomFilter", "CountingBloomFilter", "DLeftFilter", "LineFilter", "GrowingFilter"])
def test_unions(name):
    make = getattr(oneread, name)
    a, b = make(1000, 1e-5, seed=5), make(1000, 1e-5, seed=5)
    a.update(range(100))
    b.update(range(100, 200))
    both = a | b
    assert "x" not in both and all(key in both for key in range(200))
    assert 150 not in a
    a |= b
    assert all(key in a for key in range(200))
    before = a.to_bytes()
    a |= a
    a.update(a)
    assert a.to_bytes() == before
    for other in (make(1000, 1e-5, seed=6), make(5000, 1e-5, seed=5)):
        with pytest.raises(ValueError):
            a |= other
    with pytest.raises(TypeError):
        a |= {1}
    assert a.to_bytes() == before


@pytest.mark.parametrize("name", ["BloomFilter", "BlockedBloomFilter"])
def test_intersections(name):
    make = getattr(oneread, name)
    a, b = make(1000, 1e-5, seed=5), make(1000, 1e-5, seed=5)
    a.update(range(100))
    b.update(range(50, 150))
    both = a & b
    assert all(key in both for key in range(50, 100)) and 3 not in both and 120 not in both
    a &= b
    assert a == both
    line = oneread.LineFilter(100)
    with pytest.raises(TypeError):
        line & line.copy()


def test_files(kind, tmp_path):
    path = tmp_path / "a.filter"
    seen = kind(1000, 1e-5)
    seen.add_many(range(500))
    seen.save(path)
    for mmap in (False, True):
        for opener in (kind, oneread.Filter):
            opened = opener.open(path, mmap=mmap, verify=True)
            assert type(opened) is kind and opened == seen and opened.seed == seen.seed
            assert opened.contains_many(range(500)).all() and 501 not in opened
    mapped = kind.open(str(path), mmap=True)
    for change in (lambda: mapped.add(1), mapped.clear, lambda: mapped.add_many([1]), lambda: mapped.update(seen)):
        with pytest.raises(io.UnsupportedOperation):
            change()
    changed = mapped.copy()
    changed.add("new")
    changed.save(path)  # replaces the file; the map keeps the old one
    assert "new" not in mapped and "new" in kind.open(path) and mapped.to_bytes() == seen.to_bytes()
    assert pickle.loads(pickle.dumps(mapped)) == seen
    assert os.listdir(tmp_path) == ["a.filter"]


def test_damaged_and_foreign_files(kind, tmp_path):
    seen = kind(300, 1e-3, seed=7)
    seen.add_many(range(300))
    whole = seen.to_bytes()
    path = tmp_path / "a.filter"
    for at in [*range(0, 200, 7), *range(200, len(whole), 97)]:
        damaged = bytearray(whole)
        damaged[at] ^= 1
        with pytest.raises(oneread.CorruptError):
            kind.from_bytes(damaged)
        path.write_bytes(damaged)
        with pytest.raises(oneread.CorruptError):
            kind.open(path, mmap=True, verify=True)
        try:  # without verification, only the header is checked, and queries do not fail
            kind.open(path, mmap=True).contains_many(range(1000))
        except oneread.CorruptError:
            pass
    for cut in (0, 1, 50, len(whole) - 1):
        with pytest.raises(oneread.CorruptError):
            kind.from_bytes(whole[:cut])
    for foreign in (b"text", b"x" * 500, oneread.CountMinSketch(0.1, 0.1).to_bytes()):
        with pytest.raises(oneread.CorruptError):
            oneread.Filter.from_bytes(foreign)
    other = oneread.BloomFilter if kind is not oneread.BloomFilter else oneread.LineFilter
    with pytest.raises(oneread.CorruptError, match=kind.__name__):
        other.from_bytes(whole)
    with pytest.raises(FileNotFoundError):
        kind.open(tmp_path / "none")
    with pytest.raises(OSError):
        kind.open(tmp_path, mmap=True)
    with pytest.raises(OSError):
        seen.save(tmp_path / "none" / "a.filter")


def test_bad_sizes_are_refused(kind):
    for items, rate in [(10, math.nan), (10, 0.0), (10, 1.5), (10, -1.0), (10, math.inf), (2**63, 0.01)]:
        with pytest.raises((ValueError, MemoryError)):
            kind(items, rate)
    for wrong in ("10", None, 1.5):
        with pytest.raises(TypeError):
            kind(wrong, 0.01)
    with pytest.raises(OverflowError):
        kind(-1, 0.01)
    with pytest.raises(TypeError):
        oneread.Filter()


def test_a_full_filter_says_so():
    seen = oneread.LineFilter(100, 0.01)
    with pytest.raises(oneread.FullError):
        seen.add_many(range(100_000))
    assert 0 in seen and len(seen) >= 100


def test_threads_share_a_filter():
    seen = oneread.LineFilter(40_000, 1e-5)

    def work(number):
        keys = range(number * 10_000, (number + 1) * 10_000)
        seen.add_many(keys)
        assert seen.contains_many(keys, threads=2).all()
        for key in keys[::100]:
            assert key in seen
        twin = seen.copy()
        assert twin != 1 and (twin == seen or True)

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 40_000


def test_two_filters_joined_with_each_other_do_not_wait_forever():
    a, b = (oneread.BloomFilter(1000, 0.01, seed=1) for _ in range(2))

    def work(one, other):
        for _ in range(200):
            one |= other
            one == other  # noqa: B015

    threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in [(a, b), (b, a)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_count_min_is_never_too_low(tmp_path):
    random_, counts = random.Random(8), {}
    sketch = oneread.CountMinSketch(0.001, 0.001, seed=1)
    for _ in range(5000):
        key = random_.randrange(500)
        counts[key] = counts.get(key, 0) + 1
        sketch.add(key)
    sketch.add_many(list(counts))
    estimates = sketch.estimate_many(list(counts)).tolist()
    assert all(estimate >= count + 1 for estimate, count in zip(estimates, counts.values()))
    assert sketch.total == 5000 + len(counts)
    assert sketch["absent"] <= 0.001 * sketch.total + 1
    path = tmp_path / "a.sketch"
    sketch.save(path)
    for opened in (oneread.CountMinSketch.open(path), oneread.CountMinSketch.open(path, mmap=True, verify=True)):
        assert opened == sketch and opened[3] == sketch[3]
        assert pickle.loads(pickle.dumps(opened)) == sketch
    with pytest.raises(io.UnsupportedOperation):
        opened.add(1)
    twice = sketch + sketch
    assert twice.total == 2 * sketch.total and twice[3] == 2 * sketch[3]
    twice += twice
    assert twice[3] == 4 * sketch[3]
    sketch.clear()
    assert not sketch and twice
    with pytest.raises(ValueError):
        twice += oneread.CountMinSketch(0.01, 0.001, seed=1)
    with pytest.raises(ValueError):
        oneread.CountMinSketch(math.nan, 0.1)
    with pytest.raises(oneread.CorruptError):
        oneread.CountMinSketch.from_bytes(oneread.BloomFilter(10).to_bytes())
