# ===- worker.py - one library in a process of its own ---------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""worker.py SIDE LINE THREADS FOLDER QUICK: serves timings of one side of a line.

Prints a JSON line when it is ready, with the error from f64 of each way; then
reads numbers from its input and answers each with the seconds of as many runs.
While it waits it burns no time: the other sides are measured then.
"""

import json
import os
import pathlib
import resource
import sys
import time


def main():
    side, number, threads, folder, quick = sys.argv[1:6]
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    import numpy as np

    from attnbench import bf16, data, lines

    line = lines.LINES[int(number)]
    threads, folder = int(threads), pathlib.Path(folder)
    arrays = data.inputs(line)
    expected = np.load(folder / "expected.npy")

    answer = {"extra": {}}
    own = side.startswith("ours")
    if own:
        from attnbench import ours

        info = json.loads((folder / f"{side}.json").read_text())
        model = ours.Compiled(folder / side, info, arrays, expected.shape, threads)
        ways = [("attn-opt", model)]
        answer["extra"]["workspace"] = model.workspace()
    else:
        from attnbench import peers

        ways = list(peers.WAYS[side](line, arrays, threads, quick == "quick"))

    best, kept = None, None
    answer["ways"], answer["refused"] = [], []
    most = data.PEER_LIMITS * data.limit(line, expected)
    for name, run in ways:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        error = float(np.abs(bf16.values(run()) - expected).max())
        if not own and not error <= most:
            answer["refused"].append(f"{name}: {error:.1e} from f64, more than {most:.1e}")
            continue
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        seconds = min(timed(run) for _ in range(3))
        answer["ways"].append(
            {"name": name, "error": error, "ms": 1e3 * seconds, "memory_kib": memory}
        )
        if best is None or seconds < best:
            best, kept = seconds, run
    print(json.dumps(answer), flush=True)
    if kept is None:
        return
    for request in sys.stdin:
        print(json.dumps([timed(kept) for _ in range(int(request))]), flush=True)


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    os.environ.setdefault("KMP_BLOCKTIME", "1")
    main()
