#pragma once
// The named points of the protocol at which a victim of a fault build dies, in turn.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libkvclient/base/prng.h"

namespace kvtier::kill {

class KillPoints {
 public:
  struct Plan {
    std::string name;
    std::vector<std::string> environment;
    std::uint32_t rounds_max = 0;  ///< the victim ends by itself after so many; 0: it works on
  };

  /// `only`: this one; empty: all of them.
  explicit KillPoints(std::string only = "") : only_(std::move(only)) {}

  /// The next point in turn; how often it is passed before is chance. Fails the check when `only` is none.
  Plan next(Prng& prng);
  void count_fired(const Plan& plan) { ++fired_[plan.name]; }
  void count_missed(const Plan& plan) { ++missed_[plan.name]; }

  [[nodiscard]] const std::map<std::string, std::uint64_t>& fired() const { return fired_; }
  /// Points that a victim did not come to in its time.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& missed() const { return missed_; }
  /// Names of points asked for at which nobody has died.
  [[nodiscard]] std::string never_fired() const;

 private:
  std::string only_;
  std::size_t turn_ = 0;
  std::map<std::string, std::uint64_t> fired_;
  std::map<std::string, std::uint64_t> missed_;
};

}  // namespace kvtier::kill
