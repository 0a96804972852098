"""Compares the package with others: rounds are interleaved, and ratios are of their medians.

`cargo xtask bench python` installs what it needs. `--quick` takes fewer keys and rounds.
"""

import os
import random
import statistics
import sys
import tempfile
import time

import numpy

import oneread

QUICK = "--quick" in sys.argv
KEYS = 200_000 if QUICK else 2_000_000
SINGLES = 50_000 if QUICK else 300_000
ROUNDS = 3 if QUICK else 7
RATE = 0.01


def timed(work, keys):
    """Nanoseconds per key."""
    start = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - start) / keys


def contest(title, unit, contenders):
    """Contenders are a name and a function that returns a time; the first is ours."""
    times = {name: [] for name, _ in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders:
            times[name].append(work())
    medians = {name: statistics.median(values) for name, values in times.items()}
    ours = next(iter(medians.values()))
    print(f"\n{title} ({unit})")
    for name, median in medians.items():
        print(f"  {name:44} {median:10.1f} ns   {median / ours:6.2f} of ours")


def peers():
    """Filters of other packages: a name, the filter, and its method that adds."""
    found = []
    try:
        import rbloom

        found.append(("rbloom", rbloom.Bloom(KEYS, RATE), "add"))
    except ImportError as error:
        print(f"rbloom: {error}")
    try:
        import pybloomfilter

        found.append(("pybloomfiltermmap3", pybloomfilter.BloomFilter(KEYS, RATE), "add"))
    except ImportError as error:
        print(f"pybloomfiltermmap3: {error}")
    try:
        import fastbloom_rs

        found.append(("fastbloom-rs", fastbloom_rs.BloomFilter(KEYS, RATE), "add"))
    except ImportError as error:
        print(f"fastbloom-rs: {error}")
    return found


def filters():
    keys = numpy.arange(KEYS, dtype="uint64") * 2
    half = numpy.arange(KEYS, dtype="uint64")  # every other one is present
    ours = oneread.BloomFilter(KEYS, RATE)
    ours.add_many(keys)
    singles = half[:SINGLES].tolist()
    others = peers()
    for name, seen, add in others:
        add = getattr(seen, add)
        for key in keys.tolist():
            add(key)

    def loop(seen):
        def work():
            for key in singles:
                key in seen  # noqa: B015

        return lambda: timed(work, SINGLES)

    contest(
        "`key in filter`, integers, half of them present",
        "per key",
        [("oneread.BloomFilter", loop(ours)), *((name, loop(seen)) for name, seen, _ in others)],
    )
    contest(
        "the same keys as one batch",
        "per key",
        [
            ("oneread, numpy uint64", lambda: timed(lambda: ours.contains_many(half), KEYS)),
            ("oneread, 2 threads", lambda: timed(lambda: ours.contains_many(half, threads=2), KEYS)),
            *((f"{name}, a loop", loop(seen)) for name, seen, _ in others),
        ],
    )


def stores():
    try:
        import lmdb
    except ImportError as error:
        print(f"lmdb: {error}")
        return
    items = KEYS // 10
    pairs = [(b"%016d" % number, b"v" * 100) for number in range(items)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.store")
        oneread.build(path, pairs)
        environment = lmdb.open(os.path.join(folder, "lmdb"), map_size=1 << 32)
        with environment.begin(write=True) as transaction:
            transaction.cursor().putmulti(pairs)
        wanted = [key for key, _ in random.Random(1).sample(pairs, 1000)]
        with oneread.Store(path) as store, environment.begin() as transaction:
            store.get_many(wanted)

            def each(get):
                def work():
                    for key in wanted:
                        get(key)

                return lambda: timed(work, len(wanted))

            contest(
                "1,000 warm keys of a store",
                "per key",
                [
                    ("oneread.Store.get_many", lambda: timed(lambda: store.get_many(wanted), len(wanted))),
                    ("oneread.Store.get, a loop", each(store.get)),
                    ("py-lmdb get, a loop", each(transaction.get)),
                ],
            )
        environment.close()


filters()
stores()
