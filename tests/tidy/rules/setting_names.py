"""A text of the programs that names a setting, as in "raise host.bytes", names one that config/kvtierd.yaml has."""
import io
import re
import tokenize

from tree import Finding

_SETTINGS = "config/kvtierd.yaml"
_FOLDERS = ("libkvclient/", "daemon/", "tools/")
_YAML_KEY = re.compile(r"( *)(\w+):")
_CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.S)


def check(tree):
    sections = _sections(tree) if _SETTINGS in tree else {}
    if not sections:
        return
    name = re.compile(r"(?<![\w./-])(" + "|".join(sections) + r")\.([a-z]\w*)")
    for path in tree.named(".cc", ".h", ".hpp", ".c", ".py"):
        if not path.startswith(_FOLDERS):
            continue
        strings = _python_strings if path.endswith(".py") else _cpp_strings
        for line, text in strings(tree.text(path)):
            for match in name.finditer(text):
                if match[2] not in sections[match[1]]:
                    at = line + text.count("\n", 0, match.start())
                    yield Finding(path, at, f"names a setting that {_SETTINGS} does not have: {match[0]}")


def _sections(tree):
    """The names below each name of the first level that has some."""
    sections, current = {}, None
    for _, line in tree.lines(_SETTINGS):
        match = _YAML_KEY.match(line)
        if not match:
            continue
        if not match[1]:
            current = match[2]
        else:
            sections.setdefault(current, set()).add(match[2])
    return sections


def _cpp_strings(text):
    for match in _CPP.finditer(text):
        string = match[2] if match[2] is not None else match[3]
        is_fault_point = text.endswith("KV_FAULT(", 0, match.start())  # they have names of their own
        if string is not None and not is_fault_point:
            yield text.count("\n", 0, match.start()) + 1, string


def _python_strings(text):
    fstring = getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, fstring):
            yield token.start[0], token.string
