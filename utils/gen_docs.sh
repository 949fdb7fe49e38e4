#!/usr/bin/env bash
#===- gen_docs.sh - write docs/Reference from the TableGen files ----------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: utils/gen_docs.sh [preset]          (default: release)
#
# Builds the target attn-doc and copies its pages into the source tree. A test
# fails while the pages there are not what the TableGen files say.
#
#===-----------------------------------------------------------------------===#

set -euo pipefail
cd "$(dirname "$0")/.."
build=build/${1:-release}

cmake --preset "${1:-release}" >/dev/null
rm -rf "$build/docs/Reference"
ninja -C "$build" attn-doc >/dev/null
mkdir -p docs/Reference
rm -f docs/Reference/*.md
cp "$build"/docs/Reference/*.md docs/Reference/
find docs/Reference -name "*.md" | sort | sed "s/^/wrote /"
