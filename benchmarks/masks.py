#!/usr/bin/env python3
# ===- masks.py - what masks save ------------------------------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Times attention under masks against attention without one, and lists the scratch
memory of a thread.

    benchmarks/masks.py [--bin build/release/bin] [--rounds 5] [--target x86-64-v3]

One thread, 12 heads of 64 channels, 4096 queries and keys. The cases take turns, and
the least processor time of each counts. Ratios matter, not milliseconds. Needs numpy.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import tempfile

import numpy as np

HEADS, CHANNELS, SIZE = 12, 64, 4096
IDS = "tensor<?x?xi64>"
# Name, rule, operands of the rule, the most that it may cost.
CASES = [
    ("full", None, "", None),
    ("causal", "causal<top_left>", "", 0.60),
    ("window (255, 0)", "window<left = 255, right = 0>", "", 0.12),
    ("16 documents", "segments", f"(%ids, %ids : {IDS}, {IDS})", 0.12),
    (
        "window (128, 128), 16 global keys",
        "any_of<[window<left = 128, right = 128>, prefix]>",
        "(%prefix : tensor<?xi64>)",
        None,
    ),
]
# Name, rule, operands, whether scores are additive.
SCRATCH = [
    ("softmax", None, "", False),
    ("softmax, causal", "causal<top_left>", "", False),
    ("softmax, documents", "segments", f"(%ids, %ids : {IDS}, {IDS})", False),
    ("additive scores", None, "", True),
    ("additive scores, causal", "causal<top_left>", "", True),
]


def model(rule, operands, additive=False, channels=CHANNELS):
    tensor = f"tensor<?x?x{HEADS}x{channels}xf32>"
    scores = f"tensor<?x{HEADS}x?x?xf32>"

    def argument(name, kind, dims):
        names = ", ".join(f'"{dim}"' for dim in dims)
        return f'%{name}: {kind} {{attn.name = "{name}", attn.dims = [{names}]}}'

    arguments = [
        argument("q", tensor, ["b", "n", "", ""]),
        argument("k", tensor, ["b", "n", "", ""]),
        argument("v", tensor, ["b", "n", "", ""]),
    ]
    if "%ids" in operands:
        arguments.append(argument("ids", IDS, ["b", "n"]))
    if "%prefix" in operands:
        arguments.append(argument("prefix", "tensor<?xi64>", ["b"]))
    if additive:
        arguments.append(argument("w", f"tensor<{channels}xf32>", [""]))
    lines = ["attn.dim @b range(1, 4)", "attn.dim @n range(1, 65536)"]
    lines.append(f"func.func @attention({', '.join(arguments)}) -> {tensor} {{")
    name, weight, kind = (
        ("additive_scores", ", %w", f", tensor<{channels}xf32>")
        if additive
        else ("scores", "", "")
    )
    lines.append(
        f"  %s = attn.{name} %q, %k{weight} layout(bshd)"
        f" : {tensor}, {tensor}{kind} -> {scores}"
    )
    if rule:
        lines.append(f"  %m = attn.mask %s by {rule}{operands} : {scores}")
    lines.append(
        f"  %p = attn.softmax {'%m' if rule else '%s'} : {scores} -> {scores}"
    )
    lines.append(
        f"  %o = attn.mix %p, %v layout(bshd) : {scores}, {tensor} -> {tensor}"
    )
    lines += [f"  return %o : {tensor}", "}", ""]
    return "\n".join(lines)


def write_case(path, operands, size):
    random = np.random.default_rng(1)
    shape = (1, size, HEADS, CHANNELS)
    arrays = {
        f"in.{name}": random.standard_normal(shape, np.float32) for name in "qkv"
    }
    if "%ids" in operands:
        arrays["in.ids"] = (np.arange(size) * 16 // size).astype(np.int64)[None]
    if "%prefix" in operands:
        arrays["in.prefix"] = np.array([16], np.int64)
    np.savez(path, **arrays)


def processor_seconds(command):
    """What a program takes of the processor, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, run.stdout


def milliseconds(tools, stem):
    """Processor time of one run: it counts no time in which others had the core."""
    command = [tools / "attn-run", f"{stem}.o", f"--case={stem}.npz", "--threads=1"]
    once, _ = processor_seconds(command)
    many, output = processor_seconds([*command, "--time"])
    runs = int(re.search(r" ms of (\d+) runs", output)[1])
    return 1e3 * (many - once) / (runs + 1)


def print_times(tools, target, rounds, folder):
    stems = {}
    for number, (name, rule, operands, _) in enumerate(CASES):
        stem = stems[name] = folder / f"case{number}"
        stem.with_suffix(".mlir").write_text(model(rule, operands))
        write_case(stem.with_suffix(".npz"), operands, SIZE)
        subprocess.run(
            [
                *[tools / "attn-opt", stem.with_suffix(".mlir"), "--emit=obj"],
                *["-o", stem, f"--target={target}"],
            ],
            check=True,
        )
    best = {name: float("inf") for name in stems}
    for _ in range(rounds):
        for name, stem in stems.items():
            best[name] = min(best[name], milliseconds(tools, stem))
    print(f"{HEADS} heads, D = {CHANNELS}, n = m = {SIZE}, one thread, {target}")
    print(f"{'mask':36} {'ms':>9} {'of full':>8}  limit")
    for name, _, _, limit in CASES:
        ratio = best[name] / best["full"]
        verdict = (
            "" if limit is None else f"{limit:.2f} {'ok' if ratio <= limit else 'MISSED'}"
        )
        print(f"{name:36} {best[name]:9.2f} {ratio:8.3f}  {verdict}")


def stack_bytes(assembly):
    """Of the function that computes a query tile. A frame whose size is a number in
    the code, in a function that allocates nothing, does not depend on n and m."""
    body = re.search(
        r"^attention_0\w*_par_for_\w+:$(.*?)^\.Lfunc_end", assembly, re.M | re.S
    )
    frames = re.findall(r"\bsubq\s+(\S+), %rsp", body[1])
    calls = re.findall(r"\bcall\w*\s+(\S+)", body[1])
    if len(frames) != 1 or not frames[0].startswith("$"):
        raise SystemExit(f"expected one constant frame, got {frames}")
    if any("alloc" in call for call in calls):
        raise SystemExit(f"expected no allocation, got calls of {calls}")
    return int(frames[0][1:])


def print_scratch(tools, target, folder):
    print(f"\nscratch of a thread, for every n and m (so for 16384), {target}")
    for channels in (64, 128):
        for name, rule, operands, additive in SCRATCH:
            path = folder / "scratch.mlir"
            path.write_text(model(rule, operands, additive, channels))
            assembly = subprocess.run(
                [tools / "attn-opt", path, "--emit=asm", f"--target={target}"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            size = stack_bytes(assembly)
            verdict = "ok" if size <= 64 * 1024 else "MISSED"
            print(f"{name:24} D = {channels:3} {size:8} bytes  64 KiB {verdict}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--bin", type=pathlib.Path, default=root / "build/release/bin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--target", default="x86-64-v3")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_times(
            options.bin, options.target, options.rounds, pathlib.Path(folder)
        )
        print_scratch(options.bin, options.target, pathlib.Path(folder))


if __name__ == "__main__":
    main()
