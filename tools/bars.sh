#!/usr/bin/env bash
# The long bars: what kvtier must show, too slow or too noisy for every run of the tests. Runs what is built.
#
#   tools/bars.sh [--build BUILD_DIR] [--fault-build BUILD_DIR] [--traces TRACES] [--results FOLDER] [BAR...]
#   tools/bars.sh --list
#
# BUILD_DIR has bin/ and tests/ (default: build). The fault build (-DKVTIER_FAULTS=ON; default: build-faults) is used
# where it is there. TRACES has azure-2023, kv-cache-tester and mooncake-fast25 (default: ../shared/traces beside the checkout).
# Without a BAR: all. Every figure goes into FOLDER (default: a new one in the temporary folder) as a JSON object, and
# into the summary at the end. Exit status: 0 all met, 1 a bar missed or not measured, 2 usage.
#
# A new bar is a function bar_NAME with a comment behind its name: it runs its program with `measure`, whose output is
# one JSON object, and then says with `expect KEY OPERATOR LIMIT` what must hold.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
fault_build=$root/build-faults
traces=$root/../shared/traces
results=
missed=0
bar=
object=

say() { echo "bars.sh: $*" >&2; }
usage() { say "$*; see the head of this script"; exit 2; }

# measure NAME COMMAND...: the last line of its output is the JSON object that expect looks at.
measure() {
  object=$results/$1.json
  shift
  if "$@" >"$object.out" 2>"$object.log"; then :; else
    note MISSED "exit status $? of: ${*/#$root\//}"
    tail -n 5 "$object.log" >&2
  fi
  tail -n 1 "$object.out" >"$object"
  rm -f "$object.out"
  [[ -s $object.log ]] || rm -f "$object.log"
}

# expect KEY OPERATOR LIMIT: of the object just measured. Operators: <= < >= > ==
expect() {
  local value
  value=$(json_value "$object" "$1") || { note MISSED "$1: not measured"; return; }
  if awk -v a="$value" -v b="$3" "BEGIN { exit !(a $2 b) }"; then
    note met "$1 = $value ($2 $3)"
  else
    note MISSED "$1 = $value ($2 $3)"
  fi
}

json_value() {
  python3 -c 'import json, sys; print(float(json.load(open(sys.argv[1]))[sys.argv[2]]))' "$1" "$2" 2>/dev/null
}

note() {
  [[ $1 == met ]] || missed=1
  printf '%-8s %-16s %s\n' "$1" "$bar" "$2" | tee -a "$results/summary"
}

kvbench() { "$build/bin/kvbench" "$@" --json; }
disk_faults() { KVTIER_SIM_SEEDS=$1 "$build/tests/disk_faults_test" | sed -n 's/^{/{/p'; }

bar_lookup() { # 200 keys of 1M resident blocks, two threads, while another client commits
  measure lookup-10k kvbench lookup --resident 10000 --keys 200
  local small
  small=$(json_value "$object" ns_per_key_p50) || small=0
  measure lookup-1m kvbench lookup --resident 1000000 --keys 200
  expect errors == 0
  expect ns_per_key_p50 "<=" 90
  expect random_ns_per_key_p50 "<=" 90
  expect ns_per_key_p50 "<=" "$(awk -v s="$small" 'BEGIN { print 3 * s }')"
  # access_records_lost is a figure: the log is a ring that forgets, and both cores are full of look-ups.
  expect background_commits_per_s ">=" 9500
}

bar_share() { # read and publish 2 MiB blocks, beside memory copies
  measure share kvbench share --block-bytes $((2 << 20))
  expect errors == 0
  expect read_ratio ">=" 0.95
  expect publish_ratio ">=" 0.85
  measure share-memcpy kvbench share --block-bytes $((2 << 20)) --memcpy # the same copy on both sides
  expect errors == 0
  expect read_ratio ">=" 0.95
  expect publish_ratio ">=" 0.85
}

bar_churn() { # reserve 64 in a full pool of 10k, 100k and 1M blocks, and with 64 clients attached
  local small
  measure churn-10k kvbench churn --resident 10000
  expect p99_us "<" 1000
  small=$(json_value "$object" p99_us) || small=0
  measure churn-100k kvbench churn --resident 100000
  expect p99_us "<" 1000
  measure churn-1m kvbench churn --resident 1000000
  expect errors == 0
  expect p99_us "<" 1000
  expect p99_us "<" "$(awk -v s="$small" 'BEGIN { print 3 * s }')"
  measure churn-10k-clients kvbench churn --resident 10000 --clients 64
  expect p99_us "<" 1000
}

bar_clients() { # 1 to 64 processes: figures only
  measure clients kvbench clients
  expect errors == 0
}

bar_idle() { # what a daemon without work costs
  measure idle kvbench idle
  expect cpu_percent "<" 1
  expect wakeups_per_s "<" 20
}

bar_memory() { # payload plus the stated overhead is what is used
  measure memory kvbench memory
  expect errors == 0
  expect ratio "<=" 1.02
  expect ratio ">=" 0.98
  expect overhead_bytes_per_block "<=" 256
}

bar_mooncake() { # Mooncake Store's shared-memory mode in the same session
  measure mooncake "$root/tools/peers/mooncake.sh" --build "$build"
  expect lookup_200_ratio ">=" 15
  expect read_ratio ">=" 2.5
  expect publish_ratio ">=" 8
}

bar_quickstart() { # two processes share a real model's prefix
  measure quickstart "$root/tools/quickstart.sh" --build "$build"
  expect restored_tokens ">=" 1000
  expect logits_max_diff == 0
  expect ttft_hit_s "<=" "$(awk -v c="$(json_value "$object" ttft_cold_s)" 'BEGIN { print c / 5 }')"
}

bar_nvme() { # store under eviction and restore from cold, 2 MiB and 64 KiB blocks, beside fio
  measure nvme-2m kvbench nvme --block-bytes $((2 << 20))
  expect errors == 0
  expect restore_ratio ">=" 0.90
  expect store_ratio ">=" 0.85
  measure nvme-64k kvbench nvme --block-bytes $((64 << 10))
  expect errors == 0
  expect restore_ratio ">=" 0.80
  expect store_ratio ">=" 0.85
}

bar_nvme_trace() { # the dense agent trace, memory for 5 % and disk for 20 % of its blocks, without a write budget and with one
  local trace=$traces/kv-cache-tester/merged_512_dense.jsonl.zst unlimited
  [[ -r $trace ]] || { note MISSED "no ${trace/#$root\//}: name the folder of the traces with --traces"; return; }
  measure nvme-trace kvbench trace "$trace"
  trace_bounds
  unlimited=$(json_value "$object" written_bytes) || unlimited=0
  # An hour's worth, 1 GiB, is there at the start: about a third of what is written without a limit.
  measure nvme-trace-budget kvbench trace "$trace" --budget-bytes-per-day $((24 << 30))
  trace_bounds
  expect written_bytes "<=" "$(json_value "$object" budget_allowed_bytes)"
  expect budget_allowed_bytes "<" "$(awk -v w="$unlimited" 'BEGIN { print w / 2 }')" # it binds
}
trace_bounds() {
  local bound
  bound=$(json_value "$object" disk_bytes_bound) || bound=0
  expect errors == 0
  expect disk_file_bytes_max "<=" "$bound"
  # The file system's own map of the file counts as allocated to it.
  expect disk_bytes_max "<=" "$(awk -v b="$bound" 'BEGIN { print b + 65536 }')"
  expect write_amplification "<=" 1.75
}

bar_nvme_restart() { # a start with a million blocks of 4 KiB on disk, after a clean end and after a kill
  measure nvme-restart kvbench restart --blocks 1030000
  expect errors == 0
  expect clean_recovered_blocks ">=" 1000000
  expect clean_serving_s "<=" 3
  expect killed_recovered_blocks ">=" 1000000
  expect killed_serving_s "<=" 3
}

bar_lmcache_disk() { # loads of 64 x 2 MiB from disk beside LMCache's fs_native adapter
  measure lmcache-disk "$root/tools/peers/lmcache_disk.sh" --build "$build"
  expect errors == 0
  expect load_ratio ">=" 1.1
}

bar_disk_crashes() { # the store on disk: 1,000 worlds of power cuts, kills and rot, each kind
  local started=$SECONDS
  if KVTIER_SIM_SEEDS=1000 "$build/tests/disk_world_test" --gtest_filter='DiskWorld.*' >"$results/disk-crashes.log" 2>&1; then
    note met "1,000 worlds of each kind in $((SECONDS - started)) s"
  else
    note MISSED "$(grep -m 1 KVTIER_SIM_SEED "$results/disk-crashes.log" || echo 'see disk-crashes.log')"
  fi
}

bar_disk_faults() { # the store on disk: 10,000 seeded faults of its disks, counted by cause
  measure disk-faults disk_faults 10000
  expect faults ">=" 10000
  expect wrong_blocks == 0
  local kind
  for kind in bit_flips torn_writes swapped_sectors stale_segments foreign_files truncated_footers; do
    expect "${kind}_noticed" ">=" 300
  done
}

bar_kill_disk() { # kill -9 of a daemon with an NVMe tier 300 times, at any moment of its life
  measure kill-disk "$build/tests/kill_bars" disk --kills 300
  expect kills ">=" 300
  expect wrong_blocks == 0
  expect lost_blocks == 0
  expect came_back == 0
  expect over_bound == 0
  expect must_checked ">=" 10000
}

bar_kill_clients() { # kill -9 of a client 500 times, half of them at named points
  measure kill-clients "$build/tests/kill_bars" clients --kills 250
  kills_expect 250
  expect max_call_ms "<=" 50
  expect reclaim_ms_max "<=" 1000
  [[ -x $fault_build/tests/kill_bars ]] || { note MISSED "no fault build in ${fault_build/#$root\//}"; return; }
  measure kill-clients-points "$fault_build/tests/kill_bars" clients --faults --kills 250
  kills_expect 250
  expect max_call_ms "<=" 50
  expect reclaim_ms_max "<=" 1000
}

bar_kill_daemon() { # kill -9 of the daemon 100 times, warm and cold
  measure kill-daemon "$build/tests/kill_bars" daemon --kills 100
  kills_expect 100
  expect overrun_ms_max "<=" 20
  measure kill-daemon-cold "$build/tests/kill_bars" daemon --cold --kills 100
  kills_expect 100
  expect overrun_ms_max "<=" 20
}

# kills_expect N: so many kills, no wrong byte, no call that failed otherwise than by a miss, nothing leaked
kills_expect() {
  expect kills ">=" "$1"
  expect errors == 0
  expect wrong_blocks == 0
  expect leaked == 0
}

# kvsim_cell TRACE POLICY PERCENT RATIO TOLERANCE: a cell of the table that others computed
kvsim_cell() {
  measure "kvsim-$(basename "$1")-$2-$3" "$build/bin/kvsim" replay "$traces/$1.jsonl.zst" --policy "$2" --capacity-pct "$3" --json
  expect hit_ratio ">=" "$(awk "BEGIN { print $4 - $5 }")"
  expect hit_ratio "<=" "$(awk "BEGIN { print $4 + $5 }")"
  expect references_per_s ">=" 1000000
}

bar_kvsim_lru() { # kvsim's hits on public traces beside those of libCacheSim
  [[ -d $traces ]] || { note MISSED "no ${traces/#$root\//}: name the folder of the traces with --traces"; return; }
  local trace percent lru arc s3fifo min
  while read -r trace percent lru arc s3fifo min; do
    kvsim_cell "$trace" lru "$percent" "$lru" 0.001
    kvsim_cell "$trace" arc "$percent" "$arc" 0.001
    kvsim_cell "$trace" s3fifo "$percent" "$s3fifo" 0.01
    kvsim_cell "$trace" min "$percent" "$min" 0.001
  done <<'END'
mooncake-fast25/conversation_trace 1 .053 .065 .075 .246
mooncake-fast25/conversation_trace 5 .196 .210 .187 .366
mooncake-fast25/conversation_trace 10 .279 .284 .245 .366
kv-cache-tester/merged_512_dense 1 .313 .449 .441 .641
kv-cache-tester/merged_512_dense 5 .888 .874 .857 .938
kv-cache-tester/merged_512_dense 10 .948 .944 .935 .961
kv-cache-tester/merged_512 1 .916 .903 .868 .944
END
}

bar_paging() { # paged memory on azure-2023's lengths, beside contiguous allocation
  local file trace
  for file in code conv; do
    trace=$traces/azure-2023/AzureLLMInferenceTrace_$file.csv.zst
    [[ -r $trace ]] || { note MISSED "no ${trace/#$root\//}: name the folder of the traces with --traces"; continue; }
    measure "paging-$file" "$build/bin/kvsim" paging "$trace" --json
    expect utilisation ">=" 0.97
    expect fragmentation "<" 0.03
    # Reserved to the longest of the trace. The article's 20 to 40 % are those of other lengths and of 2,048 tokens.
    expect contiguous_utilisation "<=" 0.40
  done
}

bar_kvsim_default() { # the default policy's hits beside the better of LRU and ARC
  [[ -d $traces ]] || { note MISSED "no ${traces/#$root\//}: name the folder of the traces with --traces"; return; }
  local trace percent best least
  while read -r trace percent best least; do
    measure "kvsim-$(basename "$trace")-default-$percent" "$build/bin/kvsim" replay "$traces/$trace.jsonl.zst" --policy default --capacity-pct "$percent" --json
    expect hit_ratio ">=" "$(awk "BEGIN { print $best - 0.005 }")"
    expect hit_ratio ">=" "$least"
    # 2 us a decision: each reference is at least one.
    expect references_per_s ">=" 500000
  done <<'END'
mooncake-fast25/conversation_trace 1 .065 .097
mooncake-fast25/conversation_trace 5 .210 .220
mooncake-fast25/conversation_trace 10 .284 .290
kv-cache-tester/merged_512_dense 1 .449 .445
kv-cache-tester/merged_512_dense 5 .888 .885
kv-cache-tester/merged_512_dense 10 .948 .945
kv-cache-tester/merged_512 1 .916 .911
kv-cache-tester/merged_512 5 .962 .957
kv-cache-tester/merged_512 10 .963 .958
END
}

bar_kvsim_hints() { # what engines tell, on the dense trace, beside LRU and beside the same policy without it
  [[ -d $traces ]] || { note MISSED "no ${traces/#$root\//}: name the folder of the traces with --traces"; return; }
  local percent lru plain slack trace=$traces/kv-cache-tester/merged_512_dense.jsonl.zst
  for percent in 0.5 1 5 10 25 50; do
    slack=0
    ((${percent%.*} < 25)) || slack=0.001
    measure "kvsim-hints-$percent-lru" "$build/bin/kvsim" replay "$trace" --policy lru --capacity-pct "$percent" --json
    lru=$(json_value "$object" hit_ratio)
    measure "kvsim-hints-$percent-none" "$build/bin/kvsim" replay "$trace" --policy default --capacity-pct "$percent" --json
    plain=$(json_value "$object" hit_ratio)
    measure "kvsim-hints-$percent" "$build/bin/kvsim" replay "$trace" --policy default --capacity-pct "$percent" --hints all --json
    expect hit_ratio ">" "$(awk "BEGIN { printf \"%.6f\", ${lru:-1} - $slack }")"
    expect hit_ratio ">" "$(awk "BEGIN { printf \"%.6f\", ${plain:-1} - $slack }")"
  done
}

bar_kvsim_daemon() { # 5,000 requests through a daemon in a minute, beside kvsim: what differs are uses within 50 ms and free slots
  [[ -d $traces ]] || { note MISSED "no ${traces/#$root\//}: name the folder of the traces with --traces"; return; }
  local blocks simulated trace=$traces/mooncake-fast25/conversation_trace.jsonl.zst
  for blocks in 4000 10000; do
    measure "kvsim-daemon-$blocks-simulated" "$build/bin/kvsim" replay "$trace" --policy default --capacity-blocks "$blocks" \
      --requests 5000 --interval-ms 12 --json
    simulated=$(json_value "$object" hit_ratio)
    measure "kvsim-daemon-$blocks" kvbench trace "$trace" --disk-bytes 0 --host-blocks "$blocks" --requests 5000 --interval-ms 12
    expect errors == 0
    expect hit_ratio ">" "$(awk "BEGIN { printf \"%.4f\", ${simulated:-1} - 0.015 }")"
    expect hit_ratio "<" "$(awk "BEGIN { printf \"%.4f\", ${simulated:-0} + 0.015 }")"
  done
}

bar_kvsim_cost() { # decisions of the default policy with a million blocks
  measure kvsim-cost "$build/bin/kvsim" cost --policy default --blocks 1000000
  expect ns_per_decision "<" 2000
  expect evict_p99_ns "<" 20000
}

bar_kvsim_longcontext() { # long contexts over three tiers: every row, and the first one 100 % and 1x because nothing moves
  measure kvsim-longcontext longcontext_rows
  expect rows == 11
  expect rows_without_a_key == 0
  expect pure_gpu_hit_rate == 1
  expect pure_gpu_factor == 1
  expect pure_gpu_bytes_moved == 0
  expect full_rows_attended_share == 1
  expect prefetch_step_ratio "<" 1
}
# What the rows of kvsim longcontext say together.
longcontext_rows() {
  "$build/bin/kvsim" longcontext --json | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
keys = """row context_tokens tiers budget_tokens locality popularity attended_share hit_rate host_rate nvme_rate step_ms
factor pcie_bytes_per_step nvme_bytes_per_step prefetch_used_per_step prefetch_wasted_per_step digest_bytes""".split()
article = ["article_hit_rate", "article_factor"]
full = [row for row in rows if row["is_full"]]
pure = [row for row in rows if row["tiers"] == "gpu" and not row["is_full"]]
longest = [row for row in rows if row["context_tokens"] == 1 << 20 and not row["is_full"]]
print(json.dumps({
    "rows": len(rows),
    "rows_without_a_key": sum(any(key not in row for key in keys + article * (not row["is_full"])) for row in rows),
    "pure_gpu_hit_rate": min(row["hit_rate"] for row in pure),
    "pure_gpu_factor": max(row["factor"] for row in pure),
    "pure_gpu_bytes_moved": sum(row["pcie_bytes_per_step"] + row["nvme_bytes_per_step"] for row in pure),
    "full_rows_attended_share": min(row["attended_share"] for row in full),
    "prefetch_step_ratio": max(ahead["step_ms"] / demand["step_ms"] for demand, ahead in zip(longest[::2], longest[1::2])),
}))'
}

bars_list() { sed -n 's/^bar_\([a-z_]*\)() { # \(.*\)$/\1\t\2/p' "${BASH_SOURCE[0]}"; }

chosen=()
while (($#)); do
  case $1 in
    --list) bars_list | column -t -s $'\t'; exit 0 ;;
    --build) build=${2:?a folder}; shift ;;
    --fault-build) fault_build=${2:?a folder}; shift ;;
    --traces) traces=${2:?a folder}; shift ;;
    --results) results=${2:?a folder}; shift ;;
    -*) usage "unknown option $1" ;;
    *) declare -F "bar_$1" >/dev/null || usage "no bar $1"; chosen+=("$1") ;;
  esac
  shift
done
((${#chosen[@]})) || mapfile -t chosen < <(bars_list | cut -f1)
[[ -x $build/bin/kvbench ]] || usage "no kvbench in $build/bin: build first, or name the folder with --build"
results=${results:-$(mktemp -d -t kvtier-bars.XXXXXX)}
mkdir -p "$results"
: >"$results/summary"
for bar in "${chosen[@]}"; do
  say "$bar (load $(cut -d' ' -f1 /proc/loadavg), $(nproc) cores)"
  "bar_$bar"
done
echo
cat "$results/summary"
say "figures are in $results"
exit "$missed"
