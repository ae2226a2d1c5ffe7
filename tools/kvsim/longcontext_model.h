#pragma once
// The model that decodes, and how long a GPU takes for its parts: from bytes and operations, whichever takes longer.
// Peak rates: a real kernel is slower, so that transfers weigh less there than here.

#include <cstdint>

namespace kvtier::sim {

/// Times of the decode simulation. 64 KiB take 1,191,564 of them on 55 GB/s; 64 bits last for 213 days.
using Picoseconds = std::uint64_t;

constexpr Picoseconds kPsPerUs = 1'000'000;
constexpr Picoseconds kPsPerMs = 1'000 * kPsPerUs;

/// Rounded up. `bytes_per_s` > 0.
Picoseconds ps_for(double bytes, double bytes_per_s);

/// The public shape of Llama-3.1-8B: that of the row that kvsim has to show.
struct ModelShape {
  std::uint32_t layers = 32;
  std::uint32_t hidden = 4096;
  std::uint32_t query_heads = 32;
  std::uint32_t kv_heads = 8;
  std::uint32_t head_dim = 128;
  std::uint32_t mlp = 14336;  ///< gate, up and down
  std::uint32_t vocabulary = 128256;
  std::uint32_t bytes_per_value = 2;  ///< weights and KV
};

constexpr std::uint32_t kPageTokens = 16;

/// K and V of kPageTokens tokens in one layer: the unit that is selected and moved.
constexpr std::uint64_t page_bytes(const ModelShape& shape) {
  return std::uint64_t{2} * kPageTokens * shape.kv_heads * shape.head_dim * shape.bytes_per_value;
}
/// Of one token, in all layers.
constexpr std::uint64_t token_bytes(const ModelShape& shape) {
  return page_bytes(shape) / kPageTokens * shape.layers;
}

/// An H200 (SXM) by its data sheet: 4.8 TB/s of memory, 989 TFLOP/s of dense fp16.
struct GpuRates {
  double memory_bytes_per_s = 4.8e12;
  double flops_per_s = 989e12;
};

class DecodeCost {
 public:
  /// `batch`: sequences that decode together: weights are read once for all.
  DecodeCost(const ModelShape& shape, const GpuRates& rates, std::uint32_t batch)
      : shape_(shape), rates_(rates), batch_(batch) {}

  /// Projections of a layer to Q, K and V, and reading the digests that the selection is made from.
  [[nodiscard]] Picoseconds select_ps(double digest_bytes) const;
  /// Attention to so many pages, of all sequences together.
  [[nodiscard]] Picoseconds attend_ps(std::uint64_t pages) const;
  /// The rest of a layer: output projection and MLP.
  [[nodiscard]] Picoseconds rest_ps() const;
  /// After the last layer: the logits.
  [[nodiscard]] Picoseconds logits_ps() const;

 private:
  [[nodiscard]] Picoseconds weights_ps(double weights, double other_bytes = 0) const;
  [[nodiscard]] Picoseconds longer_of(double bytes, double flops) const;

  ModelShape shape_;
  GpuRates rates_;
  double batch_;
};

}  // namespace kvtier::sim
