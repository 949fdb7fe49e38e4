#!/usr/bin/env bash
#===- demo.sh - from a model to a program that uses it --------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: utils/demo.sh
#
# Installs what is missing, builds attn-opt, and runs examples/embed: a sentence
# embedding model goes through attn-opt to an object file, a header and weights,
# which a C program links. It prints a table of how alike some sentences are.
#
#===-----------------------------------------------------------------------===#

set -euo pipefail
cd "$(dirname "$0")/.."
build=build/release

utils/setup.sh
echo "building attn-opt"
cmake --preset release >/dev/null
ninja -C "$build" attn-opt attn-run

exec examples/embed/run.sh "$build"
