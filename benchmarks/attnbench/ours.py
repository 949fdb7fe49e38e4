# ===- ours.py - models that attn-opt compiles ------------------------ === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Writes a line as a model, compiles it and calls the object through ctypes."""

import ctypes
import json
import pathlib
import subprocess
import time

import numpy as np

from . import bf16, data, mlir
from .mlir import tensor_type


def attention_model(line):
    """MLIR text. Lengths are known at run time only, as users have them."""
    lines = ["attn.dim @queries range(1, 65536)", "attn.dim @keys range(1, 65536)"]
    square = line.queries == line.keys
    keys = "queries" if square else "keys"
    if square:
        lines.pop()
    queries = "queries"
    if line.is_decoding():
        queries = ""
        lines.pop(0)

    def tensor(name, heads):
        length = "1" if not name else "?"
        order = (heads, length) if line.layout == "bhsd" else (length, heads)
        return tensor_type((line.batch, *order, line.size), line.element)

    def dims(name):
        order = ["", name] if line.layout == "bhsd" else [name, ""]
        return json.dumps(["", *order, ""])

    q, kv = tensor(queries, line.heads), tensor(keys, line.groups)
    score = tensor_type((line.batch, line.heads, "?" if queries else 1, "?"), line.element)
    arguments = [
        f'%q: {q} {{attn.name = "q", attn.dims = {dims(queries)}}}',
        f'%k: {kv} {{attn.name = "k", attn.dims = {dims(keys)}}}',
        f'%v: {kv} {{attn.name = "v", attn.dims = {dims(keys)}}}',
    ]
    rules = []
    if line.alibi:
        rules.append(f"attn.alibi %s aligned(bottom_right) : {score}")
    if line.key_lengths:
        lengths = tensor_type((line.batch,), "i64")
        arguments.append(f'%lengths: {lengths} {{attn.name = "lengths"}}')
        rules.append(f"attn.mask %s by key_lengths(%lengths : {lengths}) : {score}")
    elif line.window >= 0:
        rule = f"window<left = {line.window}, right = 0, alignment = bottom_right>"
        rules.append(f"attn.mask %s by {rule} : {score}")
    elif line.causal:
        rules.append(f"attn.mask %s by causal<bottom_right> : {score}")
    lines += [
        f"func.func @main({', '.join(arguments)})",
        f'    -> ({q} {{attn.name = "o", attn.dims = {dims(queries)}}}) {{',
        f"  %s0 = attn.scores %q, %k layout({line.layout}) : {q}, {kv} -> {score}",
    ]
    for n, rule in enumerate(rules):
        lines.append(f"  %s{n + 1} = " + rule.replace("%s", f"%s{n}"))
    lines += [
        f"  %p = attn.softmax %s{len(rules)} : {score} -> {score}",
        f"  %o = attn.mix %p, %v layout({line.layout}) : {score}, {kv} -> {q}",
        f"  return %o : {q}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def linear_model(line, arrays, folder):
    """The weights lie in a safetensors file beside the model."""
    w, b = tensor_type((line.outputs, line.inputs)), tensor_type((line.outputs,))
    x, y = (tensor_type(("?", size)) for size in (line.inputs, line.outputs))
    mlir.write_safetensors(folder / mlir.WEIGHTS, {name: arrays[name] for name in "wb"})
    rows = '{{attn.name = "{}", attn.dims = ["rows", ""]}}'
    return f"""attn.dim @rows range(1, 65536)
attn.weight @w source<"weights.safetensors", "w"> : {w}
attn.weight @b source<"weights.safetensors", "b"> : {b}
func.func @main(%x: {x} {rows.format("x")}) -> ({y} {rows.format("y")}) {{
  %w = attn.weight_ref @w : {w}
  %b = attn.weight_ref @b : {b}
  %y = attn.linear %x, %w bias(%b) : {x}, {w}, {b} -> {y}
  return %y : {y}
}}
"""


def graph_model(line, arrays, folder):
    """Text for layers, a Hugging Face directory for a model that has a config."""
    weights = {name: arrays[name] for name in line.weights}
    if line.config is None:
        mlir.write_safetensors(folder / mlir.WEIGHTS, weights, line.element)
        model = folder / "model.mlir"
        model.write_text(mlir.Text(line).model())
        return model, []
    model = folder / "model"
    model.mkdir(exist_ok=True)
    mlir.write_safetensors(model / "model.safetensors", weights)
    (model / "config.json").write_text(json.dumps(line.config))
    return model, ["--outputs=last_hidden_state"]


def write_model(line, arrays, folder):
    """What attn-opt is to compile, and with which options."""
    if line.kind == "graph":
        return graph_model(line, arrays, folder)
    model = folder / "model.mlir"
    linear = line.kind == "linear"
    model.write_text(linear_model(line, arrays, folder) if linear else attention_model(line))
    return model, []


def compile_model(line, arrays, folder, side, attn_opt, target):
    """Makes SIDE.so and SIDE.json in the folder; the seconds that attn-opt took."""
    prefix = pathlib.Path(folder) / side
    model, options = write_model(line, arrays, pathlib.Path(folder))
    start = time.perf_counter()
    subprocess.run(
        [attn_opt, model, "--emit=obj", f"--target={target}", *options, "-o", prefix], check=True
    )
    seconds = time.perf_counter() - start
    subprocess.run(
        ["cc", "-shared", f"{prefix}.o", "-lm", "-lpthread", "-o", f"{prefix}.so"],
        check=True,
    )
    return seconds


class Options(ctypes.Structure):
    _fields_ = [
        ("num_threads", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("parallel_for", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("deallocate", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
        ("target", ctypes.c_char_p),
        ("error", ctypes.c_void_p),
        ("error_size", ctypes.c_size_t),
    ]


def input_array(entry, arrays):
    if entry["name"] == "attention_mask":  # of an imported model: nothing is padding
        return np.ones_like(arrays["input_ids"])
    return data.aligned(bf16.stored(arrays[entry["name"]], entry["type"]))


class Compiled:
    """A loaded model; calling it runs it once on the arrays it was given."""

    def __init__(self, prefix, info, arrays, shape, threads):
        self.library = ctypes.CDLL(f"{prefix}.so")
        name = info["name"]
        self.call = lambda what: getattr(self.library, f"{name}_{what}")
        self.model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        options = Options(num_threads=threads)
        weights = f"{prefix}.weights".encode()
        if info["weights"] == "none":
            status = self.call("load")(
                None, ctypes.c_size_t(0), None, ctypes.byref(self.model)
            )
        else:
            status = self.call("load_file")(weights, None, ctypes.byref(self.model))
        status = status or self.call("create")(
            self.model, ctypes.byref(options), ctypes.byref(self.context)
        )
        if status:
            raise RuntimeError(f"{prefix}: status {status}")
        self.arrays = [input_array(i, arrays) for i in info["inputs"]]
        half = info["outputs"][0]["type"] == "bf16"
        self.output = data.aligned(np.zeros(shape, np.uint16 if half else np.float32))
        self.dims = self.bind(info)
        pointers = [array.ctypes.data for array in self.arrays]
        self.inputs = (ctypes.c_void_p * len(pointers))(*pointers)
        self.outputs = (ctypes.c_void_p * 1)(self.output.ctypes.data)
        self.run = self.call("run_generic")

    def bind(self, info):
        sizes = {}
        for entry, array in zip(info["inputs"], self.arrays):
            for dim, size in zip(entry["dims"], array.shape):
                if isinstance(dim, str):
                    sizes[dim] = size
        values = [sizes[dim["name"]] for dim in info["dims"]]
        return (ctypes.c_int64 * max(1, len(values)))(*values)

    def __call__(self):
        status = self.run(
            self.context, self.dims, self.inputs, None, self.outputs, None
        )
        if status:
            raise RuntimeError(f"run: status {status}")
        return self.output

    def workspace(self):
        size = self.call("workspace_size_generic")
        size.restype = ctypes.c_int64
        return size(self.context, self.dims)
