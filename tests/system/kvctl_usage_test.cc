// kvctl as a program among others: what it prints arrives or is missed, and what it is given wrongly is named.

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstring>

#include "libkvclient/base/digest.h"
#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

constexpr int kFailed = 3;
constexpr int kUsage = 64;
constexpr int kOutput = 74;

std::string hex_of(const kvc_key& key) {
  Digest digest{};
  std::memcpy(&digest, &key, sizeof digest);
  return to_hex(digest);
}

class KvctlUsage : public RunningDaemonTest {
 protected:
  /// Its exit status when a shell sends its standard output to `target`; said() is its standard error.
  int kvctl_into(const std::string& target, const std::vector<std::string>& words) {
    said_path_ = place_.file("into" + std::to_string(++calls_));
    std::string script = "exec \"$0\" \"$@\" " + target;
    std::vector<std::string> command = {"/bin/sh",        "-c",       script,
                                        program("kvctl"), "--socket", place_.admin_socket()};
    command.insert(command.end(), words.begin(), words.end());
    ChildProcess child({.command = command, .environment = {}, .output_path = said_path_});
    return child.wait();
  }
  [[nodiscard]] std::string said_into() const { return read_file(said_path_); }

 private:
  std::string said_path_;
  int calls_ = 0;
};

// A script that keeps the answer must not take a full disk for success.
TEST_F(KvctlUsage, an_output_that_cannot_be_written_is_an_error_of_every_command) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_TRUE(client.works(1)) << client.error();
  const std::string key = hex_of(chain_keys(1, 0, 1)[0]);
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"--version"},
      {"status"},
      {"stat"},
      {"stat", "-i", "10ms"},
      {"health"},
      {"namespaces"},
      {"spaces"},
      {"clients"},
      {"ls"},
      {"tree"},
      {"inspect", key},
      {"config", "check"},
      {"plan", "--layers", "1", "--kv-heads", "1", "--head-dim", "1", "--tokens", "1"},
      {"probe"},
      {"version"},
      {"evict", "-n", "default"},
      {"flush", "--all"},
      {"kick", std::to_string(::getpid())}};
  for (const std::vector<std::string>& words : commands) {
    for (const bool is_json : {false, true}) {
      std::vector<std::string> all = words;
      if (is_json) all.insert(all.begin(), "--json");
      EXPECT_EQ(kvctl_into(">/dev/full", all), kOutput) << words[0] << is_json;
      EXPECT_NE(said_into().find("kvctl: standard output cannot be written: No space left"),
                std::string::npos)
          << words[0] << is_json << said_into();
      if (words[0] == "kick") {
        ASSERT_TRUE(eventually([&] { return client.works(2); })) << client.error();
      }
    }
  }
}

// With SIGPIPE ignored, as a parent may hand it down: the reader has gone before anything is written.
TEST_F(KvctlUsage, a_reader_that_has_enough_is_no_error) {
  const std::string gone = place_.file("gone");
  ChildProcess child(
      {.command = {"/bin/sh", "-c",
                   "trap '' PIPE; { until test -e \"$2\"; do :; done; \"$0\" --socket \"$1\" --json status; "
                   "echo \"ended with $?\" >&2; } | touch \"$2\"",
                   program("kvctl"), place_.admin_socket(), gone},
       .environment = {},
       .output_path = place_.file("said")});
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(read_file(place_.file("said")), "ended with 0\n");
}

// The two sockets look alike: who takes the one for the other is told so, not to start what runs.
TEST_F(KvctlUsage, the_other_socket_is_told_from_a_daemon_that_is_not_there) {
  ChildProcess child({.command = {program("kvctl"), "--socket", place_.socket(), "status"},
                      .environment = {},
                      .output_path = place_.file("said")});
  EXPECT_EQ(child.wait(), kUsage);
  const std::string said = read_file(place_.file("said"));
  EXPECT_NE(said.find("as the engines' socket is; name kvtierd's admin_socket with --socket"),
            std::string::npos)
      << said;
  const CacheClient client({.socket = place_.admin_socket(), .flags = KVC_REQUIRE});
  EXPECT_EQ(client.code(), KVC_UNAVAILABLE);
  EXPECT_NE(client.error().find("as kvctl's admin_socket is; name the one of kvtierd's setting `socket`"),
            std::string::npos)
      << client.error();
}

// Whoever starts a daemon asks for it in the next line.
TEST_F(KvctlUsage, status_waits_for_a_daemon_that_is_being_started) {
  daemon_->signal(SIGKILL);
  daemon_->wait();
  EXPECT_EQ(kvctl({"status", "--wait", "0"}), 2) << said();
  EXPECT_EQ(kvctl({"status", "--wait", "1"}), 2) << said();
  ASSERT_EQ(::unlink(place_.admin_socket().c_str()), 0);
  ASSERT_EQ(::mkfifo(place_.file("asks").c_str(), 0600), 0);
  ChildProcess asker(
      {.command = {"/bin/sh", "-c", "echo >\"$2\"; exec \"$0\" --socket \"$1\" status --wait 300",
                   program("kvctl"), place_.admin_socket(), place_.file("asks")},
       .environment = {},
       .output_path = place_.file("asked")});
  (void)read_file(place_.file("asks"));  // it is about to ask
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(asker.wait(), 0) << read_file(place_.file("asked"));
}

// Its fix is one that this program has.
TEST_F(KvctlUsage, a_configuration_that_is_not_there_is_told_without_options_of_kvtierd) {
  EXPECT_EQ(kvctl({"config", "check", "/nonexistent.yaml"}), 1);
  EXPECT_NE(said().find("/nonexistent.yaml"), std::string::npos) << said();
  EXPECT_EQ(said().find("--config"), std::string::npos) << said();
}

// -1 is not 18446744073709551615, nor 010 eight.
TEST_F(KvctlUsage, a_number_that_is_none_is_named) {
  const std::vector<std::vector<std::string>> commands = {{"kick", "--"},
                                                          {"kick", "--pid"},
                                                          {"kick", "--session"},
                                                          {"ls", "--limit"},
                                                          {"ls", "--space"},
                                                          {"tree", "--limit"},
                                                          {"evict", "-n", "default", "--space"},
                                                          {"stat", "--count"},
                                                          {"plan", "--layers"},
                                                          {"plan", "--batch"},
                                                          {"status", "--timeout"}};
  for (const std::vector<std::string>& words : commands) {
    for (const char* number : {"-1", "abc", "010", "0x10", "1.5", "99999999999999999999"}) {
      std::vector<std::string> all = words;
      all.push_back(number);
      EXPECT_EQ(kvctl(all), kUsage) << words[0] << " " << number;
      EXPECT_NE(said().find(std::string("must be a whole number of ")), std::string::npos) << said();
      EXPECT_NE(said().find(std::string(", not ") + number + "; see kvctl " + words[0] + " --help"),
                std::string::npos)
          << said();
    }
  }
  EXPECT_EQ(kvctl({"kick", "--pid", "2147483648"}), kUsage) << said();
  EXPECT_EQ(kvctl({"kick", "0"}), kUsage) << said();
}

TEST_F(KvctlUsage, whatever_is_wrong_begins_with_the_programs_name) {
  const std::vector<std::vector<std::string>> commands = {
      {},      {"status", "--nope"}, {"ls", "--state", "odd"}, {"inspect"}, {"config"}, {"kick", "1", "2"},
      {"kick"}};
  for (const std::vector<std::string>& words : commands) {
    EXPECT_EQ(kvctl(words), kUsage);
    EXPECT_TRUE(said().starts_with("kvctl: ")) << said();
  }
  EXPECT_EQ(kvctl({"status", "--nope", "--json"}), kUsage);
  EXPECT_TRUE(said().find("{\"error\":{\"code\":\"usage\",") != std::string::npos) << said();
}

TEST_F(KvctlUsage, a_malformed_key_is_usage) {
  for (const char* verb : {"inspect", "evict"}) {
    for (const char* key :
         {"abc", "xyzw", "abcd..", "..abcd", "abcd..ef", "abcd..1234..5678", "abcd.ef01", ""}) {
      EXPECT_EQ(kvctl({verb, key}), kUsage) << verb << " " << key;
      EXPECT_NE(said().find(*key == '\0' ? "KEY" : "KEY must be 4 to 64 hex digits"), std::string::npos)
          << said();
    }
    EXPECT_EQ(kvctl({verb, std::string(65, 'a')}), kUsage) << said();
    EXPECT_EQ(kvctl({verb, "abcd"}), kFailed) << said();
  }
}

// What tree prints is what inspect and evict take.
TEST_F(KvctlUsage, a_key_is_given_as_it_is_printed) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 3), 3U) << client.error();
  const std::vector<kvc_key> keys = chain_keys(1, 0, 3);
  ASSERT_EQ(kvctl({"tree"}), 0) << said();
  const std::string printed = hex_of(keys[0]).substr(0, 8) + ".." + hex_of(keys[2]).substr(0, 8);
  EXPECT_NE(said().find(printed + "  3 blocks"), std::string::npos) << said();
  ASSERT_EQ(kvctl({"inspect", printed}), 0) << said();
  for (const std::size_t end : {0U, 2U})
    EXPECT_NE(said().find("key        " + hex_of(keys[end]) + "\n"), std::string::npos) << said();
  EXPECT_NE(said().find("depth 0, 1 child\n"), std::string::npos) << said();
  EXPECT_NE(said().find("depth 2, 0 children\n"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"evict", hex_of(keys[2]).substr(0, 12)}), 0) << said();
  EXPECT_NE(said().find("1 block evicted"), std::string::npos) << said();
  const std::string rest = hex_of(keys[0]).substr(0, 8) + ".." + hex_of(keys[1]).substr(0, 8);
  EXPECT_EQ(kvctl({"evict", rest}), 0) << said();
  EXPECT_NE(said().find("2 blocks evicted"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"evict", rest}), kFailed) << said();
}

TEST_F(KvctlUsage, a_beginning_of_several_keys_is_refused_with_all_of_them) {
  CacheClient client({.socket = place_.socket()});
  ASSERT_TRUE(client.works(1)) << client.error();
  std::vector<kvc_key> keys(20);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::memset(&keys[i], 0xab, sizeof keys[i]);
    reinterpret_cast<unsigned char*>(&keys[i])[4] = static_cast<unsigned char>(i);
  }
  const auto store = [&](std::size_t first, std::size_t count) {
    std::vector<kvc_slot> slots(count);
    kvc_reserve_options options{};
    options.struct_size = sizeof options;
    options.deadline_ns = kPatienceNs;
    EXPECT_EQ(kvc_reserve(client.space(), &keys[first], count, &options, slots.data()), KVC_OK);
    EXPECT_EQ(kvc_commit(client.space(), slots.data(), count, KVC_WAIT, kPatienceNs), KVC_OK);
  };
  store(0, 2);
  for (const char* verb : {"inspect", "evict"}) {
    EXPECT_EQ(kvctl({verb, "abababab"}), kFailed) << said();
    EXPECT_NE(said().find("several keys begin with abababab"), std::string::npos) << said();
    for (const std::size_t i : {0U, 1U}) EXPECT_NE(said().find(hex_of(keys[i])), std::string::npos) << said();
    EXPECT_EQ(said().find("and others"), std::string::npos) << said();
  }
  EXPECT_EQ(kvctl({"inspect", hex_of(keys[1]).substr(0, 10)}), 0) << said();
  store(2, 18);
  EXPECT_EQ(kvctl({"inspect", "ABABABAB"}), kFailed) << said();
  EXPECT_NE(said().find("and others"), std::string::npos) << said();
}

}  // namespace
}  // namespace kvtier::test
