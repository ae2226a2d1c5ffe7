#include "tools/paging/simulation.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "libkvclient/base/check.h"

namespace kvtier::sim {
namespace {

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

struct Running {
  RunningRequest request;
  double held_sum = 0;  // over its steps
  double allocated_sum = 0;
};

class Simulation {
 public:
  Simulation(std::span<const LengthRequest> requests, Scheme& scheme, double steps_per_s)
      : requests_(requests), scheme_(scheme), step_ms_(1000 / steps_per_s) {}

  PagingResult run() {
    while (arrived_ < requests_.size() || !is_idle()) {
      if (is_idle()) now_ms_ = std::max(now_ms_, static_cast<double>(requests_[arrived_].time_ms));
      while (arrived_ < requests_.size() && static_cast<double>(requests_[arrived_].time_ms) <= now_ms_)
        ++arrived_;
      leave();
      grow();
      admit();
      if (!running_.empty()) measure();
      now_ms_ += step_ms_;
    }
    return result();
  }

 private:
  [[nodiscard]] bool is_idle() const {
    return running_.empty() && preempted_.empty() && admitted_ == arrived_;
  }
  [[nodiscard]] bool is_anybody_waiting() const { return !preempted_.empty() || admitted_ < arrived_; }

  void leave() {
    std::erase_if(running_, [this](const Running& each) {
      if (!each.request.is_done()) return false;
      scheme_.finish(each.request);
      request_ratio_sum_ += share(each.held_sum, each.allocated_sum);
      return true;
    });
  }

  // Oldest first; who was preempted is younger than all that run.
  void grow() {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      while (i < running_.size() && !scheme_.grow(running_[i].request)) preempt_youngest();
      if (i < running_.size()) ++running_[i].request.produced;
    }
  }

  void preempt_youngest() {
    scheme_.preempt(running_.back().request);
    preempted_.push_front(running_.back());
    running_.pop_back();
    ++preemptions_;
  }

  void admit() {
    while (!preempted_.empty() && scheme_.resume(preempted_.front().request)) {
      running_.push_back(preempted_.front());
      preempted_.pop_front();
    }
    while (preempted_.empty() && admitted_ < arrived_) {
      const LengthRequest& next = requests_[admitted_];
      if (!scheme_.admit({admitted_, next})) {
        KV_CHECK(!running_.empty(), "a request does not fit into an empty pool");
        return;
      }
      running_.push_back({{admitted_++, next}});
      wait_ms_sum_ += now_ms_ - static_cast<double>(next.time_ms);
    }
  }

  void measure() {
    double held = 0, allocated = 0, reserved = 0;
    for (Running& each : running_) {
      const auto has = static_cast<double>(scheme_.allocated(each.request));
      const auto holds = static_cast<double>(each.request.held());
      held += holds;
      allocated += has;
      reserved += std::min(has, static_cast<double>(each.request.lengths.total())) - holds;
      each.held_sum += holds;
      each.allocated_sum += has;
    }
    KV_CHECK(allocated == static_cast<double>(scheme_.allocated_total()),
             "requests and pool count differently");
    held_sum_ += held;
    allocated_sum_ += allocated;
    reserved_sum_ += reserved;
    step_ratio_sum_ += share(held, allocated);
    ++steps_;
    running_sum_ += static_cast<double>(running_.size());
    running_max_ = std::max<std::uint64_t>(running_max_, running_.size());
    if (is_anybody_waiting()) measure_waiting(held);
  }

  void measure_waiting(double held) {
    const std::uint64_t free = scheme_.pool_tokens() - scheme_.allocated_total();
    ++waiting_steps_;
    waiting_held_sum_ += held;
    waiting_free_sum_ += static_cast<double>(free);
    const bool would_fit = preempted_.empty() && scheme_.needed(requests_[admitted_]) <= free;
    if (would_fit) waiting_shattered_sum_ += static_cast<double>(free);
  }

  [[nodiscard]] PagingResult result() const {
    const auto steps = static_cast<double>(steps_);
    const auto waiting_steps = static_cast<double>(waiting_steps_);
    const double waiting_pool = waiting_steps * static_cast<double>(scheme_.pool_tokens());
    const auto count = static_cast<double>(requests_.size());
    PagingResult is;
    is.scheme = scheme_.name();
    is.requests = requests_.size();
    is.utilisation = share(held_sum_, allocated_sum_);
    is.reserved = share(reserved_sum_, allocated_sum_);
    is.unused = share(allocated_sum_ - held_sum_ - reserved_sum_, allocated_sum_);
    is.utilisation_step_mean = share(step_ratio_sum_, steps);
    is.utilisation_request_mean = share(request_ratio_sum_, count);
    is.waiting_share = share(waiting_steps, steps);
    is.pool_utilisation = share(waiting_held_sum_, waiting_pool);
    is.pool_free = share(waiting_free_sum_, waiting_pool);
    is.pool_shattered = share(waiting_shattered_sum_, waiting_pool);
    is.running_mean = share(running_sum_, steps);
    is.running_max = running_max_;
    is.wait_mean_s = share(wait_ms_sum_ / 1000, count);
    is.makespan_s = now_ms_ / 1000;
    is.preemptions = preemptions_;
    is.recomputed_tokens = scheme_.recomputed_tokens();
    return is;
  }

  const std::span<const LengthRequest> requests_;
  Scheme& scheme_;
  const double step_ms_;
  double now_ms_ = 0;
  std::size_t arrived_ = 0;   // requests below have arrived
  std::size_t admitted_ = 0;  // requests below were admitted
  std::vector<Running> running_;
  std::deque<Running> preempted_;  // both in order of arrival

  double held_sum_ = 0, allocated_sum_ = 0, reserved_sum_ = 0;
  double step_ratio_sum_ = 0, request_ratio_sum_ = 0;
  double waiting_held_sum_ = 0, waiting_free_sum_ = 0, waiting_shattered_sum_ = 0;
  double running_sum_ = 0, wait_ms_sum_ = 0;
  std::uint64_t steps_ = 0, waiting_steps_ = 0, running_max_ = 0, preemptions_ = 0;
};

}  // namespace

PagingResult simulate_paging(std::span<const LengthRequest> requests, Scheme& scheme, double steps_per_s) {
  return Simulation(requests, scheme, steps_per_s).run();
}

}  // namespace kvtier::sim
