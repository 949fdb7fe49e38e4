#!/usr/bin/env bash
#===- gpu-check.sh - kernels of devices on a CUDA device -------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: utils/gpu-check.sh [preset]         (default: release)
#
# On a machine with a CUDA device: runs ONNX's tests of attention and rows, and
# random attentions, on it, and prints time, TFLOP/s and the ratio to PyTorch's
# scaled_dot_product_attention (its math and its flash form) where there is a
# PyTorch with CUDA for python3 (or $PYTHON). Without a device says so and exits
# with 77, which runners take for a skip. The build must be there.
#
#===-----------------------------------------------------------------------===#

set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/${1:-release}/bin
python=${PYTHON:-python3}
target=${TARGET:-cuda-sm_80}

[[ -x $bin/attn-run ]] || {
  echo "gpu-check: error: expected $bin/attn-run, got no build:" \
    "utils/check.sh makes one" >&2
  exit 1
}

# The driver library, and a device that it counts.
devices=$("$python" - <<'PY' || true
import ctypes
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    print(0)
else:
    count = ctypes.c_int(0)
    bad = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    print(0 if bad else count.value)
PY
)
if [[ ${devices:-0} -eq 0 ]]; then
  echo "gpu-check: skipped: no CUDA device on this machine"
  exit 77
fi

echo "=== operators (ONNX)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xf test/data/onnx-node/onnx-node.tar.xz -C "$scratch"
mapfile -t folders < <(find "$scratch" -type d \
  \( -name 'test_attention*' -o -name 'test_softmax*' -o -name 'test_layer_norm*' \
  -o -name 'test_rms_norm*' -o -name 'test_rotary*' -o -name 'test_matmul*' \) \
  ! -name '*expanded*' | sort)
"$bin/attn-run" --onnx-test --target="$target" "${folders[@]}"
echo "=== random attentions"
"$bin/attn-run" --fuzz=300 --fuzz-sets=10 --seed=1 --target="$target"
echo "=== speed"
"$python" utils/gpu_speed.py --bin "$bin" --target "$target"
