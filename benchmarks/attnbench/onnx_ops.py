# ===- onnx_ops.py - formulas as ONNX graphs ---------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""A graph of ONNX operators, and one of the fused operators of ONNX Runtime."""

import numpy as np
from onnx import helper

from .graph import Ops

FUSED = "com.microsoft"


class Standard(Ops):
    """Operators of ONNX 23; a value is the name of an edge."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.nodes, self.constants = [], {}

    def put(self, kind, inputs, outputs=1, domain="", **attributes):
        names = [f"t{len(self.nodes)}", *[""] * (outputs - 1)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0]

    def constant(self, name, array):
        self.constants.setdefault(name, np.ascontiguousarray(array))
        return name

    def input(self, name):
        return name

    def weight(self, name):
        return self.constant(name, self.arrays[name])

    def matrix(self, name):
        """Transposed, as MatMul wants it."""
        return self.constant(f"{name}.matrix", self.arrays[f"{name}.weight"].T)

    def add(self, x, y):
        return self.put("Add", [x, y])

    def linear(self, x, name):
        return self.add(self.put("MatMul", [x, self.matrix(name)]), self.weight(f"{name}.bias"))

    def gelu(self, x):
        return self.put("Gelu", [x])

    def layer_norm(self, x, name):
        weights = [self.weight(f"{name}.{part}") for part in ("weight", "bias")]
        return self.put("LayerNormalization", [x, *weights], axis=-1, epsilon=self.EPSILON)

    def rms_norm(self, x, name):
        weight = self.weight(f"{name}.weight")
        return self.put("RMSNormalization", [x, weight], axis=-1, epsilon=self.EPSILON)

    def softmax(self, x):
        return self.put("Softmax", [x], axis=-1)

    def rows(self, ids, table):
        return self.put("Gather", [self.weight(f"{table}.weight"), ids])

    def add_positions(self, x, table):
        sizes = self.arrays[self.ids].shape
        rows = self.arrays[f"{table}.weight"][: sizes[1]]
        return self.add(x, self.constant(f"{table}.rows", rows))

    def embeddings(self, ids, types, words, token_types, positions):
        self.ids = ids
        return super().embeddings(ids, types, words, token_types, positions)

    def attention(self, q, k, v, heads):
        return self.put("Attention", [q, k, v], q_num_heads=heads, kv_num_heads=heads)


class Contrib(Standard):
    """What ONNX Runtime's own optimizer makes of transformers."""

    def linear_gelu(self, x, name):
        product = self.put("MatMul", [x, self.matrix(name)])
        return self.put("BiasGelu", [product, self.weight(f"{name}.bias")], domain=FUSED)

    def norm_of_sum(self, x, y, name):
        weights = [self.weight(f"{name}.{part}") for part in ("weight", "bias")]
        return self.put(
            "SkipLayerNormalization", [x, y, *weights], domain=FUSED, epsilon=self.EPSILON
        )

    def rms_norm(self, x, name):
        weight = self.weight(f"{name}.weight")
        return self.put("SimplifiedLayerNormalization", [x, weight], axis=-1, epsilon=self.EPSILON)

    def self_attention(self, x, names, heads):
        joined = f"{names[0]}.joined"
        weights = [self.arrays[f"{name}.weight"].T for name in names]
        biases = [self.arrays[f"{name}.bias"] for name in names]
        inputs = [
            x,
            self.constant(f"{joined}.weight", np.concatenate(weights, axis=1)),
            self.constant(f"{joined}.bias", np.concatenate(biases)),
        ]
        return self.put("Attention", inputs, domain=FUSED, num_heads=heads)


class Heads(Contrib):
    """The projections apart, then MultiHeadAttention."""

    self_attention = Ops.self_attention

    def attention(self, q, k, v, heads):
        return self.put("MultiHeadAttention", [q, k, v], domain=FUSED, num_heads=heads)


def ways(line, arrays, session):
    for name, kind in (("ONNX", Standard), ("fused operators", Contrib), ("MultiHeadAttention", Heads)):
        if kind is Heads and not any("attention" in weight for weight in line.weights):
            return
        ops = kind(arrays)
        result = line.formula(ops)
        inputs = {name: arrays[name] for name in line.inputs}
        try:
            yield name, session(ops.nodes, inputs, result, ops.constants.items(), FUSED)
        except Exception:  # an operator of this release may be missing or partial
            pass
