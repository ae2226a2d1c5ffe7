"""reserve, commit, abort, wait, pin, invalidate."""

from __future__ import annotations

import threading

import pytest
from helpers import BLOCK_BYTES, check, key_at, make_spec, open_client, pattern, put, tokens, wait_until

import kvclient


def test_what_a_reservation_says(space, reader):
    keys = space.keys(tokens(3))
    put(space, keys[:32])
    with space.reserve(keys) as batch:
        assert [slot.status for slot in batch] == ["exists", "new", "new"]
        assert batch[0].buffer is None and batch[1].buffer.nbytes == BLOCK_BYTES
        assert [slot.status for slot in reader.reserve(keys)] == ["exists", "pending", "pending"]
        assert reader.match(keys).states == bytes([1, 2, 2])


def test_leaving_the_batch_aborts_what_was_not_committed(space, reader):
    keys = space.keys(tokens(3))
    with pytest.raises(RuntimeError), space.reserve(keys) as batch:
        batch[0].buffer[:] = pattern(key_at(keys, 0))
        assert batch[0].commit()
        raise RuntimeError
    wait_until(lambda: reader.match(keys).states == bytes([1, 0, 0]))


def test_a_batch_that_is_dropped_is_aborted(space, reader):
    keys = space.keys(tokens(1))
    batch = space.reserve(keys)
    assert reader.match(keys).states == b"\2"
    del batch
    wait_until(lambda: reader.match(keys).states == b"\0")


def test_buffers_raise_after_commit(space):
    keys = space.keys(tokens(1))
    slot = space.reserve(keys)[0]
    view = slot.buffer
    view[:] = pattern(keys)
    slot.commit(wait=True)
    with pytest.raises(ValueError):
        view[0] = 0
    with pytest.raises(kvclient.Stale):
        _ = slot.buffer
    with pytest.raises(kvclient.Stale):
        slot.commit()
    slot.abort()
    check(space.acquire(keys), keys)


def test_commit_refuses_while_a_slice_could_still_write(space):
    keys = space.keys(tokens(1))
    slot = space.reserve(keys)[0]
    part = slot.buffer[:8]
    with pytest.raises(BufferError):
        slot.commit()
    assert space.match(keys).states == b"\2"
    del part
    slot.buffer[:] = pattern(keys)
    assert slot.commit(wait=True)
    check(space.acquire(keys), keys)


def test_an_abort_waits_for_the_last_slice(space, reader):
    keys = space.keys(tokens(1))
    slot = space.reserve(keys)[0]
    part = slot.buffer[:8]
    slot.abort()
    assert not slot.is_open
    assert reader.match(keys).states == b"\2"
    part[:] = b"harmless"
    del part
    wait_until(lambda: reader.match(keys).states == b"\0")


def test_a_full_pool_says_why(make_daemon):
    daemon = make_daemon(**{"host.bytes": "16MiB"})
    with open_client(daemon.socket) as client:
        space = client.space(make_spec(part={"bytes": 1 << 20}))
        keys = space.keys(tokens(64))
        with space.reserve(keys) as batch:
            statuses = [slot.status for slot in batch]
            assert {"new", "no_space"} == set(statuses)
            assert all(slot.cause for slot in batch if slot.status == "no_space")
        with space.reserve(keys, all_or_nothing=True) as batch:
            assert "new" not in [slot.status for slot in batch]


def test_waiting_for_a_block_that_another_client_computes(space, reader):
    keys = space.keys(tokens(1))
    batch = space.reserve(keys)
    assert reader.wait(keys, deadline_s=0.05).states == b"\2"
    found = []
    waiter = threading.Thread(target=lambda: found.append(reader.wait(keys, deadline_s=60)))
    waiter.start()
    batch[0].buffer[:] = pattern(keys)
    batch.commit()
    waiter.join()
    assert found[0].ready == 1
    check(reader.acquire(keys), keys)


def test_waiting_ends_when_the_writer_gives_up(space, reader):
    keys = space.keys(tokens(1))
    batch = space.reserve(keys)
    found = []
    waiter = threading.Thread(target=lambda: found.append(reader.wait(keys, deadline_s=60)))
    waiter.start()
    batch.abort()
    waiter.join()
    assert found[0].states == b"\0"


def test_pinned_blocks_survive_pressure(make_daemon):
    daemon = make_daemon(**{"host.bytes": "16MiB"})
    with open_client(daemon.socket) as client:
        space = client.space(make_spec(part={"bytes": 256 << 10}))
        pinned, other = space.keys(tokens(4)), space.keys(tokens(256, first=10_000))
        fill(space, pinned)
        assert space.pin(pinned, ttl_s=600) == 4
        fill(space, other)
        assert space.match(pinned).ready == 4
        space.unpin(pinned)
        fill(space, space.keys(tokens(256, first=50_000)))
        assert space.match(pinned).ready == 0
        with pytest.raises(kvclient.InvalidArgument):
            space.pin(pinned, ttl_s=48 * 3600)


def fill(space, keys: bytes) -> None:
    for start in range(0, len(keys), 32 * 8):
        with space.reserve(keys[start : start + 32 * 8]) as batch:
            batch.commit(wait=True)


def test_invalidation(client, space, reader):
    keys = space.keys(tokens(3))
    put(space, keys)
    other = client.space(make_spec(revision="r2"))
    put(other, keys)
    assert space.invalidate() == 3
    assert reader.match(keys).ready == 0 and other.match(keys).ready == 3
    assert client.invalidate_namespace() == 3
    assert other.match(keys).ready == 0


def test_many_threads_write_and_read(client, space):
    failures = []

    def work(number):
        try:
            for turn in range(20):
                keys = space.keys(tokens(8, first=100_000 * number + 1000 * turn))
                put(space, keys)
                with space.acquire(keys) as lease:
                    assert len(lease) == 8
                    check(lease, keys)
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    stats = client.stats()
    assert stats["commit_blocks"] == 8 * 20 * 8 and stats["leases_open"] == stats["reservations_open"] == 0
