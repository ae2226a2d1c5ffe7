"""Fixtures: the real kvtierd, one a test, and clients of it.

The package is found on PYTHONPATH, or in the build folder KVTIER_BUILD (default: build); the daemon in KVTIER_BIN
(default: the build folder's bin).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("KVTIER_BUILD", ROOT / "build"))
KVTIERD = Path(os.environ.get("KVTIER_BIN", BUILD / "bin")) / "kvtierd"

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(BUILD / "python"))
pytest.importorskip("kvclient._kvclient", reason=f"no built kvclient on PYTHONPATH or in {BUILD}/python")

from helpers import WITHIN_S, make_spec, open_client, stop_process, wait_until  # noqa: E402


class Daemon:
    def __init__(self, folder: Path, settings: dict[str, str]):
        self.folder = folder
        self._settings = {
            "runtime_dir": folder,
            "socket": folder / "s.sock",
            "admin_socket": folder / "a.sock",
            "host.bytes": "32MiB",
            "host.headroom": "0B",
            **settings,
        }
        self.socket = str(self._settings["socket"])
        self.start()

    def start(self) -> None:
        command = [str(KVTIERD)]
        for name, value in self._settings.items():
            command += ["--set", f"{name}={value}"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KVTIER_")}
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        wait_until(self._is_ready)

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()
        return os.path.exists(self.socket)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        Path(self.socket).unlink(missing_ok=True)

    def pause(self) -> None:
        stop_process(self.process)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.resume()
            self.process.terminate()
            self.process.wait(timeout=WITHIN_S)


@pytest.fixture
def make_daemon():
    """Makes daemons with settings, e.g. make_daemon(**{"host.bytes": "16MiB"})."""
    if not os.access(KVTIERD, os.X_OK):
        pytest.skip(f"no kvtierd at {KVTIERD}: build it, or set KVTIER_BIN")
    with tempfile.TemporaryDirectory(prefix="kvtier-") as root:
        daemons: list[Daemon] = []

        def make(**settings):
            folder = Path(root) / str(len(daemons))
            folder.mkdir()
            daemons.append(Daemon(folder, settings))
            return daemons[-1]

        yield make
        for daemon in daemons:
            daemon.stop()


@pytest.fixture
def daemon(make_daemon):
    return make_daemon()


@pytest.fixture
def client(daemon):
    with open_client(daemon.socket, name="test") as client:
        yield client


@pytest.fixture
def space(client):
    return client.space(make_spec())


@pytest.fixture
def reader(daemon):
    """The space through another client, as another process would have it."""
    with open_client(daemon.socket, name="reader") as client:
        yield client.space(make_spec())
