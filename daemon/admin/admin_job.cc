#include "daemon/admin/admin_job.h"

#include "daemon/admin/admin_lines.h"

namespace kvtier {

AdminJob::AdminJob(AdminRequest request, std::uint64_t ticket, TimeNs now_ns)
    : ticket_(ticket),
      request_(std::move(request)),
      state_(request_.verb == AdminVerb::kVersion ? State::kLines : State::kToAsk),
      progress_ns_(now_ns) {
  if (request_.is_stepwise()) request_.limit = kEvictStepWork;
}

std::optional<AdminCommand> AdminJob::command() const {
  if (state_ != State::kToAsk) return std::nullopt;
  return AdminCommand{ticket_, request_};
}

void AdminJob::asked(TimeNs now_ns) {
  asked_ns_ = now_ns;
  state_ = State::kAsked;
}

void AdminJob::answered(AdminAnswer answer, TimeNs now_ns) {
  request_.census = answer.census;
  if (answer.census != 0) {
    state_ = State::kToAsk;
    return;
  }
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
    output += progress_line(total_);
    return true;
  }
  if (state_ != State::kLines) return false;
  if (answer_.status.is_ok() && row_ < row_count(answer_.body)) {
    output += row_line(answer_.body, row_++);
    return true;
  }
  output += last_line(facts, request_.verb, answer_, now_ns);
  state_ = State::kOver;
  return true;
}

TimeNs AdminJob::deadline_ns() const {
  if (state_ != State::kAsked) return kNever;
  return asked_ns_ + (request_.verb == AdminVerb::kHealth ? kEchoNs : kAnswerNs);
}

}  // namespace kvtier
