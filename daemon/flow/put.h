#pragma once
// The write path (DESIGN 4): reserve, commit, abort.

#include <span>

#include "daemon/flow/state.h"

namespace kvtier {

/// What a kReserve brought along, copied out of the arena.
struct ReserveInput {
  Key parent{};
  std::span<const Key> keys;
};

/// What a reservation may still wait for.
struct Patience {
  bool for_others = false;  ///< slabs of other writers, memory on its way
  bool for_saving = false;  ///< blocks that are being written to disk
};

/// How a kReserve ended, or that it did not: try again with the same submission.
enum class ReserveEnd : std::uint8_t { kAnswered, kWaitsForOthers, kWaitsForSaving };

ReserveEnd put_reserve(StoreState& state, Session& session, const Submission& submission,
                       const ReserveInput& input, std::span<std::byte> results, const Patience& patience);

/// What became of a record's holds: the first refusal's code, or kOk, and those of the first kInlineHolds.
struct HoldsEnded {
  Code first = Code::kOk;
  HoldCodes codes = 0;
  Cause cause = Cause::kNone;  ///< kInvalidated: some blocks were, before their commit

  void note(std::size_t hold, Code code) {
    if (first == Code::kOk) first = code;
    if (hold < kInlineHolds) codes = with_hold_code(codes, hold, code);
  }
};

/// Publishes, or refuses, each hold. A hold that is not this session's own is kInvalid and changes nothing.
HoldsEnded put_commit(StoreState& state, Session& session, std::span<const Hold> holds);
HoldsEnded put_abort(StoreState& state, Session& session, std::span<const Hold> holds);

/// The session's process is gone: every block that it was writing comes back.
void put_reclaim(StoreState& state, Session& session);
/// The session writes nowhere in a slab: what is quarantined there because of it is free.
void put_reclaim_slab(StoreState& state, Session& session, SlabIndex slab);
/// The session ended but its process lives: what it was writing must not appear any more, its slots stay
/// away.
void put_disown(StoreState& state, Session& session);

}  // namespace kvtier
