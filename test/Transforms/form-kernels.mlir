// RUN: attn-opt %s --split-input-file --attn-form-kernels --attn-verify-fused | FileCheck %s

// An attention with its scale; the size that the mask reads is the key's own.
// CHECK-LABEL: attn.kernel @attention_0(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x1x2xf32>, %[[K:.*]]: tensor<?x?x1x2xf32>, %[[V:.*]]: tensor<?x?x1x2xf32>) -> tensor<?x?x1x2xf32>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[K]], %{{.*}} : tensor<?x?x1x2xf32>
// CHECK: attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[SCALE]] : f32) capture(%[[M]] : index)
// CHECK: attn.yield
// CHECK-LABEL: func.func @attention
// CHECK: %[[B:.*]] = attn.dim_size @b
// CHECK: %[[N:.*]] = attn.dim_size @n
// CHECK: %[[INIT:.*]] = tensor.empty(%[[B]], %[[N]]) : tensor<?x?x1x2xf32>
// CHECK: %[[R:.*]] = attn.call @attention_0 ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%[[INIT]] : tensor<?x?x1x2xf32>) -> tensor<?x?x1x2xf32>
// CHECK-NEXT: return %[[R]]
attn.dim @b range(1, 8)
attn.dim @n range(1, 8)
attn.dim @m range(1, 8)
func.func @attention(%q: tensor<?x?x1x2xf32> {attn.dims = ["b", "n", "", ""], attn.name = "q"},
                     %k: tensor<?x?x1x2xf32> {attn.dims = ["b", "m", "", ""], attn.name = "k"}) -> tensor<?x?x1x2xf32> {
  %c1 = arith.constant 1 : index
  %scale = arith.constant 0.5 : f32
  %m = tensor.dim %k, %c1 : tensor<?x?x1x2xf32>
  %o = attn.attention %q, %k, %k scale(%scale : f32) capture(%m : index) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %size: index):
    %v = arith.cmpi slt, %j, %size : index
    attn.yield %v : i1
  } : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

// -----

// Layers that differ in weights, and in which operands are the same tensor,
// share a kernel: arguments are positional.
// CHECK: attn.kernel @linear_0
// CHECK-NOT: attn.kernel
// CHECK-LABEL: func.func @residual_is_the_input_or_not(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>, %[[V:[^:]*]]: tensor<8x8xf32>)
// CHECK: %[[A:.*]] = attn.call @linear_0 ins(%[[X]], %[[W]], %[[X]] :
// CHECK: attn.call @linear_0 ins(%[[A]], %[[V]], %[[X]] :
func.func @residual_is_the_input_or_not(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %0 = attn.fused_linear %x, %w capture(%x : tensor<6x8xf32>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %r: tensor<6x8xf32>):
    %e = tensor.extract %r[%m, %n] : tensor<6x8xf32>
    %s = arith.addf %acc, %e : f32
    attn.yield %s : f32
  } : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %1 = attn.fused_linear %0, %v capture(%x : tensor<6x8xf32>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %r: tensor<6x8xf32>):
    %e = tensor.extract %r[%m, %n] : tensor<6x8xf32>
    %s = arith.addf %acc, %e : f32
    attn.yield %s : f32
  } : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// Other epilogues, types or norms are other kernels, numbered by kind.
// CHECK-DAG: attn.kernel @linear_0(%{{.*}}: tensor<6x8xf32>
// CHECK-DAG: attn.kernel @linear_1(%{{.*}}: tensor<7x8xf32>
// CHECK-DAG: attn.kernel @linear_norm_0(
// CHECK-LABEL: func.func @different_kernels
// CHECK: attn.call @linear_0
// CHECK: attn.call @linear_1
// CHECK: attn.call @linear_norm_0
// CHECK: attn.call @linear_0
func.func @different_kernels(%x: tensor<6x8xf32>, %y: tensor<7x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>)
    -> (tensor<6x8xf32>, tensor<7x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  %0 = attn.fused_linear %x, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %1 = attn.fused_linear %y, %w : tensor<7x8xf32>, tensor<8x8xf32> -> tensor<7x8xf32>
  %2 = attn.fused_linear %x, %w layer_norm(%g, %g : tensor<8xf32>, tensor<8xf32>) epsilon(1.0e-5) : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %3 = attn.fused_linear %2, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  return %0, %1, %2, %3 : tensor<6x8xf32>, tensor<7x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// Embeddings, their sum and the norm visit each row once; ids are checked first,
// each pair of ids and table once.
// CHECK-LABEL: attn.kernel @embed_norm_0
// CHECK-NEXT: attn.embedding
// CHECK-NEXT: attn.embedding
// CHECK-NEXT: arith.addf
// CHECK-NEXT: attn.layer_norm
// CHECK-NEXT: attn.yield
// CHECK-LABEL: func.func @embed
// CHECK: attn.check_ids %[[IDS:.*]] below(100) name("input_ids") : tensor<2x3xi64>
// CHECK-NEXT: attn.check_ids %[[TYPES:.*]] below(2) name("types") : tensor<2x3xi64>
// CHECK-NOT: attn.check_ids
// CHECK: attn.call @embed_norm_0 ins(%[[IDS]], %{{.*}}, %[[TYPES]], %{{.*}} :
// CHECK: attn.call @embed_0 ins(%[[IDS]],
func.func @embed(%ids: tensor<2x3xi64> {attn.dims = ["", ""], attn.name = "input_ids"}, %types: tensor<2x3xi64> {attn.dims = ["", ""], attn.name = "types"},
    %words: tensor<100x8xf32>, %kinds: tensor<2x8xf32>, %g: tensor<8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0 = attn.embedding %ids, %words : tensor<2x3xi64>, tensor<100x8xf32> -> tensor<2x3x8xf32>
  %1 = attn.embedding %types, %kinds : tensor<2x3xi64>, tensor<2x8xf32> -> tensor<2x3x8xf32>
  %2 = arith.addf %0, %1 : tensor<2x3x8xf32>
  %3 = attn.layer_norm %2, %g, %g epsilon(1.0e-5) : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %4 = attn.embedding %ids, %words : tensor<2x3xi64>, tensor<100x8xf32> -> tensor<2x3x8xf32>
  return %3, %4 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// A pool reads all rows of a sequence: what is in front of it is another kernel,
// what is behind it is not.
// CHECK-LABEL: attn.kernel @norm_0
// CHECK-NEXT: attn.layer_norm
// CHECK-NEXT: attn.yield
// CHECK-LABEL: attn.kernel @pool_0
// CHECK-NEXT: attn.pool
// CHECK-NEXT: attn.l2_normalize
// CHECK-NEXT: attn.yield
func.func @pool(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  %0 = attn.layer_norm %x, %g, %g epsilon(1.0e-5) : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
  %1 = attn.pool %0<mean> : tensor<2x3x8xf32> -> tensor<2x8xf32>
  %2 = attn.l2_normalize %1 epsilon(1.0e-12) : tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// -----

// A value in the middle that others use is a second result.
// CHECK-LABEL: attn.kernel @norm_0(
// CHECK-SAME: -> (tensor<6x8xf32>, tensor<6x8xf32>)
// CHECK: %[[S:.*]] = arith.addf
// CHECK: %[[N:.*]] = attn.layer_norm %[[S]]
// CHECK: attn.yield %[[S]], %[[N]]
// CHECK-LABEL: func.func @two_results
// CHECK-COUNT-2: tensor.empty
// CHECK: %[[R:.*]]:2 = attn.call @norm_0
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two_results(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>, %g: tensor<8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %0 = arith.addf %x, %y : tensor<6x8xf32>
  %1 = attn.layer_norm %0, %g, %g epsilon(1.0e-5) : tensor<6x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %0, %1 : tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// Two row-wise operations with something between them that needs the first are
// not one kernel.
// CHECK-LABEL: func.func @cannot_be_one
// CHECK: attn.call @rowwise_0
// CHECK: attn.call @linear_0
// CHECK: attn.call @rowwise_1
func.func @cannot_be_one(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = attn.relu %x : tensor<8x8xf32>
  %1 = attn.fused_linear %0, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = arith.addf %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// Rows of the table are no rows of the result, though the types agree.
// CHECK-LABEL: func.func @table_is_computed
// CHECK: attn.call @rowwise_0
// CHECK: attn.call @embed_0
func.func @table_is_computed(%ids: tensor<8xi64>, %table: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = attn.relu %table : tensor<8x8xf32>
  %1 = attn.embedding %ids, %0 : tensor<8xi64>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// A constant of one value is repeated in the kernel, any other becomes a weight.
// CHECK: attn.weight @constant_0 value<dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>> : tensor<2xf32>
// CHECK-LABEL: attn.kernel @rowwise_0(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xf32>)
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<2xf32>
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %[[HALF]]
// CHECK: arith.addf %[[S]], %[[C]]
// CHECK-LABEL: func.func @constants
// CHECK-NOT: arith.constant
// CHECK: %[[REF:.*]] = attn.weight_ref @constant_0
// CHECK: attn.call @rowwise_0 ins(%{{.*}}, %[[REF]] :
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  %half = arith.constant dense<0.5> : tensor<2xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = arith.mulf %x, %half : tensor<2xf32>
  %1 = arith.addf %0, %c : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A linalg operation brings its initial value; what its region uses from outside
// is an argument, or repeated.
// CHECK-LABEL: attn.kernel @generic_0(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[T:.*]]: tensor<8xf32>, %[[S:.*]]: f32) -> tensor<4xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]] : tensor<4xf32>)
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4x8xf32>) outs(%[[F]] : tensor<4xf32>)
// CHECK: tensor.extract %[[T]]
// CHECK: arith.mulf %{{.*}}, %[[S]]
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
// CHECK-LABEL: func.func @generic(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[T:[^:]*]]: tensor<8xf32>, %[[S:[^:]*]]: f32)
// CHECK-NOT: linalg
// CHECK: attn.call @generic_0 ins(%[[X]], %[[T]], %[[S]] : tensor<4x8xf32>, tensor<8xf32>, f32)
func.func @generic(%x: tensor<4x8xf32>, %t: tensor<8xf32>, %s: f32) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = linalg.index 1 : index
    %0 = tensor.extract %t[%n] : tensor<8xf32>
    %1 = arith.mulf %in, %0 : f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.mulf %2, %two : f32
    %4 = arith.addf %out, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Destinations are never shared, sizes and weights are.
// CHECK-LABEL: func.func @one_value_a_size
// CHECK-COUNT-1: attn.weight_ref @w
// CHECK-COUNT-1: attn.dim_size @n
// CHECK: %[[A:.*]] = tensor.empty
// CHECK: outs(%[[A]]
// CHECK: %[[B:.*]] = tensor.empty
// CHECK: outs(%[[B]]
attn.dim @n range(1, 8)
attn.weight @w source<"m.safetensors", "w"> : tensor<8x8xf32>
func.func @one_value_a_size(%x: tensor<?x8xf32> {attn.dims = ["n", ""], attn.name = "x"}) -> tensor<?x8xf32> {
  %w0 = attn.weight_ref @w : tensor<8x8xf32>
  %w1 = attn.weight_ref @w : tensor<8x8xf32>
  %0 = attn.fused_linear %x, %w0 : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = attn.fused_linear %0, %w1 : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// Kernels that are there already are used again.
// CHECK: attn.kernel @relu
// CHECK-NOT: attn.kernel
// CHECK-LABEL: func.func @equal_kernel_exists
// CHECK: attn.call @relu
attn.kernel @relu(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = attn.relu %x : tensor<6x8xf32>
  attn.yield %0 : tensor<6x8xf32>
}
func.func @equal_kernel_exists(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = attn.relu %x : tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
