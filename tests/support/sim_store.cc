#include "tests/support/sim_store.h"

#include <algorithm>
#include <cstring>

#include "daemon/disk/format_parts.h"
#include "daemon/disk/format_seal.h"
#include "tests/support/pattern_block.h"

namespace kvtier::test {
namespace {

constexpr IoRegion kSlotsRegion{1};

std::array<std::uint64_t, 12> flat(const DiskKey& key) {
  std::array<std::uint64_t, 12> words;
  std::memcpy(words.data(), &key, sizeof key);
  return words;
}

}  // namespace

DiskKey sim_key(std::uint64_t number, std::uint64_t space) {
  return {namespace_digest("tenant"), pattern_key(7, space), pattern_key(1, number)};
}

DiskRecord sim_shape(std::uint32_t bytes) {
  Spec spec;
  spec.model = "sim";
  spec.revision = "1";
  spec.tokenizer = "1";
  spec.parts = {{"kv", bytes, 0, 2, 1, 64, "f16", "[layer][k,v][token][head][dim]"}};
  DiskRecord shape{};
  KV_CHECK(plan_raw_parts(spec, shape).is_ok(), "the spec is valid");
  return shape;
}

SimStoreOptions small_sim_options() {
  SimStoreOptions options;
  options.store.puts_max = 256;
  options.store.gets_max = 256;
  options.store.flushes_max = 16;
  options.store.marks_max = 512;
  options.store.block_bytes_max = 64 * kKiB;
  options.store.segment_bytes = 128 * kKiB;
  options.store.fresh_store = {{0x1234, 0x5678}};
  options.store.scratch_region = IoRegion{0};
  options.store.io_deadline_ns = kNsPerSecond;
  options.store.probe_interval_ns = 100 * kNsPerMs;
  return options;
}

SimStore::SimStore(SimDisk& disk, const SimStoreOptions& options, std::size_t paths, std::uint64_t file_bytes)
    : disk_(disk),
      options_(options),
      memory_((std::size_t{options.slots} + 1) * options.slot_bytes + kPageBytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  slots_ = std::span(memory_)
               .subspan(round_up(address, kPageBytes) - address)
               .first(options.slots * std::size_t{options.slot_bytes});
  for (std::size_t i = options.slots; i-- > 0;) free_slots_.insert(i);
  auto device =
      std::make_unique<SimDiskBackend>(disk, SimDiskOptions{.seed = options.seed, .depth = options.depth});
  device_ = device.get();
  auto faulty = std::make_unique<FaultyBackend>(std::move(device), options.seed);
  faulty_ = faulty.get();
  ring_ = std::make_unique<IoRing>(std::move(faulty), IoRingOptions{.requests_max = options.requests_max});
  std::vector<StoreFile> files;
  for (std::size_t i = 0; i < paths; ++i) {
    const std::string path = "path" + std::to_string(i);
    if (disk.open(path) < 0) disk.create(path, file_bytes);
    files_.push_back(disk.open(path));
    const IoFile file{static_cast<std::uint32_t>(i)};
    KV_CHECK(ring_->set_file(file, files_.back(), kAlignmentMin).is_ok(),
             "the ring has a place for each path");
    files.push_back({.file = file,
                     .bytes = disk.image(files_.back()).size(),
                     .home = {options.home.inode + i, options.home.birth_ns, options.home.fsid}});
  }
  KV_CHECK(ring_->set_region(kSlotsRegion, slots_).is_ok(), "the ring has a place for the slots");
  store_ = std::make_unique<DiskStore>(options.store, *ring_, files);
}

SimStore::~SimStore() {
  faulty_->thaw();
  ring_.reset();
}

std::span<std::byte> SimStore::slot_of(std::size_t slot) {
  return slots_.subspan(slot * std::size_t{options_.slot_bytes}, options_.slot_bytes);
}

void SimStore::step() {
  const std::size_t work = store_->do_work(clock_.now_ns());
  DiskEvent event;
  while (store_->poll(event)) handle(event);
  const TimeNs next_ns = store_->next_deadline_ns();
  const TimeNs now_ns = clock_.now_ns();
  // As an agent sleeps: not before there is no work, and then until something is due.
  const bool is_asleep = work == 0 && next_ns != kNever && next_ns > now_ns;
  clock_.advance(is_asleep ? next_ns - now_ns : kNsPerUs);
}

bool SimStore::run(const std::function<bool()>& is_done, std::size_t rounds) {
  for (std::size_t i = 0; i < rounds && !is_done(); ++i) step();
  return is_done();
}

bool SimStore::open() {
  return run([&] { return store_->is_ready() || last(DiskEventKind::kRefused) != nullptr; }) &&
         store_->is_ready();
}

bool SimStore::settle() {
  return run([&] { return uses_.empty() && open_jobs_ == 0; });
}

DiskMemory SimStore::take_slot(std::uint64_t tag, const DiskKey& key, std::uint32_t bytes, bool is_get) {
  const std::size_t slot = *free_slots_.begin();
  free_slots_.erase(free_slots_.begin());
  uses_[tag] = {key, slot, bytes, is_get};
  const std::span<std::byte> memory = slot_of(slot);
  std::memset(memory.data(), 0xee, memory.size());
  if (!is_get) fill_pattern(key.key, memory.first(bytes));
  return {kSlotsRegion, memory.data(), memory.size()};
}

void SimStore::give_back(std::uint64_t tag) {
  free_slots_.insert(uses_.at(tag).slot);
  uses_.erase(tag);
}

Code SimStore::put(std::span<const DiskKey> keys, std::uint32_t bytes) {
  if (free_slots_.size() < keys.size()) return Code::kBusy;
  if (!shapes_.contains(bytes)) shapes_[bytes] = sim_shape(bytes);
  std::vector<DiskPut> puts;
  for (const DiskKey& key : keys) {
    const std::uint64_t tag = next_tag_++;
    puts.push_back(
        {.key = key, .shape = &shapes_[bytes], .memory = take_slot(tag, key, bytes, false), .tag = tag});
  }
  const Code code = store_->put(puts);
  if (code != Code::kOk) {
    for (std::size_t i = puts.size(); i-- > 0;) give_back(puts[i].tag);
  }
  return code;
}

Code SimStore::get(const DiskKey& key, TimeNs deadline_ns) {
  return get(std::span(&key, 1), deadline_ns);
}

Code SimStore::get(std::span<const DiskKey> keys, TimeNs deadline_ns) {
  if (free_slots_.size() < keys.size()) return Code::kBusy;
  std::vector<DiskGet> gets;
  for (const DiskKey& key : keys) {
    const auto found = index_.find(flat(key));
    if (found == index_.end()) continue;
    const std::uint64_t tag = next_tag_++;
    gets.push_back({.key = key,
                    .locator = found->second.locator,
                    .block_bytes = found->second.block_bytes,
                    .memory = take_slot(tag, key, found->second.block_bytes, true),
                    .deadline_ns = deadline_ns,
                    .tag = tag});
  }
  const Code code = gets.empty() ? Code::kNotFound : store_->get(gets);
  if (code != Code::kOk) {
    for (std::size_t i = gets.size(); i-- > 0;) give_back(gets[i].tag);
  }
  return code;
}

Code SimStore::flush() {
  const Code code = store_->flush(next_tag_);
  if (code == Code::kOk) ++next_tag_, ++open_jobs_;
  return code;
}

namespace {

bool is_hit(const DiskKey& mark, const DiskKey& key) {
  return key.tenant == mark.tenant && (mark.space.is_zero() || key.space == mark.space) &&
         (mark.key.is_zero() || key.key == mark.key);
}

}  // namespace

bool SimStore::is_void(const DiskKey& key, std::uint64_t born) const {
  return std::any_of(marks_.begin(), marks_.end(),
                     [&](const auto& mark) { return born < mark.second && is_hit(mark.first, key); });
}

Code SimStore::mark(const DiskKey& key) {
  const Code code = store_->mark({.key = key, .tag = next_tag_});
  if (code != Code::kOk) return code;
  ++next_tag_;
  ++open_jobs_;
  marks_.emplace_back(key, store_->stamp());
  std::vector<DiskKey> gone;
  for (const auto& [words, entry] : index_) {
    DiskKey each;
    std::memcpy(static_cast<void*>(&each), words.data(), sizeof each);
    if (is_hit(key, each)) gone.push_back(each);
  }
  for (const DiskKey& each : gone) evict(each);
  return code;
}

void SimStore::close() {
  store_->close(next_tag_++);
  ++open_jobs_;
}

std::optional<DiskLocator> SimStore::find(const DiskKey& key) const {
  const auto found = index_.find(flat(key));
  return found == index_.end() ? std::nullopt : std::optional(found->second.locator);
}

void SimStore::evict(const DiskKey& key) {
  const auto found = index_.find(flat(key));
  if (found == index_.end()) return;
  store_->forget(found->second.locator);
  index_.erase(found);
}

void SimStore::name(const DiskKey& key, const Indexed& entry) {
  evict(key);
  index_[flat(key)] = entry;
}

void SimStore::handle(const DiskEvent& event) {
  if (event.kind != DiskEventKind::kEntry && event.kind != DiskEventKind::kProgress) events.push_back(event);
  const std::optional<DiskLocator> named = find(event.key);
  switch (event.kind) {
    case DiskEventKind::kPut:
      on_put(event);
      break;
    case DiskEventKind::kGet:
      on_get(event);
      break;
    case DiskEventKind::kReleased:
      give_back(event.tag);
      break;
    case DiskEventKind::kFlushed:
    case DiskEventKind::kMarked:
    case DiskEventKind::kClosed:
      --open_jobs_;
      break;
    case DiskEventKind::kEntry:
      on_entry(event);
      break;
    case DiskEventKind::kAsk:
      on_ask();
      break;
    case DiskEventKind::kMoved:
      if (named == event.old) {
        name(event.key, {event.locator, event.born, event.block_bytes});
      } else {
        store_->forget(event.locator);
      }
      break;
    case DiskEventKind::kDropped:
      if (named == event.old) evict(event.key);
      break;
    case DiskEventKind::kReady:
    case DiskEventKind::kRefused:
    case DiskEventKind::kProgress:
    case DiskEventKind::kPath:
      break;
  }
  if (on_event) on_event(event);
}

void SimStore::on_put(const DiskEvent& event) {
  const Use use = uses_.at(event.tag);
  if (event.code == Code::kOk && is_void(event.key, event.born)) {
    store_->forget(event.locator);  // invalidated while it was on its way
  } else if (event.code == Code::kOk) {
    name(event.key, {event.locator, event.born, use.bytes});
  }
  if (!event.is_held) give_back(event.tag);
}

void SimStore::on_get(const DiskEvent& event) {
  const Use use = uses_.at(event.tag);
  if (event.code == Code::kOk) {
    const std::span<const std::byte> bytes = slot_of(use.slot).first(use.bytes);
    if (check_pattern(use.key.key, bytes) != bytes.size()) ++wrong_bytes;
  }
  if (event.is_dropped && find(event.key) == event.locator) evict(event.key);
  if (!event.is_held) give_back(event.tag);
}

void SimStore::on_entry(const DiskEvent& event) {
  const std::optional<DiskLocator> named = find(event.key);
  if (named.has_value() && named->sequence > event.locator.sequence) {
    store_->forget(event.locator);
  } else {
    name(event.key, {event.locator, event.born, event.block_bytes});
  }
}

void SimStore::on_ask() {
  std::vector<ReclaimAnswer> answers;
  for (const ReclaimQuestion& question : store_->questions()) {
    if (find(question.key) != question.locator) {
      answers.push_back(ReclaimAnswer::kDead);
      continue;
    }
    answers.push_back(on_question ? on_question(question) : ReclaimAnswer::kKeep);
    if (answers.back() == ReclaimAnswer::kDrop) evict(question.key);
  }
  store_->answer(answers);
}

const DiskEvent* SimStore::last(DiskEventKind kind) const {
  const auto found =
      std::find_if(events.rbegin(), events.rend(), [&](const DiskEvent& each) { return each.kind == kind; });
  return found == events.rend() ? nullptr : &*found;
}

Code SimStore::read(const DiskKey& key) {
  const Code begun = get(key);
  if (begun != Code::kOk) return begun;
  return settle() ? last(DiskEventKind::kGet)->code : Code::kPending;
}

Code SimStore::put_one(const DiskKey& key, std::uint32_t bytes) {
  const Code begun = put(std::span(&key, 1), bytes);
  if (begun != Code::kOk) return begun;
  return settle() ? last(DiskEventKind::kPut)->code : Code::kPending;
}

Code SimStore::flush_now() {
  const Code begun = flush();
  if (begun != Code::kOk) return begun;
  return settle() ? last(DiskEventKind::kFlushed)->code : Code::kPending;
}

Code SimStore::mark_now(const DiskKey& key) {
  const Code begun = mark(key);
  if (begun != Code::kOk) return begun;
  return settle() ? last(DiskEventKind::kMarked)->code : Code::kPending;
}

}  // namespace kvtier::test
