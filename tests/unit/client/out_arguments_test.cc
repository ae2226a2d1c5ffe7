// Every function of the contract sets every out argument on every return. A row a function; each is called with each
// of its inputs NULL and with handles that answer nothing, over out arguments that hold garbage before.

#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kCount = 3;

/// What calls take.
struct In {
  kvc_client* client = nullptr;
  kvc_space* space = nullptr;
  const kvc_spec* spec = nullptr;
  const kvc_spec* other = nullptr;
  const kvc_key* keys = nullptr;
  const std::uint32_t* tokens = nullptr;
  const kvc_client_options* client_options = nullptr;
  const kvc_spec_options* spec_options = nullptr;
};

/// What calls set; what a caller's stack holds before.
struct Out {
  Out() {
    std::memset(static_cast<void*>(this), 0xa5, sizeof *this);
    status.struct_size = sizeof status;
    stats.struct_size = sizeof stats;
    facts.struct_size = sizeof facts;
  }
  kvc_client* client;
  kvc_space* space;
  kvc_spec* spec;
  kvc_lease* lease;
  kvc_client_status status;
  kvc_client_stats stats;
  kvc_space_facts facts;
  kvc_key digest;
  kvc_slot slots[kCount];
  std::uint8_t states[kCount];
  std::size_t count;
  std::uint64_t numbers[2];
  char text[16];
};

template <class T>
bool is_clear(const T& given) {
  T none{};
  if constexpr (requires { none.struct_size; }) none.struct_size = sizeof none;
  return std::memcmp(&given, &none, sizeof none) == 0;
}

// One that is refused says so; the rest of it is empty.
bool are_without_room(const kvc_slot (&slots)[kCount]) {
  for (const kvc_slot& slot : slots) {
    kvc_slot rest = slot;
    rest.code = KVC_OK;
    if (slot.code <= KVC_OK || slot.code > KVC_SYSTEM || !is_clear(rest)) return false;
  }
  return true;
}

using Change = std::function<void(In&)>;
const Change kNoOptionsSize = [](In& in) {
  static const kvc_client_options too_small{};
  in.client_options = &too_small;
};
const Change kNoClient = [](In& in) { in.client = nullptr; };
const Change kNoSpace = [](In& in) { in.space = nullptr; };
const Change kNoSpec = [](In& in) { in.spec = nullptr; };
const Change kNoOther = [](In& in) { in.other = nullptr; };
const Change kNoKeys = [](In& in) { in.keys = nullptr; };
const Change kNoTokens = [](In& in) { in.tokens = nullptr; };
const Change kNoSpecOptions = [](In& in) { in.spec_options = nullptr; };

struct Row {
  const char* name;
  std::function<int(const In&, Out&)> call;
  std::function<bool(const Out&)> is_set;  ///< to what a failure leaves
  std::vector<Change> refused;             ///< each makes the call KVC_INVALID
  bool needs_daemon = false;               ///< without one, or after a close, it fails too
};

std::vector<Row> rows_of_handles() {
  return {
      {"kvc_client_open",
       [](const In& in, Out& out) { return kvc_client_open(in.client_options, &out.client); },
       [](const Out& out) { return out.client == nullptr; },
       {kNoOptionsSize}},
      {"kvc_spec_create",
       [](const In& in, Out& out) { return kvc_spec_create(in.spec_options, &out.spec); },
       [](const Out& out) { return out.spec == nullptr; },
       {kNoSpecOptions}},
      {"kvc_space_register",
       [](const In& in, Out& out) { return kvc_space_register(in.client, in.spec, 1, &out.space); },
       [](const Out& out) { return out.space == nullptr; },
       {kNoClient, kNoSpec}},
      {"kvc_lease_create",
       [](const In& in, Out& out) { return kvc_lease_create(in.client, 1, &out.lease); },
       [](const Out& out) { return out.lease == nullptr; },
       {kNoClient}},
      {"kvc_status",
       [](const In& in, Out& out) { return kvc_status(in.client, &out.status); },
       [](const Out& out) { return is_clear(out.status); },
       {kNoClient}},
      {"kvc_stats",
       [](const In& in, Out& out) { return kvc_stats(in.client, &out.stats); },
       [](const Out& out) { return is_clear(out.stats); },
       {kNoClient}},
      {"kvc_space_info",
       [](const In& in, Out& out) { return kvc_space_info(in.space, &out.facts); },
       [](const Out& out) { return is_clear(out.facts); },
       {kNoSpace}},
      {"kvc_space_part",
       [](const In& in, Out& out) { return kvc_space_part(in.space, 0, &out.numbers[0], &out.numbers[1]); },
       [](const Out& out) { return is_clear(out.numbers); },
       {kNoSpace}},
  };
}

std::vector<Row> rows_of_specs() {
  return {
      {"kvc_spec_digest",
       [](const In& in, Out& out) { return kvc_spec_digest(in.spec, &out.digest); },
       [](const Out& out) { return is_clear(out.digest); },
       {kNoSpec}},
      {"kvc_spec_encode",
       [](const In& in, Out& out) { return kvc_spec_encode(in.spec, nullptr, 0, &out.count); },
       [](const Out& out) { return out.count == 0; },
       {kNoSpec}},
      {"kvc_spec_difference",
       [](const In& in, Out& out) {
         return kvc_spec_difference(in.spec, in.other, out.text, sizeof out.text);
       },
       [](const Out& out) { return out.text[0] == '\0'; },
       {kNoSpec, kNoOther}},
      {"kvc_keys_from_tokens",
       [](const In& in, Out& out) {
         return kvc_keys_from_tokens(in.space, in.tokens, 16, nullptr, 0, nullptr, &out.digest, 1,
                                     &out.count);
       },
       [](const Out& out) { return out.count == 0; },
       {kNoSpace, kNoTokens}},
  };
}

std::vector<Row> rows_of_the_data_path() {
  const auto no_states = [](const Out& out) { return is_clear(out.states) && out.count == 0; };
  const auto no_count = [](const Out& out) { return out.count == 0; };
  const auto no_number = [](const Out& out) { return out.numbers[0] == 0; };
  return {
      {"kvc_match",
       [](const In& in, Out& out) { return kvc_match(in.space, in.keys, kCount, out.states, &out.count); },
       no_states,
       {kNoSpace, kNoKeys},
       true},
      {"kvc_wait",
       [](const In& in, Out& out) { return kvc_wait(in.space, in.keys, kCount, 0, out.states, &out.count); },
       no_states,
       {kNoSpace, kNoKeys},
       true},
      {"kvc_restore",
       [](const In& in, Out& out) {
         return kvc_restore(in.space, in.keys, kCount, 0, out.states, &out.count);
       },
       no_states,
       {kNoSpace, kNoKeys},
       true},
      {"kvc_reserve",
       [](const In& in, Out& out) { return kvc_reserve(in.space, in.keys, kCount, nullptr, out.slots); },
       [](const Out& out) { return are_without_room(out.slots); },
       {kNoSpace, kNoKeys},
       true},
      {"kvc_pin",
       [](const In& in, Out& out) { return kvc_pin(in.space, in.keys, kCount, 1, 0, &out.count); },
       no_count,
       {kNoSpace, kNoKeys},
       true},
      {"kvc_sync",
       [](const In& in, Out& out) {
         return kvc_sync(in.space, in.keys, kCount, 0, &out.numbers[0], &out.numbers[1]);
       },
       [](const Out& out) {
         return out.numbers[0] == 0 && (out.numbers[1] == 0 || out.numbers[1] == kCount);
       },
       {kNoSpace, kNoKeys},
       true},
      {"kvc_invalidate",
       [](const In& in, Out& out) { return kvc_invalidate(in.space, 0, &out.numbers[0]); },
       no_number,
       {kNoSpace},
       true},
      {"kvc_invalidate_namespace",
       [](const In& in, Out& out) { return kvc_invalidate_namespace(in.client, 0, &out.numbers[0]); },
       no_number,
       {kNoClient},
       true},
  };
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto& some : {rows_of_handles(), rows_of_specs(), rows_of_the_data_path()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

class OutArguments : public testing::Test {
 protected:
  OutArguments() : keys_(keys_from(0, kCount)), spec_(make_spec()), other_(make_spec({.heads = 4})) {
    spec_options_ = {.struct_size = sizeof spec_options_, .model = "m", .block_tokens = 16};
  }
  ~OutArguments() override {
    kvc_spec_destroy(spec_);
    kvc_spec_destroy(other_);
  }
  [[nodiscard]] In inputs(const TestClient& client) const {
    return {client.client, client.space,     spec_,         other_, keys_.data(),
            tokens_,       &client_options_, &spec_options_};
  }

  const std::vector<kvc_key> keys_;
  const std::uint32_t tokens_[16] = {};
  kvc_spec* const spec_;
  kvc_spec* const other_;
  kvc_client_options client_options_{.struct_size = sizeof client_options_};
  kvc_spec_options spec_options_{};
};

TEST_F(OutArguments, AreSetWhereAnInputIsMissing) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  for (const Row& row : all_rows()) {
    for (std::size_t i = 0; i < row.refused.size(); ++i) {
      In in = inputs(client);
      row.refused[i](in);
      Out out;
      EXPECT_EQ(row.call(in, out), KVC_INVALID) << row.name << ", input " << i;
      EXPECT_TRUE(row.is_set(out)) << row.name << ", input " << i;
      EXPECT_STRNE(kvc_last_error(), "") << row.name;
    }
  }
}

TEST_F(OutArguments, AreSetWithoutADaemon) {
  const TestClient client("/nowhere/kvtierd.sock");
  for (const Row& row : all_rows()) {
    if (!row.needs_daemon) continue;
    Out out;
    EXPECT_EQ(row.call(inputs(client), out), KVC_UNAVAILABLE) << row.name;
    EXPECT_TRUE(row.is_set(out)) << row.name;
  }
}

// The space outlives its client.
TEST_F(OutArguments, AreSetWhenTheClientIsClosed) {
  FakeDaemon daemon;
  TestClient client(daemon.path());
  kvc_lease_destroy(client.lease);
  kvc_client_close(client.client);
  In in = inputs(client);
  client.lease = nullptr;
  client.client = nullptr;
  for (const Row& row : all_rows()) {
    if (!row.needs_daemon || std::string(row.name) == "kvc_invalidate_namespace") continue;
    Out out;
    EXPECT_EQ(row.call(in, out), KVC_STALE) << row.name;
    EXPECT_TRUE(row.is_set(out)) << row.name;
  }
}

// One NULL out argument keeps no other from being set.
TEST_F(OutArguments, AreSetBesideOneThatIsMissing) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  for (const auto call : {+[](kvc_space*space, const kvc_key*keys, std::uint8_t*states) {
                            return kvc_match(space, keys, kCount, states, nullptr);
                          },
                          +[](kvc_space*space, const kvc_key*keys, std::uint8_t*states) {
                            return kvc_wait(space, keys, kCount, 0, states, nullptr);
                          }}) {
    Out out;
    EXPECT_EQ(call(client.space, keys_.data(), out.states), KVC_INVALID);
    EXPECT_TRUE(is_clear(out.states));
  }
  Out out;
  EXPECT_EQ(kvc_space_part(client.space, 0, nullptr, &out.numbers[0]), KVC_INVALID);
  EXPECT_EQ(kvc_space_part(client.space, 0, &out.numbers[1], nullptr), KVC_INVALID);
  EXPECT_EQ(kvc_space_part(client.space, 99, &out.numbers[0], &out.numbers[1]), KVC_INVALID);
  EXPECT_TRUE(is_clear(out.numbers));
}

// How large a struct is that says no size is not known.
TEST_F(OutArguments, AStructThatIsTooSmallIsLeftAlone) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  Out out;
  const Out before = out;
  out.status.struct_size = out.stats.struct_size = out.facts.struct_size = 8;
  EXPECT_EQ(kvc_status(client.client, &out.status), KVC_INVALID);
  EXPECT_EQ(kvc_stats(nullptr, &out.stats), KVC_INVALID);
  EXPECT_EQ(kvc_space_info(nullptr, &out.facts), KVC_INVALID);
  EXPECT_EQ(out.status.session_id, before.status.session_id);
  EXPECT_EQ(out.stats.match_calls, before.stats.match_calls);
  EXPECT_EQ(out.facts.block_bytes, before.facts.block_bytes);
}

TEST_F(OutArguments, WhatACallChangesStaysWhenItRefusesItsArguments) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_);
  const std::vector<kvc_slot> before = slots;
  for (const auto end : {kvc_commit, kvc_abort}) {
    EXPECT_EQ(end(nullptr, slots.data(), kCount, KVC_WAIT, 0), KVC_INVALID);
    EXPECT_EQ(std::memcmp(slots.data(), before.data(), kCount * sizeof(kvc_slot)), 0);
  }
  EXPECT_EQ(kvc_commit_acquire(client.space, slots.data(), kCount, 0, nullptr), KVC_INVALID);
  EXPECT_EQ(std::memcmp(slots.data(), before.data(), kCount * sizeof(kvc_slot)), 0);
  ASSERT_EQ(kvc_commit(client.space, slots.data(), kCount, KVC_WAIT, 0), KVC_OK);
  ASSERT_EQ(client.acquire(keys_), kCount);
  EXPECT_EQ(kvc_commit_acquire(client.space, slots.data(), kCount, 0, client.lease), KVC_BUSY);
  EXPECT_EQ(kvc_lease_held(client.lease), kCount);
  EXPECT_EQ(kvc_acquire(client.space, nullptr, kCount, 0, 0, client.lease), KVC_INVALID);
  EXPECT_EQ(kvc_lease_held(client.lease), kCount);
}

// A function that is added to the header without a row. A lease that is not `**` is changed, as are slots of a commit.
TEST_F(OutArguments, EveryFunctionThatHasSomeIsInTheTable) {
  std::ifstream file(KVTIER_SOURCE_DIR "/libkvclient/include/kvclient/kvclient.h");
  std::stringstream header;
  header << file.rdbuf();
  const std::string text = header.str();
  std::set<std::string> declared;
  const std::regex function(R"(KVC_API int (kvc_\w+)\(([^;]*)\);)");
  const std::regex out(
      R"((^|,)\s*(kvc_\w+\*\*|size_t\*|uint\d+_t\*|char\*|kvc_key\*|kvc_slot\*|kvc_\w+_(status|stats|facts)\*))");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), function); at != std::sregex_iterator();
       ++at) {
    if (std::regex_search((*at)[2].str(), out)) declared.insert((*at)[1]);
  }
  for (const char* changing : {"kvc_commit", "kvc_commit_acquire", "kvc_abort"})
    EXPECT_EQ(declared.erase(changing), 1U) << changing;
  std::set<std::string> covered;
  for (const Row& row : all_rows()) covered.insert(row.name);
  EXPECT_EQ(declared, covered);
}

}  // namespace
}  // namespace kvtier::test
