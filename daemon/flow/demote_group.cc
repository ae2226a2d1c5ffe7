#include "daemon/flow/demote_group.h"

#include <algorithm>

#include "daemon/flow/demote.h"
#include "daemon/flow/disk_send.h"

namespace kvtier {
namespace {

// Blocks of one slot class, in the order in which they are to be written.
class Group {
 public:
  explicit Group(StoreState& state) : state_(state) {}

  // False: it does not belong here, or no further put may be open.
  bool add(BlockId id) {
    const BlockRecord& record = state_.blocks[id];
    if (count_ > 0 && !is_akin(record)) return false;
    const std::uint64_t bytes = state_.slab_of(record.slot).slot_bytes();
    const DiskTier& disk = *state_.disk;
    const bool is_first = count_ == 0 && disk.puts_open == 0;  // one larger than the bound goes alone
    const bool fits = count_ < kDiskGroupMax && disk.puts_open + count_ < kPutsOpenMax &&
                      (is_first || disk.put_bytes + (count_ + 1) * bytes <= kPutBytesMax) &&
                      disk_has_room(state_, count_ + 1);
    if (!fits) return false;
    ids_[count_++] = id;
    return true;
  }
  void reverse() { std::reverse(ids_.begin(), ids_.begin() + count_); }

  std::uint32_t send() {
    for (std::uint32_t i = 0; i < count_; ++i) send_one(ids_[i], i + 1 == count_);
    return count_;
  }

 private:
  [[nodiscard]] bool is_akin(const BlockRecord& record) const {
    const BlockRecord& first = state_.blocks[ids_[0]];
    return first.tenant == record.tenant && first.space == record.space;
  }

  void send_one(BlockId id, bool is_group_end) {
    BlockRecord& record = state_.blocks[id];
    const Slab& slab = state_.slab_of(record.slot);
    DiskCommand command = disk_command_of(state_, id, DiskCommandKind::kPut);
    command.is_group_end = is_group_end;
    command.tag = make_tag(DiskTag::kPut, index_of(id));
    command.slab = slab.index();
    command.data = slab.payload(record.slot.slot());
    if (record.parent != BlockId::kNone) command.parent = state_.blocks[record.parent].key;
    disk_send(state_, command);
    record.flags |= kBlockStoring;
    DiskTier& disk = *state_.disk;
    // A tier that fails is not heard before it takes something.
    if (disk.puts_open == 0 && disk.puts_pause_ns == 0) disk.puts_heard_ns = state_.now();
    ++disk.puts_open;
    disk.put_bytes += slab.slot_bytes();
  }

  StoreState& state_;
  std::array<BlockId, kDiskGroupMax> ids_;
  std::uint32_t count_ = 0;
};

}  // namespace

std::uint32_t demote_group(StoreState& state, BlockId leaf) {
  Group group(state);
  for (BlockId id = leaf; id != BlockId::kNone && demote_can_save(state, id); id = state.blocks[id].parent) {
    if (!group.add(id)) break;
  }
  group.reverse();
  return group.send();
}

bool demote_run(StoreState& state, SaveQueue& queue) {
  Group group(state);
  BlockId last = BlockId::kNone;
  while (!queue.is_empty()) {
    const BlockId id = queue.front();
    const bool goes_on =
        last == BlockId::kNone || (demote_can_save(state, id) && state.blocks[id].parent == last);
    if (!goes_on || !group.add(id)) break;
    queue.pop();
    last = id;
  }
  return group.send() > 0;
}

}  // namespace kvtier
