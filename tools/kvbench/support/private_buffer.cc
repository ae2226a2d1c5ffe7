#include "tools/kvbench/support/private_buffer.h"

#include <sys/mman.h>

#include <cstring>

#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {
namespace {

constexpr std::size_t kFlushBytes = 96 << 20;  // three times the largest cache seen

}  // namespace

PrivateBuffer::PrivateBuffer(std::size_t bytes) : bytes_(bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(memory != MAP_FAILED, "mmap of a private buffer failed");
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
  std::memset(data_, 1, bytes);
}

PrivateBuffer::~PrivateBuffer() {
  ::munmap(data_, bytes_);
}

void flush_caches() {
  static const PrivateBuffer scratch(kFlushBytes);
  for (std::size_t at = 0; at < kFlushBytes; at += 64) scratch.data()[at] ^= std::byte{1};
  keep(scratch.data()[0]);
}

}  // namespace kvtier::bench
