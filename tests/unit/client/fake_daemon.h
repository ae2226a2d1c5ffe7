#pragma once
// A small daemon inside the test process: real sockets, real memfds, real rings; it can also misbehave. One
// thread of its own; every public call locks.

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libkvclient/wire/message_socket.h"
#include "libkvclient/wire/ring.h"
#include "tests/unit/client/fake_store.h"

namespace kvtier::test {

/// What it does wrong. Given at the start, or with change().
struct Misbehaviour {
  std::uint32_t protocol_major = kProtocolMajor;
  std::uint32_t protocol_minor = kProtocolMinor;
  Status refusal;          ///< not ok: every hello is refused with it
  Status space_refusal;    ///< not ok: every registration
  bool is_silent = false;  ///< accepts, never answers a hello
  bool hangs_up_on_hello = false;
  bool sends_short_welcome = false;
  bool sends_unknown_message = false;  ///< after the welcome
  bool refuses_resume = false;
  bool announces_slabs_late = false;  ///< only when announce_slabs() is called
  bool is_talkative = false;          ///< sends a message whenever it looks at its sockets
  bool takes_no_records = false;      ///< its rings fill up
  bool reads_no_messages = false;     ///< its sockets fill up
  bool ignores_spaces = false;        ///< never answers a registration
  bool holds_restores = false;        ///< until FakeStore::end_restores()
  std::set<Op> unanswered;            ///< takes these and keeps them until answer_now()
  std::set<Op> hangs_up_on;
};

class FakeDaemon {
 public:
  explicit FakeDaemon(Misbehaviour misbehaviour = {}, std::string path = "");
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Goes away: sockets close, the listener too. `is_warm`: the memory and the channels stay for start().
  void stop(bool is_warm);
  void start();
  void change(const Misbehaviour& misbehaviour);
  /// Answers what was kept back.
  void answer_now();
  void announce_slabs();
  void hang_up_all();

  void revoke(std::uint32_t slab);
  void remove_slab(std::uint32_t slab);
  void move_directory();
  bool evict(const Key& key, SpaceId space = SpaceId{1});
  [[nodiscard]] std::vector<SlabAck> slab_acks();
  [[nodiscard]] std::uint32_t directory_acks() const { return directory_acks_.load(); }
  [[nodiscard]] std::uint32_t goodbyes() const { return goodbyes_.load(); }
  [[nodiscard]] std::uint32_t hellos() const { return hellos_.load(); }
  /// Of spaces, answered or not.
  [[nodiscard]] std::uint32_t registrations() const { return registrations_.load(); }
  /// Refills of stocks that were carried out.
  [[nodiscard]] std::uint32_t refills() const { return refills_.load(); }
  [[nodiscard]] std::uint32_t writing_count();
  [[nodiscard]] std::uint32_t pinned_count();
  [[nodiscard]] std::uint64_t log_count();
  [[nodiscard]] std::string last_client_name();
  [[nodiscard]] std::string last_client_version();
  template <class F>
  auto with_store(F&& f) {
    const std::lock_guard lock(mutex_);
    return f(*store_);
  }

 private:
  struct Channel {
    std::uint64_t id = 0;
    FakeSegment memory;
    std::uint64_t secret[2] = {1, 2};
  };
  struct Peer {
    UniqueFd socket;
    UniqueFd doorbell;
    std::shared_ptr<Channel> channel;  ///< null: no hello yet
    std::unique_ptr<SubmissionConsumer> submissions;
    std::unique_ptr<CompletionProducer> completions;
    std::vector<Submission> kept;
    std::vector<std::pair<Submission, std::vector<Key>>> waits;
    bool is_gone = false;
  };

  // all but run() and listen(): mutex_ held
  void run();
  void listen();
  bool turn();
  void accept_peer();
  static void talk(const Peer& peer);
  void hear(Peer& peer);
  void take(Peer& peer, const Message& message);
  void greet(Peer& peer, const Message& message);
  void open_channel(Peer& peer, const Hello& hello, Welcome& welcome);
  void welcome(Peer& peer, const Hello& hello);
  void add_slabs(Peer& peer);
  void register_space(Peer& peer, const Message& message);
  bool serve_ring(Peer& peer);
  void serve(Peer& peer, const Submission& submission);
  void reserve(Peer& peer, const Submission& submission);
  void restore(Peer& peer, const Submission& submission);
  void sums(Peer& peer, const Submission& submission);
  void sync(Peer& peer, const Submission& submission);
  void refill(Peer& peer, const Submission& submission);
  void finish(Peer& peer, const Submission& submission);
  void check_waits(Peer& peer);
  void answer(Peer& peer, const Submission& submission, Code code, std::uint32_t count = 0,
              Cause cause = Cause::kNone, std::uint64_t value = 0);
  void drop(Peer& peer) { peer.is_gone = true; }
  std::byte* arena(const Peer& peer, const Submission& submission);
  std::vector<const PinCell*> pins_of(SlotRef slot);

  std::string path_;
  std::mutex mutex_;
  Misbehaviour misbehaviour_;
  std::unique_ptr<FakeStore> store_;
  std::list<Peer> peers_;
  std::vector<std::shared_ptr<Channel>> channels_;
  std::vector<SlabAck> slab_acks_;
  std::string last_client_name_;
  std::string last_client_version_;
  UniqueFd listener_;
  std::uint64_t next_session_ = 1;
  std::uint32_t next_epoch_ = 1;
  std::atomic<std::uint32_t> directory_acks_{0}, goodbyes_{0}, hellos_{0}, refills_{0}, registrations_{0};
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace kvtier::test
