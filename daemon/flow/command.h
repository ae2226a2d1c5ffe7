#pragma once
// A command of a client while it is carried out: its answer, and what it brought along in the arena. Everything is
// checked here: a client may write what it likes, whenever it likes.

#include <span>
#include <vector>

#include "daemon/flow/state.h"

namespace kvtier {

struct Command {
  StoreState& state;
  Session& session;
  const Submission& submission;

  void answer(Code code, std::uint32_t count = 0, std::uint64_t value = 0, Cause cause = Cause::kNone) const {
    Completion completion{};
    completion.request_id = submission.request_id;
    completion.code = code;
    completion.count = count;
    completion.value = value;
    completion.cause = cause;
    state.complete(session, completion);
  }
};

/// The arena range of a command; empty when it leaves the arena.
std::span<std::byte> command_arena(const Command& command, std::uint64_t bytes);

/// Copies keys out, behind `skip` bytes: what the client does to the arena afterwards changes nothing. False: against
/// the protocol.
bool command_keys(const Command& command, std::uint64_t skip, std::vector<Key>& keys);
bool command_holds(const Command& command, std::vector<Hold>& holds);

/// The space of the command, if it takes blocks now; else it is answered.
Space* command_space(const Command& command);

}  // namespace kvtier
