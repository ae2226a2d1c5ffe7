"""The #include lines of a file."""
import posixpath
import re
from typing import NamedTuple

CPP = (".c", ".h", ".hpp", ".cc", ".cu", ".cuh")
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Include(NamedTuple):
    line: int
    name: str         # as written
    path: str | None  # the file of this tree that it names


def includes(tree, path):
    for number, line in tree.lines(path):
        match = _INCLUDE.match(line)
        if match:
            yield Include(number, match.group(2), _find(tree, path, match.group(2)))


def _find(tree, path, name):
    places = ("", "libkvclient/include", posixpath.dirname(path))
    return next((found for place in places if (found := posixpath.normpath(posixpath.join(place, name))) in tree), None)
