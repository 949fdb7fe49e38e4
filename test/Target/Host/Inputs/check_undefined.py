# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Fails if an object wants a symbol that is not in libc, libm or pthread."""

import ctypes.util
import subprocess
import sys

undefined = subprocess.run(
    ["llvm-nm", "--undefined-only", "--format=just-symbols", sys.argv[1]],
    check=True, capture_output=True, text=True).stdout.split()
known = set()
for name in ("c", "m", "pthread"):
    library = ctypes.util.find_library(name)
    if not library:
        continue
    path = next((f"{d}/{library}" for d in (
        "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/lib",
        "/usr/lib") if __import__("os").path.exists(f"{d}/{library}")), library)
    listing = subprocess.run(
        ["llvm-nm", "--dynamic", "--defined-only", "--format=just-symbols", path],
        check=True, capture_output=True, text=True).stdout.split()
    known |= {symbol.split("@")[0] for symbol in listing}
assert "memcpy" in known, "libc was not found"
unknown = [symbol for symbol in undefined if symbol not in known]
if unknown or not undefined:
    sys.exit(f"expected symbols of libc, libm and pthread, got {unknown}")
