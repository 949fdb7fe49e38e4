# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits tiled attention so that the Halide target must refuse it.

usage: flash-errors.py attn-opt flash.mlir folder

Each case replaces text, the first place or the numbered one, and names the
message that attn-opt must give. Prints what came instead and fails.
"""

import os
import subprocess
import sys

TILES = "!attn.tile<24x128xf32>, !attn.tile<24xf32>"
STORE = (
    "tensor.parallel_insert_slice %result into %out[%b, %3, %h, 0] "
    "[1, %4, 1, 2] [1, 1, 1, 1] : tensor<?x2xf32> into tensor<?x?x1x2xf32>"
)
MAXIMUM = "%6 = attn.tile_fill 0xFF800000 : !attn.tile<24xf32>"
SINK = """%sink = attn.tile_score %zero at(%b, %h, %3, %c0) capture(%cst : f32) {
^bb0(%s: f32, %bb: index, %hh: index, %i: index, %jj: index, %c: f32):
  attn.yield %c : f32
} : !attn.tile<24x1xf32>
"""
STATE = "!attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>"
# A test around the tile, without what the loop yields.
GUARD = """%on = arith.constant true
%kept:3 = scf.if %on -> (STATE) {
  scf.yield %14, %17, %20 : STATE
} else {
  scf.yield OTHERWISE : STATE
}
""".replace("STATE", STATE)

# (name, text, what it becomes, message)
CASES = [
    (
        "other schedule",
        "#attn.flash_schedule<vector = 8, key_unroll = 4, value_unroll = 4>",
        "#attn.rowwise_schedule<vector = 8, rows = 1>",
        "expected #attn.flash_schedule, #attn.decode_schedule or #attn.matrix_schedule (because of what the kernel computes), got "
        "#attn.rowwise_schedule<vector = 8, rows = 1>",
    ),
    (
        "yield without weights of this tile",
        "scf.yield %14, %17, %20",
        "scf.yield %m, %17, %20",
        "expected attn.tile_max, attn.tile_sum or attn.tile_mix",
    ),
    (
        "maximum twice",
        "scf.yield %14, %17, %20",
        "scf.yield %14, %14, %20",
        "expected one attn.tile_max, one attn.tile_sum and one attn.tile_mix, "
        "got one of them twice",
    ),
    (
        "results of a test in another order",
        "scf.yield %14, %17, %20",
        GUARD.replace("OTHERWISE", "%m, %l, %acc") + "scf.yield %kept#1, %kept#0, %kept#2",
        "expected all results of the scf.if in their order, got other values",
    ),
    (
        "a tile that is not visited changes something",
        "scf.yield %14, %17, %20",
        GUARD.replace("OTHERWISE", "%l, %m, %acc") + "scf.yield %kept#0, %kept#1, %kept#2",
        "expected the iter_args of the loop from the other branch (because a tile "
        "that is not visited changes nothing), got other values",
    ),
    (
        "sum and maximum change places",
        "scf.yield %14, %17, %20",
        "scf.yield %17, %14, %20",
        "expected the running maximum at the same place of iter_args and "
        "scf.yield, got 0 and 1",
    ),
    (
        "rescale from another maximum",
        "attn.tile_rescale %l from %m to %14",
        "attn.tile_rescale %l from %m to %m",
        "expected to rescale from the running maximum before this tile to the "
        "one after it, got other values",
    ),
    (
        "sum of scores",
        "attn.tile_sum %15, %16",
        "attn.tile_sum %13, %16",
        "expected weights from attn.tile_exp",
    ),
    (
        "mix of other weights",
        "attn.tile_mix %15, %19",
        "attn.tile_mix %13, %19",
        "expected the weights that attn.tile_sum adds up, got another value",
    ),
    (
        "exponentials of an old maximum",
        "attn.tile_exp %13, %14",
        "attn.tile_exp %13, %m",
        "expected the maximum that includes this tile, the result of "
        "attn.tile_max, got another value",
    ),
    (
        "maximum of other scores",
        "%14 = attn.tile_max %13, %m : " + TILES,
        "%other = attn.tile_scores %5, %12 scale(%cst : f32) : "
        "!attn.tile<24x2xf32>, !attn.tile<128x2xf32> -> !attn.tile<24x128xf32>\n"
        "%14 = attn.tile_max %other, %m : " + TILES,
        "expected the scores that attn.tile_max reads, got another value",
    ),
    (
        "values of another tile size",
        "%19 = attn.tile_load %arg2[%b, %j, %h, %c0] dims [1, 3] rows(%c128) : "
        "tensor<?x?x1x2xf32> -> !attn.tile<128x2xf32>",
        "%19 = attn.tile_fill 0.0 : !attn.tile<128x2xf32>",
        "expected values from attn.tile_load",
    ),
    (
        "keys that are not loaded",
        "%12 = attn.tile_load %arg1[%b, %j, %h, %c0] dims [1, 3] rows(%c128) : "
        "tensor<?x?x1x2xf32> -> !attn.tile<128x2xf32>",
        "%12 = attn.tile_fill 0.0 : !attn.tile<128x2xf32>",
        "expected keys from attn.tile_load",
    ),
    (
        "queries that are not loaded",
        "%5 = attn.tile_load %arg0[%b, %3, %h, %c0] dims [1, 3] rows(%4) : "
        "tensor<?x?x1x2xf32> -> !attn.tile<24x2xf32>",
        "%5 = attn.tile_fill 0.0 : !attn.tile<24x2xf32>",
        "expected queries from attn.tile_load",
    ),
    (
        "two query tiles",
        "%14 = attn.tile_scores %5, %13",
        "%q = attn.tile_load %arg0[%b, %3, %h, %c0] dims [1, 3] rows(%4) : "
        "tensor<?x?x1x2xf32> -> !attn.tile<24x2xf32>\n"
        "%14 = attn.tile_scores %q, %13",
        "expected the query tile of the first loop, got another attn.tile_load",
    ),
    (
        "values of another tensor in the second loop",
        "%20 = attn.tile_load %arg2",
        "%20 = attn.tile_load %arg1",
        "expected the key and value tensors of the first loop, got others",
    ),
    (
        "stride 2 in the result",
        "[1, %4, 1, 2] [1, 1, 1, 1]",
        "[1, %4, 1, 2] [1, 2, 1, 1]",
        "expected stride 1 in dimension 1",
    ),
    (
        "channels from 1 on",
        "%out[%b, %3, %h, 0]",
        "%out[%b, %3, %h, %c1]",
        "expected all 2 channels of the accumulator in the last dimension",
    ),
    (
        "a row that is no counter",
        "%out[%b, %3, %h, 0]",
        "%out[%c1, %3, %h, 0]",
        "expected a counter of the scf.forall or the first row of the query tile "
        "as the offset of dimension 0",
    ),
    (
        "no row of the query tile",
        "%out[%b, %3, %h, 0]",
        "%out[%b, %it, %h, 0]",
        "expected the first row of the query tile as the offset of one dimension",
    ),
    (
        "a store of something else",
        STORE,
        STORE.replace("%result", "%slice"),
        "expected to store a result of attn.tile_finish",
    ),
    (
        "two finishes",
        "%result = attn.tile_finish",
        "%more = attn.tile_finish %11#2, %11#1, %11#0 rows(%4) scale(1.442695) : "
        "!attn.tile<24x2xf32>, !attn.tile<24xf32> -> tensor<?x2xf32>\n"
        "%result = attn.tile_finish",
        "expected one attn.tile_finish, got 2",
    ),
    (
        "state of different loops",
        "attn.tile_finish %11#2, %11#1, %11#0",
        "attn.tile_finish %11#2, %10#1, %11#0",
        "expected maximum, sum and accumulator to be handed on together, got "
        "values of different loops",
    ),
    (
        "no loop over keys",
        "attn.tile_finish %11#2, %11#1, %11#0",
        "attn.tile_finish %8, %7, %6",
        "expected at least one scf.for over key tiles (because there is no query "
        "tile to tell the shape otherwise)",
    ),
    (
        "a state that is not filled",
        "attn.tile_finish %11#2, %11#1, %11#0",
        "attn.tile_finish %5, %7, %6",
        "expected maximum, sum and accumulator to start from attn.tile_fill",
    ),
    (
        "a first maximum of many scores",
        MAXIMUM,
        "%zero = attn.tile_fill 0.0 : !attn.tile<24x2xf32>\n"
        + SINK.replace("24x1x", "24x2x")
        + MAXIMUM.replace("%6", "%start")
        + "\n%6 = attn.tile_max %sink, %start : !attn.tile<24x2xf32>, "
        "!attn.tile<24xf32>",
        "expected the first maximum to be that of a sink (one column of "
        "attn.tile_score of attn.tile_fill), got other scores",
    ),
    (
        "a number before the sink",
        MAXIMUM,
        "%zero = attn.tile_fill 0.0 : !attn.tile<24x1xf32>\n"
        + SINK
        + "%start = attn.tile_fill 2.0 : !attn.tile<24xf32>\n"
        "%6 = attn.tile_max %sink, %start : !attn.tile<24x1xf32>, "
        "!attn.tile<24xf32>",
        "expected -inf (because a sink is the first score of all), got another "
        "number",
    ),
    (
        "rescaled with different constants",
        "attn.tile_rescale %acc from %m to %14 scale(1.442695)",
        "attn.tile_rescale %acc from %m to %14 scale(1.0)",
        "not supported by the Halide target: sum and accumulator are rescaled "
        "with different constants",
    ),
    (
        "a step that is not positive",
        "scf.for %j = %c0 to %9 step %c128",
        "scf.for %j = %c0 to %9 step %dim_1",
        "expected a constant step above 0",
    ),
    (
        "rows of another tile size",
        "affine_map<(d0) -> (d0 * 24)>",
        "affine_map<(d0) -> (d0 * 32)>",
        "expected row 0 of the query tile to be the tile's number times 24 "
        "(because the tile has 24 rows), got another expression",
    ),
    (
        "yield of another tensor",
        "attn.yield %2 :",
        "attn.yield %arg0 :",
        "expected to yield the results of the scf.forall",
    ),
    (
        "keys along a dimension that is not the last",
        "%arg1[%b, %j, %h, %c0] dims [1, 3] rows(%c128)",
        "%arg1[%b, %j, %h, %c0] dims [1, 2] rows(%c128)",
        "expected the columns along the last dimension (because they are loaded as "
        "vectors), got dimension 2",
    ),
    (
        "two loops over query tiles",
        "attn.yield %2 :",
        "%more = scf.forall (%x) in (1) shared_outs(%o = %1) -> "
        "(tensor<?x?x1x2xf32>) { scf.forall.in_parallel { } }\n"
        "attn.yield %2 :",
        "expected one scf.forall over query tiles (because a kernel is one loop "
        "nest), got 2",
    ),
    (
        "sizes of a tensor that is no argument",
        "%dim_1 = tensor.dim %arg1, %c1 :",
        "%empty = tensor.empty(%dim, %dim_0) : tensor<?x?x1x2xf32>\n"
        "%dim_1 = tensor.dim %empty, %c1 :",
        "not supported by the Halide target: it reads a tensor that is not an "
        "argument of the kernel",
    ),
    (
        "too large tiles",
        "128",
        "4096",
        "bytes of scratch a query tile (because it lives on a thread's stack and "
        "in its second-level cache), got ",
    ),
    (
        "a fourth value from tile to tile",
        "%acc = %8) -> (!attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>)",
        "%acc = %8, %more = %7) -> (!attn.tile<24xf32>, !attn.tile<24xf32>, "
        "!attn.tile<24x2xf32>, !attn.tile<24xf32>)",
        "expected three iter_args (running maximum, running sum, accumulator), "
        "got 4",
    ),
]

# The text of a store of something that attn.tile_finish does not give.
SLICE = (
    "%slice = tensor.extract_slice %arg0[0, 0, 0, 0] [1, %4, 1, 2] [1, 1, 1, 1]"
    " : tensor<?x?x1x2xf32> to tensor<?x2xf32>\n"
)


def main():
    tool, path, folder = sys.argv[1:]
    with open(path) as file:
        text = file.read()
    # The file itself is accepted: what fails below fails by the edit.
    assert run(tool, path).returncode == 0, "the unedited text is refused"
    failed = 0
    for number, (name, old, new, message) in enumerate(CASES):
        assert old in text, (name, "is no edit of the text")
        edited = text.replace(old, new) if old == "128" else text.replace(old, new, 1)
        if "%slice" in new:
            edited = edited.replace("scf.forall.in_parallel", SLICE + "scf.forall.in_parallel")
        if "%more = %7)" in new:
            edited = edited.replace("%10:3 =", "%10:4 =").replace(
                "%17, %20 : !attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>",
                "%17, %20, %more : !attn.tile<24xf32>, !attn.tile<24xf32>, "
                "!attn.tile<24x2xf32>, !attn.tile<24xf32>",
                1,
            )
        case = os.path.join(folder, "%d.mlir" % number)
        with open(case, "w") as file:
            file.write(edited)
        result = run(tool, case)
        if result.returncode != 1 or message not in result.stderr:
            failed += 1
            print("%s: expected '%s', exit status 1, got" % (name, message))
            print(result.returncode, result.stderr[:600])
    print("%d cases, %d failed" % (len(CASES), failed))
    return 1 if failed else 0


def run(tool, path):
    return subprocess.run(
        [tool, path, "--emit=stmt", "-o", os.devnull],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


sys.exit(main())
