"""One block as bytes: the state of 64 consecutive tokens, exported from and imported into a scratch sequence.

Layout, in 32-bit words: magic, sequence, streams (1), cells (64); then for each cell its position, 1, sequence; then
the rows of K and V. Models with a sliding window repeat streams, cells and rows for its layers. Everything up to the
rows follows from the block's index, so it is compared before llama.cpp, which asserts on some nonsense, sees it.
"""

from __future__ import annotations

import numpy as np

BLOCK_TOKENS = 64
MAIN_SEQ = 0
SCRATCH_SEQ = 1

_MAGIC = 0xAF143CD8
_HEADER_WORDS = 4 + 3 * BLOCK_TOKENS


def expected_header(index: int) -> np.ndarray:
    header = np.ones(_HEADER_WORDS, dtype="<u4")
    header[:4] = _MAGIC, SCRATCH_SEQ, 1, BLOCK_TOKENS
    header[4::3] = np.arange(index * BLOCK_TOKENS, (index + 1) * BLOCK_TOKENS)
    return header


def header_fits(block: np.ndarray, index: int) -> bool:
    return np.array_equal(block[: 4 * _HEADER_WORDS].view("<u4"), expected_header(index))


def block_export(engine, index: int, buffer) -> bool:
    """Writes block `index` of the main sequence straight into `buffer`; False if it did not fill it exactly."""
    block = np.frombuffer(buffer, dtype=np.uint8)
    first = index * BLOCK_TOKENS
    engine.copy_range(MAIN_SEQ, SCRATCH_SEQ, first, first + BLOCK_TOKENS)
    try:
        written = engine.scratch_export(block.ctypes.data, block.nbytes)
    finally:
        engine.remove_range(SCRATCH_SEQ)
    return written == block.nbytes and header_fits(block, index)


def block_import(engine, index: int, view, block_bytes: int) -> bool:
    """Reads block `index` straight from `view` into the main sequence.

    False if the bytes are short or not this block's; the main sequence then holds nothing at or after the block.
    """
    block = np.frombuffer(view, dtype=np.uint8)
    first, end = index * BLOCK_TOKENS, (index + 1) * BLOCK_TOKENS
    try:
        restored = (
            block.nbytes == block_bytes
            and header_fits(block, index)
            and engine.scratch_import(block.ctypes.data, block.nbytes) == block.nbytes
            and engine.position_range(SCRATCH_SEQ) == (first, end - 1)
        )
        if restored:
            engine.copy_range(SCRATCH_SEQ, MAIN_SEQ, first, end)
        else:
            engine.remove_range(MAIN_SEQ, first)
    finally:
        engine.remove_range(SCRATCH_SEQ)
    return restored


def probe_block_bytes(engine) -> int:
    """Computes one block of any tokens to learn its size, which also warms the engine up; 0: a state not known here."""
    engine.decode([0] * BLOCK_TOKENS, 0)
    engine.copy_range(MAIN_SEQ, SCRATCH_SEQ, 0, BLOCK_TOKENS)
    size = engine.scratch_size()
    engine.remove_range(SCRATCH_SEQ)
    fits = block_export(engine, 0, bytearray(size))
    engine.clear()
    return size if fits else 0
