# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Interrupts a program at several moments and looks what it leaves behind.

    interrupt.py FOLDER MOMENT... -- PROGRAM ARGUMENTS...

The program runs with FOLDER/tmp as the folder of temporary files and may write
to FOLDER/out. A first run shows which files it writes there. Each further run
starts with other contents in those files and is sent a signal when its moment
has come:

    output    a file in FOLDER/out that was not there
    kernels   a compiler of kernels runs
    bitcode   the first kernel is compiled
    weights   the file of the weights grows
    N%        N percent of the time of the first run

Afterwards FOLDER/out has the files of before or all those of the first run,
FOLDER/tmp is empty, no child lives, nothing was said, and the program ended by
the signal. A moment that is named must come: it is tried again until the signal
arrives in time.
"""

import glob
import os
import shutil
import signal
import subprocess
import sys
import time

folder = os.path.abspath(sys.argv[1])
split = sys.argv.index("--")
moments, command = sys.argv[2:split], sys.argv[split + 1:]
out, tmp = os.path.join(folder, "out"), os.path.join(folder, "tmp")


def contents():
    files = {}
    for name in os.listdir(out):
        with open(os.path.join(out, name), "rb") as file:
            files[name] = file.read()
    return files


def children():
    """Processes that were given a file in our folder of temporary files."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if tmp.encode() + b"/" in file.read():
                    found.append(path.split("/")[2])
        except OSError:
            pass  # It has just ended.
    return found


def prepare(files):
    for path in (out, tmp):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    for name, data in files.items():
        with open(os.path.join(out, name), "wb") as file:
            file.write(data)


def reset_signals():
    # Whoever runs this test may ignore them.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start():
    return subprocess.Popen(
        command, env=dict(os.environ, TMPDIR=tmp), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=reset_signals)


def has_come(moment, before, since):
    if moment == "output":
        return len(os.listdir(out)) > before
    if moment == "kernels":
        return children()
    if moment == "bitcode":
        return glob.glob(tmp + "/**/*.bc", recursive=True)
    if moment == "weights":
        return any(os.path.getsize(path) > 1 << 20
                   for path in glob.glob(out + "/*.weights-*"))
    return time.monotonic() >= since + float(moment.rstrip("%")) / 100 * duration


def interrupt(moment, number, group):
    """One run. Returns whether the signal came in time."""
    prepare(old)
    process, since = start(), time.monotonic()
    try:
        while process.poll() is None and not has_come(moment, len(old), since):
            time.sleep(0.0005)
        try:
            (os.killpg if group else os.kill)(process.pid, number)
        except ProcessLookupError:
            pass  # It was faster.
        errors = process.communicate(timeout=60)[1].decode()
    finally:
        process.kill()
    left = children()
    problems = []
    if left:
        problems.append(f"processes {left}")
    if os.listdir(tmp):
        problems.append(f"temporary files {os.listdir(tmp)}")
    files = contents()
    if files != old and files != new:
        problems.append(f"a mixture of files {sorted(files)}")
    if errors:
        problems.append(f"the text {errors!r}")
    if process.returncode not in (0, -number):
        problems.append(f"the status {process.returncode}")
    if process.returncode == 0 and files != new:
        problems.append("an old file after a success")
    if problems:
        sys.exit(f"{moment}, signal {number}: expected nothing to be left, got "
                 + ", ".join(problems))
    return process.returncode != 0


prepare({})
begin = time.monotonic()
process = start()
errors = process.communicate()[1].decode()
if process.returncode:
    sys.exit(f"expected a program that works, got {process.returncode}: {errors}")
duration = time.monotonic() - begin
new = contents()
old = {name: b"old " + name.encode() for name in new}
for i, moment in enumerate(moments):
    # From a terminal, the signal goes to all processes of the group.
    number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
    for attempt in range(20):
        if interrupt(moment, number, group=i % 2 == 0) or "%" in moment:
            break
    else:
        sys.exit(f"expected to meet the moment '{moment}', got the program's end")
print("nothing was left")
