"""Each outside library has its adapter files; no other file includes its headers."""
import fnmatch

from includes import CPP, includes
from tree import Finding

# First part of the header's name -> who may include it.
ADAPTERS = {
    "boost": ["libkvclient/wire/shm_mapping.cc"],
    "libcuckoo": ["daemon/index/key_index.cc"],
    "yaml-cpp": ["daemon/config/yaml_adapter.cc"],
    "spdlog": ["daemon/observe/log.cc"],
    "fmt": ["daemon/observe/log.cc"],
    "CLI": ["daemon/app/arguments.cc", "tools/kvbench/command_line.cc", "tools/kvctl/command_line.h",
            "tools/kvsim/command_line.cc", "tools/kvsim/longcontext_command_line.cc", "tests/*/main.cc"],
    "nlohmann": ["daemon/admin/*", "tools/kvctl/*", "tools/kvbench/support/report.cc", "tools/kvbench/support/fio.cc",
                 "tools/kvsim/report.cc", "tools/kvsim/longcontext_report.cc", "tools/traces/trace_parser.cc",
                 "tools/planner/config_object.*",
                 "tests/*"],
    "xxhash": ["libkvclient/base/checksum.cc"],
    "openssl": ["libkvclient/base/digest.cc"],
    "systemd": ["daemon/app/service_manager.cc", "daemon/observe/journal.cc"],
    "pybind11": ["libkvclient/python/binding/gil.h"],
    "gtest": ["tests/*"],
    "gmock": ["tests/*"],
    "benchmark": ["tools/kvbench/*"],
    "liburing": ["daemon/io/uring_queue.cc"],
}


def check(tree):
    for path in tree.named(*CPP):
        for include in includes(tree, path):
            library = include.name.split("/")[0].removesuffix(".h")
            if include.path or library not in ADAPTERS:
                continue
            if not any(fnmatch.fnmatch(path, pattern) for pattern in ADAPTERS[library]):
                yield Finding(path, include.line, f"includes <{include.name}>; only {', '.join(ADAPTERS[library])} may")
