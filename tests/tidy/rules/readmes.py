"""Every module says in at most 40 lines what it is for, its types, its thread and what may fail."""
import posixpath

from tree import Finding

LINES_MAX = 40
_HOUSES = ("libkvclient", "daemon", "tools", "tests")


def check(tree):
    for module in sorted(_modules(tree)):
        if f"{module}/README.md" not in tree:
            yield Finding(f"{module}/README.md", 1, "missing: each module has a README")
    for path in tree.named("/README.md"):
        count = len(tree.text(path).splitlines())
        if count > LINES_MAX:
            yield Finding(path, LINES_MAX + 1, f"{count} lines, at most {LINES_MAX}: layouts go into a document of their own")
        elif count < 3:
            yield Finding(path, 1, "says nothing")


def _modules(tree):
    """The folders right below a house."""
    for folder in tree.folders:
        if posixpath.dirname(folder) in _HOUSES:
            yield folder
