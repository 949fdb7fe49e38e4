# ===- exact.py - formulas in f64 --------------------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Random inputs and weights of a formula, and what it is in f64."""

import math

import numpy as np

from .graph import Ops

ERF = np.frompyfunc(math.erf, 1, 1)


def arrays(line):
    """Inputs and weights by name. Products keep the scale of what they take."""
    generator = np.random.default_rng(1)

    def weight(name, shape):
        values = generator.standard_normal(shape, dtype=np.float32)
        if len(shape) > 1:
            return values / np.float32(shape[-1] ** 0.5)
        scaled = values / np.float32(10)
        return scaled + np.float32(1) if "orm.weight" in name else scaled

    result = {}
    for name, tensor in line.inputs.items():
        if tensor.below:
            result[name] = generator.integers(tensor.below, size=tensor.sizes())
        else:
            result[name] = generator.standard_normal(tensor.sizes(), dtype=np.float32)
    result.update((name, weight(name, shape)) for name, shape in line.weights.items())
    return result


class Exact(Ops):
    """Plain formulas."""

    def __init__(self, values):
        self.values = values

    def input(self, name):
        array = self.values[name]
        return array if array.dtype == np.int64 else array.astype(np.float64)

    weight = input

    def add(self, x, y):
        return x + y

    def linear(self, x, name):
        return x @ self.weight(f"{name}.weight").T + self.weight(f"{name}.bias")

    def gelu(self, x):
        return 0.5 * x * (1 + ERF(x / math.sqrt(2)).astype(np.float64))

    def layer_norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.EPSILON)
        return x * self.weight(f"{name}.weight") + self.weight(f"{name}.bias")

    def rms_norm(self, x, name):
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.EPSILON)
        return x * self.weight(f"{name}.weight")

    def softmax(self, x):
        x = np.exp(x - x.max(axis=-1, keepdims=True))
        return x / x.sum(axis=-1, keepdims=True)

    def rows(self, ids, table):
        return self.weight(f"{table}.weight")[ids]

    def add_positions(self, x, table):
        return x + self.weight(f"{table}.weight")[: x.shape[1]]

    def attention(self, q, k, v, heads):
        q, k, v = (x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) for x in (q, k, v))
        p = self.softmax(q @ k.swapaxes(2, 3) / math.sqrt(q.shape[-1]))
        o = (p @ v).swapaxes(1, 2)
        return o.reshape(*o.shape[:2], -1)
