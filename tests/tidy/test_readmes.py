import unittest

from bad_tree import broken
from rules import readmes

GOOD = "# daemon/flow\n\nThe store.\n"


class Readmes(unittest.TestCase):
    def test_good_one(self):
        self.assertEqual(broken(readmes, {"daemon/flow/a.cc": "", "daemon/flow/README.md": GOOD}), [])

    def test_missing(self):
        self.assertEqual(broken(readmes, {"daemon/flow/a.cc": "", "tools/kvctl/b.cc": "", "tests/sim/c.cc": "",
                                          "libkvclient/wire/d.h": ""}),
                         [f"{module}/README.md:1: missing: each module has a README"
                          for module in ("daemon/flow", "libkvclient/wire", "tests/sim", "tools/kvctl")])

    def test_too_long(self):
        files = {"daemon/flow/README.md": "a\n" * 41}
        self.assertIn("daemon/flow/README.md:41: 41 lines, at most 40", broken(readmes, files)[0])
        self.assertEqual(broken(readmes, {"daemon/flow/README.md": "a\n" * 40}), [])

    def test_too_long_below_a_module(self):
        files = {"daemon/flow/README.md": GOOD, "daemon/flow/deep/er/README.md": "a\n" * 41}
        self.assertEqual(len(broken(readmes, files)), 1)

    def test_empty(self):
        self.assertEqual(broken(readmes, {"daemon/flow/README.md": "# daemon/flow\n"}),
                         ["daemon/flow/README.md:1: says nothing"])


if __name__ == "__main__":
    unittest.main()
