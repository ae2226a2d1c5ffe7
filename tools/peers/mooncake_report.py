"""Table and JSON of mooncake.sh: the medians of its rounds, their ratios, and the bars."""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path

BARS = {"lookup_200": 15.0, "read": 2.5, "publish": 8.0}
PEER_LINES = {"publish": "put", "read": "get", "lookup_200": "exists, 200 keys"}


def main(folder: Path) -> int:
    suffixes = sorted(path.suffix for path in folder.glob("peer.[0-9]*"))
    peer = medians([peer_read(folder / f"peer{suffix}") for suffix in suffixes])
    own_rounds = [own_read(folder, suffix) for suffix in suffixes]
    own = medians(own_rounds)
    errors = int(sum(each["errors"] for each in own_rounds))
    ratios = {name: peer[name] / own[name] for name in BARS}
    print(f"{'2 MiB blocks, 200 keys':<24} {'Mooncake us':>12} {'kvtier us':>10} {'faster':>8} {'bar':>6}")
    for name, bar in BARS.items():
        verdict = "met" if ratios[name] >= bar else "MISSED"
        print(f"{name:<24} {peer[name]:>12.1f} {own[name]:>10.1f} {ratios[name]:>7.1f}x {bar:>5.1f}x {verdict}")
    print(json.dumps(summary(peer, own, ratios, len(suffixes)) | {"errors": errors}))
    return 0 if errors == 0 and all(ratios[name] >= bar for name, bar in BARS.items()) else 1


def peer_read(path: Path) -> dict[str, float]:
    text = path.read_text(encoding="utf-8")
    found = {}
    for name, label in PEER_LINES.items():
        match = re.search(rf"^{re.escape(label)}: median (\d+) us", text, re.MULTILINE)
        if match is None:
            raise SystemExit(f"mooncake_report.py: no line '{label}' in the peer's output")
        found[name] = float(match[1])
    return found


def own_read(folder: Path, suffix: str) -> dict[str, float]:
    share = json.loads((folder / f"share{suffix}").read_text(encoding="utf-8"))
    lookup = json.loads((folder / f"lookup{suffix}").read_text(encoding="utf-8"))
    return {
        # The peer's figures are medians of single calls.
        "publish": share["publish_us_p50"],
        "publish_mean": share["publish_us_per_block"],
        "publish_single": share["single_block_us"],
        "read": share["read_us_per_block"],
        "copy": share["block_bytes"] / share["reference_reader_gb_per_s"] / 1000,
        "lookup_200": lookup["us_per_call_p50"],
        "errors": share["errors"] + lookup["errors"],
    }


def medians(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def summary(peer: dict, own: dict, ratios: dict, rounds: int) -> dict:
    return {
        "bench": "peer_mooncake",
        "rounds": rounds,
        **{f"{name}_ratio": round(value, 2) for name, value in ratios.items()},
        "publish_mean_ratio": round(peer["publish"] / own["publish_mean"], 2),
        "publish_single_ratio": round(peer["publish"] / own["publish_single"], 2),
        **{f"mooncake_{name}_us": value for name, value in peer.items()},
        **{f"kvtier_{name}_us": round(own[name], 2) for name in own if name != "errors"},
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
