#pragma once
// One call of kvc_acquire over one view: find, pin, check, log. Header only: it is the hot path.

#include <unistd.h>

#include <algorithm>
#include <array>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/handles.h"
#include "libkvclient/src/match.h"

namespace kvtier::client {

struct AcquireOptions {
  bool is_unordered = false;
  std::uint64_t request_id = 0;
};

struct Candidate {
  PinCell* pin = nullptr;  ///< null: not there
  const SlotCell* word = nullptr;
  const std::byte* data = nullptr;
  Generation generation = 0;
  SlotRef slot;
};

/// The passes are those of DirectoryReader::find_chunks.
class AcquireRun {
 public:
  AcquireRun(const View& view, Binding binding, std::uint64_t block_bytes, std::span<const Key> keys,
             const AcquireOptions& options, kvc_lease& lease)
      : view_(view),
        binding_(binding),
        block_bytes_(block_bytes),
        keys_(keys),
        options_(options),
        lease_(lease) {}

  void run() {
    const auto find = [this](std::size_t i, bool is_found, const Residency& at) {
      return on_find(i, is_found, at);
    };
    const auto chunk = [this](std::size_t first, std::size_t count) { on_chunk(first, count); };
    if (last_match.leads(view_.directory.id(), keys_)) {
      view_.directory.find_along(last_match, binding_.space, keys_, find, chunk);
    } else {
      view_.directory.find_chunks(binding_.space, keys_, find, chunk);
    }
    if (!options_.is_unordered && lease_.held > 0) log(last_slot_, lease_.held);
  }

 private:
  bool on_find(std::size_t i, bool is_found, const Residency& at) {
    if (has_ended_) return false;
    Candidate& candidate = chunk_[i % kDirectoryChunk];
    candidate.pin = nullptr;
    if (is_found && at.host.is_present() && !at.is_pending()) resolve(at.host, candidate);
    if (candidate.pin == nullptr) return options_.is_unordered;
    __builtin_prefetch(candidate.pin, 1);
    __builtin_prefetch(candidate.word);
    return true;
  }

  void on_chunk(std::size_t first, std::size_t count) {
    if (has_ended_) return;
    for (std::size_t i = first; i < first + count && !has_ended_; ++i) {
      const bool is_leased = take(keys_[i], chunk_[i % kDirectoryChunk]);
      note(i, is_leased ? &chunk_[i % kDirectoryChunk] : nullptr);
    }
  }

  bool take(const Key& key, Candidate& candidate) {
    if (candidate.pin == nullptr) return false;
    pin_window(candidate);
    if (Pins::acquire(*candidate.pin, *candidate.word, candidate.generation)) [[likely]]
      return true;
    // The block moved or went between the look and the pin: one more look, then it is a miss.
    Residency at;
    candidate.pin = nullptr;
    if (!view_.directory.find(binding_.space, key, at) || !at.host.is_present()) return false;
    resolve(at.host, candidate);
    return candidate.pin != nullptr && Pins::acquire(*candidate.pin, *candidate.word, candidate.generation);
  }

  // A fault build can stop, or die, with the pin set and the slot not yet looked at. Nothing in a product
  // build.
  static void pin_window([[maybe_unused]] const Candidate& candidate) {
#ifdef KVTIER_FAULTS
    candidate.pin->fetch_add(1, std::memory_order_seq_cst);
    (void)KV_FAULT("client.acquire.after_pin");
    candidate.pin->fetch_sub(1, std::memory_order_relaxed);
#endif
  }

  void note(std::size_t i, const Candidate* leased) {
    if (leased == nullptr && !options_.is_unordered) {
      has_ended_ = true;
      return;
    }
    lease_.blocks[i] = leased != nullptr ? leased->data : nullptr;
    lease_.pins[i] = leased != nullptr ? leased->pin : nullptr;
    lease_.count = i + 1;
    if (leased == nullptr) return;
    ++lease_.held;
    last_slot_ = leased->slot;
    if (options_.is_unordered) log(leased->slot, 1);
  }

  void resolve(const Locator& at, Candidate& out) const {
    const std::uint32_t slab_index = at.slot.slab();
    if (slab_index >= view_.slabs.size()) return;
    const SlabView& slab = view_.slabs[slab_index];
    const std::uint64_t slot = at.slot.slot();
    const std::uint64_t offset = slot * binding_.slot_bytes;
    if (slab.data == nullptr || slot >= slab.slots_max || offset + block_bytes_ > slab.bytes) return;
    // Word by word: g++ builds a struct on the stack and copies it 16 bytes at a time, and each such load waits for
    // two stores that cannot be forwarded to it. That was a third of this pass.
    out.pin = slab.pins + slot;
    out.word = slab.words + slot;
    out.data = slab.data + offset;
    out.generation = at.generation;
    out.slot = at.slot;
  }

  void log(SlotRef last, std::size_t count) const {
    AccessRecord record;
    record.last = last;
    record.count = static_cast<std::uint16_t>(std::min<std::size_t>(count, 0xffff));
    record.time_ms = static_cast<std::uint32_t>(coarse_now_ns() / kNsPerMs);
    record.request_id = options_.request_id;
    if (view_.log.append(record)) wake(view_.doorbell);
    std::atomic<bool>& is_touched = *view_.slabs[last.slab()].is_touched;
    // The first lease in a slab: the service thread maps the rest of its pages ahead of the reads to come.
    if (!is_touched.load(std::memory_order_relaxed) && !is_touched.exchange(true)) wake(view_.wake);
  }

  static void wake(int eventfd) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(eventfd, &one, sizeof one);
  }

  const View& view_;
  const Binding binding_;
  const std::uint64_t block_bytes_;
  const std::span<const Key> keys_;
  const AcquireOptions options_;
  kvc_lease& lease_;
  std::array<Candidate, kDirectoryChunk> chunk_;
  SlotRef last_slot_;
  bool has_ended_ = false;
};

}  // namespace kvtier::client
