#include "daemon/observe/counter_table.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "daemon/observe/counter_id.h"

namespace kvtier {
namespace {

// kHostBytesReady -> host_bytes_ready
std::string snake_case(std::string_view id) {
  std::string name;
  for (const char c : id.substr(1)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) != 0 && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(byte));
  }
  return name;
}

TEST(CounterTable, EveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const CounterInfo& info : kCounterInfos) {
    EXPECT_EQ(snake_case(info.id), info.name);
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " is there twice";
    EXPECT_FALSE(info.unit.empty()) << info.name;
    EXPECT_GE(info.help.size(), 10U) << info.name;
    EXPECT_TRUE(info.help.ends_with('.')) << info.name;
  }
}

// A row that nobody stores reads as 0 for ever and looks like good news.
TEST(CounterTable, EveryRowHasAWriter) {
  std::string sources;
  for (const auto& file : std::filesystem::recursive_directory_iterator(KVTIER_SOURCE_DIR "/daemon")) {
    if (file.path().extension() != ".cc") continue;
    std::ifstream stream(file.path());
    sources.append(std::istreambuf_iterator<char>(stream), {});
  }
  for (const CounterInfo& info : kCounterInfos) {
    bool has_writer = false;
    for (const std::string call : {"set(", "add(", "add_shared("}) {
      for (const char* end : {",", ")"})
        has_writer |= sources.find(call + "Counter::" + std::string(info.id) + end) != std::string::npos;
    }
    EXPECT_TRUE(has_writer) << info.id;
  }
}

TEST(CounterTable, TextsFitTheFile) {
  for (const CounterInfo& info : kCounterInfos) {
    EXPECT_LT(info.name.size(), sizeof CounterMetadata::name) << info.name;
    EXPECT_LT(info.unit.size(), sizeof CounterMetadata::unit) << info.name;
    EXPECT_LT(info.help.size(), sizeof CounterMetadata::help) << info.name;
  }
}

TEST(CounterTable, NoWordIsSharedAndNoTwoWritersShareALine) {
  std::set<std::uint32_t> words;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    EXPECT_TRUE(words.insert(kCounterPlaces.word[i]).second);
    EXPECT_LT(kCounterPlaces.word[i], kCounterPlaces.words);
    for (std::size_t j = 0; j < i; ++j) {
      const bool is_same_line =
          kCounterPlaces.word[i] * 8 / kWriterGroupBytes == kCounterPlaces.word[j] * 8 / kWriterGroupBytes;
      EXPECT_TRUE(!is_same_line || kCounterInfos[i].writer == kCounterInfos[j].writer);
    }
  }
}

}  // namespace
}  // namespace kvtier
