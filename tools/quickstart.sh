#!/usr/bin/env bash
# From a bare Debian 12 to two processes that share a real model's KV cache: installs what is missing, builds, starts a
# kvtierd of its own with the embedded default configuration, runs the main job, shows kvctl, stops the daemon.
# The last line is one JSON object.
#
#   tools/quickstart.sh [--build BUILD_DIR] [--env ENV_DIR]
#
# As root it installs Debian packages; an ordinary user needs them there. It keeps BUILD_DIR (default: build) and the
# Python environment with the model (default: ${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/llama-env), so that a second run is
# quick; nothing else stays. Exit status: 0 the job met its bars of correctness, 1 it did not, 2 something failed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
env_args=()
jobs=${KVTIER_JOBS:-$(nproc)}
steps_count=5
step=0

say() { echo "quickstart: $*" >&2; }
die() { say "$*"; exit 2; }
begin() { step=$((step + 1)); say "[$step/$steps_count] $*"; }

while (($#)); do
  case $1 in
    --help | -h) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    --build | --env) [[ -n ${2:-} ]] || die "$1 wants a folder" ;;&
    --build) build=$2 ;;
    --env) env_args=("$2") ;;
    *) die "unknown argument $1; see --help" ;;
  esac
  shift 2
done

daemon_pid=
runtime_dir=
clean_up() {
  local status=$?
  trap - EXIT
  if [[ -n $daemon_pid ]]; then
    kill -TERM "$daemon_pid" 2>/dev/null || true
    wait "$daemon_pid" 2>/dev/null || true
  fi
  [[ -z $runtime_dir ]] || rm -rf "$runtime_dir"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Its output goes to a log; a failure shows the end of it.
quietly() {
  local log=$runtime_dir/step.log
  "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; return 1; }
}

packages_install() {
  begin "Debian packages"
  "$root/tools/install_packages.sh" build python >&2 || die "packages are missing: run tools/install_packages.sh build python as root once"
}

product_build() {
  begin "building kvtierd, kvctl and the client library in $build (the first time takes minutes)"
  quietly cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo ||
    die "cmake could not configure $build: its message is above; a build folder of another compiler must be removed"
  quietly cmake --build "$build" --parallel "$jobs" --target kvtierd kvctl _kvclient ||
    die "the build failed: its end is above; --build names another folder if this one cannot be written"
}

environment_make() {
  begin "Python environment with llama.cpp and the model (the first time takes minutes)"
  env_dir=$("$root/tools/env/llama.sh" ${env_args[@]+"${env_args[@]}"}) ||
    die "the environment could not be made: the cause is above (it needs PyPI the first time)"
}

daemon_start() {
  begin "starting kvtierd with the embedded default configuration"
  "$build/bin/kvtierd" --set "runtime_dir=$runtime_dir" --set "socket=$socket" --set "admin_socket=$admin_socket" \
    >"$runtime_dir/daemon.log" 2>&1 &
  daemon_pid=$!
  # Its sockets are there before its memory is: it serves when it answers.
  local waited status
  for ((waited = 0; waited < 60; ++waited)); do
    status=0
    "$build/bin/kvctl" --socket "$admin_socket" status --wait 1 >/dev/null 2>&1 || status=$?
    ((status > 1)) || return 0 # 1: degraded, which is shown at the end
    kill -0 "$daemon_pid" 2>/dev/null || break
  done
  tail -n 30 "$runtime_dir/daemon.log" >&2
  die "kvtierd did not start: its log is above"
}

# The job's last line is the JSON object: it is kept for the end.
job_run() {
  begin "process A answers a long prompt cold, process B one that shares its prefix"
  local status=0
  PYTHONPATH=$build/python "$env_dir/bin/python" "$root/tools/quickstart_job/main.py" --socket "$socket" \
    >"$runtime_dir/job.out" || status=$?
  ((status < 2)) || { tail -n 10 "$runtime_dir/daemon.log" >&2; die "the job failed: the cause is above"; }
  sed '$d' "$runtime_dir/job.out"
  return "$status"
}

control_show() {
  local command
  for command in status tree; do
    echo
    echo "kvctl $command"
    "$build/bin/kvctl" --socket "$admin_socket" "$command" || (($? == 1)) || # 1: degraded, which it shows
      die "kvctl $command failed: the cause is above"
  done
}

runtime_dir=$(mktemp -d -t kvtier.XXXXXX)
socket=$runtime_dir/kvtierd.sock
admin_socket=$runtime_dir/kvtierd-admin.sock
packages_install
product_build
environment_make
daemon_start
result=0
job_run || result=$?
control_show
echo
tail -n 1 "$runtime_dir/job.out"
exit "$result"
