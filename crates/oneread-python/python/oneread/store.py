"""Stores as mappings."""

from collections.abc import ItemsView, MutableMapping, ValuesView

from ._oneread import BaseStore


class _Values(ValuesView):
    """The values of a store, read page by page rather than key by key."""

    def __iter__(self):
        return self._mapping._values()


class _Items(ItemsView):
    """The pairs of a store, read page by page rather than key by key."""

    def __iter__(self):
        return self._mapping._items()


class Store(BaseStore, MutableMapping):
    """A mapping of bytes to bytes in a file: 1 page read per hit, 0.01 per miss.

    `Store(path, mode="c", *, sync=None, miss_rate=0.01)` opens a store, or creates it with mode "c". A
    sealed store, which `oneread.build` makes, opens read-only; mode "w" makes it a store that changes.
    With mode "r" another process may write meanwhile.

    Each change is safe when it returns. `sync=0.1` syncs a tenth of a second later at most, and
    `sync="never"` only at checkpoints, in `flush` and in `close`; then a crash of the system loses the
    changes since. One process at a time can write. Iteration shows the store as of its beginning.

    >>> import oneread, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "capitals.store")
    >>> with oneread.Store(path) as store:
    ...     store[b"Togo"] = b"Lome"
    ...     with store.batch() as batch:
    ...         batch[b"Peru"] = b"Lima"
    ...         batch[b"Mali"] = b"Bamako"
    ...     del store[b"Mali"]
    >>> with oneread.Store(path) as store:
    ...     store.get_many([b"Peru", b"Mali", b"Togo"])
    [b'Lima', None, b'Lome']
    """

    def items(self):
        """The pairs."""
        return _Items(self)

    def values(self):
        """The values."""
        return _Values(self)

    # A store is equal to itself only: comparing all pairs would read both stores.
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__
