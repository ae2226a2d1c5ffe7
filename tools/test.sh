#!/usr/bin/env bash
# The test command: installs what is missing, builds, runs the tests.
#
#   tools/test.sh                 what CI runs: all stages
#   tools/test.sh system          one stage: unit, system, python, quality, sanitize, tsan, llama
#   tools/test.sh unit base       the fast loop: builds and runs only the tests whose name has the word in it
#
# Build folders: build, build-asan, build-tsan; objects are shared through ccache. KVTIER_JOBS sets the number of jobs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=${KVTIER_JOBS:-$(nproc)}
stages=(unit system python quality sanitize tsan llama)
# Lets all checkouts and build folders share objects: neither is part of what is compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { echo "test.sh: $*"; }

configure() {  # folder, cmake arguments
  local folder=$1
  shift
  cmake -G Ninja -S . -B "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; return 1; }
}

build() {  # folder, targets
  local folder=$1
  shift
  # Twice: on two cores a compiler is sometimes short of memory; a real error is there the second time too.
  ninja -C "$folder" -j "$jobs" "$@" >"$folder.log" 2>&1 || ninja -C "$folder" -j 1 "$@" >"$folder.log" 2>&1 ||
    { grep -E "error|FAILED|undefined" "$folder.log" | head -n 40; return 1; }
}

build_product() {
  tools/install_packages.sh build test
  configure build
  build build "$@"
}

run_tests() {  # folder, ctest arguments
  local folder=$1
  shift
  ctest --test-dir "$folder" --output-on-failure --no-tests=error "$@"
}

stage_unit() {
  (($# == 0)) || { run_some "$1"; return; }
  build_product
  run_tests build -L "unit|explore|sim" -j 1
}

run_some() {  # word
  local tests
  tools/install_packages.sh build test
  configure build
  mapfile -t tests < <(ctest --test-dir build -N -R "$1" | sed -n 's/^ *Test *#[0-9]*: //p')
  ((${#tests[@]})) || { say "no test has '$1' in its name; ctest --test-dir build -N lists them"; return 2; }
  build build "${tests[@]}"
  run_tests build -R "$1"
}

# Daemons are started, killed and restarted; a short run of what tools/bars.sh does at length.
stage_system() {
  build_product
  run_tests build -L "system|kill" -j 1
}

stage_python() {
  build_product
  PYTHONPATH=build/python KVTIER_BIN=build/bin /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/python/client
}

# The adapter of llama.cpp over its fake client and a real model. The first run compiles llama.cpp: minutes.
stage_llama() {
  local environment
  environment=$(tools/env/llama.sh)
  "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/python/llama
}

stage_quality() {
  tools/install_packages.sh quality
  git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror
}

stage_sanitize() {
  tools/install_packages.sh build test
  configure build-asan -DKVTIER_SANITIZE=address,undefined -DKVTIER_PYTHON=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" "-DKVTIER_SKIP=tools/kvbench;tools/kvctl;tests/system;tests/kill;libkvclient/python"
  build build-asan
  run_tests build-asan -L "unit|explore|sim" -j 1
}

stage_tsan() {
  tools/install_packages.sh build test
  configure build-tsan -DKVTIER_SANITIZE=thread -DKVTIER_PYTHON=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
    "-DKVTIER_SKIP=tools/kvbench;tools/kvctl;daemon/app;tests/system;tests/kill;tests/sim;tests/explore;tests/unit/admin;tests/unit/config;libkvclient/python"
  build build-tsan
  run_tests build-tsan -R "wire|client|session|agent|index" -j 1
}

run_stage() {
  local name=$1 started=$SECONDS
  shift
  declare -F "stage_$name" >/dev/null || { say "no stage $name; there are: ${stages[*]}"; exit 2; }
  say "stage $name"
  "stage_$name" "$@"
  say "stage $name passed in $((SECONDS - started)) s"
}

case ${1:-all} in
  -h | --help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" ;;
  all) for stage in "${stages[@]}"; do run_stage "$stage"; done ;;
  *) run_stage "$@" ;;
esac
