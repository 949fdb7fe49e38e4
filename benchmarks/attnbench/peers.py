# ===- peers.py - the libraries that a user would pick ---------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""Each peer offers the ways in which it can compute a line, as (name, function).

The fastest way counts. Layouts that a way wants are prepared before the clock
starts, weights are given as constants: everything a user could do ahead of time.
"""

import numpy as np

from . import bf16, data


def bhsd(line, array):
    return array if line.layout == "bhsd" else array.transpose(0, 2, 1, 3)


def bshd(line, array):
    return array if line.layout == "bshd" else array.transpose(0, 2, 1, 3)


def in_layout(line, array, layout):
    return array if layout == line.layout else array.transpose(0, 2, 1, 3)


def torch_ways(line, arrays, threads, quick):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    half = line.element == "bf16"
    if half:  # without loss: the values are those of bf16
        tensors = {name: t.bfloat16() if t.is_floating_point() else t for name, t in tensors.items()}

    def bits(o):
        return o.view(torch.uint16).numpy() if half else o.numpy()

    if line.kind == "graph":
        from . import torch_ops

        for name, run in torch_ops.ways(line, tensors, quick):
            yield name, lambda run=run: bits(run())
        return
    if line.kind == "linear":
        x, w, b = (tensors[name] for name in "xwb")
        yield "F.linear", lambda: F.linear(x, w, b).numpy()
        return
    q, k, v = (tensors[name] for name in "qkv")
    if line.layout == "bshd":  # a view, as users write it
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))

    def back(o):
        return bits(o.transpose(1, 2) if line.layout == "bshd" else o)

    grouped = {"enable_gqa": True} if line.groups != line.heads else {}
    square = line.queries == line.keys
    if line.causal and square and line.window < 0 and not line.alibi:
        yield "sdpa causal", lambda: back(
            F.scaled_dot_product_attention(q, k, v, is_causal=True)
        )
        return
    mask, add = data.visible(line), data.bias(line)
    if mask is None and add is None:
        yield "sdpa", lambda: back(F.scaled_dot_product_attention(q, k, v, **grouped))
        return
    if line.key_lengths:

        def one_by_one():
            parts = [
                F.scaled_dot_product_attention(
                    q[b : b + 1], k[b : b + 1, :, :m], v[b : b + 1, :, :m]
                )
                for b, m in enumerate(line.key_lengths)
            ]
            return back(torch.cat(parts))

        yield "sdpa a sequence", one_by_one
        mask = mask[:, :1]  # broadcasts over the queries
    if add is not None:
        whole = torch.from_numpy(np.where(mask, add, -np.inf).astype(np.float32))[None]
    else:
        whole = torch.from_numpy(np.ascontiguousarray(mask))[:, None]
    yield "sdpa with a mask", lambda: back(
        F.scaled_dot_product_attention(q, k, v, attn_mask=whole)
    )
    if line.window >= 0:
        yield "sdpa by blocks", lambda: back(window_by_blocks(torch, F, line, q, k, v))


def window_by_blocks(torch, F, line, q, k, v, block=256):
    """Blocks of queries with the keys that they can see."""
    parts = []
    for first in range(0, line.queries, block):
        end = min(first + block, line.queries)
        begin = max(0, first - line.window)
        i = torch.arange(first, end)[:, None]
        j = torch.arange(begin, end)[None, :]
        mask = (j <= i) & (j >= i - line.window)
        parts.append(
            F.scaled_dot_product_attention(
                q[:, :, first:end], k[:, :, begin:end], v[:, :, begin:end], attn_mask=mask
            )
        )
    return torch.cat(parts, dim=2)


def onnxruntime_ways(line, arrays, threads, quick):
    if line.element == "bf16":
        return  # its CPU kernels have no bf16
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1

    def session(nodes, inputs, output, initializers=(), domain=None):
        def value(name, array):
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            return helper.make_tensor_value_info(name, kind, array.shape)

        graph = helper.make_graph(
            nodes,
            "line",
            [value(name, array) for name, array in inputs.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(a, name) for name, a in initializers],
        )
        opsets = [helper.make_opsetid("", 23)]
        if domain:
            opsets.append(helper.make_opsetid(domain, 1))
        model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
        runner = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return lambda: runner.run(None, inputs)[0]

    if line.kind == "graph":
        from . import onnx_ops

        yield from onnx_ops.ways(line, arrays, session)
        return
    if line.kind == "linear":
        w = np.ascontiguousarray(arrays["w"].T)
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["p"]),
            helper.make_node("Add", ["p", "b"], ["y"]),
        ]
        yield "MatMul, Add", session(
            nodes, {"x": arrays["x"]}, "y", [("w", w), ("b", arrays["b"])]
        )
        return

    mask, add = data.visible(line), data.bias(line)
    extra, attributes = {}, {}
    plain = mask is None and add is None
    if not plain:
        if add is not None:
            extra["mask"] = np.where(mask, add, -np.inf).astype(np.float32)[None]
        elif line.causal and line.window < 0 and line.queries == line.keys:
            attributes["is_causal"] = 1
        else:
            extra["mask"] = np.ascontiguousarray(
                np.broadcast_to(mask[:, None], (len(mask), 1, *mask.shape[1:]))
            )
    inputs = {n: np.ascontiguousarray(bhsd(line, arrays[n])) for n in "qkv"}
    node = helper.make_node("Attention", ["q", "k", "v", *extra], ["o"], **attributes)
    try:
        run = session([node], {**inputs, **extra}, "o")
        yield "Attention", lambda: in_layout(line, run(), "bhsd")
    except Exception:  # an operator of this release may be missing or partial
        pass
    if line.groups != line.heads or line.is_decoding():
        return
    # MultiHeadAttention takes heads side by side.
    inputs = {
        n: np.ascontiguousarray(bshd(line, arrays[n])).reshape(
            line.batch, -1, line.heads * line.size
        )
        for n in "qkv"
    }
    names, attributes = ["q", "k", "v"], {"num_heads": line.heads}
    if line.causal and not extra:
        attributes["unidirectional"] = 1
    elif extra:
        bias = extra["mask"]
        if bias.dtype == bool:
            bias = np.where(bias, np.float32(0), np.float32(-np.inf))
        inputs["bias"] = np.ascontiguousarray(bias)
        names += ["", "", "", "bias"]
    node = helper.make_node(
        "MultiHeadAttention", names, ["o"], domain="com.microsoft", **attributes
    )
    try:
        other = session([node], inputs, "o", domain="com.microsoft")
        shape = (line.batch, line.queries, line.heads, line.size)
        yield "MultiHeadAttention", lambda: in_layout(
            line, other().reshape(shape), "bshd"
        )
    except Exception:
        pass


def openvino_ways(line, arrays, threads, quick):
    import openvino
    import openvino.opset13 as ops

    core = openvino.Core()
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": line.element,
        "PERFORMANCE_HINT": "LATENCY",
    }

    half = line.element == "bf16"

    def parameter(array):
        kind = openvino.Type.bf16 if half and array.dtype == np.float32 else array.dtype
        return ops.parameter(array.shape, kind)

    def compiled(result, parameters, inputs):
        model = openvino.Model([result], parameters, "line")
        request = core.compile_model(model, "CPU", settings).create_infer_request()
        kept = [bf16.stored(array, line.element) for array in inputs]
        for n, array in enumerate(kept):
            if array.dtype == np.uint16:
                tensor = openvino.Tensor(array, array.shape, openvino.Type.bf16)
            else:
                tensor = openvino.Tensor(array, shared_memory=True)
            request.set_input_tensor(n, tensor)
        output = np.zeros(result.get_output_shape(0), np.uint16)
        if half:
            tensor = openvino.Tensor(output, output.shape, openvino.Type.bf16)
            request.set_output_tensor(0, tensor)

        def run():
            request.infer()
            return output if half else request.get_output_tensor(0).data

        run.kept = kept  # tensors of bf16 only point to their memory

        return run

    def wide(node):  # the weights are f32 and computed with as the hint says
        return ops.convert(node, "f32") if half else node

    if line.kind == "graph":
        from . import openvino_ops

        inputs = [arrays[name] for name in line.inputs]
        parameters = [parameter(array) for array in inputs]
        result = line.formula(openvino_ops.Nodes(arrays, dict(zip(line.inputs, [wide(node) for node in parameters]))))
        yield "nodes", compiled(ops.convert(result, "bf16") if half else result, parameters, inputs)
        return

    if line.kind == "linear":
        x = ops.parameter(arrays["x"].shape, np.float32)
        y = ops.add(
            ops.matmul(x, ops.constant(arrays["w"]), False, True),
            ops.constant(arrays["b"]),
        )
        yield "MatMul", compiled(y, [x], [arrays["x"]])
        return
    if line.groups != line.heads:
        return  # needs keys repeated for each head
    inputs = [np.ascontiguousarray(bhsd(line, arrays[n])) for n in "qkv"]
    mask, add = data.visible(line), data.bias(line)
    causal = line.causal and line.window < 0 and add is None
    if not causal and (mask is not None or add is not None):
        values = np.where(mask if mask is not None else True, 0 if add is None else add, -np.inf)
        values = values.astype(np.float32)
        inputs.append(np.ascontiguousarray(values[:, None] if add is None else values[None]))
    parameters = [parameter(array) for array in inputs]
    result = ops.scaled_dot_product_attention(*parameters, causal=causal)
    run = compiled(result, parameters, inputs)
    yield "ScaledDotProductAttention", lambda: in_layout(line, run(), "bhsd")


WAYS = {
    "torch": torch_ways,
    "onnxruntime": onnxruntime_ways,
    "openvino": openvino_ways,
}
