"""The files that the rules look at, and what a rule says about them."""
import os
import pathlib
import subprocess
from typing import NamedTuple


class Finding(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Tree:
    """Paths relative to the root; `path in tree` is a look-up, text is read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = sorted(_listed_by_git(self.root) or _walk(self.root))
        self.folders = {str(parent) for file in self.files for parent in pathlib.PurePosixPath(file).parents}
        self._known = set(self.files)
        self._texts = {}

    def __contains__(self, path):
        return path in self._known

    def named(self, *suffixes):
        return [file for file in self.files if file.endswith(suffixes)]

    def text(self, path):
        """What is in the file; nothing for one that is not text."""
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            self._texts[path] = "" if b"\0" in data else data.decode(errors="replace")
        return self._texts[path]

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), start=1)


def _listed_by_git(root):
    """Tracked files and new ones that are not ignored; None outside a checkout of its own."""
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return {name for name in names if name and (root / name).is_file()}


def _walk(root):
    """An exported source tree has no .git: everything but build folders and caches."""
    found = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith("build") and name != "__pycache__"]
        found.update(str((pathlib.Path(folder) / name).relative_to(root)) for name in names)
    return found
