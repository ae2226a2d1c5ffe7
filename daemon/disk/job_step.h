#pragma once
// Where a job stands. A change is noted, so that whoever owns all jobs knows that another round may do something,
// although the device has nothing to say.

#include <cstdint>

namespace kvtier {

template <class Step>
class JobStep {
 public:
  /// `changes`: shared by all jobs, rises with each change.
  JobStep(std::uint64_t& changes, Step first) : changes_(changes), step_(first) {}
  JobStep(const JobStep&) = delete;
  JobStep& operator=(const JobStep&) = delete;

  JobStep& operator=(Step next) {
    step_ = next;
    ++changes_;
    return *this;
  }
  operator Step() const { return step_; }  // NOLINT(google-explicit-constructor): it stands for the step

 private:
  std::uint64_t& changes_;
  Step step_;
};

}  // namespace kvtier
