"""A file holds one type or one verb: about 150 lines, 400 at the very most."""
from tree import Finding

LINES_MAX = 400
_DATA = ("LICENSE", ".txt", ".json", ".bin")


def check(tree):
    for path in tree.files:
        if path.endswith(_DATA) and not path.endswith("CMakeLists.txt"):
            continue
        count = len(tree.text(path).splitlines())
        if count > LINES_MAX:
            yield Finding(path, LINES_MAX + 1, f"{count} lines, at most {LINES_MAX}: split it, one type or verb a file")
