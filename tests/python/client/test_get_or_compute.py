"""get_or_compute: one computes, the others wait and read."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from helpers import (
    acquire_written,
    check,
    key_at,
    make_spec,
    open_client,
    pattern,
    put,
    stop_process,
    tokens,
    wait_until,
)

import kvclient


class Computing:
    """A compute function that fills a block with its pattern and remembers its calls."""

    def __init__(self, keys: bytes):
        self.keys = keys
        self.calls: list[int] = []

    def __call__(self, index: int, buffer: memoryview) -> None:
        self.calls.append(index)
        buffer[:] = pattern(key_at(self.keys, index))


def test_missing_blocks_are_computed_and_shared(client, space, reader):
    keys = space.keys(tokens(5))
    compute = Computing(keys)
    with space.get_or_compute(tokens(5) + [99], compute) as blocks:
        assert len(blocks) == 5 and blocks.computed == compute.calls == [0, 1, 2, 3, 4]
        check(blocks, keys)
        assert blocks[0].readonly
    again = Computing(keys)
    with reader.get_or_compute(tokens(5), again) as blocks:
        check(blocks, keys)
        assert blocks.computed == again.calls == []
    assert client.stats()["leases_open"] == client.stats()["reservations_open"] == 0


def test_a_block_that_is_lost_on_the_way_is_computed_again(space):
    keys = space.keys(tokens(2))
    calls = []

    def compute(index, buffer):
        calls.append(index)
        buffer[:] = pattern(key_at(keys, index))
        if calls == [0, 1]:
            space.invalidate()  # the reservation too: its commit finds nothing

    with space.get_or_compute(tokens(2), compute) as blocks:
        assert calls == [0, 1, 1] and blocks.computed == [0, 1]
        check(blocks, keys)
        assert repr(blocks) == "Blocks(2 blocks, computed=[0, 1])"
    assert repr(blocks) == "Blocks(0 blocks, computed=[0, 1])"


@pytest.fixture
def invalidating(daemon):
    """Another client invalidates the space again and again."""
    is_over = threading.Event()

    def work():
        with open_client(daemon.socket) as client:
            space = client.space(make_spec())
            while not is_over.is_set():
                space.invalidate()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    is_over.set()
    thread.join()


def test_a_space_that_is_being_invalidated_is_a_miss(space, invalidating):
    met = []  # what reservations met
    reserve = space.reserve

    def reserve_and_note(*args, **kwargs):
        batch = reserve(*args, **kwargs)
        met.append((batch[0].status, batch[0].cause, batch.code))
        return batch

    space.reserve = reserve_and_note
    stale = ("unavailable", "invalidated", kvclient.Code.STALE)
    first = iter(range(0, 10**9, 100))

    def compute_some():
        some = tokens(6, next(first))
        keys = space.keys(some)
        with space.get_or_compute(some, Computing(keys)) as blocks:
            check(blocks, keys)
        space.wait(keys, 0.01)
        space.restore(keys, 0.01)
        space.pin(keys, 1)
        space.unpin(keys)
        return met.count(stale) > 20

    wait_until(compute_some)


def test_a_client_that_is_closed_meanwhile_is_stale(client, space):
    def compute(index, buffer):
        client.close()

    with pytest.raises(kvclient.Stale, match="closed"):
        space.get_or_compute(tokens(3), compute)


def test_only_holes_are_computed(space):
    keys = space.keys(tokens(6))
    for index in (0, 2, 3):
        put(space, key_at(keys, index))
    with space.get_or_compute(tokens(6), compute := Computing(keys)) as blocks:
        assert compute.calls == [1, 4, 5] and len(blocks) == 6
        check(blocks, keys)


def test_no_full_block(space):
    with space.get_or_compute([1, 2, 3], Computing(b"")) as blocks:
        assert len(blocks) == 0


def test_an_error_of_compute_gives_everything_back(client, space, reader):
    keys = space.keys(tokens(3))

    def compute(index, buffer):
        if index == 1:
            raise RuntimeError("staged")
        buffer[:] = pattern(key_at(keys, index))

    with pytest.raises(RuntimeError, match="staged"):
        space.get_or_compute(tokens(3), compute)
    wait_until(lambda: reader.match(keys).states == bytes([1, 0, 0]))
    assert client.stats()["leases_open"] == client.stats()["reservations_open"] == 0


def test_threads_compute_each_block_once(space):
    keys = space.keys(tokens(16))
    computes = [Computing(keys) for _ in range(6)]
    failures = []

    def work(compute):
        try:
            with space.get_or_compute(tokens(16), compute, deadline_s=60) as blocks:
                check(blocks, keys)
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(compute,)) for compute in computes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert sorted(call for compute in computes for call in compute.calls) == list(range(16))


def test_processes_compute_each_block_once(daemon, space):
    children = [start_child(daemon, blocks=12, pause_s=0.02) for _ in range(3)]
    answers = [child.communicate()[0].split() for child in children]
    assert all(child.returncode == 0 for child in children), answers
    computed = sorted(int(index) for answer in answers for index in answer if index != "at")
    assert computed == list(range(12))
    keys = space.keys(tokens(12))
    check(acquire_written(space, keys), keys)


def test_a_waiter_takes_over_from_a_process_that_dies(daemon, client, space):
    child = start_child(daemon, blocks=3, pause_s=600)
    assert child.stdout.readline() == "at\n"
    stop_process(child)
    keys = space.keys(tokens(3))
    assert space.match(keys).states == b"\2\2\2"
    requests = client.stats()["requests"]

    def kill_when_waited_for():
        wait_until(lambda: client.stats()["requests"] == requests + 2)  # reserve, wait
        child.kill()

    killer = threading.Thread(target=kill_when_waited_for)
    killer.start()
    with space.get_or_compute(tokens(3), compute := Computing(keys), deadline_s=60) as blocks:
        assert compute.calls == [0, 1, 2]
        check(blocks, keys)
    killer.join()
    child.communicate()


def test_a_process_that_hangs_is_waited_for_until_the_deadline(daemon, space):
    child = start_child(daemon, blocks=2, pause_s=600)
    try:
        assert child.stdout.readline() == "at\n"
        keys = space.keys(tokens(2))
        with space.get_or_compute(tokens(2), compute := Computing(keys), deadline_s=0.2) as blocks:
            assert compute.calls == [0, 1]
            check(blocks, keys)
        assert space.match(keys).ready == 0, "computed into memory of this process"
    finally:
        child.kill()
        child.communicate()


def start_child(daemon, blocks: int, pause_s: float) -> subprocess.Popen:
    """A process that computes slowly. Prints "at" at each block's start, and the index at its end."""
    program = f"""
import sys, time
sys.path[:0] = {[path for path in sys.path if path]!r}
from helpers import *
with open_client({daemon.socket!r}) as client:
    space = client.space(make_spec())
    keys = space.keys(tokens({blocks}))
    def compute(index, buffer):
        print("at", flush=True)
        time.sleep({pause_s})
        buffer[:] = pattern(key_at(keys, index))
        print(index, flush=True)
    with space.get_or_compute(tokens({blocks}), compute, deadline_s=60) as found:
        check(found, keys)
"""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def test_without_a_daemon_the_result_is_the_same(tmp_path):
    with kvclient.Client(str(tmp_path / "nobody.sock"), deadline_s=0.05) as client:
        space = client.space(make_spec())
        keys = space.keys(tokens(3))
        with space.get_or_compute(tokens(3), compute := Computing(keys)) as blocks:
            assert compute.calls == [0, 1, 2]
            check(blocks, keys)
            view = blocks[1]
        assert bytes(view) == pattern(key_at(keys, 1))


def test_a_daemon_that_dies_under_it(daemon, client, space):
    keys = space.keys(tokens(6))
    compute = Computing(keys)

    def compute_and_kill(index, buffer):
        if index == 2:
            daemon.kill()
        compute(index, buffer)

    with space.get_or_compute(tokens(6), compute_and_kill) as blocks:
        assert len(blocks) == 6
        check(blocks, keys)


def test_a_full_pool_is_no_error(make_daemon):
    daemon = make_daemon(**{"host.bytes": "16MiB"})
    with open_client(daemon.socket) as client:
        space = client.space(make_spec(part={"bytes": 1 << 20}))

        def compute(index, buffer):
            buffer[:8] = index.to_bytes(8, "little")

        with space.get_or_compute(tokens(40), compute) as blocks:
            assert [int.from_bytes(blocks[i][:8], "little") for i in range(40)] == list(range(40))
