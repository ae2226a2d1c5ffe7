#pragma once
// Named points at which a fault build can fail, delay, shorten or crash. A product build compiles them to
// nothing.
//
//   if (KV_FAULT("put.after_reserve") == Fault::kFail) return ...;
//
// A fault build (-DKVTIER_FAULTS=ON) reads KVTIER_FAULTS at first use:
//   KVTIER_FAULTS="put.after_reserve=crash@3;ring.publish=delay:2ms~0.1;shm.create=fail@1"
// action[:argument] with @N (at the N-th pass only) or ~P (with probability P, seeded by KVTIER_FAULT_SEED).

#include <cstdint>
#include <string_view>

namespace kvtier {

enum class Fault : std::uint8_t { kNone, kFail, kShorten };

#ifdef KVTIER_FAULTS
/// Runs what is armed at `name`: delays and crashes happen inside; kFail and kShorten are the caller's to act
/// on.
Fault fault_point(std::string_view name);
/// Arms points from the text form above; "" disarms all. For tests inside one process. False when it does not
/// parse.
bool fault_arm(std::string_view text, std::uint64_t seed);
#define KV_FAULT(name) ::kvtier::fault_point(name)
#else
#define KV_FAULT(name) ::kvtier::Fault::kNone
#endif

}  // namespace kvtier
