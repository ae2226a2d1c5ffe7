#pragma once
// Between kvtierd and kvtier-keeper, on a socketpair (SOCK_SEQPACKET) that kvtierd inherits: one record a
// packet, with at most one descriptor. Both are of one build; the version is checked all the same.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

inline constexpr const char* kKeeperFdVariable = "KVTIER_KEEPER_FD";
inline constexpr std::uint32_t kKeeperVersion = 2;

enum class KeeperOp : std::uint32_t {
  kPut = 1,  ///< with a descriptor
  kRemove = 2,
  kList = 3,  ///< answered by one kItem a descriptor, then kEnd
  kItem = 4,
  kEnd = 5,
  kStarted = 6,  ///< this instance serves: its start did not fail
};

struct KeeperRecord {
  std::uint32_t version = kKeeperVersion;
  KeeperOp op = KeeperOp::kEnd;
  std::array<char, 64> name{};
};

struct KeeperMessage {
  KeeperRecord record;
  UniqueFd fd;
};

KeeperRecord keeper_record(KeeperOp op, std::string_view name);
std::string_view keeper_name(const KeeperRecord& record);

/// Blocks while the peer's buffer is full. fd -1: none.
Status keeper_send(int socket, const KeeperRecord& record, int fd = -1);
/// Blocks for one record. kUnavailable: the other side is gone; kVersion, kInvalid: not one of ours.
Result<KeeperMessage> keeper_receive(int socket);

}  // namespace kvtier
