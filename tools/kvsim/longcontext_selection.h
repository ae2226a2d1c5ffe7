#pragma once
// Which pages a layer attends to, step by step: the first ones (sinks), the last ones (window), and between them as many
// as the budget leaves. Of these a given share is the same as in the step before; the others are drawn anew, those that
// left excepted. Where they fall is a given distribution over the context, in an order of popularity of each layer's own.

#include <cstdint>
#include <span>
#include <vector>

#include "libkvclient/base/prng.h"

namespace kvtier::sim {

struct SelectionOptions {
  /// All in all, sinks and window with it. Default: 4,096 tokens, the larger budget of Quest and ArkVale.
  std::uint32_t budget_tokens = 4096;
  std::uint32_t sink_tokens = 4;      ///< StreamingLLM's
  std::uint32_t window_tokens = 128;  ///< KVTC's and KIVI's
  /// Share of the selected pages between sinks and window that the step before selected too. NOSA (arXiv 2510.13602)
  /// sees 0.8 and more in most layers of InfLLM-V2.
  double locality = 0.8;
  /// Exponent of Zipf's law; 0: all pages alike. 0 and 1 are shown: nothing published was found that says.
  double popularity = 0;
  /// The first so many layers attend to everything: 2 in Quest.
  std::uint32_t dense_layers = 0;
};

/// Places by popularity, 0 the most popular.
class Popularity {
 public:
  Popularity(std::uint32_t places, double exponent);

  [[nodiscard]] std::uint32_t draw(Prng& chance) const;

 private:
  std::vector<double> up_to_;  // share of the places up to this one; empty: all alike
  std::uint32_t places_;
};

/// How many pages of a context the options name.
struct SelectionSizes {
  SelectionSizes(const SelectionOptions& options, std::uint32_t pages);

  std::uint32_t pages;
  std::uint32_t sinks;
  std::uint32_t window;
  std::uint32_t drawn;  ///< between the two
  std::uint32_t fresh;  ///< of `drawn`, each step
  [[nodiscard]] std::uint32_t attended() const { return sinks + window + drawn; }
  [[nodiscard]] std::uint32_t middle() const { return pages - sinks - window; }
};

/// Of one layer of one sequence. Pages are numbered from 0, the oldest.
class LayerSelection {
 public:
  /// `popularity` and `order` (which page of the middle has which place) are shared by all layers; `shift` turns the
  /// order round for this one.
  LayerSelection(const SelectionSizes& sizes, const Popularity& popularity,
                 std::span<const std::uint32_t> order, std::uint32_t shift);

  /// The first step's.
  void begin(Prng& chance);
  /// The next step's.
  void advance(Prng& chance);

  [[nodiscard]] bool has(std::uint32_t page) const { return is_selected_[page]; }
  /// Sinks, window, and those drawn, in no order.
  [[nodiscard]] std::span<const std::uint32_t> pages() const { return pages_; }
  /// Of pages(), those that the step before did not select.
  [[nodiscard]] std::span<const std::uint32_t> fresh() const;
  /// What the step before selected and this one does not.
  [[nodiscard]] std::span<const std::uint32_t> dropped() const { return dropped_; }
  /// One that is not selected, by popularity: what a wrong prediction names.
  [[nodiscard]] std::uint32_t draw_other(Prng& chance) const;

 private:
  [[nodiscard]] std::uint32_t page_at(std::uint32_t place) const;
  void select(std::size_t slot, std::uint32_t page);

  SelectionSizes sizes_;
  const Popularity* popularity_;
  std::span<const std::uint32_t> order_;
  std::uint32_t shift_;
  std::vector<std::uint32_t> pages_;  // those drawn first, the fresh ones in front
  std::vector<std::uint32_t> dropped_;
  std::vector<bool> is_selected_;  // by page
};

/// 0 .. count - 1 in any order.
std::vector<std::uint32_t> shuffled(std::uint32_t count, Prng& chance);

}  // namespace kvtier::sim
