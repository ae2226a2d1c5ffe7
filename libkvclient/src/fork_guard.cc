#include "libkvclient/src/fork_guard.h"

#include <pthread.h>
#include <sys/mman.h>

#include "libkvclient/base/check.h"
#include "libkvclient/base/units.h"

namespace kvtier::client {
namespace {

using Word = std::atomic<std::uint64_t>;

Word* make_word() {
  void* page = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KV_CHECK(page != MAP_FAILED, "one page for the fork guard");
  return new (page) Word(0);
}

Word& word() {
  static Word* const instance = [] {
    Word* made = make_word();
    // A kernel before 4.14: then only fork() itself is noticed.
    if (::madvise(made, kPageBytes, MADV_WIPEONFORK) != 0) {
      ::pthread_atfork(nullptr, nullptr, [] { word().store(0); });
    }
    return made;
  }();
  return *instance;
}

// Copied into children like any variable, so that a child's tokens differ from all that its parent had.
std::atomic<std::uint64_t> last_token{0};

}  // namespace

ForkGuard::ForkGuard() : word_(&word()) {
  std::uint64_t found = word().load();
  if (found == 0) {
    const std::uint64_t fresh = last_token.fetch_add(1) + 1;
    if (word().compare_exchange_strong(found, fresh)) found = fresh;
  }
  token_ = found;
}

}  // namespace kvtier::client
