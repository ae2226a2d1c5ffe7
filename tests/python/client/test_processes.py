"""Interpreters that share nothing but the daemon (reports C-04, U-11)."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys

from helpers import check, make_spec, open_client, put, tokens

BLOCKS = 250  # 1,000 tokens

STORE = "put(space, keys); print(json.dumps(keys.hex()))"
FIND = """
with space.acquire(keys) as lease:
    check(lease, keys)
    print(json.dumps([space.match(keys).ready, len(lease), hash("seed")]))
"""


def run(daemon, hash_seed: int, body: str):
    program = f"""
import json, sys
sys.path[:0] = {[path for path in sys.path if path]!r}
from helpers import *
client = open_client({daemon.socket!r})
space = client.space(make_spec())
keys = space.keys(tokens({BLOCKS}), salt=b"tenant")
{body}
"""
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_c04_processes_with_other_hash_seeds_find_each_others_blocks(daemon, space):
    assert run(daemon, 1, STORE) == space.keys(tokens(BLOCKS), salt=b"tenant").hex()
    found = [run(daemon, seed, FIND) for seed in (2, 3)]
    assert [each[:2] for each in found] == [[BLOCKS, BLOCKS]] * 2
    assert found[0][2] != found[1][2], "the interpreters' own hashes differ"


def read_in_child(socket: str, keys: bytes, answer) -> None:
    with open_client(socket) as client, client.space(make_spec()).acquire(keys) as lease:
        check(lease, keys)
        answer.send(len(lease))


def test_u11_a_spawned_child_has_a_client_of_its_own(daemon, client, space):
    keys = space.keys(tokens(3))
    put(space, keys)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=read_in_child, args=(daemon.socket, keys, sender))
    child.start()
    sender.close()
    assert receiver.recv() == 3
    child.join()
    assert child.exitcode == 0
    assert client.ping() and space.match(keys).ready == 3
