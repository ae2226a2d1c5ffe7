"""Reserved blocks: room that this process fills, then makes visible.

After commit() and abort() the memoryviews raise (what a commit left open has a new one). commit() raises BufferError while slices or NumPy arrays of a buffer
are left, and commits nothing: they could write into a block that others read. abort() waits for them instead: the room
goes back when the last one is gone.
"""

from __future__ import annotations

import collections

from . import _kvclient
from .errors import Code, InvalidArgument, Stale
from .process import process_check, process_token
from .seconds import nanoseconds

_STATUS = {
    Code.OK: "new",
    Code.EXISTS: "exists",
    Code.PENDING: "pending",
    Code.NO_SPACE: "no_space",
    Code.INVALID: "invalid",
}


class Slot:
    """One block of a reservation.

    status   "new": fill the buffer, then commit or abort; "exists": restore and acquire it instead; "pending": another client
             computes it, space.wait; "no_space", "unavailable": go on without the cache (cause "invalidated": the space is
             being invalidated at this moment); "invalid": the key is all zero or there twice
    cause    why there is no room ("tier_full", "pinned_by", ...), or the library's word for what it is; else ""
    detail   cause "pinned_by": the pid that holds most; "writer_busy": the one that has reserved it or
             does not answer
    """

    __slots__ = ("status", "cause", "detail", "_space", "_native", "_view", "_process")

    def __init__(self, space, answer):
        code, cause, self.detail, self._native = answer
        self.status = _STATUS.get(code, "unavailable")
        self.cause = _kvclient.cause_name(cause) if cause else ""
        if self.status == "unavailable" and not self.cause and code != Code.UNAVAILABLE:
            self.cause = _kvclient.code_name(code)
        self._space = space
        self._view = None
        self._process = process_token()

    def __repr__(self) -> str:
        if self.status == "new":
            return f"Slot(new, {'open' if self.is_open else 'committed or aborted'})"
        return f"Slot({self.status}{', ' + self.cause if self.cause else ''})"

    @property
    def buffer(self) -> memoryview | None:
        """Writable, block_bytes long; None unless the status is "new"."""
        if self._native is None:
            if self.status == "new":
                raise Stale("the slot is committed or aborted")
            return None
        process_check(self._process)
        if self._view is None:
            self._view = self._native.buffer()
        return self._view

    @property
    def is_open(self) -> bool:
        """Neither committed nor aborted."""
        return self._native is not None

    def commit(self, wait: bool = False, deadline_s: float | None = None) -> bool:
        """Makes the block visible. False: it is lost (the daemon went away; another was first, where it was reserved
        without claim), or, where is_open says so, the daemon stands still and did not take it before the deadline: then
        commit it again, or abort it. wait: return when the daemon did it."""
        process_check(self._process)
        if self._native is None:
            raise _not_open(self)
        return slots_commit(self._space, [self], wait, deadline_s)

    def abort(self) -> None:
        if self._native is None:
            return
        native, self._native = self._native, None
        self._view_end()
        native.abort()

    def _view_end(self) -> None:
        view, self._view = self._view, None
        if view is None:
            return
        try:
            view.release()
        except BufferError:
            pass  # an array lies over it: the native side counts it


class Batch(list):
    """The slots of one reserve, in the order of its keys. As a context manager it aborts what was not committed.

    code  of the whole call
    text  what went wrong with the call, or with the first slot that failed by itself; else ""
    """

    def __init__(self, space, answers, code: int, text: str = ""):
        super().__init__(Slot(space, answer) for answer in answers)
        self._space = space
        self._process = process_token()
        self.code = Code(code)
        self.text = text

    def commit(self, wait: bool = False, deadline_s: float | None = None) -> bool:
        """Commits, in order, all slots that are still open. False: some are lost, or still open, as in Slot.commit.

        True where no slot was new: there is nothing to do. Raises Stale where there were new ones and none is open any
        more: a second call knows nothing of what became of them."""
        process_check(self._process)
        still_open = [slot for slot in self if slot.is_open]
        if not still_open and any(slot.status == "new" for slot in self):
            raise Stale("the slots of the batch are committed or aborted")
        return slots_commit(self._space, still_open, wait, deadline_s)

    def abort(self) -> None:
        for slot in self:
            slot.abort()

    def __repr__(self) -> str:
        """Counts: a batch may have thousands of slots."""
        counts = collections.Counter(slot.status for slot in self)
        statuses = ", ".join(f"{count} {status}" for status, count in counts.items())
        still_open = sum(slot.is_open for slot in self)
        return f"Batch({self.code.name}: {statuses or 'no slots'}; {still_open} open)"

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_) -> None:
        self.abort()


def slots_commit(space, slots: list[Slot], wait: bool, deadline_s: float | None) -> bool:
    for slot in slots:
        slot._view_end()
    flags = _kvclient.FLAG_WAIT if wait else 0
    try:
        code = _kvclient.commit(space, [slot._native for slot in slots], flags, nanoseconds(deadline_s))
    finally:
        for slot in slots:
            if not slot._native.is_reserved():
                slot._native = None
    return code == Code.OK


def _not_open(slot: Slot):
    if slot.status == "new":
        return Stale("the slot is committed or aborted")
    return InvalidArgument(f"a slot with status {slot.status!r} cannot be committed")
