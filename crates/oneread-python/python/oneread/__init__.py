"""Filters, Count-Min sketches, key-value stores and their planner.

>>> import oneread
>>> seen = oneread.LineFilter(1_000_000, 0.001)
>>> "https://example.org/" in seen
False
>>> seen.add("https://example.org/")
>>> "https://example.org/" in seen
True
"""

import os as _os

from . import _oneread, plan
from ._oneread import (
    BlockedBloomFilter,
    BloomFilter,
    CorruptError,
    CountingBloomFilter,
    CountMinSketch,
    DLeftCountingFilter,
    DLeftFilter,
    Filter,
    FullError,
    GrowingFilter,
    GrowingLineFilter,
    LineFilter,
    RemovableFilter,
    build,
    digest,
)
from .store import Store

# A child notices that it cannot use the stores of its parent.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_oneread.forked)

__all__ = [
    "BlockedBloomFilter",
    "BloomFilter",
    "CorruptError",
    "CountMinSketch",
    "CountingBloomFilter",
    "DLeftCountingFilter",
    "DLeftFilter",
    "Filter",
    "FullError",
    "GrowingFilter",
    "GrowingLineFilter",
    "LineFilter",
    "RemovableFilter",
    "Store",
    "build",
    "digest",
    "plan",
]
