import unittest

from bad_tree import broken
from rules import include_ranks


def includes(path, other):
    return broken(include_ranks, {path: f'\n#include "{other}"\n', other: ""})


class IncludeRanks(unittest.TestCase):
    def test_lower_rank_is_fine(self):
        self.assertEqual(includes("daemon/flow/a.cc", "daemon/index/b.h"), [])

    def test_own_module_is_fine(self):
        self.assertEqual(includes("daemon/flow/a.cc", "daemon/flow/b.h"), [])

    def test_tests_may_include_everything(self):
        self.assertEqual(includes("tests/unit/flow/a.cc", "daemon/app/b.h"), [])

    def test_higher_rank(self):
        found = includes("daemon/flow/a.cc", "daemon/session/b.h")
        self.assertEqual(found, ["daemon/flow/a.cc:2: includes daemon/session/b.h: rank 6 may not use rank 7"])

    def test_same_rank(self):
        self.assertEqual(len(includes("daemon/index/a.cc", "daemon/policy/b.h")), 1)
        self.assertEqual(len(includes("daemon/session/a.cc", "daemon/background/b.h")), 1)

    def test_client_library_and_daemon_know_nothing_of_each_other(self):
        self.assertEqual(len(includes("libkvclient/src/a.cc", "daemon/model/b.h")), 1)
        self.assertEqual(len(includes("daemon/session/a.cc", "libkvclient/src/b.h")), 1)

    def test_store_never_sees_sockets(self):
        self.assertEqual(len(includes("daemon/flow/a.cc", "libkvclient/wire/message_socket.h")), 1)

    def test_product_never_includes_tests(self):
        self.assertEqual(len(includes("daemon/flow/a.cc", "tests/support/b.h")), 1)
        self.assertEqual(len(includes("tools/kvctl/a.cc", "tests/support/b.h")), 1)

    def test_tools_use_what_is_listed(self):
        self.assertEqual(len(includes("tools/kvctl/a.cc", "daemon/flow/b.h")), 1)
        self.assertEqual(includes("tools/kvctl/a.cc", "daemon/config/b.h"), [])

    def test_kvctl_reads_the_format_and_opens_no_store(self):
        self.assertEqual(includes("tools/kvctl/a.cc", "daemon/disk/format_scan.h"), [])
        self.assertEqual(len(includes("tools/kvctl/a.cc", "daemon/disk/disk_store.h")), 1)

    def test_binding_stands_on_the_contract(self):
        self.assertEqual(len(includes("libkvclient/python/binding/a.cc", "libkvclient/base/b.h")), 1)

    def test_public_header_by_its_short_name(self):
        files = {"libkvclient/wire/a.h": '#include "kvclient/b.h"', "libkvclient/include/kvclient/b.h": ""}
        self.assertEqual(broken(include_ranks, files), [])

    def test_module_without_rank(self):
        found = includes("daemon/novel/a.cc", "libkvclient/base/b.h")
        self.assertIn("daemon/novel has no rank", found[0])


if __name__ == "__main__":
    unittest.main()
