//===- Passes.td - passes inside the attn dialect ----------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One def a pass, sorted by name. Each says what it is for, shows a before and
// an after, and lists what it requires, guarantees and rejects and where it
// stands in the pipeline.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnAnalyzeMasksPass : Pass<"attn-analyze-masks", "::mlir::ModuleOp"> {
  let summary = "find the keys that a tile of queries sees, from the mask's predicate";
  let description = [{
    Sets `key_ranges` on each `attn.attention` with a mask region: the ranges of keys
    that a tile of queries [i0, i1) may see, with affine bounds, and in each of them the keys that
    all its queries see. The predicate is taken apart into comparisons that are affine in i and j
    (with floordiv and mod by constants, min, max and abs) and into the rest, which counts as unknown.
    docs/MaskAnalysis.md explains the method.

    Before:
    ```mlir
    %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) mask {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %visible = arith.cmpi sle, %j, %i : index
      attn.yield %visible : i1
    } : tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32> -> tensor<?x?x12x32xf32>
    ```
    After, with `begin` 0, `full_begin` 0, `full_end` min(i0 + 1, M) and `end` min(i1, M):
    ```mlir
    %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd)
        key_ranges <[<begin = affine_map<(d0, d1)[s0, s1] -> (0)>,
                      full_begin = affine_map<(d0, d1)[s0, s1] -> (0)>,
                      full_end = affine_map<(d0, d1)[s0, s1] -> (s1, d0 + 1)>,
                      end = affine_map<(d0, d1)[s0, s1] -> (s1, d1)>>] exact = true, opaque = false>
        mask { ... } : ...
    ```

    - Requires: nothing.
    - Guarantees: every visible key is inside of a range, every key of [full_begin, full_end)
      is visible to the whole tile; a remark `MaskAnalyzed` with the numbers of ranges, of affine and of
      unknown comparisons for each mask.
    - Rejects: nothing. A predicate with too many cases gets the range of all keys, whose tiles
      are tested when the kernel runs, and a missed remark.
    - Place: before `attn-tile`.
  }];
}

def AttnFormKernelsPass : Pass<"attn-form-kernels", "::mlir::ModuleOp"> {
  let summary = "outline each fused operation and each row-wise group as a kernel";
  let description = [{
    Each `attn.attention`, `attn.fused_linear` and linalg operation becomes an
    `attn.kernel`, and so does each largest group of row-wise and element-wise operations
    whose rows correspond (an embedding and the norm after it). An `attn.call` takes its
    place. Arguments are positional, one for each use of an outside value; kernels that are
    equal but for locations become one. The sizes of results are `attn.dim_size` of named
    dimensions wherever they follow from the arguments. Ids of an embedding are checked
    by an `attn.check_ids` before the call; constant tensors become weights.

    Before:
    ```mlir
    attn.dim @batch range(1, 8)
    attn.dim @sequence range(1, 512)
    func.func @embed(%ids: tensor<?x?xi64> {attn.dims = ["batch", "sequence"], attn.name = "input_ids"},
                     %table: tensor<100x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>) -> tensor<?x?x8xf32> {
      %0 = attn.embedding %ids, %table : tensor<?x?xi64>, tensor<100x8xf32> -> tensor<?x?x8xf32>
      %1 = attn.layer_norm %0, %gamma, %beta epsilon(1.0e-12) : tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>
      return %1 : tensor<?x?x8xf32>
    }
    ```
    After:
    ```mlir
    attn.kernel @embed_norm_0(%ids: tensor<?x?xi64>, %table: tensor<100x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>)
        -> tensor<?x?x8xf32> { ... }
    func.func @embed(...) -> tensor<?x?x8xf32> {
      attn.check_ids %ids below(100) name("input_ids") : tensor<?x?xi64>
      %b = attn.dim_size @batch
      %s = attn.dim_size @sequence
      %init = tensor.empty(%b, %s) : tensor<?x?x8xf32>
      %1 = attn.call @embed_norm_0
          ins(%ids, %table, %gamma, %beta : tensor<?x?xi64>, tensor<100x8xf32>, tensor<8xf32>, tensor<8xf32>)
          outs(%init : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
      return %1 : tensor<?x?x8xf32>
    }
    ```

    - Requires: `attn-fuse-linear` has run.
    - Guarantees: no operation of a host function computes an element of a tensor; a remark
      `kernel-formed` or `kernel-shared` for each call.
    - Rejects: what no kernel can express, each at its operation; an embedding table with a
      dynamic number of rows.
    - Place: after `attn-generalize`, before `attn-verify-fused`.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AttnFuseAttentionPass : Pass<"attn-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "fuse scores, masks, biases, softmax and mix into attn.attention";
  let description = [{
    Starts at each `attn.mix` and walks up through its `attn.softmax` and any chain of masks, score
    rules (`attn.bias`, `attn.softcap`, `attn.alibi`, `attn.t5_bias`) and element-wise operations to one
    `attn.scores` or `attn.additive_scores`. Each becomes arithmetic: masks in the mask region, rules in
    the score region, relative vectors and additive scores in the combine and the value region. Tensors
    that are read on the way become captures. The score tensor (B, H, N, M) is gone.

    Where scores or weights have another user, or are results, the attention is fused all the same and
    the operations stay for that user, in a tensor (B, H, N, M) that nothing else needs.

    Before:
    ```mlir
    %s = attn.scores %q, %k layout(bshd) : tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32> -> tensor<?x8x?x?xf32>
    %m = attn.mask %s by causal<top_left> : tensor<?x8x?x?xf32>
    %p = attn.softmax %m : tensor<?x8x?x?xf32> -> tensor<?x8x?x?xf32>
    %o = attn.mix %p, %v layout(bshd) : tensor<?x8x?x?xf32>, tensor<?x?x8x64xf32> -> tensor<?x?x8x64xf32>
    ```
    After:
    ```mlir
    %c = arith.constant 1.250000e-01 : f32
    %o = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) mask {
    ^bb0(%b: index, %h: index, %i: index, %j: index):
      %visible = arith.cmpi sle, %j, %i : index
      attn.yield %visible : i1
    } : tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32> -> tensor<?x?x8x64xf32>
    ```
    Before, with a formula that would show what a mask hid:
    ```mlir
    %s = attn.scores %q, %k layout(bshd) : tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32> -> tensor<?x8x?x?xf32>
    %m = attn.mask %s by causal<top_left> : tensor<?x8x?x?xf32>
    %t = math.tanh %m : tensor<?x8x?x?xf32>
    %p = attn.softmax %t : tensor<?x8x?x?xf32> -> tensor<?x8x?x?xf32>
    %o = attn.mix %p, %v layout(bshd) : tensor<?x8x?x?xf32>, tensor<?x?x8x64xf32> -> tensor<?x?x8x64xf32>
    ```
    Error with `attn-fuse-attention{fail-if-not-fused=true}`:
    ```text
    'attn.mix' op expected to become part of an attn.attention (because of fail-if-not-fused),
    but math.tanh follows a mask and may make a hidden score visible: move it in front of the attn.mask
    ```

    - Requires: nothing.
    - Guarantees: each `attn.mix` that could be fused is; a remark (`attention-fused`, or
      `attention-not-fused` with reason and fix) for each, and `scores-kept` where a tensor of scores
      stays.
    - Rejects: nothing, or with `fail-if-not-fused` each attention that stays as it is: because an
      operation after a mask could make a hidden score visible, because layouts or types differ, or
      because an operation on the way is not element-wise.
    - Place: after `attn-name-dims`, before `attn-fuse-linear`.
  }];
  let options = [Option<"failIfNotFused", "fail-if-not-fused", "bool", /*default=*/"false",
      "Make each attention that is not fused an error.">];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AttnFuseLinearPass : Pass<"attn-fuse-linear", "::mlir::ModuleOp"> {
  let summary = "fuse projections, bias, activation, residual and norm into linear layers";
  let description = [{
    1. An `attn.attention` of layout bhsd between `attn.split_heads` and `attn.merge_heads`
       gets layout bshd.
    2. Layers that have one input and feed one attention (query, key and value of
       self-attention; key and value of cross-attention) become one layer with a `#attn.concat`
       weight and slices of its result.
    3. `attn.split_heads` and `attn.merge_heads` become reshapes, with a `linalg.transpose`
       where layout bhsd remains.
    4. Each `attn.linear` becomes an `attn.fused_linear` on the rows of its input. Its epilogue
       takes the bias and the longest run of element-wise operations that nobody else sees the
       inside of; other tensors in it are captures. An `attn.layer_norm` that is the only user of
       the result goes in as well.

    Before:
    ```mlir
    %y = attn.linear %x, %w bias(%b) : tensor<?x?x512xf32>, tensor<2048x512xf32>, tensor<2048xf32> -> tensor<?x?x2048xf32>
    %z = attn.relu %y : tensor<?x?x2048xf32>
    ```
    After:
    ```mlir
    %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x512xf32> into tensor<?x512xf32>
    %f = attn.fused_linear %rows, %w capture(%b : tensor<2048xf32>) epilogue {
    ^bb0(%acc: f32, %m: index, %n: index, %bias: tensor<2048xf32>):
      %0 = tensor.extract %bias[%n] : tensor<2048xf32>
      %1 = arith.addf %acc, %0 : f32
      %2 = attn.relu %1 : f32
      attn.yield %2 : f32
    } : tensor<?x512xf32>, tensor<2048x512xf32> -> tensor<?x2048xf32>
    ...
    %z = tensor.expand_shape %f [[0, 1], [2]] output_shape [%batch, %sequence, 2048]
        : tensor<?x2048xf32> into tensor<?x?x2048xf32>
    ```

    - Requires: `attn-fuse-attention` has run.
    - Guarantees: no `attn.linear`, `attn.split_heads` or `attn.merge_heads` remains; remarks
      `linear-fused`, `epilogue-not-fused`, `projections-concatenated`,
      `projections-not-concatenated`.
    - Rejects: nothing.
    - Place: after `attn-fuse-attention`, before `attn-generalize`.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def AttnFoldHeadsPass : Pass<"attn-fold-heads", "::mlir::func::FuncOp"> {
  let summary = "make the query heads of a group rows of one head, where there are few queries";
  let description = [{
    With few queries, as in decoding, a tile of one head has mostly empty rows, and each query head
    of a group reads that group's keys and values again. With N static and at most 16, H query heads
    over G key heads become G heads of (H / G) * N queries: row r * N + i is query i of head r of the
    group. Regions compute h and i from the row. In layout bhsd queries and results are reshaped, in
    the others they are transposed too; keys and values stay what they are.

    Before:
    ```mlir
    %o = attn.attention %q, %k, %v scale(%c : f32) layout(bhsd)
        : tensor<?x32x1x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x32x1x128xf32>
    ```
    After:
    ```mlir
    %parts = tensor.expand_shape %q [[0], [1, 2], [3], [4]] output_shape [%b, 8, 4, 1, 128] : ...
    %rows = tensor.collapse_shape %parts [[0], [1], [2, 3], [4]] : tensor<?x8x4x1x128xf32> into tensor<?x8x4x128xf32>
    %o = attn.attention %rows, %k, %v scale(%c : f32) layout(bhsd)
        : tensor<?x8x4x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x8x4x128xf32>
    ```

    - Requires: `attn-fuse-attention` has run.
    - Guarantees: remark `heads-folded`.
    - Rejects: nothing. Attention with sinks, with as many key heads as query heads, or with a
      number of queries that is known at run time only stays as it is.
    - Place: after `attn-fuse-linear`, before `attn-generalize`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AttnSplitKeysPass : Pass<"attn-split-keys", "::mlir::func::FuncOp"> {
  let summary = "cut the keys of attention with few queries into chunks that run side by side";
  let description = [{
    In decoding there is one task for each batch row and key head: less than a processor has cores, and much less than a device takes
    blocks of threads. Where N is static and at most 64, a batch row is fewer than `tasks` (heads times tiles of 24 queries), and the number of keys may be above the chunk, keys are cut into
    chunks of `chunk`, each a task of its own that gives a result and its log-sum-exp. These are merged by what merging
    is: attention over chunks, whose scores are the log-sum-exps and whose values are the results. The chunk does
    not depend on threads or batch, so results have the same bits with any number of them.

    Before:
    ```mlir
    %o = attn.attention %q, %k, %v scale(%c : f32) layout(bhsd)
        : tensor<?x8x4x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x8x4x128xf32>
    ```
    After:
    ```mlir
    %parts, %lse = attn.attention %q, %k, %v scale(%c : f32) layout(bhsd) chunk(1024)
        : tensor<?x8x4x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x?x8x4x128xf32>, tensor<?x?x8x4xf32>
    %values = tensor.collapse_shape %parts [[0], [1, 2], [3], [4]] : tensor<?x?x8x4x128xf32> into tensor<?x?x4x128xf32>
    ...
    %merged = attn.attention %none, %values, %values scale(%one : f32) capture(%lse, %eight : tensor<?x?x8x4xf32>, index) layout(sbhd) score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %lse_in: tensor<?x?x8x4xf32>, %count: index):
      %first = arith.divui %b, %count : index
      %second = arith.remui %b, %count : index
      %score = tensor.extract %lse_in[%j, %first, %second, %h] : tensor<?x?x8x4xf32>
      attn.yield %score : f32
    } : tensor<1x?x4x128xf32>, tensor<?x?x4x128xf32>, tensor<?x?x4x128xf32> -> tensor<1x?x4x128xf32>
    ...
    ```
    After `attn-split-keys{chunk=256 tasks=64}`:
    ```mlir
    ...
    %parts, %lse = attn.attention %q, %k, %v scale(%c : f32) layout(bhsd) chunk(256)
    ...
    ```

    - Requires: `attn-fold-heads` has run.
    - Guarantees: remark `keys-split`.
    - Rejects: a chunk below 1, tasks below 0. Attention with sinks stays as it is.
    - Place: after `attn-fold-heads`, before `attn-generalize`.
  }];
  let options = [
    Option<"chunk", "chunk", "int64_t", "1024", "Keys of a chunk, a multiple of the key tile.">,
    Option<"tasks", "tasks", "int64_t", "16", "Tasks of a batch row that are enough: more are not split.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AttnGeneralizePass : Pass<"attn-generalize", "::mlir::func::FuncOp"> {
  let summary = "write what fusion left alone as linalg.generic";
  let description = [{
    `attn.scores` and `attn.mix` become contractions, with query heads split into (key heads,
    rest) so that grouped heads need no copy; masks and score rules become element-wise operations
    that read their operands by NumPy's rule of broadcasting. So do `attn.rotary`,
    `attn.merge_attention` and what sinks add to an `attn.softmax`. An `attn.cache_append`
    becomes a loop of the host function that stores a slice a batch row, behind an
    `attn.check_ids` of the lengths. Named linalg operations become `linalg.generic`, and
    `tensor.concat` becomes stores of slices. Slow, but the same values: the weights of a row
    that sees nothing are zero, and a weight of zero hides a NaN in a value. Sums are of f32
    where the tensors are narrower.

    Before:
    ```mlir
    %s = attn.scores %q, %k scale(%c : f32) layout(bshd) : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x8x?x?xf32>
    ```
    After:
    ```mlir
    %grouped = tensor.expand_shape %q [[0], [1], [2, 3], [4]] output_shape [%b, %n, 2, 4, 64] : ...
    // Dimensions: batch, key head, query head of the key head, query, key, channel.
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d2, d5)>,
                                            affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>,
                                            affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ...
    %s = tensor.collapse_shape %sum [[0], [1, 2], [3], [4]] : tensor<?x2x4x?x?xf32> into tensor<?x8x?x?xf32>
    ```

    - Requires: `attn-fuse-attention` has run.
    - Guarantees: no scores, masks, score rules, `attn.mix`, `attn.rotary`, `attn.cache_append`
      or `attn.merge_attention` remains, and no `attn.softmax` with sinks; a remark
      `generalized` for each.
    - Rejects: nothing.
    - Place: after `attn-fuse-linear`, before `attn-form-kernels`.
  }];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def AttnNameDimsPass : Pass<"attn-name-dims", "::mlir::ModuleOp"> {
  let summary = "name the arguments, results and dynamic sizes of the entry function";
  let description = [{
    Arguments and results without `attn.name` become `arg0`, `result0`, and so on. Sizes
    that operations force to be equal get one name: the one that an `attn.dims`
    states, else `dim0`, `dim1`, and so on. Each name has an `attn.dim` with a range, of
    0 to 2147483647 unless an operation (a position table) or the option `dims` says
    less. `tensor.dim` of a named size becomes `attn.dim_size`.

    Before:
    ```mlir
    func.func @f(%q: tensor<?x?x1x2xf32>, %k: tensor<?x?x1x2xf32> {attn.dims = ["batch", "keys", "", ""]})
        -> tensor<?x1x?x?xf32> {
      %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
      return %s : tensor<?x1x?x?xf32>
    }
    ```
    After:
    ```mlir
    attn.dim @batch range(0, 2147483647)
    attn.dim @dim0 range(0, 2147483647)
    attn.dim @keys range(0, 2147483647)
    func.func @f(%q: tensor<?x?x1x2xf32> {attn.dims = ["batch", "dim0", "", ""], attn.name = "arg0"},
                 %k: tensor<?x?x1x2xf32> {attn.dims = ["batch", "keys", "", ""], attn.name = "arg1"})
        -> (tensor<?x1x?x?xf32> {attn.dims = ["batch", "", "dim0", "keys"], attn.name = "result0"}) { ... }
    ```
    After `attn-name-dims{dims=batch=4,keys=1..512}`:
    ```mlir
    attn.dim @batch range(4, 4)
    attn.dim @dim0 range(0, 2147483647)
    attn.dim @keys range(1, 512)
    ```

    - Requires: at most one public function, the entry, of one block.
    - Guarantees: `attn.name` and `attn.dims` on each argument and result of the entry;
      an `attn.dim` for each name.
    - Rejects: two names for sizes that must be equal; a result size that is no
      argument's size; a range beyond a position table's rows; in `dims`, text that
      is no range or names no dimension.
    - Place: first pass of `attn-graph-to-fused`.
  }];
  let options = [ListOption<"dims", "dims", "std::string",
      "Ranges to set, each like batch=1..8 or batch=4.">];
  let dependentDialects = ["::attn::AttnDialect"];
}

def AttnSchedulePass : Pass<"attn-schedule", "::mlir::ModuleOp"> {
  let summary = "choose the schedule of each kernel and pack the weights for it";
  let description = [{
    Sets `schedule` on each kernel that has none: `#attn.flash_schedule` for tiled attention,
    `#attn.linear_schedule` for `attn.fused_linear`, `#attn.rowwise_schedule` for the rest. The
    numbers are formulas of the target's registers and caches
    (`attn/Analysis/ScheduleModel.h`). The weight of a linear layer is packed in panels of `nr`
    columns: a weight of the model by its recipe, when the weights file is written; any other
    tensor by a kernel that runs before.

    Halide kernels compute in f32. A kernel with tensors of f64 gets `#attn.loops_schedule`, by which
    `convert-attn-to-loops` takes it, and keeps its weights as they are; with `loops` all kernels do, also
    those that have another schedule.

    Before:
    ```mlir
    module attributes {attn.target = "x86-64-v3"} {
      attn.weight @w source<"model.safetensors", "w"> : tensor<768x768xf32>
      attn.kernel @linear_0(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>) -> tensor<?x768xf32> {
        %y = attn.fused_linear %x, %w : tensor<?x768xf32>, tensor<768x768xf32> -> tensor<?x768xf32>
        attn.yield %y : tensor<?x768xf32>
      }
      func.func @main(%x: tensor<?x768xf32>, %init: tensor<?x768xf32>) -> tensor<?x768xf32> {
        %w = attn.weight_ref @w : tensor<768x768xf32>
        %y = attn.call @linear_0 ins(%x, %w : tensor<?x768xf32>, tensor<768x768xf32>)
            outs(%init : tensor<?x768xf32>) -> tensor<?x768xf32>
        return %y : tensor<?x768xf32>
      }
    }
    ```
    After:
    ```mlir
    attn.weight @w source<"model.safetensors", "w"> : tensor<768x768xf32>
    attn.weight @w_panels24 pack<@w, panel = 24> : tensor<32x768x24xf32>
    attn.kernel @linear_0(%x: tensor<?x768xf32>, %w: tensor<32x768x24xf32>) -> tensor<?x768xf32>
        attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 0, mb = 512>} { ... }
    ...
    %w = attn.weight_ref @w_panels24 : tensor<32x768x24xf32>
    ```
    After `attn-schedule{loops=true}`:
    ```mlir
    attn.kernel @linear_0(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>) -> tensor<?x768xf32>
        attributes {schedule = #attn.loops_schedule} { ... }
    ...
    %w = attn.weight_ref @w : tensor<768x768xf32>
    ```

    - Requires: `attn.target` on the module; `attn-tile` has run.
    - Guarantees: each kernel has a schedule; each `attn.fused_linear` for Halide reads a packed weight; a remark
      `LoopsScheduled` for each kernel that gets a loops schedule, with the reason.
    - Rejects: a linear layer whose weight is no argument of its kernel, or has another use
      (error at the op).
    - Place: after `attn-tile`, before `attn-verify-tiled`.
  }];
  let options = [
    Option<"loops", "loops", "bool", /*default=*/"false", "Plain loops for every kernel, none for Halide.">
  ];
  let dependentDialects = ["::attn::AttnDialect", "::mlir::tensor::TensorDialect"];
}

def AttnSelectTargetsPass : Pass<"attn-select-targets", "::mlir::ModuleOp"> {
  let summary = "make a module of its own for each target";
  let description = [{
    One target: the module gets `attn.target`. Several: its contents are copied into one nested
    module a target, in the order of the option, each with all weights, dimensions, functions
    and kernels, because tile sizes, panels and schedules differ from here on.

    Before:
    ```mlir
    attn.dim @batch range(1, 8)
    ```
    After:
    ```mlir
    module attributes {attn.target = "x86-64-v3"} {
      attn.dim @batch range(1, 8)
    }
    ```
    After `attn-select-targets{targets=x86-64-v3,x86-64-v2}`:
    ```mlir
    module {
      module @x86_64_v3 attributes {attn.target = "x86-64-v3"} { ... }
      module @x86_64_v2 attributes {attn.target = "x86-64-v2"} { ... }
    }
    ```

    - Requires: nothing.
    - Guarantees: `attn.target` on each module that holds kernels. A module that has it already is
      left alone.
    - Rejects: unknown targets, the same target twice, and other targets than those that the
      module was made for (error at the module).
    - Place: first pass after `attn-verify-fused`.
  }];
  let options = [
    ListOption<"targets", "targets", "std::string", "Targets to compile for, x86-64-v3 if none is given.">
  ];
}

def AttnTilePass : Pass<"attn-tile", "::mlir::ModuleOp"> {
  let summary = "open fused attention into FlashAttention loops over tiles";
  let description = [{
    Replaces each `attn.attention` in a kernel by loops over tiles of queries and, inside,
    over tiles of keys with a running maximum, a running sum and an accumulator, so that no
    score tensor exists. What `key_ranges` proves is used: tiles outside of the ranges are never
    visited, tiles inside of a full range carry no mask, and a loop that cannot run is left out.
    The full tiles of all ranges are one loop and the partial ones another. Where tiles must be
    tested, an scf.if is around the tile; `attn.tile_any` asks the mask itself.

    Before:
    ```mlir
    module attributes {attn.target = "x86-64-v3"} {
      attn.kernel @attention_0(%q: tensor<?x?x12x32xf32>, %k: tensor<?x?x12x32xf32>, %v: tensor<?x?x12x32xf32>,
                               %c: f32) -> tensor<?x?x12x32xf32> {
        %r = attn.attention %q, %k, %v scale(%c : f32) layout(bshd)
            : tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32> -> tensor<?x?x12x32xf32>
        attn.yield %r : tensor<?x?x12x32xf32>
      }
    }
    ```
    After:
    ```mlir
    %r = scf.forall (%b, %h, %it) in (%batches, 12, %tiles) shared_outs(%out = %init) -> (tensor<?x?x12x32xf32>) {
      %i0 = affine.apply affine_map<(d0) -> (d0 * 24)>(%it)
      ...
      %full:3 = scf.for %j0 = %c0 to %full_end step %c128 iter_args(%m = %m0, %l = %l0, %o = %o0) -> (...) {
        %k_tile = attn.tile_load %k[%b, %j0, %h, %c0] dims [1, 3] rows(%c128) : ...
        %s = attn.tile_scores %q_tile, %k_tile scale(%c : f32) : ...
        %m_new = attn.tile_max %s, %m : ...
        %p = attn.tile_exp %s, %m_new scale(1.442695) : ...
      }
      %tail:3 = scf.for %j0 = %full_end to %keys step %c128 ...
      %t = attn.tile_finish %tail#2, %tail#1, %tail#0 rows(%rows) scale(1.442695) : ...
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %t into %out[%b, %i0, %h, 0] ...
      }
    }
    ```
    After `attn-tile{query-tile=8 key-tile=16}`:
    ```mlir
    %q_tile = attn.tile_load %q[%b, %i0, %h, %c0] dims [1, 3] rows(%rows) : tensor<?x?x12x32xf32> -> !attn.tile<8x32xf32>
    ...
    %k_tile = attn.tile_load %k[%b, %j0, %h, %c0] dims [1, 3] rows(%c16) : tensor<?x?x12x32xf32> -> !attn.tile<16x32xf32>
    ```
    Tile sizes come from the target (`attn/Analysis/ScheduleModel.h` has the formulas): as many
    vectors of queries as keep all registers busy, and up to 128 keys, 64 with a mask, that stay
    in the caches.

    - Requires: `attn.target` on the module.
    - Guarantees: no `attn.attention` remains in a kernel; loop bounds are `affine.apply`,
      `affine.min` and `affine.max` of sizes and loop variables, named by their locations.
    - Rejects: `key_ranges` that do not fit the mask (error at the op).
    - Place: after `attn-analyze-masks`, before `attn-schedule`.
  }];
  let options = [
    Option<"queryTile", "query-tile", "int64_t", /*default=*/"0", "Queries of a tile; 0 asks the target.">,
    Option<"keyTile", "key-tile", "int64_t", /*default=*/"0", "Keys of a tile; 0 asks the target.">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def AttnVerifyFusedPass : Pass<"attn-verify-fused", "::mlir::ModuleOp"> {
  let summary = "deny what must be gone at the fused level";
  let description = [{
    The contract between fusion and tiling. All violations are reported, each at its
    operation; nothing is changed.

    Before:
    ```mlir
    %y = attn.relu %x : tensor<?x8xf32>
    ```
    Error with `attn-verify-fused`:
    ```text
    'attn.relu' op expected only kernel calls and views of tensors in a host function (because this is the fused level),
    got an operation that computes: run attn-form-kernels
    ```

    - Requires: nothing.
    - Guarantees: in the host functions stand only kernel calls, weights, sizes, views,
      scalar arithmetic and `attn.check_ids`; no kernel holds `attn.scores`, `attn.mask`,
      `attn.bias`, `attn.mix`, `attn.split_heads`, `attn.merge_heads` or `attn.linear`.
    - Rejects: any other operation on tensors (error at the operation).
    - Place: last pass of `attn-graph-to-fused`.
  }];
}

def AttnVerifyTiledPass : Pass<"attn-verify-tiled", "::mlir::ModuleOp"> {
  let summary = "deny what must be gone at the tiled level";
  let description = [{
    The contract between tiling and code generation. All violations are reported, each at its
    operation; nothing is changed.

    Before, with panels of 24 columns and a schedule that reads 16:
    ```mlir
    module attributes {attn.target = "x86-64-v3"} {
      attn.kernel @linear_0(%x: tensor<?x768xf32>, %w: tensor<32x768x24xf32>) -> tensor<?x768xf32>
          attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 16, kc = 0, mb = 512>} {
        %y = attn.fused_linear %x, %w : tensor<?x768xf32>, tensor<32x768x24xf32> -> tensor<?x768xf32>
        attn.yield %y : tensor<?x768xf32>
      }
    }
    ```
    Error with `attn-verify-tiled`:
    ```text
    'attn.fused_linear' op expected panels of 16 columns (because of nr of the schedule), got 'tensor<32x768x24xf32>'
    ```

    - Requires: nothing.
    - Guarantees: each kernel has a known target and a schedule of its kind; vectors and register
      tiles divide the tiles that stand in the IR; weights of linear layers are packed in the
      schedule's panels; no `attn.attention` and no `attn.pack` outside
      kernels. A loops schedule suits every kernel, and no other one a kernel with tensors of f64.
    - Rejects: everything else (error at the operation).
    - Place: last pass of `attn-fused-to-tiled`.
  }];
}

#endif // ATTN_TRANSFORMS_PASSES_TD
