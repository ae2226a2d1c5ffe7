#include "daemon/app/conductor_round.h"

#include <stdexcept>

#include "libkvclient/base/fault_point.h"

namespace kvtier {

std::size_t ConductorRound::take_settings() {
  LiveSettings settings;
  if (!settings_.pop(settings)) return 0;
  conductor_.set_namespaces(std::move(settings.namespaces));
  store_.set_limits(settings.limits);
  return 1;
}

void ConductorRound::tell_verified() {
  if (!is_verifying_ || store_.unverified_count() > 0) return;
  is_verifying_ = false;
  log_.info("warm start is complete", {{"blocks_adopted", store_.stats().blocks_adopted},
                                       {"blocks_dropped", store_.stats().adoption_dropped},
                                       {"checksum_failures", store_.stats().checksum_failures}});
}

// Once each; of several in one round the last one is named.
void ConductorRound::tell_corrupt() {
  const CorruptBlocks& corrupt = store_.corrupt();
  if (corrupt.count == corrupt_told_) return;
  corrupt_told_ = corrupt.count;
  log_.error("a block in memory was damaged after its commit; it was taken out",
             {{"namespace", corrupt.namespace_name},
              {"space", to_hex(corrupt.space)},
              {"key", to_hex(corrupt.key)},
              {"blocks_corrupt", corrupt.count}});
}

void ConductorRound::close_tier() {
  // release with the acquire below: whatever the caller did before is seen by the round that closes.
  is_tier_unwanted_.store(true, std::memory_order_release);
  conductor_.wake();
}

void ConductorRound::look_at_tier() {
  if (!is_tier_unwanted_.load(std::memory_order_acquire)) return;
  store_.disk_close();
  // release: who sees it may stop the threads; nothing of the tier is under way.
  if (store_.disk_is_over()) is_tier_over_.store(true, std::memory_order_release);
}

std::size_t ConductorRound::do_work(TimeNs now_ns) {
  if (KV_FAULT("app.conductor") == Fault::kFail) throw std::runtime_error("fault point app.conductor");
  std::size_t work = take_settings();
  work += conductor_.do_work(now_ns);
  work += checksums_.exchange(store_);
  tell_verified();
  tell_corrupt();
  look_at_tier();
  work += admin_.serve(store_);
  if (now_ns >= publish_at_ns_) publish_all(now_ns);
  return work;
}

// A wait ends at least twice a second, so that nobody reads old numbers.
void ConductorRound::wait(TimeNs now_ns, TimeNs until_ns) {
  publish_all(now_ns);
  conductor_.wait(now_ns, until_ns);
}

void ConductorRound::publish_all(TimeNs now_ns) {
  publish_counters(store_, conductor_, counters_);
  if (load_ != nullptr) publish_load(*load_, now_ns, counters_);
  if (tier_watch_) tier_watch_->look();
  publish_at_ns_ = now_ns + kPublishNs;
}

}  // namespace kvtier
