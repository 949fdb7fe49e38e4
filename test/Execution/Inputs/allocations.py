# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails where an allocation in a lowered Halide program multiplies two sizes that are not constants."""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    allocations = re.findall(r"^ *allocate (\S+?)\[(.*?)\](?: in \w+)?(?: if .*)?$", file.read(), re.MULTILINE)
if not allocations:
    sys.exit("expected allocations in the lowered program, found none")
for name, size in allocations:
    factors = re.sub(r"\b(u?int|float)\d+(x\d+)?\b", "", size).split("*")
    unknown = [factor for factor in factors if re.search(r"[A-Za-z_]", factor)]
    if len(unknown) > 1:
        sys.exit(f"allocate {name}[{size}]: expected at most one size that is known at run time only")
print(f"{len(allocations)} allocations, none with two run-time sizes")
