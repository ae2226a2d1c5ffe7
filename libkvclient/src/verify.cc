#include "libkvclient/src/verify.h"

#include <algorithm>
#include <cstring>

#include "libkvclient/base/checksum.h"
#include "libkvclient/src/answer.h"
#include "libkvclient/src/patience.h"
#include "libkvclient/src/request_call.h"
#include "libkvclient/wire/limits.h"

namespace kvtier::client {
namespace {

/// One leased block: its place in the lease, which is its key's, and what is said of it.
struct Leased {
  std::size_t place = 0;
  SumEntry entry{.code = Code::kPending};
  bool is_right = false;
  bool is_wrong = false;
};

class Verification {
 public:
  Verification(Space& space, const AcquireCall& call, kvc_lease& lease)
      : space_(space),
        call_(call),
        lease_(lease),
        deadline_ns_(deadline_of(*space.core, 0)),
        patience_(deadline_ns_) {}

  Status run() {
    const std::size_t held_before = lease_.held;
    const Result<BoundLink> bound = space_.core->bound_link(space_);
    Status status = bound.is_ok() ? look_at_all(bound.value()) : bound.status();
    const bool is_lost = !status.is_ok() && status.code() != Code::kDeadline;
    if (is_lost) {
      let_go(lease_, 0, lease_.count);
      lease_.count = 0;
    } else {
      keep_what_is_right();
    }
    count(held_before);
    if (!status.is_ok()) return status;
    say_why();
    tell_daemon(bound.value());
    return status;
  }

 private:
  [[nodiscard]] bool is_ordered() const { return (call_.flags & KVC_UNORDERED) == 0; }

  Status look_at_all(const BoundLink& bound) {
    if (!bound.link.has_sums) {
      return {
          Code::kUnsupported,
          "kvc_acquire: this daemon speaks a protocol before 1.2 and tells no checksums; restart it with a "
          "release that does, or acquire without KVC_VERIFY"};
    }
    KV_RETURN_IF_ERROR(find_places(bound));
    for (std::size_t at = 0; at < leased_.size() && !has_ended_; at += kRequestKeysMax) {
      const std::span<Leased> some =
          std::span(leased_).subspan(at, std::min<std::size_t>(kRequestKeysMax, leased_.size() - at));
      KV_RETURN_IF_ERROR(ask(bound, some));
      compare(some);
    }
    return Status::ok();
  }

  // The directory knows slot and generation of what is leased, unless it was unpublished meanwhile: generation 0 is no
  // block's.
  Status find_places(const BoundLink& bound) {
    const ReadSection section(space_.core->readers, space_.core->view);
    const View* view = section.view();
    const bool is_same = view != nullptr && view->session == lease_.session &&
                         bound.link.session.get() == lease_.session && bound.binding.is_of(view->epoch);
    if (!is_same) return {Code::kUnavailable, "the daemon hung up"};
    leased_.reserve(lease_.held);
    for (std::size_t i = 0; i < lease_.count; ++i) {
      if (lease_.pins[i] == nullptr) continue;
      Leased& leased = leased_.emplace_back();
      leased.place = i;
      Residency at;
      if (!view->directory.find(bound.binding.space, call_.keys[i], at) || !at.host.is_present()) continue;
      const std::uint32_t slab = at.host.slot.slab();
      const bool is_it =
          view->is_mapped(slab) && view->slabs[slab].pins + at.host.slot.slot() == lease_.pins[i];
      if (!is_it) continue;
      leased.entry.generation = at.host.generation;
      leased.entry.slot = at.host.slot;
    }
    return Status::ok();
  }

  // A request about these blocks.
  RequestCall sums_call(const BoundLink& bound, std::span<const Leased> some) const {
    RequestCall call;
    call.submission.op = Op::kSums;
    call.submission.count = static_cast<std::uint32_t>(some.size());
    call.submission.space = bound.binding.space;
    call.submission.deadline_ns = deadline_before(deadline_ns_);
    call.arena_bytes = some.size() * sizeof(SumEntry);
    call.fill = [some](std::byte* arena) {
      for (std::size_t i = 0; i < some.size(); ++i)
        std::memcpy(arena + i * sizeof(SumEntry), &some[i].entry, sizeof(SumEntry));
    };
    return call;
  }

  Status ask(const BoundLink& bound, std::span<Leased> some) {
    RequestCall call = sums_call(bound, some);
    call.read = [some](const std::byte* arena, const Completion&) {
      for (std::size_t i = 0; i < some.size(); ++i)
        std::memcpy(&some[i].entry, arena + i * sizeof(SumEntry), sizeof(SumEntry));
      return Status::ok();
    };
    const Result<Completion> answer = request(*space_.core, *bound.link.requests, call, deadline_ns_);
    if (!answer.is_ok()) return answer.status();
    // With these two the sums that are there were told as well.
    const Code code = answer.value().code;
    return code == Code::kDeadline || code == Code::kBusy ? Status::ok()
                                                          : status_of(answer.value(), Op::kSums);
  }

  void compare(std::span<Leased> some) {
    for (Leased& leased : some) {
      if (has_ended_) return;
      if (leased.entry.code == Code::kOk && !patience_.is_over()) {
        const auto* block = static_cast<const std::byte*>(lease_.blocks[leased.place]);
        leased.is_right = checksum64({block, lease_.block_bytes}) == leased.entry.sum;
        leased.is_wrong = !leased.is_right;
      }
      has_ended_ = !leased.is_right && is_ordered();
    }
  }

  [[nodiscard]] const Leased* first_not_right() const {
    const auto at = std::ranges::find_if(leased_, [](const Leased& each) { return !each.is_right; });
    return at == leased_.end() ? nullptr : &*at;
  }

  // A prefix; with KVC_UNORDERED the entries stay.
  void keep_first(std::size_t count) {
    let_go(lease_, count, lease_.count - count);
    if (is_ordered()) lease_.count = count;
  }

  void keep_what_is_right() {
    const Leased* bad = first_not_right();
    if (bad == nullptr) return;
    if ((call_.flags & KVC_ALL_OR_NOTHING) != 0) return keep_first(0);
    if (is_ordered()) return keep_first(bad->place);
    for (const Leased& each : leased_) {
      if (!each.is_right) let_go(lease_, each.place, 1);
    }
  }

  void count(std::size_t held_before) {
    const auto wrong = static_cast<std::size_t>(
        std::ranges::count_if(leased_, [](const Leased& each) { return each.is_wrong; }));
    SlowCounts& counts = space_.core->counts;
    counts.acquire_corrupt.fetch_add(wrong, std::memory_order_relaxed);
    counts.acquire_unverified.fetch_add(held_before - lease_.held - wrong, std::memory_order_relaxed);
  }

  void say_why() const {
    const Leased* bad = first_not_right();
    if (bad == nullptr) return;
    const std::string key =
        "kvc_acquire: keys[" + std::to_string(bad->place) + "], " + to_hex(call_.keys[bad->place]) + ": ";
    if (bad->is_wrong) {
      (void)report({Code::kCorrupt, key + "its bytes do not match their checksum; the daemon is told"});
    } else if (bad->entry.code == Code::kNotFound) {
      (void)report({Code::kNotFound, key + "it was removed meanwhile"});
    } else {
      (void)report({Code::kDeadline, key + "its checksum could not be compared before the deadline"});
    }
  }

  // It looks itself; whatever it finds changes nothing here.
  void tell_daemon(const BoundLink& bound) {
    std::erase_if(leased_, [](const Leased& each) { return !each.is_wrong; });
    if (leased_.empty()) return;
    leased_.resize(std::min<std::size_t>(leased_.size(), kDoubtsMax));
    RequestCall call = sums_call(bound, leased_);
    call.submission.flags = kFlagDoubt;
    (void)request(*space_.core, *bound.link.requests, call, deadline_ns_);
  }

  Space& space_;
  const AcquireCall& call_;
  kvc_lease& lease_;
  const TimeNs deadline_ns_;
  Patience patience_;
  std::vector<Leased> leased_;
  bool has_ended_ = false;  ///< ordered: nothing behind is of use
};

}  // namespace

Status verify(Space& space, const AcquireCall& call, kvc_lease& lease) {
  return lease.held == 0 ? Status::ok() : Verification(space, call, lease).run();
}

}  // namespace kvtier::client
