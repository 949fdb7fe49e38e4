# ===- openvino_ops.py - formulas with OpenVINO ------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Nodes of opset 13, in the shapes that its CPU plugin fuses."""

import numpy as np
import openvino.opset13 as ops

from .graph import Ops


class Nodes(Ops):
    """A value is a node. Everything is f32; a hint says how it is computed."""

    def __init__(self, arrays, parameters):
        self.arrays, self.parameters = arrays, parameters

    def input(self, name):
        return self.parameters[name]

    def weight(self, name):
        return ops.constant(self.arrays[name])

    def add(self, x, y):
        return ops.add(x, y)

    def linear(self, x, name):
        product = ops.matmul(x, self.weight(f"{name}.weight"), False, True)
        return ops.add(product, self.weight(f"{name}.bias"))

    def gelu(self, x):
        return ops.gelu(x, "ERF")

    def layer_norm(self, x, name):
        x = ops.mvn(x, ops.constant([-1]), True, self.EPSILON, "INSIDE_SQRT")
        scaled = ops.multiply(x, self.weight(f"{name}.weight"))
        return ops.add(scaled, self.weight(f"{name}.bias"))

    def rms_norm(self, x, name):
        square = ops.power(x, np.float32(2))
        mean = ops.reduce_mean(square, ops.constant([-1]), True)
        root = ops.sqrt(ops.add(mean, np.float32(self.EPSILON)))
        normal = ops.multiply(x, ops.divide(np.float32(1), root))
        return ops.multiply(normal, self.weight(f"{name}.weight"))

    def softmax(self, x):
        return ops.softmax(x, -1)

    def rows(self, ids, table):
        return ops.gather(self.weight(f"{table}.weight"), ids, np.int64(0))

    def add_positions(self, x, table):
        rows = self.arrays[f"{table}.weight"][: x.get_output_shape(0)[1]]
        return ops.add(x, ops.constant(rows))

    def attention(self, q, k, v, heads):
        batch, tokens, width = q.get_output_shape(0)
        split = ops.constant([batch, tokens, heads, width // heads])
        order = ops.constant([0, 2, 1, 3])
        q, k, v = (ops.transpose(ops.reshape(x, split, False), order) for x in (q, k, v))
        o = ops.transpose(ops.scaled_dot_product_attention(q, k, v), order)
        return ops.reshape(o, ops.constant([batch, tokens, width]), False)
