// What a person gets to see for each kind of mistake in the file (reports U-03, U-05).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "daemon/config/describe.h"
#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

TEST(ConfigFile, EmptyFileIsAllDefaults) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "{}\n"}) EXPECT_EQ(errors_of(text), "") << text;
}

TEST(ConfigFile, U03MisspeltKeyNamesFileLineAndNearest) {
  EXPECT_EQ(errors_of("host:\n  byte: 1GiB\n"),
            "t.yaml:2: host.byte: unknown setting; did you mean host.bytes?");
  EXPECT_EQ(errors_of("\n\nhsot:\n  bytes: 1GiB\n"), "t.yaml:3: hsot: unknown setting; did you mean host?");
  EXPECT_TRUE(has(errors_of("host:\n  lwo_water_blocks: 3\n"), "did you mean host.low_water_blocks?"));
  EXPECT_TRUE(has(errors_of("namespace: []\n"), "did you mean namespaces?"));
}

TEST(ConfigFile, U03SettingInTheWrongSectionIsPointedHome) {
  EXPECT_EQ(errors_of("spin_us: 3\n"), "t.yaml:1: spin_us: unknown setting; did you mean conductor.spin_us?");
  EXPECT_TRUE(has(errors_of("host:\n  level: info\n"), "did you mean log.level?"));
}

TEST(ConfigFile, U03UnknownSectionListsTheNames) {
  EXPECT_TRUE(has(errors_of("quantisation:\n  codec: fp8\n"),
                  "t.yaml:1: quantisation: unknown setting; valid names are"));
}

TEST(ConfigFile, U03StringWhereAMapBelongs) {
  EXPECT_EQ(
      errors_of("host: 5GiB\n"),
      "t.yaml:1: host: is a value where a map belongs; indent its settings below it, or remove the line");
  EXPECT_TRUE(has(errors_of("host:\nlog:\n  json: true\n"), "t.yaml:1: host: is empty where a map belongs"));
  EXPECT_TRUE(has(errors_of("host: [1, 2]\n"), "host: is a list where a map belongs"));
  EXPECT_TRUE(has(errors_of("just words\n"), "t.yaml:1: is a value where a map belongs"));
  EXPECT_TRUE(has(errors_of("- a\n"), "t.yaml:1: is a list where a map belongs"));
}

TEST(ConfigFile, BrokenSyntaxIsOneMistakeNotAlsoWhatItMakesOfTheRest) {
  EXPECT_EQ(errors_of("host:\n\tbytes: 1GiB\n"), "t.yaml:2: is indented by a tab; use spaces");
  EXPECT_EQ(errors_of("\thost:\n"), "t.yaml:1: is indented by a tab; use spaces");
}

TEST(ConfigFile, U03MapOrListWhereAValueBelongs) {
  EXPECT_TRUE(has(errors_of("host:\n  bytes:\n    size: 1GiB\n"),
                  "t.yaml:2: host.bytes: is a map where one value belongs"));
  EXPECT_TRUE(
      has(errors_of("log:\n  level: [info]\n"), "t.yaml:2: log.level: is a list where one value belongs"));
}

TEST(ConfigFile, U05EmptyAndNullAreNoValues) {
  for (const char* text : {"host:\n  bytes:\n", "host:\n  bytes: ~\n", "host:\n  bytes: null\n"})
    EXPECT_TRUE(has(errors_of(text), "t.yaml:2: host.bytes: has no value; write a size from")) << text;
}

TEST(ConfigFile, DottedKeyIsExplained) {
  EXPECT_TRUE(
      has(errors_of("host.bytes: 1GiB\n"), "t.yaml:1: host.bytes: is written in one line with a dot"));
}

TEST(ConfigFile, AllMistakesAreReportedTogether) {
  const ConfigLoad load = load_text("host:\n  byte: 1\n  lock: maybe\nlog: loud\n",
                                    {"log.target=nowhere", "nonsense"}, {"KVTIER_HOST_BITES=1"});
  EXPECT_EQ(load.errors.size(), 6U) << to_string(load.errors);
  EXPECT_EQ(load.config, nullptr);
  EXPECT_EQ(load.status().code(), Code::kInvalid);
}

TEST(ConfigFile, MissingOrOddFilesAreErrorsAndNeverBlock) {
  const FixedIdentities identities;
  const auto errors = [&](const std::string& path) {
    return to_string(load_config({path, {}, {}}, identities).errors);
  };
  EXPECT_TRUE(has(errors("/nonexistent/k.yaml"), "/nonexistent/k.yaml: open: No such file"));
  EXPECT_TRUE(has(errors("/dev/zero"), "/dev/zero: is not a regular file"));
  EXPECT_TRUE(has(errors("/"), "/: is not a regular file"));
  const std::filesystem::path fifo =
      std::filesystem::temp_directory_path() / ("kvtier-fifo-" + std::to_string(getpid()));
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(has(errors(fifo), "is not a regular file"));
  std::filesystem::remove(fifo);
}

TEST(ConfigFile, RealFileIsReadAndNamedAsSource) {
  const auto path =
      std::filesystem::temp_directory_path() / ("kvtier-config-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << "# comment\nhost:\n  bytes: 2GiB\n";
  const ConfigLoad load = load_config({path, {}, {}}, FixedIdentities());
  std::filesystem::remove(path);
  ASSERT_TRUE(load.is_ok()) << load.status().to_string();
  EXPECT_EQ(load.config->host.bytes, 2ULL << 30);
  for (const ConfigRow& row : describe(*load.config)) {
    if (row.path != "host.bytes") continue;
    EXPECT_EQ(row.source, "file " + path.string() + ":3");
  }
}

}  // namespace
}  // namespace kvtier
