#include "daemon/flow/command.h"

#include <algorithm>
#include <cstring>

namespace kvtier {

std::span<std::byte> command_arena(const Command& command, std::uint64_t bytes) {
  const std::uint64_t offset = command.submission.arena_offset;
  if (offset > kArenaBytes || bytes > kArenaBytes - offset || offset % 8 != 0) return {};
  return command.session.channel.bytes().subspan(ChannelLayout::kArena + offset, bytes);
}

bool command_keys(const Command& command, std::uint64_t skip, std::vector<Key>& keys) {
  const std::uint32_t count = command.submission.count;
  if (count == 0 || count > kRequestKeysMax) return false;
  const auto bytes = command_arena(command, skip + std::uint64_t{count} * sizeof(Key));
  if (bytes.empty()) return false;
  keys.resize(count);
  std::memcpy(keys.data(), bytes.data() + skip, count * sizeof(Key));
  return true;
}

bool command_holds(const Command& command, std::vector<Hold>& holds) {
  const std::uint32_t count = command.submission.count;
  if (count == 0 || count > kRequestKeysMax) return false;
  holds.resize(count);
  if (command.submission.arena_offset == kNoArena) {
    if (count > kInlineHolds) return false;
    std::copy_n(command.submission.holds, count, holds.begin());
    return true;
  }
  const auto bytes = command_arena(command, count * sizeof(Hold));
  if (bytes.empty()) return false;
  std::memcpy(holds.data(), bytes.data(), count * sizeof(Hold));
  return true;
}

Space* command_space(const Command& command) {
  Space* space = command.state.space(command.state.tenant_of(command.session), command.submission.space);
  if (space == nullptr) {
    command.answer(Code::kNotFound);
  } else if (space->is_invalidated) {
    command.answer(Code::kStale, 0, 0, Cause::kInvalidated);
    space = nullptr;
  }
  return space;
}

}  // namespace kvtier
