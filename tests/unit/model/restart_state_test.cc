// The restart state: names and specs come back as written, full areas refuse, another layout is a cold start.

#include "daemon/model/restart_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

class KeepOne final : public FdStore {
 public:
  Status put(std::string_view name, int fd) override {
    EXPECT_EQ(name, "state");
    kept = UniqueFd(::dup(fd));
    return Status::ok();
  }
  void remove(std::string_view) override {}
  std::vector<StoredFd> take_all() override { return {}; }
  [[nodiscard]] std::string_view kind() const override { return "one"; }
  UniqueFd kept;
};

constexpr RestartSizes kSizes{
    .tenants_max = 4, .spaces_max = 3, .slabs = 8, .sessions_max = 4, .spec_bytes_max = 8192};

RestartState make_state(KeepOne& fds) {
  Result<RestartState> state = RestartState::create(kSizes, fds);
  EXPECT_TRUE(state.is_ok()) << state.status().to_string();
  return std::move(state).value();
}

std::vector<std::byte> encoding(std::size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

std::uint64_t resident_bytes(const UniqueFd& fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd.get(), &info), 0);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

TEST(RestartState, TheAreaOfSpecsHasPagesWhereItIsUsed) {
  KeepOne fds;
  RestartSizes sizes = kSizes;
  sizes.spec_bytes_max = 1 << 20;
  Result<RestartState> state = RestartState::create(sizes, fds);
  ASSERT_TRUE(state.is_ok());
  const std::uint64_t empty = resident_bytes(fds.kept);
  EXPECT_LE(empty, 2 * kPageBytes);
  EXPECT_EQ(state.value().add_space(NamespaceId{0}, encoding(kPageBytes + 100, 1)), Code::kOk);
  EXPECT_EQ(resident_bytes(fds.kept), empty + 2 * kPageBytes);
  EXPECT_EQ(state.value().add_space(NamespaceId{0}, encoding(100, 2)), Code::kOk);
  EXPECT_EQ(resident_bytes(fds.kept), empty + 2 * kPageBytes);
}

TEST(RestartState, ComesBackAsItWasWritten) {
  KeepOne fds;
  {
    RestartState state = make_state(fds);
    state.add_tenant("alpha", 7);
    state.add_tenant(std::string(200, 'x'), 0);
    EXPECT_EQ(state.add_space(NamespaceId{0}, encoding(100, 1)), Code::kOk);
    EXPECT_EQ(state.add_space(NamespaceId{1}, encoding(50, 2)), Code::kOk);
    state.slabs()[7].slot_bytes = 4096;
    state.sessions()[3].id = 77;
  }
  Result<RestartState> adopted = RestartState::adopt(std::move(fds.kept), kSizes);
  ASSERT_TRUE(adopted.is_ok()) << adopted.status().to_string();
  RestartState& state = adopted.value();
  ASSERT_EQ(state.header().tenant_count, 2U);
  EXPECT_EQ(read_name(state.tenants()[0].name), "alpha");
  EXPECT_EQ(state.tenants()[0].bytes_max, 7U);
  EXPECT_EQ(read_name(state.tenants()[1].name), std::string(kNameBytes - 1, 'x')) << "cut, NUL-terminated";
  ASSERT_EQ(state.header().space_count, 2U);
  const RestartSpace& second = state.spaces()[1];
  EXPECT_EQ(second.tenant, 1U);
  EXPECT_EQ(second.encoding_bytes, 50U);
  EXPECT_EQ(state.specs()[second.encoding_offset], std::byte{2});
  EXPECT_EQ(state.slabs()[7].slot_bytes, 4096U);
  EXPECT_EQ(state.sessions()[3].id, 77U);
}

TEST(RestartState, AFullSpecAreaOrTableRefusesAndChangesNothing) {
  KeepOne fds;
  RestartState state = make_state(fds);
  EXPECT_EQ(state.add_space(NamespaceId{0}, encoding(8000, 1)), Code::kOk);
  EXPECT_EQ(state.add_space(NamespaceId{0}, encoding(193, 2)), Code::kNoSpace);
  EXPECT_EQ(state.header().space_count, 1U);
  EXPECT_EQ(state.header().spec_bytes, 8000U);
  EXPECT_EQ(state.add_space(NamespaceId{0}, encoding(10, 2)), Code::kOk);
  EXPECT_EQ(state.add_space(NamespaceId{0}, encoding(10, 3)), Code::kOk);
  EXPECT_EQ(state.add_space(NamespaceId{0}, encoding(10, 4)), Code::kNoSpace) << "three spaces at most";
}

TEST(RestartState, AnotherLayoutIsRefusedWithBothNumbers) {
  KeepOne fds;
  {
    RestartState state = make_state(fds);
    state.header().layout = 99;
  }
  Result<RestartState> adopted = RestartState::adopt(std::move(fds.kept), kSizes);
  ASSERT_EQ(adopted.code(), Code::kVersion);
  EXPECT_NE(adopted.status().message().find("99"), std::string::npos);
  EXPECT_NE(adopted.status().message().find(std::to_string(restart_layout())), std::string::npos);
}

// Sizes that follow from settings, before a first use and after: each is named, with both values.
TEST(RestartState, ASettingThatChangesASizeIsNamed) {
  struct Change {
    const char* setting;
    std::function<void(RestartSizes&)> make;
  };
  const std::vector<Change> changes = {
      {"limits.namespaces_max", [](RestartSizes& sizes) { ++sizes.tenants_max; }},
      {"limits.spaces_max", [](RestartSizes& sizes) { ++sizes.spaces_max; }},
      {"limits.clients_max", [](RestartSizes& sizes) { --sizes.sessions_max; }},
      {"host.slab_bytes", [](RestartSizes& sizes) { sizes.slabs *= 2; }},
      {"specs", [](RestartSizes& sizes) { sizes.spec_bytes_max += 1; }},
  };
  KeepOne fds;
  (void)make_state(fds);
  for (const Change& change : changes) {
    SCOPED_TRACE(change.setting);
    RestartSizes other = kSizes;
    change.make(other);
    const Result<RestartState> adopted = RestartState::adopt(UniqueFd(::dup(fds.kept.get())), other);
    ASSERT_EQ(adopted.code(), Code::kVersion);
    EXPECT_NE(adopted.status().message().find(change.setting), std::string::npos)
        << adopted.status().message();
  }
  EXPECT_TRUE(RestartState::adopt(UniqueFd(::dup(fds.kept.get())), kSizes).is_ok());
}

// Another size of any area moves or lengthens what is behind it, and each of them is compared.
TEST(RestartState, EverySizeHasItsPartInTheAreas) {
  const RestartAreas at = RestartAreas::of(kSizes);
  const auto bytes_with = [](auto change) {
    RestartSizes sizes = kSizes;
    change(sizes);
    return RestartAreas::of(sizes).bytes;
  };
  EXPECT_GT(bytes_with([](RestartSizes& sizes) { sizes.tenants_max += 4096; }), at.bytes);
  EXPECT_GT(bytes_with([](RestartSizes& sizes) { sizes.spaces_max += 4096; }), at.bytes);
  EXPECT_GT(bytes_with([](RestartSizes& sizes) { sizes.slabs += 4096; }), at.bytes);
  EXPECT_GT(bytes_with([](RestartSizes& sizes) { sizes.sessions_max += 4096; }), at.bytes);
  EXPECT_GT(bytes_with([](RestartSizes& sizes) { sizes.spec_bytes_max += 4096; }), at.bytes);
}

TEST(RestartState, NoDescriptorAtAllIsAnErrorNotACrash) {
  EXPECT_FALSE(RestartState::adopt(UniqueFd(), kSizes).is_ok());
}

}  // namespace
}  // namespace kvtier
