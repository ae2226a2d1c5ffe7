#pragma once
// Decoding of sequences whose KV does not fit into GPU memory, in virtual time. In each layer the GPU projects, selects pages
// from its digests, waits until the last of them is there, attends, and does the rest; a page that is not there is moved
// from host memory or, by way of host memory, from NVMe. Deterministic: equal options give equal results.
//
// Left out: KV that is written (128 KiB a step for each sequence, against the direction of the loads), growth of the
// context during the run, the time of the selection beyond reading the digests, and the host's part in it.

#include <memory>
#include <vector>

#include "tools/kvsim/longcontext_selection.h"
#include "tools/kvsim/longcontext_tier.h"
#include "tools/kvsim/longcontext_transfers.h"

namespace kvtier::sim {

struct DecodeOptions {
  ModelShape shape;
  GpuRates gpu;
  TransferRates transfers;
  SelectionOptions selection;
  const Policy* policy = find_policy("lru");  ///< the daemon's, so far. Not `min`
  std::uint32_t context_tokens = 32768;
  std::uint64_t gpu_bytes = UINT64_MAX;   ///< for pages, of each sequence
  std::uint64_t host_bytes = UINT64_MAX;  ///< same; what is not in host memory is read from NVMe
  /// Bytes of the digests that pages are selected by, for each byte of pages. Minimum and maximum of each key channel
  /// (Quest): 2 d of the 32 d numbers of a page.
  double digest_share = 0.0625;
  std::uint32_t batch = 1;       ///< sequences, each with its own selection, pages and memory
  std::uint32_t run_pages = 16;  ///< neighbours that are missing travel together, up to so many
  bool is_prefetching = false;
  /// Of the pages that a layer selects anew, the share that an earlier layer names; for each of the others it names a wrong
  /// one. Adjacent layers of DSA models select 70 to 100 % the same (IndexCache, arXiv 2603.12201).
  double prediction = 0.7;
  std::uint32_t prefetch_ahead = 1;  ///< layers between prediction and use
  std::uint32_t warmup_steps = 512;  ///< not counted: what is in memory settles
  std::uint32_t steps = 256;
  std::uint64_t seed = 1;
};

/// Over all measured steps. A page is one of one layer.
struct DecodeCounts {
  std::uint64_t accesses = 0;
  std::uint64_t gpu_hits = 0;    ///< in GPU memory when selected
  std::uint64_t late = 0;        ///< a prefetch of it was under way
  std::uint64_t host_reads = 0;  ///< demand, from host memory
  std::uint64_t nvme_reads = 0;  ///< demand, from NVMe
  std::uint64_t prefetched = 0;  ///< = used + late + wasted + cancelled, but for those under way at the ends
  std::uint64_t used = 0;        ///< prefetched, and there when selected
  std::uint64_t wasted = 0;      ///< moved, and not selected by the step it was moved for, or gone before
  std::uint64_t cancelled = 0;   ///< found useless before it was moved
  std::uint64_t pcie_bytes = 0;
  std::uint64_t nvme_bytes = 0;
  Picoseconds time_ps = 0;
  Picoseconds waiting_ps = 0;  ///< of it, for pages
};

struct DecodeResult {
  DecodeCounts counts;
  std::uint32_t steps = 0;
  double attended_share = 0;       ///< of all pages in all layers
  std::uint64_t digest_bytes = 0;  ///< in GPU memory, beside the pages; of all sequences
  [[nodiscard]] double step_ms() const {
    return static_cast<double>(counts.time_ps) / steps / static_cast<double>(kPsPerMs);
  }
  /// `count` of the accesses.
  [[nodiscard]] double share(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(counts.accesses);
  }
  [[nodiscard]] double hit_rate() const { return share(counts.gpu_hits); }
};

class Decode {
 public:
  explicit Decode(const DecodeOptions& options);

  DecodeResult run();

 private:
  /// A layer of a sequence.
  using Unit = std::uint32_t;

  [[nodiscard]] bool is_dense(std::uint32_t layer) const {
    return layer < options_.selection.dense_layers || sparse_.attended() == sparse_.pages;
  }
  [[nodiscard]] Unit unit_of(std::uint32_t sequence, std::uint32_t layer) const {
    return sequence * options_.shape.layers + layer;
  }
  [[nodiscard]] PageNumber number_of(Unit unit, std::uint32_t page) const {
    return unit * sparse_.pages + page;
  }
  [[nodiscard]] bool is_selected(PageNumber number) const {
    return selections_[number / sparse_.pages].has(number % sparse_.pages);
  }
  [[nodiscard]] std::uint32_t now_ms() const { return static_cast<std::uint32_t>(now_ps_ / kPsPerMs); }
  [[nodiscard]] std::uint64_t layer_digest_bytes(std::uint32_t layer) const;
  [[nodiscard]] std::uint64_t all_pages() const;

  void make_selections();
  void fill(Tier& tier, std::uint64_t capacity_pages);
  void step();
  void layer(std::uint32_t layer);
  void demand(Unit unit);
  void access(PageNumber number);
  void start_missing();
  std::uint32_t source_of(PageNumber number);
  void enter(PageNumber number, std::uint32_t device, MoveId move);
  bool take_gpu_room(PageNumber number);
  void judge_prefetches(Unit unit);
  bool cancel(PageNumber number);
  void prefetch_layer(std::uint32_t layer);
  void prefetch_unit(Unit unit, bool is_this_step);
  void prefetch(PageNumber number);
  void settle();
  void wait();
  void land(const Move& move);

  DecodeOptions options_;
  SelectionSizes sparse_;
  SelectionSizes dense_;
  DecodeCost cost_;
  Prng chance_;
  Prng prediction_chance_;  // of its own: selections are the same with and without prefetch
  Popularity popularity_;
  std::vector<std::uint32_t> order_;
  std::vector<LayerSelection> selections_;           // by unit
  std::vector<std::vector<PageNumber>> prefetched_;  // by unit, for its next selection
  std::vector<MoveId> in_flight_;                    // by page
  std::vector<PageNumber> missing_;
  Tier gpu_;
  Tier host_;
  Transfers transfers_;
  std::uint32_t layer_ = 0;  // that is attended to: its pages stay
  std::uint64_t awaited_ = 0;
  Picoseconds now_ps_ = 0;
  DecodeCounts counts_;
};

}  // namespace kvtier::sim
