"""Reads the project's CMakeLists.txt files as far as the rules need: targets, their sources, what they link.

Both branches of every if() count; set() and foreach() over plain words are followed; functions are not.
"""
import posixpath
import re
from typing import NamedTuple

_TOKEN = re.compile(r'#[^\n]*|"((?:[^"\\]|\\.)*)"|([()])|([^\s()"#]+)')
_MAKES_TARGET = re.compile(r"^(kvtier_(library|program|test)|add_(library|executable)|Python3_add_library)$")
_KEYWORDS = {"SOURCES", "DEPENDS", "LABEL", "TIMEOUT", "PUBLIC", "PRIVATE", "INTERFACE"}


class Command(NamedTuple):
    path: str
    line: int
    name: str
    words: list


class Target(NamedTuple):
    name: str
    path: str
    line: int
    sources: set
    links: dict  # name of a target or library -> (file, line) that says so


def commands(tree, path):
    """The commands of one file, with their variables filled in."""
    return list(_run(list(_parse(tree.text(path), path)), _variables(path)))


def all_commands(tree):
    return [command for path in tree.named("CMakeLists.txt") for command in commands(tree, path)]


def targets(tree):
    """Every target by its name."""
    found = {}
    everything = all_commands(tree)
    for command in everything:
        if _MAKES_TARGET.match(command.name) and command.words:
            sources = {resolve(command.path, word) for word in command.words if word.endswith((".cc", ".cpp", ".c", ".cu"))}
            links = {word: (command.path, command.line) for word in _after(command.words, "DEPENDS")}
            found[command.words[0]] = Target(command.words[0], command.path, command.line, sources, links)
    for command in everything:
        if command.name == "target_link_libraries" and command.words[0] in found:
            for word in command.words[1:]:
                if word not in _KEYWORDS:
                    found[command.words[0]].links[word] = (command.path, command.line)
    return found


def resolve(cmake_path, word):
    """A path in a CMakeLists.txt, relative to the root of the tree."""
    if word.startswith("<root>"):
        return posixpath.normpath(word.removeprefix("<root>").lstrip("/"))
    return posixpath.normpath(posixpath.join(posixpath.dirname(cmake_path), word))


def _variables(path):
    here = "<root>/" + posixpath.dirname(path)
    return {"CMAKE_SOURCE_DIR": ["<root>"], "CMAKE_CURRENT_SOURCE_DIR": [here], "PROJECT_SOURCE_DIR": ["<root>"]}


def _after(words, keyword):
    if keyword not in words:
        return []
    rest = words[words.index(keyword) + 1:]
    end = next((i for i, word in enumerate(rest) if word in _KEYWORDS), len(rest))
    return rest[:end]


def _parse(text, path):
    name, words, depth, line = None, [], 0, 0
    for match in _TOKEN.finditer(text):
        quoted, parenthesis, word = match.groups()
        if match.group().startswith("#"):
            continue
        if parenthesis == "(":
            depth += 1
        elif parenthesis == ")":
            depth -= 1
            if depth == 0:
                yield Command(path, line, name, words)
        elif depth:
            words.append(word if quoted is None else quoted)
        else:
            name, words, line = word, [], text.count("\n", 0, match.start()) + 1


def _run(block, variables):
    i = 0
    while i < len(block):
        command = block[i]
        i += 1
        if command.name == "foreach":
            end = _end_of_loop(block, i)
            for value in _fill(command.words[1:], variables):
                yield from _run(block[i:end], {**variables, command.words[0]: [value]})
            i = end + 1
            continue
        words = _fill(command.words, variables)
        if command.name == "set" and words:
            variables[words[0]] = words[1:]
        elif command.name == "list" and words[:1] == ["APPEND"]:
            variables[words[1]] = variables.get(words[1], []) + words[2:]
        yield command._replace(words=words)


def _end_of_loop(block, start):
    depth = 1
    for i in range(start, len(block)):
        depth += {"foreach": 1, "endforeach": -1}.get(block[i].name, 0)
        if depth == 0:
            return i
    return len(block)


def _fill(words, variables):
    """${name} alone becomes all words of the variable, inside a word its first; one that is not known stays."""
    filled = []
    for word in words:
        whole = re.fullmatch(r"\$\{(\w+)\}", word)
        if whole and whole.group(1) in variables:
            filled += variables[whole.group(1)]
        else:
            filled.append(re.sub(r"\$\{(\w+)\}", lambda m: (variables.get(m.group(1)) or [m.group()])[0], word))
    return filled
