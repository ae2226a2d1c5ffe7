#!/usr/bin/env bash
# The test command: installs what is missing, builds, runs the tests.
#
#   tools/test.sh                 what CI runs: unit, system, python, quality, sanitize, tsan
#   tools/test.sh system          one stage: those, lint, llama
#   tools/test.sh unit base       the fast loop: builds and runs only the tests whose name has the word in it
#
# Build folders: build, build-asan, build-tsan; objects are shared through ccache. KVTIER_JOBS sets the number of jobs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=${KVTIER_JOBS:-$(nproc)}
stages=(unit system python quality sanitize tsan)
# Lets all checkouts and build folders share objects: neither is part of what is compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { echo "test.sh: $*"; }

configure() {  # folder, cmake arguments
  local folder=$1
  shift
  mkdir -p "$folder"
  cmake -G Ninja -S . -B "$folder" "$@" >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; return 1; }
}

build() {  # folder, targets
  local folder=$1 log=$1/build.log
  shift
  # Twice: on two cores a compiler is sometimes short of memory; a real error is there the second time too.
  ninja -C "$folder" -j "$jobs" "$@" >"$log" 2>&1 || ninja -C "$folder" -j 1 "$@" >"$log" 2>&1 ||
    { grep -E "error|FAILED|undefined" "$log" | head -n 40; return 1; }
}

build_product() {
  tools/install_packages.sh build test
  configure build
  build build
}

run_tests() {  # folder, ctest arguments
  local folder=$1
  shift
  rm -f "$folder/Testing/Temporary/LastTestsFailed.log"  # ctest leaves the one of an earlier run
  # What failed is shown once and last: a log that is cut loses its middle.
  ctest --test-dir "$folder" --no-tests=error "$@" || { tools/failed_tests.py "$folder"; return 1; }
}

stage_unit() {
  (($# == 0)) || { run_some "$1"; return; }
  build_product
  run_tests build -L "unit|sim" -j 1
}

run_some() {  # word
  tools/install_packages.sh build test
  configure build
  build_and_run build -R "$1"
}

# Builds the tests that ctest would choose and nothing else, and runs them.
build_and_run() {  # folder, ctest arguments
  local folder=$1 tests name targets
  shift
  mapfile -t tests < <(ctest --test-dir "$folder" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p')
  ((${#tests[@]})) || { say "no test fits '$*'; ctest --test-dir $folder -N lists them"; return 2; }
  targets=$(ninja -C "$folder" -t targets all | cut -d: -f1)
  for name in "${tests[@]}"; do
    # Not a program of its own: one that takes arguments.
    grep -qx -- "$name" <<<"$targets" || { tests=(all); break; }
  done
  build "$folder" "${tests[@]}"
  run_tests "$folder" "$@"
}

# Daemons are started, killed and restarted; a short run of what tools/bars.sh does at length.
stage_system() {
  build_product
  run_tests build -L "system|kill" -j 1
}

# The package against real daemons: seconds, so that the limit ends nothing but a hang.
stage_python() {
  build_product
  PYTHONPATH=build/python KVTIER_BIN=build/bin timeout 600 \
    /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/python/client
}

# The adapter of llama.cpp over its fake client and a real model. The first run compiles llama.cpp: minutes.
stage_llama() {
  local environment
  environment=$(tools/env/llama.sh)
  "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/python/llama
}

# Rules of the tree, format, scripts, and the checks of clang-tidy that cost little.
stage_quality() {
  tools/install_packages.sh build test quality
  configure build
  run_tests build -L tidy
  git ls-files '*.h' '*.hpp' '*.cc' | xargs clang-format --dry-run -Werror
  git ls-files '*.sh' .ci/run | xargs shellcheck
  run_clang_tidy --quick
}

# Over the product's sources: nothing is compiled, and the folder only gives the compile commands.
# tools/clang_tidy.py says how it is kept short, and that tests are left out.
run_clang_tidy() {
  build build kvbench_revision
  tools/clang_tidy.py build --jobs "$jobs" "$@"
}

# All checks of clang-tidy, the analyzer among them: minutes.
stage_lint() {
  tools/install_packages.sh build test quality
  configure build
  run_clang_tidy
}

sanitizer_configure() {  # folder, sanitizers
  tools/install_packages.sh build test
  configure "$1" "-DKVTIER_SANITIZE=$2" -DKVTIER_PYTHON=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
}

stage_sanitize() {
  sanitizer_configure build-asan address,undefined
  build_and_run build-asan -L "unit|sim" -j 1
}

# What has threads or memory that another process writes.
stage_tsan() {
  sanitizer_configure build-tsan thread
  build_and_run build-tsan -L unit -R "wire|client|session|agent|index" -j 1
}

run_stage() {
  local name=$1 started=$SECONDS
  shift
  declare -F "stage_$name" >/dev/null || { say "no stage $name; there are: ${stages[*]} lint llama"; exit 2; }
  say "stage $name"
  "stage_$name" "$@"
  say "stage $name passed in $((SECONDS - started)) s"
}

case ${1:-all} in
  -h | --help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" ;;
  all) for stage in "${stages[@]}"; do run_stage "$stage"; done ;;
  *) run_stage "$@" ;;
esac
