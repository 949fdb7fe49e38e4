#!/usr/bin/env bash
#===- check.sh - set up, build and test -----------------------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: utils/check.sh [preset]             (default: release)
#
# Installs what is missing, builds, runs lit, unit and execution tests, among
# them random kernels for five minutes (ATTN_FUZZ_SECONDS for each target), and
# closes with one line, `N passed, M failed, K skipped`. The exit status is
# not zero if anything failed; a build that fails counts as one failure.
#
#===-----------------------------------------------------------------------===#

set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
preset=${1:-release}
build=build/$preset
jobs=$(nproc)

step() { echo "=== $*"; }
give_up() {
  echo "$*"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}

seconds=$SECONDS
step "set-up"
utils/setup.sh || give_up "the set-up failed"
step "build (preset $preset)"
cmake --preset "$preset" >"/dev/null" || give_up "the configuration failed"
ninja -C "$build" -j "$jobs" all AttnUnitTests || give_up "the build failed"
step "built after $((SECONDS - seconds)) s"

# How long each target's random kernels run.
export ATTN_FUZZ_SECONDS=${ATTN_FUZZ_SECONDS:-150}

# Reports of an earlier run must not be counted.
rm -rf "$build/reports"
step "lit and execution tests"
ninja -C "$build" check-attn-lit
lit_status=$?
step "unit tests"
ninja -C "$build" check-attn-unit
unit_status=$?

step "results after $((SECONDS - seconds)) s"
programs=$(find "$build/unittests" -maxdepth 1 -type f -executable | wc -l)
.venv/bin/python3 utils/summarize_tests.py "$build/reports" \
  --unit-programs="$programs"
status=$?
# The reports are what is counted; a runner that failed in another way must
# not pass.
[[ $status -ne 0 || ($lit_status -eq 0 && $unit_status -eq 0) ]] ||
  give_up "a test runner failed without a failed test (see above)"
exit $status
