#pragma once
// Limits that both sides compile in. A value beyond one of them is kInvalid for its sender alone.

#include <cstdint>

namespace kvtier {

inline constexpr std::uint32_t kProtocolMajor = 1;  ///< differs: refuse with kVersion, both numbers named
inline constexpr std::uint32_t kProtocolMinor = 3;  ///< differs: the lower one's features are used
inline constexpr std::uint32_t kStockMinor = 1;     ///< the first with a stock (stock.h)
inline constexpr std::uint32_t kSumsMinor = 2;      ///< the first that tells checksums (kSums)
inline constexpr std::uint32_t kSyncMinor = 3;      ///< the first that says when blocks are on disk (kSync)
inline constexpr std::uint32_t kMessageBytesMax = 32 * 1024;  ///< one control message on the socket
inline constexpr std::uint32_t kMessageFdsMax = 4;
inline constexpr std::uint32_t kSpecBytesMax = 16 * 1024;  ///< an encoded spec
inline constexpr std::uint32_t kNameBytes = 64;            ///< a name with its terminating NUL
inline constexpr std::uint32_t kVersionBytes = 32;
inline constexpr std::uint32_t kSubmissionEntries = 1024;  ///< power of two
inline constexpr std::uint32_t kCompletionEntries =
    1024;  ///< power of two; at most this many requests are open
inline constexpr std::uint32_t kAccessLogEntries = 4096;  ///< power of two
inline constexpr std::uint64_t kArenaBytes = 1 << 20;
inline constexpr std::uint32_t kRequestKeysMax =
    4096;  ///< keys in one request; the library splits longer calls
inline constexpr std::uint32_t kDoubtsMax =
    64;  ///< entries of a kSums with kFlagDoubt; one of a session is open
inline constexpr std::uint64_t kBlockBytesMax = 1ULL << 30;
inline constexpr std::uint32_t kPartsMax = 16;
inline constexpr std::uint64_t kPinTtlNsMax =
    24ULL * 3600 * 1'000'000'000;  ///< no pin outlives a day without renewal

}  // namespace kvtier
