#!/usr/bin/env python3
"""Checks the source tree: tests/tidy/main.py [ROOT]. Exit status 1 and file:line messages when a rule is broken."""
import importlib
import pathlib
import sys

from tree import Tree

RULES = ("include_ranks", "link_ranks", "third_party", "unlisted_sources", "readmes", "stubs",
         "machine_paths", "file_length", "setting_names")


def findings(root):
    tree = Tree(root)
    for name in RULES:
        for finding in importlib.import_module(f"rules.{name}").check(tree):
            yield name, finding


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parents[2]
    count = 0
    for rule, finding in findings(root):
        print(f"{finding} [{rule}]")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
