"""kvclient: KV cache blocks shared by the inference engines of one host.

Client is the connection, Spec says what a block means, and Client.space(spec) gives the Space whose methods find,
lease, write and compute blocks: help(kvclient.Space). Space.get_or_compute is all of it in one call.

    part = kvclient.Part("kv", bytes=65536, layers=(0, 1), kv_heads=1, head_dim=64, layout="token,head,dim")
    spec = kvclient.Spec(model="m", revision="r1", tokenizer="t", block_tokens=16, parts=[part])
    with kvclient.Client() as client:
        with client.space(spec).get_or_compute(range(64), lambda index, buffer: ...) as blocks:
            blocks[0]  # a read-only memoryview

A daemon that is away or slow is a miss, never an exception; what the caller did wrong raises a KvError.
"""

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
from .space import MISSING, ON_DISK, PENDING, READY, Match, Space, Sync
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
    "Sync",
    "Unavailable",
    "VersionMismatch",
    "copy",
]
