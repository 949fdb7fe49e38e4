#!/usr/bin/env python3
# ===- run.py - the speed of attn-opt beside other libraries --------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Measures each line of the table with attn-opt and with what a user would take.

    python3 benchmarks/run.py [--quick] [--threads=1,2] [--only=REGEX]
                              [--json=FILE] [--peers=torch,onnxruntime,openvino]

Installs the libraries of benchmarks/requirements.txt into an environment of its
own the first time (torch is large). Every side runs in a process of its own,
all on the same cores and in turn, so that what disturbs the machine disturbs
all of them. Results are compared with f64. Writes FILE (build/benchmarks/
results.json), and a table and a picture beside it.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "benchmarks"


def enter_environment():
    """Starts this program again inside of its environment."""
    python = BUILD / "venv" / "bin" / "python3"
    wanted = (HERE / "requirements.txt").read_text()
    stamp = BUILD / "venv" / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installing the libraries to compare with (once)", flush=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", BUILD / "venv"], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--progress-bar=on", "-r", HERE / "requirements.txt"],
            check=True,
        )
        stamp.write_text(wanted)
    if pathlib.Path(sys.prefix).resolve() != (BUILD / "venv").resolve():
        os.execv(python, [str(python), *sys.argv])


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        epilog="A ratio above 1: attn-opt is faster than the best of the others.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no torch.compile")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--only", default="", help="lines whose name matches")
    parser.add_argument(
        "--peers", default="torch,onnxruntime,openvino", help="libraries to compare with"
    )
    parser.add_argument("--target", default="", help="target of attn-opt (the CPU's)")
    parser.add_argument("--attn-opt", default=str(ROOT / "build/release/bin/attn-opt"))
    parser.add_argument("--json", default=str(BUILD / "results.json"))
    options = parser.parse_args()
    try:
        options.threads = [int(text) for text in options.threads.split(",")]
    except ValueError:
        parser.error(f"expected numbers with commas for --threads, got {options.threads}")
    cores = len(os.sched_getaffinity(0))
    if not all(1 <= n <= cores for n in options.threads):
        parser.error(f"expected --threads of 1 to {cores}, got {options.threads}")
    # What is compiled, and what measures the machine.
    compiler = pathlib.Path(options.attn_opt)
    for name, tool in (("attn-opt", compiler), ("attn-run", compiler.with_name("attn-run"))):
        if not tool.exists():
            parser.error(f"expected {name} at {tool} (build it: utils/demo.sh), got no file")
    options.peers = [peer for peer in options.peers.split(",") if peer]
    return options


def main():
    options = parse()
    if options.peers:
        enter_environment()
    sys.path.insert(0, str(HERE))
    try:
        from attnbench import lines, measure, report
    except ModuleNotFoundError as error:
        sys.exit(
            f"expected the module {error.name} where there are no peers to install it "
            "for: use .venv/bin/python3, which utils/setup.sh makes"
        )

    chosen = [n for n, l in enumerate(lines.LINES) if l in lines.select(options.only)]
    if not chosen:
        sys.exit(f"expected --only to match a line, got '{options.only}'")
    BUILD.mkdir(parents=True, exist_ok=True)
    attn_run = pathlib.Path(options.attn_opt).with_name("attn-run")
    machine = measure.describe_machine(attn_run, options.target)
    print(report.machine_line(machine), flush=True)
    rows = []
    try:
        for threads in options.threads:
            for number in chosen:
                row = measure.measure_line(number, threads, options, machine, BUILD)
                rows.append(row)
                print(report.text_row(row), flush=True)
    except KeyboardInterrupt:
        print("interrupted: the lines so far follow", file=sys.stderr)
    target = pathlib.Path(options.json)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    target.with_suffix(".md").write_text(report.markdown(machine, rows))
    target.with_suffix(".svg").write_text(report.picture(machine, rows))
    print(f"wrote {target}, {target.stem}.md and {target.stem}.svg")


if __name__ == "__main__":
    main()
