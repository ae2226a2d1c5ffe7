#include "daemon/flow/disk_step.h"

#include <algorithm>

#include "daemon/flow/demote.h"
#include "daemon/flow/disk_entry.h"
#include "daemon/flow/disk_mark.h"
#include "daemon/flow/disk_open.h"
#include "daemon/flow/disk_reclaim.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/records.h"
#include "daemon/flow/restore.h"
#include "daemon/flow/sync.h"

namespace kvtier {
namespace {

constexpr std::size_t kNewsStep = 512;
// The mailbox was full: how soon it is tried again.
constexpr TimeNs kMailboxPauseNs = kNsPerMs;

void on_released(StoreState& state, std::uint64_t tag) {
  const std::uint64_t number = tag_number(tag);
  if (tag_kind(tag) == DiskTag::kPut)
    return demote_on_released(state, BlockId{static_cast<std::uint32_t>(number)});
  restore_on_released(state, static_cast<std::uint32_t>(number));
}

void handle(StoreState& state, const DiskNews& news) {
  state.disk->sequence_max = std::max(state.disk->sequence_max, news.locator.sequence);
  switch (news.kind) {
    case DiskNewsKind::kSlabRemoved:
      return disk_on_slab_removed(state, SlabIndex{static_cast<std::uint32_t>(news.tag)});
    case DiskNewsKind::kEntry:
      return disk_on_entry(state, news);
    case DiskNewsKind::kReady:
      state.disk->life = DiskTier::Life::kReady;
      return;
    case DiskNewsKind::kRefused:
      state.disk->life = DiskTier::Life::kRefused;
      return disk_give_up(state);
    case DiskNewsKind::kPut:
      return demote_on_put(state, news);
    case DiskNewsKind::kGet:
      return restore_on_get(state, news);
    case DiskNewsKind::kReleased:
      return on_released(state, news.tag);
    case DiskNewsKind::kMarked:
      return disk_on_marked(state, news);
    case DiskNewsKind::kQuestion:
      return disk_on_question(state, news);
    case DiskNewsKind::kMoved:
      return disk_on_moved(state, news);
    case DiskNewsKind::kDropped:
      return disk_on_dropped(state, news);
    case DiskNewsKind::kClosed:
      state.disk->life = DiskTier::Life::kClosed;
      return disk_give_up(state);
    case DiskNewsKind::kFlushed:
      return sync_on_flushed(state, news);
    case DiskNewsKind::kPath:  // takes_puts() says the same
      return;
  }
}

// What is told may name copies that nobody names, each a forget: so few are taken that all find their place. Nothing else
// holds it up, least of all commands that cannot be sent: the agent may be waiting for room for its news (DiskChannel).
std::size_t receive(StoreState& state) {
  DiskTier& disk = *state.disk;
  std::size_t received = 0;
  DiskNews news;
  while (received < kNewsStep && disk.forgets.size() < kDiskNewsMax && disk.port.receive(news)) {
    handle(state, news);
    ++received;
  }
  return received;
}

void close_step(StoreState& state) {
  DiskTier& disk = *state.disk;
  if (!disk.is_close_wanted || disk.life >= DiskTier::Life::kClosing || !disk_has_room(state, 1)) return;
  disk_send(state, {.kind = DiskCommandKind::kClose});
  disk.life = DiskTier::Life::kClosing;
}

}  // namespace

std::size_t disk_step(StoreState& state) {
  if (!state.disk) return 0;
  DiskTier& disk = *state.disk;
  std::size_t work = receive(state);
  work += disk_tell_step(state);
  work += restore_step(state);
  work += sync_step(state);
  work += demote_step(state);
  work += records_step(state);
  close_step(state);
  work += disk_flush(state);
  state.stats.disk_bytes_writing = disk.put_bytes;
  state.stats.disk_bytes_reading = disk.restores.get_bytes;
  return work;
}

TimeNs disk_next_ns(const StoreState& state) {
  if (!state.disk) return kNever;
  const bool is_waiting = !state.disk->outbox.is_empty() || !state.disk->forgets.empty();
  return std::min(
      {demote_next_ns(state), syncs_next_ns(state), is_waiting ? state.now() + kMailboxPauseNs : kNever});
}

}  // namespace kvtier
