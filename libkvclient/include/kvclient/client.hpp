// libkvclient for C++: owners over the C contract (kvclient.h), header only. Move-only; what a call refuses
// is thrown as kvclient::Error, what is a miss is returned. Needs C++20.
#ifndef KVCLIENT_CLIENT_HPP
#define KVCLIENT_CLIENT_HPP

#if __cplusplus < 202002L
#error "kvclient/client.hpp needs C++20: compile with -std=c++20"
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvclient/kvclient.h"

namespace kvclient {

class Error : public std::runtime_error {
 public:
  explicit Error(int code)
      : std::runtime_error(std::string(kvc_code_name(code)) + ": " + kvc_last_error()), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

inline void check(int code) {
  if (code != KVC_OK) throw Error(code);
}
/// For the data path: a daemon that is away, or slow, is a miss.
inline int check_unless_away(int code) {
  if (code != KVC_UNAVAILABLE && code != KVC_DEADLINE) check(code);
  return code;
}

/// kvc_copy; std::invalid_argument when the sizes differ.
inline void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  if (to.size() != from.size()) throw std::invalid_argument("kvclient::copy: the sizes differ");
  kvc_copy(to.data(), from.data(), to.size());
}

using Keys = std::span<const kvc_key>;

namespace detail {
template <auto kClose>
struct Closer {
  template <class T>
  void operator()(T* handle) const {
    kClose(handle);
  }
};
template <class T, auto kClose>
using Handle = std::unique_ptr<T, Closer<kClose>>;
}  // namespace detail

class Spec {
 public:
  explicit Spec(kvc_spec_options options) {
    options.struct_size = sizeof options;
    kvc_spec* made = nullptr;
    check(kvc_spec_create(&options, &made));
    handle_.reset(made);
  }
  Spec& add_part(kvc_part part) {
    part.struct_size = sizeof part;
    check(kvc_spec_add_part(handle_.get(), &part));
    return *this;
  }
  Spec& set_shard(kvc_shard shard) {
    shard.struct_size = sizeof shard;
    check(kvc_spec_set_shard(handle_.get(), &shard));
    return *this;
  }
  Spec& set_rope(const std::string& name, const std::string& value) {
    check(kvc_spec_set_rope(handle_.get(), name.c_str(), value.c_str()));
    return *this;
  }
  Spec& set_extra(const std::string& name, const std::string& value) {
    check(kvc_spec_set_extra(handle_.get(), name.c_str(), value.c_str()));
    return *this;
  }
  [[nodiscard]] kvc_key digest() const {
    kvc_key digest{};
    check(kvc_spec_digest(handle_.get(), &digest));
    return digest;
  }
  [[nodiscard]] const kvc_spec* get() const { return handle_.get(); }

 private:
  detail::Handle<kvc_spec, kvc_spec_destroy> handle_;
};

/// Blocks pinned for reading; the storage is reused by the next acquire.
class Lease {
 public:
  Lease(kvc_client* client, std::size_t capacity) {
    kvc_lease* made = nullptr;
    check(kvc_lease_create(client, capacity, &made));
    handle_.reset(made);
  }
  /// Entries, and those of them that are held.
  [[nodiscard]] std::size_t size() const { return kvc_lease_count(handle_.get()); }
  [[nodiscard]] std::size_t held() const { return kvc_lease_held(handle_.get()); }
  /// Empty for an entry that is not held. Valid until release().
  [[nodiscard]] std::span<const std::byte> operator[](std::size_t i) const {
    const void* data = kvc_lease_blocks(handle_.get())[i];
    if (data == nullptr) return {};
    return {static_cast<const std::byte*>(data), kvc_lease_block_bytes(handle_.get())};
  }
  void release() { kvc_release(handle_.get()); }
  [[nodiscard]] kvc_lease* get() const { return handle_.get(); }

 private:
  detail::Handle<kvc_lease, kvc_lease_destroy> handle_;
};

/// Reserved slots. What is neither committed nor aborted at the end of its life is aborted. Must not outlive
/// its Space.
class Reservation {
 public:
  Reservation(kvc_space* space, std::size_t block_bytes, std::size_t count)
      : space_(space), block_bytes_(block_bytes), slots_(count) {}
  Reservation(Reservation&& other) noexcept
      : space_(other.space_), block_bytes_(other.block_bytes_), slots_(std::move(other.slots_)) {
    other.slots_.clear();
  }
  Reservation& operator=(Reservation&& other) noexcept {
    if (this != &other) {
      abort();
      space_ = other.space_;
      block_bytes_ = other.block_bytes_;
      slots_ = std::move(other.slots_);
      other.slots_.clear();
    }
    return *this;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { abort(); }

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  /// KVC_OK: new, fill it.
  [[nodiscard]] int code(std::size_t i) const { return slots_[i].code; }
  [[nodiscard]] int cause(std::size_t i) const { return slots_[i].cause; }
  [[nodiscard]] bool is_new(std::size_t i) const { return slots_[i].data != nullptr; }
  /// Empty unless new.
  [[nodiscard]] std::span<std::byte> buffer(std::size_t i) const {
    if (!is_new(i)) return {};
    return {static_cast<std::byte*>(slots_[i].data), block_bytes_};
  }
  /// `flags`: KVC_WAIT. Returns the code; KVC_STALE, KVC_UNAVAILABLE, KVC_EXISTS, KVC_PENDING: blocks are lost, nothing
  /// else. KVC_DEADLINE: those that are still new can be committed again.
  int commit(std::uint32_t flags = 0) { return kvc_commit(space_, slots_.data(), slots_.size(), flags, 0); }
  int commit_one(std::size_t i, std::uint32_t flags = 0) {
    return kvc_commit(space_, &slots_[i], 1, flags, 0);
  }
  /// As commit(KVC_WAIT); what is there now is leased without a moment in between. The lease must be empty.
  int commit_acquire(Lease& lease) {
    return kvc_commit_acquire(space_, slots_.data(), slots_.size(), 0, lease.get());
  }
  void abort() {
    // No wait for a full ring: the library sends it later.
    if (!slots_.empty()) (void)kvc_abort(space_, slots_.data(), slots_.size(), 0, 1);
  }
  [[nodiscard]] std::span<kvc_slot> slots() { return slots_; }

 private:
  kvc_space* space_;
  std::size_t block_bytes_;
  std::vector<kvc_slot> slots_;
};

struct Match {
  std::size_t ready = 0;             ///< leading blocks that are ready
  std::vector<std::uint8_t> states;  ///< kvc_block_state of each
};

class Space {
 public:
  explicit Space(kvc_space* handle) : handle_(handle) {
    facts_.struct_size = sizeof facts_;
    check(kvc_space_info(handle, &facts_));
  }
  [[nodiscard]] std::size_t block_bytes() const { return facts_.block_bytes; }
  [[nodiscard]] std::uint32_t block_tokens() const { return facts_.block_tokens; }
  [[nodiscard]] const kvc_key& digest() const { return facts_.digest; }

  [[nodiscard]] std::vector<kvc_key> keys(std::span<const std::uint32_t> tokens, std::string_view salt = {},
                                          const kvc_key* parent = nullptr) const {
    std::vector<kvc_key> keys(tokens.size() / block_tokens());
    std::size_t count = 0;
    check(kvc_keys_from_tokens(handle_.get(), tokens.data(), tokens.size(), salt.data(), salt.size(), parent,
                               keys.data(), keys.size(), &count));
    return keys;
  }
  [[nodiscard]] std::size_t ready(Keys keys) const {
    std::size_t ready = 0;
    check_unless_away(kvc_match(handle_.get(), keys.data(), keys.size(), nullptr, &ready));
    return ready;
  }
  [[nodiscard]] Match match(Keys keys) const {
    Match found{0, std::vector<std::uint8_t>(keys.size())};
    check_unless_away(kvc_match(handle_.get(), keys.data(), keys.size(), found.states.data(), &found.ready));
    return found;
  }
  [[nodiscard]] Match wait(Keys keys, std::uint64_t deadline_ns) const {
    Match found{0, std::vector<std::uint8_t>(keys.size())};
    check_unless_away(
        kvc_wait(handle_.get(), keys.data(), keys.size(), deadline_ns, found.states.data(), &found.ready));
    return found;
  }
  /// As wait, after asking for what is on disk. Also when there was no room for all of it.
  [[nodiscard]] Match restore(Keys keys, std::uint64_t deadline_ns) const {
    Match found{0, std::vector<std::uint8_t>(keys.size())};
    const int code =
        kvc_restore(handle_.get(), keys.data(), keys.size(), deadline_ns, found.states.data(), &found.ready);
    if (code != KVC_NO_SPACE) check_unless_away(code);
    return found;
  }
  /// Into an empty lease; returns how many blocks are held. `flags`: KVC_UNORDERED, KVC_ALL_OR_NOTHING, KVC_VERIFY.
  std::size_t acquire(Keys keys, Lease& lease, std::uint32_t flags = 0, std::uint64_t request_id = 0) const {
    check_unless_away(kvc_acquire(handle_.get(), keys.data(), keys.size(), flags, request_id, lease.get()));
    return lease.held();
  }
  /// Every slot has its answer, also when the daemon is away or there is no space. `flags`: KVC_ALL_OR_NOTHING,
  /// KVC_NO_CLAIM.
  [[nodiscard]] Reservation reserve(Keys keys, const kvc_key* parent = nullptr, std::uint32_t flags = 0,
                                    std::uint64_t deadline_ns = 0) const {
    Reservation made(handle_.get(), block_bytes(), keys.size());
    const kvc_reserve_options options{sizeof options, parent, deadline_ns, flags, 0};
    const int code = kvc_reserve(handle_.get(), keys.data(), keys.size(), &options, made.slots().data());
    if (code != KVC_NO_SPACE) check_unless_away(code);
    return made;
  }
  std::size_t pin(Keys keys, std::uint64_t ttl_ns) const {
    std::size_t pinned = 0;
    check_unless_away(kvc_pin(handle_.get(), keys.data(), keys.size(), ttl_ns, 0, &pinned));
    return pinned;
  }
  void unpin(Keys keys) const { check_unless_away(kvc_unpin(handle_.get(), keys.data(), keys.size(), 0)); }
  /// The blocks of these keys are on disk behind an fdatasync: how many. Throws, and so says why, where one is not.
  std::uint64_t sync(Keys keys, std::uint64_t deadline_ns = 0) const {
    std::uint64_t durable = 0;
    if (keys.empty()) return durable;
    check(kvc_sync(handle_.get(), keys.data(), keys.size(), deadline_ns, &durable, nullptr));
    return durable;
  }
  /// Likewise all blocks of the space.
  std::uint64_t sync_all(std::uint64_t deadline_ns = 0) const {
    std::uint64_t durable = 0;
    check(kvc_sync(handle_.get(), nullptr, 0, deadline_ns, &durable, nullptr));
    return durable;
  }
  std::uint64_t invalidate(std::uint64_t deadline_ns = 0) const {
    std::uint64_t blocks = 0;
    check(kvc_invalidate(handle_.get(), deadline_ns, &blocks));
    return blocks;
  }
  [[nodiscard]] kvc_space* get() const { return handle_.get(); }

 private:
  detail::Handle<kvc_space, kvc_space_close> handle_;
  kvc_space_facts facts_{};
};

class Client {
 public:
  explicit Client(kvc_client_options options = {}) {
    options.struct_size = sizeof options;
    kvc_client* made = nullptr;
    check(kvc_client_open(&options, &made));
    handle_.reset(made);
  }
  [[nodiscard]] Space space(const Spec& spec, std::uint64_t deadline_ns = 0) const {
    kvc_space* made = nullptr;
    check(kvc_space_register(handle_.get(), spec.get(), deadline_ns, &made));
    return Space(made);
  }
  [[nodiscard]] Lease lease(std::size_t capacity) const { return Lease(handle_.get(), capacity); }
  [[nodiscard]] kvc_client_status status() const {
    kvc_client_status status{};
    status.struct_size = sizeof status;
    check(kvc_status(handle_.get(), &status));
    return status;
  }
  [[nodiscard]] kvc_client_stats stats() const {
    kvc_client_stats stats{};
    stats.struct_size = sizeof stats;
    check(kvc_stats(handle_.get(), &stats));
    return stats;
  }
  [[nodiscard]] bool is_connected() const { return status().connection == KVC_CONNECTED; }
  void ping(std::uint64_t deadline_ns = 0) const { check(kvc_ping(handle_.get(), deadline_ns)); }
  std::uint64_t invalidate_namespace(std::uint64_t deadline_ns = 0) const {
    std::uint64_t blocks = 0;
    check(kvc_invalidate_namespace(handle_.get(), deadline_ns, &blocks));
    return blocks;
  }
  [[nodiscard]] kvc_client* get() const { return handle_.get(); }

 private:
  detail::Handle<kvc_client, kvc_client_close> handle_;
};

}  // namespace kvclient

#endif  // KVCLIENT_CLIENT_HPP
