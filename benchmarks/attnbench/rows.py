# ===- rows.py - lines of one layer ------------------------------------ === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Norms, softmax, embeddings, and a linear layer with its activation."""

from .graph import Graph, Input


def norm(name, kind, rows, width):
    weights = {"norm.weight": (width,)}
    if kind == "layer_norm":
        weights["norm.bias"] = (width,)
    return Graph(
        name,
        lambda ops: getattr(ops, kind)(ops.input("x"), "norm"),
        {"x": Input((("rows", rows), width))},
        weights,
        traffic=4 * 2 * rows * width,
    )


def softmax(heads, queries, keys):
    return Graph(
        f"softmax {heads}x{queries} rows of {keys}",
        lambda ops: ops.softmax(ops.input("x")),
        {"x": Input((heads, ("queries", queries), ("keys", keys)))},
        {},
        traffic=4 * 2 * heads * queries * keys,
    )


def embedding(tokens, width, words=30522):
    ids = Input((1, ("tokens", tokens)), below=words)
    types = Input((1, ("tokens", tokens)), below=2)

    def formula(ops):
        x = ops.embeddings(ops.input("ids"), ops.input("types"), "words", "types", "positions")
        return ops.layer_norm(x, "norm")

    return Graph(
        f"embedding sum {tokens}x{width}",
        formula,
        {"ids": ids, "types": types},
        {
            "words.weight": (words, width),
            "types.weight": (2, width),
            "positions.weight": (512, width),
            "norm.weight": (width,),
            "norm.bias": (width,),
        },
        traffic=4 * 3 * tokens * width,  # words and positions in, sums out
    )


def linear_gelu(rows, outputs, inputs):
    return Graph(
        f"linear and GELU {rows}x{outputs}x{inputs}",
        lambda ops: ops.linear_gelu(ops.input("x"), "dense"),
        {"x": Input((("rows", rows), inputs))},
        {"dense.weight": (outputs, inputs), "dense.bias": (outputs,)},
        flop=2 * rows * outputs * inputs,
    )


LINES = [
    norm("layer norm 128x768", "layer_norm", 128, 768),
    norm("layer norm 2048x1024", "layer_norm", 2048, 1024),
    norm("RMS norm 128x768", "rms_norm", 128, 768),
    norm("RMS norm 2048x1024", "rms_norm", 2048, 1024),
    softmax(12, 512, 512),
    embedding(128, 384),
    linear_gelu(128, 3072, 768),
]
