#pragma once
// Processes of a benchmark, made by fork before any client is open, and how they talk: events and a shared
// object.

#include <sys/mman.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <new>

#include "libkvclient/base/unique_fd.h"
#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {

/// A counted event between processes. Made before the fork.
class Event {
 public:
  Event();
  void post(std::uint64_t count = 1) const;
  /// Takes one. Throws when a minute passes: the other process is gone or stuck.
  void wait() const;

 private:
  UniqueFd fd_;
};

/// An object that parent and children see. Made before the fork.
template <class T>
class Shared {
 public:
  Shared() {
    void* memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(memory != MAP_FAILED, "mmap of shared memory failed");
    object_ = new (memory) T{};
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(object_, sizeof(T)); }

  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_;
};

/// Runs a function in a child; it dies with the parent. A failure is printed there and fails join().
class Child {
 public:
  explicit Child(const std::function<void()>& body);
  Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills one that was not joined.
  ~Child();

  /// Waits for its end; throws unless it ended well.
  void join();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace kvtier::bench
