#!/usr/bin/env python3
"""kvbench lookup --python: match, acquire and release through the Python package, on the blocks that kvbench filled in.

Prints one JSON object. Needs the package kvclient: kvbench sets PYTHONPATH to that of its build.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import struct
import time

import kvclient

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
CHAINS_MAX = 200  # their keys are computed here, slowly
REPEATS = 5
CALLS = 400


def main() -> None:
    job = job_read()
    chains = random.Random(5).sample(range(job.chains), min(CHAINS_MAX, job.chains))
    prefixes = [b"".join(pattern_key(chain, i) for i in range(job.keys)) for chain in chains]
    with kvclient.Client(socket=job.socket, name="kvbench-python") as client:
        space = client.space(make_spec(job.block_bytes))
        calls_time(space, prefixes)
        medians = [statistics.median(calls_time(space, prefixes)) for _ in range(REPEATS)]
    print(json.dumps({"ns_per_key_p50": round(statistics.median(medians) / job.keys, 1)}))


def job_read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--socket", required=True)
    parser.add_argument("--keys", type=int, required=True, help="keys of a chain")
    parser.add_argument("--chains", type=int, required=True)
    parser.add_argument("--block-bytes", type=int, required=True)
    return parser.parse_args()


def calls_time(space, prefixes: list[bytes]) -> list[int]:
    times = []
    for i in range(CALLS):
        keys = prefixes[i % len(prefixes)]
        start = time.perf_counter_ns()
        space.match(keys)
        lease = space.acquire(keys)
        lease.release()
        times.append(time.perf_counter_ns() - start)
    return times


def make_spec(block_bytes: int):
    """As tools/kvbench/support/bench_client.cc: an equal spec is the same space."""
    part = kvclient.Part(
        name="kv", bytes=block_bytes, layers=(0, 1), kv_heads=1, head_dim=64, dtype="bytes", layout="flat"
    )
    return kvclient.Spec(model="kvbench", revision="1", tokenizer="none", block_tokens=16, parts=[part])


def mix64(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def pattern_key(chain: int, position: int) -> bytes:
    """As tests/support/pattern_block.h."""
    state = mix64(chain * GOLDEN + 1 & MASK) ^ mix64(position + 0x51ED27)
    words = [mix64(state + GOLDEN * i & MASK) for i in range(1, 5)]
    words[3] |= 1
    return struct.pack("<4Q", *words)


if __name__ == "__main__":
    main()
