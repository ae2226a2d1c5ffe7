#!/usr/bin/env bash
# Debian packages that the project needs, by group: build (default), test, python, quality.
#
#   tools/install_packages.sh [group ...]
#
# As root the missing ones are installed. An ordinary user gets the list of what is missing and exit status 3.
set -euo pipefail

declare -A groups=(
  [build]="cmake ninja-build g++ ccache pkg-config libboost-dev libcuckoo-dev libyaml-cpp-dev libspdlog-dev libfmt-dev
           libcli11-dev nlohmann-json3-dev libxxhash-dev libssl-dev libsystemd-dev liburing-dev libbenchmark-dev libgtest-dev
           pybind11-dev python3 python3-dev"
  [test]="python3-pytest python3-numpy procps util-linux"
  [python]="python3-venv python3-dev python3-pip"
  [bench]="fio zstd"
  [quality]="clang-format clang-tidy git shellcheck"
)

wanted=()
for group in "${@:-build}"; do
  [[ -n ${groups[$group]:-} ]] || { echo "install_packages: no group $group; there are: ${!groups[*]}" >&2; exit 2; }
  # shellcheck disable=SC2206  # words on purpose
  wanted+=(${groups[$group]})
done

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $state == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID != 0)); then
  echo "install_packages: missing: ${missing[*]}; as root: apt-get install ${missing[*]}" >&2
  exit 3
fi
echo "install_packages: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
