#!/bin/sh
# The long runs: run_bars.sh BUILD_DIR FAULT_BUILD_DIR. One JSON line a bar; status 1 if one is missed.
set -u
if [ $# -ne 2 ]; then
  echo "usage: run_bars.sh BUILD_DIR FAULT_BUILD_DIR" >&2
  exit 2
fi
status=0
"$1/tests/kill_bars" clients --kills 250 || status=1
"$2/tests/kill_bars" clients --faults --kills 250 || status=1
"$1/tests/kill_bars" daemon --kills 100 || status=1
"$1/tests/kill_bars" daemon --cold --kills 100 || status=1
"$1/tests/kill_bars" disk --kills 300 || status=1
exit $status
