// The fake daemon's life and its sockets.

#include "tests/unit/client/fake_daemon.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace kvtier::test {
namespace {

constexpr std::uint64_t kPinsBytes = FakeStore::kSlabs * pin_table_bytes(FakeStore::kSlotsMax);

std::string make_path() {
  static std::atomic<int> counter{0};
  return "/tmp/kvtier-fake-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

FakeDaemon::FakeDaemon(Misbehaviour misbehaviour, std::string path)
    : path_(path.empty() ? make_path() : std::move(path)),
      misbehaviour_(std::move(misbehaviour)),
      store_(std::make_unique<FakeStore>()) {
  start();
}

FakeDaemon::~FakeDaemon() {
  if (thread_.joinable()) stop(false);
}

void FakeDaemon::start() {
  listen();
  is_stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void FakeDaemon::stop(bool is_warm) {
  is_stopping_ = true;
  thread_.join();
  ::unlink(path_.c_str());
  hang_up_all();
  const std::lock_guard lock(mutex_);
  listener_.reset();
  if (is_warm) return;
  channels_.clear();
  store_ = std::make_unique<FakeStore>();
}

void FakeDaemon::listen() {
  ::unlink(path_.c_str());
  listener_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  KV_CHECK(path_.size() < sizeof address.sun_path, "a short path for the fake daemon");
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  const bool is_bound =
      ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener_.get(), 16) == 0;
  KV_CHECK(is_bound, "the fake daemon's socket");
}

void FakeDaemon::run() {
  int idle_turns = 0;
  while (!is_stopping_) {
    idle_turns = turn() ? 0 : idle_turns + 1;
    if (idle_turns > 20) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

bool FakeDaemon::turn() {
  const std::lock_guard lock(mutex_);
  bool did_work = false;
  accept_peer();
  for (Peer& peer : peers_) {
    if (peer.channel) did_work |= serve_ring(peer);
    if (peer.channel && misbehaviour_.is_talkative) talk(peer);
    if (!peer.is_gone) hear(peer);
    if (!peer.is_gone && peer.channel) check_waits(peer);
  }
  for (Peer& peer : peers_) {
    if (peer.is_gone && peer.channel) store_->abandon(peer.channel->id);
  }
  peers_.remove_if([](const Peer& peer) { return peer.is_gone; });
  return did_work;
}

void FakeDaemon::accept_peer() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) peers_.emplace_back().socket = std::move(socket);
}

void FakeDaemon::talk(const Peer& peer) {
  SlabEvent event{};
  event.header = message_header(MessageType::kSlabRevoke, sizeof event, 0);
  (void)send_message(peer.socket.get(), event);
}

void FakeDaemon::hear(Peer& peer) {
  while (!peer.is_gone && !misbehaviour_.reads_no_messages) {
    const Result<Message> message = receive_message(peer.socket.get());
    if (message.code() == Code::kBusy) return;
    if (!message.is_ok()) return drop(peer);
    take(peer, message.value());
  }
}

void FakeDaemon::take(Peer& peer, const Message& message) {
  SlabAck ack{};
  switch (message.header().type) {
    case MessageType::kHello:
      return greet(peer, message);
    case MessageType::kRegisterSpace:
      return register_space(peer, message);
    case MessageType::kSlabAck:
      if (message.read(ack)) slab_acks_.push_back(ack);
      return;
    case MessageType::kDirectoryAck:
      ++directory_acks_;
      return;
    case MessageType::kGoodbye:
      ++goodbyes_;
      return drop(peer);
    default:
      return drop(peer);
  }
}

void FakeDaemon::greet(Peer& peer, const Message& message) {
  ++hellos_;
  Hello hello{};
  if (!message.read(hello) || misbehaviour_.hangs_up_on_hello) return drop(peer);
  last_client_name_ = hello.client_name;
  last_client_version_ = hello.client_version;
  if (misbehaviour_.is_silent) return;
  if (!misbehaviour_.refusal.is_ok()) {
    (void)send_refused(peer.socket.get(), 1, misbehaviour_.refusal);
    return drop(peer);
  }
  if (misbehaviour_.sends_short_welcome) {
    (void)send_message(peer.socket.get(), message_header(MessageType::kWelcome, sizeof(MessageHeader), 1));
    return;
  }
  welcome(peer, hello);
  if (misbehaviour_.sends_unknown_message) {
    (void)send_message(peer.socket.get(), message_header(MessageType{999}, sizeof(MessageHeader), 0));
  }
}

void FakeDaemon::open_channel(Peer& peer, const Hello& hello, Welcome& welcome) {
  for (const auto& channel : channels_) {
    const bool is_it = !misbehaviour_.refuses_resume && channel->id == hello.resume_session &&
                       hello.resume_secret[0] == channel->secret[0];
    if (is_it) peer.channel = channel;
  }
  if (peer.channel) welcome.flags = kWelcomeResumed;
  if (!peer.channel) {
    peer.channel = std::make_shared<Channel>();
    peer.channel->id = next_session_++;
    peer.channel->secret[0] = peer.channel->id * 77;
    peer.channel->memory = FakeSegment::create("fake-channel", ChannelLayout::bytes_for(kPinsBytes));
    channels_.push_back(peer.channel);
  }
  std::byte* memory = peer.channel->memory.memory.data();
  auto* header = reinterpret_cast<ChannelHeader*>(memory);
  header->magic = kChannelMagic;
  header->layout_version = kChannelLayoutVersion;
  const std::uint32_t submitted = header->submission_tail.load();
  header->submission_head.store(submitted);
  peer.submissions = std::make_unique<SubmissionConsumer>(
      memory + ChannelLayout::kSubmissions, header->submission_tail, header->submission_head, submitted);
  peer.completions =
      std::make_unique<CompletionProducer>(memory + ChannelLayout::kCompletions, header->completion_tail,
                                           header->completion_head, header->completion_tail.load());
}

void FakeDaemon::welcome(Peer& peer, const Hello& hello) {
  Welcome welcome{};
  open_channel(peer, hello, welcome);
  peer.doorbell = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  welcome.header = message_header(MessageType::kWelcome, sizeof welcome, 1);
  welcome.protocol_major = misbehaviour_.protocol_major;
  welcome.protocol_minor = misbehaviour_.protocol_minor;
  welcome.session_id = peer.channel->id;
  std::memcpy(welcome.secret, peer.channel->secret, sizeof welcome.secret);
  welcome.channel_bytes = peer.channel->memory.memory.size();
  welcome.directory_bytes = store_->directory.memory.size();
  welcome.flags |= (hello.flags & kHelloReadOnly) != 0 ? kWelcomeReadOnly : 0;
  std::strcpy(welcome.daemon_version, "fake-9");
  const UniqueFd reader = std::move(shm_reopen_read_only(store_->directory.fd.get())).value();
  const int fds[] = {peer.channel->memory.fd.get(), reader.get(), peer.doorbell.get()};
  (void)send_message(peer.socket.get(), welcome, fds);
  if (!misbehaviour_.announces_slabs_late) add_slabs(peer);
}

void FakeDaemon::add_slabs(Peer& peer) {
  for (std::uint32_t i = 0; i < FakeStore::kSlabs; ++i) {
    SlabAdd add{};
    add.header = message_header(MessageType::kSlabAdd, sizeof add, 0);
    add.slab = i;
    add.flags = kSlabWritable;
    add.slab_bytes = FakeStore::kSlabBytes;
    add.table_bytes = store_->slabs[i].words.memory.size();
    add.pins_offset = i * pin_table_bytes(FakeStore::kSlotsMax);
    add.slots_max = FakeStore::kSlotsMax;
    const UniqueFd table = std::move(shm_reopen_read_only(store_->slabs[i].words.fd.get())).value();
    const int fds[] = {store_->slabs[i].data.fd.get(), table.get()};
    (void)send_message(peer.socket.get(), add, fds);
  }
}

}  // namespace kvtier::test
