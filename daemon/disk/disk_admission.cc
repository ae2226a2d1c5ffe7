#include "daemon/disk/disk_admission.h"

namespace kvtier {

std::uint32_t DiskAdmission::hits_needed(TimeNs now_ns) {
  const std::uint64_t low = options_.budget.burst_bytes / 100 * options_.low_percent;
  return budget_.level_bytes(now_ns) < low ? options_.hits_when_low : options_.hits_min;
}

Admission DiskAdmission::admit(const AdmissionFacts& facts, TimeNs now_ns) {
  const bool is_wanted = facts.is_retained || facts.has_hot_child || facts.hits >= hits_needed(now_ns);
  if (!is_wanted) return Admission::kTooCold;
  return budget_.take(facts.bytes, now_ns) ? Admission::kAdmitted : Admission::kOverBudget;
}

}  // namespace kvtier
