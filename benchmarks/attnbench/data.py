# ===- data.py - inputs and what is right ----------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Inputs of a line, the same in each process, and the result in f64."""

import numpy as np

from . import bf16, exact
from .lines import alibi_slopes


# What our side may be away from f64: for attention and linear layers of N(0, 1)
# in f32; for formulas a few roundings of values up to 5. In bf16 half a unit in
# the last place of the largest result (2^-9 of it) and as much for what comes
# before, or for a block, which rounds after each layer, eight times that.
LIMIT = {"attention": 2e-6, "linear": 2e-4, "graph": 2e-5}
HALF_LIMIT = {"attention": 2**-8, "graph": 2**-5}
# A peer that is farther away than this many of our limits computes something else.
PEER_LIMITS = 16


def limit(line, expected):
    if line.element == "bf16":
        return float(HALF_LIMIT[line.kind] * np.abs(expected).max())
    return LIMIT[line.kind]


def inputs(line):
    """Named arrays, weights among them; f32 that holds what the line's type has."""
    arrays = exact.arrays(line) if line.kind == "graph" else tensors(line)
    if line.element == "bf16":
        arrays = {name: bf16.rounded(array) for name, array in arrays.items()}
    return {name: aligned(array) for name, array in arrays.items()}


def aligned(array):
    """The array in memory that begins a cache line, as programs and frameworks allocate theirs.

    That of numpy begins 16 bytes behind one, so that each vector of AVX-512 lies in two.
    """
    line = 64
    array = np.ascontiguousarray(array)
    memory = np.empty(array.nbytes + line, np.uint8)
    start = -memory.ctypes.data % line
    result = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def tensors(line):
    """Of attention or a linear layer, in the layout of the line, N(0, 1)."""
    generator = np.random.default_rng(1)

    def normal(*shape):
        return generator.standard_normal(shape, dtype=np.float32)

    if line.kind == "linear":
        return {
            "x": normal(line.rows, line.inputs),
            "w": normal(line.outputs, line.inputs) / np.float32(line.inputs**0.5),
            "b": normal(line.outputs),
        }

    def tensor(length, heads):
        shape = (heads, length) if line.layout == "bhsd" else (length, heads)
        return normal(line.batch, *shape, line.size)

    arrays = {
        "q": tensor(line.queries, line.heads),
        "k": tensor(line.keys, line.groups),
        "v": tensor(line.keys, line.groups),
    }
    if line.key_lengths:
        arrays["lengths"] = np.array(line.key_lengths, np.int64)
    return arrays


def visible(line):
    """The mask as a matrix (batch or 1, queries, keys), or None."""
    i = np.arange(line.queries)[:, None] + line.keys - line.queries
    j = np.arange(line.keys)[None, :]
    if line.key_lengths:
        lengths = np.array(line.key_lengths)[:, None, None]
        return np.broadcast_to(j < lengths, (line.batch, line.queries, line.keys))
    if not line.causal:
        return None
    mask = j <= i
    if line.window >= 0:
        mask &= j >= i - line.window
    return mask[None]


def bias(line):
    """Slopes times distances, or None."""
    if not line.alibi:
        return None
    i = np.arange(line.queries)[:, None] + line.keys - line.queries
    j = np.arange(line.keys)[None, :]
    slopes = np.array(alibi_slopes(line.heads), np.float32)
    return slopes[:, None, None] * (j - i).astype(np.float32)


def expected(line, arrays):
    """In f64, a head at a time."""
    if line.kind == "graph":
        return line.formula(exact.Exact(arrays))
    if line.kind == "linear":
        x, w, b = (arrays[name].astype(np.float64) for name in "xwb")
        return x @ w.T + b
    q, k, v = (arrays[name] for name in "qkv")
    if line.layout == "bshd":
        q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    mask, add = visible(line), bias(line)
    result = np.empty(q.shape, np.float64)
    share = line.heads // line.groups
    for b in range(line.batch):
        for h in range(line.heads):
            s = q[b, h].astype(np.float64) @ k[b, h // share].T.astype(np.float64)
            s *= line.size**-0.5
            if add is not None:
                s += add[h]
            if mask is not None:
                s[~mask[b if len(mask) > 1 else 0]] = -np.inf
            s -= s.max(axis=1, keepdims=True)
            np.exp(s, out=s)
            s /= s.sum(axis=1, keepdims=True)
            result[b, h] = s @ v[b, h // share]
    return result if line.layout == "bhsd" else result.transpose(0, 2, 1, 3)
