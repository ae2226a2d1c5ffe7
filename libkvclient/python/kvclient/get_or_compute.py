"""get_or_compute: one process computes each missing block, the others wait for it and read it.

Blocks are taken strictly in order. A process that waits for block i may hold reservations of blocks after i only, so
no two processes wait for each other. A process that dies gives its reservations back; a waiter then takes over.
"""

from __future__ import annotations

import mmap
import operator
import time
from collections.abc import Callable

from .errors import Stale
from .lease import Lease

_KEY_BYTES = 32
_PENDING = 2
_ON_DISK = 3
_COMMIT_S = 0.1  # the least that a block which was computed here may take to be stored: else it is computed again
_RESTORES_MAX = 64  # asked for in one call: a disk that loses every race with eviction ends as computing
_SURPRISES_MAX = 3  # a block that is said to exist but cannot be leased, e.g. evicted at once


class Blocks:
    """Lease-like: read-only memoryviews, one a block. `computed`: indices of the blocks that this call computed."""

    def __init__(self):
        self._leases: list[Lease] = []
        self._places: list[tuple[Lease, int] | memoryview] = []
        self.computed: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> memoryview:
        if not self._places and not self._leases and operator.index(index) == 0:
            raise Stale("no block, or released")
        place = self._places[index]
        return place if isinstance(place, memoryview) else place[0][place[1]]

    def __repr__(self) -> str:
        return f"Blocks({len(self)} blocks, computed={self.computed})"

    def release(self) -> None:
        """As Lease.release. Blocks in memory of this process are freed when nobody looks at them any more."""
        for lease in self._leases:
            lease.release()
        self._leases.clear()
        self._places.clear()

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *_) -> None:
        self.release()

    def _add_lease(self, lease: Lease) -> None:
        self._leases.append(lease)
        self._places.extend((lease, index) for index in range(len(lease)))

    def _add_private(self, view: memoryview) -> None:
        self._places.append(view)


class GetOrCompute:
    """One call of Space.get_or_compute."""

    def __init__(self, space, keys: bytes, compute: Callable[[int, memoryview], object], deadline_s: float):
        self._space = space
        self._keys = keys
        self._count = len(keys) // _KEY_BYTES
        self._compute = compute
        self._end = time.monotonic() + deadline_s
        self._blocks = Blocks()
        self._claims: dict[int, object] = {}  # index to an open slot
        self._surprises = 0
        self._restores_left = _RESTORES_MAX

    def run(self) -> Blocks:
        try:
            while len(self._blocks) < self._count:
                self._step(len(self._blocks))
        except BaseException:
            self._blocks.release()
            raise
        finally:
            for slot in self._claims.values():
                slot.abort()
        return self._blocks

    def _step(self, index: int) -> None:
        """Adds block `index` and perhaps some after it, or learns more about it."""
        slot = self._claims.pop(index, None)
        if slot is None and (self._take_ready(index) or self._restore(index)):
            return
        if self._left() <= 0:
            if slot is not None:
                slot.abort()
            self._compute_private(index)
            return
        if slot is None:
            slot = self._claim(index)
        if slot.status == "new":
            self._compute_shared(index, slot)
        elif slot.status == "pending":
            self._wait(index)
        elif slot.status == "exists" and self._surprises < _SURPRISES_MAX:
            self._surprises += 1
            self._wait(index)  # it may be in memory that is not mapped here yet
        else:
            self._compute_private(index)

    def _take_ready(self, index: int) -> bool:
        end = min(self._claims, default=self._count)
        lease = self._space.acquire(self._keys_of(index, max(end, index + 1)))
        if len(lease) == 0:
            return False
        self._blocks._add_lease(lease)
        self._surprises = 0
        return True

    def _restore(self, index: int) -> bool:
        """Whether block `index` and perhaps some after it came back from disk."""
        if self._restores_left <= 0 or self._left() <= 0:
            return False
        keys = self._keys_of(index, min(self._claims, default=self._count))
        if self._space.match(keys).states[:1] != bytes([_ON_DISK]):
            return False
        self._restores_left -= 1
        self._space.restore(keys, self._left())
        return self._take_ready(index)

    def _claim(self, index: int):
        """Reserves `index`, and what follows up to the first block that is claimed already."""
        end = min(self._claims, default=self._count)
        parent = self._keys_of(index - 1, index) if index else None
        batch = self._space.reserve(self._keys_of(index, end), parent=parent, deadline_s=self._left())
        self._claims.update((index + i, slot) for i, slot in enumerate(batch) if i and slot.status == "new")
        return batch[0]

    def _wait(self, index: int) -> None:
        match = self._space.wait(self._keys_of(index, index + 1), self._left())
        if match.states[0] == _PENDING and self._left() > 0:
            time.sleep(0.001)  # the daemon answered early, or there is none: never spin

    def _compute_shared(self, index: int, slot) -> None:
        try:
            self._compute(index, slot.buffer)
            slot.commit(wait=True, deadline_s=max(self._left(), _COMMIT_S))
        finally:
            slot.abort()
        self._blocks.computed.append(index)
        lease = self._space.acquire(self._keys_of(index, index + 1))
        if len(lease) == 1:
            self._blocks._add_lease(lease)
        else:
            self._compute_private(index)  # lost on the way, with the daemon or to an invalidation

    def _compute_private(self, index: int) -> None:
        memory = memoryview(mmap.mmap(-1, self._space.block_bytes))
        self._compute(index, memory)
        if index not in self._blocks.computed[-1:]:
            self._blocks.computed.append(index)
        self._blocks._add_private(memory.toreadonly())

    def _left(self) -> float:
        return self._end - time.monotonic()

    def _keys_of(self, first: int, end: int) -> bytes:
        return self._keys[first * _KEY_BYTES : end * _KEY_BYTES]
