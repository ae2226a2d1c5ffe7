// kvctl plan: how much KV cache a model needs, and how much of it each tier holds. Needs no daemon.

#include <memory>

#include "libkvclient/wire/spec.h"
#include "tools/kvctl/command_line.h"
#include "tools/kvctl/plan_model.h"
#include "tools/kvctl/plan_report.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/whole_number.h"
#include "tools/planner/amount.h"

namespace kvtier::ctl {
namespace {

template <class T>
T or_refuse(Result<T> result) {
  if (result.is_ok()) return std::move(result).value();
  throw Failure(kExitFailed, std::string(code_name(result.code())), printable(result.status().message()));
}

plan::TierQuestion question_of(const PlanOptions& options, const plan::KvModel& model) {
  const std::uint64_t tokens = options.tokens != 0 ? options.tokens : model.tokens_max;
  if (tokens == 0)
    throw Failure(kExitUsage, "usage", "--tokens is needed: nothing says how long a sequence is");
  return {.workload = {.tokens = tokens, .batch = options.batch, .dtype = plan_dtype(options, model)},
          .block_tokens = options.block_tokens};
}

Plan make_plan(const PlanOptions& options) {
  Plan plan;
  plan.model = plan_model(options);
  plan.question = question_of(options, plan.model);
  const plan::Workload& workload = plan.question.workload;
  plan.kv = or_refuse(plan::kv_bytes(plan.model, workload));
  plan.codecs = or_refuse(plan::codec_sizes(plan.model, workload.dtype, options.block_tokens));
  const plan::Amount blocks = plan::Amount(plan::blocks_a_sequence(plan.question)) * workload.batch;
  plan.blocks = or_refuse(blocks.value("the blocks of this workload"));
  plan.slot_bytes =
      or_refuse((blocks * plan.codecs.front().size.slot_bytes).value("the slots of this workload"));
  plan.tiers = plan_tiers_of(options);
  plan.rows = plan::plan_tiers(plan.tiers.sizes, plan.codecs, plan.question);
  return plan;
}

int run_plan(const Globals& globals, const PlanOptions& options) {
  (globals.is_json ? print_plan_json : print_plan)(make_plan(options));
  return kExitOk;
}

void add_number(CLI::App& command, const std::string& name, std::uint64_t& into, const std::string& help,
                std::uint64_t max = ~std::uint64_t{0}) {
  command.add_option(name, into, help)->check(whole_number(1, max));
}

CLI::Option* add_model_options(CLI::App& command, PlanOptions& options) {
  command.add_option("MODEL", options.model,
                     "GGUF file, config.json of Hugging Face, or a folder that has one");
  command.add_option("--read-as", options.read_as, "model_type or architecture that MODEL is to be read as");
  add_number(command, "--layers", options.layers, "layers with KV, instead of MODEL", plan::kLayersMax);
  add_number(command, "--kv-heads", options.kv_heads,
             "KV heads of a layer: all heads (MHA), fewer (GQA), 1 (MQA)");
  add_number(command, "--head-dim", options.head_dim, "values in a row of K, and of V");
  CLI::Option* value_dim = command
                               .add_option("--value-dim", options.value_dim,
                                           "values in a row of V, where it differs; 0: no V (MLA)")
                               ->check(whole_number(0));
  add_number(command, "--window", options.window, "tokens that layers with a sliding window keep");
  add_number(command, "--window-layers", options.window_layers, "so many of the --layers have it");
  return value_dim;
}

void add_workload_options(CLI::App& command, PlanOptions& options) {
  add_number(command, "--tokens", options.tokens, "of each sequence; else what the model was made for");
  add_number(command, "--batch", options.batch, "sequences at a time; else 1");
  command.add_option("--dtype", options.dtype,
                     "of the cache: f16, bf16, f32, f8_e4m3, i8, q8_0, ...; else the model's");
  add_number(command, "--block-tokens", options.block_tokens, "tokens of a block; else 16", kBlockTokensMax);
}

void add_tier_options(CLI::App& command, PlanOptions& options) {
  command.add_option("--config", options.config_file,
                     "the daemon's settings; else its defaults and the environment");
  command.add_option("-s,--set", options.sets, "path=value, as of kvtierd");
  command.add_option("--host-bytes", options.host_bytes, "host memory instead: 64GiB");
  command.add_option("--nvme-bytes", options.nvme_bytes, "one folder of this size instead of nvme.paths");
  command.add_option("--gpu-bytes", options.gpu_bytes, "GPU memory to plan for");
  command.add_option("--write-budget", options.write_budget,
                     "what may be written to disk in a day instead: 1TB");
}

}  // namespace

void add_plan(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan", "how much KV cache a model needs, and how much each tier holds; without a daemon");
  const CLI::Option* value_dim = add_model_options(*command, *options);
  add_workload_options(*command, *options);
  add_tier_options(*command, *options);
  command->footer(
      "bytes = 2 x layers x kv_heads x tokens x head_dim x bytes_per_value x batch; windows keep fewer "
      "tokens, MLA one\n"
      "row without the 2. slot_bytes is what the daemon takes for it: whole blocks in slots of 4 KiB pages. "
      "Tiers are\n"
      "upper bounds: nothing else is stored. WRITE BUDGET: how long the budget for new blocks takes to allow "
      "all of it.\n"
      "  kvctl plan --layers 80 --kv-heads 8 --head-dim 128 --tokens 131072 --host-bytes 64GiB\n"
      "A model that is not understood is refused with what is unclear; --read-as or the flags answer.");
  command->callback([&line, options, value_dim] {
    options->has_value_dim = value_dim->count() > 0;
    line.run = [&line, options] { return run_plan(line.globals, *options); };
  });
}

}  // namespace kvtier::ctl
