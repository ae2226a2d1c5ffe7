import unittest

from bad_tree import broken
from rules import file_length


class FileLength(unittest.TestCase):
    def test_fires_on_401_lines(self):
        for path in ("daemon/flow/a.cc", "tools/a.sh", "libkvclient/wire/WIRE.md", "tests/CMakeLists.txt"):
            self.assertEqual(len(broken(file_length, {path: "a\n" * 400})), 0, path)
            found = broken(file_length, {path: "a\n" * 401})
            self.assertEqual(len(found), 1, path)
            self.assertTrue(found[0].startswith(f"{path}:401: 401 lines"), found)

    def test_data_may_be_long(self):
        self.assertEqual(broken(file_length, {"tools/job/handbook.txt": "a\n" * 1000, "LICENSE": "a\n" * 500}), [])


if __name__ == "__main__":
    unittest.main()
