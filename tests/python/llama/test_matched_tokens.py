"""C-11: how many tokens are restored and how many computed, for every length of a prompt and of what is cached."""

import contextlib

import pytest
from kvclient.llama_cpp import BLOCK_TOKENS, CachedLlama

KEY_BYTES = 32


class EngineDouble:
    """Notes what it is asked to compute."""

    n_ctx = 8 * BLOCK_TOKENS

    def __init__(self):
        self.decoded = []

    def clear(self):
        self.decoded = []

    def decode(self, tokens, first):
        self.decoded.append((first, list(tokens)))

    def logits(self):
        return None


class MatchedTokens(CachedLlama):
    """A cache in which the first `ready` blocks of every prompt are ready, over an engine without a model."""

    def __init__(self, ready):
        self.engine = EngineDouble()
        self._ready = ready

    def _keys(self, tokens):
        return bytes(len(tokens) // BLOCK_TOKENS * KEY_BYTES)

    def _restore(self, keys):
        return min(self._ready, len(keys) // KEY_BYTES)

    def _reserve(self, keys, restored):
        return contextlib.nullcontext(())


@pytest.mark.parametrize("ready", range(6))
def test_c11_every_prompt_leaves_a_token_to_compute_and_loses_no_block(ready):
    llama = MatchedTokens(ready)
    for length in range(1, 5 * BLOCK_TOKENS + 2):
        prompt = list(range(length))
        result = llama.prompt(prompt)
        restored = result.restored_tokens
        assert result.computed_tokens == length - restored >= 1, length
        assert restored == min(ready, (length - 1) // BLOCK_TOKENS) * BLOCK_TOKENS, length
        assert llama.engine.decoded == [(restored, prompt[restored:])], length
