#include "tests/sim/disk_world.h"

#include <algorithm>

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSegmentBytes = 96 * kKiB;
constexpr std::uint32_t kSegments = 7;

SimStoreOptions world_options(const DiskWorldOptions& world, Prng& chance) {
  SimStoreOptions options = small_sim_options();
  options.store.segment_bytes = kSegmentBytes;
  options.store.syncs_left_out = world.syncs_left_out;
  options.store.puts_max = 64;
  options.store.gets_max = 64;
  options.store.marks_max = 128;
  options.seed = chance.next();
  options.slots = 96;
  return options;
}

}  // namespace

DiskWorld::DiskWorld(const DiskWorldOptions& options)
    : options_(options), chance_(options.seed), disk_(chance_.next()), paths_(1 + chance_.below(2)) {
  scrambling_ = std::array<std::uint32_t, 4>{0, 0, 4, 1}[chance_.below(4)];
  if (options_.is_cut_early) scrambling_ = 1;
  for (std::uint64_t space = 0; space < 2; ++space) {
    for (std::uint64_t number = 0; number < kKeys; ++number)
      names_[key_of({number, space}).key.words] = {number, space};
  }
}

std::string DiskWorld::run() {
  for (std::uint32_t i = 0; i < options_.lives && objection_.empty(); ++i) live();
  return objection_;
}

void DiskWorld::object(const std::string& what) {
  if (objection_.empty()) objection_ = what;
}

DiskWorld::Name DiskWorld::name_of(const DiskKey& key) const {
  return names_.at(key.key.words);
}

void DiskWorld::live() {
  begin_life();
  open_and_check();
  if (!is_over_) work();
  end_life();
}

void DiskWorld::begin_life() {
  is_closing_ = is_over_ = false;
  flushes_.clear();
  marks_open_.clear();
  for (auto& [name, fate] : fates_) fate.is_answered = false;
  sim_ = std::make_unique<SimStore>(disk_, world_options(options_, chance_), paths_,
                                    kSegmentsOffset + kSegments * kSegmentBytes);
  sim_->on_event = [this](const DiskEvent& event) { on_event(event); };
  sim_->on_question = [this](const ReclaimQuestion& question) {
    if (chance_.below(5) != 0) return ReclaimAnswer::kKeep;
    end_promise(question.key);
    return ReclaimAnswer::kDrop;
  };
}

void DiskWorld::open_and_check() {
  // Sometimes the cut comes while it opens.
  const bool is_early = chance_.below(options_.is_cut_early && epoch_ > 0 ? 1 : 3) == 0;
  const std::uint64_t rounds = is_early ? chance_.below(120) : 100'000;
  const bool is_open = sim_->run(
      [&] { return sim_->store().is_ready() || sim_->last(DiskEventKind::kRefused) != nullptr; }, rounds);
  if (const DiskEvent* refused = sim_->last(DiskEventKind::kRefused); refused != nullptr)
    object("the store does not open: " + sim_->store().status().to_string());
  if (!is_open) {
    is_over_ = true;
    was_closed_ = false;
    ++stats_.cuts_while_opening;
    return;
  }
  if (sim_->store().epoch() <= epoch_) object("an epoch was used twice");
  epoch_ = sim_->store().epoch();
  // Not before: while its first superblock is half written a file is refused, and nothing is in it yet.
  disk_.set_scrambling(scrambling_);
  if (was_closed_ && !sim_->store().was_closed()) object("a clean end was forgotten");
  if (sim_->store().was_closed() && sim_->store().stats().recovered_scans > 0 && !options_.has_bit_rot)
    object("a segment was open after a clean end");
  was_closed_ = false;
  stats_.must_checked += static_cast<std::uint64_t>(
      std::count_if(fates_.begin(), fates_.end(), [](const auto& each) { return each.second.must_be; }));
  stats_.void_checked += marks_.size();
  check_must("after a start");
}

// Whatever was promised is named by the index at any time, and its bytes can be read.
void DiskWorld::check_must(const char* when) {
  for (const auto& [name, fate] : fates_) {
    if (!fate.must_be || sim_->find(key_of(name)).has_value() || options_.has_bit_rot) continue;
    object("block " + std::to_string(name.first) + " of space " + std::to_string(name.second) + " is gone " +
           when);
  }
}

void DiskWorld::work() {
  const std::uint64_t steps = chance_.below(8) == 0 ? 0 : 1 + chance_.below(options_.steps_max);
  for (std::uint64_t i = 0; i < steps && !is_over_ && objection_.empty(); ++i) step();
}

void DiskWorld::step() {
  if (!is_closing_ && chance_.below(3) == 0) act();
  if (is_closing_ && chance_.below(100) == 0) is_over_ = true;
  sim_->step();
  if (sim_->wrong_bytes > 0) object("wrong bytes were served");
}

void DiskWorld::act() {
  if (++acts_ % 64 == 0) sim_->store().verify(acts_);  // a scrub is never far away
  if (options_.is_closed_often && chance_.below(20) == 0) return close();
  const std::uint64_t what = chance_.below(100);
  if (what < 50) return put();
  if (what < 75) return get();
  if (what < 89) {
    std::vector<Promise> promises;
    for (const auto& [name, fate] : fates_) {
      if (fate.is_answered) promises.push_back({name, fate.version});
    }
    if (sim_->flush() == Code::kOk) flushes_[sim_->last_tag()] = std::move(promises);
    return;
  }
  if (what < 93) return mark();
  if (what < 99) return evict();
  if (chance_.below(3) == 0) close();
}

void DiskWorld::put() {
  std::vector<DiskKey> keys;
  const std::uint64_t space = chance_.below(2);
  const std::uint64_t first = chance_.below(kKeys);
  const std::uint64_t count = 1 + chance_.below(6);
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(key_of({(first + i) % kKeys, space}));
  (void)sim_->put(keys);
}

void DiskWorld::get() {
  std::vector<DiskKey> keys;
  const std::uint64_t space = chance_.below(2);
  const std::uint64_t first = chance_.below(kKeys);
  for (std::uint64_t i = 0; i < 1 + first % 5; ++i) keys.push_back(key_of({(first + i) % kKeys, space}));
  (void)sim_->get(keys);
}

void DiskWorld::evict() {
  const Name name{chance_.below(kKeys), chance_.below(2)};
  end_promise(key_of(name));
  sim_->evict(key_of(name));
}

void DiskWorld::mark() {
  Mark mark{.space = chance_.below(2), .number = chance_.below(4) == 0 ? kKeys : chance_.below(kKeys)};
  DiskKey key = key_of({mark.number % kKeys, mark.space});
  if (mark.number == kKeys) key.key = {};
  mark.before = sim_->store().stamp();
  if (sim_->mark(key) != Code::kOk) return;
  for (std::uint64_t number = 0; number < kKeys; ++number) {
    if (mark.number == kKeys || mark.number == number) end_promise(key_of({number, mark.space}));
  }
  marks_open_[sim_->last_tag()] = marks_.size();
  marks_.push_back(mark);
}

void DiskWorld::close() {
  is_closing_ = true;
  sim_->close();
}

void DiskWorld::end_promise(const DiskKey& key) {
  Fate& fate = fates_[name_of(key)];
  fate.is_answered = fate.must_be = false;
  ++fate.version;
}

void DiskWorld::on_event(const DiskEvent& event) {
  switch (event.kind) {
    case DiskEventKind::kPut:
      // Unless it was voided on its way.
      if (sim_->find(event.key) == event.locator) fates_[name_of(event.key)].is_answered = true;
      return;
    case DiskEventKind::kGet:
      ++(event.code == Code::kOk ? stats_.reads_ok : stats_.reads_refused);
      if (event.code == Code::kOk || event.code == Code::kStale || options_.has_bit_rot) return;
      if (fates_[name_of(event.key)].must_be)
        object("a block that was flushed cannot be read: " + std::string(code_name(event.code)) + " " +
               std::string(disk_fault_name(event.fault)));
      return;
    case DiskEventKind::kFlushed:
      return on_flushed(event);
    case DiskEventKind::kMarked:
      if (event.code == Code::kOk) marks_[marks_open_.at(event.tag)].is_durable = true;
      return;
    case DiskEventKind::kDropped:
      if (event.code != Code::kOk && !options_.has_bit_rot) object("a scrub found damage on sound disks");
      return end_promise(event.key);
    case DiskEventKind::kEntry:
      return on_entry(event);
    case DiskEventKind::kClosed:
      if (event.code != Code::kOk) return;
      was_closed_ = is_over_ = true;
      ++stats_.clean_ends;
      for (auto& [name, fate] : fates_) fate.must_be = fate.must_be || fate.is_answered;
      return;
    default:
      return;
  }
}

void DiskWorld::on_flushed(const DiskEvent& event) {
  const auto flush = flushes_.find(event.tag);
  if (flush == flushes_.end()) return;
  if (event.code == Code::kOk) {
    for (const Promise& promise : flush->second) {
      Fate& fate = fates_[promise.name];
      if (fate.version == promise.version) fate.must_be = true;
    }
  }
  flushes_.erase(flush);
}

// A block that a durable mark voids does not come back.
void DiskWorld::on_entry(const DiskEvent& event) {
  const Name name = name_of(event.key);
  for (const Mark& mark : marks_) {
    const bool is_hit = mark.space == name.second && (mark.number == kKeys || mark.number == name.first);
    if (is_hit && mark.is_durable && event.born < mark.before && !options_.has_bit_rot)
      object("block " + std::to_string(name.first) + " came back after it was voided");
  }
}

void DiskWorld::end_life() {
  std::vector<std::vector<std::uint32_t>> free_segments(paths_);
  const bool was_ready = sim_->store().is_ready();
  for (std::size_t i = 0; i < paths_ && was_ready; ++i) {
    const SegmentTable& table = sim_->store().path(i).segments;
    for (std::uint32_t segment = 0; segment < table.count(); ++segment) {
      if (table[segment].state == SegmentState::kFree) free_segments[i].push_back(segment);
    }
  }
  const DiskStats& stats = sim_->store().stats();
  stats_.store.segments_reclaimed += stats.segments_reclaimed;
  stats_.store.segments_sealed += stats.segments_sealed;
  stats_.store.recovered_scans += stats.recovered_scans;
  stats_.store.recovered_footers += stats.recovered_footers;
  stats_.store.recovered_void += stats.recovered_void;
  stats_.store.blocks_moved += stats.blocks_moved;
  stats_.store.blocks_dropped += stats.blocks_dropped;
  stats_.store.marks_ended += stats.marks_ended;
  stats_.store.marks += stats.marks;
  for (std::size_t i = 0; i < kDiskFaultCount; ++i) stats_.store.faults[i] += stats.faults[i];
  if (was_ready) ++stats_.cuts_while_serving;
  const bool is_kill = chance_.below(options_.is_cut_early ? 2 : 4) == 0;
  if (is_kill) {
    ++stats_.kills;
  } else {
    sim_->device().power_fails();
    disk_.power_cut();
    check_erased(free_segments);
    if (was_ready) check_superblocks();
  }
  sim_.reset();
  if (options_.has_bit_rot && epoch_ > 0) rot();
}

// FORMAT.md: a segment counts as free once zeros in its first and last unit are flushed. What counts is the sector of the
// header and that of the trailer.
void DiskWorld::check_erased(const std::vector<std::vector<std::uint32_t>>& free_segments) {
  for (std::size_t i = 0; i < paths_; ++i) {
    const std::vector<std::byte>& image = disk_.image(disk_.open("path" + std::to_string(i)));
    for (const std::uint32_t segment : free_segments[i]) {
      const std::uint64_t begin = kSegmentsOffset + segment * kSegmentBytes;
      for (const std::uint64_t offset : {begin, begin + kSegmentBytes - kAlignmentMin}) {
        const auto unit = std::span(image).subspan(offset, kSectorBytes);
        const bool is_zero =
            std::all_of(unit.begin(), unit.end(), [](std::byte byte) { return byte == std::byte{0}; });
        if (!is_zero) object("a segment that counted as free is not erased on disk");
      }
    }
  }
}

// Before anything is written in an epoch all four copies are there.
void DiskWorld::check_superblocks() {
  for (std::size_t i = 0; i < paths_; ++i) {
    const std::vector<std::byte>& image = disk_.image(disk_.open("path" + std::to_string(i)));
    for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
      Superblock block{};
      const auto bytes = std::span(image).subspan(copy * kSuperblockStrideBytes, kHeaderBytesMax);
      if (verify_superblock(bytes, copy, block) != DiskFault::kNone || block.epoch != epoch_)
        object("a superblock copy is not of this epoch");
    }
  }
}

// A few bytes of the segments change, and now and then a whole unit is another's, or random.
void DiskWorld::rot() {
  for (std::uint64_t i = chance_.below(6); i > 0; --i) {
    const int file = disk_.open("path" + std::to_string(chance_.below(paths_)));
    std::vector<std::byte>& image = disk_.image(file);
    const std::uint64_t units = (image.size() - kSegmentsOffset) / kAlignmentMin;
    std::uint64_t at = kSegmentsOffset + chance_.below(units) * kAlignmentMin;
    // Half the time where a header is, if one is found.
    for (int tries = chance_.below(2) == 0 ? 16 : 0; tries > 0 && image[at] != std::byte{'K'}; --tries)
      at = kSegmentsOffset + chance_.below(units) * kAlignmentMin;
    const std::uint64_t from = kSegmentsOffset + chance_.below(units) * kAlignmentMin;
    switch (chance_.below(4)) {
      case 0:
        image[at + chance_.below(chance_.below(2) == 0 ? sizeof(RecordHeader) : kAlignmentMin)] ^=
            std::byte{0x10};
        break;
      case 1:
        std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(from), kAlignmentMin,
                    image.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 2:
        std::swap_ranges(image.begin() + static_cast<std::ptrdiff_t>(at),
                         image.begin() + static_cast<std::ptrdiff_t>(at + kSectorBytes),
                         image.begin() + static_cast<std::ptrdiff_t>(from));
        break;
      default:
        for (std::uint64_t byte = 0; byte < kSectorBytes; ++byte)
          image[at + byte] = static_cast<std::byte>(chance_.below(256));
    }
    for (const std::uint64_t place : {at, from}) disk_.make_lasting(file, place, kAlignmentMin);
  }
}

}  // namespace kvtier::test
