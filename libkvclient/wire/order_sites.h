#pragma once
// Every atomic access of the shared-memory protocols has a name here, and its memory order; so has every one of the
// grace period of a client's readers. The protocols are
// templates over a `Memory`: SharedMemory below is the product; the explorer (tests/explore) instantiates the
// same code over a modelled memory, runs all schedules, and weakens one site after the other: each must then
// fail. Why an order suffices is said where the access is.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kvtier {

enum class Site : std::uint8_t {
  // pins.h
  kPinAdd,
  kPinSlotLoad,
  kPinUndo,
  kPinRelease,
  kEvictExchange,
  kEvictPinLoad,
  kEvictPutBack,
  kSlotOwnLoad,
  kSlotBeginWrite,
  kSlotPublish,
  kSlotRetire,
  // entry_line.h
  kEntryOwnLoad,
  kEntryOpen,
  kEntryStore,
  kEntryClose,
  kEntryClear,
  kEntryBegin,
  kEntryLoad,
  kEntryRecheck,
  // entry_index.h
  kIndexLoad,
  kIndexOwnLoad,
  kIndexStore,
  kShiftOpen,
  kShiftClose,
  kShiftBegin,
  kShiftRecheck,
  // access_log.h
  kLogClaim,
  kLogStore,
  kLogPublish,
  kLogTail,
  kLogSequence,
  kLogLoad,
  // src/grace_period.h
  kGraceParity,
  kGraceEnter,
  kGraceLook,
  kGraceLeave,
  kGraceShow,
  kGraceFlip,
  kGraceWait,
  // stock_word.h
  kStockOffer,
  kStockTake,
  kStockPutBack,
  kStockTakeBack,
  kStockClear,
  kStockLook,
};

enum class Access : std::uint8_t { kLoad, kStore, kReadModifyWrite };

struct OrderSite {
  Site site;
  std::string_view name;
  Access access;
  std::memory_order order;
};

/// The table that the product compiles in and that the explorer mutates. One row a site, in the order of
/// Site.
inline constexpr std::array kOrderSites = {
    OrderSite{Site::kPinAdd, "pin_add", Access::kReadModifyWrite, std::memory_order_seq_cst},
    OrderSite{Site::kPinSlotLoad, "pin_slot_load", Access::kLoad, std::memory_order_seq_cst},
    OrderSite{Site::kPinUndo, "pin_undo", Access::kReadModifyWrite, std::memory_order_relaxed},
    OrderSite{Site::kPinRelease, "pin_release", Access::kReadModifyWrite, std::memory_order_release},
    OrderSite{Site::kEvictExchange, "evict_exchange", Access::kReadModifyWrite, std::memory_order_seq_cst},
    OrderSite{Site::kEvictPinLoad, "evict_pin_load", Access::kLoad, std::memory_order_seq_cst},
    OrderSite{Site::kEvictPutBack, "evict_put_back", Access::kStore, std::memory_order_release},
    OrderSite{Site::kSlotOwnLoad, "slot_own_load", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kSlotBeginWrite, "slot_begin_write", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kSlotPublish, "slot_publish", Access::kStore, std::memory_order_release},
    OrderSite{Site::kSlotRetire, "slot_retire", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kEntryOwnLoad, "entry_own_load", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kEntryOpen, "entry_open", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kEntryStore, "entry_store", Access::kStore, std::memory_order_release},
    OrderSite{Site::kEntryClose, "entry_close", Access::kStore, std::memory_order_release},
    OrderSite{Site::kEntryClear, "entry_clear", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kEntryBegin, "entry_begin", Access::kLoad, std::memory_order_acquire},
    OrderSite{Site::kEntryLoad, "entry_load", Access::kLoad, std::memory_order_acquire},
    OrderSite{Site::kEntryRecheck, "entry_recheck", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kIndexLoad, "index_load", Access::kLoad, std::memory_order_acquire},
    OrderSite{Site::kIndexOwnLoad, "index_own_load", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kIndexStore, "index_store", Access::kStore, std::memory_order_release},
    OrderSite{Site::kShiftOpen, "shift_open", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kShiftClose, "shift_close", Access::kStore, std::memory_order_release},
    OrderSite{Site::kShiftBegin, "shift_begin", Access::kLoad, std::memory_order_acquire},
    OrderSite{Site::kShiftRecheck, "shift_recheck", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kLogClaim, "log_claim", Access::kReadModifyWrite, std::memory_order_relaxed},
    OrderSite{Site::kLogStore, "log_store", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kLogPublish, "log_publish", Access::kStore, std::memory_order_release},
    OrderSite{Site::kLogTail, "log_tail", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kLogSequence, "log_sequence", Access::kLoad, std::memory_order_acquire},
    OrderSite{Site::kLogLoad, "log_load", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kGraceParity, "grace_parity", Access::kLoad, std::memory_order_relaxed},
    OrderSite{Site::kGraceEnter, "grace_enter", Access::kReadModifyWrite, std::memory_order_seq_cst},
    OrderSite{Site::kGraceLook, "grace_look", Access::kLoad, std::memory_order_seq_cst},
    OrderSite{Site::kGraceLeave, "grace_leave", Access::kReadModifyWrite, std::memory_order_release},
    OrderSite{Site::kGraceShow, "grace_show", Access::kStore, std::memory_order_seq_cst},
    OrderSite{Site::kGraceFlip, "grace_flip", Access::kReadModifyWrite, std::memory_order_relaxed},
    OrderSite{Site::kGraceWait, "grace_wait", Access::kLoad, std::memory_order_seq_cst},
    OrderSite{Site::kStockOffer, "stock_offer", Access::kStore, std::memory_order_release},
    OrderSite{Site::kStockTake, "stock_take", Access::kReadModifyWrite, std::memory_order_acquire},
    OrderSite{Site::kStockPutBack, "stock_put_back", Access::kReadModifyWrite, std::memory_order_release},
    OrderSite{Site::kStockTakeBack, "stock_take_back", Access::kReadModifyWrite, std::memory_order_acquire},
    OrderSite{Site::kStockClear, "stock_clear", Access::kStore, std::memory_order_relaxed},
    OrderSite{Site::kStockLook, "stock_look", Access::kLoad, std::memory_order_relaxed},
};

constexpr std::memory_order order_of(Site site) {
  return kOrderSites[static_cast<std::size_t>(site)].order;
}

constexpr bool order_sites_are_in_order() {
  for (std::size_t i = 0; i < kOrderSites.size(); ++i) {
    if (static_cast<std::size_t>(kOrderSites[i].site) != i) return false;
  }
  return true;
}
static_assert(order_sites_are_in_order());

template <Site kSite>
using AtSite = std::integral_constant<Site, kSite>;
/// Names the site of an access: `Memory::load(cell, at<Site::kPinSlotLoad>)`.
template <Site kSite>
inline constexpr AtSite<kSite> at{};  // NOLINT(readability-identifier-naming): reads as a word

/// The product's memory: std::atomic cells in a shared mapping. Each operation is one instruction.
struct SharedMemory {
  using Cell32 = std::atomic<std::uint32_t>;
  using Cell64 = std::atomic<std::uint64_t>;
  static_assert(sizeof(Cell32) == 4 && Cell32::is_always_lock_free);
  static_assert(sizeof(Cell64) == 8 && Cell64::is_always_lock_free);

  /// How often a reader re-reads an entry that is being written before it goes on without it.
  static constexpr unsigned kSpinsMax = 64;

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
  }

  template <class Cell, Site kSite>
  static auto load(const Cell& cell, AtSite<kSite>) {
    return cell.load(order_of(kSite));
  }
  template <class Cell, Site kSite>
  static void store(Cell& cell, typename Cell::value_type value, AtSite<kSite>) {
    cell.store(value, order_of(kSite));
  }
  template <class Cell, Site kSite>
  static auto fetch_add(Cell& cell, typename Cell::value_type value, AtSite<kSite>) {
    return cell.fetch_add(value, order_of(kSite));
  }
  template <class Cell, Site kSite>
  static auto fetch_sub(Cell& cell, typename Cell::value_type value, AtSite<kSite>) {
    return cell.fetch_sub(value, order_of(kSite));
  }
  template <class Cell, Site kSite>
  static auto exchange(Cell& cell, typename Cell::value_type value, AtSite<kSite>) {
    return cell.exchange(value, order_of(kSite));
  }
  /// The site's order when it succeeds; relaxed when it does not, and nothing is read then.
  template <class Cell, Site kSite>
  static bool compare_exchange(Cell& cell, typename Cell::value_type expected,
                               typename Cell::value_type value, AtSite<kSite>) {
    return cell.compare_exchange_strong(expected, value, order_of(kSite), std::memory_order_relaxed);
  }
};

}  // namespace kvtier
