import unittest

from bad_tree import broken
from rules import setting_names

SETTINGS = """
socket: /run/s
# Memory.
host:
  # How much.
  bytes: 1GiB
  lock: off
limits:
  clients_max: 256
"""


def found(files):
    return broken(setting_names, {"config/kvtierd.yaml": SETTINGS, **files})


class SettingNames(unittest.TestCase):
    def test_fires_in_each_folder_and_language(self):
        for path, text in (
            ("daemon/a.cc", 'f("raise host.byte");'),
            ("libkvclient/src/a.cc", 'f("or " "raise limits.clients");'),
            ("tools/a.h", 'f(R"(raise\nhost.bytes_max)");'),
            ("libkvclient/a.py", 'f("host.byte=1")'),
            ("tools/a.py", 'f(f"""a\n{x} limits.client""")'),
        ):
            self.assertEqual(len(found({path: text})), 1, text)

    def test_says_where_and_what(self):
        self.assertEqual(
            found({"daemon/a.cc": '// one\nf("a\\"b", "x"\n  "y, host.bites");\n'}),
            ["daemon/a.cc:3: names a setting that config/kvtierd.yaml does not have: host.bites"],
        )

    def test_settings_that_are_there_are_fine(self):
        self.assertEqual(found({"daemon/a.cc": 'f("host.bytes=1, host.lock and limits.clients_max.");'}), [])

    def test_what_is_no_text_or_no_setting_is_fine(self):
        for path, text in (
            ("daemon/a.cc", "host.byte = limits.client;  // host.byte\n/* host.byte */ char c = '\"'; f(host.x);"),
            ("daemon/a.cc", 'f("app.host.byte", "/etc/host.conf", "ghost.byte", "socket.lock", "host. Next");'),
            ("daemon/a.cc", 'if (KV_FAULT("host.insert") == Fault::kFail) return;'),
            ("tools/a.py", "host.byte = 1  # host.byte"),
            ("tests/a.cc", 'f("host.byte");'),
            ("README.md", '"host.byte"'),
        ):
            self.assertEqual(found({path: text}), [], text)

    def test_a_tree_without_settings_has_none_to_name(self):
        self.assertEqual(broken(setting_names, {"daemon/a.cc": 'f("host.byte");'}), [])


if __name__ == "__main__":
    unittest.main()
