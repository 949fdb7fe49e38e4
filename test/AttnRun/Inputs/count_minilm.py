# ===- count_minilm.py - what a BERT model computes and reads ----------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""count_minilm.py model-folder reference.json cost.txt

Runs the model in NumPy, from its files alone, with products and sums done one by one
and counted as they are done, and with every tensor that a step reads or writes counted
once. Compares the embeddings with the reference, so that what was counted is the
model, and the counts with what attn-opt --emit=cost printed for these sizes.
"""
import json
import math
import struct
import sys

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


class Step:
    """Counts what is done inside of a `with` block of its name."""

    totals = {}

    def __init__(self, name):
        self.name = name
        self.flops = self.bytes = 0
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        calls, flops, moved = Step.totals.get(self.name, (0, 0, 0))
        Step.totals[self.name] = (calls + 1, flops + self.flops, moved + self.bytes)

    def read(self, array, bytes_each=4):
        """A tensor that is read: f32, or i64 of 8 bytes."""
        if not any(array is known for known in self.seen):
            self.seen.append(array)
            self.bytes += array.size * bytes_each
        return array

    def rows(self, table, ids):
        """Rows of a table, an access a row."""
        self.bytes += ids.size * table.shape[1] * 4
        return table[ids]

    def write(self, array):
        self.bytes += array.size * 4
        return array

    def add_product(self, total, a, b):
        """total += a * b, a multiplication and an addition for each element."""
        product = a * b
        self.flops += product.size
        total += product
        self.flops += product.size

    def linear(self, x, weight):
        """x times the transposed weight, an input channel at a time."""
        self.read(x), self.read(weight)
        total = np.zeros((x.shape[0], weight.shape[0]))
        for k in range(x.shape[1]):
            self.add_product(total, x[:, k, None], weight[None, :, k])
        return total


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"]).astype(np.float64)
    return tensors


def layer_norm(x, gamma, beta, epsilon):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + epsilon) * gamma + beta


def attention(step, qkv, mask, heads):
    """Heads of (batch, n, 3 d) with a mask (batch, m) of keys."""
    batch, n, width = qkv.shape
    channels = width // 3 // heads
    # A part of one tensor each.
    q, k, v = (step.read(part) for part in np.split(qkv, 3, axis=2))
    q, k, v = (part.reshape(batch, n, heads, channels).transpose(0, 2, 1, 3) for part in (q, k, v))
    step.read(mask, 8)
    scores = np.zeros((batch, heads, n, n))
    for d in range(channels):
        step.add_product(scores, q[..., :, None, d], k[..., None, :, d])
    scores = np.where(mask[:, None, None, :] != 0, scores / math.sqrt(channels), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    mixed = np.zeros((batch, heads, n, channels))
    for j in range(n):
        step.add_product(mixed, weights[..., :, j, None], v[..., None, j, :])
    return step.write(mixed.transpose(0, 2, 1, 3).reshape(batch * n, heads * channels))


def run(folder, ids, mask, heads, layers, epsilon):
    w = read_safetensors(f"{folder}/model.safetensors")
    types = np.zeros_like(ids)
    batch, n = ids.shape
    with Step("embed_norm_0") as step:
        step.read(ids, 8), step.read(types, 8)
        x = step.rows(w["embeddings.word_embeddings.weight"], ids)
        x = x + step.rows(w["embeddings.token_type_embeddings.weight"], types)
        # The positions of all sequences are the same rows.
        x = x + step.rows(w["embeddings.position_embeddings.weight"], np.arange(n))
        norm = [step.read(w[f"embeddings.LayerNorm.{part}"]) for part in ("weight", "bias")]
        x = step.write(layer_norm(x, *norm, epsilon)).reshape(batch * n, -1)
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        with Step("linear_0") as step:
            weight, bias = (
                np.concatenate([w[f"{prefix}attention.self.{name}.{part}"] for name in ("query", "key", "value")])
                for part in ("weight", "bias")
            )
            qkv = step.write(step.linear(x, weight) + step.read(bias))
        with Step("attention_0") as step:
            mixed = attention(step, qkv.reshape(batch, n, -1), mask, heads)
        x = linear_norm("linear_norm_0", w, prefix + "attention.output", mixed, x, epsilon)
        with Step("linear_1") as step:
            y = step.linear(x, w[prefix + "intermediate.dense.weight"])
            y = y + step.read(w[prefix + "intermediate.dense.bias"])
            y = step.write(0.5 * y * (1 + erf(y / math.sqrt(2))))
        x = linear_norm("linear_norm_1", w, prefix + "output", y, x, epsilon)
    with Step("pool_0") as step:
        x = step.read(x).reshape(batch, n, -1)
        shown = step.read(mask, 8)[..., None] != 0
        pooled = (x * shown).sum(1) / shown.sum(1)
        return step.write(pooled / np.linalg.norm(pooled, axis=1, keepdims=True))


def linear_norm(name, w, prefix, x, residual, epsilon):
    with Step(name) as step:
        y = step.linear(x, w[prefix + ".dense.weight"])
        y = y + step.read(w[prefix + ".dense.bias"]) + step.read(residual)
        norm = [step.read(w[f"{prefix}.LayerNorm.{part}"]) for part in ("weight", "bias")]
        return step.write(layer_norm(y, *norm, epsilon))


def read_cost(path):
    """{kernel: (calls, operations and bytes of one call)} of the table."""
    kernels = {}
    with open(path, encoding="utf-8") as file:
        rows = iter(file)
        for row in rows:
            if row.startswith("kernel "):
                break
        for row in rows:
            words = row.split()
            if not words or words[0] == "total":
                break
            kernels[words[0]] = tuple(int(word) for word in words[1:4])
    return kernels


def main():
    folder, reference, cost = sys.argv[1:]
    with open(reference, encoding="utf-8") as file:
        reference = json.load(file)
    with open(f"{folder}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    embedding = run(
        folder,
        np.array(reference["input_ids"]),
        np.array(reference["attention_mask"]),
        config["num_attention_heads"],
        config["num_hidden_layers"],
        config["layer_norm_eps"],
    )
    error = np.abs(embedding - np.array(reference["embedding"])).max()
    if not error < 1e-6:
        sys.exit(f"expected the embeddings of the reference within 1e-6, got {error}")
    printed = read_cost(cost)
    if list(printed) != list(Step.totals):
        sys.exit(f"expected the kernels {list(Step.totals)}, got {list(printed)}")
    for kernel, (calls, flops, moved) in Step.totals.items():
        got_calls, got_flops, got_bytes = printed[kernel]
        got = (got_calls, got_calls * got_flops, got_calls * got_bytes)
        if got != (calls, flops, moved):
            sys.exit(f"{kernel}: expected (calls, operations, bytes) = {(calls, flops, moved)}, got {got}")
        print(f"{kernel}: {calls} calls, {flops} operations, {moved} bytes: equal")


if __name__ == "__main__":
    main()
