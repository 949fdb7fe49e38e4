# ===- lines.py - what is measured ------------------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""The lines of the table: shapes, rules, and the ratios that are asked for.

A ratio is the best peer's minimum divided by ours, in the same run: above 1 we
are faster. `must` is the line to hold, None where a line is for orientation.
"""

import dataclasses
import math
import re

from . import models, rows


@dataclasses.dataclass(frozen=True)
class Attention:
    """o = softmax(scale * q k^T + rules) v."""

    name: str
    heads: int
    queries: int
    keys: int
    size: int
    batch: int = 1
    key_heads: int = 0  # 0: as many as heads
    layout: str = "bhsd"
    causal: bool = False
    window: int = -1  # keys to the left, with causal
    alibi: bool = False
    key_lengths: tuple = ()
    element: str = "f32"  # of all tensors; bf16: the upper half of an f32
    beside: tuple = ()  # sides to compare with, instead of the libraries
    must: float | None = None
    stretch: float | None = None
    kind: str = "attention"

    @property
    def groups(self):
        return self.key_heads or self.heads

    def pairs(self):
        """Visible pairs of a head, over the batch."""
        if self.key_lengths:
            return self.queries * sum(self.key_lengths)
        shift = self.keys - self.queries
        if self.window >= 0:
            return self.batch * sum(
                min(self.window + 1, i + shift + 1) for i in range(self.queries)
            )
        if self.causal:
            return self.batch * sum(i + shift + 1 for i in range(self.queries))
        return self.batch * self.queries * self.keys

    def flops(self):
        return 4 * self.heads * self.pairs() * self.size

    def bytes(self):
        rows = 2 * self.batch * self.queries * self.heads
        rows += 2 * self.batch * self.keys * self.groups
        return (2 if self.element == "bf16" else 4) * rows * self.size

    def is_decoding(self):
        return self.queries == 1

    def is_memory_bound(self):
        return self.is_decoding()


@dataclasses.dataclass(frozen=True)
class Linear:
    """y = x w^T + b, with weights that are known when the model is compiled."""

    name: str
    rows: int
    outputs: int
    inputs: int
    must: float | None = 1.0
    stretch: float | None = None
    element: str = "f32"
    beside: tuple = ()
    kind: str = "linear"

    def flops(self):
        return 2 * self.rows * self.outputs * self.inputs

    def bytes(self):
        return 4 * (
            self.rows * (self.inputs + self.outputs) + self.outputs * self.inputs
        )

    def is_memory_bound(self):
        return self.rows == 1


def alibi_slopes(heads):
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return slopes + [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]


LINES = [
    Attention("attention 12x2048x2048 D64", 12, 2048, 2048, 64, must=1.12, stretch=1.25),
    Attention("attention 12x2048x2048 D64 bshd", 12, 2048, 2048, 64, layout="bshd"),
    Attention("attention 12x2048x2048 D64 causal", 12, 2048, 2048, 64, causal=True, must=1.45, stretch=1.65),
    Attention("attention 12x512x512 D64", 12, 512, 512, 64, must=1.10, stretch=1.25),
    Attention("attention 12x512x512 D64 bshd", 12, 512, 512, 64, layout="bshd"),
    Attention("attention 12x128x128 D64", 12, 128, 128, 64, must=1.10, stretch=1.25),
    Attention("attention 16x1024x1024 D128", 16, 1024, 1024, 128, must=1.08, stretch=1.20),
    Attention("cross attention 8x77x1500 D64", 8, 77, 1500, 64, must=1.10, stretch=1.25),
    Attention("window (255, 0) 12x4096 D64", 12, 4096, 4096, 64, causal=True, window=255, must=4.0, stretch=6.0),
    Attention("ALiBi causal 12x2048 D64", 12, 2048, 2048, 64, causal=True, alibi=True, must=2.0, stretch=3.0),
    Attention("key lengths 32 to 512, batch 8, 12x512 D64", 12, 512, 512, 64, batch=8, key_lengths=(32, 64, 128, 192, 256, 320, 448, 512), must=1.5, stretch=2.0),
    Attention("decoding 32/8 heads, 4096 keys, D128", 32, 1, 4096, 128, key_heads=8, must=2.2, stretch=2.5),
    *(
        Linear(f"linear {m}x{n}x{k}", m, n, k)
        for m, n, k in (
            (128, 768, 768), (128, 3072, 768), (128, 768, 3072), (512, 3072, 768),
            (128, 1536, 384), (8, 768, 768), (3, 768, 768), (1, 3072, 768),
            (131, 1001, 768), (128, 4096, 1024), (128, 1024, 4096),
        )
    ),
    *(
        Attention(f"{prefix} 12x2048x2048 D64{' causal' * causal}", 12, 2048, 2048, 64, causal=causal, element="bf16", beside=beside, must=must)
        for prefix, beside, musts in (("bf16", (), (1.1, 1.5)), ("bf16 stored", ("ours-f32",), (0.90, 0.90)))
        for causal, must in zip((False, True), musts)
    ),
    *rows.LINES,
    *models.LINES,
]  # fmt: skip


def select(pattern):
    return [line for line in LINES if re.search(pattern, line.name)]
