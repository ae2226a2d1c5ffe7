import unittest

from bad_tree import broken
from rules import unlisted_sources

TOP = {"CMakeLists.txt": "kvtier_add_subdirectories(\n  daemon/a\n  tests/a)\n",
       "daemon/a/CMakeLists.txt": "kvtier_library(a SOURCES a.cc)\n",
       "daemon/a/a.cc": '#include "daemon/a/a.h"', "daemon/a/a.h": ""}


class UnlistedSources(unittest.TestCase):
    def test_all_listed_is_fine(self):
        self.assertEqual(broken(unlisted_sources, TOP), [])

    def test_source_that_no_target_builds(self):
        self.assertEqual(broken(unlisted_sources, {**TOP, "daemon/a/b.cc": ""}),
                         ["daemon/a/b.cc:1: no target builds this file: add it to a CMakeLists.txt"])

    def test_source_of_another_folder(self):
        cmake = "kvtier_library(a SOURCES a.cc ${CMAKE_SOURCE_DIR}/daemon/b/b.cc)"
        self.assertEqual(broken(unlisted_sources, {**TOP, "daemon/a/CMakeLists.txt": cmake, "daemon/b/b.cc": ""}), [])

    def test_sources_in_a_variable(self):
        cmake = "set(sources\n  a.cc  # first\n  b.cc)\nadd_library(a STATIC ${sources})"
        self.assertEqual(broken(unlisted_sources, {**TOP, "daemon/a/CMakeLists.txt": cmake, "daemon/a/b.cc": ""}), [])

    def test_sources_of_a_loop(self):
        loop = "foreach(name b c)\n  kvtier_test(${name}_test SOURCES ${name}_test.cc)\nendforeach()"
        files = {**TOP, "tests/a/CMakeLists.txt": loop, "tests/a/b_test.cc": "", "tests/a/c_test.cc": ""}
        self.assertEqual(broken(unlisted_sources, files), [])
        self.assertEqual(len(broken(unlisted_sources, {**files, "tests/a/d_test.cc": ""})), 1)

    def test_source_in_a_comment_is_not_built(self):
        cmake = "kvtier_library(a SOURCES a.cc)  # b.cc"
        self.assertEqual(len(broken(unlisted_sources, {**TOP, "daemon/a/CMakeLists.txt": cmake, "daemon/a/b.cc": ""})), 1)

    def test_header_that_nobody_includes(self):
        self.assertEqual(broken(unlisted_sources, {**TOP, "daemon/a/b.h": ""}),
                         ["daemon/a/b.h:1: no file includes this header"])

    def test_folder_that_is_not_added(self):
        self.assertEqual(broken(unlisted_sources, {**TOP, "daemon/b/CMakeLists.txt": ""}),
                         ["daemon/b/CMakeLists.txt:1: no CMakeLists.txt adds this folder"])

    def test_target_outside_all(self):
        cmake = "\nadd_executable(a EXCLUDE_FROM_ALL\n  a.cc)"
        self.assertEqual(broken(unlisted_sources, {**TOP, "daemon/a/CMakeLists.txt": cmake}),
                         ["daemon/a/CMakeLists.txt:2: a is outside `all`: nobody builds it"])

    def test_python_test_that_nothing_runs(self):
        files = {**TOP, "tests/python/a/test_x.py": "", "tests/python/b/test_y.py": "",
                 "tools/test.sh": "python3 -m pytest tests/python/a\n"}
        self.assertEqual(broken(unlisted_sources, files),
                         ["tests/python/b/test_y.py:1: neither tools/test.sh nor CMake runs this test"])

    def test_python_tests_run_by_ctest(self):
        cmake = "add_test(NAME b COMMAND python3 -m unittest discover -s ${CMAKE_CURRENT_SOURCE_DIR})"
        self.assertEqual(broken(unlisted_sources, {**TOP, "tests/a/CMakeLists.txt": cmake, "tests/a/test_y.py": ""}), [])

    def test_python_module_outside_the_package(self):
        cmake = ("foreach(file a.py sub)\n"
                 "  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/kvclient/${file} out/${file} SYMBOLIC)\nendforeach()")
        files = {**TOP, "CMakeLists.txt": "kvtier_add_subdirectories(daemon/a libkvclient/python)",
                 "libkvclient/python/CMakeLists.txt": cmake, "libkvclient/python/kvclient/a.py": "",
                 "libkvclient/python/kvclient/sub/b.py": "", "libkvclient/python/kvclient/c.py": ""}
        self.assertEqual(broken(unlisted_sources, files), ["libkvclient/python/kvclient/c.py:1: "
                         "libkvclient/python/CMakeLists.txt does not put this file into the package"])


if __name__ == "__main__":
    unittest.main()
