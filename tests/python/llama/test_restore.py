"""Blocks that one engine computed are restored by another, and nothing about the answer changes."""

import numpy as np
from kvclient.llama_cpp import BLOCK_TOKENS, EngineOptions


def assert_equal(result, logits):
    assert float(np.max(np.abs(result.logits - logits))) == 0.0


def test_another_engine_restores_704_tokens_and_answers_the_same(client, salt, make_llama, expected, tokens):
    stored = make_llama(client, salt=salt).prompt(tokens[:710])
    assert (stored.restored_tokens, stored.stored_tokens) == (0, 704)

    prompt = tokens[:704] + tokens[800:830]
    restored = make_llama(client, salt=salt).prompt(prompt)
    assert (restored.restored_tokens, restored.computed_tokens, restored.stored_tokens) == (704, 30, 0)
    assert_equal(restored, expected(prompt))


def test_a_control_that_prefills_prefix_and_rest_apart_agrees(client, salt, make_llama, control, tokens):
    make_llama(client, salt=salt).prompt(tokens[:128])
    restored = make_llama(client, salt=salt).prompt(tokens[:150])
    control.engine.clear()
    control.engine.decode(tokens[:128], 0)
    control.engine.decode(tokens[128:150], 128)
    assert restored.restored_tokens == 128
    assert_equal(restored, control.engine.logits())


def test_what_follows_the_prompt_is_the_same(client, salt, make_llama, control, tokens):
    make_llama(client, salt=salt).prompt(tokens[:100])
    llama = make_llama(client, salt=salt)
    assert llama.prompt(tokens[:100]).restored_tokens == 64
    control.prompt(tokens[:100])
    assert llama.generate(12) == control.generate(12) != []


def test_a_fully_stored_prompt_still_computes_the_block_of_its_last_token(client, salt, make_llama, expected, tokens):
    llama = make_llama(client, salt=salt)
    assert llama.prompt(tokens[:192]).stored_tokens == 192
    again = llama.prompt(tokens[:192])
    assert (again.restored_tokens, again.computed_tokens, again.stored_tokens) == (128, BLOCK_TOKENS, 0)
    assert_equal(again, expected(tokens[:192]))


def test_only_missing_full_blocks_are_stored(client, salt, make_llama, expected, tokens):
    llama = make_llama(client, salt=salt)
    assert llama.prompt(tokens[:100]).stored_tokens == 64
    longer = llama.prompt(tokens[:200])
    assert (longer.restored_tokens, longer.stored_tokens) == (64, 128)
    assert_equal(longer, expected(tokens[:200]))


def test_a_prompt_shorter_than_a_block_touches_nothing(client, salt, make_llama, expected, tokens):
    llama = make_llama(client, salt=salt)
    for _ in range(2):
        result = llama.prompt(tokens[:63])
        assert (result.restored_tokens, result.computed_tokens, result.stored_tokens) == (0, 63, 0)
    assert_equal(result, expected(tokens[:63]))


def test_a_prefix_after_other_tokens_is_not_reused(client, salt, make_llama, expected, tokens):
    """The same 64 tokens at another position are another block: a key stands for all tokens before it as well."""
    llama = make_llama(client, salt=salt)
    llama.prompt(tokens[:128])
    moved = tokens[300:364] + tokens[:70]
    result = llama.prompt(moved)
    assert result.restored_tokens == 0
    assert_equal(result, expected(moved))


def test_salts_keep_blocks_apart(client, salt, make_llama, tokens):
    make_llama(client, salt=salt).prompt(tokens[:100])
    assert make_llama(client, salt=salt + b"\0").prompt(tokens[:100]).restored_tokens == 0


def test_context_size_and_threads_do_not_matter(client, salt, make_llama, expected, tokens):
    make_llama(client, salt=salt, options=EngineOptions(n_ctx=2048, n_threads=2)).prompt(tokens[:150])
    result = make_llama(client, salt=salt).prompt(tokens[:150])
    assert result.restored_tokens == 128
    assert_equal(result, expected(tokens[:150]))
