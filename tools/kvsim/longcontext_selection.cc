#include "tools/kvsim/longcontext_selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/kvsim/longcontext_model.h"

namespace kvtier::sim {
namespace {

// A draw that met only selected pages takes the next one that is not: where most are selected, none else is found.
constexpr int kDraws = 256;

std::uint32_t pages_of(std::uint32_t tokens) {
  return (tokens + kPageTokens - 1) / kPageTokens;
}

}  // namespace

Popularity::Popularity(std::uint32_t places, double exponent) : places_(places) {
  if (exponent == 0) return;
  up_to_.reserve(places);
  double sum = 0;
  for (std::uint32_t place = 1; place <= places; ++place) up_to_.push_back(sum += std::pow(place, -exponent));
  for (double& share : up_to_) share /= sum;
}

std::uint32_t Popularity::draw(Prng& chance) const {
  if (up_to_.empty()) return static_cast<std::uint32_t>(chance.below(places_));
  const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), chance.unit());
  return std::min(static_cast<std::uint32_t>(found - up_to_.begin()), places_ - 1);
}

SelectionSizes::SelectionSizes(const SelectionOptions& options, std::uint32_t context_pages)
    : pages(context_pages),
      sinks(std::min(pages_of(options.sink_tokens), pages)),
      window(std::min(pages_of(options.window_tokens), pages - sinks)) {
  const std::uint32_t budget = std::min(pages_of(options.budget_tokens), pages);
  drawn = budget - std::min(budget, sinks + window);
  const auto wanted = static_cast<std::uint32_t>(std::lround((1 - options.locality) * drawn));
  fresh = std::min(wanted, middle() - drawn);
}

LayerSelection::LayerSelection(const SelectionSizes& sizes, const Popularity& popularity,
                               std::span<const std::uint32_t> order, std::uint32_t shift)
    : sizes_(sizes),
      popularity_(&popularity),
      order_(order),
      shift_(shift),
      pages_(sizes.attended()),
      is_selected_(sizes.pages) {
  std::size_t slot = sizes.drawn;
  for (std::uint32_t page = 0; page < sizes.sinks; ++page) select(slot++, page);
  for (std::uint32_t page = sizes.pages - sizes.window; page < sizes.pages; ++page) select(slot++, page);
  dropped_.reserve(sizes.fresh);
}

void LayerSelection::select(std::size_t slot, std::uint32_t page) {
  pages_[slot] = page;
  is_selected_[page] = true;
}

std::uint32_t LayerSelection::page_at(std::uint32_t place) const {
  return sizes_.sinks + order_[(place + shift_) % order_.size()];
}

std::uint32_t LayerSelection::draw_other(Prng& chance) const {
  std::uint32_t place = 0;
  for (int i = 0; i < kDraws; ++i) {
    place = popularity_->draw(chance);
    if (!has(page_at(place))) return page_at(place);
  }
  while (has(page_at(place))) ++place;
  return page_at(place);
}

void LayerSelection::begin(Prng& chance) {
  for (std::uint32_t slot = 0; slot < sizes_.drawn; ++slot) {
    if (sizes_.drawn == sizes_.middle()) {
      select(slot, sizes_.sinks + slot);
    } else {
      select(slot, draw_other(chance));
    }
  }
}

// Those that leave are swapped to the front; they stay marked while others are drawn in their places.
void LayerSelection::advance(Prng& chance) {
  dropped_.clear();
  for (std::uint32_t slot = 0; slot < sizes_.fresh; ++slot) {
    std::swap(pages_[slot], pages_[slot + chance.below(sizes_.drawn - slot)]);
    dropped_.push_back(pages_[slot]);
  }
  for (std::uint32_t slot = 0; slot < sizes_.fresh; ++slot) select(slot, draw_other(chance));
  for (const std::uint32_t page : dropped_) is_selected_[page] = false;
}

std::span<const std::uint32_t> LayerSelection::fresh() const {
  return std::span(pages_).first(dropped_.size());
}

std::vector<std::uint32_t> shuffled(std::uint32_t count, Prng& chance) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::uint32_t i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[chance.below(i)]);
  return numbers;
}

}  // namespace kvtier::sim
