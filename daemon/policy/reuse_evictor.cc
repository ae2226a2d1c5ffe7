#include "daemon/policy/reuse_evictor.h"

#include <algorithm>
#include <bit>

namespace kvtier {
namespace {

// Ghosts for each block that there is room for, up to kGhostsMany of them; from there on one a block. On traces of chats
// in little room fewer lose hits: README.md.
constexpr std::uint32_t kGhostsPerBlock = 4;
constexpr std::uint32_t kGhostsMany = 1 << 15;

std::uint32_t ghosts_for(std::uint32_t blocks) {
  const std::uint64_t generous = std::uint64_t{blocks} * kGhostsPerBlock;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(generous, std::max(blocks, kGhostsMany)));
}

constexpr std::uint32_t kAgedACall = 64;

}  // namespace

ReuseEvictor::ReuseEvictor(BlockTable& blocks, std::uint64_t seed)
    : blocks_(&blocks),
      blocks_max_(blocks.blocks_max()),
      ages_(std::size_t{blocks_max_} + ghosts_for(blocks_max_) + 1),
      ghosts_(ghosts_for(blocks_max_), seed),
      kin_(make_zeroed<Kin>(blocks_max_)),
      candidates_(std::size_t{kDeferred} + 1, BlockList(blocks)) {}

void ReuseEvictor::set_capacity(std::uint32_t blocks) {
  ghosts_max_ = ghosts_for(std::min(blocks, blocks_max_));
  while (ghosts_.size(0) > ghosts_max_) drop_ghost(ghosts_.oldest(0));
}

void ReuseEvictor::insert(BlockId block, BlockId parent) {
  const BlockRecord& record = (*blocks_)[block];
  let_time_pass(record.access_ms);
  Ages::Entry& entry = ages_[place_of(block)];
  const std::uint32_t ghost = ghosts_.find(ghosts_.fingerprint(record));
  if (ghost == Ghosts::kNone) {
    entry = {.used_ms = record.access_ms};
    inherit(entry, parent);
  } else {
    entry = ages_[place_of_ghost(ghost)];
    count_use(entry, record.access_ms);
    drop_ghost(ghost);
  }
  ++size_;
  adopt(block, parent);
  enter(block);
}

void ReuseEvictor::inherit(Ages::Entry& entry, BlockId parent) const {
  if (parent == BlockId::kNone) return;
  entry.traits = ages_[place_of(parent)].traits;
  entry.traits.uses = 0;
  entry.traits.hint = UseHint::kNone;
  ++entry.traits.depth;
}

void ReuseEvictor::count_use(Ages::Entry& entry, WrappingMs now_ms) {
  if (model_.used_again(entry.cell)) rank_again();
  ++entry.traits.uses;
  entry.traits.hint = UseHint::kNone;
  entry.traits.has_gap = true;
  entry.traits.gap_ms = now_ms - entry.used_ms;
  entry.used_ms = now_ms;
}

// The children's links to it are void from now on.
void ReuseEvictor::adopt(BlockId block, BlockId parent) {
  Kin& kin = kin_[index_of(block)];
  kin = {.parent = parent, .parent_life = 0, .life = kin.life + 1, .children = 0, .list = kUnlisted};
  if (parent == BlockId::kNone) return;
  Kin& of_parent = kin_[index_of(parent)];
  kin.parent_life = of_parent.life;
  if (of_parent.children++ == 0) unlist(parent);
}

void ReuseEvictor::orphan(BlockId block) {
  Kin& kin = kin_[index_of(block)];
  ++kin.life;
  if (kin.parent == BlockId::kNone) return;
  Kin& of_parent = kin_[index_of(kin.parent)];
  if (of_parent.life == kin.parent_life && --of_parent.children == 0) list_coldest(kin.parent);
}

void ReuseEvictor::enter(BlockId block) {
  ages_.enter(place_of(block));
  const ReuseModel::Cell cell = ages_[place_of(block)].cell;
  model_.got_to(cell);
  if (kin_[index_of(block)].children == 0) list(block, cell + 1);
}

void ReuseEvictor::access(BlockId block) {
  const WrappingMs now_ms = (*blocks_)[block].access_ms;
  let_time_pass(now_ms);
  unlist(block);
  ages_.leave(place_of(block));
  count_use(ages_[place_of(block)], now_ms);
  enter(block);
}

// From here on time counts anew, in a class of blocks of which the same was said.
void ReuseEvictor::hint(BlockId block, UseHint hint, WrappingMs now_ms) {
  let_time_pass(now_ms);
  Ages::Entry& entry = ages_[place_of(block)];
  unlist(block);
  model_.take_back(entry.cell);
  ages_.leave(place_of(block));
  entry.traits.hint = hint;
  entry.used_ms = now_ms;
  enter(block);
}

void ReuseEvictor::insert_coldest(BlockId block) {
  insert(block, BlockId::kNone);
  unlist(block);
  list_coldest(block);
}

void ReuseEvictor::remember(BlockId block) {
  if (ghosts_max_ == 0) return;
  const std::uint64_t fingerprint = ghosts_.fingerprint((*blocks_)[block]);
  if (const std::uint32_t known = ghosts_.find(fingerprint); known != Ghosts::kNone) drop_ghost(known);
  if (ghosts_.size(0) >= ghosts_max_) drop_ghost(ghosts_.oldest(0));
  ages_.move(place_of(block), place_of_ghost(ghosts_.insert(0, fingerprint)));
}

void ReuseEvictor::drop_ghost(std::uint32_t ghost) {
  ages_.leave(place_of_ghost(ghost));
  ghosts_.erase(ghost);
}

void ReuseEvictor::remove(BlockId block) {
  unlist(block);
  ages_.leave(place_of(block));
  orphan(block);
  --size_;
}

void ReuseEvictor::let_time_pass(WrappingMs now_ms) {
  for (std::uint32_t i = 0; i < kAgedACall; ++i) {
    const Ages::Place place = ages_.find_aged(now_ms, model_);
    if (place == Ages::kNone) return;
    ages_.age(place);
    const ReuseModel::Cell cell = ages_[place].cell;
    model_.got_to(cell);
    if (place >= blocks_max_ || kin_[place].list == kUnlisted) continue;
    unlist(BlockId{place});
    list(BlockId{place}, cell + 1);
  }
}

void ReuseEvictor::list(BlockId block, std::uint16_t where) {
  candidates_[where].push_hottest(block);
  kin_[index_of(block)].list = where;
  if (where == kDeferred) return;
  const std::uint32_t rank = model_.rank_of(where - 1);
  ranked_[rank / 64] |= std::uint64_t{1} << (rank % 64);
}

// What continued it left, or it was adopted: the next of its cell.
void ReuseEvictor::list_coldest(BlockId block) {
  const std::uint16_t where = ages_[place_of(block)].cell + 1;
  candidates_[where].push_coldest(block);
  kin_[index_of(block)].list = where;
  const std::uint32_t rank = model_.rank_of(where - 1);
  ranked_[rank / 64] |= std::uint64_t{1} << (rank % 64);
}

void ReuseEvictor::unlist(BlockId block) {
  Kin& kin = kin_[index_of(block)];
  if (kin.list == kUnlisted) return;
  if (mark() == block) set_mark(after(block));
  candidates_[kin.list].remove(block);
  if (kin.list != kDeferred && candidates_[kin.list].size() == 0) {
    const std::uint32_t rank = model_.rank_of(kin.list - 1);
    ranked_[rank / 64] &= ~(std::uint64_t{1} << (rank % 64));
  }
  kin.list = kUnlisted;
}

void ReuseEvictor::rank_again() {
  model_.learn();
  ranked_ = {};
  for (std::uint32_t rank = 0; rank < ReuseModel::kCells; ++rank) {
    if (candidates_[model_.cell_at(rank) + 1].size() > 0)
      ranked_[rank / 64] |= std::uint64_t{1} << (rank % 64);
  }
}

void ReuseEvictor::defer(BlockId block) {
  unlist(block);
  list(block, kDeferred);
}

BlockId ReuseEvictor::first_from(std::uint32_t rank) const {
  for (std::uint32_t word = rank / 64; word < kWords; ++word) {
    const std::uint64_t from = word == rank / 64 ? ~std::uint64_t{0} << (rank % 64) : ~std::uint64_t{0};
    const std::uint64_t ranked = ranked_[word] & from;
    if (ranked == 0) continue;
    return candidates_[model_.cell_at(word * 64 + static_cast<std::uint32_t>(std::countr_zero(ranked))) + 1]
        .coldest();
  }
  return candidates_[kDeferred].coldest();
}

BlockId ReuseEvictor::after(BlockId block) {
  const std::uint16_t where = kin_[index_of(block)].list;
  if (where == kUnlisted) return BlockId::kNone;
  const BlockId next = candidates_[where].after(block);
  if (next != BlockId::kNone || where == kDeferred) return next;
  const std::uint32_t rank = model_.rank_of(where - 1);
  return rank + 1 < ReuseModel::kCells ? first_from(rank + 1) : candidates_[kDeferred].coldest();
}

}  // namespace kvtier
