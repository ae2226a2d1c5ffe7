"""The program itself: every rule file is run, messages name the rule, the exit status tells."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import main

HERE = pathlib.Path(__file__).resolve().parent


def run(root):
    return subprocess.run([sys.executable, "-B", str(HERE / "main.py"), str(root)], capture_output=True, text=True, check=False)


class Main(unittest.TestCase):
    def test_every_rule_file_is_run_and_has_a_test(self):
        rules = {path.stem for path in (HERE / "rules").glob("*.py")}
        self.assertEqual(rules, set(main.RULES))
        self.assertLessEqual({f"test_{rule}" for rule in rules}, {path.stem for path in HERE.glob("test_*.py")})

    def test_clean_tree_passes(self):
        with tempfile.TemporaryDirectory() as root:
            result = run(root)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_bad_tree_fails(self):
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / "a.sh").write_text("# TODO\n")
            result = run(root)
        self.assertEqual((result.returncode, result.stdout), (1, "a.sh:1: unfinished: TODO [stubs]\n"))

    def test_git_decides_what_is_in_the_tree(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "-C", root, "init", "-q"], check=True)
            (pathlib.Path(root) / ".gitignore").write_text("/out/\n")
            (pathlib.Path(root) / "out").mkdir()
            for name in ("out/ignored.sh", "new.sh"):
                (pathlib.Path(root) / name).write_text("# TODO\n")
            result = run(root)
        self.assertEqual(result.stdout, "new.sh:1: unfinished: TODO [stubs]\n")


if __name__ == "__main__":
    unittest.main()
