# ===- make_onnx.py - ONNX models from a few lines of text ------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""make_onnx.py FOLDER

Makes NAME.onnx of each NAME.txt in the folder.

Each line is one of

    opset 23
    input NAME TYPE SIZES            output NAME TYPE SIZES
    value NAME TYPE SIZES            (value_info)
    init NAME TYPE SIZES NUMBERS     init NAME TYPE SIZES @FILE,OFFSET,LENGTH
    node OPERATOR INPUTS OUTPUTS [ATTRIBUTE=VALUE...]

Lists have commas between their elements and are `-` where they are empty; a name
`-` is an input or output that is left out. A size is a number or a name; `?` for none of both; SIZES is `none` for a value
without a shape. An attribute is an integer, a float (with a dot), a list of
integers in brackets, or text; `domain=` and `name=` are those of the node.
"""

import os
import struct
import sys

TYPES = {
    "FLOAT": (1, "f"), "UINT8": (2, "B"), "INT8": (3, "b"), "INT32": (6, "i"),
    "INT64": (7, "q"), "STRING": (8, ""), "BOOL": (9, "?"),
    "FLOAT16": (10, "e"), "DOUBLE": (11, "d"), "BFLOAT16": (16, "H"),
}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def data(number, contents):
    if isinstance(contents, str):
        contents = contents.encode()
    return varint(number << 3 | 2) + varint(len(contents)) + contents


def integer(number, value):
    return varint(number << 3) + varint(value)


def single(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def split(text):
    return [] if text == "-" else text.split(",")


def names(text):
    return ["" if name == "-" else name for name in split(text)]


def value_info(name, kind, sizes):
    contents = integer(1, TYPES[kind][0])
    if sizes != "none":
        shape = b""
        for size in split(sizes):
            if size == "?":
                shape += data(1, b"")
            elif size.lstrip("-").isdigit():
                shape += data(1, integer(1, int(size)))
            else:
                shape += data(1, data(2, size))
        contents += data(2, shape)
    return data(1, name) + data(2, data(1, contents))


def tensor(name, kind, sizes, numbers):
    out = b"".join(integer(1, int(size)) for size in split(sizes))
    out += integer(2, TYPES[kind][0]) + data(8, name)
    if numbers.startswith("@"):
        for key, value in zip(("location", "offset", "length"), numbers[1:].split(",")):
            out += data(13, data(1, key) + data(2, value))
        return out + integer(14, 1)
    code = TYPES[kind][1]
    convert = float if code in "efd" else int
    values = [convert(number) for number in split(numbers)]
    return out + data(9, struct.pack("<%d%s" % (len(values), code), *values))


def attribute(name, text):
    out = data(1, name)
    if text.startswith("["):
        values = [int(v) for v in text[1:-1].split(",") if v]
        return out + b"".join(integer(8, v) for v in values) + integer(20, 7)
    try:
        return out + integer(3, int(text)) + integer(20, 2)
    except ValueError:
        pass
    try:
        return out + single(2, float(text)) + integer(20, 1)
    except ValueError:
        return out + data(4, text) + integer(20, 3)


def node(operator, inputs, outputs, *attributes):
    out = b"".join(data(1, name) for name in names(inputs))
    out += b"".join(data(2, name) for name in names(outputs))
    out += data(4, operator)
    for text in attributes:
        name, value = text.split("=", 1)
        if name == "name":
            out += data(3, value)
        elif name == "domain":
            out += data(7, value)
        else:
            out += data(5, attribute(name, value))
    return out


def make_model(text):
    graph = b""
    opset = 23
    lines = [line.split("#")[0].split() for line in text.splitlines()]
    for words in filter(None, lines):
        kind, rest = words[0], words[1:]
        if kind == "opset":
            opset = int(rest[0])
        elif kind == "node":
            graph += data(1, node(*rest))
        elif kind == "init":
            graph += data(5, tensor(*rest))
        else:
            number = {"input": 11, "output": 12, "value": 13}[kind]
            graph += data(number, value_info(*rest))
    model = integer(1, 10) + data(7, graph)
    return model + data(8, data(1, "") + integer(2, opset))


def main():
    folder = sys.argv[1]
    for name in sorted(os.listdir(folder)):
        if name.endswith(".txt"):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                model = make_model(file.read())
            with open(path[:-4] + ".onnx", "wb") as file:
                file.write(model)


main()
