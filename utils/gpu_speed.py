#!/usr/bin/env python3
# ===- gpu_speed.py - attention on a CUDA device beside PyTorch ------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Times attention kernels on a CUDA device, with tensors that stay there.

    utils/gpu_speed.py --bin build/release/bin --target cuda-sm_80

Inputs and outputs are PyTorch's tensors, bound to the compiled model, so that
nothing is copied; both sides compute the same, which is checked. Prints a
line for each shape: our time and TFLOP/s, and the ratio of PyTorch's
scaled_dot_product_attention, with its math and its flash kernel (f16), to it.
Called by utils/gpu-check.sh; needs PyTorch with CUDA, and a C compiler.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

# Name, batch, heads, queries, keys, channels, causal.
SHAPES = [
    ("12x2048 D64", 1, 12, 2048, 2048, 64, False),
    ("12x2048 D64 causal", 1, 12, 2048, 2048, 64, True),
    ("16x1024 D128", 1, 16, 1024, 1024, 128, False),
    ("8x77x1500 D64", 1, 8, 77, 1500, 64, False),
    ("32x1x4096 D128", 1, 32, 1, 4096, 128, False),
]

MODEL = """\
func.func @main(%q: tensor<{b}x{h}x{n}x{d}x{t}> {{attn.name = "q"}}, %k: tensor<{b}x{h}x{m}x{d}x{t}> {{attn.name = "k"}},
    %v: tensor<{b}x{h}x{m}x{d}x{t}> {{attn.name = "v"}}) -> (tensor<{b}x{h}x{n}x{d}x{t}> {{attn.name = "o"}}) {{
  %s = attn.scores %q, %k layout(bhsd) : tensor<{b}x{h}x{n}x{d}x{t}>, tensor<{b}x{h}x{m}x{d}x{t}> -> tensor<{b}x{h}x{n}x{m}x{t}>
{mask}
  %p = attn.softmax {masked} : tensor<{b}x{h}x{n}x{m}x{t}> -> tensor<{b}x{h}x{n}x{m}x{t}>
  %o = attn.mix %p, %v layout(bhsd) : tensor<{b}x{h}x{n}x{m}x{t}>, tensor<{b}x{h}x{m}x{d}x{t}> -> tensor<{b}x{h}x{n}x{d}x{t}>
  return %o : tensor<{b}x{h}x{n}x{d}x{t}>
}}
"""


def compile_model(args, folder, shape, element):
    """The shared object of one attention."""
    _, b, h, n, m, d, causal = shape
    mask = (
        "  %x = attn.mask %s by causal<top_left> : "
        f"tensor<{b}x{h}x{n}x{m}x{element}>"
        if causal
        else ""
    )
    text = MODEL.format(
        b=b, h=h, n=n, m=m, d=d, t=element, mask=mask, masked="%x" if causal else "%s"
    )
    path = os.path.join(folder, "speed")
    with open(path + ".mlir", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(
        [
            os.path.join(args.bin, "attn-opt"),
            path + ".mlir",
            "--emit=obj",
            f"--target={args.target}",
            "-o",
            path,
        ],
        check=True,
    )
    library = f"{path}-{element}-{b}-{h}-{n}-{m}-{d}-{int(causal)}.so"
    subprocess.run(
        ["cc", "-shared", "-o", library, path + ".o", "-lpthread", "-lm", "-ldl"],
        check=True,
    )
    return ctypes.CDLL(library)


def check(library, ctx, status):
    if status:
        library.speed_last_error.restype = ctypes.c_char_p
        sys.exit("gpu_speed: error: " + library.speed_last_error(ctx).decode())


def best_time(torch, function):
    """The least time of a call in seconds, of ten batches."""
    for _ in range(3):
        function()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(10):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(5):
            function()
        end.record()
        torch.cuda.synchronize()
        best = min(best, start.elapsed_time(end) / 5e3)
    return best


def measure(torch, args, folder, shape, element):
    name, b, h, n, m, d, causal = shape
    dtype = {"f32": torch.float32, "f16": torch.float16}[element]
    library = compile_model(args, folder, shape, element)
    q = torch.randn(b, h, n, d, device="cuda", dtype=dtype)
    k, v = (torch.randn(b, h, m, d, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.empty_like(q)
    model, ctx = ctypes.c_void_p(), ctypes.c_void_p()
    if library.speed_load(None, ctypes.c_size_t(0), None, ctypes.byref(model)):
        sys.exit("gpu_speed: error: the model does not load")
    if library.speed_create(model, None, ctypes.byref(ctx)):
        sys.exit("gpu_speed: error: no context on the device")
    for tensor, memory in (("q", q), ("k", k), ("v", v), ("o", out)):
        pointer = ctypes.c_void_p(memory.data_ptr())
        check(library, ctx, library.speed_bind_device(ctx, tensor.encode(), pointer))
    nothing = (ctypes.c_void_p * 3)()

    def ours():
        check(
            library,
            ctx,
            library.speed_run_generic(ctx, None, nothing, None, nothing, None),
        )

    def theirs(backend):
        with torch.nn.attention.sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal
            )

    backends = torch.nn.attention.SDPBackend
    want = theirs(backends.MATH)
    ours()
    torch.cuda.synchronize()
    worst = (out.double() - want.double()).abs().max().item()
    # Our stream is not PyTorch's: each call is waited for, on both sides.
    def waited(function):
        def call():
            function()
            torch.cuda.synchronize()

        return call

    seconds = best_time(torch, waited(ours))
    pairs = n * (n + 1) / 2 if causal else n * m
    line = f"{name:22} {element}: {seconds * 1e3:8.3f} ms"
    line += f" {4 * b * h * pairs * d / seconds * 1e-12:7.2f} TFLOP/s"
    line += f", error {worst:.1e}"
    for label, backend in (("math", backends.MATH), ("flash", backends.FLASH_ATTENTION)):
        try:
            other = best_time(torch, waited(lambda: theirs(backend)))
            line += f"; {label} {other * 1e3:.3f} ms, ratio {other / seconds:.2f}"
        except RuntimeError:
            line += f"; {label} does not take it"
    print(line, flush=True)
    library.speed_destroy(ctx)
    library.speed_unload(model)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--target", default="cuda-sm_80")
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("gpu_speed: skipped: no PyTorch")
        return 0
    if not torch.cuda.is_available():
        print("gpu_speed: skipped: PyTorch sees no CUDA device")
        return 0
    torch.backends.cuda.matmul.allow_tf32 = False
    with tempfile.TemporaryDirectory() as folder:
        for element in ("f32", "f16"):
            for shape in SHAPES:
                measure(torch, args, folder, shape, element)
    return 0


if __name__ == "__main__":
    sys.exit(main())
