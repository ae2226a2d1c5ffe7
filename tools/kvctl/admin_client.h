#pragma once
// One connection to the daemon's administration socket. Every wait has a deadline; failures are thrown as
// Failure, with cause and fix.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "libkvclient/base/unique_fd.h"
#include "tools/kvctl/command_line.h"

namespace kvtier::ctl {

using Json = nlohmann::ordered_json;

class AdminClient {
 public:
  using OnLine = std::function<void(const Json&)>;

  /// Connects.
  explicit AdminClient(const Globals& globals);

  /// Sends the request and returns the last line; the ones before it go to `on_line`, if any.
  Json request(const Json& request, const OnLine& on_line = {});
  /// Every row of every page, as long as `on_row` wants more.
  void rows(Json request, const std::function<bool(const Json&)>& on_row);

 private:
  Json read_line();
  void wait_for(short events);

  const Globals& globals_;
  UniqueFd socket_;
  std::string input_;
};

/// A request with the filters that were given.
Json filtered(const std::string& verb, const BlockFilterOptions& filter);

}  // namespace kvtier::ctl
