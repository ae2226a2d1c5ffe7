#!/usr/bin/env python3
"""Prints what a reader of a long log needs of the last ctest run's failures: FOLDER, a build folder.

For each failed test its name, the cases that GoogleTest says failed, and the last lines that it wrote: a test that was
ended because it hung names there what it was doing. Whoever cuts a log keeps its end, so this comes after everything else.
"""
import argparse
import pathlib
import re

LAST_LINES = 30
CASE_LINES_MAX = 30  # of one case
CASES_MAX = 5
_TEST = re.compile(r"^\d+/\d+ Test: (?P<name>.*)\n(?:.*\n)*?Output:\n-+\n(?P<output>(?:.*\n)*?)<end of output>\n"
                   r"(?P<time>Test time = .*)\n", re.M)
_CASE = re.compile(r"^\[ RUN      \] (?P<name>\S+)\n(?P<output>(?:(?!\[ RUN ).*\n)*?)\[  FAILED  \] (?P=name)", re.M)


def failed_names(folder):
    path = folder / "Testing/Temporary/LastTestsFailed.log"
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return [line.split(":", 1)[1] for line in lines if ":" in line]


def outputs(folder):
    """Name to (output, time)."""
    path = folder / "Testing/Temporary/LastTest.log"
    text = path.read_text(errors="replace") if path.exists() else ""
    return {match["name"]: (match["output"], match["time"]) for match in _TEST.finditer(text)}


def report(name, output, time):
    yield f"---- {name} failed. {time}"
    for case in list(_CASE.finditer(output))[:CASES_MAX]:
        yield f"-- {case['name']}:"
        yield from case["output"].splitlines()[:CASE_LINES_MAX]
    lines = output.splitlines()
    yield f"-- its last lines, of {len(lines)}:" if lines else "-- it wrote nothing"
    yield from lines[-LAST_LINES:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    found = outputs(folder)
    for name in failed_names(folder):
        print(*report(name, *found.get(name, ("", "ctest kept no output of it."))), sep="\n")


if __name__ == "__main__":
    main()
