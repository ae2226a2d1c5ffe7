#include "daemon/admin/admin_job.h"

#include "daemon/admin/admin_lines.h"

namespace kvtier {
namespace {

Status late() {
  return {Code::kDeadline,
          "the NVMe tier does not come round: its device or its file system hangs; see kvctl status"};
}

}  // namespace

AdminJob::AdminJob(AdminRequest request, std::uint64_t ticket, TimeNs now_ns)
    : ticket_(ticket),
      request_(std::move(request)),
      state_(request_.verb == AdminVerb::kVersion  ? State::kLines
             : request_.verb == AdminVerb::kVerify ? State::kToBegin
                                                   : State::kToAsk),
      progress_ns_(now_ns) {
  if (request_.is_stepwise()) request_.limit = kEvictStepWork;
}

std::optional<AdminCommand> AdminJob::command(TimeNs now_ns) const {
  const bool is_due = state_ == State::kToAsk || (state_ == State::kToLook && now_ns >= look_ns_);
  if (!is_due) return std::nullopt;
  return AdminCommand{ticket_, request_};
}

void AdminJob::asked(TimeNs now_ns) {
  asked_ns_ = now_ns;
  state_ = State::kAsked;
}

void AdminJob::begun(TimeNs now_ns) {
  asked_ns_ = look_ns_ = now_ns;
  state_ = State::kWatching;
}

void AdminJob::answered(AdminAnswer answer, TimeNs now_ns) {
  request_.census = answer.census;
  if (answer.census != 0) {
    state_ = State::kToAsk;
    return;
  }
  const auto* sync = std::get_if<SyncView>(&answer.body);
  if (sync != nullptr && !sync->is_over) return look_again(*sync, now_ns);
  const auto* step = std::get_if<EvictReport>(&answer.body);
  if (answer.status.is_ok() && step != nullptr) add_step(*step, now_ns);
  if (answer.status.is_ok() && step != nullptr && step->next) return;
  if (step != nullptr && answer.status.is_ok()) answer.status = step->status;
  const bool is_step = step != nullptr;
  answer_ = std::move(answer);
  if (is_step) answer_.body = total_;
  state_ = State::kLines;
}

void AdminJob::add_step(const EvictReport& step, TimeNs now_ns) {
  total_.add(step);
  total_.next = step.next;
  if (!step.next) return;
  request_.evict_cursor = *step.next;
  state_ = State::kToAsk;
  take_progress(now_ns);
}

void AdminJob::look_again(const SyncView& view, TimeNs now_ns) {
  sync_ = view;
  request_.sync = view.number;
  look_ns_ = now_ns + kLookNs;
  state_ = State::kToLook;
  take_progress(now_ns);
}

void AdminJob::take_progress(TimeNs now_ns) {
  if (now_ns - progress_ns_ < kProgressNs) return;
  progress_ns_ = now_ns;
  is_progress_due_ = true;
}

void AdminJob::failed(Status status) {
  answer_ = {};
  answer_.status = std::move(status);
  state_ = State::kLines;
}

bool AdminJob::next_line(const AdminFacts& facts, TimeNs now_ns, std::string& output) {
  if (is_progress_due_) {
    is_progress_due_ = false;
    output += request_.verb == AdminVerb::kSync ? progress_line(sync_) : progress_line(total_);
    return true;
  }
  if (state_ == State::kWatching) return watch(facts, now_ns, output);
  if (state_ != State::kLines) return false;
  if (answer_.status.is_ok() && row_ < row_count(answer_.body)) {
    output += row_line(answer_.body, row_++);
    return true;
  }
  output += last_line(facts, request_.verb, answer_, now_ns);
  state_ = State::kOver;
  return true;
}

// The agent publishes a few times a second; until it has the command the snapshot is about another scrub.
bool AdminJob::watch(const AdminFacts& facts, TimeNs now_ns, std::string& output) {
  if (now_ns < look_ns_) return false;
  look_ns_ = now_ns + kLookNs;
  const VerifyReport report = facts.nvme_now->read().verify;
  if (report.tag != ticket_) {
    if (now_ns >= asked_ns_ + kAnswerNs) failed(late());
    return next_line(facts, now_ns, output);
  }
  if (report.state != VerifyState::kRunning) {
    output += verify_last_line(report);
    state_ = State::kOver;
    return true;
  }
  if (now_ns - progress_ns_ < kProgressNs) return false;
  progress_ns_ = now_ns;
  output += verify_progress_line(report);
  return true;
}

TimeNs AdminJob::deadline_ns() const {
  if (state_ == State::kWatching || state_ == State::kToLook) return look_ns_;
  if (state_ != State::kAsked) return kNever;
  return asked_ns_ + (request_.verb == AdminVerb::kHealth ? kEchoNs : kAnswerNs);
}

}  // namespace kvtier
