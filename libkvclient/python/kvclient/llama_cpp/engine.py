"""One model and one context of llama.cpp, through the C functions that llama-cpp-python binds.

Its `Llama` class cannot be used: it does not let a caller ask for a second sequence, which blocks are moved through.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

import llama_cpp
import numpy as np

from .block_state import BLOCK_TOKENS, MAIN_SEQ, SCRATCH_SEQ
from .library_log import library_log_redirect
from .model_check import UnsupportedModel, model_check
from .vocabulary import Vocabulary

KV_TYPES = {
    "f32": llama_cpp.GGML_TYPE_F32,
    "f16": llama_cpp.GGML_TYPE_F16,
    "q8_0": llama_cpp.GGML_TYPE_Q8_0,
}


class DecodeError(RuntimeError):
    """llama_decode refused a batch."""


@dataclass(frozen=True)
class EngineOptions:
    n_ctx: int = 4096
    n_threads: int = 0  # 0: one for each CPU that this process may use
    kv_type: str = "f16"
    flash_attn: bool = True  # off also works, but then V is transposed and a block is thousands of small copies


class Engine:
    def __init__(self, model_path: str, options: EngineOptions = EngineOptions()):
        self.options = options
        self.n_threads = options.n_threads or len(os.sched_getaffinity(0))
        self.ctx = self.model = self._batch = None
        try:
            self._load(model_path)
        except BaseException:
            self.close()
            raise

    def _load(self, model_path: str) -> None:
        library_log_redirect()
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(
            os.fsencode(model_path), llama_cpp.llama_model_default_params()
        )
        if not self.model:
            raise UnsupportedModel(f"{model_path}: llama.cpp cannot load this model")
        model_check(self.model)
        self.vocabulary = Vocabulary(self.model)
        self.ctx = llama_cpp.llama_init_from_model(self.model, self._context_params())
        if not self.ctx:
            raise UnsupportedModel(f"{model_path}: no context of {self.options.n_ctx} tokens can be made")
        self._memory = llama_cpp.llama_get_memory(self.ctx)
        self.n_ctx = llama_cpp.llama_n_ctx(self.ctx)
        self._batch_tokens = llama_cpp.llama_n_batch(self.ctx)
        self._batch = llama_cpp.llama_batch_init(self._batch_tokens, 0, 1)

    def _context_params(self):
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = self.options.n_ctx
        params.n_batch = 8 * BLOCK_TOKENS
        # A computing step is one block: the bits of a block then never depend on how much was restored before it.
        params.n_ubatch = BLOCK_TOKENS
        params.n_seq_max = 2
        params.n_threads = params.n_threads_batch = self.n_threads
        params.type_k = params.type_v = KV_TYPES[self.options.kv_type]
        params.flash_attn_type = int(self.options.flash_attn)
        params.kv_unified = params.swa_full = True
        params.no_perf = True
        return params

    def decode(self, tokens, first_pos: int) -> None:
        """Computes `tokens` at positions from `first_pos` on; logits() then gives those after the last one."""
        for start in range(0, len(tokens), self._batch_tokens):
            chunk = tokens[start : start + self._batch_tokens]
            is_last = start + len(chunk) == len(tokens)
            self._fill_batch(chunk, first_pos + start, is_last)
            status = llama_cpp.llama_decode(self.ctx, self._batch)
            if status != 0:
                raise DecodeError(f"llama_decode: status {status} at position {first_pos + start} of {self.n_ctx}")

    def _fill_batch(self, tokens, first_pos: int, wants_logits: bool) -> None:
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = first_pos + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = MAIN_SEQ
            batch.logits[i] = 0
        batch.logits[len(tokens) - 1] = wants_logits

    def logits(self) -> np.ndarray:
        pointer = llama_cpp.llama_get_logits_ith(self.ctx, -1)
        return np.ctypeslib.as_array(pointer, (self.vocabulary.size,)).copy()

    def clear(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, False)

    def copy_range(self, source: int, target: int, first: int, end: int) -> None:
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, first, end)

    def remove_range(self, sequence: int, first: int = -1, end: int = -1) -> None:
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, first, end)

    def position_range(self, sequence: int) -> tuple[int, int]:
        """First and last position held by `sequence`."""
        return (
            llama_cpp.llama_memory_seq_pos_min(self._memory, sequence),
            llama_cpp.llama_memory_seq_pos_max(self._memory, sequence),
        )

    def scratch_size(self) -> int:
        return llama_cpp.llama_state_seq_get_size(self.ctx, SCRATCH_SEQ)

    def scratch_export(self, address: int, size: int) -> int:
        return llama_cpp.llama_state_seq_get_data(self.ctx, _bytes_at(address), size, SCRATCH_SEQ)

    def scratch_import(self, address: int, size: int) -> int:
        return llama_cpp.llama_state_seq_set_data(self.ctx, _bytes_at(address), size, SCRATCH_SEQ)

    def close(self) -> None:
        if self._batch is not None:
            llama_cpp.llama_batch_free(self._batch)
        if self.ctx:
            llama_cpp.llama_free(self.ctx)
        if self.model:
            llama_cpp.llama_model_free(self.model)
        self.ctx = self.model = self._batch = None


def _bytes_at(address: int):
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_uint8))
