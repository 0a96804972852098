"""Stores beside dictionaries."""

import multiprocessing
import os
import random
import threading

import pytest

import oneread


def test_a_store_is_a_mapping_beside_a_dictionary(tmp_path):
    path, model, random_ = tmp_path / "a.store", {}, random.Random(1)
    for _ in range(3):
        with oneread.Store(path, sync="never") as store:
            assert dict(store.items()) == model
            for _ in range(2000):
                key = b"%d" % random_.randrange(300)
                if random_.random() < 0.6:
                    store[key] = model[key] = random_.randbytes(random_.choice([0, 10, 3000]))
                elif key in model:
                    del store[key]
                    del model[key]
                else:
                    assert key not in store
                    with pytest.raises(KeyError):
                        del store[key]
            assert len(store) == len(model)
            assert sorted(store) == sorted(model) and sorted(store.values()) == sorted(model.values())
    with oneread.Store(path, "r") as store:
        keys = [b"%d" % key for key in range(400)]
        assert store.get_many(keys) == [model.get(key) for key in keys]
        assert store.get_many(keys, b"-") == [model.get(key, b"-") for key in keys]
        assert store.get(b"none") is None and store.get(b"none", 7) == 7
        with pytest.raises(KeyError):
            store[b"none"]
        assert store.stats()["items"] == len(model)


def test_mixins_of_a_mapping(tmp_path):
    with oneread.Store(tmp_path / "a.store") as store:
        store.update({b"a": b"1", b"b": b"2"})
        assert store.setdefault(b"a", b"3") == b"1" and store.setdefault(b"c", b"3") == b"3"
        assert store.pop(b"a") == b"1" and store.pop(b"a", None) is None
        assert len(store.items()) == 2 and (b"b", b"2") in store.items()
        assert bytearray(b"b") in store and store[memoryview(b"b")] == b"2"
        store.clear()
        assert len(store) == 0 and not list(store)


def test_a_batch_is_applied_as_a_whole(tmp_path):
    with oneread.Store(tmp_path / "a.store") as store:
        store[b"old"] = b"1"
        with store.batch() as batch:
            batch[b"new"] = b"2"
            del batch[b"old"]
            del batch[b"none"]
            assert len(batch) == 3 and b"new" not in store
        assert dict(store) == {b"new": b"2"}
        with pytest.raises(ValueError):
            batch[b"late"] = b"3"
        with pytest.raises(ZeroDivisionError), store.batch() as batch:
            batch[b"x"] = b"1"
            raise ZeroDivisionError
        assert b"x" not in store
        with pytest.raises(ValueError, match="closed"), store.batch() as batch:
            batch[b"x"] = b"1"
            store.close()


def test_sealed_stores(tmp_path):
    path = tmp_path / "sealed.store"
    pairs = {b"%d" % key: b"%d" % (key * key) for key in range(5000)}
    path.write_bytes(b"an older file")
    assert oneread.build(path, pairs) == 5000
    with oneread.Store(path) as store:
        assert dict(store.items()) == pairs and not store.writable
        with pytest.raises(OSError):
            store[b"a"] = b"b"
        with pytest.raises(OSError):
            store.batch()
    with oneread.Store(path, "w") as store:
        store[b"a"] = b"b"
        assert len(store) == 5001
    with pytest.raises(OSError):
        oneread.build(path, pairs)  # a live store is never replaced
    other = tmp_path / "other.store"
    with pytest.raises(ValueError, match="twice"):
        oneread.build(other, [(b"a", b"1"), (b"a", b"2")], duplicates="error")
    assert oneread.build(other, iter([(b"a", b"1"), (b"a", b"2")])) == 1
    assert oneread.Store(other)[b"a"] == b"2"
    for wrong in ([(b"a",)], [("a", b"b")], [(b"a", 1)], [1], 1, [b"ab"]):
        with pytest.raises(TypeError):
            oneread.build(tmp_path / "none.store", wrong)
    assert not (tmp_path / "none.store").exists()


def test_closed_stores_and_bad_arguments(tmp_path):
    path = tmp_path / "a.store"
    store = oneread.Store(path)
    store[b"a"] = b"1"
    iterator = iter(store)
    with pytest.raises(OSError, match="writes"):
        oneread.Store(path)
    for wrong in ("a", 1, None):
        with pytest.raises(TypeError):
            store[wrong]
        with pytest.raises(TypeError):
            store[b"a"] = wrong
        with pytest.raises(TypeError):
            store.get_many([wrong])
    with pytest.raises(ValueError):
        store[b"k" * 2000] = b""
    store.close()
    store.close()
    assert store.closed and "closed" in repr(store)
    for use in (lambda: store[b"a"], lambda: len(store), lambda: list(store), lambda: next(iterator), store.flush):
        with pytest.raises(ValueError, match="closed"):
            use()
    oneread.Store(path).close()  # nothing holds the lock
    for mode, options in [("x", {}), ("c", {"sync": "often"}), ("c", {"sync": -1}), ("c", {"sync": float("nan")})]:
        with pytest.raises(ValueError):
            oneread.Store(path, mode, **options)
    with pytest.raises(ValueError):
        oneread.Store(tmp_path / "new.store", miss_rate=float("nan"))
    with pytest.raises(FileNotFoundError):
        oneread.Store(tmp_path / "none.store", "r")


def test_damaged_and_foreign_files(tmp_path):
    path = tmp_path / "a.store"
    for content in (b"", b"text", b"x" * 10_000, oneread.BloomFilter(10).to_bytes()):
        path.write_bytes(content)
        with pytest.raises(oneread.CorruptError):
            oneread.Store(path)
    path.unlink()
    oneread.build(path, {b"%d" % key: b"v" * 50 for key in range(2000)})
    whole = path.read_bytes()
    refused = 0
    for at in range(0, len(whole), 251):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        try:
            with oneread.Store(path) as store:
                assert dict(store.items()) is not None
        except oneread.CorruptError:
            refused += 1
    assert refused > 0.9 * len(range(0, len(whole), 251))


def test_threads_share_a_store(tmp_path):
    with oneread.Store(tmp_path / "a.store", sync="never") as store:

        def work(number):
            for key in range(200):
                store[b"%d-%d" % (number, key)] = b"%d" % key
                assert store[b"%d-%d" % (number, key)] == b"%d" % key

        threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store) == 800


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_store_cannot_be_used_after_a_fork(tmp_path):
    store = oneread.Store(tmp_path / "a.store")
    store[b"a"] = b"1"
    seen = oneread.BloomFilter(10)
    seen.add("a")

    def child(connection):
        try:
            store[b"a"]
        except RuntimeError as error:
            connection.send((str(error), "a" in seen, oneread.Store(tmp_path / "a.store", "r")[b"a"]))

    parent, connection = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=[connection])
    process.start()
    assert parent.poll(60)
    message, found, value = parent.recv()
    process.join(60)
    assert process.exitcode == 0 and "fork" in message and found and value == b"1"
    store[b"b"] = b"2"
    store.close()
