# ===- mask_cases.py - inputs that decide which pairs masks hide -----------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
#
#   mask_cases.py FOLDER
#
# Writes one case a file for mask-rules.mlir: sizes around the tiles of x86-64-v3
# (24 queries, 64 keys), none at all, and several tiles; documents that are packed
# into a row, ids in any order, and ids that nobody shares. Some keys are NaN: they
# must reach the queries that see them and no others.

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(20)


def documents(rows, size):
    """Ids in ascending order, as packing leaves them."""
    return np.sort(random.integers(0, 6, (rows, size)), axis=1)


def scattered(rows, size):
    return random.integers(0, 5, (rows, size))


def write(name, batch, n, m, make_ids, bad_keys):
    key = random.standard_normal((batch, m, 2, 8)).astype(np.float32)
    for number in range(bad_keys):
        row, j = random.integers(0, batch), random.integers(0, m)
        key[row, j, :, number % 8] = np.nan
    query_ids, key_ids = make_ids(batch, n), make_ids(batch, m)
    # Of a document that has no keys here: its rows are zero.
    query_ids[:, : n // 5] = 99
    flags = [random.integers(0, 40, (batch, size)) == 0 for size in (n, m)]
    np.savez(
        folder / f"{name}.npz",
        **{
            "in.q": random.standard_normal((batch, n, 2, 8)).astype(np.float32),
            "in.k": key,
            "in.query_ids": query_ids.astype(np.int64),
            "in.key_ids": key_ids.astype(np.int64),
            "in.query_flags": flags[0],
            "in.key_flags": flags[1],
            "in.prefix": random.integers(-2, m + 3, batch),
            "in.lengths": random.integers(-2, n + 3, batch),
        },
    )


write("one", 1, 1, 1, scattered, 0)
write("tile", 2, 24, 64, documents, 0)
write("tile-plus-1", 1, 25, 65, documents, 0)
write("tile-minus-1", 2, 23, 63, scattered, 0)
write("no-queries", 1, 0, 40, documents, 0)
write("no-keys", 2, 40, 0, documents, 0)
write("many-queries", 1, 300, 150, documents, 0)
write("many-keys", 2, 150, 513, documents, 0)
write("bad-keys", 2, 60, 400, documents, 9)
write("bad-scattered", 1, 49, 385, scattered, 9)
