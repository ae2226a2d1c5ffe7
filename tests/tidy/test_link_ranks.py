import unittest

from bad_tree import broken
from rules import link_ranks

BASE = {"libkvclient/base/CMakeLists.txt": "kvtier_library(kv_base SOURCES b.cc)", "libkvclient/base/b.h": ""}
MODEL = {"daemon/model/CMakeLists.txt": "kvtier_library(kv_model SOURCES m.cc DEPENDS kv_base)",
         "daemon/model/m.h": '#include "libkvclient/base/b.h"'}


class LinkRanks(unittest.TestCase):
    def test_linked_and_included_is_fine(self):
        self.assertEqual(broken(link_ranks, {**BASE, **MODEL}), [])

    def test_links_a_higher_rank(self):
        files = {**MODEL, "libkvclient/base/CMakeLists.txt": "\nkvtier_library(kv_base\n  SOURCES b.cc\n  DEPENDS kv_model)",
                 "libkvclient/base/b.h": ""}
        self.assertIn("libkvclient/base/CMakeLists.txt:2: kv_base links kv_model: the client library knows no daemon",
                      broken(link_ranks, files))

    def test_links_a_higher_rank_with_target_link_libraries(self):
        cmake = "add_library(kv_base b.cc)\ntarget_link_libraries(kv_base PRIVATE kv_model)"
        found = broken(link_ranks, {**MODEL, "libkvclient/base/CMakeLists.txt": cmake, "libkvclient/base/b.h": ""})
        self.assertIn("libkvclient/base/CMakeLists.txt:2: kv_base links kv_model: the client library knows no daemon", found)

    def test_links_the_same_rank(self):
        files = {**BASE, **MODEL, "daemon/agent/CMakeLists.txt": "kvtier_library(kv_agent SOURCES a.cc DEPENDS kv_model)"}
        self.assertEqual(broken(link_ranks, files),
                         ["daemon/agent/CMakeLists.txt:1: kv_agent links kv_model: rank 2 may not use rank 2"])

    def test_links_what_nothing_includes(self):
        found = broken(link_ranks, {**BASE, **MODEL, "daemon/model/m.h": ""})
        self.assertEqual(found, ["daemon/model/CMakeLists.txt:1: kv_model links kv_base, and nothing in daemon/model "
                                 "includes libkvclient/base"])

    def test_does_not_link_what_it_includes(self):
        cmake = "kvtier_library(kv_model SOURCES m.cc)"
        found = broken(link_ranks, {**BASE, **MODEL, "daemon/model/CMakeLists.txt": cmake})
        self.assertEqual(found, ["daemon/model/CMakeLists.txt:1: kv_model does not link libkvclient/base, which "
                                 "daemon/model includes"])

    def test_through_another_module_is_linked(self):
        files = {**BASE, **MODEL, "daemon/index/CMakeLists.txt": "kvtier_library(kv_index SOURCES i.cc DEPENDS kv_model)",
                 "daemon/index/i.h": '#include "daemon/model/m.h"\n#include "libkvclient/base/b.h"'}
        self.assertEqual(broken(link_ranks, files), [])

    def test_of_two_libraries_each_links_what_its_own_sources_include(self):
        cmake = "kvtier_library(kv_pure SOURCES p.cc)\nkvtier_library(kv_model SOURCES m.cc DEPENDS kv_pure {})"
        files = {**BASE, **MODEL, "daemon/model/p.cc": "", "daemon/model/m.cc": '#include "daemon/model/m.h"'}
        self.assertEqual(broken(link_ranks, {**files, "daemon/model/CMakeLists.txt": cmake.format("kv_base")}), [])
        self.assertEqual(broken(link_ranks, {**files, "daemon/model/CMakeLists.txt": cmake.format("")}),
                         ["daemon/model/CMakeLists.txt:2: kv_model does not link libkvclient/base, which "
                          "daemon/model includes"])

    def test_users_of_the_client_include_its_contract(self):
        files = {"libkvclient/src/CMakeLists.txt": "kvtier_library(kv_client SOURCES c.cc)",
                 "libkvclient/include/kvclient/kvclient.h": "",
                 "tools/kvbench/CMakeLists.txt": "kvtier_program(kvbench SOURCES main.cc DEPENDS kv_client)",
                 "tools/kvbench/main.cc": '#include "kvclient/kvclient.h"'}
        self.assertEqual(broken(link_ranks, files), [])


if __name__ == "__main__":
    unittest.main()
