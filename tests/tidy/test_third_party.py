import unittest

from bad_tree import broken
from rules import third_party


def includes(path, header):
    return broken(third_party, {path: f"#include <string>\n#include <{header}>\n"})


class ThirdParty(unittest.TestCase):
    def test_each_library_outside_its_adapter(self):
        for header in ("boost/interprocess/mapped_region.hpp", "libcuckoo/cuckoohash_map.hh", "yaml-cpp/yaml.h",
                       "spdlog/spdlog.h", "CLI/CLI.hpp", "nlohmann/json.hpp", "xxhash.h", "openssl/evp.h",
                       "systemd/sd-daemon.h", "pybind11/pybind11.h", "gtest/gtest.h", "liburing.h"):
            found = includes("daemon/flow/a.cc", header)
            self.assertEqual(len(found), 1, header)
            self.assertIn(f"daemon/flow/a.cc:2: includes <{header}>; only ", found[0])

    def test_adapter_may(self):
        self.assertEqual(includes("daemon/config/yaml_adapter.cc", "yaml-cpp/parser.h"), [])
        self.assertEqual(includes("tests/unit/flow/a_test.cc", "gtest/gtest.h"), [])

    def test_tests_do_not_go_round_an_adapter(self):
        self.assertEqual(len(includes("tests/unit/flow/a_test.cc", "openssl/evp.h")), 1)

    def test_quotes_count_too(self):
        self.assertEqual(len(broken(third_party, {"daemon/flow/a.cc": '#include "xxhash.h"'})), 1)


if __name__ == "__main__":
    unittest.main()
