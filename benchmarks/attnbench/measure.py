# ===- measure.py - all sides of a line in turn ------------------------ === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Starts a process for each side and lets them run by turns."""

import dataclasses
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from . import data, lines, ours

def describe_machine(attn_run, target):
    """Name of the CPU, its vector width, and its ceilings for one thread."""
    command = [str(attn_run), "--measure-machine"]
    if target:
        command.append(f"--target={target}")
    text = subprocess.check_output(pinned(command, 1), text=True).strip()
    # gflops=96.3,gbytes=12.1
    machine = {name: float(value) for name, value in (part.split("=") for part in text.split(","))}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    names = [l.split(":", 1)[1].strip() for l in text.split("\n") if l.startswith("model name")]
    flags = text.split("flags", 1)[-1].split("\n")[0].split()
    machine["cpu"] = names[0] if names else platform.machine()
    machine["features"] = [
        flag
        for flag in ("avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16")
        if flag in flags
    ]
    machine["target"] = "x86-64-v4" if "avx512f" in flags else "x86-64-v3"
    if {"amx_tile", "amx_bf16"} <= set(flags):
        machine["target"] = "x86-64-v4-amx"
    return machine


def pinned(command, threads):
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return ["taskset", "-c", ",".join(map(str, cores)), *command]


class Side:
    """A worker process: ready when `answer` is there."""

    def __init__(self, name, number, threads, folder, quick):
        worker = pathlib.Path(__file__).with_name("worker.py")
        environment = dict(os.environ)
        environment.update(
            OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads)
        )
        for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            environment.pop(variable, None)
        arguments = [name, number, threads, folder, "quick" if quick else "full"]
        self.name = name
        self.log = open(folder / f"{name}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            pinned([sys.executable, str(worker), *map(str, arguments)], threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment,
        )
        reply = self.process.stdout.readline()
        self.answer = json.loads(reply) if reply else {"ways": [], "extra": {}}
        self.seconds = []
        for text in self.answer.get("refused", []):
            print(f"{name}: {text}", file=sys.stderr)
        if not reply:
            lines = (folder / f"{name}.log").read_text(errors="replace").strip().split("\n")
            print(f"{name} did not start: {lines[-1][:300]}", file=sys.stderr)

    def best(self):
        return min(self.answer["ways"], key=lambda way: way["ms"], default=None)

    def run(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        self.seconds += json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def measure_line(number, threads, options, machine, build):
    line = lines.LINES[number]
    with tempfile.TemporaryDirectory(dir=build) as name:
        folder = pathlib.Path(name)
        arrays = data.inputs(line)
        expected = data.expected(line, arrays)
        np.save(folder / "expected.npy", expected)
        target = options.target or machine["target"]
        compiled = lambda line, side: ours.compile_model(
            line, arrays, folder, side, options.attn_opt, target
        )
        compile_seconds = compiled(line, "ours")
        if "ours-f32" in line.beside:
            compiled(dataclasses.replace(line, element="f32"), "ours-f32")
        del arrays
        names = ["ours", *(line.beside or options.peers)]
        sides = [Side(side, number, threads, folder, options.quick) for side in names]
        try:
            ready = [side for side in sides if side.best()]
            take_turns(ready, options.quick)
        finally:
            for side in sides:
                side.stop()
    most = data.limit(line, expected)
    return summarize(line, threads, sides, machine, compile_seconds, target, most)


def take_turns(sides, quick):
    """Rounds of about 50 ms for each side, until a time is reached."""
    rounds = 5 if quick else 15
    counts = {
        side.name: max(1, min(200, round(50 / max(side.best()["ms"], 1e-3))))
        for side in sides
    }
    for _ in range(rounds):
        for side in sides:
            side.run(counts[side.name])


def summarize(line, threads, sides, machine, compile_seconds, target, most):
    def entry(side):
        way = side.best()
        return {
            "way": way["name"],
            "min_ms": 1e3 * min(side.seconds),
            "median_ms": 1e3 * statistics.median(side.seconds),
            "error": way["error"],
            "memory_kib": way["memory_kib"],
        }

    mine = next(side for side in sides if side.name == "ours")
    if not mine.best():
        raise RuntimeError(f"{line.name}: attn-opt's side did not start")
    own = entry(mine)
    peers = {s.name: entry(s) for s in sides if s.name != "ours" and s.best()}
    best = min((peer["min_ms"] for peer in peers.values()), default=None)
    seconds = own["min_ms"] / 1e3
    return {
        "name": line.name,
        "threads": threads,
        "ours_ms": own["min_ms"],
        "ours_median_ms": own["median_ms"],
        "peers": {name: peer["min_ms"] for name, peer in peers.items()},
        "peer_details": peers,
        "ratio": best / own["min_ms"] if best else None,
        "target": line.must,
        "stretch": line.stretch,
        "gflops": line.flops() / seconds * 1e-9,
        "gbytes": line.bytes() / seconds * 1e-9,
        "of_peak": line.flops() / seconds * 1e-9 / (machine["gflops"] * threads),
        "of_bandwidth": line.bytes() / seconds * 1e-9 / machine["gbytes"],
        "is_memory_bound": line.is_memory_bound(),
        "error": own["error"],
        "limit": most,
        "exact": own["error"] <= most,
        "workspace": mine.answer["extra"].get("workspace", 0),
        "memory_kib": own["memory_kib"],
        "compile_s": compile_seconds,
        "compiled_for": target,
    }
