#include "tests/unit/tier/tier_world.h"

#include <algorithm>

#include "libkvclient/wire/spec.h"
#include "tests/support/pattern_block.h"

namespace kvtier::test {

std::shared_ptr<const DiskSpace> world_space(const std::string& namespace_name, const std::string& revision,
                                             NamespaceId tenant, SpaceId space) {
  Spec spec;
  spec.model = "sim";
  spec.revision = revision;
  spec.tokenizer = "1";
  spec.parts = {{"kv", kWorldBlockBytes, 0, 2, 1, 64, "f16", "[layer][k,v][token][head][dim]"}};
  auto made = std::make_shared<DiskSpace>();
  made->tenant = tenant;
  made->space = space;
  made->namespace_name = namespace_name;
  made->encoding = encode_spec(spec).value();
  made->digest = sha256(made->encoding);
  made->block_bytes = spec.block_bytes();
  return made;
}

TierWorld::TierWorld(SimDisk& disk, const TierWorldOptions& options)
    : options_(options), memory_((std::size_t{options.slots} + 1) * kWorldSlotBytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  slots_ =
      std::span(memory_).subspan(round_up(address, kPageBytes) - address, options.slots * kWorldSlotBytes);
  auto device = std::make_unique<SimDiskBackend>(disk, SimDiskOptions{.depth = 16});
  device_ = device.get();
  auto faulty = std::make_unique<FaultyBackend>(std::move(device), 1);
  faulty_ = faulty.get();
  DiskAgentParts parts;
  parts.ring = std::make_unique<IoRing>(std::move(faulty), IoRingOptions{.requests_max = 64});
  for (std::uint32_t i = 0; i < options.paths; ++i) {
    const std::string path = "path" + std::to_string(i);
    if (disk.open(path) < 0) disk.create(path, kSegmentsOffset + options.segments * options.segment_bytes);
    KV_CHECK(parts.ring->set_file(IoFile{i}, disk.open(path), kAlignmentMin).is_ok(),
             "a place for each path");
    parts.files.push_back({.file = IoFile{i},
                           .bytes = disk.image(disk.open(path)).size(),
                           .home = {.inode = i + 1, .birth_ns = 7, .fsid = 9}});
  }
  if (options.has_folder) {
    const std::string& folder = options.folder.empty() ? own_folder_.path() : options.folder;
    KV_CHECK(parts.catalog.add_folder(folder).is_ok(), "the folder takes a file of spaces");
    known = parts.catalog.spaces();
  }
  DiskAgentOptions agent{.slabs_max = 4, .budget = options.budget};
  agent.store.puts_max = options.puts_max;
  agent.store.gets_max = 256;
  agent.store.block_bytes_max = 64 * kKiB;
  agent.store.segment_bytes = options.segment_bytes;
  agent.store.marks_max = 512;
  agent.store.fresh_store = {{0x1234, 0x5678}};
  agent.store.io_deadline_ns = kNsPerSecond;
  agent_ = std::make_unique<DiskAgent>(agent, std::move(parts), channel_);
  port_ = std::make_unique<MailboxDiskPort>(channel_);
}

TierWorld::~TierWorld() {
  faulty_->thaw();
}

void TierWorld::step() {
  (void)agent_->do_work(clock_.now_ns());
  DiskNews each;
  while (is_receiving && port_->receive(each)) {
    news.push_back(each);
    if (each.kind != DiskNewsKind::kQuestion || !on_question) continue;
    send({.kind = DiskCommandKind::kAnswer, .answer = on_question(each), .tag = each.tag});
  }
  const TimeNs next_ns = agent_->next_deadline_ns();
  const TimeNs now_ns = clock_.now_ns();
  clock_.advance(next_ns != kNever && next_ns > now_ns ? std::min<TimeNs>(next_ns - now_ns, kNsPerMs)
                                                       : kNsPerUs);
}

bool TierWorld::run(const std::function<bool()>& is_done, std::size_t rounds) {
  for (std::size_t i = 0; i < rounds && !is_done(); ++i) step();
  return is_done();
}

void TierWorld::send(const DiskCommand& command) {
  KV_CHECK(port_->send(command), "the test's mailbox has room");
}

void TierWorld::add_slab() {
  send({.kind = DiskCommandKind::kSlabAdd,
        .slab = SlabIndex{0},
        .data = slots_.data(),
        .bytes = slots_.size()});
}

bool TierWorld::open() {
  add_slab();
  send({.kind = DiskCommandKind::kSpace, .described = space});
  send({.kind = DiskCommandKind::kOpen});
  return run([&] { return count(DiskNewsKind::kReady) + count(DiskNewsKind::kRefused) > 0; }) &&
         count(DiskNewsKind::kReady) > 0;
}

std::size_t TierWorld::count(DiskNewsKind kind) const {
  return static_cast<std::size_t>(std::ranges::count(news, kind, &DiskNews::kind));
}

const DiskNews* TierWorld::last(DiskNewsKind kind) const {
  const auto found =
      std::find_if(news.rbegin(), news.rend(), [&](const DiskNews& each) { return each.kind == kind; });
  return found == news.rend() ? nullptr : &*found;
}

Key TierWorld::key(std::uint64_t number) {
  return pattern_key(1, number);
}

std::span<std::byte> TierWorld::slot(std::uint32_t slot) {
  return slots_.subspan(slot * kWorldSlotBytes, kWorldSlotBytes);
}

DiskCommand TierWorld::put(std::uint64_t number, std::uint32_t at, bool is_group_end) {
  fill_pattern(key(number), slot(at).first(kWorldBlockBytes));
  return {.kind = DiskCommandKind::kPut,
          .is_group_end = is_group_end,
          .tenant = space->tenant,
          .space = space->space,
          .slab = SlabIndex{0},
          .tag = number,
          .key = key(number),
          .data = slot(at).data()};
}

DiskCommand TierWorld::get(std::uint64_t number, std::uint32_t at, const DiskLocator& locator) {
  std::ranges::fill(slot(at), std::byte{0xee});
  return {.kind = DiskCommandKind::kGet,
          .tenant = space->tenant,
          .space = space->space,
          .slab = SlabIndex{0},
          .tag = number,
          .key = key(number),
          .locator = locator,
          .data = slot(at).data()};
}

}  // namespace kvtier::test
