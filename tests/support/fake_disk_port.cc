#include "tests/support/fake_disk_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "libkvclient/base/checksum.h"

namespace kvtier::test {

DiskLocator fake_locator(std::uint64_t sequence) {
  return {.sequence = sequence,
          .use = 1 << 16,
          .segment = static_cast<std::uint32_t>(sequence),
          .payload_bytes = 1};
}

void FakeDisk::cut_power() {
  std::erase_if(copies, [&](const auto& each) { return !durable.contains(each.first); });
}

std::size_t FakeDisk::count_of(const Key& key) const {
  return static_cast<std::size_t>(
      std::count_if(copies.begin(), copies.end(), [&](const auto& each) { return each.second.key == key; }));
}

const DiskSpace* FakeDiskPort::described(const DiskCommand& command) const {
  const auto found = spaces_.find({command.tenant, command.space});
  return found == spaces_.end() ? nullptr : found->second.get();
}

std::span<std::byte> FakeDiskPort::bytes_of(const DiskCommand& command) const {
  return {command.data, described(command)->block_bytes};
}

void FakeDiskPort::check_group(const DiskCommand& command) {
  const bool is_grouped = command.kind == DiskCommandKind::kPut || command.kind == DiskCommandKind::kGet;
  EXPECT_TRUE(group_.empty() || command.kind == group_kind_) << "a group is not ended";
  if (!is_grouped) return;
  group_kind_ = command.kind;
  group_.push_back(command.key);
  EXPECT_LE(group_.size(), kDiskGroupMax);
  if (!command.is_group_end) return;
  (command.kind == DiskCommandKind::kPut ? put_groups : get_groups).push_back(std::move(group_));
  group_.clear();
}

void FakeDiskPort::check(const DiskCommand& command) {
  if (command.kind != DiskCommandKind::kForget) check_group(command);
  EXPECT_FALSE(is_closed_);
  if (command.kind != DiskCommandKind::kPut && command.kind != DiskCommandKind::kGet) return;
  EXPECT_TRUE(is_ready_);
  ASSERT_NE(described(command), nullptr) << "a space was not described";
  const auto slab = slabs_.find(command.slab);
  ASSERT_NE(slab, slabs_.end()) << "a slab was not added";
  const auto at = static_cast<std::uint64_t>(command.data - slab->second.first);
  EXPECT_LE(at + described(command)->block_bytes, slab->second.second);
  for (const Open& open : open_) {
    EXPECT_FALSE(open.command.data == command.data && open.command.kind != DiskCommandKind::kSlabAdd)
        << "a slot with two uses";
  }
  for (const DiskCommand& held : held_) EXPECT_NE(held.data, command.data) << "a slot that a device holds";
  if (command.kind == DiskCommandKind::kGet) {
    EXPECT_TRUE(known_.contains(command.locator.sequence)) << "forgets may overtake it";
  }
}

bool FakeDiskPort::send(const DiskCommand& command) {
  if (open_.size() >= commands_max) return false;
  check(command);
  Open open{.command = command};
  if (command.kind == DiskCommandKind::kForget) {
    EXPECT_EQ(owned_.erase(command.locator.sequence), 1U) << "forgotten once, by who was given it";
    ++forgets;
    return true;
  }
  if (command.kind == DiskCommandKind::kSpace) spaces_[{command.tenant, command.space}] = command.described;
  if (command.kind == DiskCommandKind::kSlabAdd) slabs_[command.slab] = {command.data, command.bytes};
  if (command.kind == DiskCommandKind::kPut) open.sum = checksum64(bytes_of(command));
  if (command.kind == DiskCommandKind::kAnswer) answers[command.tag] = command.answer;
  const bool is_silent = command.kind == DiskCommandKind::kSpace ||
                         command.kind == DiskCommandKind::kSlabAdd ||
                         command.kind == DiskCommandKind::kAnswer;
  if (!is_silent) open_.push_back(open);
  return true;
}

bool FakeDiskPort::receive(DiskNews& news) {
  if (is_recovering_ && news_.empty()) recover_some();
  if (is_automatic && news_.empty()) answer();
  if (is_recovering_ && news_.empty()) recover_some();
  if (news_.empty()) return false;
  news = news_.front();
  news_.pop_front();
  // A locator is whose it is told to.
  if (news.kind == DiskNewsKind::kEntry || news.kind == DiskNewsKind::kMoved ||
      (news.kind == DiskNewsKind::kPut && news.code == Code::kOk)) {
    owned_.insert(news.locator.sequence);
    known_.insert(news.locator.sequence);
  }
  return true;
}

void FakeDiskPort::answer(std::size_t count) {
  while (count-- > 0 && !open_.empty()) {
    std::size_t at = 0;
    const bool is_ordered =
        open_[0].command.kind != DiskCommandKind::kPut && open_[0].command.kind != DiskCommandKind::kGet;
    if (chance != nullptr && !is_ordered) {
      // Puts and gets overtake each other, and nothing else.
      std::size_t last = 0;
      while (last < open_.size() && (open_[last].command.kind == DiskCommandKind::kPut ||
                                     open_[last].command.kind == DiskCommandKind::kGet))
        ++last;
      at = chance->below(last);
      if (chance->below(4) == 0) return;
    }
    const Open open = open_[at];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    carry_out(open);
  }
}

void FakeDiskPort::carry_out(const Open& open) {
  const DiskCommand& command = open.command;
  switch (command.kind) {
    case DiskCommandKind::kSlabRemove:
      slabs_.erase(command.slab);
      ++slabs_removed;
      news_.push_back({.kind = DiskNewsKind::kSlabRemoved, .tag = command.tag});
      return;
    case DiskCommandKind::kOpen:
      return open_disk();
    case DiskCommandKind::kPut:
      return put(open);
    case DiskCommandKind::kGet:
      return get(command);
    case DiskCommandKind::kMark:
      return mark(command);
    case DiskCommandKind::kFlush:
      ++flushes;
      if (flush_code == Code::kOk && !flushes_nothing) {
        for (const auto& each : disk_.copies) disk_.durable.insert(each.first);
      }
      news_.push_back({.kind = DiskNewsKind::kFlushed, .code = flush_code, .tag = command.tag});
      return;
    case DiskCommandKind::kClose:
      is_closed_ = true;
      news_.push_back({.kind = DiskNewsKind::kClosed});
      return;
    default:
      return;
  }
}

void FakeDiskPort::end(const DiskCommand& command, DiskNews news, const Ending& how) {
  news.tag = command.tag;
  news.code = how.code;
  news.is_held = how.is_held;
  news.is_dropped = how.is_dropped;
  news.is_over_budget = how.is_over_budget;
  if (how.is_held) held_.push_back(command);
  news_.push_back(news);
}

void FakeDiskPort::put(const Open& open) {
  const DiskCommand& command = open.command;
  ++puts;
  EXPECT_EQ(checksum64(bytes_of(command)), open.sum) << "a slot that is being written to disk was changed";
  const Ending how = ending ? ending(command) : Ending{};
  DiskNews news{.kind = DiskNewsKind::kPut};
  if (how.code == Code::kOk) {
    const std::uint64_t sequence = disk_.next_sequence++;
    const std::span<std::byte> bytes = bytes_of(command);
    const DiskSpace& space = *described(command);
    disk_.copies[sequence] = {
        space.namespace_name, space.digest, command.key, command.parent, {bytes.begin(), bytes.end()}};
    auto& catalog = disk_.catalog[space.namespace_name];
    if (std::find(catalog.begin(), catalog.end(), space.encoding) == catalog.end())
      catalog.push_back(space.encoding);
    news.locator = fake_locator(sequence);
  }
  end(command, news, how);
}

void FakeDiskPort::get(const DiskCommand& command) {
  ++gets;
  Ending how = ending ? ending(command) : Ending{};
  const auto copy = disk_.copies.find(command.locator.sequence);
  if (copy == disk_.copies.end()) {
    how.code = Code::kStale;
  } else if (how.code == Code::kOk && copy->second.is_corrupt) {
    how = {.code = Code::kCorrupt, .is_dropped = true};
  }
  if (how.code == Code::kOk) {
    EXPECT_EQ(copy->second.key, command.key);
    EXPECT_EQ(copy->second.space, described(command)->digest);
    std::memcpy(command.data, copy->second.bytes.data(), copy->second.bytes.size());
  } else {
    std::memset(command.data, 0xdd, described(command)->block_bytes);  // whatever came before it failed
  }
  end(command, {.kind = DiskNewsKind::kGet}, how);
}

void FakeDiskPort::mark(const DiskCommand& command) {
  ++marks;
  for (const auto& [id, space] : spaces_) {
    if (id.first != command.tenant || (command.space != SpaceId::kNone && id.second != command.space))
      continue;
    std::erase_if(disk_.copies, [&](const auto& each) {
      return each.second.namespace_name == space->namespace_name && each.second.space == space->digest &&
             (command.key.is_zero() || each.second.key == command.key);
    });
  }
  news_.push_back({.kind = DiskNewsKind::kMarked, .tag = command.tag});
}

void FakeDiskPort::release() {
  for (const DiskCommand& each : held_) {
    // A late read; a late write reads.
    if (each.kind == DiskCommandKind::kGet) std::memset(each.data, 0xcc, described(each)->block_bytes);
    news_.push_back({.kind = DiskNewsKind::kReleased, .tag = each.tag});
  }
  held_.clear();
}

void FakeDiskPort::open_disk() {
  if (is_refused) {
    news_.push_back({.kind = DiskNewsKind::kRefused});
    return;
  }
  for (const auto& [sequence, copy] : disk_.copies) to_recover_.push_back(sequence);
  is_recovering_ = true;
}

void FakeDiskPort::recover_some() {
  for (std::size_t i = 0; i < entries_at_once && !to_recover_.empty(); ++i) {
    std::size_t at = chance == nullptr ? 0 : chance->below(to_recover_.size());
    news_.push_back(about(to_recover_[at], DiskNewsKind::kEntry));
    to_recover_.erase(to_recover_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (!to_recover_.empty()) return;
  is_recovering_ = false;
  is_ready_ = true;
  news_.push_back({.kind = DiskNewsKind::kReady});
}

DiskNews FakeDiskPort::about(std::uint64_t sequence, DiskNewsKind kind) const {
  const FakeDisk::Copy& copy = disk_.copies.at(sequence);
  DiskNews news{.kind = kind};
  for (const auto& [id, space] : spaces_) {
    if (space->namespace_name != copy.namespace_name || space->digest != copy.space) continue;
    news.tenant = id.first;
    news.space = id.second;
  }
  news.key = copy.key;
  news.parent = copy.parent;
  news.locator = fake_locator(sequence);
  return news;
}

void FakeDiskPort::ask(std::uint64_t sequence, std::uint64_t tag) {
  DiskNews news = about(sequence, DiskNewsKind::kQuestion);
  news.tag = tag;
  news_.push_back(news);
}

void FakeDiskPort::fail_flush() {
  news_.push_back({.kind = DiskNewsKind::kFlushed, .code = Code::kSystem, .tag = ~std::uint64_t{0}});
}

void FakeDiskPort::move(std::uint64_t sequence) {
  const std::uint64_t to = disk_.next_sequence++;
  DiskNews news = about(sequence, DiskNewsKind::kMoved);
  disk_.copies[to] = disk_.copies.at(sequence);
  disk_.copies.erase(sequence);
  news.old = news.locator;
  news.locator = fake_locator(to);
  news_.push_back(news);
}

void FakeDiskPort::drop(std::uint64_t sequence) {
  DiskNews news = about(sequence, DiskNewsKind::kDropped);
  news.old = news.locator;
  news.locator = {};
  disk_.copies.erase(sequence);
  news_.push_back(news);
}

void FakeDiskPort::cannot_read(std::uint64_t sequence) {
  DiskNews news = about(sequence, DiskNewsKind::kDropped);
  news.code = Code::kSystem;
  news.old = news.locator;
  news.locator = {};
  news_.push_back(news);
}

}  // namespace kvtier::test
