# ===- mlir.py - formulas as models of attn-opt ------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Writes a formula as MLIR text, and weights as a safetensors file."""

import json

import numpy as np

from . import bf16
from .graph import Ops

WEIGHTS = "weights.safetensors"


def tensor_type(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def write_safetensors(path, arrays, element="f32"):
    header, offset = {}, 0
    for name, array in arrays.items():
        size = array.size * (2 if element == "bf16" else 4)
        header[name] = {
            "dtype": element.upper(),
            "shape": list(array.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(bf16.stored(array, element)).tobytes())


class Text(Ops):
    """A value is (name, shape) with `?` for a size that is known at run time."""

    def __init__(self, line):
        self.line = line
        self.body = []
        self.refs = {}

    def element(self, value):
        tensor = self.line.inputs.get(value[0][1:])
        return "i64" if tensor and tensor.below else self.line.element

    def type(self, value):
        return tensor_type(value[1], self.element(value))

    def types(self, *values):
        return ", ".join(map(self.type, values))

    def put(self, text, shape):
        name = f"%v{len(self.body)}"
        self.body.append(f"{name} = {text}")
        return name, shape

    def input(self, name):
        tensor = self.line.inputs[name]
        return f"%{name}", tuple("?" if of else size for of, size in zip(tensor.names(), tensor.sizes()))

    def weight(self, name):
        shape = self.line.weights[name]
        if name not in self.refs:
            kind = tensor_type(shape, self.line.element)
            self.refs[name] = self.put(f'attn.weight_ref @"{name}" : {kind}', shape)
        return self.refs[name]

    def same(self, text, x, *others):
        return self.put(f"{text} : {self.types(x, *others)}", x[1])

    def add(self, x, y):
        return self.put(f"arith.addf {x[0]}, {y[0]} : {self.type(x)}", x[1])

    def linear(self, x, name):
        w, b = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        shape = (*x[1][:-1], w[1][0])
        result = tensor_type(shape, self.line.element)
        return self.put(
            f"attn.linear {x[0]}, {w[0]} bias({b[0]}) : {self.types(x, w, b)} -> {result}", shape
        )

    def gelu(self, x):
        return self.same(f"attn.gelu {x[0]}<erf>", x)

    def layer_norm(self, x, name):
        g, b = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        text = f"attn.layer_norm {x[0]}, {g[0]}, {b[0]} epsilon({self.EPSILON:.1e})"
        return self.same(text, x, g, b)

    def rms_norm(self, x, name):
        g = self.weight(f"{name}.weight")
        return self.same(f"attn.rms_norm {x[0]}, {g[0]} epsilon({self.EPSILON:.1e})", x, g)

    def softmax(self, x):
        return self.put(f"attn.softmax {x[0]} : {self.type(x)} -> {self.type(x)}", x[1])

    def rows(self, ids, table):
        w = self.weight(f"{table}.weight")
        shape = (*ids[1], w[1][1])
        result = tensor_type(shape, self.line.element)
        return self.put(f"attn.embedding {ids[0]}, {w[0]} : {self.types(ids, w)} -> {result}", shape)

    def add_positions(self, x, table):
        w = self.weight(f"{table}.weight")
        return self.same(f"attn.learned_positions {x[0]}, {w[0]}", x, w)

    def attention(self, q, k, v, heads):
        batch, tokens, width = q[1]
        split = (batch, tokens, heads, width // heads)

        def split_heads(x):
            text = f"attn.split_heads {x[0]} heads({heads}) layout(bshd) : {self.type(x)}"
            return self.put(f"{text} -> {tensor_type(split, self.line.element)}", split)

        q, k, v = (split_heads(x) for x in (q, k, v))
        s = (batch, heads, tokens, tokens)
        score = tensor_type(s, self.line.element)
        s = self.put(f"attn.scores {q[0]}, {k[0]} layout(bshd) : {self.types(q, k)} -> {score}", s)
        p = self.softmax(s)
        mixed = f"attn.mix {p[0]}, {v[0]} layout(bshd) : {self.types(p, v)} -> {self.type(q)}"
        o = self.put(mixed, split)
        result = tensor_type((batch, tokens, width), self.line.element)
        return self.put(f"attn.merge_heads {o[0]} layout(bshd) : {self.type(o)} -> {result}", (batch, tokens, width))

    def model(self):
        """The whole text. The result has the names of the first input's sizes."""
        result = self.line.formula(self)
        lines, arguments, dims = [], [], []
        for name, tensor in self.line.inputs.items():
            value = self.input(name)
            names = json.dumps(tensor.names())
            dims += [of for of in tensor.names() if of and of not in dims]
            arguments.append(f'%{name}: {self.type(value)} {{attn.name = "{name}", attn.dims = {names}}}')
        first = next(iter(self.line.inputs.values())).names()
        names = json.dumps((*first, *[""] * (len(result[1]) - len(first))))
        # The position table bounds sequences that have positions.
        most = min((s[0] for n, s in self.line.weights.items() if "position" in n), default=65536)
        lines += [f"attn.dim @{of} range(1, {most})" for of in dims]
        for name, shape in self.line.weights.items():
            kind = tensor_type(shape, self.line.element)
            lines.append(f'attn.weight @"{name}" source<"{WEIGHTS}", "{name}"> : {kind}')
        kind = self.type(result)
        lines.append(f"func.func @main({', '.join(arguments)})")
        lines.append(f'    -> ({kind} {{attn.name = "result", attn.dims = {names}}}) {{')
        lines += [f"  {text}" for text in self.body]
        return "\n".join([*lines, f"  return {result[0]} : {kind}", "}", ""])
