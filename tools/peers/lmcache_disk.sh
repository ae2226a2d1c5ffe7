#!/usr/bin/env bash
# LMCache's fs_native adapter with O_DIRECT and kvtier load 64 blocks of 2 MiB from one file system, in turn: only ratios
# mean anything on a shared machine. LMCache does not check what it reads, kvtier does. The last line is one JSON object.
#
#   tools/peers/lmcache_disk.sh [--build BUILD_DIR] [--env ENV_DIR] [--folder FOLDER] [--rounds N]
#
# BUILD_DIR has bin/kvbench and bin/kvtierd (default: build); ENV_DIR is the Python environment, which is kept and takes
# 5 GB (default: ${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/lmcache-env); FOLDER is on the disk (default: /var/tmp).
# Exit status: 0 measured, 2 could not measure.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build
env_dir=${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/lmcache-env
folder=/var/tmp
rounds=5
python=/usr/bin/python3
# LMCache names CUDA packages that its disk benchmark does not use: it is installed without what it names.
alone=(lmcache==0.5.6)
packages=(torch==2.13.0 aiofile aiofiles aiohttp awscrt blake3 cachetools cryptography fastapi google-cloud-bigtable grpcio
          httptools httpx huggingface_hub msgspec numba 'numpy<=2.2.6' nvtx opentelemetry-exporter-otlp
          opentelemetry-exporter-prometheus prometheus_client protobuf psutil py-cpuinfo pyyaml pyzmq redis safetensors
          'setuptools<81' sortedcontainers transformers uvicorn)

say() { echo "lmcache_disk.sh: $*" >&2; }
die() { say "$*"; exit 2; }

while (($#)); do
  (($# > 1)) || die "$1 wants a value; see the head of this script"
  case $1 in
    --build) build=$2 ;;
    --env) env_dir=$2 ;;
    --folder) folder=$2 ;;
    --rounds) rounds=$2 ;;
    *) die "unknown argument $1; see the head of this script" ;;
  esac
  shift 2
done

environment_make() {
  local stamp
  stamp="${alone[*]} ${packages[*]} $("$python" --version)"
  [[ $(cat "$env_dir/.stamp" 2>/dev/null) != "$stamp" ]] || return 0
  say "installing ${alone[*]} into $env_dir"
  "$python" -m venv "$env_dir" || die "$python cannot make a virtual environment (Debian package python3-venv)"
  "$env_dir/bin/python" -m pip --quiet --disable-pip-version-check install "${packages[@]}" >&2
  "$env_dir/bin/python" -m pip --quiet --disable-pip-version-check install --no-deps "${alone[@]}" >&2
  echo "$stamp" >"$env_dir/.stamp"
}

# GB/s of 3 rounds of 64 keys.
lmcache_load() {
  local adapter output
  adapter=$(printf '{"type":"fs_native","base_path":"%s","use_odirect":true}' "$place/lmcache")
  mkdir -p "$place/lmcache"
  output=$("$env_dir/bin/lmcache" bench l2 --l2-adapter "$adapter" --num-keys 64 --data-size-kb 2048 --rounds 3 \
    --l1-align-bytes 4096 --format json --output "$place/lmcache.json" --quiet 2>&1) || die "lmcache bench l2: $output"
  rm -rf "$place/lmcache"
  "$python" - "$place/lmcache.json" <<'END'
import json, sys

def find(node):
    if isinstance(node, dict):
        if node.get("operation") == "Load":
            return node
        node = list(node.values())
    for each in node if isinstance(node, list) else []:
        found = find(each)
        if found:
            return found

load = find(json.load(open(sys.argv[1])))
assert load["total_success"] == load["total_keys"] == 192, load
print(64 * 2048 * 1024 / (load["duration_avg_ms"] / 1000) / 1e9)
END
}

[[ -x $build/bin/kvbench ]] || die "no $build/bin/kvbench; build it first"
environment_make
place=$(mktemp -d "$folder/kvtier-lmcache.XXXXXX")
trap 'rm -rf "$place"' EXIT
for ((round = 0; round < rounds; ++round)); do
  echo "$(lmcache_load) $("$build/bin/kvbench" load --folder "$folder" --repeats 3 --json)" >>"$place/rounds"
done
"$python" - "$place/rounds" <<'END'
import json, statistics, sys

rows = [line.split(" ", 1) for line in open(sys.argv[1])]
theirs = [float(a) for a, _ in rows]
ours = [json.loads(b) for _, b in rows]
for a, b in zip(theirs, ours):
    print(f"LMCache {a:.3f} GB/s, kvtier {b['load_gb_per_s_mean']:.3f} GB/s")
ratios = [b["load_gb_per_s_mean"] / a for a, b in zip(theirs, ours)]
print(json.dumps({"bench": "lmcache_disk", "load_ratio": statistics.median(ratios),
                  "lmcache_gb_per_s": statistics.median(theirs),
                  "kvtier_gb_per_s": statistics.median(b["load_gb_per_s_mean"] for b in ours),
                  "rounds": len(rows), "errors": sum(b["errors"] + b["blocks_missing"] for b in ours)}))
END
