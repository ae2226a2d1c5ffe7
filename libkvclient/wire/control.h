#pragma once
// Messages on the socket (SOCK_SEQPACKET, one message a packet, descriptors by SCM_RIGHTS): session set-up,
// spaces, slabs. The data path never comes here. Layouts: WIRE.md, "Control". Unknown types are refused,
// never skipped.

#include <cstdint>
#include <type_traits>

#include "libkvclient/base/status.h"
#include "libkvclient/wire/limits.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

inline constexpr std::uint32_t kMessageMagic = 0x3154564b;  // "KVT1"

enum class MessageType : std::uint16_t {
  // client to daemon
  kHello = 1,
  kRegisterSpace = 2,
  kSlabAck = 3,
  kDirectoryAck = 4,
  kGoodbye = 5,  ///< a header alone: the client has unmapped everything and holds nothing; its session may
                 ///< end and give
                 ///< all back now, without waiting for the process to exit
  // daemon to client
  kWelcome = 101,
  kRefused = 102,  ///< answer to a request, or (sequence 0) the session's end with its reason
  kSpaceReady = 103,
  kSlabAdd = 104,         ///< descriptors: slab, slot table
  kSlabRevoke = 105,      ///< drop write access, then acknowledge
  kSlabRemove = 106,      ///< unmap, then acknowledge
  kDirectoryMoved = 107,  ///< descriptor: the new directory. Swap, then acknowledge
};

struct MessageHeader {
  std::uint32_t magic;
  MessageType type;
  std::uint16_t reserved;
  std::uint32_t bytes;     ///< whole message
  std::uint32_t sequence;  ///< of the request that this answers, or of the request itself; 0: an event
};

/// Descriptors: optionally the client's own pidfd (where the daemon cannot open one: another PID namespace).
struct Hello {
  MessageHeader header;
  std::uint32_t protocol_major;
  std::uint32_t protocol_minor;
  std::uint32_t pid;             ///< as the client sees it; informative
  std::uint32_t flags;           ///< kHelloReadOnly
  std::uint64_t resume_session;  ///< 0, or the session to take up again after the daemon's restart
  std::uint64_t resume_secret[2];
  char client_version[kVersionBytes];
  char client_name[kNameBytes];
  char namespace_name[kNameBytes];
};
inline constexpr std::uint32_t kHelloReadOnly = 1;

/// Descriptors: channel (read-write), directory (read-only), doorbell (eventfd).
struct Welcome {
  MessageHeader header;
  std::uint32_t protocol_major;
  std::uint32_t protocol_minor;
  std::uint64_t session_id;
  std::uint64_t secret[2];
  std::uint64_t instance[2];  ///< random per daemon start that began cold; equal after a warm restart
  std::uint64_t channel_bytes;
  std::uint64_t directory_bytes;
  std::uint32_t namespace_id;
  std::uint32_t flags;  ///< kWelcomeReadOnly, kWelcomeResumed
  char daemon_version[kVersionBytes];
};
inline constexpr std::uint32_t kWelcomeReadOnly = 1;
inline constexpr std::uint32_t kWelcomeResumed = 2;

struct Refused {
  MessageHeader header;
  Code code;
  std::uint8_t reserved[3];
  std::uint32_t text_bytes;  ///< text follows, no NUL
};

struct RegisterSpace {
  MessageHeader header;
  std::uint32_t spec_bytes;  ///< the canonical encoding (spec.h) follows
  std::uint32_t reserved;
};

struct SpaceReady {
  MessageHeader header;
  SpaceId space;
  std::uint32_t reserved;
  std::uint64_t block_bytes;
  std::uint64_t slot_bytes;  ///< block_bytes rounded up to kSlotAlignment
  Digest digest;
};

struct SlabAdd {
  MessageHeader header;
  std::uint32_t slab;
  std::uint32_t flags;  ///< kSlabWritable: the descriptor allows mapping for writing
  std::uint64_t slab_bytes;
  std::uint64_t table_bytes;
  std::uint64_t pins_offset;  ///< bytes from ChannelLayout::kPins
  std::uint64_t slots_max;
};
inline constexpr std::uint32_t kSlabWritable = 1;

struct SlabEvent {  ///< kSlabRevoke, kSlabRemove
  MessageHeader header;
  std::uint32_t slab;
  std::uint32_t epoch;  ///< repeated in the acknowledgement
};

enum class SlabState : std::uint8_t { kReleased = 1, kUnmapped = 2, kBusy = 3 };

struct SlabAck {
  MessageHeader header;
  std::uint32_t slab;
  std::uint32_t epoch;
  SlabState state;
  std::uint8_t reserved[7];
};

struct DirectoryMoved {
  MessageHeader header;
  std::uint64_t directory_bytes;
  std::uint64_t epoch;
};
using DirectoryAck = DirectoryMoved;

static_assert(sizeof(MessageHeader) == 16 && sizeof(Hello) == 216 && sizeof(Welcome) == 120);
static_assert(sizeof(Refused) == 24 && sizeof(RegisterSpace) == 24 && sizeof(SpaceReady) == 72);
static_assert(sizeof(SlabAdd) == 56 && sizeof(SlabEvent) == 24 && sizeof(SlabAck) == 32);
static_assert(sizeof(DirectoryMoved) == 32);
static_assert(std::is_trivially_copyable_v<Hello> && std::is_trivially_copyable_v<Welcome>);

}  // namespace kvtier
