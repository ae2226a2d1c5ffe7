#!/usr/bin/env python3
"""The main job: process A answers a long prompt cold, process B answers one that shares its prefix.

Each is compared with a control process that never heard of kvtier. Prints a table; the last line is one JSON object.
Exit status: 0 if B restored every full shared block and all logits are equal; 1 otherwise; 2 if a process failed.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from report import report_print

HERE = Path(__file__).resolve().parent
BLOCK_TOKENS = 64
QUESTIONS = {
    "A": "Question: When is a sand filter washed?\nAnswer:",
    "B": "Question: Who is right when the staff and the filter house disagree about a level?\nAnswer:",
}


@dataclass(frozen=True)
class Run:
    answer: dict
    logits: np.ndarray


def main() -> int:
    job = job_read()
    with tempfile.TemporaryDirectory(prefix="kvtier-quickstart-") as folder:
        try:
            runs = runs_make(job, Path(folder))
        except subprocess.CalledProcessError as error:
            print(f"quickstart: process {error.cmd[-1]} failed with status {error.returncode}", file=sys.stderr)
            return 2
    return 0 if report_print(summary_make(runs), runs) else 1


def job_read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(Path(sys.prefix) / "share" / "model.gguf"), help="a GGUF file")
    parser.add_argument("--socket", help="the daemon's socket (default: the client's own default)")
    parser.add_argument("--handbook", type=Path, default=HERE / "handbook.txt", help="the text that A and B share")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="the same for all processes")
    return parser.parse_args()


def runs_make(job: argparse.Namespace, folder: Path) -> dict[str, Run]:
    """A, B and their controls, one after the other: they would share the cores otherwise."""
    handbook = job.handbook.read_text(encoding="utf-8")
    for name, question in QUESTIONS.items():
        (folder / f"{name}.txt").write_text(handbook + question, encoding="utf-8")
    salt = secrets.token_hex(8)  # the blocks of an earlier run must not answer A
    runs = {name: process_run(job, folder, name, "cached", ["--salt", salt]) for name in QUESTIONS}
    split = ["--split", str(runs["B"].answer["restored_tokens"] // BLOCK_TOKENS)]
    return runs | {f"control {name}": process_run(job, folder, name, "control", split) for name in QUESTIONS}


def process_run(job: argparse.Namespace, folder: Path, prompt: str, role: str, more: list[str]) -> Run:
    out = str(folder / f"{role}-{prompt}")
    command = [sys.executable, str(HERE / "worker.py"), role, "--model", job.model, "--threads", str(job.threads)]
    command += ["--prompt", str(folder / f"{prompt}.txt"), "--out", out, *more]
    command += ["--socket", job.socket] if job.socket else []
    # Passive: threads of llama.cpp that wait for each other sleep, instead of taking the core that the other needs.
    environment = {"OMP_WAIT_POLICY": "passive"} | os.environ
    subprocess.run(command + ["--name", f"quickstart-{prompt}"], check=True, env=environment)
    return Run(json.loads(Path(out + ".json").read_text(encoding="utf-8")), np.load(out + ".npy"))


def summary_make(runs: dict[str, Run]) -> dict:
    a, b = runs["A"].answer, runs["B"].answer
    shared = len(os.path.commonprefix([a["tokens"], b["tokens"]]))
    return {
        "prompt_tokens": len(b["tokens"]),
        "shared_tokens": shared,
        "restorable_tokens": min(shared, len(b["tokens"]) - 1) // BLOCK_TOKENS * BLOCK_TOKENS,
        "restored_tokens": b["restored_tokens"],
        "ttft_cold_s": a["ttft_s"],
        "ttft_hit_s": b["ttft_s"],
        "ttft_control_s": runs["control B"].answer["ttft_s"],
        "store_s": a["store_s"],
        "logits_max_diff": max(logits_diff(runs, name) for name in QUESTIONS),
    }


def logits_diff(runs: dict[str, Run], name: str) -> float:
    return float(np.max(np.abs(runs[name].logits - runs[f"control {name}"].logits)))


if __name__ == "__main__":
    sys.exit(main())
