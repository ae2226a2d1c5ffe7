"""tools/failed_tests.py: what it shows of a real ctest run, and that nothing is lost in the middle."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/failed_tests.py"

GOOGLE_TEST = """
echo '[ RUN      ] Suite.good'; echo noise; echo '[       OK ] Suite.good (0 ms)'
echo '[ RUN      ] Suite.bad'; echo 'file.cc:1: Failure'; echo '[  FAILED  ] Suite.bad (0 ms)'
seq 1000 1099
exit 1
"""


@unittest.skipUnless(shutil.which("ctest"), "needs ctest")
class FailedTests(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_tests(self, **scripts):
        lines = []
        for name, script in scripts.items():
            (self.folder / f"{name}.sh").write_text(script)
            lines.append(f'add_test({name} /bin/sh "{self.folder}/{name}.sh")\n')
        (self.folder / "CTestTestfile.cmake").write_text("".join(lines))
        subprocess.run(["ctest", "--test-dir", self.folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shown = subprocess.run([sys.executable, "-B", TOOL, self.folder], capture_output=True, text=True, check=True)
        return shown.stdout

    def test_a_failed_case_is_shown_with_what_it_said_and_then_the_last_lines(self):
        shown = self.run_tests(middle=GOOGLE_TEST)
        self.assertIn("---- middle failed.", shown)
        self.assertIn("-- Suite.bad:\nfile.cc:1: Failure\n", shown)
        self.assertNotIn("noise", shown)
        self.assertTrue(shown.endswith("\n".join(map(str, range(1070, 1100))) + "\n"), shown)

    def test_tests_that_passed_are_not_shown(self):
        shown = self.run_tests(first="echo one; exit 1", second="echo two", third="echo three; kill -KILL $$")
        self.assertIn("---- first failed.", shown)
        self.assertIn("one", shown)
        self.assertIn("---- third failed.", shown)
        self.assertIn("three", shown)
        self.assertNotIn("two", shown)

    def test_one_that_said_nothing_is_named_all_the_same(self):
        self.assertIn("---- silent failed.", self.run_tests(silent="exit 1"))

    def test_without_failures_it_is_silent(self):
        self.assertEqual(self.run_tests(good="exit 0"), "")


if __name__ == "__main__":
    unittest.main()
