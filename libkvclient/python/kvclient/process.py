"""Tells a process from its forked children: what was mapped before a fork is not there in the child."""

from __future__ import annotations

import os

from .errors import Stale

_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


def process_token() -> int:
    return _forks


def process_check(token: int) -> None:
    if token != _forks:
        raise Stale("made before fork; open a new client in this process")
