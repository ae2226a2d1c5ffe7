"""Blocks that are leased for reading.

After release() the lease and the memoryviews that it gave out raise. What was made from them (slices, NumPy arrays)
stays valid and keeps the blocks pinned until it is gone: no reader ever sees other bytes.
"""

from __future__ import annotations

import operator

from .errors import Stale
from .process import process_check, process_token


class Lease:
    """A sequence of read-only memoryviews, one a block; of an unordered one, None for a block that is missing.

    Release it, or use it as a context manager.
    """

    __slots__ = ("_native", "_count", "_views", "_process")

    def __init__(self, native):
        self._native = native
        self._count = native.count
        self._views: dict[int, memoryview | None] = {}
        self._process = process_token()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> memoryview | None:
        position = operator.index(index)
        if position < 0:
            position += self._count
        if not 0 <= position < self._count:
            if self._native is None:
                raise Stale("the lease is released")
            raise IndexError(f"{index} of {self._count} blocks")
        process_check(self._process)
        view = self._views.get(position)
        if view is None:
            view = self._views[position] = self._native.block(position)
        return view

    def __repr__(self) -> str:
        return "Lease(released)" if self._native is None else f"Lease({self._count} blocks)"

    def release(self) -> None:
        native, self._native, self._count = self._native, None, 0
        if native is None:
            return
        views_end(self._views)
        native.release()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_) -> None:
        self.release()

    def __del__(self) -> None:
        # The memoryviews live on where they are still used, and with them the blocks.
        self._native = None


def views_end(views: dict[int, memoryview | None]) -> None:
    """Their use raises from here on; one over which an array lies stays, for the array needs it."""
    for view in views.values():
        if view is None:
            continue
        try:
            view.release()
        except BufferError:
            pass
    views.clear()
