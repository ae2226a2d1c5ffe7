"""Which module may include which: the table of daemon/README.md, with client library and tools around it."""
import posixpath

RANKS = {
    "libkvclient/include": 0, "libkvclient/base": 0, "kernels": 0,
    "libkvclient/wire": 1,
    "libkvclient/src": 2, "daemon/config": 2, "daemon/observe": 2, "daemon/model": 2, "daemon/agent": 2,
    "daemon/memory": 3, "daemon/gpu": 3, "daemon/io": 3,
    "daemon/disk": 4, "daemon/index": 4, "daemon/policy": 4,
    "daemon/tier": 5,
    "daemon/flow": 6,
    "daemon/session": 7, "daemon/background": 7,
    "daemon/admin": 8,
    "daemon/app": 9,
}

# Outside the ranks: exactly these.
ALLOWED = {
    "libkvclient/python": {"libkvclient/include"},
    "libkvclient/examples": {"libkvclient/include"},
    "tools/kvctl": {"libkvclient/base", "libkvclient/wire", "daemon/config", "daemon/io", "daemon/disk", "daemon/tier",
                    "tools/planner"},
    "tools/kvbench": {"libkvclient/include", "libkvclient/base", "libkvclient/wire", "tests/support", "tools/traces"},
    "tools/traces": {"libkvclient/base"},
    "tools/planner": {"libkvclient/base", "libkvclient/wire", "daemon/disk"},
    "tools/paging": {"tools/traces", "libkvclient/include", "libkvclient/base"},
    "tools/kvsim": {"tools/traces", "tools/paging", "libkvclient/base", "libkvclient/wire", "daemon/model", "daemon/index", "daemon/policy", "daemon/flow"},
}

# Of a module that may be used, only headers that begin so: kvctl reads a store's files, and never opens a store; the
# planner computes with its format.
PREFIXES = {
    ("tools/kvctl", "daemon/disk"): "daemon/disk/format",
    ("tools/planner", "daemon/disk"): "daemon/disk/format",
    ("tools/kvctl", "daemon/tier"): "daemon/tier/space_format.h",
}

# Lower in rank, and yet not for these.
FORBIDDEN = {
    ("daemon/flow", "libkvclient/wire/message_socket.h"): "the store never sees sockets",
    ("daemon/tier", "daemon/index"): "a tier never sees the index",
    ("daemon/tier", "daemon/policy"): "a tier never sees policy",
}


def module_of(path):
    """libkvclient/wire/ring.h is in libkvclient/wire; tests/unit/wire/ring_test.cc in tests/unit/wire."""
    parts = path.split("/")
    if len(parts) == 1:
        return ""
    if parts[0] == "kernels":
        return parts[0]
    depth = 3 if parts[:2] == ["tests", "unit"] and len(parts) > 3 else 2
    return posixpath.join(*parts[:depth]) if len(parts) > depth else parts[0]


def complaint(module, other, other_path=None):
    """Why `module` may not use `other`, or None."""
    if module == other or module.startswith("tests/"):
        return None
    for (source, target), reason in FORBIDDEN.items():
        if source == module and target in (other, other_path):
            return reason
    prefix = PREFIXES.get((module, other), "")
    if other_path is not None and not other_path.startswith(prefix):
        return f"{module} may use {prefix}* of {other} only"
    if module in ALLOWED:
        return None if other in ALLOWED[module] else f"{module} may use {', '.join(sorted(ALLOWED[module]))} only"
    if module not in RANKS:
        return f"{module} has no rank: tests/tidy/ranks.py"
    if other not in RANKS:
        return f"{other} has no rank"
    if module.startswith("daemon/") and other == "libkvclient/src":
        return "the daemon stands on libkvclient/base and wire only"
    if module.startswith("libkvclient/") and other.startswith("daemon/"):
        return "the client library knows no daemon"
    if RANKS[other] >= RANKS[module]:
        return f"rank {RANKS[module]} may not use rank {RANKS[other]}"
    return None
