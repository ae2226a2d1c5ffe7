"""A stand-in for the kvclient package: a directory instead of the daemon, a file instead of a block.

Files, not a dictionary, so that several processes can share one. `socket` names the directory.
"""

from __future__ import annotations

import dataclasses
import hashlib
import mmap
import os
import time
from pathlib import Path

KEY_BYTES = 32
MISSING, READY, PENDING = 0, 1, 2


class KvError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    bytes: int
    layers: tuple
    kv_heads: int
    head_dim: int
    dtype: str
    layout: str


@dataclasses.dataclass(frozen=True)
class Spec:
    model: str
    revision: str
    tokenizer: str
    block_tokens: int
    parts: list
    adapter: str = ""
    rope: dict = dataclasses.field(default_factory=dict)
    codec: str = "raw"
    extra: dict = dataclasses.field(default_factory=dict)

    def digest(self) -> str:
        return hashlib.sha256(repr(sorted(dataclasses.asdict(self).items())).encode()).hexdigest()


@dataclasses.dataclass(frozen=True)
class Match:
    states: bytes

    @property
    def ready(self) -> int:
        return len(self.states) - len(self.states.lstrip(bytes([READY])))


class Client:
    def __init__(self, socket=None, namespace="default", name="llama", deadline_s=1.0):
        self._root = Path(socket or os.environ.get("KVTIER_SOCKET", "no-daemon")) / namespace

    @property
    def connected(self) -> bool:
        return self._root.parent.is_dir()

    def space(self, spec: Spec) -> Space:
        return Space(self._root / spec.digest(), spec)

    def close(self) -> None:
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Space:
    def __init__(self, root: Path, spec: Spec):
        self._root = root
        self.block_tokens = spec.block_tokens
        self.block_bytes = sum(part.bytes for part in spec.parts)

    def keys(self, tokens, salt: bytes = b"") -> bytes:
        keys, parent = [], hashlib.sha256(salt).digest()
        for start in range(0, len(tokens) // self.block_tokens * self.block_tokens, self.block_tokens):
            block = b"".join(token.to_bytes(4, "little") for token in tokens[start : start + self.block_tokens])
            parent = hashlib.sha256(parent + block).digest()
            keys.append(parent)
        return b"".join(keys)

    def match(self, keys: bytes) -> Match:
        return Match(bytes(self._state(path) for path in self._paths(keys)))

    def wait(self, keys: bytes, deadline_s: float) -> Match:
        end = time.monotonic() + deadline_s
        while PENDING in (match := self.match(keys)).states and time.monotonic() < end:
            time.sleep(0.002)
        return match

    def acquire(self, keys: bytes) -> Lease:
        return Lease([_map(path, mmap.PROT_READ) for path in self._paths(keys)[: self.match(keys).ready]])

    def reserve(self, keys: bytes, parent: bytes | None = None) -> Batch:
        return Batch([self._slot(path) for path in self._paths(keys)])

    def _paths(self, keys: bytes) -> list[Path]:
        assert len(keys) % KEY_BYTES == 0
        return [self._root / keys[i : i + KEY_BYTES].hex() for i in range(0, len(keys), KEY_BYTES)]

    def _state(self, path: Path) -> int:
        if path.exists():
            return READY
        return PENDING if path.with_suffix(".pending").exists() else MISSING

    def _slot(self, path: Path) -> Slot:
        if not self._root.parent.parent.is_dir():
            return Slot("unavailable")
        if (state := self._state(path)) != MISSING:
            return Slot("exists" if state == READY else "pending")
        self._root.mkdir(parents=True, exist_ok=True)
        pending = path.with_suffix(".pending")
        with open(pending, "xb") as file:
            file.truncate(self.block_bytes)
        return Slot("new", pending)


class Slot:
    def __init__(self, status: str, pending: Path | None = None):
        self.status = status
        self._pending = pending
        self.buffer = _map(pending, mmap.PROT_READ | mmap.PROT_WRITE) if pending else None

    def commit(self) -> None:
        self._pending.rename(self._pending.with_suffix(""))
        self._pending = None

    def abort(self) -> None:
        if self._pending is not None:
            self._pending.unlink()
            self._pending = None


class Batch(list):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        for slot in self:
            slot.abort()


class Lease(list):
    def release(self) -> None:
        while self:
            self.pop().release()  # fails if the caller still holds the memory

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()


def _map(path: Path, protection: int) -> memoryview:
    with open(path, "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, protection))
