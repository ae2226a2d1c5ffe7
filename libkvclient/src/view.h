#pragma once
// What the read path sees of a session: one immutable object, replaced as a whole by the service thread. A
// reader loads it once a call, inside a ReadSection, which keeps it and all that it points to alive.

#include <atomic>
#include <cstdint>
#include <vector>

#include "libkvclient/src/readers.h"
#include "libkvclient/wire/access_log.h"
#include "libkvclient/wire/directory_reader.h"
#include "libkvclient/wire/pins.h"

namespace kvtier::client {

class Session;

struct SlabView {
  const std::byte* data = nullptr;  ///< null: not mapped
  const SlotCell* words = nullptr;
  PinCell* pins = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t slots_max = 0;
  std::atomic<bool>* is_touched = nullptr;  ///< set once a lease fell into it: its pages are worth mapping
};

struct View {
  [[nodiscard]] bool is_mapped(std::uint32_t slab) const {
    return slab < slabs.size() && slabs[slab].data != nullptr;
  }

  std::uint32_t epoch = 0;
  Session* session = nullptr;
  DirectoryReader directory;
  AccessLogProducer log;
  int doorbell = -1;
  int wake = -1;  ///< the service thread
  std::vector<SlabView> slabs;
};

using ViewPointer = std::atomic<const View*>;

class ReadSection {
 public:
  ReadSection(Readers& readers, const ViewPointer& pointer)
      : shard_(readers.shard()), parity_(readers.enter(shard_)), view_(Grace::look(pointer)) {}
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;
  ~ReadSection() { Readers::leave(shard_, parity_); }

  [[nodiscard]] const View* view() const { return view_; }
  [[nodiscard]] ReaderShard& shard() const { return shard_; }

 private:
  ReaderShard& shard_;
  unsigned parity_;
  const View* view_;
};

}  // namespace kvtier::client
