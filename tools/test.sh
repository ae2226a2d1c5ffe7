#!/usr/bin/env bash
# The test command: installs what is missing, builds, runs the tests.
#
#   tools/test.sh                 what CI runs: the stage unit
#   tools/test.sh unit            one stage: unit, system, sanitize, tsan, python, quality
#   tools/test.sh unit base       the fast loop: builds and runs the tests whose name has the word in it
#
# Build folders: build, build-full, build-asan, build-tsan. KVTIER_JOBS sets the number of jobs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=${KVTIER_JOBS:-$(nproc)}
stages=(unit)

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

run_tests() {  # folder, ctest arguments
  local folder=$1
  shift
  ctest --test-dir "$folder" --output-on-failure --no-tests=error "$@"
}

# Without the benchmark, the tests that start daemons and those of the session layer, which share their client: stage system builds those in a folder of its own.
stage_unit() {
  tools/install_packages.sh build test
  mkdir -p build
  configure build "-DKVTIER_SKIP=tools/kvbench;tests/system;tests/kill;tests/unit/session"
  build build
  if (($#)); then
    run_tests build -R "$1"
    return
  fi
  run_tests build -L "unit|explore|sim" -j 1
}

stage_system() {
  tools/install_packages.sh build test
  mkdir -p build-full
  configure build-full
  build build-full
  run_tests build-full -L "system|kill" -j 1
  run_tests build-full -R unit_session
}

stage_sanitize() {
  tools/install_packages.sh build test
  mkdir -p build-asan
  configure build-asan -DKVTIER_SANITIZE=address,undefined -DKVTIER_PYTHON=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" "-DKVTIER_SKIP=tools/kvbench;tests/system;tests/kill;libkvclient/python"
  build build-asan
  run_tests build-asan -L "unit|explore|sim" -j 1
}

stage_tsan() {
  tools/install_packages.sh build test
  mkdir -p build-tsan
  configure build-tsan -DKVTIER_SANITIZE=thread -DKVTIER_PYTHON=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
    "-DKVTIER_SKIP=tools/kvbench;tools/kvctl;tests/system;tests/kill;tests/sim;libkvclient/python"
  build build-tsan
  run_tests build-tsan -R "wire|client|session|agent|pins|slot_table|directory|access_log" -j 1
}

stage_python() {
  tools/install_packages.sh build test
  mkdir -p build-full
  configure build-full
  build build-full
  PYTHONPATH=build-full/python KVTIER_BIN=build-full/bin /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/python/client
}

stage_quality() {
  tools/install_packages.sh quality
  git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror
}

run_stage() {
  local name=$1 started=$SECONDS
  shift
  declare -F "stage_$name" >/dev/null || { say "no stage $name; there are: unit system sanitize tsan python quality"; exit 2; }
  say "stage $name"
  "stage_$name" "$@"
  say "stage $name passed in $((SECONDS - started)) s"
}

case ${1:-all} in
  -h | --help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" ;;
  all) for stage in "${stages[@]}"; do run_stage "$stage"; done ;;
  *) run_stage "$@" ;;
esac
