#include "tests/support/allocation_trap.h"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

extern "C" {
// The C library's own, under the names that it keeps for programs with a malloc of theirs.
void* __libc_malloc(std::size_t bytes);                           // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t bytes);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* memory, std::size_t bytes);            // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t alignment, std::size_t bytes);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

constexpr int kFramesMax = 24;
constexpr std::size_t kPlacesMax = 64;

thread_local bool is_armed = false;
std::atomic<bool> is_armed_for_all{false};
thread_local bool is_reporting = false;  // a report may take memory itself
std::atomic<std::size_t> caught{0};
std::array<std::atomic<std::uint64_t>, kPlacesMax> places{};

// FNV-1a over the return addresses: one number a place.
std::uint64_t place_of(void* const* frames, int count) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (int i = 0; i < count; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 0x100000001b3ULL;
  return hash;
}

bool is_new_place(std::uint64_t place) {
  for (std::atomic<std::uint64_t>& each : places) {
    std::uint64_t seen = 0;
    if (each.compare_exchange_strong(seen, place)) return true;
    if (seen == place) return false;
  }
  return false;
}

// relaxed: a thread that the trap is to watch hears of it in another way, as of the work that it does in it.
bool is_watched() {
  return !is_reporting && (is_armed || is_armed_for_all.load(std::memory_order_relaxed));
}

void look() {
  if (!is_watched()) return;
  is_reporting = true;
  ++caught;
  std::array<void*, kFramesMax> frames{};
  const int count = ::backtrace(frames.data(), kFramesMax);
  if (is_new_place(place_of(frames.data(), count))) {
    constexpr char kTitle[] = "allocation on a path that takes no memory:\n";
    (void)!::write(STDERR_FILENO, kTitle, std::strlen(kTitle));
    ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  }
  is_reporting = false;
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) {
  look();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  look();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  look();
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  look();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  look();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  look();
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace kvtier::test {
namespace {

void set_armed(AllocationTrap::Watch watch, bool on) {
  if (watch == AllocationTrap::Watch::kThisThread) {
    is_armed = on;
  } else {
    is_armed_for_all.store(on);
  }
}

}  // namespace

AllocationTrap::AllocationTrap(Watch watch) : watch_(watch) {
  std::array<void*, 1> frame{};
  (void)::backtrace(frame.data(), 1);  // the first call of a process loads a library
  set_armed(watch_, true);
}

AllocationTrap::~AllocationTrap() {
  set_armed(watch_, false);
}

std::size_t AllocationTrap::caught_count() {
  return caught.load();
}

}  // namespace kvtier::test
