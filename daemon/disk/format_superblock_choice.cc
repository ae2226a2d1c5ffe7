#include <algorithm>
#include <string>

#include "daemon/disk/format_seal.h"
#include "daemon/disk/format_superblock.h"

namespace kvtier {
namespace {

constexpr std::string_view kUntouched =
    " Nothing was changed: give the tier another folder, or move the file away";

struct Copies {
  std::array<Superblock, kSuperblockCopies> blocks{};
  std::array<DiskFault, kSuperblockCopies> faults{};
};

bool all_are(const Copies& all, DiskFault a, DiskFault b) {
  return std::all_of(all.faults.begin(), all.faults.end(), [&](DiskFault f) { return f == a || f == b; });
}

// The prefix is the same in all versions, so that the number can be told.
Status refuse_version(const SuperblockCopies& copies, std::uint32_t copy) {
  return {Code::kVersion, "superblock copy " + std::to_string(copy) + " has format version " +
                              std::to_string(read_prefix(copies[copy]).version) +
                              ", this program knows version " + std::to_string(kFormatVersion) +
                              ": start the program that wrote it." + std::string(kUntouched)};
}

Status refuse_all(const Copies& all) {
  std::string text = "no superblock copy is usable:";
  for (const DiskFault fault : all.faults) text.append(" ").append(disk_fault_name(fault));
  const bool is_foreign = all_are(all, DiskFault::kForeign, DiskFault::kTruncated);
  text += is_foreign ? ": the file is no store of this program." : ": damaged, or no store of this program.";
  return {is_foreign ? Code::kInvalid : Code::kCorrupt, text.append(kUntouched)};
}

// Copies of one revision differ in their number alone; anything else has had two writers.
bool contradict(const Superblock& a, const Superblock& b) {
  if (a.store != b.store || a.path != b.path) return true;
  return a.revision == b.revision && encode_superblock(a, 0) != encode_superblock(b, 0);
}

Result<SuperblockChoice> choose_newest(const Copies& all) {
  SuperblockChoice choice{.faults = all.faults};
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i) {
    if (all.faults[i] != DiskFault::kNone) continue;
    if (choice.superblock.revision != 0 && contradict(choice.superblock, all.blocks[i])) {
      return Status(Code::kInvalid,
                    "superblock copy " + std::to_string(i) +
                        " contradicts an earlier one: two programs wrote here, or files were mixed." +
                        std::string(kUntouched));
    }
    if (all.blocks[i].revision > choice.superblock.revision) choice.superblock = all.blocks[i];
  }
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i) {
    const bool is_newest = all.blocks[i].revision == choice.superblock.revision;
    choice.needs_repair |= all.faults[i] != DiskFault::kNone || !is_newest;
  }
  return choice;
}

}  // namespace

Result<SuperblockChoice> choose_superblock(const SuperblockCopies& copies) {
  Copies all;
  for (std::uint32_t i = 0; i < kSuperblockCopies; ++i) {
    all.faults[i] = verify_superblock(copies[i], i, all.blocks[i]);
    if (all.faults[i] == DiskFault::kVersion) return refuse_version(copies, i);
  }
  const bool is_blank = std::all_of(copies.begin(), copies.end(), is_all_zero);
  if (is_blank) return SuperblockChoice{.is_new = true, .faults = all.faults};
  if (std::count(all.faults.begin(), all.faults.end(), DiskFault::kNone) == 0) return refuse_all(all);
  return choose_newest(all);
}

}  // namespace kvtier
