import unittest

from bad_tree import broken
from rules import stubs


def lines(text, path="tests/unit/a/a_test.cc"):
    return broken(stubs, {path: "\n" + text + "\n"})


class Stubs(unittest.TestCase):
    def test_each_fires_with_its_line(self):
        for text in ("// TODO later", "// FIXME", "EXPECT_TRUE(true);", "ASSERT_FALSE(false);", "EXPECT_EQ(1, 1);",
                     "GTEST_SKIP();", "TEST(A, DISABLED_b) {"):
            found = lines(text)
            self.assertEqual(len(found), 1, text)
            self.assertTrue(found[0].startswith("tests/unit/a/a_test.cc:2: "), found)

    def test_each_fires_in_python(self):
        for text in ("# TODO later", "    assert True", "pytest.skip()", "@pytest.mark.skip", "raise NotImplementedError",
                     "@pytest.mark.xfail"):
            self.assertEqual(len(lines(text, "tests/python/a.py")), 1, text)

    def test_fires_in_scripts_and_cmake(self):
        self.assertEqual(len(lines("# TODO", "tools/a.sh")), 1)
        self.assertEqual(len(lines("# TODO", "daemon/a/CMakeLists.txt")), 1)

    def test_reasons_and_real_checks_are_fine(self):
        for text in ('GTEST_SKIP() << "needs root";', 'GTEST_SKIP()\n      << "needs root";', "EXPECT_TRUE(true_value);",
                     "EXPECT_EQ(a, b);", "EXPECT_EQ(a, a_);", "// kvtier-XXXXXX"):
            self.assertEqual(lines(text), [], text)
        for text in ('pytest.skip("no model")', '@pytest.mark.skipif(x, reason="y")', "assert True_value"):
            self.assertEqual(lines(text, "tests/python/a.py"), [], text)


if __name__ == "__main__":
    unittest.main()
