#pragma once
// Copies of whole blocks: past the caches, because what is copied is larger than they are and the copying side is done
// with it.

#include <cstddef>

namespace kvtier {

/// From this size on the copy streams; below it is memcpy.
inline constexpr std::size_t kStreamCopyBytesMin = std::size_t{32} * 1024;

/// As memcpy: no overlap. Large copies use non-temporal stores, which save reading the destination first (half of the
/// traffic of a copy into memory that is in no cache), and read four pages in turn, so that the processor fetches
/// ahead on each. The destination is in no cache afterwards. All stores are ordered before the caller's next store.
/// Thread: any. Own code because memcpy streams only beyond the size of the last-level cache, and libpmem, which
/// would stream, reads in one line only: no faster than memcpy out of cold memory here.
void stream_copy(void* to, const void* from, std::size_t bytes);

}  // namespace kvtier
