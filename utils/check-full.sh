#!/usr/bin/env bash
#===- check-full.sh - the checks that take longer -------------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: utils/check-full.sh
#
# On top of utils/check.sh: sizes beyond 2^31, all tests in a build with address
# and undefined-behaviour sanitizers, the round trip of all IR that tests print,
# clang-format and clang-tidy over all files. Says at the end which of them
# failed.
#
#===-----------------------------------------------------------------------===#

set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
failed=()

step() { echo "=== $*"; }
run() {
  local name=$1
  shift
  step "$name"
  "$@" || failed+=("$name")
}

# Sources that this project's tools look at, without generated ones.
sources() { find cmake include lib tools unittests -name '*.h' -o -name '*.cpp'; }
# C sources too; what lies in test/ is compiled by tests.
c_sources() { find include lib examples -name '*.c' -o -name '*.h' 2>/dev/null; }

check_format() {
  { sources; c_sources; } | sort -u | xargs clang-format-22 --dry-run -Werror
}

# One file a process, as many as there are cores. Only files that the build
# compiles have flags.
check_tidy() {
  cmake --preset dev >/dev/null && ninja -C build/dev attn-headers >/dev/null || return 1
  sources | grep '\.cpp$' | grep -v '^cmake/' | sort |
    xargs -n 1 -P "$(nproc)" clang-tidy-22 -p build/dev --quiet
}

run "release build and tests" env ATTN_LARGE_TESTS=1 utils/check.sh ci
run "sanitizer build and tests" utils/check.sh asan
run "round trip of printed IR" env ATTN_VERIFY_ROUNDTRIP=1 ninja -C build/ci check-attn-lit
run "clang-format" check_format
run "clang-tidy" check_tidy

if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "all checks passed"
