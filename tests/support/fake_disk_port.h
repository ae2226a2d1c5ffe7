#pragma once
// An NVMe tier that is a script: a disk in memory, which outlives the store and its ports, and a port that answers when
// it is told to, in order or not, rightly or not. It checks what is said to it against the interface: every slot stays as
// it is until its answer, every locator is forgotten once.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/tier/disk_port.h"
#include "libkvclient/base/prng.h"

namespace kvtier::test {

/// What is on the disk: copies, by the sequence of their locators. A forgotten one is there until reclaim takes it.
struct FakeDisk {
  struct Copy {
    std::string namespace_name;
    Digest space{};
    Key key{};
    Key parent{};
    std::vector<std::byte> bytes;
    bool is_corrupt = false;
  };
  std::map<std::uint64_t, Copy> copies;
  std::map<std::string, std::vector<std::vector<std::byte>>> catalog;  ///< encodings of specs, by namespace
  std::uint64_t next_sequence = 1;
  std::set<std::uint64_t> durable;  ///< copies that a flush was answered for

  /// What no flush was answered for is gone.
  void cut_power();

  [[nodiscard]] std::size_t count_of(const Key& key) const;
};

DiskLocator fake_locator(std::uint64_t sequence);

class FakeDiskPort final : public DiskPort {
 public:
  explicit FakeDiskPort(FakeDisk& disk) : disk_(disk) {}

  // As the store sees it.
  bool send(const DiskCommand& command) override;
  bool receive(DiskNews& news) override;
  [[nodiscard]] bool takes_puts() const override { return is_ready_ && takes_puts_now; }
  [[nodiscard]] bool wants_evidence() const override { return wants_evidence_now; }

  // The script.
  bool is_automatic = true;  ///< every command is answered when news is asked for; else answer() does it
  bool takes_puts_now = true;
  bool wants_evidence_now = false;                ///< little of the write budget is left
  bool is_refused = false;                        ///< kOpen is
  std::size_t commands_max = 2048;                ///< of the mailbox
  std::size_t entries_at_once = ~std::size_t{0};  ///< of recovery, each time that news is asked for
  /// Says how a put or a get ends; null: well.
  struct Ending {
    Code code = Code::kOk;
    bool is_held = false;
    bool is_dropped = false;
    bool is_over_budget = false;
  };
  std::function<Ending(const DiskCommand&)> ending;
  Code flush_code = Code::kOk;
  bool flushes_nothing = false;  ///< a flush is answered and was none: a tier without its fdatasync
  /// Not null: what is open is answered in any order, now or later.
  Prng* chance = nullptr;

  /// Answers up to so many of what is open, oldest first.
  void answer(std::size_t count = ~std::size_t{0});
  /// Devices give back what they hold, after they wrote to it once more.
  void release();
  /// Reclaim asks about a copy; answers are in `answers`.
  void ask(std::uint64_t sequence, std::uint64_t tag);
  void move(std::uint64_t sequence);
  /// A flush of the tier's own failed.
  void fail_flush();
  void drop(std::uint64_t sequence);
  /// The scrub could not read it: it is there still.
  void cannot_read(std::uint64_t sequence);

  [[nodiscard]] std::size_t open_count() const { return open_.size(); }
  [[nodiscard]] std::size_t held_count() const { return held_.size(); }
  [[nodiscard]] std::size_t news_count() const { return news_.size(); }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// Told to the store in this life, so that reclaim may speak of it.
  [[nodiscard]] bool is_known(std::uint64_t sequence) const { return known_.contains(sequence); }
  /// Handed out, and not forgotten.
  [[nodiscard]] const std::set<std::uint64_t>& owned() const { return owned_; }

  // What was said.
  std::vector<std::vector<Key>> put_groups;
  std::vector<std::vector<Key>> get_groups;
  std::map<std::uint64_t, ReclaimAnswer> answers;  ///< by tag
  std::uint64_t puts = 0;
  std::uint64_t gets = 0;
  std::uint64_t marks = 0;
  std::uint64_t flushes = 0;
  std::uint64_t forgets = 0;
  std::uint64_t slabs_removed = 0;

 private:
  using SpaceKey = std::pair<NamespaceId, SpaceId>;
  struct Open {
    DiskCommand command;
    std::uint64_t sum = 0;  ///< of a put's bytes as they were when it was sent
  };
  void check(const DiskCommand& command);
  void check_group(const DiskCommand& command);
  void carry_out(const Open& open);
  void put(const Open& open);
  void get(const DiskCommand& command);
  void mark(const DiskCommand& command);
  void open_disk();
  void recover_some();
  [[nodiscard]] const DiskSpace* described(const DiskCommand& command) const;
  [[nodiscard]] DiskNews about(std::uint64_t sequence, DiskNewsKind kind) const;
  [[nodiscard]] std::span<std::byte> bytes_of(const DiskCommand& command) const;
  void end(const DiskCommand& command, DiskNews news, const Ending& how);

  FakeDisk& disk_;
  std::deque<Open> open_;
  std::deque<DiskNews> news_;
  std::vector<DiskCommand> held_;
  std::deque<std::uint64_t> to_recover_;
  bool is_recovering_ = false;
  bool is_ready_ = false;
  bool is_closed_ = false;
  std::map<SpaceKey, std::shared_ptr<const DiskSpace>> spaces_;
  std::map<SlabIndex, std::pair<std::byte*, std::uint64_t>> slabs_;
  std::set<std::uint64_t> owned_;
  std::set<std::uint64_t> known_;
  std::vector<Key> group_;
  DiskCommandKind group_kind_ = DiskCommandKind::kFlush;
};

}  // namespace kvtier::test
