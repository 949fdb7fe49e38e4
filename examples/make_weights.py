#!/usr/bin/env python3
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a safetensors file with random values for every `source` weight of a model in MLIR text.

    make_weights.py model.mlir weights.safetensors [--seed 1]

Matrices get a standard deviation of 1/sqrt(columns), so that activations keep their scale; `*.gamma` is near
one, everything else near zero. The same seed always gives the same bytes.
"""
import argparse
import json
import re
import struct
import sys

import numpy as np

WEIGHT = re.compile(r'attn\.weight\s+@\S+\s+source<"([^"]+)",\s*"([^"]+)">\s*:\s*tensor<([0-9x]+)x(f32|bf16)>')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    header, blobs, offset = {}, [], 0
    with open(options.model, encoding="utf-8") as file:
        for _, name, shape, element in WEIGHT.findall(file.read()):
            if name in header:
                continue
            shape = [int(size) for size in shape.split("x")]
            values = rng.standard_normal(shape)
            if len(shape) == 2:
                values /= np.sqrt(shape[1])
            else:
                values = 0.1 * values + (1.0 if name.endswith("gamma") else 0.0)
            values = values.astype("<f4")
            if element == "bf16":  # The upper half of an f32, cut.
                values = (values.view("<u4") >> 16).astype("<u2")
            blob = values.tobytes()
            header[name] = {"dtype": element.upper(), "shape": shape, "data_offsets": [offset, offset + len(blob)]}
            blobs.append(blob)
            offset += len(blob)
    if not header:
        sys.exit(f"{options.model}: expected weights of the form attn.weight @name source<...>, found none")
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(options.output, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


if __name__ == "__main__":
    main()
