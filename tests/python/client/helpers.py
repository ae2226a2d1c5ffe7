"""What the tests share: a spec, blocks filled from their keys, waiting."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import kvclient

BLOCK_TOKENS = 4
BLOCK_BYTES = 4096
KEY_BYTES = 32
WITHIN_S = 60  # what must come comes within this; never a measure of speed


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
    """`blocks` holds all of the keys' blocks, each with the bytes of its key."""
    assert len(blocks) == len(keys) // KEY_BYTES
    for index in range(len(blocks)):
        assert bytes(blocks[index]) == pattern(key_at(keys, index)), index


def open_client(socket: str, **options) -> kvclient.Client:
    """A client that is connected: a daemon that is just starting is no daemon, for the library."""
    client = kvclient.Client(socket, deadline_s=10, **options)
    wait_until(lambda: client.connected)
    return client


def acquire_written(space, keys: bytes):
    """A lease of blocks that another client has written, perhaps into memory that this one has yet to map."""
    assert space.wait(keys, WITHIN_S).ready == len(keys) // KEY_BYTES
    return space.acquire(keys)


def stop_process(child: subprocess.Popen) -> None:
    """Stopped when it returns, with all of its threads: only then does the kernel tell the parent."""
    child.send_signal(signal.SIGSTOP)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"it ended instead: {status}"


def wait_until(is_true) -> None:
    end = time.monotonic() + WITHIN_S
    while not is_true():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.005)
