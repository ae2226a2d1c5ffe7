#include "daemon/flow/purge.h"

#include <algorithm>

#include "daemon/flow/disk_mark.h"
#include "daemon/flow/invalidate.h"
#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

// As many as administrators can have commands under way. Of those that nobody asks for any more the ended ones go first.
constexpr std::size_t kPurgesMax = 32;

Purge* find(StoreState& state, std::uint64_t number) {
  const auto found = std::ranges::find(state.purges, number, &Purge::number);
  return found == state.purges.end() ? nullptr : &*found;
}

void begin(StoreState& state, const BlockFilter& filter, std::uint64_t number) {
  for (const Tenant& tenant : state.tenants) {
    if (!filter.namespace_name.empty() && tenant.name != filter.namespace_name) continue;
    ++find(state, number)->open;
    invalidate_begin(state, {.tenant = tenant.id, .space = filter.space, .purge = number});
  }
}

}  // namespace

std::uint64_t purge_open(StoreState& state) {
  if (state.purges.size() == kPurgesMax)
    std::erase_if(state.purges, [](const Purge& p) { return p.open == 0; });
  if (state.purges.size() == kPurgesMax) return 0;
  state.purges.push_back({.number = ++state.next_purge});
  return state.next_purge;
}

void purge_on_done(StoreState& state, std::uint64_t number, Code code, std::uint64_t count) {
  Purge* purge = find(state, number);
  if (purge == nullptr) return;
  KV_CHECK(purge->open > 0, "each end is of something that was begun");
  --purge->open;
  purge->count += count;
  if (code != Code::kOk) purge->code = code;
}

std::optional<Purge> purge_take_done(StoreState& state, std::uint64_t number) {
  const Purge* purge = find(state, number);
  if (purge == nullptr) return Purge{};
  if (purge->open > 0) return std::nullopt;
  const Purge done = *purge;
  std::erase_if(state.purges, [number](const Purge& each) { return each.number == number; });
  return done;
}

void purge_mark(StoreState& state, BlockId id, std::uint64_t number) {
  Purge* purge = find(state, number);
  if (purge == nullptr) return;
  ++purge->open;
  const BlockRecord& record = state.blocks[id];
  const Invalidation job{.tenant = NamespaceId{record.tenant}, .space = record.space, .purge = number};
  Code code = Code::kOk;
  if (!disk_mark(state, job, record.key, code)) purge_on_done(state, number, code, 0);
}

Status purge_refusal() {
  return {Code::kBusy, "32 removals from disk are under way; wait until one has ended"};
}

Status purge_status(Code code) {
  static constexpr const char* kGone =
      "the blocks left memory, but a restart may bring them back from disk: ";
  switch (code) {
    case Code::kOk:
      return Status::ok();
    case Code::kUnavailable:
      return {code,
              std::string(kGone) +
                  "the NVMe tier is shut, or none of its paths can be written, and so it cannot note it; see "
                  "kvctl status, and do it again when the tier serves"};
    case Code::kNoSpace:
      return {code, std::string(kGone) +
                        "the NVMe tier has no room to note it; remove the whole space or namespace (kvctl "
                        "flush --disk), which needs one note, or raise nvme.paths[].bytes"};
    default:
      return {code, std::string(kGone) + "the NVMe tier could not note it (" + std::string(code_name(code)) +
                        "); see kvctl status and the log, and do it again"};
  }
}

EvictReport purge_matching(StoreState& state, const BlockFilter& filter, const EvictCursor& from) {
  EvictReport report;
  EvictCursor at = from;
  if (at.purge == 0) {
    at.purge = purge_open(state);
    if (at.purge == 0) {
      report.status = purge_refusal();
      return report;
    }
    begin(state, filter, at.purge);
  }
  const std::optional<Purge> done = purge_take_done(state, at.purge);
  if (!done) {
    report.next = at;
    return report;
  }
  report.evicted = done->count;
  report.status = purge_status(done->code);
  return report;
}

}  // namespace kvtier
