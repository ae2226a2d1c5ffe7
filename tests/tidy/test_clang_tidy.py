"""tools/clang_tidy.py: what it pastes together, and that findings name the sources. No clang-tidy is needed."""
import importlib.util
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/clang_tidy.py"

# Complains about each line with the word `bad` or, unless checks are left out, `slow`, and about the second definition
# of a name. Knows no C++ flags in a C source.
FAKE = """#!{python}
import re, sys
path, seen, status = next(word for word in sys.argv if word.endswith((".cc", ".c"))), set(), 0
words = ["bad"] if any(word.startswith("--checks=-clang-analyzer-*") for word in sys.argv) else ["bad", "slow"]
if ("-std=gnu11" in sys.argv) != path.endswith(".c"):
    sys.exit("error: invalid argument for this language [clang-diagnostic-error]")
for number, line in enumerate(open(path), start=1):
    name = re.match(r"int (\\w+);", line)
    if name and name[1] in seen:
        print(f"{{path}}:{{number}}:1: error: redefinition of '{{name[1]}}' [clang-diagnostic-error]")
        status = 1
    if name:
        seen.add(name[1])
    for word in words:
        if word not in line:
            continue
        print(f"{{path}}:{{number}}:1: error: {{word}} [some-check]\\n{{path}}:{{number}}:1: note: here")
        status = 1
sys.exit(status)
"""


class ClangTidy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        (self.root / "tools").mkdir()
        (self.root / "tools/clang_tidy.py").write_text(TOOL.read_text())
        fake = self.root / "clang-tidy"
        fake.write_text(FAKE.format(python=sys.executable))
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)

    def run_over(self, sources, *arguments, flags="-O2"):
        entries = []
        for name, text in sources.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            entries.append({"file": str(path), "command": f"ccache g++ {flags} -o x.o -c {path}", "directory": "."})
        (self.root / "compile_commands.json").write_text(json.dumps(entries))
        return subprocess.run([sys.executable, "-B", str(self.root / "tools/clang_tidy.py"), str(self.root), *arguments],
                              env={**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}"},
                              capture_output=True, text=True, check=False)

    def test_clean_sources_pass(self):
        result = self.run_over({"daemon/a/x.cc": "int x;\n", "daemon/a/y.cc": "int y;\n"})
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn("2 sources, 0 findings", result.stderr)

    def test_finding_names_source_and_line(self):
        result = self.run_over({"daemon/a/x.cc": "int x;\nint z;\n", "daemon/a/y.cc": "int y;\n// bad\n"})
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "daemon/a/y.cc:2:1: error: bad [some-check]\ndaemon/a/y.cc:2:1: note: here\n")

    def test_sources_with_a_name_of_another_are_checked_apart(self):
        sources = {f"daemon/a/{name}.cc": "int n;\n// bad\n" for name in "xyz"}
        result = self.run_over(sources)
        self.assertIn("daemon/a/y.cc does not compile behind others: apart", result.stderr)
        wanted = {line for name in sources for line in (f"{name}:2:1: error: bad [some-check]", f"{name}:2:1: note: here")}
        self.assertEqual(set(result.stdout.splitlines()), wanted)

    def test_source_that_does_not_compile_is_a_finding(self):
        result = self.run_over({"daemon/a/x.cc": "int n;\nint n;\n"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("daemon/a/x.cc:2:1: error: redefinition of 'n' [clang-diagnostic-error]", result.stdout)

    def test_slow_checks_are_left_out_on_demand(self):
        sources = {"daemon/a/x.cc": "// slow\n"}
        self.assertEqual(self.run_over(sources).returncode, 1)
        self.assertEqual(self.run_over(sources, "--quick").returncode, 0)

    def test_c_source_is_checked_as_c(self):
        result = self.run_over({"daemon/a/x.c": "// bad\n"}, flags="-std=gnu11")
        self.assertEqual(result.stdout, "daemon/a/x.c:1:1: error: bad [some-check]\ndaemon/a/x.c:1:1: note: here\n")

    def test_a_run_that_checked_nothing_is_no_success(self):
        result = self.run_over({"daemon/a/x.cc": "// bad\n"}, flags="-std=gnu11")
        self.assertEqual(result.returncode, 2)
        self.assertIn("daemon/a/x.cc: error: invalid argument", result.stderr)

    def test_tests_are_left_out_and_nothing_is_an_error(self):
        self.assertEqual(self.run_over({"tests/a/x.cc": "// bad\n"}).returncode, 2)

    def test_path_limits_the_run(self):
        sources = {"daemon/a/x.cc": "// bad\n", "daemon/b/y.cc": "int y;\n"}
        self.assertEqual(self.run_over(sources, "daemon/b").returncode, 0)
        self.assertEqual(self.run_over(sources, "daemon/a").returncode, 1)

    def test_a_source_of_two_targets_counts_once(self):
        spec = importlib.util.spec_from_file_location("clang_tidy", self.root / "tools/clang_tidy.py")
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        path = self.root / "daemon/a/x.cc"
        path.parent.mkdir(parents=True)
        path.write_text("int x;\n")
        entry = {"file": str(path), "command": f"ccache g++ -O2 -o x.o -c {path}", "directory": "."}
        self.assertEqual(list(tool.batches_of([entry, entry], ["."], 12)), [(("-O2",), [path])])


if __name__ == "__main__":
    unittest.main()
