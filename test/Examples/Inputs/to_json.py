# ===- to_json.py - vocab.txt as tokenizer.json ----------------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""to_json.py vocab.txt true|false: the second is whether it is lower case."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    tokens = file.read().splitlines()
print(
    json.dumps(
        {
            "added_tokens": [{"id": 0, "content": "[PAD]", "type": "vocab"}],
            "normalizer": {
                "type": "BertNormalizer",
                "lowercase": sys.argv[2] == "true",
            },
            "model": {
                "type": "WordPiece",
                "vocab": {token: i for i, token in enumerate(tokens)},
            },
        },
        indent=1,
    )
)
