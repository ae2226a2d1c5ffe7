import unittest

from bad_tree import broken
from rules import machine_paths


def found(text):
    return broken(machine_paths, {"tools/a.sh": f"\n{text}\n"})


class MachinePaths(unittest.TestCase):
    def test_fires(self):
        for text in ("cd /work/main", "cat /root/.bashrc", "ls /tmp/w", "ls /tmp/w/quality", '"/home/me/x"', "a=/root/x"):
            self.assertEqual(len(found(text)), 1, text)
            self.assertTrue(found(text)[0].startswith("tools/a.sh:2: "), text)

    def test_paths_of_every_machine_are_fine(self):
        for text in ("/tmp/kvtier", "/tmp/words", "$dir/work/x", "frame/work/x", "${dir}/root/x", "/usr/bin/python3",
                     "/worker/x", "~/work/x", "/run/kvtier/root"):
            self.assertEqual(found(text), [], text)

    def test_documents_and_settings_too(self):
        self.assertEqual(len(broken(machine_paths, {"README.md": "see /work/x", "config/a.yaml": "a: /root/x"})), 2)


if __name__ == "__main__":
    unittest.main()
