"""Drives the module with redis-py's bf(), cf() and cms(), as an existing user would."""

import sys

import redis

port, protocol = int(sys.argv[1]), int(sys.argv[2])
client = redis.Redis(host="127.0.0.1", port=port, protocol=protocol)


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except redis.ResponseError:
        return True
    return False


def field(info, attribute, name):
    """The client makes an object of what RESP2 sends, and leaves RESP3's map, with names as bytes or text."""
    if isinstance(info, dict):
        return {key.decode() if isinstance(key, bytes) else key: value for key, value in info.items()}[name]
    return getattr(info, attribute)


# Bloom filters.
bloom = client.bf()
assert bloom.create("b", 0.01, 1000)
assert refused(bloom.create, "b", 0.01, 1000)
assert bloom.create("expanding", 0.01, 1000, expansion=4)
assert bloom.create("rigid", 0.01, 1000, noScale=True)
assert refused(bloom.create, "neither", 0.01, 1000, expansion=4, noScale=True)
assert bloom.add("b", "foo") == 1
assert bloom.add("b", "foo") == 0
assert list(bloom.madd("b", "foo", "bar", "baz")) == [0, 1, 1]
assert list(bloom.insert("made", ["a", "b"], capacity=100, error=0.001, expansion=2)) == [1, 1]
assert refused(bloom.insert, "absent", ["a"], noCreate=True)
assert bloom.exists("b", "foo") == 1
assert bloom.exists("b", "nothing") == 0
assert list(bloom.mexists("b", "foo", "nothing")) == [1, 0]
assert bloom.card("b") == 3
info = bloom.info("expanding")
assert field(info, "capacity", "Capacity") == 1000
assert field(info, "insertedNum", "Number of items inserted") == 0
assert field(info, "filterNum", "Number of filters") == 1
assert field(info, "expansionRate", "Expansion rate") == 4
assert field(bloom.info("rigid"), "expansionRate", "Expansion rate") is None

# The way that RedisBloom's users copy a filter.
chunks, number = [], 0
while True:
    number, data = bloom.scandump("b", number)
    if number == 0:
        break
    chunks.append((number, data))
client.delete("b")
for number, data in chunks:
    assert bloom.loadchunk("b", number, data)
assert list(bloom.mexists("b", "foo", "bar", "nothing")) == [1, 1, 0]

# Cuckoo filters.
cuckoo = client.cf()
assert cuckoo.create("c", 1000, bucket_size=4, expansion=2, max_iterations=30)
assert cuckoo.add("c", "foo")
assert not cuckoo.addnx("c", "foo")
assert cuckoo.addnx("c", "bar")
assert cuckoo.exists("c", "foo") and not cuckoo.exists("c", "nothing")
assert list(cuckoo.mexists("c", "foo", "nothing")) == [1, 0]
assert cuckoo.count("c", "foo") == 1
assert list(cuckoo.insert("c", ["x", "y"])) == [1, 1]
assert list(cuckoo.insertnx("c", ["x", "z"])) == [0, 1]
assert cuckoo.delete("c", "foo")
assert not cuckoo.delete("c", "foo")
info = cuckoo.info("c")
assert field(info, "insertedNum", "Number of items inserted") == 4
assert field(info, "deletedNum", "Number of items deleted") == 1
assert field(info, "bucketSize", "Bucket size") == 4
assert field(info, "expansionRate", "Expansion rate") == 2
assert field(info, "maxIteration", "Max iterations") == 30
chunks, number = [], 0
while True:
    number, data = cuckoo.scandump("c", number)
    if number == 0:
        break
    chunks.append((number, data))
client.delete("c")
for number, data in chunks:
    assert cuckoo.loadchunk("c", number, data)
assert cuckoo.exists("c", "bar") and not cuckoo.exists("c", "foo")

# Sketches.
sketch = client.cms()
assert sketch.initbydim("s", 1000, 5)
assert sketch.initbyprob("p", 0.01, 0.01)
assert refused(sketch.initbydim, "s", 1000, 5)
assert list(sketch.incrby("s", ["a", "b"], [3, 4])) == [3, 4]
assert list(sketch.query("s", "a", "b", "c")) == [3, 4, 0]
info = sketch.info("s")
assert [field(info, name, name) for name in ("width", "depth", "count")] == [1000, 5, 7]
assert sketch.initbydim("t", 1000, 5)
assert sketch.merge("t", 1, ["s"])
assert list(sketch.query("t", "a")) == [3]
assert sketch.merge("t", 2, ["s", "t"], weights=[1, 2])
assert list(sketch.query("t", "a")) == [9]
assert refused(sketch.merge, "t", 1, ["p"])
assert refused(sketch.query, "nothing", "a")
