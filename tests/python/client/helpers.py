"""What the tests share: a spec, blocks filled from their keys, waiting."""

from __future__ import annotations

import time

import kvclient

BLOCK_TOKENS = 4
BLOCK_BYTES = 4096
KEY_BYTES = 32


def make_spec(**changes) -> kvclient.Spec:
    part = {"name": "kv", "bytes": BLOCK_BYTES, "layers": (0, 2), "kv_heads": 2, "head_dim": 64, "layout": "NHD"}
    part |= changes.pop("part", {})
    fields = {"model": "m", "revision": "r1", "tokenizer": "t", "block_tokens": BLOCK_TOKENS} | changes
    return kvclient.Spec(parts=[kvclient.Part(**part)], **fields)


def tokens(blocks: int, first: int = 0) -> list[int]:
    return list(range(first, first + blocks * BLOCK_TOKENS))


def key_at(keys: bytes, index: int) -> bytes:
    return keys[index * KEY_BYTES : (index + 1) * KEY_BYTES]


def pattern(key: bytes, size: int = BLOCK_BYTES) -> bytes:
    """The bytes that a block of this key holds in every test."""
    return (key * (size // KEY_BYTES + 1))[:size]


def put(space, keys: bytes) -> None:
    with space.reserve(keys) as batch:
        for index, slot in enumerate(batch):
            assert slot.status == "new", (index, slot.status, slot.cause)
            slot.buffer[:] = pattern(key_at(keys, index))
        assert batch.commit(wait=True)


def check(blocks, keys: bytes) -> None:
    """Every block that `blocks` holds has the bytes of its key."""
    for index in range(len(blocks)):
        assert bytes(blocks[index]) == pattern(key_at(keys, index)), index


def open_client(socket: str, **options) -> kvclient.Client:
    """A client that is connected: a daemon that is just starting is no daemon, for the library."""
    client = kvclient.Client(socket, deadline_s=10, **options)
    wait_until(lambda: client.connected)
    return client


def wait_until(is_true) -> None:
    """The runner's timeout ends a hang; there is no bound of time here."""
    while not is_true():
        time.sleep(0.005)
