# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs compiled attention of 16-bit numbers and checks its errors.

    half_contract.py ATTN_RUN OBJECT f16|bf16 HEAD_SIZE SCRATCH

The truth is f64. An evaluation step by step, each result rounded to the type,
says which error the type has: the compiled attention may have twice that.
"""

import pathlib
import subprocess
import sys

import numpy as np


def to_bf16(x):
    """The bits, rounded to nearest, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7fc0), rounded)


def pack(x, kind):
    with np.errstate(over="ignore"):
        return (np.asarray(x).astype(np.float16) if kind == "f16"
                else to_bf16(x).view("V2"))


def unpack(x):
    if x.dtype == np.float16:
        return x.astype(np.float64)
    bits = x.view(np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32).astype(np.float64)


def rounded(x, kind):
    return unpack(pack(x, kind))


def attend(q, k, v, mask, keep):
    """`keep` is applied to every result on the way."""
    # A hidden key is as if it were not there, whatever it holds.
    hidden = np.all(np.isneginf(mask), axis=0)
    k, v = np.where(hidden[:, None, None], 0, k), np.where(
        hidden[:, None, None], 0, v)
    products = np.einsum("nhd,mhd->hnm", q, k)
    scores = keep(keep(products / np.sqrt(q.shape[-1])) + mask)
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - top)
    weights = keep(weights / weights.sum(axis=-1, keepdims=True))
    return keep(np.einsum("hnm,mhd->nhd", weights, v))


def make(case, size):
    """Queries, keys, values and mask."""
    rng = np.random.default_rng(7)
    n, m = 33, 200
    q, k, v = (rng.standard_normal((rows, 2, size)) for rows in (n, m, m))
    mask = np.zeros((n, m))
    if case == "large":  # Scores of a few hundred.
        q, k, v = 5 * q, 5 * k, 5 * v
    if case == "overflow":  # Products of 900 D pass the largest f16.
        q[:], k[:] = 30, 30
    if case == "hidden":
        bad = rng.permutation(m)[:20]
        mask[:, bad] = -np.inf
        k[bad[:10]], k[bad[10:15]], k[bad[15:]] = np.nan, np.inf, -np.inf
        v[bad[:5]], v[bad[5:15]], v[bad[15:]] = -np.inf, np.nan, np.inf
    if case == "lowest":  # As finite "infinities" are written in f16.
        mask[rng.random((n, m)) < 0.5] = -65504
        mask[3] = -65504
    return q[None], k[None], v[None], mask


def errors(arrays, kind):
    """The error of the result, and what is allowed."""
    q, k, v, mask = (unpack(arrays["in." + name])
                     for name in ("q", "k", "v", "mask"))
    got = unpack(arrays["out.o"])[0]
    with np.errstate(invalid="ignore", over="ignore"):
        truth = attend(q[0], k[0], v[0], mask, lambda x: x)
        steps = attend(q[0], k[0], v[0], mask, lambda x: rounded(x, kind))
    assert np.isfinite(truth).all()
    if not np.isfinite(got).all():
        return np.inf, 0.0
    allowed = np.abs(steps - truth).max()
    if not np.isfinite(allowed):  # Scores overflow: one rounding is left.
        allowed = np.abs(truth - rounded(truth, kind)).max()
    return np.abs(got - truth).max(), 2 * allowed


attn_run, model, kind, size, scratch = sys.argv[1:]
scratch = pathlib.Path(scratch)
failed = False
for case in ("normal", "large", "overflow", "hidden", "lowest"):
    inputs = make(case, int(size))
    np.savez(scratch / "in.npz",
             **{"in." + name: pack(array, kind)
                for name, array in zip(("q", "k", "v", "mask"), inputs)})
    for target in ("x86-64-v2", "x86-64-v3"):
        subprocess.run([attn_run, model, f"--target={target}",
                        f"--case={scratch / 'in.npz'}",
                        f"--write={scratch / 'out.npz'}"],
                       check=True, stdout=subprocess.DEVNULL)
        arrays = dict(np.load(scratch / "out.npz"))
        error, allowed = errors(arrays, kind)
        failed |= not error <= allowed
        if case == "normal":
            spoiled = dict(arrays)
        print(kind, case, target, "ok" if error <= allowed else "WRONG",
              f"error {error:.3g}, allowed {allowed:.3g}", flush=True)
# A result that is wrong is noticed.
spoiled["out.o"].view(np.uint16)[0, 5, 1, 7] ^= 0x8000
error, allowed = errors(spoiled, kind)
print(kind, "spoiled", "noticed" if error > allowed else "MISSED")
sys.exit(bool(failed or error <= allowed))
