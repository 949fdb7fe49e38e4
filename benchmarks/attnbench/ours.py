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


def tensor_type(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


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
        return tensor_type((line.batch, *order, line.size))

    def dims(name):
        order = ["", name] if line.layout == "bhsd" else [name, ""]
        return json.dumps(["", *order, ""])

    q, kv = tensor(queries, line.heads), tensor(keys, line.groups)
    score = tensor_type(
        (line.batch, line.heads, "?" if queries else 1, "?")
    )
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
    header, data = {}, b""
    for name in "wb":
        raw = np.ascontiguousarray(arrays[name]).tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(arrays[name].shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    (folder / "weights.safetensors").write_bytes(
        len(text).to_bytes(8, "little") + text + data
    )
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


def compile_model(line, arrays, folder, attn_opt, target):
    """A shared library, its description, and the seconds that attn-opt took."""
    folder = pathlib.Path(folder)
    model, prefix = folder / "model.mlir", folder / "ours"
    if line.kind == "linear":
        model.write_text(linear_model(line, arrays, folder))
    else:
        model.write_text(attention_model(line))
    start = time.perf_counter()
    subprocess.run(
        [attn_opt, model, "--emit=obj", f"--target={target}", "-o", prefix], check=True
    )
    seconds = time.perf_counter() - start
    subprocess.run(
        ["cc", "-shared", f"{prefix}.o", "-lm", "-lpthread", "-o", f"{prefix}.so"],
        check=True,
    )
    return prefix, json.loads(pathlib.Path(f"{prefix}.json").read_text()), seconds


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
        self.arrays = [np.ascontiguousarray(arrays[i["name"]]) for i in info["inputs"]]
        self.output = np.zeros(shape, np.float32)
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
