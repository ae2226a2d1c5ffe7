// A hostile client scribbles over everything that it shares with the daemon. Only it may suffer: after each
// part the witness, an honest client of the same namespace, finds every byte of its blocks and its answers.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <cstring>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kWitnessBlocks = 64;
constexpr std::uint64_t kWitnessChain = 1;

class Hostile : public DaemonTest {
 protected:
  void SetUp() override {
    // The attacker has a namespace of its own, where it may do what it likes, and the tier has room for its
    // worst.
    place_.write_config("namespaces:\n  - name: default\n  - name: mallory\n");
    ASSERT_TRUE(start({"limits.clients_max=4096", "log.level=error", "host.bytes=512MiB"}))
        << place_.output();
    witness_ = std::make_unique<CacheClient>(CacheClient::Options{.socket = place_.socket()});
    ASSERT_EQ(witness_->store(kWitnessChain, 0, kWitnessBlocks), kWitnessBlocks) << witness_->error();
  }
  void expect_witness_unharmed(const std::string& after) {
    ASSERT_TRUE(daemon_->is_running()) << after << place_.output();
    const CacheClient::Read read = witness_->read(kWitnessChain, kWitnessBlocks);
    EXPECT_EQ(read.blocks, kWitnessBlocks) << after;
    EXPECT_EQ(read.wrong_blocks, 0u) << after;
    EXPECT_TRUE(witness_->ping(kPatienceNs)) << after;
    EXPECT_EQ(witness_->status().sessions_count, 1u) << after << ": the witness's session was ended";
  }
  // The attack's sessions are zombies until their process exits, so each part is a process of its own.
  template <class Attack>
  void attack(const std::string& name, Attack body) {
    const pid_t child = in_child([&] {
      const CacheClient registers_space_1({.socket = place_.socket(), .namespace_name = "mallory"});
      return body(), registers_space_1.code();
    });
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << name << ": the attacker itself failed";
    expect_witness_unharmed(name);
  }

  std::unique_ptr<CacheClient> witness_;
};

// A session that is opened again when the daemon ended it.
class Attacker {
 public:
  explicit Attacker(std::string path) : path_(std::move(path)), beside_(open()) { reopen(); }
  WireClient& client() { return *client_; }
  std::byte* channel() { return client_->channel(); }

  // Makes the daemon look: a command, the bell, and its answer or its anger. A damaged channel may get neither: then
  // two echoes of another session tell that the daemon has gone round, and so has looked, after the bell.
  void provoke(const Submission& submission) {
    (void)client_->submit(submission);
    client_->ring_doorbell();
    for (int look = 0; look < kLooksMax; ++look) {
      if (client_->take_completion(0).code() != Code::kDeadline) return;
      if (is_ended()) return reopen();
    }
    for (int round = 0; round < 2; ++round) {
      if (!beside_->echoes_within(kPatienceNs)) ::_exit(5);
    }
    if (is_ended()) reopen();
  }
  void provoke_echo() {
    Submission echo{};
    echo.op = Op::kEcho;
    echo.arena_offset = kNoArena;
    provoke(echo);
  }

 private:
  bool is_ended() {
    pollfd entry{client_->socket(), POLLIN, 0};
    while (::poll(&entry, 1, 0) > 0) {
      const Result<Message> message = receive_message(client_->socket());
      if (!message.is_ok() || !refusal_text(message.value()).empty()) return true;
    }
    return false;
  }
  void reopen() {
    client_.reset();
    client_ = open();
  }
  [[nodiscard]] std::unique_ptr<WireClient> open() const {
    Result<std::unique_ptr<WireClient>> opened = WireClient::open(path_, "mallory");
    if (!opened.is_ok()) ::_exit(3);
    return std::move(opened).value();
  }

  static constexpr int kLooksMax = 100;  // most answers are there by then

  const std::string path_;
  const std::unique_ptr<WireClient> beside_;  ///< behaves
  std::unique_ptr<WireClient> client_;
};

void flip_range(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  Attacker attacker(path);
  for (std::uint64_t at = begin; at < end; ++at) {
    for (const unsigned mask : {0xffU, 0x01U}) {
      std::byte& byte = attacker.channel()[at];
      byte ^= static_cast<std::byte>(mask);
      attacker.provoke_echo();
    }
  }
}

TEST_F(Hostile, every_byte_of_the_header_flipped) {
  for (std::uint64_t begin = 0; begin < 4096; begin += 512)
    attack("header " + std::to_string(begin), [&] { flip_range(place_.socket(), begin, begin + 512); });
}

TEST_F(Hostile, every_byte_of_both_rings_flipped) {
  const std::uint64_t end = ChannelLayout::kAccessLog;
  for (std::uint64_t begin = ChannelLayout::kSubmissions; begin < end; begin += 16384) {
    const std::uint64_t stop = std::min(begin + 16384, end);
    attack("rings " + std::to_string(begin), [&] { flip_range(place_.socket(), begin, stop); });
  }
}

TEST_F(Hostile, the_access_log_flipped) {
  attack("log header",
         [&] { flip_range(place_.socket(), ChannelLayout::kAccessLog, ChannelLayout::kAccessLog + 4096); });
  attack("log records", [&] {
    Attacker attacker(place_.socket());
    for (int round = 0; round < 64; ++round) {
      for (std::uint64_t at = 0; at < ChannelLayout::kAccessLogBytes; ++at)
        attacker.channel()[ChannelLayout::kAccessLog + at] ^= static_cast<std::byte>(at * 37 + round);
      attacker.provoke_echo();
    }
  });
}

// Every byte of a command takes many values, for every op, known or not.
TEST_F(Hostile, every_byte_of_every_command) {
  for (std::uint16_t op = 0; op <= 11; ++op) {
    attack("op " + std::to_string(op), [&] {
      Attacker attacker(place_.socket());
      Submission base{};
      base.op = static_cast<Op>(op);
      base.space = SpaceId{1};
      base.count = 2;
      base.request_id = 5;
      for (std::size_t at = 2; at < sizeof base; ++at) {
        for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0x01, 0x7f, 0x80, 0xff}) {
          Submission bent = base;
          reinterpret_cast<std::uint8_t*>(&bent)[at] = value;
          attacker.provoke(bent);
        }
      }
    });
  }
}

// A reserve request in the arena, each byte flipped, also while the daemon reads it.
TEST_F(Hostile, every_byte_of_a_request_in_the_arena) {
  constexpr std::uint32_t kKeys = 8;
  attack("arena", [&] {
    Attacker attacker(place_.socket());
    Submission reserve{};
    reserve.op = Op::kReserve;
    reserve.space = SpaceId{1};
    reserve.count = kKeys;
    for (std::uint64_t at = 0; at < reserve_request_bytes(kKeys); ++at) {
      std::byte* arena = attacker.client().arena();
      std::memset(arena, static_cast<int>(at % 251), reserve_request_bytes(kKeys));
      arena[at] ^= std::byte{0xff};
      attacker.provoke(reserve);
    }
    // Ranges that end at, before and beyond the arena's end, and offsets that are not aligned.
    for (const std::uint64_t offset :
         {kArenaBytes - 8, kArenaBytes, kArenaBytes + 8, ~std::uint64_t{7}, std::uint64_t{4}}) {
      reserve.arena_offset = offset;
      attacker.provoke(reserve);
    }
  });
}

TEST_F(Hostile, pins_and_the_whole_channel_scribbled) {
  attack("pins", [&] {
    Attacker attacker(place_.socket());
    const std::uint64_t pins = attacker.client().channel_bytes() - ChannelLayout::kPins;
    std::memset(attacker.channel() + ChannelLayout::kPins, 0xff, std::min<std::uint64_t>(pins, 4 << 20));
    attacker.provoke_echo();
  });
  for (const int fill : {0x00, 0xff, 0x55}) {
    attack("whole channel", [&] {
      Attacker attacker(place_.socket());
      std::memset(attacker.channel(), fill, ChannelLayout::kPins);
      attacker.provoke_echo();
    });
  }
}

// Messages on the socket: every type, cut and stretched, before and after the handshake, and noise.
TEST_F(Hostile, malformed_messages) {
  attack("messages", [&] {
    for (std::uint32_t type = 0; type < 120; ++type) {
      for (const std::size_t bytes : {1u, 15u, 16u, 17u, 24u, 32u, 215u, 217u, 32768u}) {
        std::vector<std::byte> packet(bytes, std::byte{0xa5});
        const MessageHeader header = message_header(static_cast<MessageType>(type), bytes, 1);
        std::memcpy(packet.data(), &header, std::min(bytes, sizeof header));
        const UniqueFd stranger = connect_to(place_.socket(), SOCK_SEQPACKET);
        (void)send_message(stranger.get(), packet, {});
        if (type < 10 || type > 100) {
          Attacker attacker(place_.socket());
          (void)send_message(attacker.client().socket(), packet, {});
          attacker.provoke_echo();
        }
      }
    }
  });
}

TEST_F(Hostile, silent_and_greedy_connections) {
  attack("silent", [&] {
    std::vector<UniqueFd> sockets;
    for (int i = 0; i < 500; ++i) sockets.push_back(connect_to(place_.socket(), SOCK_SEQPACKET));
    const Result<std::unique_ptr<WireClient>> honest = WireClient::open(place_.socket(), "default");
    if (!honest.is_ok()) ::_exit(4);
  });
  attack("does not read", [&] {
    Attacker attacker(place_.socket());
    const std::vector<std::byte> nonsense(64);
    for (int i = 0; i < 20'000; ++i) attacker.client().register_space(nonsense, 7);
  });
}

// The doorbell's file is shared: nothing that a client does to it may block or spin the daemon.
TEST_F(Hostile, the_doorbell_abused) {
  attack("doorbell", [&] {
    Attacker attacker(place_.socket());
    const int bell = attacker.client().doorbell();
    ::fcntl(bell, F_SETFL, 0);  // blocking, for both sides
    std::uint64_t count = 0;
    for (int i = 0; i < 1000; ++i) {
      attacker.client().ring_doorbell();
      (void)!::read(bell, &count, sizeof count);  // taken away before the daemon could
    }
    count = ~std::uint64_t{1};
    (void)!::write(bell, &count, sizeof count);
    ::fcntl(bell, F_SETFL, O_NONBLOCK);  // full: a blocking write would stop the attacker itself
    attacker.provoke_echo();
  });
}

}  // namespace
}  // namespace kvtier::test
