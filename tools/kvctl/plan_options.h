#pragma once
// What `kvctl plan` is asked. 0 and "": not given, unless a default stands here.

#include <cstdint>
#include <string>
#include <vector>

namespace kvtier::ctl {

struct PlanOptions {
  std::string model;    ///< file or folder
  std::string read_as;  ///< type of another model
  std::uint64_t layers = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_dim = 0;
  std::uint64_t value_dim = 0;
  bool has_value_dim = false;
  std::uint64_t window = 0;
  std::uint64_t window_layers = 0;

  std::uint64_t tokens = 0;
  std::uint64_t batch = 1;
  std::string dtype;
  std::uint64_t block_tokens = 16;

  std::string config_file;
  std::vector<std::string> sets;
  std::string host_bytes;
  std::string nvme_bytes;
  std::string gpu_bytes;
  std::string write_budget;  ///< a day
};

}  // namespace kvtier::ctl
