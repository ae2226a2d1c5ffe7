"""A module includes lower ranks and itself."""
import ranks
from includes import CPP, includes
from tree import Finding


def check(tree):
    for path in tree.named(*CPP):
        module = ranks.module_of(path)
        for include in includes(tree, path):
            if include.path:
                reason = ranks.complaint(module, ranks.module_of(include.path), include.path)
                if reason:
                    yield Finding(path, include.line, f"includes {include.path}: {reason}")
