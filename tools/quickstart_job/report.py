"""What a person reads of the main job, and whether it met its bars."""

from __future__ import annotations

import json

import numpy as np

SPEEDUP_MIN = 5.0


def report_print(summary: dict, runs: dict) -> bool:
    """True if the bars of correctness are met. The bar of speed is printed only: another load may miss it."""
    print(f"{'process':<10} {'prompt':>7} {'restored':>9} {'first token':>12} {'speed-up':>9}  logits equal the control")
    for name, run in runs.items():
        print(row_format(name, run, runs))
    for name in ("A", "B"):
        print(f"{name} answers: {' '.join(runs[name].answer['answer'].split())}")
        if not runs[name].answer["connected"]:
            print(f"{name} had no connection to kvtierd at its end: what it asked for was a miss")
    bars = bars_check(summary)
    for text, met in bars.items():
        print(f"{'met' if met else 'MISSED':<7} {text}")
    print(json.dumps(summary), flush=True)
    return all(met for text, met in bars.items() if not text.startswith("speed"))


def row_format(name: str, run, runs: dict) -> str:
    control = runs.get(f"control {name}")
    speedup, equal = "", ""
    if control is not None:
        speedup = f"{control.answer['ttft_s'] / run.answer['ttft_s']:.1f}x"
        equal = "yes" if np.array_equal(run.logits, control.logits) else "NO"
    answer = run.answer
    return (
        f"{name:<10} {len(answer['tokens']):>7} {answer['restored_tokens']:>9} {answer['ttft_s']:>10.3f} s"
        f" {speedup:>9}  {equal}"
    ).rstrip()


def bars_check(summary: dict) -> dict[str, bool]:
    cold = min(summary["ttft_cold_s"], summary["ttft_control_s"])
    return {
        f"prefix: {summary['shared_tokens']} tokens shared, 1000 wanted": summary["shared_tokens"] >= 1000,
        f"restored: {summary['restored_tokens']} of {summary['restorable_tokens']} tokens in full shared blocks": (
            0 < summary["restorable_tokens"] == summary["restored_tokens"]
        ),
        f"equal: largest difference of a logit {summary['logits_max_diff']}": summary["logits_max_diff"] == 0,
        f"speed: first token {cold / summary['ttft_hit_s']:.1f} times sooner, {SPEEDUP_MIN:.0f} wanted": (
            cold >= SPEEDUP_MIN * summary["ttft_hit_s"]
        ),
    }
