"""kvclient: KV cache blocks shared by the inference engines of one host. See README.md in the folder above."""

from . import _kvclient
from .batch import Batch, Slot
from .client import Client
from .errors import (
    Code,
    DeadlineExceeded,
    Denied,
    InvalidArgument,
    KvError,
    Stale,
    Unavailable,
    VersionMismatch,
)
from .get_or_compute import Blocks
from .lease import Lease
from .space import MISSING, ON_DISK, PENDING, READY, Match, Space
from .spec import Part, Shard, Spec


def copy(to, source) -> None:
    """Copies a whole buffer into another of the same size, while other threads run: faster than `to[:] = source` for
    blocks, because it goes past the caches (kvc_copy). to: writable, e.g. Slot.buffer; the two may not overlap."""
    _kvclient.copy(to, source)


__version__ = _kvclient.version()

__all__ = [
    "MISSING",
    "ON_DISK",
    "PENDING",
    "READY",
    "Batch",
    "Blocks",
    "Client",
    "Code",
    "DeadlineExceeded",
    "Denied",
    "InvalidArgument",
    "KvError",
    "Lease",
    "Match",
    "Part",
    "Shard",
    "Slot",
    "Space",
    "Spec",
    "Stale",
    "Unavailable",
    "VersionMismatch",
    "copy",
]
