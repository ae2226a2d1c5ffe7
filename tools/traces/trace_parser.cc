#include "tools/traces/trace_parser.h"

#include <nlohmann/json.hpp>

namespace kvtier::sim {
namespace {

using Json = nlohmann::json;

// The traces count their ids up from 0: those are found without a hash.
constexpr std::uint64_t kSmallIds = 1 << 26;

// Between requests of a trace that has no times.
constexpr std::uint64_t kRequestMs = 1000;

}  // namespace

// Sees the members of the line's object, depth 1, and the numbers of its `hash_ids`, depth 2.
class TraceParser::Handler final : public nlohmann::json_sax<Json> {
 public:
  Handler(TraceParser& parser, Request& request) : parser_(parser), request_(request) {}

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    is_ids_ = name == "hash_ids";
    is_time_ = name == "timestamp";
    is_answer_ = name == "api_ms";
    is_session_ = name == "session";
    is_stop_ = name == "stop";
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (is_time_ && depth_ == 1) request_.time_ms = value;
    if (is_answer_ && depth_ == 1) request_.answer_ms = value;
    if (!is_ids_) return true;
    if (depth_ != 2) return fail("hash_ids is no array of numbers");
    parser_.trace_.blocks.push_back(parser_.number_of(value));
    ++request_.count;
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override {
    if (is_time_ && depth_ == 1 && value >= 0 && value < 1e15)
      request_.time_ms = static_cast<std::uint64_t>(value);
    return other();
  }
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool string(string_t& text) override {
    if (depth_ == 1 && is_session_) request_.session = parser_.session_of(text);
    if (depth_ == 1 && is_stop_) request_.stop = stop_of(text);
    return other();
  }
  bool binary(binary_t&) override { return other(); }
  bool start_object(std::size_t) override { return ++depth_ == 1 || other(); }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return fail("it is no object");
    ++depth_;
    if (is_ids_ && depth_ == 2) has_ids_ = true;
    return depth_ == 2 || other();
  }
  bool end_array() override {
    if (--depth_ == 1) is_ids_ = false;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    return fail(error.what());
  }

  [[nodiscard]] bool has_ids() const { return has_ids_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  bool fail(std::string why) {
    failure_ = std::move(why);
    return false;
  }
  static Stop stop_of(std::string_view text) {
    if (text == "tool_use") return Stop::kToolUse;
    return text == "end_turn" ? Stop::kEndTurn : Stop::kUnknown;
  }
  bool other() { return is_ids_ && depth_ > 0 ? fail("hash_ids is no array of whole numbers") : true; }

  TraceParser& parser_;
  Request& request_;
  unsigned depth_ = 0;
  bool is_ids_ = false;
  bool is_time_ = false;
  bool is_answer_ = false;
  bool is_session_ = false;
  bool is_stop_ = false;
  bool has_ids_ = false;
  std::string failure_;
};

Status TraceParser::add_line(std::string_view line) {
  Request request{.time_ms = trace_.requests.size() * kRequestMs, .first = trace_.blocks.size()};
  Handler handler(*this, request);
  if (!Json::sax_parse(line, &handler)) return {Code::kInvalid, handler.failure()};
  if (!handler.has_ids()) return {Code::kInvalid, "it has no hash_ids"};
  trace_.requests.push_back(request);
  return Status::ok();
}

Trace TraceParser::take() {
  trace_.sessions = static_cast<std::uint32_t>(sessions_.size());
  std::vector<bool> has_ended(sessions_.size() + 1);
  for (auto request = trace_.requests.rbegin(); request != trace_.requests.rend(); ++request) {
    if (request->session == 0 || has_ended[request->session]) continue;
    request->stop = Stop::kEndSession;
    has_ended[request->session] = true;
  }
  return std::move(trace_);
}

std::uint32_t TraceParser::session_of(const std::string& name) {
  return sessions_.try_emplace(name, static_cast<std::uint32_t>(sessions_.size() + 1)).first->second;
}

BlockNumber TraceParser::number_of(std::uint64_t hash_id) {
  if (hash_id >= kSmallIds) {
    const auto [place, is_new] = large_ids_.try_emplace(hash_id, trace_.unique);
    if (is_new) ++trace_.unique;
    return place->second;
  }
  if (hash_id >= small_ids_.size())
    small_ids_.resize(std::max<std::uint64_t>(hash_id + 1, small_ids_.size() * 2));
  BlockNumber& known = small_ids_[hash_id];
  if (known == 0) known = ++trace_.unique;
  return known - 1;
}

}  // namespace kvtier::sim
