# ===- to_f32.py - a variant of the reference tests, to compile ------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""to_f32.py variant.mlir: the same function in f32 and without its weights as
an output (`p`), which a fused attention does not have."""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read().replace("f64", "f32")

# `-> (type {attn.name = "o"}, ...) {` and `return %o, ... : type, ...`
signature = re.search(r"-> \((.*?)\) \{\n", text, re.S)
outputs = re.findall(
    r'(tensor<[^>]*>)\s*(\{attn\.name = "(\w+)"[^}]*\})', signature.group(1)
)
end = re.search(r"\n  return ([^:]*) :[^\n]*\n", text)
values = [value.strip() for value in end.group(1).split(",")]
kept = [i for i, output in enumerate(outputs) if output[2] != "p"]

sys.stdout.write(
    text[: signature.start()]
    + "-> (%s) {\n" % ", ".join("%s %s" % outputs[i][:2] for i in kept)
    + text[signature.end() : end.start()]
    + "\n  return %s : %s\n"
    % (
        ", ".join(values[i] for i in kept),
        ", ".join(outputs[i][0] for i in kept),
    )
    + text[end.end() :]
)
