#pragma once
// An array of zeros for as many blocks as there may ever be, whose pages are taken as they are used.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "libkvclient/base/check.h"

namespace kvtier {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

template <class T>
using Zeroed = std::unique_ptr<T[], FreeMemory>;

/// At start: without memory for it the process ends.
template <class T>
Zeroed<T> make_zeroed(std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  void* memory = std::calloc(count, sizeof(T));
  KV_CHECK(memory != nullptr, "no memory for what the policy knows of blocks");
  return Zeroed<T>(static_cast<T*>(memory));
}

}  // namespace kvtier
