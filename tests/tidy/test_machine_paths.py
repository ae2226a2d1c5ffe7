import unittest

from bad_tree import broken
from rules import machine_paths


# In pieces, so that this file names none itself.
WORK, ROOT, HOME, TMP = "/" + "work", "/" + "root", "/" + "home", "/" + "tmp"


def found(text):
    return broken(machine_paths, {"tools/a.sh": f"\n{text}\n"})


class MachinePaths(unittest.TestCase):
    def test_fires(self):
        for text in (f"cd {WORK}/main", f"cat {ROOT}/.bashrc", f"ls {TMP}/w", f"ls {TMP}/w/x", f'"{HOME}/me/x"', f"a={ROOT}/x"):
            self.assertEqual(len(found(text)), 1, text)
            self.assertTrue(found(text)[0].startswith("tools/a.sh:2: "), text)

    def test_paths_of_every_machine_are_fine(self):
        for text in (f"{TMP}/kvtier", f"{TMP}/words", f"$dir{WORK}/x", f"frame{WORK}/x", f"${{dir}}{ROOT}/x",
                     "/usr/bin/python3", f"{WORK}er/x", f"~{WORK}/x", f"/run/kvtier{ROOT}"):
            self.assertEqual(found(text), [], text)

    def test_documents_and_settings_too(self):
        self.assertEqual(len(broken(machine_paths, {"README.md": f"see {WORK}/x", "config/a.yaml": f"a: {ROOT}/x"})), 2)


if __name__ == "__main__":
    unittest.main()
