#include "tools/kvsim/paging.h"

#include <algorithm>
#include <memory>

#include "tools/paging/contiguous_scheme.h"
#include "tools/paging/paged_scheme.h"

namespace kvtier::sim {
namespace {

std::vector<std::unique_ptr<Scheme>> all_schemes(const PagingReport& given) {
  std::vector<std::unique_ptr<Scheme>> schemes;
  schemes.push_back(std::make_unique<PagedScheme>(given.pool_tokens, given.block_tokens));
  using Reserve = ContiguousScheme::Reserve;
  for (const Reserve reserve : {Reserve::kMax, Reserve::kPow2, Reserve::kOracle})
    schemes.push_back(std::make_unique<ContiguousScheme>(given.pool_tokens, reserve, given.max_tokens));
  return schemes;
}

}  // namespace

Result<PagingReport> compare_paging(const PagingOptions& options) {
  Result<std::vector<LengthRequest>> trace = read_length_trace(options.trace);
  if (!trace.is_ok()) return trace.status();
  std::vector<LengthRequest> requests = std::move(trace).value();
  PagingReport report;
  report.trace = options.trace;
  report.block_tokens = options.block_tokens;
  report.pool_tokens = options.pool_tokens / options.block_tokens * options.block_tokens;
  report.max_tokens = options.max_tokens;
  report.decode_tokens_per_s = options.decode_tokens_per_s;
  if (report.max_tokens == 0)
    report.max_tokens = std::ranges::max(requests, {}, &LengthRequest::total).total();
  if (report.pool_tokens < report.max_tokens)
    return Status(Code::kInvalid,
                  "a pool of " + std::to_string(report.pool_tokens) + " tokens does not hold a sequence of " +
                      std::to_string(report.max_tokens) + ": raise --pool-tokens, or lower --max-tokens");
  report.left_out =
      std::erase_if(requests, [&](const LengthRequest& each) { return each.total() > report.max_tokens; });
  report.requests = requests.size();
  for (const std::unique_ptr<Scheme>& scheme : all_schemes(report))
    report.schemes.push_back(simulate_paging(requests, *scheme, options.decode_tokens_per_s));
  return report;
}

}  // namespace kvtier::sim
