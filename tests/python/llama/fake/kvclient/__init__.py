"""Poses as the package `kvclient` with the fake client, and finds the real adapter below it.

For a process that has this directory's parent on PYTHONPATH: the tests, and the main job when it runs without a daemon.
"""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[2]
sys.path.append(str(_TESTS))
__path__.append(str(_TESTS.parents[2] / "libkvclient" / "python" / "kvclient"))

from fake_client import Client, KvError, Match, Part, Space, Spec  # noqa: E402

__all__ = ["Client", "KvError", "Match", "Part", "Space", "Spec"]
