#include "libkvclient/base/stream_copy.h"

#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace kvtier {

#ifdef __x86_64__
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;
// In turn: the processor fetches ahead on each. Out of cold memory four take 0.91 of the time of two that are fetched ahead by
// hand, more no less.
constexpr std::size_t kPages = 4;

// Whole lines of the pages in turn, [to, to + kPages * kPage); `to` begins a line.
void stream_pages_sse2(std::byte* to, const std::byte* from) {
  for (std::size_t at = 0; at < kPage; at += kLine) {
    for (std::size_t line = at; line < kPages * kPage; line += kPage) {
      const auto* source = reinterpret_cast<const __m128i*>(from + line);
      auto* target = reinterpret_cast<__m128i*>(to + line);
      const __m128i a = _mm_loadu_si128(source);
      const __m128i b = _mm_loadu_si128(source + 1);
      const __m128i c = _mm_loadu_si128(source + 2);
      const __m128i d = _mm_loadu_si128(source + 3);
      _mm_stream_si128(target, a);
      _mm_stream_si128(target + 1, b);
      _mm_stream_si128(target + 2, c);
      _mm_stream_si128(target + 3, d);
    }
  }
}

__attribute__((target("avx512f"))) void stream_pages_avx512(std::byte* to, const std::byte* from) {
  for (std::size_t at = 0; at < kPage; at += kLine) {
    for (std::size_t line = at; line < kPages * kPage; line += kPage) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + line), _mm512_loadu_si512(from + line));
    }
  }
}

using StreamPages = void (*)(std::byte*, const std::byte*);

StreamPages fastest() {
  return __builtin_cpu_supports("avx512f") != 0 ? stream_pages_avx512 : stream_pages_sse2;
}

}  // namespace

void stream_copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;  // memcpy may not have null pointers even then
  if (bytes < kStreamCopyBytesMin) {
    std::memcpy(to, from, bytes);
    return;
  }
  static const StreamPages stream_pages = fastest();
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % kLine;
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (; bytes - at >= kPages * kPage; at += kPages * kPage) stream_pages(target + at, source + at);
  std::memcpy(target + at, source + at, bytes - at);
  // Non-temporal stores are weakly ordered: without this a later publication could be seen before the bytes.
  _mm_sfence();
}

#else

void stream_copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

#endif

}  // namespace kvtier
