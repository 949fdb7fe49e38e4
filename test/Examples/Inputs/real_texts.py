# ===- real_texts.py - texts and ids of a reference file -------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""real_texts.py reference.json texts ids: without the ids of padding."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    reference = json.load(file)
with open(sys.argv[2], "w", encoding="utf-8") as texts:
    texts.writelines(text + "\n" for text in reference["texts"])
with open(sys.argv[3], "w", encoding="utf-8") as out:
    for ids, mask in zip(reference["input_ids"], reference["attention_mask"]):
        kept = [str(i) for i, keep in zip(ids, mask) if keep]
        out.write(" ".join(kept) + "\n")
