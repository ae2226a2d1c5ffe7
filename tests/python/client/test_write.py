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


def test_a_second_commit_of_a_batch_is_stale_as_that_of_a_slot(space):
    keys = space.keys(tokens(2))
    batch = space.reserve(keys)
    assert batch[0].commit()
    assert batch.commit(wait=True)
    with pytest.raises(kvclient.Stale):
        batch.commit()
    with pytest.raises(kvclient.Stale):
        batch[1].commit()
    again = space.reserve(keys)
    assert again.commit() and again.commit(), "nothing was new: nothing to do"
    lost = space.reserve(space.keys(tokens(1, 100)))
    space.invalidate()
    assert not lost.commit(wait=True)
    with pytest.raises(kvclient.Stale):
        lost.commit(wait=True)


def test_what_a_reservation_looks_like_in_a_shell(space):
    keys = space.keys(tokens(2))
    put(space, keys[:32])
    batch = space.reserve(keys)
    assert repr(batch) == "Batch(OK: 1 exists, 1 new; 1 open)"
    assert [repr(slot) for slot in batch] == ["Slot(exists)", "Slot(new, open)"]
    batch.abort()
    assert repr(batch) == "Batch(OK: 1 exists, 1 new; 0 open)"
    assert repr(batch[1]) == "Slot(new, committed or aborted)"


def test_copy_moves_whole_blocks_and_nothing_else(space, reader):
    keys = space.keys(tokens(1))
    with space.reserve(keys) as batch:
        with pytest.raises(kvclient.InvalidArgument, match="bytes into"):
            kvclient.copy(batch[0].buffer, b"short")
        kvclient.copy(batch[0].buffer, pattern(keys))
        assert batch.commit(wait=True)
    out = bytearray(BLOCK_BYTES)
    with space.acquire(keys) as lease:
        kvclient.copy(out, lease[0])
        with pytest.raises(BufferError):
            kvclient.copy(lease[0], out)
    assert out == pattern(keys)


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


@pytest.mark.parametrize("ttl_s", [-1, 0, -1e-9, float("nan"), float("-inf")])
def test_a_pin_lasts_longer_than_nothing(space, ttl_s):
    keys = space.keys(tokens(1))
    put(space, keys)
    with pytest.raises(kvclient.InvalidArgument, match="ttl_s"):
        space.pin(keys, ttl_s)
    assert space.pin(keys, 1e-9) == 1


def test_a_key_that_is_none_or_there_twice_is_told(space):
    keys = space.keys(tokens(1))
    with space.reserve(keys + bytes(32)) as batch:
        assert [slot.status for slot in batch] == ["new", "invalid"]
        assert "keys[1] is all zero" in batch.text
    with space.reserve(keys + keys) as batch:
        assert [slot.status for slot in batch] == ["new", "invalid"]
        assert "keys[1] is there twice" in batch.text
    with space.reserve(keys) as batch:
        assert batch.text == ""


def test_all_or_nothing_is_nothing_for_a_key_that_cannot_be(client, space):
    keys = space.keys(tokens(1))
    for wrong in (keys + bytes(32), keys + keys):
        with pytest.raises(kvclient.InvalidArgument, match=r"keys\[1\]"):
            space.reserve(wrong, all_or_nothing=True)
    assert client.stats()["reservations_open"] == 0 and space.match(keys).states == b"\0"


def test_a_parent_that_is_no_key_is_named(space):
    for call in (lambda: space.keys(tokens(1), parent=b"xxxxx"), lambda: space.reserve(bytes(32), parent=b"xxxxx")):
        with pytest.raises(kvclient.InvalidArgument, match="^parent: 5 bytes"):
            call()


def test_an_awaited_commit_tells_whether_its_own_block_is_there(space):
    lost = space.reserve(space.keys(tokens(1)))
    space.invalidate()
    kept = space.reserve(space.keys(tokens(2, 7)))
    assert kept.commit(wait=True)
    assert not lost.commit(wait=True)


def test_closing_beside_writers_leaves_the_tier_to_the_next_client(daemon):
    for round_number in range(5):
        client = open_client(daemon.socket, name="closing")
        space = client.space(make_spec())
        is_writing = threading.Barrier(5)

        def write(worker: int, space=space, round_number=round_number, is_writing=is_writing):
            is_first = True
            for number in range(1_000_000):
                key = f"{round_number}.{worker}.{number}".encode().ljust(32, b".")
                try:
                    slot = space.reserve(key)[0]
                    if slot.status == "new":
                        slot.buffer[:4] = b"abcd"
                        slot.commit(wait=True)
                except kvclient.Stale:
                    return
                if is_first:
                    is_writing.wait()
                    is_first = False

        writers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
        for writer in writers:
            writer.start()
        is_writing.wait()
        client.close()
        for writer in writers:
            writer.join()
    with open_client(daemon.socket, name="next") as client:
        wait_until(lambda: client.space(make_spec()).reserve(b"k" * 32)[0].status == "new")
