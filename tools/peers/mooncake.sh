#!/usr/bin/env bash
# Mooncake Store's shared-memory mode and kvtier in one session, in turn: only ratios mean anything on a shared
# machine. Prints a table; the last line is one JSON object.
#
#   tools/peers/mooncake.sh [--build BUILD_DIR] [--peers PEERS_DIR] [--env ENV_DIR] [--rounds N]
#
# BUILD_DIR has bin/kvbench and bin/kvtierd (default: build); PEERS_DIR has mooncake_bench.py (default: ../shared/peers
# beside the checkout); ENV_DIR is the Python environment, which is kept
# (default: ${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/mooncake-env).
# Exit status: 0 bars met, 1 a bar missed, 2 could not measure.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build
peers=$root/../shared/peers
env_dir=${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/mooncake-env
rounds=3
packages=(mooncake-transfer-engine-non-cuda==0.3.13.post1 numpy==2.4.6)
debian_packages=(libibverbs1 librdmacm1 libgoogle-glog0v6 libunwind8 python3-venv)
python=/usr/bin/python3

say() { echo "mooncake.sh: $*" >&2; }
die() { say "$*"; exit 2; }

while (($#)); do
  (($# > 1)) || die "$1 wants a value; see the head of this script"
  case $1 in
    --build) build=$2 ;;
    --peers) peers=$2 ;;
    --env) env_dir=$2 ;;
    --rounds) rounds=$2 ;;
    *) die "unknown argument $1; see the head of this script" ;;
  esac
  shift 2
done

debian_packages_install() {
  local package missing=()
  for package in "${debian_packages[@]}"; do
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] || die "missing Debian packages (as root: apt-get install ${missing[*]})"
  say "installing Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update >&2
  apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2
}

environment_make() {
  local stamp
  stamp="${packages[*]} $("$python" --version)"
  [[ $(cat "$env_dir/.stamp" 2>/dev/null) != "$stamp" ]] || return 0
  say "installing ${packages[*]} into $env_dir"
  mkdir -p "$env_dir"
  "$python" -m venv "$env_dir" || die "$python cannot make a virtual environment (Debian package python3-venv)"
  "$env_dir/bin/python" -m pip --quiet --disable-pip-version-check install "${packages[@]}" >&2
  echo "$stamp" >"$env_dir/.stamp"
}

work=
pids=()
peer_stop() {
  ((${#pids[@]})) || return 0
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  pids=()
}
clean_up() {
  peer_stop
  [[ -z $work ]] || rm -rf "$work"
}

# Its keys are the same every time and can be put once, so every round has a master and a client of its own.
peer_start() {
  local bin=$env_dir/bin
  "$bin/mooncake_master" --rpc_port 50051 >"$work/master.log" 2>&1 &
  pids+=($!)
  sleep 2
  "$bin/mooncake_client" -host 127.0.0.1 -global_segment_size "2 GB" -master_server_address 127.0.0.1:50051 \
    -metadata_server P2PHANDSHAKE -port 50052 >"$work/client.log" 2>&1 &
  pids+=($!)
  sleep 5
  local pid
  for pid in "${pids[@]}"; do
    kill -0 "$pid" 2>/dev/null || die "Mooncake did not start: $(tail -qn 3 "$work/master.log" "$work/client.log")"
  done
}

peer_job() {
  timeout 180 "$env_dir/bin/python" "$peers/mooncake_bench.py" "$1" >>"$work/peer.$2" 2>"$work/peer.log" ||
    die "mooncake_bench.py $1 failed: $(tail -n 3 "$work/peer.log")"
}

peer_round() {
  peer_start
  peer_job shm-put "$1"
  peer_job shm-get "$1"
  peer_stop
}

own_round() {
  # The peer's benchmark copies from and to one buffer, so does this.
  "$build/bin/kvbench" share --block-bytes $((2 << 20)) --one-buffer --json >"$work/share.$1"
  "$build/bin/kvbench" lookup --resident 200 --keys 200 --threads 1 --commits 0 --json >"$work/lookup.$1"
}

[[ -x $build/bin/kvbench && -x $build/bin/kvtierd ]] || die "no kvbench and kvtierd in $build/bin; build them first"
[[ -f $peers/mooncake_bench.py ]] || die "no mooncake_bench.py in $peers; name its folder with --peers"
debian_packages_install
environment_make
work=$(mktemp -d)
trap clean_up EXIT
for ((round = 1; round <= rounds; ++round)); do
  say "round $round of $rounds"
  peer_round "$round"
  own_round "$round"
done
"$env_dir/bin/python" "$root/tools/peers/mooncake_report.py" "$work"
