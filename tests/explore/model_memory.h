#pragma once
// The `Memory` that the protocol templates of libkvclient/wire are instantiated with here. A cell is the
// number of a location; each access is an operation that the machine (machine.h) carries out. A thread is a
// function that is run again from its start for each step: recorded results are fed in, and the first
// operation without one ends the run. Therefore programs are deterministic, bounded, and own nothing that
// needs a destructor.

#include <atomic>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "libkvclient/wire/order_sites.h"

namespace kvtier::explore {

enum class OpKind : std::uint8_t {
  kLoad,
  kStore,
  kAdd,
  kExchange,
  kCompareExchange,  ///< of `expected`; with any other value a relaxed load
  kAwait,            ///< a load that waits for the value `operand`
  kDataRead,         ///< non-atomic
  kDataWrite,        ///< non-atomic
  kChoose,           ///< any of 0 .. operand - 1
  kSeeExit,          ///< 1 if the process `operand` has exited and the pidfd says so; 0 is always possible
  kAwaitExit,        ///< waits until the process `operand` has exited
};

struct Op {
  OpKind kind = OpKind::kLoad;
  std::uint8_t location = 0;
  std::memory_order order = std::memory_order_relaxed;
  std::uint64_t operand = 0;
  bool is_local = false;  ///< commutes with every operation of other threads: run at once
  std::uint64_t expected = 0;
};

/// The order that a site has in this run: the product's, or a mutation's.
std::memory_order order_in_run(Site site);
void set_order_in_run(Site site, std::memory_order order);
void reset_orders_in_run();
/// Whether any run so far came to the site.
bool was_reached(Site site);

/// Called by the cells: the recorded result of the operation, or no return.
std::uint64_t step(const Op& op);
/// Called by programs: a false condition fails the schedule.
void expect(bool condition, const char* message);

/// Outcome of running a program over recorded results.
struct ProgramRun {
  enum class End : std::uint8_t { kFinished, kPending, kFailed } end = End::kFinished;
  Op pending;
  const char* failure = nullptr;
};
ProgramRun run_program(const std::function<void()>& program, const std::vector<std::uint64_t>& results);

/// Gives each cell that is made the next location number; a scenario begins with begin_world().
void begin_world();
std::uint8_t new_location(std::uint64_t initial);
const std::vector<std::uint64_t>& initial_values();

struct ModelMemory {
  template <class T>
  struct Cell {
    using value_type = T;
    Cell(T initial = 0) : location(new_location(initial)) {}  // NOLINT: implicit for arrays of cells
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;
    std::uint8_t location;
  };
  using Cell32 = Cell<std::uint32_t>;
  using Cell64 = Cell<std::uint64_t>;

  static constexpr unsigned kSpinsMax = 1;
  static void pause() {}

  /// A single writer's look at its own last store.
  static constexpr bool is_own(Site site) {
    return site == Site::kSlotOwnLoad || site == Site::kEntryOwnLoad || site == Site::kIndexOwnLoad;
  }

  template <class T, Site kSite>
  static T load(const Cell<T>& cell, AtSite<kSite>) {
    return static_cast<T>(step({OpKind::kLoad, cell.location, order_in_run(kSite), 0, is_own(kSite)}));
  }
  template <class T, Site kSite>
  static void store(Cell<T>& cell, std::type_identity_t<T> value, AtSite<kSite>) {
    step({OpKind::kStore, cell.location, order_in_run(kSite), value});
  }
  template <class T, Site kSite>
  static T fetch_add(Cell<T>& cell, std::type_identity_t<T> value, AtSite<kSite>) {
    return static_cast<T>(step({OpKind::kAdd, cell.location, order_in_run(kSite), value}));
  }
  template <class T, Site kSite>
  static T fetch_sub(Cell<T>& cell, std::type_identity_t<T> value, AtSite<kSite>) {
    return static_cast<T>(step({OpKind::kAdd, cell.location, order_in_run(kSite),
                                static_cast<std::uint64_t>(-std::int64_t{value})}));
  }
  template <class T, Site kSite>
  static T exchange(Cell<T>& cell, std::type_identity_t<T> value, AtSite<kSite>) {
    return static_cast<T>(step({OpKind::kExchange, cell.location, order_in_run(kSite), value}));
  }
  /// The load of a loop that ends when it reads `value`.
  template <class T, Site kSite>
  static void await(const Cell<T>& cell, std::type_identity_t<T> value, AtSite<kSite>) {
    step({OpKind::kAwait, cell.location, order_in_run(kSite), value});
  }
  template <class T, Site kSite>
  static bool compare_exchange(Cell<T>& cell, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                               AtSite<kSite>) {
    return step({OpKind::kCompareExchange, cell.location, order_in_run(kSite), value, false, expected}) ==
           expected;
  }
};

/// Bytes of a block, or any other memory that must never be accessed by two threads without order.
class Data {
 public:
  explicit Data(std::uint64_t initial = 0) : location_(new_location(initial)) {}
  [[nodiscard]] std::uint64_t read() const {
    return step({OpKind::kDataRead, location_, std::memory_order_relaxed, 0, true});
  }
  void write(std::uint64_t value) {
    step({OpKind::kDataWrite, location_, std::memory_order_relaxed, value, true});
  }

 private:
  std::uint8_t location_;
};

// Parts of a scenario that are not the protocol under test.
std::uint64_t peek(const ModelMemory::Cell64& cell);        ///< relaxed: possibly old
void poke(ModelMemory::Cell64& cell, std::uint64_t value);  ///< relaxed
void send(ModelMemory::Cell64& cell, std::uint64_t value);  ///< release: a message through a ring or socket
void receive(const ModelMemory::Cell64& cell, std::uint64_t value);  ///< acquire: waits for it
std::uint64_t choose(std::uint64_t count);
bool see_exit(std::uint64_t process);
void await_exit(std::uint64_t process);

}  // namespace kvtier::explore
