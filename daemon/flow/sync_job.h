#pragma once
// A kSync under way, and what is told of it.

#include <cstdint>
#include <optional>

#include "daemon/model/ids.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/status.h"
#include "libkvclient/wire/commands.h"

namespace kvtier {

/// What is to be on disk: keys of a space, or all blocks of a space, a namespace, or all namespaces.
struct SyncTarget {
  NamespaceId tenant = NamespaceId::kNone;
  SpaceId space = SpaceId::kNone;
  std::uint64_t arena_offset = kNoArena;  ///< of the keys
  std::uint32_t keys = 0;                 ///< 0: all blocks
};

struct SyncReport {
  std::uint64_t durable = 0;  ///< blocks that are on disk behind an fdatasync
  std::uint64_t unsaved = 0;  ///< blocks that are not; `code` and `cause` say why the first of them is not
  Code code = Code::kOk;
  Cause cause = Cause::kNone;
};

struct SyncJob {
  enum class Phase : std::uint8_t { kWalking, kFlushing, kOver };

  // constant after it began
  std::uint64_t number = 0;  ///< of its flush, too
  SyncTarget target;
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;  ///< 0: an administrator's, who looks for the report
  std::uint32_t request_id = 0;
  TimeNs deadline_ns = kNever;

  Phase phase = Phase::kWalking;
  // Counted down, from the records or keys that there were when it began: children lie behind their parents, and a group
  // of puts is a block with those above it.
  std::uint32_t unput = 0;      ///< items that were not put yet
  std::uint32_t unlooked = 0;   ///< items of which it is not known what became; no less than `unput`
  bool is_tried_again = false;  ///< the item that is looked at was put a second time
  bool is_given_up = false;     ///< no further puts: what is not on disk is counted
  bool is_unsure = false;       ///< a flush failed since it began
  TimeNs progress_ns = 0;       ///< it is known of another item what became of it, or it began
  SyncReport report;
};

/// What an administrator is told: of a sync that goes on, how far it has come.
struct SyncView {
  std::uint64_t number = 0;
  bool is_over = false;
  std::uint64_t left = 0;  ///< records that were not looked at
  SyncReport report;
};

}  // namespace kvtier
