#pragma once
// The store: every verb of the daemon, without sockets and without threads. The conductor calls it with
// copies of what clients sent and delivers what it puts into the outbox; the simulation does the same under
// simulated time. Thread: one (the conductor). Nothing here blocks; `do_work` is bounded.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/memory/host_memory.h"
#include "daemon/model/fd_store.h"
#include "daemon/model/ids.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/channel.h"
#include "libkvclient/wire/control.h"

namespace kvtier {

class DiskPort;  // daemon/tier

/// When blocks are written to the NVMe tier.
enum class DiskWrite : std::uint8_t {
  kBack,    ///< when they are about to leave memory
  kThrough  ///< once they are committed
};

struct StoreOptions {
  std::uint64_t host_bytes = 0;
  std::uint64_t slab_bytes = 0;  ///< 0: chosen from host_bytes
  SlabPages pages = SlabPages::kOrdinary;
  MemoryLock lock = MemoryLock::kOff;
  std::uint32_t low_water_blocks = 64;
  std::uint32_t blocks_max =
      0;  ///< 0: what the host tier can hold in slots of one page; with a disk four times that
  std::uint32_t sessions_max = 256;
  std::uint32_t namespaces_max = 64;
  std::uint32_t spaces_max = 1024;           ///< of all namespaces together
  std::uint32_t pinned_percent_client = 50;  ///< of the tier; beyond: health degraded, holder named
  std::uint32_t pinned_percent_namespace = 80;
  std::function<std::uint64_t()> memory_available;  ///< HostMemoryOptions::available
  std::function<void()> slab_done;                  ///< HostMemoryOptions::slab_done
  /// Called before what an earlier instance left is dropped, with the reason. Null: not called.
  std::function<void(const std::string& reason)> on_cold;
  std::uint64_t seed = 0;    ///< 0: from the system's entropy; the simulation gives one
  DiskPort* disk = nullptr;  ///< the NVMe tier; null: none. Lives longer than the store
  /// There should be one, and it did not open: what is on its paths is there again when it does.
  bool is_disk_absent = false;
  DiskWrite disk_write = DiskWrite::kBack;
  /// How long a reservation that finds only blocks that are not on disk yet waits before it evicts them all the same.
  TimeNs disk_wait_ns = 20 * kNsPerMs;
};

/// Those options that may change while the store works.
struct StoreLimits {
  std::uint32_t low_water_blocks = 0;
  std::uint32_t pinned_percent_client = 0;
  std::uint32_t pinned_percent_namespace = 0;
};

/// Who connects. The caller (session) has checked the peer's right to the namespace.
struct SessionRequest {
  std::string namespace_name;
  std::uint64_t namespace_bytes_max = 0;  ///< 0: no limit of its own
  std::string client_name;
  std::string client_version;
  std::uint32_t pid = 0;  ///< in the daemon's view
  std::uint32_t uid = 0;
  bool is_read_only = false;
};

/// What a session needs to be told. Descriptors belong to the store.
struct SessionGrant {
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;  ///< unique over the instance's life, restarts included
  std::uint64_t secret[2] = {0, 0};
  std::uint64_t instance[2] = {0, 0};  ///< random at a cold start, kept over a warm one
  NamespaceId namespace_id = NamespaceId::kNone;
  int channel_fd = -1;
  std::uint64_t channel_bytes = 0;
  int directory_fd = -1;  ///< read-only
  std::uint64_t directory_bytes = 0;
  std::byte* channel = nullptr;  ///< the daemon's mapping: the session layer runs the rings in it
};

struct SpaceGrant {
  SpaceId space = SpaceId::kNone;
  std::uint64_t block_bytes = 0;
  std::uint64_t slot_bytes = 0;
  Digest digest{};
};

/// A space, and the namespace that it is of.
struct SpaceIds {
  NamespaceId tenant = NamespaceId::kNone;
  SpaceId space = SpaceId::kNone;
};

/// A slab as a client must be told of it.
struct SlabGrant {
  int data_fd = -1;   ///< read-only descriptor for read-only sessions
  int table_fd = -1;  ///< read-only
  SlabAdd message{};  ///< header not filled in
};

struct DirectoryGrant {
  int fd = -1;
  std::uint64_t bytes = 0;
  std::uint64_t epoch = 0;
};

/// Bytes that a background agent sums (XXH3). They do not change and do not move before checksum_done.
struct ChecksumJob {
  BlockId block = BlockId::kNone;
  std::uint64_t generation = 0;
  std::span<const std::byte> bytes;
  bool is_doubted = false;   ///< it has a sum, which is compared
  bool is_restored = false;  ///< and came from its copy on disk
};

/// Blocks that were found damaged in memory and taken out, and the last one.
struct CorruptBlocks {
  std::uint64_t count = 0;
  std::string_view namespace_name;
  Digest space{};
  Key key{};
};

/// One thing for the session layer to deliver. In order per session.
struct OutEvent {
  enum class Kind : std::uint8_t {
    kCompletion,
    kSlabAdd,
    kSlabRevoke,
    kSlabRemove,
    kDirectoryMoved,
    kEndSession
  };
  Kind kind = Kind::kCompletion;
  SessionIndex session = SessionIndex::kNone;
  Completion completion{};            // kCompletion
  SlabIndex slab = SlabIndex::kNone;  // kSlab*
  std::uint32_t epoch = 0;            // kSlabRevoke, kSlabRemove, kDirectoryMoved
  std::string reason;                 // kEndSession: the client broke the protocol, or was kicked
};

/// Places that an outbox has from the start: a round with more answers than that takes memory.
inline constexpr std::size_t kOutboxEvents = 8192;

struct StoreStats;  // stats.h
class StoreAdmin;   // admin.h: what kvctl asks

class Store {
 public:
  /// Takes the memory (pages reserved). kNoSpace with needed, available and the knob when it does not fit.
  /// Adopts what `fds` holds from an earlier instance, all or nothing.
  static Result<std::unique_ptr<Store>> create(const StoreOptions& options, const Clock& clock, FdStore& fds);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Sessions
  Result<SessionGrant> session_open(const SessionRequest& request);
  /// The session that this secret proves and that nobody is connected to; kNone: there is none.
  SessionIndex session_proved(std::uint64_t session_id, const std::uint64_t (&secret)[2]);
  /// Its process is back, after our restart or after a hang-up: same channel, same pins, same slabs. The caller
  /// has checked that it is the same process. kStale: open a new one.
  Result<SessionGrant> session_resume(std::uint64_t session_id, const std::uint64_t (&secret)[2],
                                      const SessionRequest& request);
  /// The pidfd that was adopted with a session, for the liveness watch of sessions that have not come back;
  /// -1: none.
  [[nodiscard]] std::vector<std::pair<SessionIndex, int>> adopted_sessions() const;
  /// Stores the pidfd beside the channel; from here on the next instance adopts the session. Before the
  /// client has the channel: a daemon that dies earlier leaves nothing that anybody uses.
  void session_keep_pidfd(SessionIndex session, int pidfd);
  /// The socket closed. Pins and slabs stay, slots being written are quarantined: the process may still use
  /// them (zombie) until it exits, or comes back and says that it does not.
  void session_hang_up(SessionIndex session);
  /// The process is gone (pidfd): everything it held comes back.
  void session_exited(SessionIndex session);

  /// The configuration's limit of a namespace, at start and whenever it changes (quota.h); 0: none.
  void namespace_limit(std::string_view name, std::uint64_t bytes_max);

  // The NVMe tier, if StoreOptions::disk names one: its answers and news are taken in do_work().
  /// A space of before, from the tier's catalog: namespace and space are there again. kNoSpace, kInvalid: what is on disk
  /// of it is given up.
  Result<SpaceIds> disk_space(std::string_view namespace_name, std::span<const std::byte> encoding);
  /// All spaces of the catalog were said: the tier is to open.
  void disk_open();
  /// What is on disk is told, or there is nothing that will be.
  [[nodiscard]] bool disk_is_known() const;
  /// Nothing further is written or read; disk_is_over() once the tier has noted the clean end.
  void disk_close();
  [[nodiscard]] bool disk_is_over() const;

  // Control messages
  Result<SpaceGrant> space_register(SessionIndex session, std::span<const std::byte> spec);
  [[nodiscard]] std::vector<SlabIndex> slabs_of(SessionIndex session) const;
  Result<SlabGrant> slab_grant(SessionIndex session, SlabIndex slab);
  void slab_acknowledged(SessionIndex session, const SlabAck& ack);
  /// The directory as it is now, for kDirectoryMoved: descriptor (the store's), length, epoch.
  DirectoryGrant directory_grant(SessionIndex session) const;
  void directory_acknowledged(SessionIndex session, std::uint64_t epoch);

  /// Checksums are another thread's work: the next block that is due, which stays where it is until
  /// checksum_done gives its sum. Any number may be under way.
  std::optional<ChecksumJob> checksum_next();
  void checksum_done(const ChecksumJob& job, std::uint64_t sum);
  [[nodiscard]] const CorruptBlocks& corrupt() const;
  /// Adopted blocks that are not verified, and so not visible, yet.
  [[nodiscard]] std::uint64_t unverified_count() const;
  /// Why the start was cold although an earlier instance left memory; empty: it was warm, or there was
  /// nothing.
  [[nodiscard]] const std::string& cold_reason() const;

  // Commands: `submission` is the daemon's own copy. Breaking the protocol ends that session (kEndSession).
  void submit(SessionIndex session, const Submission& submission);

  /// Timers, deferred reservations, background eviction, invalidations: a bounded piece. Returns work done.
  std::size_t do_work();
  /// When do_work has something to do without further input; kNever: not before the next call.
  [[nodiscard]] TimeNs next_deadline() const;
  /// Moves the queued events out; call after every submit and do_work.
  std::vector<OutEvent>& outbox() { return outbox_; }

  void set_limits(const StoreLimits& limits);

  /// Why not all of the tier is locked although that was to be tried.
  [[nodiscard]] const Status& lock_refusal() const;

  [[nodiscard]] const StoreStats& stats() const;
  StoreAdmin& admin();

  struct State;  // state.h
  State& state() { return *state_; }

 private:
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::vector<OutEvent> outbox_;
};

}  // namespace kvtier
