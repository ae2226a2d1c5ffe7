"""A daemon that is away, comes, goes, is silent; forks; what a client says of itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from helpers import check, make_spec, open_client, pattern, put, tokens, wait_until

import kvclient


def test_everything_is_a_miss_while_the_daemon_is_away(tmp_path):
    with kvclient.Client(str(tmp_path / "nobody.sock"), deadline_s=0.2) as client:
        assert not client.connected and not client.ping()
        assert client.status()["connection"] == "connecting" and "nobody.sock" in client.status()["last_error"]
        space = client.space(make_spec())
        keys = space.keys(tokens(2))
        assert space.match(keys).states == b"\0\0" and space.wait(keys, 0.05).ready == 0
        assert len(space.acquire(keys)) == 0
        assert [slot.status for slot in space.reserve(keys)] == ["unavailable"] * 2
        assert space.pin(keys, 1) == 0
        space.unpin(keys)
        with pytest.raises(kvclient.Unavailable) as error:
            space.invalidate()
        assert error.value.code == kvclient.Code.UNAVAILABLE
        assert client.stats()["unavailable"] > 0


def test_a_space_made_before_the_daemon_works_after_it(make_daemon, tmp_path):
    socket = str(tmp_path / "later.sock")
    with kvclient.Client(socket, deadline_s=10) as client:
        space = client.space(make_spec(), deadline_s=0.01)
        make_daemon(socket=socket)
        keys = space.keys(tokens(1))
        wait_until(lambda: space.reserve(keys)[0].status == "new")
        wait_until(lambda: space.match(keys).states == b"\0")
        put(space, keys)
        check(space.acquire(keys), keys)


def test_a_killed_daemon_costs_misses_and_nothing_else(daemon, client, space):
    keys = space.keys(tokens(2))
    put(space, keys[:32])
    lease, batch = space.acquire(keys), space.reserve(keys[32:])
    daemon.kill()
    wait_until(lambda: not client.connected)
    check(lease, keys[:32])
    assert space.match(keys).ready == 0
    batch[0].buffer[:] = bytes(len(batch[0].buffer))
    assert not batch.commit()
    daemon.start()
    wait_until(lambda: client.connected and space.reserve(keys)[0].status == "new")
    check(lease, keys[:32])
    lease.release()
    assert client.status()["sessions_count"] == 2


def test_a_silent_daemon_is_a_deadline(daemon, client, space):
    keys = space.keys(tokens(1))
    daemon.pause()
    try:
        started = time.monotonic()
        batch = space.reserve(keys, deadline_s=0.1)
        assert time.monotonic() - started >= 0.1
        assert batch[0].status == "unavailable"
        with pytest.raises(kvclient.DeadlineExceeded):
            space.invalidate(deadline_s=0.05)
        assert client.stats()["requests_late"] >= 1
    finally:
        daemon.resume()
    wait_until(client.ping)  # the commands before it are done: what was reserved too late is given back
    wait_until(lambda: space.match(keys).states == b"\0")
    put(space, keys)


def test_u11_a_child_gets_an_error_and_can_open_its_own(daemon, client, space):
    keys = space.keys(tokens(1))
    put(space, keys)
    lease = space.acquire(keys)
    batch = space.reserve(space.keys(tokens(1, first=500)))
    nothing_new = space.reserve(keys)
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = child_status(daemon, client, space, keys, lease, batch, nothing_new)
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    check(lease, keys)
    assert client.ping()
    batch[0].buffer[:] = pattern(space.keys(tokens(1, first=500)))
    assert batch.commit(wait=True), "what the child tried with it did nothing"


def child_status(daemon, client, space, keys, lease, batch, nothing_new) -> int:
    """In the child: 0 if everything is as it should be."""
    calls = (
        lambda: space.match(keys),
        lambda: space.acquire(keys),
        lambda: space.acquire(keys, verify=True),
        lambda: space.reserve(keys),
        lambda: space.reserve(keys, claim=False),
        lambda: space.wait(keys),
        lambda: space.restore(keys),
        lambda: space.pin(keys, 1),
        lambda: space.unpin(keys),
        space.invalidate,
        lambda: space.keys(tokens(1)),
        lambda: space.part_range(0),
        lambda: space.get_or_compute(tokens(1), lambda index, buffer: None),
        lambda: client.space(make_spec()),
        lambda: client.connected,
        client.ping,
        client.stats,
        client.status,
        client.invalidate_namespace,
        lambda: lease[0],
        lambda: batch[0].buffer,
        lambda: batch[0].commit(),
        lambda: batch.commit(),
        lambda: batch.commit(wait=True),
        nothing_new.commit,
    )
    for number, call in enumerate(calls, start=1):
        try:
            call()
        except kvclient.Stale:
            continue
        return number
    batch.abort()  # what gives up only forgets
    lease.release()
    client.close()
    with open_client(daemon.socket) as own:
        with own.space(make_spec()).acquire(keys) as blocks:
            check(blocks, keys)
            return 0 if len(blocks) == 1 else 90


@pytest.mark.parametrize("ending", ["os._exit(0)", "sys.exit(0)", "raise SystemExit(3)", "os.abort()", "pass"])
def test_u11_every_exit_of_a_child_leaves_the_parent_alone(daemon, ending):
    program = f"""
import os, sys
sys.path[:0] = {[path for path in sys.path if path]!r}
from helpers import *
client = open_client({daemon.socket!r})
space = client.space(make_spec())
keys = space.keys(tokens(2))
put(space, keys[:32])
lease, batch = space.acquire(keys), space.reserve(keys[32:])
batch[0].buffer[:] = pattern(keys[32:])
if (child := os.fork()) == 0:
    {ending}
    sys.exit(0)
os.waitpid(child, 0)
assert batch.commit(wait=True)
check(lease, keys[:32])
check(space.acquire(keys), keys)
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "fine" in done.stdout, done.stderr


def test_a_killed_writer_gives_its_reservations_back(daemon, space):
    program = f"""
import sys, time
sys.path[:0] = {[path for path in sys.path if path]!r}
from helpers import *
client = open_client({daemon.socket!r})
batch = client.space(make_spec()).reserve(bytes.fromhex({space.keys(tokens(2)).hex()!r}))
print([slot.status for slot in batch], flush=True)
time.sleep(600)
"""
    writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "['new', 'new']\n"
    keys = space.keys(tokens(2))
    assert space.match(keys).states == b"\2\2"
    writer.send_signal(signal.SIGKILL)
    assert space.wait(keys, 60).states == b"\0\0"
    writer.wait()
    writer.stdout.close()


def test_refusals_raise(daemon):
    with pytest.raises(kvclient.KvError) as error:
        kvclient.Client(daemon.socket, namespace="somebody-else", deadline_s=10)
    assert error.value.code not in (None, kvclient.Code.UNAVAILABLE)
    with pytest.raises(kvclient.InvalidArgument):
        kvclient.Client("/" + "x" * 200)
    with pytest.raises(kvclient.InvalidArgument):
        kvclient.Client(daemon.socket, name="a\0b")


def test_a_client_for_which_there_is_no_place_has_one_later(make_daemon):
    daemon = make_daemon(**{"limits.clients_max": "1"})
    with open_client(daemon.socket) as first, kvclient.Client(daemon.socket, deadline_s=10) as second:
        space = second.space(make_spec())
        keys = space.keys(tokens(1))
        assert not second.connected and "clients_max" in second.status()["last_error"]
        assert space.match(keys).ready == 0
        first.close()
        wait_until(lambda: space.reserve(keys)[0].status == "new")


def test_a_read_only_client_reads_and_never_writes(daemon, space):
    keys = space.keys(tokens(2))
    put(space, keys[:32])
    with open_client(daemon.socket, read_only=True) as client:
        other = client.space(make_spec())
        check(other.acquire(keys), keys[:32])
        batch = other.reserve(keys[32:])
        assert batch[0].status == "unavailable" and batch[0].buffer is None
        assert client.status()["is_read_only"]
        pins = (lambda: other.pin(keys, 1), lambda: other.unpin(keys))
        for call in (*pins, other.invalidate, client.invalidate_namespace):
            with pytest.raises(kvclient.Denied):
                call()
        with other.get_or_compute(tokens(2), lambda index, buffer: None) as blocks:
            assert len(blocks) == 2 and blocks.computed == [1]


def test_what_a_client_says_of_itself(client, space):
    keys = space.keys(tokens(1))
    put(space, keys)
    space.acquire(keys).release()
    status, stats = client.status(), client.stats()
    assert status["connection"] == "connected" and status["session_id"] and status["daemon_version"]
    assert status["protocol"] == status["daemon_protocol"]
    assert (stats["acquire_calls"], stats["acquire_leased"], stats["commit_blocks"]) == (1, 1, 1)
    assert client.ping()
