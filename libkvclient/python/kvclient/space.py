"""A registered spec: the blocks of one meaning. Keys are bytes, 32 a block, laid end to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import _kvclient
from .batch import Batch
from .get_or_compute import Blocks, GetOrCompute
from .lease import Lease
from .seconds import duration_ns, nanoseconds

KEY_BYTES = 32
MISSING, READY, PENDING, ON_DISK = 0, 1, 2, 3


class Match:
    """What was there at one moment. ready: leading blocks that are; states: a byte a block.

    MISSING, READY, PENDING (another process computes it, or it comes back from disk), ON_DISK (restore brings it back).
    """

    __slots__ = ("ready", "states")

    def __init__(self, ready: int, states: bytes):
        self.ready = ready
        self.states = states

    def __repr__(self) -> str:
        return f"Match(ready={self.ready}, states={self.states!r})"


class Sync:
    """What a sync could promise. durable, unsaved: blocks. code: 0, or why not all are durable, in words in `text`."""

    __slots__ = ("code", "durable", "text", "unsaved")

    def __init__(self, code: int, durable: int, unsaved: int, text: str):
        self.code = code
        self.durable = durable
        self.unsaved = unsaved
        self.text = text

    def __bool__(self) -> bool:
        """Everything that was asked for is durable."""
        return self.code == 0

    def __repr__(self) -> str:
        return f"Sync(durable={self.durable}, unsaved={self.unsaved}, code={self.code})"


class Space:
    """Made by Client.space. Any thread may call; a lease or a slot belongs to one thread at a time."""

    def __init__(self, native):
        self._native = native
        self.block_bytes: int = native.block_bytes
        self.block_tokens: int = native.block_tokens
        self.digest: bytes = native.digest

    def __repr__(self) -> str:
        return f"Space({self.block_tokens} tokens and {self.block_bytes} bytes a block, digest {self.digest.hex()[:12]})"

    def keys(self, tokens: Sequence[int], salt: bytes = b"", parent: bytes | None = None) -> bytes:
        """Keys of all full blocks of `tokens`; `parent`: the key of the block before the first token."""
        return self._native.keys(tokens, salt, parent or b"")

    def part_range(self, index: int) -> tuple[int, int]:
        """Offset and length of part `index` in a block."""
        return self._native.part_range(index)

    def match(self, keys: bytes) -> Match:
        """No round trip; takes no lease. All missing while the daemon is away."""
        _, ready, states = self._native.match(keys)
        return Match(ready, states)

    def acquire(
        self,
        keys: bytes,
        all_or_nothing: bool = False,
        request_id: int = 0,
        unordered: bool = False,
        verify: bool = False,
    ) -> Lease:
        """Leases the longest ready prefix. No round trip; empty while the daemon is away.

        unordered: every block that is ready; the lease has an entry for each key, None where the block is missing.

        A block in memory that this client has yet to map, since another process has just begun to use it, is missing
        too; after wait() it is not.

        verify: a round trip, and every byte is read: what does not match the daemon's checksum is missing, and stats()
        counts it.
        """
        flags = _kvclient.FLAG_ALL_OR_NOTHING if all_or_nothing else 0
        if unordered:
            flags |= _kvclient.FLAG_UNORDERED
        if verify:
            flags |= _kvclient.FLAG_VERIFY
        return Lease(self._native.acquire(keys, flags, request_id))

    def reserve(
        self,
        keys: bytes,
        parent: bytes | None = None,
        all_or_nothing: bool = False,
        deadline_s: float | None = None,
        claim: bool = True,
    ) -> Batch:
        """Asks for room for missing blocks. `parent`: the key of the block before keys[0]. all_or_nothing: no slot is new
        where not all missing ones can be; a key that is zero or there twice is InvalidArgument then.

        claim=False: from the stock of slots granted ahead of need, where it has enough, without a round trip. Others may
        compute the same blocks; whoever commits first wins, the others' commit(wait=True) is False.
        """
        flags = _kvclient.FLAG_ALL_OR_NOTHING if all_or_nothing else 0
        if not claim:
            flags |= _kvclient.FLAG_NO_CLAIM
        code, answers, text = self._native.reserve(keys, parent or b"", flags, nanoseconds(deadline_s))
        return Batch(self._native, answers, code, text)

    def wait(self, keys: bytes, deadline_s: float | None = None) -> Match:
        """Until none of the keys is pending and what is ready can be acquired, or the deadline; then what is there."""
        _, ready, states = self._native.wait(keys, nanoseconds(deadline_s))
        return Match(ready, states)

    def restore(self, keys: bytes, deadline_s: float | None = None) -> Match:
        """As wait, after asking the daemon to bring back what is on disk. What had no room in memory stays ON_DISK."""
        _, ready, states = self._native.restore(keys, nanoseconds(deadline_s))
        return Match(ready, states)

    def pin(self, keys: bytes, ttl_s: float, deadline_s: float | None = None) -> int:
        """Keeps blocks from eviction for ttl_s (at most a day; again: replaces its own expiry). How many are there.

        Raises Denied where this client may only read, as unpin and invalidate do.
        """
        return self._native.pin(keys, duration_ns(ttl_s, "ttl_s"), nanoseconds(deadline_s))

    def unpin(self, keys: bytes, deadline_s: float | None = None) -> None:
        self._native.unpin(keys, nanoseconds(deadline_s))

    def sync(self, keys: bytes | None = None, deadline_s: float | None = None) -> Sync:
        """Blocks of `keys`, or with None all of this space, onto the NVMe tier and behind an fdatasync. See Sync; raises nothing.

        A block that is durable survives the daemon's death and a power cut. Give it a deadline that suits so many bytes.
        """
        return Sync(*self._native.sync(keys, nanoseconds(deadline_s)))

    def invalidate(self, deadline_s: float | None = None) -> int:
        """Removes every block of this space, reservations included; how many. Raises when it cannot be known."""
        return self._native.invalidate(nanoseconds(deadline_s))

    def get_or_compute(
        self,
        tokens: Sequence[int],
        compute: Callable[[int, memoryview], object],
        salt: bytes = b"",
        deadline_s: float = 30.0,
    ) -> Blocks:
        """All full blocks of `tokens`: read where they are there, computed by one process where they are not.

        compute(block_index, buffer) fills a buffer; it is called in order of the index, when all earlier blocks are
        done. It is called a second time for an index, at once and into memory of this process, where the block that it
        filled was lost before it could be leased: the daemon ended, the space was invalidated, or it was evicted. So it
        must be able to compute a block again. `deadline_s` bounds the waiting for other processes; after it, while the daemon is
        away, and while the space is being invalidated, blocks are computed into memory of this process, and the result is
        the same.

        Raises what compute raises, and what cannot be a miss: InvalidArgument, Stale (the client is closed, or of before a
        fork), BufferError (compute keeps something over its buffer), MemoryError and OSError (no memory for a block), and
        KvError with code UNSUPPORTED (a verifying client, and a daemon older than checksums).
        """
        return GetOrCompute(self, self.keys(tokens, salt), compute, deadline_s).run()
