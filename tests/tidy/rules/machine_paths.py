"""No tracked file names a folder of the machine that it was written on."""
import re

from tree import Finding

_PATH = re.compile(r"(?<![\w.$}~-])/(?:work|root|home/\w+|Users/\w+|tmp/w)(?:/|\b(?![\w.-]))")


def check(tree):
    for path in tree.files:
        for number, line in tree.lines(path):
            match = _PATH.search(line)
            if match:
                yield Finding(path, number, f"names a folder of one machine: {match.group()}")
