"""Whatever goes wrong around the cache, the prompt is answered, and answered right."""

import threading

import kvclient
import numpy as np
import pytest
from doubles import ClientWith, Raising, damaged_block, refused_blocks
from kvclient.llama_cpp import DecodeError


def assert_answered(result, restored, stored, expected, prompt):
    assert (result.restored_tokens, result.stored_tokens) == (restored, stored)
    assert result.computed_tokens == len(prompt) - restored
    assert np.array_equal(result.logits, expected(prompt))


def test_without_a_daemon_everything_is_computed(tmp_path, make_llama, expected, tokens):
    with kvclient.Client(socket=str(tmp_path / "none"), name="test-llama", deadline_s=0.2) as away:
        assert not away.connected
        llama = make_llama(away)
        for _ in range(2):
            assert_answered(llama.prompt(tokens[:200]), 0, 0, expected, tokens[:200])


def test_a_client_that_raises_is_a_miss(client, salt, make_llama, expected, tokens):
    llama = make_llama(ClientWith(client, Raising), salt=salt)
    assert_answered(llama.prompt(tokens[:200]), 0, 0, expected, tokens[:200])


DAMAGES = {
    "short": lambda view: view[:-1],
    "long": lambda view: bytes(view) + b"\0",
    "empty": lambda view: view[:0],
    "another position": lambda view: bytes(view[:16]) + bytes(4) + bytes(view[20:]),
    "another magic": lambda view: b"\0" + bytes(view[1:]),
    "zeros": lambda view: bytes(len(view)),
    "cut inside": lambda view: bytes(view[: len(view) // 2]) + bytes(len(view) - len(view) // 2),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_block_that_does_not_fit_is_computed_again(damage, client, make_llama, expected, tokens):
    salt = b"the same for all damages, which change what is read and not what is stored"
    make_llama(client, salt=salt).prompt(tokens[:200])
    llama = make_llama(ClientWith(client, damaged_block(1, damage)), salt=salt)
    assert_answered(llama.prompt(tokens[:200]), 64, 0, expected, tokens[:200])
    assert llama.engine.position_range(1) == (-1, -1), "the scratch sequence is left behind"


@pytest.mark.parametrize("status", ["no_space", "unavailable", "pending", "exists"])
def test_blocks_that_get_no_slot_are_not_stored(status, client, salt, make_llama, expected, tokens):
    llama = make_llama(ClientWith(client, refused_blocks(1, status)), salt=salt)
    assert_answered(llama.prompt(tokens[:200]), 0, 64, expected, tokens[:200])
    assert make_llama(client, salt=salt).prompt(tokens[:70]).restored_tokens == 64


def test_pending_blocks_are_computed_by_those_who_do_not_wait(client, salt, make_llama, expected, tokens):
    llama = make_llama(client, salt=salt)
    space = client.space(llama.spec)
    with space.reserve(space.keys(tokens[:200], salt)) as batch:
        assert {batch[i].status for i in range(len(batch))} == {"new"}
        assert_answered(llama.prompt(tokens[:200]), 0, 0, expected, tokens[:200])


def test_a_prompt_waits_for_blocks_that_another_computes(client, salt, make_llama, expected, tokens):
    owner = make_llama(client, salt=salt)
    waiter = make_llama(client, salt=salt, wait_s=60.0)
    reserved, results = threading.Event(), []
    reserve = owner._reserve

    def reserve_and_tell(keys, restored):
        batch = reserve(keys, restored)
        reserved.set()
        return batch

    owner._reserve = reserve_and_tell
    thread = threading.Thread(target=lambda: results.append(owner.prompt(tokens[:200])))
    thread.start()
    assert reserved.wait(60)
    result = waiter.prompt(tokens[:200])
    thread.join()
    assert results[0].stored_tokens == 192
    assert_answered(result, 192, 0, expected, tokens[:200])


def test_a_failed_computation_gives_its_reservation_back(client, salt, make_llama, expected, tokens, monkeypatch):
    llama = make_llama(client, salt=salt)

    def fail(*_):
        raise DecodeError("staged")

    with monkeypatch.context() as patch:
        patch.setattr(llama.engine, "decode", fail)
        with pytest.raises(DecodeError):
            llama.prompt(tokens[:200])
    assert_answered(llama.prompt(tokens[:200]), 0, 192, expected, tokens[:200])


def test_a_short_export_is_not_committed(client, salt, make_llama, expected, tokens, monkeypatch):
    llama = make_llama(client, salt=salt)
    monkeypatch.setattr(llama.engine, "scratch_export", lambda address, size: size - 1)
    assert_answered(llama.prompt(tokens[:200]), 0, 0, expected, tokens[:200])
    assert make_llama(client, salt=salt).prompt(tokens[:200]).restored_tokens == 0


@pytest.mark.parametrize("count", [0, 1025])
def test_a_prompt_that_the_context_cannot_hold_is_refused(count, make_llama, tokens):
    with pytest.raises(ValueError, match="1 to 1024 tokens"):
        make_llama().prompt((tokens + tokens)[:count])
