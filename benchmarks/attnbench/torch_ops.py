# ===- torch_ops.py - formulas with PyTorch ----------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Layers as functions of torch, one by one or with what can be joined joined."""

import torch
import torch.nn.functional as F

from .graph import Ops


class Eager(Ops):
    """Runs as it is called. Weights are taken apart from the clock."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.joined = {}

    def input(self, name):
        return self.tensors[name]

    def pair(self, name):
        return self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def add(self, x, y):
        return x + y

    def linear(self, x, name):
        return F.linear(x, *self.pair(name))

    def gelu(self, x):
        return F.gelu(x)

    def layer_norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], *self.pair(name), self.EPSILON)

    def rms_norm(self, x, name):
        return F.rms_norm(x, x.shape[-1:], self.tensors[f"{name}.weight"], self.EPSILON)

    def softmax(self, x):
        return F.softmax(x, -1)

    def rows(self, ids, table):
        return F.embedding(ids, self.tensors[f"{table}.weight"])

    def add_positions(self, x, table):
        return x + self.tensors[f"{table}.weight"][: x.shape[1]]

    def attention(self, q, k, v, heads):
        q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class Joined(Eager):
    """One product for queries, keys and values."""

    def self_attention(self, x, names, heads):
        key = names[0]
        if key not in self.joined:
            pairs = [self.pair(name) for name in names]
            self.joined[key] = [torch.cat(parts) for parts in zip(*pairs)]
        return self.attention(*F.linear(x, *self.joined[key]).chunk(3, -1), heads)


class Module(torch.nn.Module):
    """The formula with weights as parameters, which freezing packs."""

    def __init__(self, line, tensors):
        super().__init__()
        self.line = line
        names = {name: name.replace(".", "_") for name in line.weights}
        for name, attribute in names.items():
            self.register_buffer(attribute, tensors[name])
        self.names = names

    def forward(self, *inputs):
        tensors = {name: getattr(self, attribute) for name, attribute in self.names.items()}
        return self.line.formula(Eager({**tensors, **dict(zip(self.line.inputs, inputs))}))


def ways(line, tensors, quick):
    kinds = {"functions": Eager}
    if any("attention" in name for name in line.weights):
        kinds["functions, joined projections"] = Joined
    for name, kind in kinds.items():
        ops = kind(tensors)
        yield name, lambda ops=ops: line.formula(ops)
    if quick:  # compiling takes 8 to 40 s
        return
    import torch._inductor.config

    torch._inductor.config.freezing = True
    torch._inductor.config.compile_threads = 1
    module = torch.compile(Module(line, tensors).eval())
    inputs = [tensors[name] for name in line.inputs]
    yield "torch.compile, frozen", lambda: module(*inputs)
