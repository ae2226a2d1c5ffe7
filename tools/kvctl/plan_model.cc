#include "tools/kvctl/plan_model.h"

#include "tools/kvctl/exit_status.h"
#include "tools/kvctl/text.h"
#include "tools/planner/model_file.h"

namespace kvtier::ctl {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Failure(kExitUsage, "usage", message);
}

bool has_shape(const PlanOptions& options) {
  return options.layers != 0 || options.kv_heads != 0 || options.head_dim != 0 || options.has_value_dim ||
         options.window != 0 || options.window_layers != 0;
}

plan::KvModel model_of_flags(const PlanOptions& options) {
  if (options.layers == 0 || options.kv_heads == 0 || options.head_dim == 0)
    refuse(
        "name a MODEL (GGUF file, config.json or its folder), or give --layers, --kv-heads and --head-dim");
  if ((options.window == 0) != (options.window_layers == 0) || options.window_layers > options.layers)
    refuse("--window and --window-layers go together, and at most all --layers have windows");
  plan::KvModel model{.name = "flags", .dtype = "f16"};
  if (options.dtype.empty()) model.notes.emplace_back("f16, as --dtype is not given");
  plan::LayerKv kv{.heads = options.kv_heads, .key_dim = options.head_dim};
  kv.value_dim = options.has_value_dim ? options.value_dim : options.head_dim;
  plan::LayerKv windowed = kv;
  windowed.kind = plan::LayerKind::kWindow;
  windowed.window = options.window;
  for (std::uint32_t i = 0; i < options.layers; ++i) model.add(i, i < options.window_layers ? windowed : kv);
  return model;
}

plan::KvModel model_of_file(const PlanOptions& options) {
  if (has_shape(options))
    refuse(
        "MODEL says its layers, heads and dimensions: give it, or --layers, --kv-heads and --head-dim, not "
        "both");
  Result<plan::KvModel> model = plan::read_model_file(options.model, options.read_as);
  if (model.is_ok()) return std::move(model).value();
  const Status& status = model.status();
  throw Failure(status.code() == Code::kDenied ? kExitDenied : kExitFailed,
                std::string(code_name(status.code())), printable(status.message()));
}

}  // namespace

plan::KvModel plan_model(const PlanOptions& options) {
  if (!options.model.empty()) return model_of_file(options);
  if (!options.read_as.empty()) refuse("--read-as goes with a MODEL");
  return model_of_flags(options);
}

plan::DType plan_dtype(const PlanOptions& options, const plan::KvModel& model) {
  const std::string name = options.dtype.empty() ? model.dtype : options.dtype;
  if (name.empty()) refuse(printable(model.source) + " has no dtype or torch_dtype; give --dtype");
  const Result<plan::DType> dtype = plan::find_dtype(name);
  if (dtype.is_ok()) return dtype.value();
  refuse((options.dtype.empty() ? printable(model.source) + ": " : "--dtype: ") +
         printable(dtype.status().message()));
}

}  // namespace kvtier::ctl
