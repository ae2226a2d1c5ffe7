#pragma once
// What the next instance must know beside the block table: namespaces, specs, slabs, sessions. One private
// memfd of fixed records, written in place by the conductor. A killed process's stores are all there, in
// program order: a record is valid from the store of its last field on, which is what the comments call
// published.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include "daemon/model/fd_store.h"
#include "daemon/model/ids.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/limits.h"
#include "libkvclient/wire/shm_segment.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

struct RestartSizes {
  std::uint32_t tenants_max = 0;
  std::uint32_t spaces_max = 0;  ///< of all namespaces together
  std::uint32_t slabs = 0;
  std::uint32_t sessions_max = 0;
  std::uint64_t spec_bytes_max = 0;
};

struct RestartHeader {
  std::uint64_t magic;
  std::uint32_t layout;  ///< restart_layout()
  std::uint32_t blocks_max;
  std::uint64_t host_bytes;
  std::uint64_t slab_bytes;
  std::uint64_t instance[2];
  std::uint64_t next_session_id;
  std::uint32_t tenant_count;     ///< published
  std::uint32_t space_count;      ///< published
  std::uint64_t spec_bytes;       ///< used of the spec area
  std::uint32_t blocks_reserved;  ///< records of the block table that have pages
  std::uint32_t reserved;
  RestartSizes sizes;  ///< where the areas behind the header are follows from them
};

struct RestartTenant {
  std::uint64_t bytes_max;
  std::array<char, kNameBytes> name;
};

struct RestartSpace {
  std::uint32_t tenant;
  std::uint32_t encoding_bytes;
  std::uint64_t encoding_offset;  ///< in the spec area
};

struct RestartSlab {
  std::uint64_t slot_bytes;
  std::uint64_t writer_session;   ///< 0: none
  std::uint32_t tenant_plus_one;  ///< published; 0: belongs to no namespace
  std::uint32_t reserved;
};

struct RestartSession {
  std::uint64_t secret[2];
  std::uint32_t tenant;
  std::uint32_t pid;
  std::uint32_t uid;
  std::uint32_t is_read_only;
  std::array<char, kNameBytes> name;
  std::array<char, kVersionBytes> version;
  std::uint64_t id;  ///< published; 0: a free place
};
static_assert(std::is_trivially_copyable_v<RestartSession> && sizeof(RestartSession) == 136);

/// Where each area begins.
struct RestartAreas {
  std::uint64_t tenants = 0;
  std::uint64_t spaces = 0;
  std::uint64_t slabs = 0;
  std::uint64_t sessions = 0;
  std::uint64_t specs = 0;
  std::uint64_t bytes = 0;  ///< all together

  static constexpr RestartAreas of(const RestartSizes& sizes) {
    constexpr std::uint64_t kLine = 64;
    constexpr std::uint64_t kPage = 4096;
    RestartAreas at;
    at.tenants = kPage;
    at.spaces = at.tenants + round_up(sizes.tenants_max * sizeof(RestartTenant), kLine);
    at.slabs = at.spaces + round_up(sizes.spaces_max * sizeof(RestartSpace), kLine);
    at.sessions = at.slabs + round_up(sizes.slabs * sizeof(RestartSlab), kLine);
    at.specs = round_up(at.sessions + sizes.sessions_max * sizeof(RestartSession), kPage);
    at.bytes = round_up(at.specs + sizes.spec_bytes_max, kPage);
    return at;
  }
};

/// Which layout restart memory has: another one means a cold start. Computed from every record's size and fields,
/// from where the areas begin, and from kRestartMeaning, which rises when a field comes to mean something else
/// (slot words, block states).
std::uint32_t restart_layout();
inline constexpr std::uint32_t kRestartMeaning = 3;

/// kVersion, with the setting's name and both values, when what is kept was made under another one.
Status setting_unchanged(std::string_view setting, std::uint64_t before, std::uint64_t now);
/// The same of bytes.
Status size_unchanged(std::string_view setting, std::uint64_t before, std::uint64_t now);

class RestartState {
 public:
  static Result<RestartState> create(const RestartSizes& sizes, FdStore& fds);
  /// Maps what an earlier instance left; kVersion, naming the setting, when its layout or sizes are other ones.
  /// Contents are the adopter's to check; `check` sees the header before its sizes are compared, which follow from
  /// more than one setting.
  using HeaderCheck = std::function<Status(const RestartHeader&)>;
  static Result<RestartState> adopt(UniqueFd fd, const RestartSizes& sizes, const HeaderCheck& check = {});

  RestartHeader& header() { return *reinterpret_cast<RestartHeader*>(mapping_.data()); }
  std::span<RestartTenant> tenants() { return array<RestartTenant>(at_.tenants, sizes_.tenants_max); }
  std::span<RestartSpace> spaces() { return array<RestartSpace>(at_.spaces, sizes_.spaces_max); }
  std::span<RestartSlab> slabs() { return array<RestartSlab>(at_.slabs, sizes_.slabs); }
  std::span<RestartSession> sessions() { return array<RestartSession>(at_.sessions, sizes_.sessions_max); }
  std::span<std::byte> specs() { return mapping_.bytes().subspan(at_.specs, sizes_.spec_bytes_max); }

  void add_tenant(std::string_view name, std::uint64_t bytes_max);
  /// kNoSpace: the spec area is full; the space then works, but is not known after a restart.
  Code add_space(NamespaceId tenant, std::span<const std::byte> encoding);

 private:
  Status map(UniqueFd fd, const RestartSizes& sizes);
  template <class T>
  std::span<T> array(std::uint64_t at, std::uint32_t count) {
    return {reinterpret_cast<T*>(mapping_.data() + at), count};
  }

  RestartSizes sizes_;
  RestartAreas at_;
  UniqueFd fd_;
  ShmMapping mapping_;
};

/// Copies a name into a fixed field, cut to fit, NUL-terminated.
template <std::size_t N>
void copy_name(std::string_view name, std::array<char, N>& field) {
  field.fill('\0');
  name.copy(field.data(), N - 1);
}
template <std::size_t N>
std::string_view read_name(const std::array<char, N>& field) {
  const std::string_view all(field.data(), N);
  return all.substr(0, all.find('\0'));
}

}  // namespace kvtier
