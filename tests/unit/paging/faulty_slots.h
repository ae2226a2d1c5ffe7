#pragma once
// A SlotSource around another one, whose next calls fail as a test wants.

#include <vector>

#include "kvclient/slot_source.hpp"

namespace kvtier::test {

class FaultySlots final : public kvclient::SlotSource {
 public:
  explicit FaultySlots(kvclient::SlotSource& source) : source_(source) {}

  int refuse_reserve = KVC_OK;  ///< the next reserve answers this
  /// What becomes of the next commit's block of this index.
  struct CommitFault {
    enum class Kind : std::uint8_t {
      kStop,  ///< it and all behind it stay private
      kSkip,  ///< it stays private
      kLose
    };
    std::size_t first = ~std::size_t{0};
    int code = KVC_OK;
    Kind kind = Kind::kStop;
  };
  CommitFault commit_fault;
  std::size_t copies_count = 0;

  [[nodiscard]] std::uint32_t block_tokens() const override { return source_.block_tokens(); }
  [[nodiscard]] std::size_t block_bytes() const override { return source_.block_bytes(); }
  [[nodiscard]] std::vector<kvc_key> keys(std::span<const std::uint32_t> tokens,
                                          const kvc_key* parent) override {
    return source_.keys(tokens, parent);
  }
  std::size_t acquire(kvclient::Keys keys, kvclient::Acquire how,
                      std::span<kvclient::SlotId> slots) override {
    return source_.acquire(keys, how, slots);
  }
  void release(kvclient::SlotId leased) noexcept override { source_.release(leased); }
  kvclient::Outcome reserve(const kvclient::SlotRequest& request,
                            std::span<kvclient::SlotId> slots) override {
    if (refuse_reserve != KVC_OK) return {std::exchange(refuse_reserve, KVC_OK), KVC_CAUSE_PINNED_BY, 4711};
    return source_.reserve(request, slots);
  }
  void abort(kvclient::SlotId reserved) noexcept override { source_.abort(reserved); }
  void commit(std::span<kvclient::BlockCommit> blocks) override {
    const CommitFault fault = std::exchange(commit_fault, {});
    const std::size_t sound = std::min(fault.first, blocks.size());
    source_.commit(blocks.first(sound));
    if (sound == blocks.size()) return;
    if (fault.kind == CommitFault::Kind::kStop) {
      for (kvclient::BlockCommit& block : blocks.subspan(sound)) block.code = fault.code;
      return;
    }
    blocks[sound].code = fault.code;
    if (fault.kind == CommitFault::Kind::kLose)
      source_.abort(std::exchange(blocks[sound].slot, kvclient::SlotId::kNone));
    source_.commit(blocks.subspan(sound + 1));
  }
  [[nodiscard]] std::span<const std::byte> readable(kvclient::SlotId slot) const override {
    return source_.readable(slot);
  }
  [[nodiscard]] std::span<std::byte> writable(kvclient::SlotId reserved) override {
    return source_.writable(reserved);
  }
  void copy(kvclient::SlotId to, kvclient::SlotId from) override {
    ++copies_count;
    source_.copy(to, from);
  }

 private:
  kvclient::SlotSource& source_;
};

}  // namespace kvtier::test
