"""A daemon that stands still: deadlines hold, nothing is lost, and Ctrl-C works."""

from __future__ import annotations

import signal
import threading

import pytest
from helpers import check, key_at, pattern, tokens, wait_until

import kvclient

RING = 1024  # records that the ring to the daemon holds
LONG_S = 3600.0


@pytest.fixture
def hung(daemon, client, space):
    """A space whose daemon stands still; resumed at the end."""
    daemon.pause()
    yield space
    daemon.resume()


def fill(slots, keys: bytes) -> None:
    for index, slot in enumerate(slots):
        slot.buffer[:] = pattern(key_at(keys, index))


def test_a_commit_that_meets_a_full_ring_can_be_repeated(daemon, space, reader):
    keys = space.keys(tokens(RING + 2))
    batch = space.reserve(keys)
    fill(batch, keys)
    daemon.pause()
    try:
        taken = [slot.commit(deadline_s=0.001) for slot in batch]
        assert taken == [True] * RING + [False] * 2
        assert [slot.is_open for slot in batch] == [not each for each in taken]
        batch[RING + 1].abort()
    finally:
        daemon.resume()
    batch[RING].buffer[0:1] = batch[RING].buffer[0:1]  # writable again, with what was there
    assert batch.commit(wait=True)
    assert space.wait(keys).ready == RING + 1
    assert reader.wait(key_at(keys, RING + 1)).states == bytes([kvclient.MISSING])
    with space.acquire(keys) as lease:
        check(lease, keys[: (RING + 1) * 32])


def test_get_or_compute_keeps_its_deadline(hung, client):
    """16 blocks wait once for the daemon, not 16 times."""
    keys = hung.keys(tokens(16))
    before = client.stats()["requests"]

    def compute(index, buffer):
        buffer[:] = pattern(key_at(keys, index))

    with hung.get_or_compute(tokens(16), compute, deadline_s=0.05) as blocks:
        check(blocks, keys)
        assert blocks.computed == list(range(16))
    assert client.stats()["requests"] == before + 1


def interrupt_when_asked(client) -> threading.Thread:
    """Ctrl-C once the main thread has sent one more request."""
    before = client.stats()["requests"]
    main = threading.main_thread().ident

    def run():
        wait_until(lambda: client.stats()["requests"] > before)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


CALLS = {
    "reserve": lambda space, keys: space.reserve(keys, deadline_s=LONG_S),
    "pin": lambda space, keys: space.pin(keys, 1.0, deadline_s=LONG_S),
    "unpin": lambda space, keys: space.unpin(keys, deadline_s=LONG_S),
    "invalidate": lambda space, keys: space.invalidate(deadline_s=LONG_S),
    "get_or_compute": lambda space, keys: space.get_or_compute(tokens(2), lambda *_: None, deadline_s=LONG_S),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_call_that_waits_for_the_daemon(hung, client, name):
    keys = hung.keys(tokens(2))
    thread = interrupt_when_asked(client)
    with pytest.raises(KeyboardInterrupt):
        CALLS[name](hung, keys)
    thread.join()
    assert client.stats()["reservations_open"] == 0


def test_ctrl_c_ends_a_wait_for_another_writer(client, space, reader):
    keys = reader.keys(tokens(1))
    with reader.reserve(keys) as batch:
        thread = interrupt_when_asked(client)
        with pytest.raises(KeyboardInterrupt):
            space.wait(keys, LONG_S)
        thread.join()
        fill(batch, keys)
        assert batch.commit(wait=True)
    assert space.wait(keys).ready == 1


def test_ctrl_c_in_a_commit_loses_no_block(daemon, client, space):
    keys = space.keys(tokens(8))
    batch = space.reserve(keys)
    fill(batch, keys)
    daemon.pause()
    try:
        thread = interrupt_when_asked(client)
        with pytest.raises(KeyboardInterrupt):
            batch.commit(wait=True, deadline_s=LONG_S)
        thread.join()
    finally:
        daemon.resume()
    batch.commit(wait=True)  # what had not gone out
    assert space.wait(keys).ready == 8
