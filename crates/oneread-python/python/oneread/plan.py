"""Sizes and odds of filters and stores, before anything is built."""

from dataclasses import dataclass, fields
from html import escape

from . import _oneread


class _Table:
    """Shows the fields of a dataclass as a table in notebooks."""

    def _repr_html_(self):
        rows = (
            f"<tr><th style='text-align:left'>{escape(field.name)}</th>"
            f"<td>{escape(_shown(getattr(self, field.name)))}</td></tr>"
            for field in fields(self)
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{''.join(rows)}</table>"


def _shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True)
class FilterPlan(_Table):
    """The smallest filter that meets its targets."""

    structure: str
    """The class, as it is named in Rust; most are named so here."""
    items: int
    rate: float
    """The false-positive rate with all keys in it."""
    bits: int
    bits_per_key: float
    bits_over_optimum: float
    """The bits per key above the least of any filter with this rate."""
    lines_per_hit: float
    """Cache lines read per lookup of a present key."""
    lines_per_miss: float


@dataclass(frozen=True)
class StorePlan(_Table):
    """A store for records of one size."""

    items: int
    page_records: int
    """The records that fit on a page."""
    reads_per_hit: float
    reads_per_miss: float
    ram_bytes: int
    ram_bytes_per_key: float
    disk_bytes: int
    utilisation: float
    """The fraction of page bytes that records take."""


def filter(
    items,
    rate=None,
    *,
    max_bytes=None,
    remove=False,
    growth=False,
    threads=False,
    one_line=False,
    one_page=False,
):
    """The smallest filter for a rate; or the lowest rate in `max_bytes`, if no rate is given.

    >>> from oneread import plan
    >>> plan.filter(items=1_000_000, rate=0.001, remove=True).structure
    'LineFilter'
    >>> plan.filter(items=1_000_000, max_bytes=2_000_000).rate < 0.001
    True
    """
    return FilterPlan(
        **_oneread.plan_filter(items, rate, max_bytes, remove, growth, threads, one_line, one_page)
    )


def store(items, *, key_bytes=16, value_bytes=100, reads_per_miss=0.01, ram_bytes=None):
    """The smallest store for its page reads per lookup of an absent key.

    >>> from oneread import plan
    >>> plan.store(items=1_000_000).ram_bytes_per_key < 1.2
    True
    """
    return StorePlan(**_oneread.plan_store(items, key_bytes, value_bytes, reads_per_miss, ram_bytes))
