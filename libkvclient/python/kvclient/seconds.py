"""Times: seconds in Python, nanoseconds in the C contract."""

from __future__ import annotations

import math

from .errors import InvalidArgument

_NS_MAX = 2**64 - 1


def duration_ns(seconds: float, what: str) -> int:
    """A length of time that must be there, unlike a deadline: nothing and less are a mistake."""
    if not seconds > 0:
        raise InvalidArgument(f"{what} must be more than 0, not {seconds}")
    return nanoseconds(seconds, what)


def nanoseconds(seconds: float | None, what: str = "deadline_s") -> int:
    """0, which means the client's default, for None; what is over already becomes the shortest there is."""
    if seconds is None:
        return 0
    if math.isnan(seconds):
        raise InvalidArgument(f"{what} is not a number")
    return int(min(max(seconds, 1e-9) * 1e9, _NS_MAX)) if math.isfinite(seconds) else (_NS_MAX if seconds > 0 else 1)
