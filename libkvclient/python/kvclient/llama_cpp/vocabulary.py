"""The model's tokenizer and metadata."""

from __future__ import annotations

import ctypes

import llama_cpp


class Vocabulary:
    def __init__(self, model):
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        self.size = llama_cpp.llama_vocab_n_tokens(self._vocab)

    def tokenize(self, text: str) -> list[int]:
        data = text.encode()
        count_max = len(data) + 2  # a token is at least a byte; two for those added at the ends
        tokens = (llama_cpp.llama_token * count_max)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, count_max, True, False)
        if count < 0:
            raise ValueError(f"llama_tokenize: {-count} tokens for {len(data)} bytes")
        return list(tokens[:count])

    def detokenize(self, tokens) -> str:
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        needed = -llama_cpp.llama_detokenize(self._vocab, array, len(tokens), None, 0, True, False)
        if needed <= 0:
            return ""
        text = ctypes.create_string_buffer(needed)
        llama_cpp.llama_detokenize(self._vocab, array, len(tokens), text, needed, True, False)
        return text.raw.decode(errors="replace")

    def ends_generation(self, token: int) -> bool:
        return llama_cpp.llama_vocab_is_eog(self._vocab, token)


def model_metadata(model) -> dict[str, str]:
    """The scalar metadata of the model file."""
    count = llama_cpp.llama_model_meta_count(model)
    return {
        _text(llama_cpp.llama_model_meta_key_by_index, model, i): _text(
            llama_cpp.llama_model_meta_val_str_by_index, model, i
        )
        for i in range(count)
    }


def _text(function, model, index: int) -> str:
    size = 256
    while True:
        buffer = ctypes.create_string_buffer(size)
        needed = function(model, index, buffer, size)
        if needed < size:
            return buffer.value.decode(errors="replace")
        size = needed + 1
