"""A connection to kvtierd that heals itself."""

from __future__ import annotations

import os

from . import _kvclient
from .errors import KvError
from .seconds import nanoseconds
from .space import Space
from .spec import Spec


class Client:
    """Opens whether the daemon is there, and has a place for another client, or not; a refusal that does not pass by
    itself (an option, the namespace, the version) raises.

    socket: None: $KVTIER_SOCKET, else /run/kvtier/kvtierd.sock. deadline_s: default of all calls of it and its spaces.
    verify: every acquire of its spaces is one with verify=True.
    In a child of fork every call on a client of before raises Stale, and memoryviews of blocks must not be touched:
    open a new client there.
    """

    def __init__(
        self,
        socket: str | os.PathLike | None = None,
        namespace: str = "default",
        name: str = "python",
        deadline_s: float = 1.0,
        read_only: bool = False,
        verify: bool = False,
    ):
        path = None if socket is None else os.fspath(socket)
        flags = _kvclient.FLAG_READ_ONLY if read_only else 0
        if verify:
            flags |= _kvclient.FLAG_VERIFY
        self._namespace = namespace
        self._native = _kvclient.Client(path, namespace, name, nanoseconds(deadline_s), flags)

    def __repr__(self) -> str:
        """Of any client, one that is closed or of before a fork too."""
        try:
            state = "connected" if self.connected else "not connected"
        except KvError:
            state = "closed"
        return f"Client({state}, namespace={self._namespace!r})"

    @property
    def connected(self) -> bool:
        return self._native.is_connected()

    def space(self, spec: Spec, deadline_s: float | None = None) -> Space:
        """Registers the spec. While the daemon is away the space is made all the same, and registered later."""
        return Space(self._native.register_space(spec._native, nanoseconds(deadline_s)))

    def ping(self, deadline_s: float | None = None) -> bool:
        """A round trip to the daemon."""
        return self._native.ping(nanoseconds(deadline_s)) == 0

    def stats(self) -> dict[str, int]:
        """Counters since the client was opened. No round trip."""
        return self._native.stats()

    def status(self) -> dict[str, object]:
        """The connection and who is at its other end. No round trip."""
        return self._native.status()

    def invalidate_namespace(self, deadline_s: float | None = None) -> int:
        """Removes every block of the namespace; how many. Raises when it cannot be known."""
        return self._native.invalidate_namespace(nanoseconds(deadline_s))

    def close(self) -> None:
        """Ends the session. Leases stay readable until they are released."""
        self._native.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_) -> None:
        self.close()
