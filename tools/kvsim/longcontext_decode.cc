#include "tools/kvsim/longcontext_decode.h"

#include <algorithm>

namespace kvtier::sim {
namespace {

SelectionOptions dense(SelectionOptions options, std::uint32_t context_tokens) {
  options.budget_tokens = context_tokens;
  return options;
}

std::uint32_t capacity_of(std::uint64_t bytes_a_sequence, const DecodeOptions& options, std::uint64_t pages) {
  const std::uint64_t of_one = bytes_a_sequence / page_bytes(options.shape);
  return static_cast<std::uint32_t>(std::min(of_one * options.batch, pages));
}

TransferRates with_page(TransferRates rates, std::uint64_t bytes) {
  rates.page_bytes = bytes;
  return rates;
}

}  // namespace

Decode::Decode(const DecodeOptions& options)
    : options_(options),
      sparse_(options.selection, options.context_tokens / kPageTokens),
      dense_(dense(options.selection, options.context_tokens), options.context_tokens / kPageTokens),
      cost_(options.shape, options.gpu, options.batch),
      chance_(options.seed),
      prediction_chance_(mix64(options.seed)),
      popularity_(sparse_.middle(), options.selection.popularity),
      order_(shuffled(sparse_.middle(), chance_)),
      prefetched_(std::size_t{options.batch} * options.shape.layers),
      in_flight_(all_pages(), kNoMove),
      gpu_(*options.policy, capacity_of(options.gpu_bytes, options, all_pages()),
           static_cast<std::uint32_t>(all_pages())),
      host_(*options.policy, capacity_of(options.host_bytes, options, all_pages()),
            static_cast<std::uint32_t>(all_pages())),
      transfers_(with_page(options.transfers, page_bytes(options.shape))) {
  make_selections();
  fill(gpu_, capacity_of(options.gpu_bytes, options, all_pages()));
  fill(host_, capacity_of(options.host_bytes, options, all_pages()));
}

std::uint64_t Decode::all_pages() const {
  return std::uint64_t{sparse_.pages} * options_.shape.layers * options_.batch;
}

void Decode::make_selections() {
  for (std::uint32_t sequence = 0; sequence < options_.batch; ++sequence) {
    for (std::uint32_t layer = 0; layer < options_.shape.layers; ++layer) {
      const auto shift = static_cast<std::uint32_t>(chance_.below(std::max<std::uint64_t>(order_.size(), 1)));
      selections_.emplace_back(is_dense(layer) ? dense_ : sparse_, popularity_, order_, shift);
      selections_.back().begin(chance_);
    }
  }
}

// As after the prompt: the last pages of each layer are there.
void Decode::fill(Tier& tier, std::uint64_t capacity_pages) {
  const auto units = static_cast<std::uint32_t>(selections_.size());
  const auto count = static_cast<std::uint32_t>(capacity_pages / units);
  for (Unit unit = 0; unit < units; ++unit) {
    for (std::uint32_t page = sparse_.pages - count; page < sparse_.pages; ++page) {
      tier.insert(number_of(unit, page), 0, [](BlockNumber) { return false; });
    }
  }
}

std::uint64_t Decode::layer_digest_bytes(std::uint32_t layer) const {
  if (is_dense(layer)) return 0;
  const auto bytes = static_cast<double>(sparse_.pages * page_bytes(options_.shape) * options_.batch);
  return static_cast<std::uint64_t>(options_.digest_share * bytes);
}

DecodeResult Decode::run() {
  for (std::uint32_t i = 0; i < options_.warmup_steps; ++i) step();
  counts_ = {
      .pcie_bytes = transfers_.pcie_bytes(), .nvme_bytes = transfers_.nvme_bytes(), .time_ps = now_ps_};
  for (std::uint32_t i = 0; i < options_.steps; ++i) step();
  counts_.pcie_bytes = transfers_.pcie_bytes() - counts_.pcie_bytes;
  counts_.nvme_bytes = transfers_.nvme_bytes() - counts_.nvme_bytes;
  counts_.time_ps = now_ps_ - counts_.time_ps;
  DecodeResult result{.counts = counts_, .steps = options_.steps};
  for (std::uint32_t i = 0; i < options_.shape.layers; ++i) result.digest_bytes += layer_digest_bytes(i);
  result.attended_share =
      static_cast<double>(counts_.accesses) / options_.steps / static_cast<double>(all_pages());
  return result;
}

void Decode::step() {
  for (LayerSelection& selection : selections_) selection.advance(chance_);
  for (std::uint32_t i = 0; i < options_.shape.layers; ++i) layer(i);
  now_ps_ += cost_.logits_ps();
}

void Decode::layer(std::uint32_t layer) {
  layer_ = layer;
  now_ps_ += cost_.select_ps(static_cast<double>(layer_digest_bytes(layer)));
  settle();
  std::uint64_t attended = 0;
  for (std::uint32_t sequence = 0; sequence < options_.batch; ++sequence) {
    const Unit unit = unit_of(sequence, layer);
    judge_prefetches(unit);
    demand(unit);
    attended += selections_[unit].pages().size();
  }
  if (options_.is_prefetching) prefetch_layer(layer + options_.prefetch_ahead);
  wait();
  now_ps_ += cost_.attend_ps(attended) + cost_.rest_ps();
}

void Decode::demand(Unit unit) {
  missing_.clear();
  for (const std::uint32_t page : selections_[unit].pages()) access(number_of(unit, page));
  std::sort(missing_.begin(), missing_.end());
  start_missing();
}

void Decode::access(PageNumber number) {
  ++counts_.accesses;
  const bool is_resident = gpu_.has(number);
  if (is_resident) gpu_.use(number, now_ms());
  if (in_flight_[number] != kNoMove) {
    ++counts_.late;
    ++awaited_;
    transfers_.raise(in_flight_[number]);
  } else if (is_resident) {
    ++counts_.gpu_hits;
  } else {
    missing_.push_back(number);
  }
}

// Neighbours from one source in one move. Which source is asked of each page before host memory changes.
void Decode::start_missing() {
  std::vector<std::uint32_t> sources;
  sources.reserve(missing_.size());
  for (const PageNumber number : missing_) sources.push_back(source_of(number));
  for (std::size_t first = 0, end = 0; first < missing_.size(); first = end) {
    end = first + 1;
    while (end < missing_.size() && end - first < options_.run_pages &&
           missing_[end] == missing_[end - 1] + 1 && sources[end] == sources[first])
      ++end;
    const auto count = static_cast<std::uint32_t>(end - first);
    (sources[first] == kFromHost ? counts_.host_reads : counts_.nvme_reads) += count;
    awaited_ += count;
    const MoveId move =
        transfers_.start(now_ps_, {.first = missing_[first], .count = count, .device = sources[first]});
    for (std::size_t i = first; i < end; ++i) {
      take_gpu_room(missing_[i]);  // without room it is used on its way through
      enter(missing_[i], sources[i], move);
    }
  }
}

// Runs of neighbours lie on one device, those behind them on the next.
std::uint32_t Decode::source_of(PageNumber number) {
  if (host_.has(number)) {
    host_.use(number, now_ms());
    return kFromHost;
  }
  return number / options_.run_pages % options_.transfers.nvme_devices;
}

void Decode::enter(PageNumber number, std::uint32_t device, MoveId move) {
  in_flight_[number] = move;
  if (device == kFromHost) return;
  host_.insert(number, now_ms(), [this](BlockNumber other) { return in_flight_[other] == kNoMove; });
}

bool Decode::take_gpu_room(PageNumber number) {
  return gpu_.insert(number, now_ms(), [this](BlockNumber other) {
    const bool is_attended = other / sparse_.pages % options_.shape.layers == layer_ && is_selected(other);
    return in_flight_[other] == kNoMove && !is_attended;
  });
}

void Decode::judge_prefetches(Unit unit) {
  for (const PageNumber number : prefetched_[unit]) {
    if (in_flight_[number] != kNoMove) {
      if (is_selected(number)) continue;  // late: access() counts it
      ++(cancel(number) ? counts_.cancelled : counts_.wasted);
    } else {
      ++(is_selected(number) && gpu_.has(number) ? counts_.used : counts_.wasted);
    }
  }
  prefetched_[unit].clear();
}

bool Decode::cancel(PageNumber number) {
  const std::uint32_t device = transfers_[in_flight_[number]].device;
  if (!transfers_.cancel(in_flight_[number])) return false;
  in_flight_[number] = kNoMove;
  gpu_.remove(number);
  if (device != kFromHost && host_.has(number)) host_.remove(number);
  return true;
}

void Decode::prefetch_layer(std::uint32_t layer) {
  const std::uint32_t layers = options_.shape.layers;
  for (std::uint32_t sequence = 0; sequence < options_.batch; ++sequence) {
    prefetch_unit(unit_of(sequence, layer % layers), layer < layers);
  }
}

// What the step before selected, and what the prediction names. Of the next step nothing is known but the former.
void Decode::prefetch_unit(Unit unit, bool is_this_step) {
  const LayerSelection& selection = selections_[unit];
  const std::size_t fresh_count = is_this_step ? selection.fresh().size() : 0;
  for (const std::uint32_t page : selection.pages().subspan(fresh_count)) prefetch(number_of(unit, page));
  if (!is_this_step) return;
  for (const std::uint32_t page : selection.dropped()) prefetch(number_of(unit, page));
  for (const std::uint32_t page : selection.fresh()) {
    const bool is_right = prediction_chance_.unit() < options_.prediction;
    prefetch(number_of(unit, is_right ? page : selection.draw_other(prediction_chance_)));
  }
}

void Decode::prefetch(PageNumber number) {
  if (in_flight_[number] != kNoMove || gpu_.has(number) || !take_gpu_room(number)) return;
  const std::uint32_t device = source_of(number);
  enter(number, device, transfers_.start(now_ps_, {.first = number, .device = device, .is_demand = false}));
  prefetched_[number / sparse_.pages].push_back(number);
  ++counts_.prefetched;
}

void Decode::settle() {
  while (const auto arrival = transfers_.next_arrival(now_ps_)) land(arrival->move);
}

void Decode::wait() {
  const Picoseconds from_ps = now_ps_;
  while (awaited_ > 0) {
    const auto arrival = transfers_.next_arrival();
    now_ps_ = std::max(now_ps_, arrival->at_ps);
    land(arrival->move);
  }
  counts_.waiting_ps += now_ps_ - from_ps;
}

void Decode::land(const Move& move) {
  for (std::uint32_t i = 0; i < move.count; ++i) in_flight_[move.first + i] = kNoMove;
  if (move.is_demand) awaited_ -= move.count;
}

}  // namespace kvtier::sim
