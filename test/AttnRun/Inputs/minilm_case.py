# ===- minilm_case.py - a reference file as a case -------------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""minilm_case.py reference.json case.npz"""
import json
import sys

import numpy

with open(sys.argv[1], encoding="utf-8") as file:
    reference = json.load(file)
ids = numpy.array(reference["input_ids"], dtype=numpy.int64)
numpy.savez(
    sys.argv[2],
    **{
        "in.input_ids": ids,
        "in.attention_mask": numpy.array(
            reference["attention_mask"], dtype=numpy.int64
        ),
        "in.token_type_ids": numpy.zeros_like(ids),
        "out.sentence_embedding": numpy.array(
            reference["embedding"], dtype=numpy.float32
        ),
    },
)
