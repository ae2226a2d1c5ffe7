"""The interpreter ends while daemon threads are inside the library."""

from __future__ import annotations

import subprocess
import sys

import pytest

RUNS = 4  # where in the call the end meets a thread is chance
CALLS = {
    "ping": "client.ping()",
    "reserve": "space.reserve(mine).abort()",
    "commit": "space.reserve(space.keys(tokens(1, random.randrange(10**9)))).commit(wait=True)",
    "acquire": "space.acquire(keys).release()",
    "match_many": "space.match(bytes(32 * 20000))",
    "verify": "space.acquire(keys, verify=True).release()",
    "wait": "space.wait(pending, WITHIN_S)",
    "restore": "space.restore(pending, WITHIN_S)",
    "pin": "space.pin(keys, 1); space.unpin(keys)",
    "copy": "kvclient.copy(bytearray(1 << 26), bytes(1 << 26))",
    "get_or_compute": "space.get_or_compute(tokens(4, random.randrange(10**9)), lambda i, b: None).release()",
    "get_or_compute_waits": "space.get_or_compute(tokens(2, 1000), lambda i, b: None).release()",
    "open": "other = kvclient.Client(client.status()['socket_path']); other.space(make_spec()); other.close()",
    "refused": "refused(lambda: space.match(b'x'))",
    "tokens": "space.keys([Token() for _ in range(100)])",
}


def program(socket: str, call: str) -> str:
    return f"""
import random, sys, threading, time
sys.path[:0] = {[path for path in sys.path if path]!r}
import kvclient
from helpers import *
class Token:
    def __index__(self):
        return sum(range(10))
def refused(call):
    try:
        call()
    except kvclient.InvalidArgument:
        pass
client = open_client({socket!r})
space = client.space(make_spec())
keys, pending = space.keys(tokens(4)), space.keys(tokens(2, 1000))
held = space.reserve(pending)
put(space, keys) if space.match(keys).ready == 0 else None
inside = threading.Semaphore(0)
def work(first):
    mine = space.keys(tokens(4, first))
    while True:
        inside.release()
        {call}
for i in range(3):
    threading.Thread(target=work, args=(10000 * (i + 1),), daemon=True).start()
for _ in range(3):
    inside.acquire()
time.sleep(random.random() * 0.1)
"""


@pytest.mark.parametrize("name", CALLS)
def test_daemon_threads_inside_a_call_do_not_end_the_process(daemon, name):
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-c", program(daemon.socket, CALLS[name])], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
