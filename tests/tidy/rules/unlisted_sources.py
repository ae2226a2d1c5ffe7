"""Sources are listed by hand: one that no target builds, no file includes or no test command runs is dead."""
import posixpath
import re

import cmake_files
from includes import CPP, includes
from tree import Finding

_TEST_COMMAND = "tools/test.sh"


def check(tree):
    commands = cmake_files.all_commands(tree)
    built = set().union(*(target.sources for target in cmake_files.targets(tree).values()))
    yield from _not_built(tree, built)
    yield from _not_included(tree)
    yield from _folders_not_added(tree, commands)
    yield from _outside_all(commands)
    yield from _python_not_listed(tree, commands)


def _not_built(tree, built):
    for path in tree.named(".cc", ".cpp", ".cu"):
        if path not in built:
            yield Finding(path, 1, "no target builds this file: add it to a CMakeLists.txt")


def _not_included(tree):
    included = {include.path for path in tree.named(*CPP) for include in includes(tree, path)}
    for path in tree.named(".h", ".hpp", ".cuh"):
        if path not in included:
            yield Finding(path, 1, "no file includes this header")


def _folders_not_added(tree, commands):
    """kvtier_add_subdirectories counts from the root, add_subdirectory from the file that says it."""
    added = {"CMakeLists.txt"}
    for command in commands:
        if command.name in ("kvtier_add_subdirectories", "add_subdirectory"):
            base = "CMakeLists.txt" if command.name.startswith("kvtier") else command.path
            added.update(cmake_files.resolve(base, word) + "/CMakeLists.txt" for word in command.words)
    for path in tree.named("CMakeLists.txt"):
        if path not in added:
            yield Finding(path, 1, "no CMakeLists.txt adds this folder")


def _outside_all(commands):
    for command in commands:
        if "EXCLUDE_FROM_ALL" in command.words:
            yield Finding(command.path, command.line, f"{command.words[0]} is outside `all`: nobody builds it")


def _python_not_listed(tree, commands):
    """Modules of the package must be in the build folder's package, tests below a folder that is run."""
    packaged = _named_by(commands, "file")
    run = _folders_run(tree) | _named_by(commands, "add_test")
    for path in tree.named(".py"):
        parents = {path, *_parents(path)}
        if path.startswith("libkvclient/python/kvclient/") and not parents & packaged:
            yield Finding(path, 1, "libkvclient/python/CMakeLists.txt does not put this file into the package")
        if re.match(r"(test_.*|.*_test)\.py$", posixpath.basename(path)) and not parents & run:
            yield Finding(path, 1, f"neither {_TEST_COMMAND} nor CMake runs this test")


def _named_by(commands, name):
    return {cmake_files.resolve(command.path, word) for command in commands if command.name == name
            for word in command.words}


def _folders_run(tree):
    if _TEST_COMMAND not in tree:
        return set()
    words = re.findall(r"[\w./-]+", "\n".join(line for _, line in tree.lines(_TEST_COMMAND) if "pytest" in line))
    return {posixpath.normpath(word) for word in words if posixpath.normpath(word) in tree.folders}


def _parents(path):
    while path := posixpath.dirname(path):
        yield path
