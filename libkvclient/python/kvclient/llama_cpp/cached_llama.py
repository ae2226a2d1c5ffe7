"""A llama.cpp engine that looks for a prompt's blocks before it computes, and gives away those that it computed."""

from __future__ import annotations

import contextlib
import logging
import time
from dataclasses import dataclass

import kvclient
import numpy as np

from .block_state import BLOCK_TOKENS, block_export, block_import, probe_block_bytes
from .engine import Engine, EngineOptions
from .model_check import UnsupportedModel
from .model_spec import make_spec

KEY_BYTES = 32
_PENDING = 2

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Result:
    restored_tokens: int
    computed_tokens: int
    stored_tokens: int
    ttft_s: float  # from the call to the logits of the prompt's last token
    store_s: float  # after that, to hand the new blocks over
    logits: np.ndarray


class CachedLlama:
    """Not thread-safe: one prompt at a time, as with llama.cpp's context itself."""

    def __init__(self, model_path: str, client=None, *, options=EngineOptions(), salt: bytes = b"", wait_s: float = 0.0):
        self.attach(client, salt=salt, wait_s=wait_s)
        self._position = 0
        self._logits = None
        self.engine = Engine(model_path, options)
        self.block_bytes = probe_block_bytes(self.engine)
        if not self.block_bytes:
            self.close()
            raise UnsupportedModel(f"{model_path}: llama.cpp exports its state in a layout that is not known here")
        self.spec = make_spec(self.engine, model_path, self.block_bytes)

    def attach(self, client, *, salt: bytes = b"", wait_s: float = 0.0) -> None:
        """From the next prompt on: `client` is a kvclient.Client, or None to compute everything; only equal salts
        share blocks; a prompt waits `wait_s` for blocks that another process is computing, and 0 computes them too.
        """
        self._client = client
        self._salt = salt
        self._wait_s = wait_s
        self._space = None

    def tokenize(self, text: str) -> list[int]:
        return self.engine.vocabulary.tokenize(text)

    def detokenize(self, tokens) -> str:
        return self.engine.vocabulary.detokenize(tokens)

    def prompt(self, tokens) -> Result:
        """Starts a new conversation: restores the leading blocks that are ready, computes and stores the rest."""
        if not tokens or len(tokens) > self.engine.n_ctx:
            raise ValueError(f"a prompt has 1 to {self.engine.n_ctx} tokens, not {len(tokens)}")
        started = time.perf_counter()
        self.engine.clear()
        keys = self._keys(tokens)
        restored = self._restore(keys[: (len(tokens) - 1) // BLOCK_TOKENS * KEY_BYTES])
        with self._reserve(keys, restored) as batch:
            first = restored * BLOCK_TOKENS
            self.engine.decode(tokens[first:], first)
            self._logits = self.engine.logits()
            self._position = len(tokens)
            ready = time.perf_counter()
            stored = self._store(batch, restored)
        return Result(
            restored_tokens=first,
            computed_tokens=len(tokens) - first,
            stored_tokens=stored * BLOCK_TOKENS,
            ttft_s=ready - started,
            store_s=time.perf_counter() - ready,
            logits=self._logits,
        )

    def generate(self, count: int) -> list[int]:
        """The likeliest tokens after the prompt. Their blocks are not stored: computed singly, their bits differ."""
        generated: list[int] = []
        while len(generated) < count and self._position < self.engine.n_ctx:
            token = int(np.argmax(self._logits))
            if self.engine.vocabulary.ends_generation(token):
                break
            generated.append(token)
            self.engine.decode([token], self._position)
            self._position += 1
            self._logits = self.engine.logits()
        return generated

    def _keys(self, tokens) -> bytes:
        """The keys of all full blocks; none while there is no daemon, whose every answer is then a miss."""
        if self._client is None or len(tokens) < BLOCK_TOKENS:
            return b""
        try:
            self._space = self._space or self._client.space(self.spec)
            return self._space.keys(tokens, self._salt)
        except kvclient.KvError as error:
            _log.warning("kvtier: computing without the cache: %s", error)
            return b""

    def _restore(self, keys: bytes) -> int:
        """Blocks restored from the front of the prompt."""
        if not keys:
            return 0
        try:
            self._wait_for_pending(keys)
            with self._space.acquire(keys) as lease:
                return self._restore_leased(lease)
        except kvclient.KvError as error:
            _log.warning("kvtier: computing what could not be read: %s", error)
            self.engine.clear()
            return 0

    def _restore_leased(self, lease) -> int:
        for index in range(len(lease)):
            if not block_import(self.engine, index, lease[index], self.block_bytes):
                _log.warning("kvtier: block %d does not fit its place; computing from there", index)
                return index
        return len(lease)

    def _wait_for_pending(self, keys: bytes) -> None:
        if self._wait_s > 0 and _PENDING in self._space.match(keys).states:
            self._space.wait(keys, self._wait_s)

    def _reserve(self, keys: bytes, restored: int):
        """Claims the missing blocks before they are computed, so that another process can wait for them."""
        missing = keys[restored * KEY_BYTES :]
        if not missing:
            return contextlib.nullcontext(())
        parent = keys[(restored - 1) * KEY_BYTES : restored * KEY_BYTES] if restored else None
        try:
            return self._space.reserve(missing, parent=parent)
        except kvclient.KvError as error:
            _log.warning("kvtier: not storing: %s", error)
            return contextlib.nullcontext(())

    def _store(self, batch, first_index: int) -> int:
        refused = sorted({batch[i].status for i in range(len(batch))} & {"unavailable", "no_space", "invalid"})
        if refused:
            _log.warning("kvtier: some blocks are computed and not stored: %s", ", ".join(refused))
        return sum(self._store_block(batch[i], first_index + i) for i in range(len(batch)))

    def _store_block(self, slot, index: int) -> bool:
        if slot.status != "new":
            return False
        if not block_export(self.engine, index, slot.buffer):
            slot.abort()
            return False
        slot.commit()
        return True

    def close(self) -> None:
        self.engine.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
