// Sequences against their plain model: every verb in any order, from a seed. After each step the outcome, the lengths and
// the count of slots in each state are the model's; every written byte of a sequence is its own.

#include "tests/unit/paging/sequence_model.h"

#include "tests/unit/paging/faulty_slots.h"
#include "tools/paging/virtual_pool.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kBlock = 4;
constexpr std::size_t kTokenBytes = 8;
constexpr std::uint32_t kSlots = 24;
constexpr std::size_t kSequences = 6;
constexpr int kSteps = 60'000;

class ModelRun {
 public:
  explicit ModelRun(std::uint64_t seed) : chance_(seed) {
    for (std::size_t i = 0; i < kSequences; ++i) sequences_.emplace_back(slots_);
    models_.resize(kSequences);
  }

  void step() {
    const std::size_t which = chance_.below(kSequences);
    Sequence& sequence = sequences_[which];
    ModelSequence& model = models_[which];
    if (model.state == Sequence::State::kEmpty)
      start(which);
    else if (model.state == Sequence::State::kResident)
      run(which);
    else
      come_back(sequence, model);
    check(which);
  }

  void check_all() {
    for (std::size_t i = 0; i < kSequences; ++i) check(i);
  }
  /// How often each kind of thing happened, so that a run that never came to one shows.
  std::map<std::string, int> seen;

 private:
  // Few different tokens and beginnings, so that prefixes meet.
  Tokens some_tokens(std::size_t count) {
    Tokens tokens;
    while (tokens.size() < count) tokens.push_back(static_cast<std::uint32_t>(chance_.below(2)));
    return tokens;
  }

  void start(std::size_t which) {
    const std::size_t from = chance_.below(kSequences);
    const ModelSequence& parent = models_[from];
    const bool can_fork =
        parent.state == Sequence::State::kResident && parent.written == parent.tokens.size();
    if (can_fork && chance_.below(2) == 0) {
      ASSERT_EQ(sequences_[from].fork(sequences_[which]).code, KVC_OK);
      model_.fork(parent, models_[which]);
      ++seen["forked"];
      return;
    }
    const Tokens prompt = some_tokens(1 + chance_.below(28));
    const bool is_ok = sequences_[which].allocate(prompt).is_ok();
    ASSERT_EQ(is_ok, model_.allocate(models_[which], prompt));
    ++seen[is_ok ? "allocated" : "not allocated"];
    seen["matched"] += is_ok && models_[which].written > 0 ? 1 : 0;
  }

  void run(std::size_t which) {
    Sequence& sequence = sequences_[which];
    ModelSequence& model = models_[which];
    const std::uint64_t what = chance_.below(20);
    if (what < 12) return append(sequence, model);
    if (what < 16) return write(sequence, model);
    if (what < 17) {
      ASSERT_EQ(sequence.swap_out().code, KVC_OK);
      model_.swap_out(model);
      ++seen["swapped out"];
    } else if (what < 18) {
      recompute(sequence, model);
    } else {
      sequence.free();
      model_.free(model);
    }
  }

  void append(Sequence& sequence, ModelSequence& model) {
    const Tokens more = some_tokens(chance_.below(8) == 0 ? 1 + chance_.below(12) : 1);
    const std::size_t copies_before = slots_.copies_count;
    const bool is_ok = sequence.extend(more).is_ok();
    ASSERT_EQ(is_ok, model_.append(model, more));
    ++seen[is_ok ? "appended" : "not appended"];
    seen["copied"] += static_cast<int>(slots_.copies_count - copies_before);
    if (is_ok && chance_.below(8) != 0) write(sequence, model);
  }

  void write(Sequence& sequence, ModelSequence& model) {
    const std::size_t left = model.tokens.size() - model.written;
    const std::size_t written = model.tokens.size() - (chance_.below(4) == 0 ? chance_.below(left + 1) : 0);
    const Tokens some(model.tokens.begin(), model.tokens.begin() + static_cast<std::ptrdiff_t>(written));
    ASSERT_TRUE(compute(sequence, some, kBlock));
    FaultySlots::CommitFault fault;
    using Kind = FaultySlots::CommitFault::Kind;
    if (chance_.below(6) == 0)
      fault = {.first = chance_.below(2),
               .code = KVC_PENDING,
               .kind = chance_.below(2) == 0 ? Kind::kStop : Kind::kSkip};
    slots_.commit_fault = fault;
    (void)sequence.commit(written);
    slots_.commit_fault = {};
    model_.commit(model, written, fault.first, fault.kind == Kind::kStop);
  }

  void recompute(Sequence& sequence, ModelSequence& model) {
    const bool is_ok = sequence.recompute().is_ok();
    ASSERT_EQ(is_ok, model_.recompute(model));
    ++seen[is_ok ? "recomputed" : "not recomputed"];
  }

  void come_back(Sequence& sequence, ModelSequence& model) {
    if (chance_.below(8) == 0) {
      pool_.evict_all();
      model_.evict_all();
    }
    if (chance_.below(12) == 0) {
      sequence.free();
      return model_.free(model);
    }
    std::vector<std::size_t> missing;
    std::vector<std::size_t> missing_in_model;
    const SequenceModel::SwapIn wanted = model_.swap_in(model, missing_in_model);
    const int code = sequence.swap_in(&missing).code;
    ASSERT_EQ(code, wanted == SequenceModel::SwapIn::kDone      ? KVC_OK
                    : wanted == SequenceModel::SwapIn::kMissing ? KVC_NOT_FOUND
                                                                : KVC_NO_SPACE);
    ASSERT_EQ(missing, missing_in_model);
    ++seen[code == KVC_OK ? "swapped in" : code == KVC_NOT_FOUND ? "missing" : "no room to swap in"];
    if (code == KVC_NOT_FOUND) recompute(sequence, model);
  }

  void check(std::size_t which) {
    const Sequence& sequence = sequences_[which];
    const ModelSequence& model = models_[which];
    ASSERT_EQ(pool_.private_count(), model_.private_count());
    ASSERT_EQ(pool_.leased_count(), model_.leased_count());
    ASSERT_EQ(pool_.evictable_count(), model_.evictable_count());
    ASSERT_EQ(pool_.free_count(), model_.free_count());
    ASSERT_EQ(sequence.state(), model.state);
    ASSERT_EQ(sequence.tokens_count(), model.tokens.size());
    ASSERT_EQ(sequence.written_count(), model.written);
    ASSERT_EQ(sequence.table().size(), model.blocks.size());
    const std::size_t wrong = first_wrong(sequence, model.tokens, kBlock);
    ASSERT_TRUE(wrong == model.written || model.state != Sequence::State::kResident) << wrong;
  }

  sim::VirtualPool pool_{{.slots = kSlots, .block_tokens = kBlock, .block_bytes = kBlock * kTokenBytes}};
  FaultySlots slots_{pool_};
  std::vector<Sequence> sequences_;
  SequenceModel model_{kSlots, kBlock};
  std::vector<ModelSequence> models_;
  Prng chance_;
};

TEST(SequenceModel, SequencesDoWhatTheirModelDoes) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    ModelRun run(seed);
    for (int i = 0; i < kSteps; ++i) {
      SCOPED_TRACE(i);
      run.step();
      if (i % 64 == 0) run.check_all();
      if (testing::Test::HasFailure()) return;
    }
    for (const char* what :
         {"forked", "allocated", "not allocated", "matched", "appended", "not appended", "copied",
          "swapped out", "swapped in", "missing", "no room to swap in", "recomputed", "not recomputed"})
      EXPECT_GT(run.seen[what], 20) << what;
  }
}

}  // namespace
}  // namespace kvtier::test
