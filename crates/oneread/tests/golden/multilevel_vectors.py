"""Exact odds of small multilevel tables, in fractions: what tests/it/plan/multilevel.rs compares with.

    python3 multilevel_vectors.py > multilevel_vectors.tsv

An independent program: it goes through all ways to divide items among buckets, and knows no generating functions.
"""

from fractions import Fraction
from functools import lru_cache
from math import factorial, log, perm


def partitions(items, largest):
    """The ways to write a number as a sum of positive ones, none above `largest`, in falling order."""
    if items == 0:
        yield ()
        return
    for first in range(min(items, largest), 0, -1):
        for rest in partitions(items - first, first):
            yield (first, *rest)


@lru_cache(maxsize=None)
def passed_on(items, buckets, slots):
    """The distribution of the items that a level passes on, as a tuple of (number, probability)."""
    ways = {}
    for loads in partitions(items, items):
        # Which items go together, and into which buckets.
        divisions = factorial(items)
        for load in loads:
            divisions //= factorial(load)
        for load in set(loads):
            divisions //= factorial(loads.count(load))
        beyond = sum(max(load - slots, 0) for load in loads)
        ways[beyond] = ways.get(beyond, 0) + divisions * perm(buckets, len(loads))
    return tuple(sorted((beyond, Fraction(count, buckets**items)) for beyond, count in ways.items() if count))


def plan(items, levels, slots):
    reach = {items: Fraction(1)}
    expected = []
    for buckets in levels:
        after = {}
        placed = Fraction(0)
        for number, weight in reach.items():
            for beyond, chance in passed_on(number, buckets, slots):
                after[beyond] = after.get(beyond, 0) + weight * chance
                placed += weight * chance * (number - beyond)
        expected.append(placed)
        reach = after
    return expected, sum(weight for number, weight in reach.items() if number > 0)


def natural_log(fraction):
    return log(fraction.numerator) - log(fraction.denominator) if fraction else float("-inf")


TABLES = [
    (1, [1], 1), (2, [1], 1), (2, [1, 1], 1), (3, [2, 1], 1), (5, [4, 2, 1], 1), (10, [8, 4, 2], 1),
    (12, [20, 10, 5], 1), (20, [10, 10, 10, 10], 1), (20, [100, 50, 20], 1), (25, [6, 40, 3, 9], 1),
    (8, [1000, 1000, 1000, 1000], 1), (6, [10**6] * 6, 1), (7, [10**9] * 6, 1), (30, [5, 5, 5], 1),
    (40, [60, 30, 15, 7, 3], 1),
    (3, [1, 1], 2), (5, [2, 1], 2), (9, [3, 2, 1], 2), (16, [8, 4, 2], 2), (20, [30, 10], 2), (20, [5, 3, 2], 3),
    (24, [4, 2, 1], 4), (18, [40, 20, 10], 2), (12, [500, 500], 3), (30, [3, 2], 8), (10, [10**6, 10**6], 4),
    (16, [10**9, 10**9, 10**9], 4), (36, [2, 2, 2], 7), (30, [6, 1], 5), (26, [9, 4, 3], 3),
]

for items, levels, slots in TABLES:
    expected, crisis = plan(items, levels, slots)
    print(
        items, ",".join(map(str, levels)), slots,
        ",".join(repr(float(load)) for load in expected), repr(float(crisis)), repr(natural_log(crisis)),
        sep="\t",
    )
