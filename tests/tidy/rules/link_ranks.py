"""CMake links what the modules include: no higher rank, nothing that is not used, nothing that is missing."""
import cmake_files
import ranks
from includes import CPP, includes
from tree import Finding

_ANY_USE = {"tests"}  # tests include headers of doubles that they do not link, and link what they only start


def check(tree):
    targets = cmake_files.targets(tree)
    module_of = {name: ranks.module_of(target.path) for name, target in targets.items()}
    used = _used_modules(tree)
    for name, target in targets.items():
        module = module_of[name]
        if module.split("/")[0] in _ANY_USE:
            continue
        for link, (path, line) in target.links.items():
            other = module_of.get(link)
            if other is None or other == module:
                continue
            # The users of the client library include its contract, not its sources.
            other = {"libkvclient/src": "libkvclient/include"}.get(other, other)
            reason = ranks.complaint(module, other)
            if reason:
                yield Finding(path, line, f"{name} links {link}: {reason}")
            elif other not in used.get(module, set()):
                yield Finding(path, line, f"{name} links {link}, and nothing in {module} includes {other}")
        yield from _missing(target, targets, module_of, _used_by(tree, target, module_of, used.get(module, set())))


def _used_modules(tree):
    used = {}
    for path in tree.named(*CPP):
        modules = used.setdefault(ranks.module_of(path), set())
        modules.update(ranks.module_of(include.path) for include in includes(tree, path) if include.path)
    return used


def _used_by(tree, target, module_of, used_by_module):
    """Of a module with several libraries, what this one's sources and the headers of their names include."""
    if list(module_of.values()).count(module_of[target.name]) == 1 or not target.sources:
        return used_by_module
    own = set(target.sources) | {source.rsplit(".", 1)[0] + ".h" for source in target.sources}
    return {ranks.module_of(include.path) for path in tree.named(*CPP) if str(path) in own
            for include in includes(tree, path) if include.path}


def _missing(target, targets, module_of, used):
    """Modules that have a library, are included, and are not linked directly or through another."""
    module = module_of[target.name]
    reached, left = set(), [target.name]
    while left:
        name = left.pop()
        if name not in reached and name in targets:
            reached.add(name)
            left += targets[name].links
    # A target that compiles another module's source has no need to link it.
    linked = {module_of[name] for name in reached} | {ranks.module_of(source) for source in target.sources}
    libraries = set(module_of.values()) - {module}
    for other in sorted((used & libraries) - linked):
        yield Finding(target.path, target.line, f"{target.name} does not link {other}, which {module} includes")

