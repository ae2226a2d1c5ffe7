#include "tools/kvctl/plan_report.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

Json layers_json(const Plan& plan) {
  Json list = Json::array();
  for (std::size_t i = 0; i < plan.model.groups.size(); ++i) {
    const plan::LayerGroup& group = plan.model.groups[i];
    Json row = {{"layers", plan::layer_ranges(group.layers)},
                {"count", group.layers.size()},
                {"keeps", plan::kind_name(group.kv.kind)}};
    if (group.kv.kind == plan::LayerKind::kNone) {
      row["why"] = group.kv.why;
    } else {
      row["rows"] = plan::row_name(group.kv.rows);
      row["kv_heads"] = group.kv.heads;
      row["key_dim"] = group.kv.key_dim;
      row["value_dim"] = group.kv.value_dim;
    }
    if (group.kv.window != 0) row["window"] = group.kv.window;
    row["bytes"] = plan.kv.group_bytes[i];
    list.push_back(std::move(row));
  }
  return list;
}

Json codec_json(const plan::CodecSize& codec) {
  Json row = {{"codec", plan::codec_name(codec.codec)}, {"in_build", plan::is_in_build(codec.codec)}};
  if (!codec.refusal.empty()) {
    row["refusal"] = codec.refusal;
    return row;
  }
  row["size"] = plan::exactness_name(codec.exactness);
  row["bytes"] = codec.size.bytes;
  row["slot_bytes"] = codec.size.slot_bytes;
  row["record_bytes"] = codec.size.record_bytes;
  row["note"] = codec.note;
  return row;
}

std::uint64_t tier_bytes(const plan::TierSizes& sizes, plan::TierKind tier) {
  if (tier == plan::TierKind::kGpu) return sizes.gpu_bytes;
  if (tier == plan::TierKind::kHost) return sizes.host_bytes;
  std::uint64_t bytes = 0;
  for (const std::uint64_t each : sizes.nvme_path_bytes) bytes += each;
  return bytes;
}

Json tier_json(const plan::TierRow& row, const PlanTiers& tiers) {
  Json json = {{"tier", plan::tier_name(row.tier)},
               {"codec", plan::codec_name(row.codec)},
               {"in_build", plan::is_in_build(row.codec) && plan::is_in_build(row.tier)},
               {"bytes", tier_bytes(tiers.sizes, row.tier)},
               {"block_bytes", row.block_bytes},
               {"blocks", row.blocks},
               {"tokens", row.tokens},
               {"sequences", row.sequences}};
  if (row.tier == plan::TierKind::kNvme) {
    json["write_budget_bytes_per_day"] = tiers.write_budget_bytes_per_day;
    json["write_budget_seconds"] = row.budget_seconds ? Json(*row.budget_seconds) : Json(nullptr);
  }
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

}  // namespace

void print_plan_json(const Plan& plan) {
  const plan::Workload& workload = plan.question.workload;
  const plan::PayloadSize& block = plan.codecs.front().size;
  Json codecs = Json::array();
  for (const plan::CodecSize& codec : plan.codecs) codecs.push_back(codec_json(codec));
  Json tiers = Json::array();
  for (const plan::TierRow& row : plan.rows) tiers.push_back(tier_json(row, plan.tiers));
  print_json(
      {{"bytes", plan.kv.bytes},
       {"slot_bytes", plan.slot_bytes},
       {"bytes_without_windows", plan.kv.bytes_without_windows},
       {"bytes_per_token", plan.kv.bytes_per_token},
       {"tokens", workload.tokens},
       {"batch", workload.batch},
       {"dtype", workload.dtype.name},
       {"blocks", plan.blocks},
       {"model",
        {{"name", plan.model.name}, {"source", plan.model.source}, {"tokens_max", plan.model.tokens_max}}},
       {"layers", layers_json(plan)},
       {"block",
        {{"tokens", plan.question.block_tokens},
         {"bytes", block.bytes},
         {"slot_bytes", block.slot_bytes},
         {"record_bytes", block.record_bytes}}},
       {"codecs", std::move(codecs)},
       {"tiers", std::move(tiers)},
       {"notes", plan.model.notes}});
}

}  // namespace kvtier::ctl
