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
// What could not leave is a candidate like others again after that: leases are short.
constexpr WrappingMs kDeferredMs = 1000;

}  // namespace

ReuseEvictor::ReuseEvictor(BlockTable& blocks, std::uint64_t seed, std::shared_ptr<ReuseEntries> entries)
    : blocks_(&blocks),
      blocks_max_(blocks.blocks_max()),
      entries_(entries != nullptr ? std::move(entries) : std::make_shared<ReuseEntries>(blocks_max_)),
      ages_(*entries_, ghosts_for(blocks_max_) + 1),
      ghosts_(ghosts_for(blocks_max_), seed),
      candidates_(std::size_t{kDeferred} + 1, BlockList(blocks)) {}

void ReuseEvictor::set_capacity(std::uint32_t blocks) {
  ghosts_max_ = ghosts_for(std::min(blocks, blocks_max_));
  while (ghosts_.size(0) > ghosts_max_) drop_ghost(ghosts_.oldest(0));
}

void ReuseEvictor::insert(BlockId block, BlockId parent) {
  const BlockRecord& record = (*blocks_)[block];
  let_time_pass(record.access_ms);
  ReuseEntry& entry = entry_of(block);
  const std::uint32_t ghost = ghosts_.find(ghosts_.fingerprint(record));
  if (ghost == Ghosts::kNone) {
    entry = {.traits = {}, .used_ms = record.access_ms};
    inherit(entry, parent);
  } else {
    entry = ages_[ages_.place_of_ghost(ghost)];
    count_use(entry, record.access_ms);
    drop_ghost(ghost);
    ++ghost_hits_;
  }
  ++size_;
  if (parent != BlockId::kNone) unlist(parent);
  list(block, enter(block) + 1);
}

void ReuseEvictor::inherit(ReuseEntry& entry, BlockId parent) const {
  if (parent == BlockId::kNone) return;
  entry.traits = entry_of(parent).traits;
  entry.traits.uses = 0;
  entry.traits.hint = UseHint::kNone;
  entry.traits.depth = one_more(entry.traits.depth);
}

void ReuseEvictor::count_use(ReuseEntry& entry, WrappingMs now_ms) {
  model_.used_again(entry.cell);
  entry.traits.uses = one_more(entry.traits.uses);
  entry.traits.hint = UseHint::kNone;
  entry.traits.has_gap = true;
  entry.traits.gap_ms = now_ms - entry.used_ms;
  entry.used_ms = now_ms;
}

ReuseModel::Cell ReuseEvictor::enter(BlockId block) {
  ReuseEntry& entry = entry_of(block);
  entry.set_list(kUnlisted);
  ages_.enter(place_of(block));
  model_.got_to(entry.cell);
  return entry.cell;
}

void ReuseEvictor::access(BlockId block) {
  const WrappingMs now_ms = (*blocks_)[block].access_ms;
  let_time_pass(now_ms);
  const bool is_candidate = entry_of(block).list() != kUnlisted;
  unlist(block);
  ages_.leave(place_of(block));
  count_use(entry_of(block), now_ms);
  const ReuseModel::Cell cell = enter(block);
  if (is_candidate) list(block, cell + 1);
}

// From here on time counts anew, in a class of blocks of which the same was said.
void ReuseEvictor::hint(BlockId block, UseHint hint, WrappingMs now_ms) {
  let_time_pass(now_ms);
  ReuseEntry& entry = entry_of(block);
  const bool is_candidate = entry.list() != kUnlisted;
  unlist(block);
  model_.take_back(entry.cell);
  ages_.leave(place_of(block));
  entry.traits.hint = hint;
  entry.used_ms = now_ms;
  const ReuseModel::Cell cell = enter(block);
  if (is_candidate) list(block, cell + 1);
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
  ages_.move(place_of(block), ages_.place_of_ghost(ghosts_.insert(0, fingerprint)));
}

void ReuseEvictor::drop_ghost(std::uint32_t ghost) {
  ages_.leave(ages_.place_of_ghost(ghost));
  ghosts_.erase(ghost);
}

void ReuseEvictor::remove(BlockId block) {
  unlist(block);
  ages_.leave(place_of(block));
  --size_;
}

// What comes with time: a lesson a little at a time, and blocks that are past the end of their cells.
void ReuseEvictor::let_time_pass(WrappingMs now_ms) {
  if (model_.learn_some()) rank_again();
  if (now_ms - deferred_ms_ >= kDeferredMs) look_again(now_ms);
  for (std::uint32_t i = 0; i < kAgedACall; ++i) {
    const Ages::Place place = ages_.find_aged(now_ms, model_);
    if (place == Ages::kNone) return;
    ages_.age(place);
    const ReuseModel::Cell cell = ages_[place].cell;
    model_.got_to(cell);
    if (place >= blocks_max_ || ages_[place].list() == kUnlisted) continue;
    unlist(BlockId{place});
    list(BlockId{place}, cell + 1);
  }
}

void ReuseEvictor::look_again(WrappingMs now_ms) {
  deferred_ms_ = now_ms;
  for (std::uint32_t i = 0; i < kAgedACall && candidates_[kDeferred].size() > 0; ++i) {
    const BlockId block = candidates_[kDeferred].coldest();
    unlist(block);
    list_coldest(block);
  }
}

void ReuseEvictor::list(BlockId block, std::uint16_t where) {
  candidates_[where].push_hottest(block);
  entry_of(block).set_list(where);
  note_listed(where);
}

// What continued it left, or it was adopted: the next of its cell.
void ReuseEvictor::list_coldest(BlockId block) {
  ReuseEntry& entry = entry_of(block);
  const std::uint16_t where = entry.cell + 1;
  entry.set_list(where);
  candidates_[where].push_coldest(block);
  note_listed(where);
}

void ReuseEvictor::note_listed(std::uint16_t where) {
  if (where == kDeferred) return;
  const std::uint32_t rank = model_.rank_of(where - 1);
  ranked_[rank / 64] |= std::uint64_t{1} << (rank % 64);
}

void ReuseEvictor::unlist(BlockId block) {
  ReuseEntry& entry = entry_of(block);
  const std::uint16_t where = entry.list();
  if (where == kUnlisted) return;
  if (mark() == block) set_mark(after(block));
  candidates_[where].remove(block);
  entry.set_list(kUnlisted);
  if (where == kDeferred || candidates_[where].size() > 0) return;
  const std::uint32_t rank = model_.rank_of(where - 1);
  ranked_[rank / 64] &= ~(std::uint64_t{1} << (rank % 64));
}

void ReuseEvictor::rank_again() {
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

void ReuseEvictor::released(BlockId block) {
  if (!entry_of(block).is_known() || entry_of(block).list() != kDeferred) return;
  unlist(block);
  list_coldest(block);
}

void ReuseEvictor::passed_over(BlockId block, bool /*is_clean*/) {
  unlist(block);
}

bool ReuseEvictor::became_leaf(BlockId block, BlockId next) {
  const ReuseEntry& entry = entry_of(block);
  if (!entry.is_known()) return false;
  if (entry.list() == kUnlisted) list_coldest(block);
  return next == BlockId::kNone || rank_of_list(entry.list()) <= rank_of_list(entry_of(next).list());
}

std::uint32_t ReuseEvictor::rank_of_list(std::uint16_t where) const {
  return where == kDeferred || where == kUnlisted ? ReuseModel::kCells : model_.rank_of(where - 1);
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
  const std::uint16_t where = entry_of(block).list();
  if (where == kUnlisted) return BlockId::kNone;
  const BlockId next = candidates_[where].after(block);
  if (next != BlockId::kNone || where == kDeferred) return next;
  const std::uint32_t rank = model_.rank_of(where - 1);
  return rank + 1 < ReuseModel::kCells ? first_from(rank + 1) : candidates_[kDeferred].coldest();
}

std::uint64_t ReuseEvictor::bytes_resident() const {
  return candidates_.size() * sizeof(BlockList) + ghosts_.places_used() * sizeof(ReuseEntry) +
         ghosts_.bytes_resident() + ReuseModel::kBytes;
}

}  // namespace kvtier
