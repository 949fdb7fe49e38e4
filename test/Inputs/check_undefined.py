# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Fails if an object wants a symbol that is not in libc, libm or pthread.

    check_undefined.py OBJECT...
"""

import ctypes.util
import os
import subprocess
import sys

FOLDERS = ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/lib",
           "/usr/lib")


def symbols(*arguments):
    return subprocess.run(
        ["llvm-nm", "--format=just-symbols", *arguments],
        check=True, capture_output=True, text=True).stdout.split()


known = set()
for name in ("c", "m", "pthread"):
    library = ctypes.util.find_library(name)
    if not library:
        continue  # glibc has pthread in libc.
    path = next((f"{folder}/{library}" for folder in FOLDERS
                 if os.path.exists(f"{folder}/{library}")), library)
    known |= {symbol.split("@")[0]
              for symbol in symbols("--dynamic", "--defined-only", path)}
if "memcpy" not in known:
    sys.exit("expected to find libc with memcpy in it, got none")

for path in sys.argv[1:]:
    undefined = symbols("--undefined-only", path)
    unknown = sorted(set(undefined) - known)
    if unknown:
        sys.exit(f"{path}: expected undefined symbols to be those of libc, libm "
                 f"and pthread, got {', '.join(unknown)}")
    if not undefined:
        sys.exit(f"{path}: expected an object that needs libc, got one without "
                 "undefined symbols")
