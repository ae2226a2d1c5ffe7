"""Shares the KV blocks of llama-cpp-python between processes through kvtier. See README.md beside this file."""

from .block_state import BLOCK_TOKENS
from .cached_llama import CachedLlama, Result
from .engine import DecodeError, Engine, EngineOptions
from .model_check import UnsupportedModel
from .model_spec import make_spec

__all__ = [
    "BLOCK_TOKENS",
    "CachedLlama",
    "DecodeError",
    "Engine",
    "EngineOptions",
    "Result",
    "UnsupportedModel",
    "make_spec",
]
