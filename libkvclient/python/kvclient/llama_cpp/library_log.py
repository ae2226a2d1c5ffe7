"""Sends what llama.cpp prints to Python's logging, under the name kvclient.llama_cpp.library.

llama-cpp-python has a callback of its own, but its level numbers are one behind those of the library it ships.
"""

from __future__ import annotations

import logging

import llama_cpp

# ggml_log_level: none, debug, info, warn, error, continue. Its warnings and infos are a page for every model loaded.
_LEVELS = {3: logging.INFO, 4: logging.ERROR}

_log = logging.getLogger("kvclient.llama_cpp.library")


@llama_cpp.llama_log_callback
def _forward(level: int, text: bytes, _user_data) -> None:
    _log.log(_LEVELS.get(level, logging.DEBUG), "%s", text.decode(errors="replace").rstrip())


def library_log_redirect() -> None:
    llama_cpp.llama_log_set(_forward, None)
