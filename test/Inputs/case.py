# ===- case.py - cases written inside a test --------------------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   case.py TEST PREFIX
#
# Runs the lines `// CASE: ...` of a test as Python. Each call of `case` writes
# the next of PREFIX.0.npz, PREFIX.1.npz, ... with its arguments: `out_NAME` is
# what the output NAME must be, anything else an input. What is expected is
# computed here in f64, by the textbook formula over whole matrices, which
# shares no code with the product.

import sys

import numpy as np

TEST, PREFIX = sys.argv[1:]
generator = np.random.default_rng(7)


def normal(*shape):
    """Values that f32 holds exactly, so that both sides start from the same."""
    return generator.standard_normal(shape).astype(np.float32)


def bf16(x):
    """Rounded to the nearest bf16, as f32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def f16(x):
    """Rounded to the nearest f16, as f32."""
    return np.asarray(x, np.float16).astype(np.float32)


def rows(*limits):
    """How many positions each batch row has: an i64 tensor."""
    return np.array(limits, np.int64)


def positions(n, m):
    """i and j of each pair, to write masks with."""
    return np.arange(n)[:, None], np.arange(m)[None, :]


def heads_like(x, heads):
    """Repeats each key or value head for the query heads that share it."""
    return np.repeat(x, heads // x.shape[1], axis=1)


def scores_of(q, k, scale=None):
    q, k = np.asarray(q, np.float64), np.asarray(k, np.float64)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return scale * np.einsum("bhid,bhjd->bhij", q, heads_like(k, q.shape[1]))


def softmax(s, mask=True, sinks=None):
    """Weights and natural log-sum-exp; masked pairs weigh 0, NaN or not."""
    mask = np.broadcast_to(mask, s.shape) & ~np.isneginf(s)
    s = np.where(mask, s, -np.inf)
    if sinks is not None:
        column = np.broadcast_to(
            np.asarray(sinks, np.float64)[None, :, None, None], s.shape[:3] + (1,)
        )
        s = np.concatenate([s, column], axis=-1)
    with np.errstate(all="ignore"):
        top = s.max(axis=-1, keepdims=True, initial=-np.inf)
        e = np.where(np.isneginf(s), 0, np.exp(s - np.where(np.isneginf(top), 0, top)))
        total = e.sum(axis=-1, keepdims=True)
        p = np.where(total == 0, 0, e / np.where(total == 0, 1, total))
        lse = (np.where(np.isneginf(top), 0, top) + np.log(total))[..., 0]
    return p[..., : mask.shape[-1]], lse


def mix(p, v):
    """Weights times values; a weight of exactly 0 does not look at its value."""
    v = heads_like(np.asarray(v, np.float64), p.shape[1])
    result = np.zeros(p.shape[:3] + v.shape[-1:])
    for j in range(v.shape[2]):
        w = p[..., j, None]
        with np.errstate(all="ignore"):
            result += np.where(w == 0, 0, w * v[:, :, None, j, :])
    return result


def attention(q, k, v, mask=True, bias=None, scale=None, softcap=None, sinks=None):
    """Layout (b, h, n, d). Scale, then soft-cap, then bias, then mask."""
    s = scores_of(q, k, scale)
    if softcap is not None:
        s = softcap * np.tanh(s / softcap)
    if bias is not None:
        s = s + np.asarray(bias, np.float64)
    return mix(softmax(s, mask, sinks)[0], v)


def rotate(x, cos, sin, form="half"):
    """Rotary positions of (b, h, s, d) by tables (s, r / 2)."""
    x = np.asarray(x, np.float64)
    r = 2 * cos.shape[-1]
    a, b = (np.arange(0, r // 2), np.arange(r // 2, r)) if form == "half" else (
        np.arange(0, r, 2), np.arange(1, r, 2))
    result = x.copy()
    result[..., a] = x[..., a] * cos - x[..., b] * sin
    result[..., b] = x[..., a] * sin + x[..., b] * cos
    return result


written = []


def case(**arrays):
    named = {}
    for name, value in arrays.items():
        name = "out." + name[4:] if name.startswith("out_") else "in." + name
        named[name] = np.asarray(value)
    np.savez(f"{PREFIX}.{len(written)}.npz", **named)
    written.append(named)


with open(TEST, encoding="utf-8") as file:
    lines = [line.partition("// CASE: ")[2] for line in file if "// CASE: " in line]
exec("".join(lines), globals())
if not written:
    sys.exit(f"{TEST}: expected lines `// CASE:` with a call of case, got none")
