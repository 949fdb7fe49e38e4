# ===- graph.py - lines that are a formula of layers -------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""A formula is written once, as calls of `Ops`, and each side says what they mean.

A layer is named by its weights: `linear(x, "up")` has up.weight and up.bias.
"""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Input:
    """Sizes, or (name, size) of those that are known at run time only."""

    shape: tuple
    below: int = 0  # ids: whole numbers below this one

    def sizes(self):
        return tuple(size if isinstance(size, int) else size[1] for size in self.shape)

    def names(self):
        return tuple("" if isinstance(size, int) else size[0] for size in self.shape)


@dataclasses.dataclass(frozen=True)
class Graph:
    """result = formula(ops), of inputs and of weights that are known ahead."""

    name: str
    formula: typing.Callable
    inputs: dict
    weights: dict  # name to shape
    flop: int = 0
    traffic: int = 0  # bytes, where they are what limits
    element: str = "f32"
    config: dict | None = None  # of the Hugging Face directory that we compile
    beside: tuple = ()
    must: float | None = 1.0
    stretch: float | None = None
    kind: str = "graph"

    def flops(self):
        return self.flop

    def bytes(self):
        return self.traffic

    def is_memory_bound(self):
        return self.traffic > 0


class Ops:
    """What layers are made of. Sides override what they have as one operation."""

    EPSILON = 1e-12

    def linear_gelu(self, x, name):
        return self.gelu(self.linear(x, name))

    def norm_of_sum(self, x, y, name):
        return self.layer_norm(self.add(x, y), name)

    def self_attention(self, x, names, heads):
        """Three projections, named for queries, keys and values."""
        return self.attention(*(self.linear(x, name) for name in names), heads)

    def embeddings(self, ids, types, words, token_types, positions):
        """Rows of two tables, and of a third by position."""
        rows = self.add(self.rows(ids, words), self.rows(types, token_types))
        return self.add_positions(rows, positions)
