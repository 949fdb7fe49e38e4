#!/usr/bin/env python3
# ===- ptx_table.py - what kernels take of a CUDA device -------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Assembles kernels for CUDA devices and prints what they take of them.

    utils/ptx_table.py build/release/bin/attn-opt PTXAS [--check docs/Gpu.md]

Each family of kernels, with D of 64 and 128, f32 and f16, for sm_80's limits,
is assembled for sm_80, sm_90 and sm_100: threads and
shared memory of a block, registers of a thread and bytes that it spills, which
must be none. With --check each line must stand in the page; numbers of
registers may differ, since each ptxas counts them its own way.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]

# A line up to its numbers of registers.
REGISTERS = r"^(\| [a-z][^|]*\|[ \d]+\|[ \d]+\|)[ \d|]*$"

ATTENTION = """\
func.func @main(%q: tensor<?x?x8x{d}x{t}> {{attn.dims = ["b", "n", "", ""]}}, %k: tensor<?x?x8x{d}x{t}> {{attn.dims = ["b", "m", "", ""]}},
    %v: tensor<?x?x8x{d}x{t}> {{attn.dims = ["b", "m", "", ""]}}) -> tensor<?x?x8x{d}x{t}> {{
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x8x{d}x{t}>, tensor<?x?x8x{d}x{t}> -> tensor<?x8x?x?x{t}>
{mask}  %p = attn.softmax {s} : tensor<?x8x?x?x{t}> -> tensor<?x8x?x?x{t}>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x8x?x?x{t}>, tensor<?x?x8x{d}x{t}> -> tensor<?x?x8x{d}x{t}>
  return %o : tensor<?x?x8x{d}x{t}>
}}
"""
CAUSAL = "  %x = attn.mask %s by causal<bottom_right> : tensor<?x8x?x?x{t}>\n"
DECODE = """\
func.func @main(%q: tensor<?x1x8x{d}x{t}> {{attn.dims = ["b", "", "", ""]}}, %k: tensor<?x?x8x{d}x{t}> {{attn.dims = ["b", "m", "", ""]}},
    %v: tensor<?x?x8x{d}x{t}> {{attn.dims = ["b", "m", "", ""]}}) -> tensor<?x1x8x{d}x{t}> {{
  %s = attn.scores %q, %k layout(bshd) : tensor<?x1x8x{d}x{t}>, tensor<?x?x8x{d}x{t}> -> tensor<?x8x1x?x{t}>
  %p = attn.softmax %s : tensor<?x8x1x?x{t}> -> tensor<?x8x1x?x{t}>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x8x1x?x{t}>, tensor<?x?x8x{d}x{t}> -> tensor<?x1x8x{d}x{t}>
  return %o : tensor<?x1x8x{d}x{t}>
}}
"""
GENERIC = """\
func.func @main(%x: tensor<8x64x{d}x{t}>) -> tensor<64x8x{d}x{t}> {{
  %0 = tensor.empty() : tensor<64x8x{d}x{t}>
  %1 = linalg.transpose ins(%x : tensor<8x64x{d}x{t}>) outs(%0 : tensor<64x8x{d}x{t}>) permutation = [1, 0, 2]
  %2 = arith.addf %1, %1 : tensor<64x8x{d}x{t}>
  return %2 : tensor<64x8x{d}x{t}>
}}
"""
LINEAR = """\
func.func @main(%x: tensor<?x{d}x{t}> {{attn.dims = ["rows", ""]}}, %w: tensor<{d}x{d}x{t}>) -> tensor<?x{d}x{t}> {{
  %0 = attn.linear %x, %w : tensor<?x{d}x{t}>, tensor<{d}x{d}x{t}> -> tensor<?x{d}x{t}>
  return %0 : tensor<?x{d}x{t}>
}}
"""
NORM = """\
func.func @main(%x: tensor<?x{d}x{t}> {{attn.dims = ["rows", ""]}}, %g: tensor<{d}x{t}>, %b: tensor<{d}x{t}>) -> tensor<?x{d}x{t}> {{
  %0 = attn.layer_norm %x, %g, %b epsilon(1.0e-5) : tensor<?x{d}x{t}>, tensor<{d}x{t}>, tensor<{d}x{t}>
  return %0 : tensor<?x{d}x{t}>
}}
"""
SOFTMAX = """\
func.func @main(%x: tensor<?x{d}x{t}> {{attn.dims = ["rows", ""]}}) -> tensor<?x{d}x{t}> {{
  %0 = attn.softmax %x : tensor<?x{d}x{t}> -> tensor<?x{d}x{t}>
  return %0 : tensor<?x{d}x{t}>
}}
"""


def models():
    for d in (64, 128):
        for t in ("f32", "f16"):
            yield f"attention D {d} {t}", ATTENTION.format(d=d, t=t, mask="", s="%s")
            mask = CAUSAL.format(t=t)
            yield f"causal D {d} {t}", ATTENTION.format(d=d, t=t, mask=mask, s="%x")
            yield f"one query D {d} {t}", DECODE.format(d=d, t=t)
    for t in ("f32", "f16"):
        yield f"linear 768x768 {t}", LINEAR.format(d=768, t=t)
        yield f"layer norm 768 {t}", NORM.format(d=768, t=t)
        yield f"softmax 512 {t}", SOFTMAX.format(d=512, t=t)
        for d in (64, 128):
            yield f"transposed sum D {d} {t}", GENERIC.format(d=d, t=t)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("ptx_table: error: %s\n%s" % (" ".join(command), done.stderr))
    return done.stdout + done.stderr


def rows(attn_opt, ptxas, folder):
    """Cells of each row, and whether anything is spilled."""
    path = os.path.join(folder, "kernel")
    for name, text in models():
        with open(path + ".mlir", "w", encoding="utf-8") as file:
            file.write(text)
        tiled = run(attn_opt, path + ".mlir", "--emit=tiled", "--target=cuda", "--gpu=sm_80")
        numbers = [
            dict((k, int(v)) for k, v in re.findall(r"(\w+) = (\d+)", schedule))
            for schedule in re.findall(r"#attn\.gpu_\w+_schedule<([^>]*)>", tiled)
        ]
        threads = max(s["x"] * s.get("y", 1) for s in numbers)
        run(attn_opt, path + ".mlir", "--emit=ptx", "--target=cuda", "--gpu=sm_80", "-o", path + ".txt")
        with open(path + ".txt", encoding="utf-8") as file:
            kernels = [k for k in re.split(r"^// ---- .*$", file.read(), flags=re.M) if ".version" in k]
        cells, spills = [name, str(threads)], 0
        shared = 0
        for architecture in ARCHITECTURES:
            registers = 0
            for kernel in kernels:
                with open(path + ".ptx", "w", encoding="utf-8") as file:
                    file.write(kernel)
                said = run(ptxas, "-arch=" + architecture, "-v", path + ".ptx", "-o", path + ".cubin")
                registers = max([registers] + [int(n) for n in re.findall(r"Used (\d+) registers", said)])
                spills += sum(int(n) for n in re.findall(r"(\d+) bytes spill", said))
            cells.append(str(registers))
        # Shared memory is asked for at launch: it stands in the loop nest.
        nest = run(attn_opt, path + ".mlir", "--emit=stmt", "--target=cuda", "--gpu=sm_80")
        for elements in re.findall(r"\[float32 \* (\d+)\] in GPUShared", nest):
            shared = max(shared, 4 * int(elements))
        cells.insert(2, str(shared))
        cells.append(str(spills))
        yield cells, spills


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attn_opt")
    parser.add_argument("ptxas")
    parser.add_argument("--check", metavar="PAGE")
    args = parser.parse_args()
    lines = [
        "| kernel (sm_80's limits) | threads | shared bytes | "
        + " | ".join("registers, " + a for a in ARCHITECTURES)
        + " | spilled |",
        "|---" * (4 + len(ARCHITECTURES)) + "|",
    ]
    spilled = 0
    with tempfile.TemporaryDirectory() as folder:
        for cells, spills in rows(args.attn_opt, args.ptxas, folder):
            lines.append("| " + " | ".join(cells) + " |")
            spilled += spills
    table = "\n".join(lines)
    print(table)
    if args.check:
        with open(args.check, encoding="utf-8") as file:
            page = re.sub(REGISTERS, r"\1", file.read(), flags=re.M)
        for line in lines:
            if re.sub(REGISTERS, r"\1", line, flags=re.M) not in page:
                print("ptx_table: error: expected this line in " + args.check)
                print(line)
                return 1
    if spilled:
        print("ptx_table: error: expected no spills, got %d bytes" % spilled)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
