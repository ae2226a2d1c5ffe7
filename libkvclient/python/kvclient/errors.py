"""What can go wrong. Calls of the data path raise only for what the caller did wrong; the rest is a miss."""

from __future__ import annotations

import enum


class Code(enum.IntEnum):
    """kvc_code of kvclient.h."""

    OK = 0
    INVALID = 1
    NOT_FOUND = 2
    EXISTS = 3
    PENDING = 4
    NO_SPACE = 5
    DENIED = 6
    UNAVAILABLE = 7
    DEADLINE = 8
    STALE = 9
    VERSION = 10
    CORRUPT = 11
    BUSY = 12
    UNSUPPORTED = 13
    SYSTEM = 14


class KvError(Exception):
    """The base of all errors of this package. `code` is a Code, or None where the library had no part in it."""

    code: Code | None = None

    def __init__(self, text: str = "", code: Code | None = None):
        super().__init__(text)
        if code is not None:
            self.code = code


class InvalidArgument(KvError, ValueError):
    """The arguments are wrong; the text names the field."""

    code = Code.INVALID


class Denied(KvError):
    """This peer may not do that."""

    code = Code.DENIED


class Unavailable(KvError):
    """The daemon is away."""

    code = Code.UNAVAILABLE


class DeadlineExceeded(KvError, TimeoutError):
    """The deadline passed."""

    code = Code.DEADLINE


class Stale(KvError):
    """The object is closed, released or committed, or of before a fork."""

    code = Code.STALE


class VersionMismatch(KvError):
    """Client and daemon do not speak a common protocol; the text has both versions."""

    code = Code.VERSION


_KINDS = (InvalidArgument, Denied, Unavailable, DeadlineExceeded, Stale, VersionMismatch)
_CLASSES = {kind.code: kind for kind in _KINDS}


def error_of(code: int, text: str) -> KvError:
    """The error for a code of the library."""
    known = Code(code)
    return _CLASSES.get(known, KvError)(text, known)
