# ===- bf16.py - sixteen-bit numbers, which NumPy does not have --------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""bf16 as the upper half of an f32: arrays hold values in f32, sides take bits."""

import numpy as np


def rounded(array):
    """The nearest values that bf16 has, ties to even."""
    if array.dtype != np.float32:
        return array
    bits = array.view(np.uint32)
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def stored(array, element):
    """What lies in memory: bits for bf16, otherwise the array."""
    if element != "bf16" or array.dtype != np.float32:
        return array
    return (array.view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def values(array):
    """Of a result, which may be bits."""
    if array.dtype != np.uint16:
        return array
    return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
