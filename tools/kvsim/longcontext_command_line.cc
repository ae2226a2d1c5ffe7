#include "tools/kvsim/longcontext_command_line.h"

#include <CLI/CLI.hpp>

namespace kvtier::sim {
namespace {

std::vector<std::string> evictor_names() {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) {
    if (policy.make != nullptr) names.emplace_back(policy.name);
  }
  return names;
}

// An option in a unit of its own: the value times `scale`.
template <class T>
CLI::Option* add_scaled(CLI::App& command, const char* name, T& to, double scale, const char* text) {
  return command
      .add_option_function<double>(
          name, [&to, scale](double value) { to = static_cast<T>(value * scale); }, text)
      ->check(CLI::NonNegativeNumber)
      ->default_str(CLI::detail::to_string(static_cast<double>(to) / scale));
}

void add_selection(CLI::App& command, LongContextOptions& to) {
  SelectionOptions& selection = to.decode.selection;
  command.add_option("--budget-tokens", selection.budget_tokens, "attended to in each layer, all in all");
  command.add_option("--sink-tokens", selection.sink_tokens, "of them the first ones of the context");
  command.add_option("--window-tokens", selection.window_tokens, "and the last ones");
  command.add_option("--dense-layers", selection.dense_layers, "the first layers that attend to everything")
      ->check(CLI::Range(0U, to.decode.shape.layers));
  command
      .add_option("--locality", selection.locality,
                  "share of the selected pages that the step before selected")
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--popularity", to.popularities,
                  "Zipf exponent of where the others fall; 0: anywhere. One or more")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 4.0));
  command
      .add_option("--digest-share", to.decode.digest_share, "bytes of digests a byte of pages, on the GPU")
      ->check(CLI::Range(0.0, 1.0));
}

void add_memory(CLI::App& command, LongContextOptions& to) {
  DecodeOptions& decode = to.decode;
  command.add_option("--gpu-kv-gib", to.gpu_gib, "room for the pages of a sequence in GPU memory")
      ->check(CLI::Range(0.0625, 1024.0));
  command.add_option("--host-kv-gib", to.host_gib, "the same in host memory")
      ->check(CLI::Range(0.0625, 1024.0));
  command
      .add_option_function<std::string>(
          "--policy", [&decode](const std::string& name) { decode.policy = find_policy(name); },
          "what stays in GPU and host memory")
      ->check(CLI::IsMember(evictor_names()))
      ->default_str(std::string(decode.policy->name));
  command.add_option("--batch", decode.batch, "sequences that decode together")->check(CLI::Range(1, 16));
  command
      .add_option("--prediction", decode.prediction,
                  "share of the newly selected pages that a prefetch names")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--prefetch-ahead", decode.prefetch_ahead, "layers")
      ->check(CLI::Range(1U, decode.shape.layers - 1));
}

void add_hardware(CLI::App& command, DecodeOptions& to) {
  add_scaled(command, "--hbm-gb-s", to.gpu.memory_bytes_per_s, 1e9, "GPU memory");
  add_scaled(command, "--tflops", to.gpu.flops_per_s, 1e12, "GPU, dense fp16");
  add_scaled(command, "--pcie-gb-s", to.transfers.pcie.bytes_per_s, 1e9, "host memory to GPU");
  add_scaled(command, "--pcie-latency-us", to.transfers.pcie.latency_ps, kPsPerUs, "of a move");
  add_scaled(command, "--pcie-move-us", to.transfers.pcie.per_move_ps, kPsPerUs,
             "a move occupies it no less");
  add_scaled(command, "--nvme-gb-s", to.transfers.nvme_device.bytes_per_s, 1e9, "each device");
  add_scaled(command, "--nvme-latency-us", to.transfers.nvme_device.latency_ps, kPsPerUs, "of a read");
  command.add_option("--nvme-devices", to.transfers.nvme_devices)->check(CLI::Range(1, 64));
  command.add_option("--run-pages", to.run_pages, "neighbours that are moved as one")
      ->check(CLI::Range(1, 1024));
}

}  // namespace

CLI::App* longcontext_add(CLI::App& app, LongContextOptions& to) {
  CLI::App* command = app.add_subcommand(
      "longcontext", "decode steps of long contexts whose KV is spread over GPU, host and NVMe, simulated");
  command->option_defaults()->always_capture_default();
  add_selection(*command, to);
  add_memory(*command, to);
  add_hardware(*command, to.decode);
  command->add_option("--steps", to.decode.steps, "measured")->check(CLI::Range(1, 100'000));
  command->add_option("--warmup-steps", to.decode.warmup_steps, "before them")->check(CLI::Range(0, 100'000));
  command->add_option("--seed", to.decode.seed);
  command->add_flag("--sweep", to.is_sweep, "the article's rows for many budgets and localities");
  command->add_option("--sweep-budgets", to.sweep_budgets, "tokens")->delimiter(',');
  command->add_option("--sweep-localities", to.sweep_localities)->delimiter(',')->check(CLI::Range(0.0, 1.0));
  command->add_flag("--json", to.is_json, "a JSON object a line, one for each row");
  return command;
}

}  // namespace kvtier::sim
