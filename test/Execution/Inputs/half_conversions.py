# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes a case of all numbers of 16 bits and of f32 near to where they round.

    half_conversions.py FILE
"""

import sys

import numpy as np

bits = np.arange(65536, dtype=np.uint16)
half = bits.view(np.float16)
brain = (bits.astype(np.uint32) << 16).view(np.float32)

# Each number of a type, the points between two of them, and their neighbours.
rng = np.random.default_rng(3)
near = []
for numbers, last in ((half.astype(np.float32), 13), (brain, 16)):
    exact = numbers.view(np.uint32).astype(np.int64)
    middle = exact + (1 << (last - 1))
    near += [exact, middle, middle - 1, middle + 1]
# Below the smallest normal f16 the points between lie elsewhere.
near.append((rng.random(65536, np.float32) * np.float32(2**-13))
            .view(np.uint32).astype(np.int64))
near.append(rng.integers(0, 2**32, 65536))
near = np.concatenate(near) % 2**32
near = rng.permutation(near.astype(np.uint32))[:65536]
wide = near.view(np.float32)

with np.errstate(over="ignore", invalid="ignore"):
    to_half = wide.astype(np.float16)
rounded = near.astype(np.uint64) + 0x7fff + ((near >> 16) & 1)
to_brain = (rounded >> 16).astype(np.uint16)
to_brain[np.isnan(wide)] = 0x7fc0

np.savez(sys.argv[1], **{
    "in.f16": half, "in.bf16": bits.view("V2"), "in.f32": wide,
    "out.from_f16": half.astype(np.float32), "out.from_bf16": brain,
    "out.to_f16": to_half, "out.to_bf16": to_brain.view("V2")})
