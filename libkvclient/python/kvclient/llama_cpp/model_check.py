"""Which models are refused: those whose state blocks of consecutive tokens cannot carry."""

from __future__ import annotations

import llama_cpp

from .block_state import BLOCK_TOKENS


class UnsupportedModel(ValueError):
    """The model's state cannot be cut into blocks of equal size that depend on their tokens and positions alone."""


def model_check(model) -> None:
    window = llama_cpp.llama_model_n_swa(model)
    refusals = {
        "recurrent state": llama_cpp.llama_model_is_recurrent(model),
        "hybrid state": llama_cpp.llama_model_is_hybrid(model),
        "an encoder": llama_cpp.llama_model_has_encoder(model),
        "several positions a token": llama_cpp.llama_model_rope_type(model) >= llama_cpp.LLAMA_ROPE_TYPE_MROPE,
        f"an attention window of {window} tokens, less than a block": 0 < window < BLOCK_TOKENS,
    }
    for what, found in refusals.items():
        if found:
            raise UnsupportedModel(f"the model has {what}, which blocks of {BLOCK_TOKENS} tokens cannot carry")
