#include "tools/kvctl/plan_report.h"

#include <array>
#include <cstdio>

#include "libkvclient/base/counted.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

// "343597383680 (320 GiB, 343.60 GB)": both units, as they are taken for each other.
std::string both_units(std::uint64_t bytes) {
  constexpr double kBytesPerGb = 1e9;
  if (bytes < kGiB) return std::to_string(bytes) + " (" + format_size(bytes) + ")";
  std::array<char, 32> gb{};
  std::snprintf(gb.data(), gb.size(), "%.2f GB", static_cast<double>(bytes) / kBytesPerGb);
  return std::to_string(bytes) + " (" + format_size(bytes) + ", " + gb.data() + ")";
}

std::string with_two_digits(double value, const char* unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.2f%s", value, unit);
  return text.data();
}

std::string rows_text(const plan::LayerKv& kv) {
  if (kv.kind == plan::LayerKind::kNone) return kv.why;
  std::string text = std::to_string(kv.heads) + " x " + std::to_string(kv.key_dim);
  if (kv.value_dim != 0 && kv.value_dim != kv.key_dim) text += " + " + std::to_string(kv.value_dim);
  return text + (kv.value_dim == 0 ? ", one row" : ", K and V");
}

std::string keeps_text(const plan::LayerKv& kv) {
  std::string text(plan::kind_name(kv.kind));
  if (kv.window != 0) text += " of " + std::to_string(kv.window);
  return text + (kv.rows == plan::RowKind::kHeads ? "" : " (" + std::string(plan::row_name(kv.rows)) + ")");
}

void print_layers(const Plan& plan) {
  Table table({{"LAYERS"}, {"COUNT", true}, {"KEEPS"}, {"ROWS A TOKEN"}, {"BYTES", true}});
  for (std::size_t i = 0; i < plan.model.groups.size(); ++i) {
    const plan::LayerGroup& group = plan.model.groups[i];
    table.add({plan::layer_ranges(group.layers), std::to_string(group.layers.size()), keeps_text(group.kv),
               printable(rows_text(group.kv)), format_size(plan.kv.group_bytes[i])});
  }
  std::fputs(table.text().c_str(), stdout);
}

void print_workload(const Plan& plan) {
  const plan::Workload& workload = plan.question.workload;
  std::printf("%s%s%s: %s of %llu tokens, %s\n", printable(plan.model.name).c_str(),
              plan.model.source.empty() ? "" : " ", printable(plan.model.source).c_str(),
              counted(workload.batch, "sequence").c_str(), static_cast<unsigned long long>(workload.tokens),
              std::string(workload.dtype.name).c_str());
  std::printf("bytes       %s, %s a token\n", both_units(plan.kv.bytes).c_str(),
              format_size(plan.kv.bytes_per_token).c_str());
  if (plan.kv.bytes != plan.kv.bytes_without_windows)
    std::printf("            %s if every layer kept every token, as blocks do\n",
                both_units(plan.kv.bytes_without_windows).c_str());
  std::printf("slot_bytes  %s in %s of %llu tokens\n\n", both_units(plan.slot_bytes).c_str(),
              counted(plan.blocks, "slot").c_str(),
              static_cast<unsigned long long>(plan.question.block_tokens));
}

std::string state_of(const plan::CodecSize& codec) {
  return plan::is_in_build(codec.codec) ? "in this build" : "not yet in this build";
}

void print_codecs(const Plan& plan) {
  Table table({{"CODEC"},
               {"BLOCK", true},
               {"RATIO", true},
               {"SIZE"},
               {"SLOT", true},
               {"RECORD", true},
               {"STATE"},
               {"NOTE"}});
  const auto raw = static_cast<double>(plan.codecs.front().size.bytes);
  for (const plan::CodecSize& codec : plan.codecs) {
    const std::string name(plan::codec_name(codec.codec));
    if (codec.refusal.empty()) {
      table.add({name, std::to_string(codec.size.bytes),
                 with_two_digits(raw / static_cast<double>(codec.size.bytes), ""),
                 std::string(plan::exactness_name(codec.exactness)), std::to_string(codec.size.slot_bytes),
                 std::to_string(codec.size.record_bytes), state_of(codec), codec.note});
    } else {
      table.add({name, "-", "-", "-", "-", "-", state_of(codec), codec.refusal});
    }
  }
  std::printf("\n%s", table.text().c_str());
}

std::string budget_text(const plan::TierRow& row) {
  if (row.tier != plan::TierKind::kNvme) return "-";
  return row.budget_seconds ? with_two_digits(*row.budget_seconds, " s") : "no limit";
}

void print_tiers(const Plan& plan) {
  Table table({{"TIER"},
               {"CODEC"},
               {"A BLOCK", true},
               {"BLOCKS", true},
               {"TOKENS", true},
               {"SEQUENCES", true},
               {"WRITE BUDGET", true},
               {"NOTE"}});
  for (const plan::TierRow& row : plan.rows) {
    const bool is_in_build = plan::is_in_build(row.tier) && plan::is_in_build(row.codec);
    const std::string planned = is_in_build ? "" : "not yet in this build";
    table.add({std::string(plan::tier_name(row.tier)), std::string(plan::codec_name(row.codec)),
               format_size(row.block_bytes), std::to_string(row.blocks), std::to_string(row.tokens),
               std::to_string(row.sequences), budget_text(row),
               planned + (planned.empty() || row.note.empty() ? "" : "; ") + row.note});
  }
  std::printf("\n%s", table.text().c_str());
}

}  // namespace

void print_plan(const Plan& plan) {
  print_workload(plan);
  print_layers(plan);
  print_codecs(plan);
  print_tiers(plan);
  if (plan.tiers.sizes.nvme_path_bytes.empty())
    std::puts("no NVMe tier: name folders in nvme.paths, or give --nvme-bytes");
  for (const std::string& note : plan.model.notes) std::printf("note: %s\n", printable(note).c_str());
}

}  // namespace kvtier::ctl
