"""A small source tree in a temporary folder, for the tests of the rules."""
import contextlib
import pathlib
import tempfile

from tree import Tree


def broken(rule, files):
    """What the rule says about a tree of these files: 'path:line: message' each."""
    with _tree(files) as tree:
        return [str(finding) for finding in rule.check(tree)]


@contextlib.contextmanager
def _tree(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        yield Tree(root)
