"""What enters the spec, what does not, and which models are refused."""

import hashlib
from dataclasses import asdict, is_dataclass

import llama_cpp
import pytest
from kvclient.llama_cpp import Engine, EngineOptions, UnsupportedModel

OTHER_LAYOUTS = [EngineOptions(n_threads=1, flash_attn=False), EngineOptions(n_threads=1, kv_type="q8_0")]


def fields(spec):
    return asdict(spec) if is_dataclass(spec) else repr(spec)


def test_the_spec_names_the_model_and_its_shape(control, model_path):
    spec, part = control.spec, control.spec.parts[0]
    digest = hashlib.sha256(open(model_path, "rb").read()).hexdigest()
    assert spec.revision == f"gguf-sha256:{digest}"
    assert spec.block_tokens == 64
    assert (part.name, tuple(part.layers), part.kv_heads, part.head_dim) == ("kv", (0, 18), 1, 256)
    assert part.dtype == "f16"
    assert part.layout == "llama.cpp-state-v3: K of each layer by token, then V of each layer by token"
    assert spec.rope["freq_base"] == 1000000
    assert llama_cpp.__version__ in spec.extra["engine"]
    rows = 2 * 18 * 64 * 256 * 2
    assert rows < part.bytes == control.block_bytes < rows + 4096


def test_context_size_and_threads_are_not_in_the_spec(make_llama, control):
    other = make_llama(options=EngineOptions(n_ctx=2048, n_threads=2))
    assert fields(other.spec) == fields(control.spec)


@pytest.mark.parametrize("options", OTHER_LAYOUTS, ids=["no flash_attn", "q8_0"])
def test_options_that_change_the_bytes_change_the_spec(options, client, salt, make_llama, control, tokens):
    assert fields(make_llama(options=options).spec) != fields(control.spec)
    make_llama(client, salt=salt, options=options).prompt(tokens[:100])
    assert make_llama(client, salt=salt).prompt(tokens[:100]).restored_tokens == 0


@pytest.mark.parametrize("options", OTHER_LAYOUTS, ids=["no flash_attn", "q8_0"])
def test_other_layouts_are_restored_too(options, client, salt, make_llama, tokens):
    cold = make_llama(client, salt=salt, options=options).prompt(tokens[:100])
    hit = make_llama(client, salt=salt, options=options).prompt(tokens[:100])
    assert (cold.restored_tokens, hit.restored_tokens) == (0, 64)
    assert (hit.logits == cold.logits).all()


REFUSED = {
    "recurrent": ("llama_model_is_recurrent", lambda model: True),
    "hybrid": ("llama_model_is_hybrid", lambda model: True),
    "an encoder": ("llama_model_has_encoder", lambda model: True),
    "several positions": ("llama_model_rope_type", lambda model: llama_cpp.LLAMA_ROPE_TYPE_MROPE),
    "window of 32 tokens": ("llama_model_n_swa", lambda model: 32),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_models_whose_state_does_not_cut_into_blocks_are_refused(reason, model_path, monkeypatch):
    function, answer = REFUSED[reason]
    monkeypatch.setattr(llama_cpp, function, answer)
    with pytest.raises(UnsupportedModel, match=reason):
        Engine(model_path)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"not a model")
    with pytest.raises(UnsupportedModel, match="cannot load"):
        Engine(str(tmp_path / "model.gguf"))
