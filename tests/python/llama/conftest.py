"""Fixtures. KVTIER_TEST_CLIENT=real runs the same tests through the kvclient package found on PYTHONPATH and the
daemon at KVTIER_SOCKET; the default is the fake client beside this file. KVTIER_TEST_MODEL names another GGUF file.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REAL = os.environ.get("KVTIER_TEST_CLIENT", "fake") == "real"
MODEL = Path(os.environ.get("KVTIER_TEST_MODEL", Path(sys.prefix) / "share" / "model.gguf"))

sys.path.insert(0, str(HERE))
if not REAL:
    sys.path.insert(0, str(HERE / "fake"))

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before llama.cpp is loaded: its threads sleep, not spin
pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: run tools/env/llama.sh")
if not MODEL.exists():
    pytest.skip(f"no model at {MODEL}: run tools/env/llama.sh", allow_module_level=True)

import kvclient  # noqa: E402
import llama_cpp  # noqa: E402
from kvclient.llama_cpp import CachedLlama, EngineOptions  # noqa: E402

# One thread: the same bits, and no spinning against whatever else runs on the machine.
OPTIONS = EngineOptions(n_ctx=1024, n_threads=1)


@pytest.fixture(scope="session")
def socket(tmp_path_factory):
    return os.environ["KVTIER_SOCKET"] if REAL else str(tmp_path_factory.mktemp("daemon"))


@pytest.fixture(scope="session")
def client(socket):
    with kvclient.Client(socket=socket, name="test-llama") as client:
        assert client.connected, f"no daemon at {socket}"
        yield client


@pytest.fixture
def salt():
    """Keeps the blocks of one test out of the way of the next."""
    return secrets.token_bytes(8)


@pytest.fixture(scope="session")
def llama_pool():
    pool = []
    yield pool
    for llama in pool:
        llama.close()


@pytest.fixture
def make_llama(llama_pool):
    """Makes engines that share nothing, as those of two processes. Loading is slow, so later tests get them again,
    with their memory wiped: what is not restored or computed is not there.
    """
    used = []

    def make(client=None, options=OPTIONS, **settings):
        llama = next((idle for idle in llama_pool if idle.engine.options == options), None)
        if llama is None:
            llama = CachedLlama(str(MODEL), options=options)
        else:
            llama_pool.remove(llama)
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(llama.engine.ctx), True)
        llama.attach(client, **settings)
        used.append(llama)
        return llama

    yield make
    llama_pool.extend(used)


@pytest.fixture(scope="session")
def control():
    """Computes everything, knows no cache."""
    with CachedLlama(str(MODEL), None, options=OPTIONS) as llama:
        yield llama


@pytest.fixture(scope="session")
def expected(control):
    """The logits of a prompt that was computed without a cache."""
    known = {}

    def logits(prompt):
        key = tuple(prompt)
        if key not in known:
            known[key] = control.prompt(prompt).logits
        return known[key]

    return logits


@pytest.fixture(scope="session")
def tokens(control):
    text = (HERE.parents[2] / "tools" / "quickstart_job" / "handbook.txt").read_text(encoding="utf-8")
    return control.tokenize(text)


@pytest.fixture(scope="session")
def model_path():
    return str(MODEL)


@pytest.fixture(scope="session")
def client_is_real():
    return REAL
