"""The main job as a person runs it, in processes of its own. Its bar of speed is not asserted: cores may be shared."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

JOB = Path(__file__).resolve().parents[3] / "tools" / "quickstart_job"
FAKE = Path(__file__).resolve().parent / "fake"


@pytest.fixture
def job_run(model_path, client_is_real):
    environment = os.environ if client_is_real else dict(os.environ, PYTHONPATH=str(FAKE))

    def run(socket, *more):
        command = [sys.executable, str(JOB / "main.py"), "--model", model_path, "--socket", socket, "--threads", "1"]
        done = subprocess.run([*command, *more], env=environment, capture_output=True, text=True, timeout=600)
        return done, json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture
def short_handbook(tmp_path):
    text = (JOB / "handbook.txt").read_text(encoding="utf-8")
    (tmp_path / "short.txt").write_text(text[:700], encoding="utf-8")
    return str(tmp_path / "short.txt")


def test_b_restores_every_full_shared_block_and_answers_as_the_control(socket, job_run):
    done, summary = job_run(socket)
    assert done.returncode == 0, done.stdout + done.stderr
    assert summary["shared_tokens"] >= 1000
    assert summary["restored_tokens"] == summary["shared_tokens"] // 64 * 64
    assert summary["logits_max_diff"] == 0
    assert 0 < summary["ttft_hit_s"] < summary["ttft_cold_s"]


def test_a_second_run_starts_as_cold_as_the_first(socket, job_run, short_handbook):
    for _ in range(2):
        done, summary = job_run(socket, "--handbook", short_handbook)
        assert done.returncode == 1, "a prefix of less than 1000 tokens is not the main job"
        assert "MISSED  prefix" in done.stdout
        assert [line.split()[2] for line in done.stdout.splitlines() if line.startswith("A  ")] == ["0"]
        assert summary["restored_tokens"] == summary["restorable_tokens"] == 128


def test_without_a_daemon_the_job_says_so_and_fails(tmp_path, job_run, short_handbook):
    done, summary = job_run(str(tmp_path / "none"), "--handbook", short_handbook)
    assert done.returncode == 1
    assert "MISSED  restored: 0 of 128" in done.stdout
    assert summary["logits_max_diff"] == 0
