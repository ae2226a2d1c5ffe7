"""Nothing unfinished, and no test that cannot fail or is skipped without saying why."""
import re

from tree import Finding

_OWN = "tests/tidy/"  # this folder has the words as data
_CODE = (".h", ".hpp", ".cc", ".cu", ".cuh", ".py", ".sh", ".txt", ".cmake", ".yaml", ".map", ".service")
_RULES = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished: {}"),
    (re.compile(r"\b(?:EXPECT|ASSERT)_(?:TRUE\(true|FALSE\(false)\)"), "cannot fail: {}"),
    (re.compile(r"\b(?:EXPECT|ASSERT)_EQ\((\w+), \1\)"), "cannot fail: {}"),
    (re.compile(r"^[ \t]*assert True\b", re.MULTILINE), "cannot fail: {}"),
    (re.compile(r"\bGTEST_SKIP\(\)(?!\s*<<\s*\S)"), "skips without a reason: {}"),
    (re.compile(r"\bpytest\.(?:mark\.)?skip(?:\(\s*\)|(?![\w(]))"), "skips without a reason: {}"),
    (re.compile(r"\b(?:DISABLED_\w+|xfail\b)"), "a test that is not run: {}"),
    (re.compile(r"\braise NotImplementedError\b"), "unfinished: {}"),
]


def check(tree):
    for path in tree.named(*_CODE):
        if path.startswith(_OWN):
            continue
        text = tree.text(path)
        for pattern, message in _RULES:
            for match in pattern.finditer(text):
                yield Finding(path, text.count("\n", 0, match.start()) + 1, message.format(match.group().strip()))
