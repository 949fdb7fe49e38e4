# ===- narrow.py - a model folder with 16-bit weights ----------------------=== #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""narrow.py folder out BF16|F16: writes out/narrow, whose weights have 16 bits,
and out/wide, which has the same values as F32."""
import json
import os
import shutil
import struct
import sys

import numpy

source, out, kind = sys.argv[1:]
with open(os.path.join(source, "model.safetensors"), "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()


def write(folder, kind, arrays):
    os.makedirs(folder)
    shutil.copy(os.path.join(source, "config.json"), folder)
    entries, blob = {}, b""
    for name, (shape, array) in arrays.items():
        offsets = [len(blob), len(blob) + array.nbytes]
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": offsets}
        blob += array.tobytes()
    text = json.dumps(entries).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + blob)


narrow, wide = {}, {}
for name, entry in header.items():
    if name == "__metadata__":
        continue
    begin, end = entry["data_offsets"]
    values = numpy.frombuffer(data[begin:end], dtype=numpy.float32)
    if kind == "F16":
        short = values.astype(numpy.float16)
        back = short.astype(numpy.float32)
    else:  # The upper half of the bits: rounded to zero, which is good enough.
        short = (values.view(numpy.uint32) >> 16).astype(numpy.uint16)
        back = (short.astype(numpy.uint32) << 16).view(numpy.float32)
    narrow[name] = (entry["shape"], short)
    wide[name] = (entry["shape"], back)
write(os.path.join(out, "narrow"), kind, narrow)
write(os.path.join(out, "wide"), "F32", wide)
