"""The example of the package's README runs as it stands."""

from __future__ import annotations

import re

from conftest import ROOT


def test_the_readmes_example_stores_reads_and_computes(daemon, monkeypatch, capsys):
    text = (ROOT / "libkvclient/python/README.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(examples) == 1
    monkeypatch.setenv("KVTIER_SOCKET", daemon.socket)
    exec(compile(examples[0], "README.md", "exec"), {})
    assert capsys.readouterr().out == "4 65536\n5 [4]\n"
