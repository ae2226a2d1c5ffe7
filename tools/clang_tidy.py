#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy, over the product's sources.

    tools/clang_tidy.py BUILD_FOLDER [--quick] [--jobs N] [--batch N] [PATH ...]

Most of clang-tidy's time goes into headers, so the sources of a module that are compiled with the same flags
are checked together: up to --batch of them, one behind the other, as one translation unit. Pasted and not
included, because the analyzer follows paths in the main file only. A source that does not compile behind the
others, since both have a local name of the same spelling, is checked apart from them and named on standard error.

216 sources took 840 s of CPU on a busy machine. --quick takes a sixth of that: it leaves out the static analyzer and
performance-unnecessary-value-param, which looks into every function of JSON's and CLI11's headers. Tests are not
checked: GoogleTest's macros would add most of that again. PATH limits the run to sources below it.
Exit status 1: findings; 2: nothing to check, or clang-tidy did not run.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCT = ("libkvclient", "daemon", "kernels", "tools")
COMPILE_ERROR = "[clang-diagnostic-error"
SLOW_CHECKS = ("clang-analyzer-*", "performance-unnecessary-value-param")


def flags_of(entry):
    """The compile command without compiler, launcher, source and output."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    output = words.index("-o")
    return tuple(word for i, word in enumerate(words)
                 if i not in (output, output + 1) and word not in ("-c", entry["file"]))


def batches_of(entries, paths, size):
    """(flags, sources), by module and flags, each main() alone; a source that several targets compile counts once."""
    groups, seen = collections.defaultdict(list), set()
    for entry in entries:
        source = pathlib.Path(entry["file"])
        if not source.is_relative_to(ROOT) or source in seen:
            continue
        name = source.relative_to(ROOT)
        if name.parts[0] not in PRODUCT or not any(name.is_relative_to(path) for path in paths):
            continue
        seen.add(source)
        has_main = re.search(r"^int main\(", source.read_text(), re.MULTILINE) is not None
        groups["/".join(name.parts[:2]), name if has_main else pathlib.Path(), flags_of(entry)].append(source)
    for (_, _, flags), sources in sorted(groups.items()):
        count = -(-len(sources) // size)
        for i in range(count):
            yield flags, sorted(sources)[i::count]


class Unit:
    """Sources pasted into one file, and where each line of it comes from."""

    def __init__(self, folder, sources):
        self.origins = []
        text = []
        for source in sources:
            lines = source.read_text().splitlines()
            text += lines
            self.origins += [(source, number) for number in range(1, len(lines) + 1)]
        handle, name = tempfile.mkstemp(suffix=sources[0].suffix, dir=folder, text=True)
        with os.fdopen(handle, "w") as file:
            file.write("\n".join(text) + "\n")
        self.path = name

    def origin(self, line):
        return self.origins[min(line, len(self.origins)) - 1]

    def in_terms_of_sources(self, output):
        def place(match):
            source, line = self.origin(int(match.group(1)))
            return f"{source}:{line}:"
        return re.sub(re.escape(self.path) + r":(\d+):", place, output).replace(f"{ROOT}/", "")

    def sources_with_compile_errors(self, output):
        lines = re.findall(re.escape(self.path) + r":(\d+):\d+: error: .*" + re.escape(COMPILE_ERROR), output)
        return {self.origin(int(line))[0] for line in lines}


def findings_of(output):
    """The diagnostics, each with its notes."""
    starts = [match.start() for match in re.finditer(r"^\S+:\d+:\d+: (?:error|warning): ", output, re.MULTILINE)]
    return [output[start:end] for start, end in zip(starts, starts[1:] + [len(output)])]


def check(folder, checks, flags, sources):
    unit = Unit(folder, sources)
    command = ["clang-tidy", "--quiet", f"--config-file={ROOT}/.clang-tidy", *checks, unit.path, "--", *flags]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if COMPILE_ERROR in result.stdout and len(sources) > 1:
        apart = unit.sources_with_compile_errors(result.stdout) & set(sources[1:]) or set(sources[1:])
        for source in sorted(apart):
            print(f"clang_tidy: {source.relative_to(ROOT)} does not compile behind others: apart", file=sys.stderr)
        parts = [[source for source in sources if source not in apart], sorted(apart)]
        return [finding for part in parts for finding in check(folder, checks, flags, part)]
    findings = findings_of(unit.in_terms_of_sources(result.stdout))
    if result.returncode and not findings:  # e.g. a flag that it does not know: nothing was checked
        raise RuntimeError(f"clang-tidy, {sources[0].relative_to(ROOT)}: {result.stdout}{result.stderr}")
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a configured build folder")
    parser.add_argument("--quick", action="store_true", help="without the slow checks")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=24, help="most sources in one translation unit")
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="relative to the root")
    options = parser.parse_intermixed_args()

    batches = list(batches_of(json.loads((options.build / "compile_commands.json").read_text()),
                              options.paths, options.batch))
    if not batches:
        print("clang_tidy: no source to check", file=sys.stderr)
        return 2
    checks = ["--checks=" + ",".join(f"-{check}" for check in SLOW_CHECKS)] if options.quick else []
    reported = set()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in concurrent.futures.as_completed([pool.submit(check, folder, checks, *batch) for batch in batches]):
            for finding in found.result():
                place = finding.splitlines()[0]
                if place not in reported:  # a header's comes once a batch
                    reported.add(place)
                    print(finding, end="", flush=True)
    print(f"clang_tidy: {sum(len(sources) for _, sources in batches)} sources, {len(reported)} findings", file=sys.stderr)
    return 1 if reported else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print(f"clang_tidy: {error}", file=sys.stderr)
        sys.exit(2)
