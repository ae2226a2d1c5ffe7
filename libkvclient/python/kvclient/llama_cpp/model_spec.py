"""The spec: everything that makes the exported bytes of two processes mean the same."""

from __future__ import annotations

import functools
import hashlib
import math
import os

import kvclient
import llama_cpp

from .block_state import BLOCK_TOKENS
from .vocabulary import model_metadata

STATE_VERSION = f"llama.cpp-state-v{llama_cpp.LLAMA_STATE_SEQ_VERSION}"


def make_spec(engine, model_path: str, block_bytes: int):
    """n_ctx and the number of threads are left out on purpose: the bytes do not depend on them."""
    metadata = model_metadata(engine.model)
    digest = _file_sha256(model_path, os.stat(model_path).st_mtime_ns)
    return kvclient.Spec(
        model=metadata.get("general.name", "") or metadata.get("general.architecture", "unnamed"),
        revision=f"gguf-sha256:{digest}",
        adapter="",
        tokenizer=f"gguf-sha256:{digest}",  # the tokenizer is in the model file
        block_tokens=BLOCK_TOKENS,
        parts=[_kv_part(engine, metadata, block_bytes)],
        rope=_rope(engine, metadata),
        codec="raw",
        extra=_extra(engine, metadata),
    )


def _kv_part(engine, metadata: dict[str, str], block_bytes: int):
    v_order = "token" if engine.options.flash_attn else "dimension"
    return kvclient.Part(
        name="kv",
        bytes=block_bytes,
        layers=(0, llama_cpp.llama_model_n_layer(engine.model)),
        kv_heads=llama_cpp.llama_model_n_head_kv(engine.model),
        head_dim=_head_dim(engine, metadata),
        dtype=engine.options.kv_type,
        layout=f"{STATE_VERSION}: K of each layer by token, then V of each layer by {v_order}",
    )


def _head_dim(engine, metadata: dict[str, str]) -> int:
    arch = metadata.get("general.architecture", "")
    heads = max(llama_cpp.llama_model_n_head(engine.model), 1)
    return int(metadata.get(f"{arch}.attention.key_length", llama_cpp.llama_model_n_embd(engine.model) // heads))


def _rope(engine, metadata: dict[str, str]) -> dict[str, float | int]:
    arch = metadata.get("general.architecture", "")
    values = {name: _number(text) for name, text in _section(metadata, f"{arch}.rope.").items()}
    values["type"] = llama_cpp.llama_model_rope_type(engine.model)
    values["freq_scale_train"] = llama_cpp.llama_model_rope_freq_scale_train(engine.model)
    return {name: value for name, value in sorted(values.items()) if value is not None}


def _extra(engine, metadata: dict[str, str]) -> dict[str, str]:
    arch = metadata.get("general.architecture", "")
    texts = {f"rope.{name}": text for name, text in _section(metadata, f"{arch}.rope.").items() if _number(text) is None}
    attention = {f"attention.{name}": text for name, text in _section(metadata, f"{arch}.attention.").items()}
    return {
        "architecture": arch,
        "engine": f"llama-cpp-python {llama_cpp.__version__}",
        "cpu": llama_cpp.llama_print_system_info().decode().strip(),
        "flash_attn": str(int(engine.options.flash_attn)),
        "kv_unified": "1",
        "swa_full": "1",
        "ubatch_tokens": str(BLOCK_TOKENS),
        **texts,
        **attention,
    }


def _section(metadata: dict[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): text for key, text in metadata.items() if key.startswith(prefix)}


def _number(text: str) -> float | int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else value


@functools.lru_cache
def _file_sha256(path: str, _mtime_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
