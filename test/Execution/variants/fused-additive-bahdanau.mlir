// Additive (Bahdanau) attention: score = w . tanh(q Wq + k Wk + b), keys below a length.
//
// RUN: attn-run %s --case %data/variants/additive-bahdanau.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/additive-bahdanau.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x3x4xf64> {attn.name = "q"},
    %k: tensor<2x5x6xf64> {attn.name = "k"},
    %v: tensor<2x5x4xf64> {attn.name = "v"},
    %Wq: tensor<4x8xf64> {attn.name = "Wq"},
    %Wk: tensor<6x8xf64> {attn.name = "Wk"},
    %b: tensor<8xf64> {attn.name = "b"},
    %w: tensor<8xf64> {attn.name = "w"},
    %key_lengths: tensor<2xi64> {attn.name = "key_lengths"})
    -> (tensor<2x3x4xf64> {attn.name = "o"}) {
  %init_q = tensor.empty() : tensor<8x4xf64>
  %init_k = tensor.empty() : tensor<8x6xf64>
  %wq = linalg.transpose ins(%Wq : tensor<4x8xf64>) outs(%init_q : tensor<8x4xf64>) permutation = [1, 0]
  %wk = linalg.transpose ins(%Wk : tensor<6x8xf64>) outs(%init_k : tensor<8x6xf64>) permutation = [1, 0]
  %q1 = attn.linear %q, %wq : tensor<2x3x4xf64>, tensor<8x4xf64> -> tensor<2x3x8xf64>
  %k1 = attn.linear %k, %wk bias(%b) : tensor<2x5x6xf64>, tensor<8x6xf64>, tensor<8xf64> -> tensor<2x5x8xf64>
  %qh = tensor.expand_shape %q1 [[0], [1], [2, 3]] output_shape [2, 3, 1, 8] : tensor<2x3x8xf64> into tensor<2x3x1x8xf64>
  %kh = tensor.expand_shape %k1 [[0], [1], [2, 3]] output_shape [2, 5, 1, 8] : tensor<2x5x8xf64> into tensor<2x5x1x8xf64>
  %vh = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 5, 1, 4] : tensor<2x5x4xf64> into tensor<2x5x1x4xf64>
  %scale = arith.constant 1.0 : f64
  %oh = attn.attention %qh, %kh, %vh scale(%scale : f64) capture(%w, %key_lengths : tensor<8xf64>, tensor<2xi64>) layout(bshd)
  combine {
  ^bb0(%x: f64, %y: f64, %batch: index, %h: index, %i: index, %j: index, %d: index, %w_in: tensor<8xf64>, %lengths_in: tensor<2xi64>):
    %0 = arith.addf %x, %y : f64
    %1 = math.tanh %0 : f64
    %2 = tensor.extract %w_in[%d] : tensor<8xf64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } mask {
  ^bb0(%batch: index, %h: index, %i: index, %j: index, %w_in: tensor<8xf64>, %lengths_in: tensor<2xi64>):
    %0 = tensor.extract %lengths_in[%batch] : tensor<2xi64>
    %1 = arith.index_cast %0 : i64 to index
    %visible = arith.cmpi slt, %j, %1 : index
    attn.yield %visible : i1
  } : tensor<2x3x1x8xf64>, tensor<2x5x1x8xf64>, tensor<2x5x1x4xf64> -> tensor<2x3x1x4xf64>
  %o = tensor.collapse_shape %oh [[0], [1], [2, 3]] : tensor<2x3x1x4xf64> into tensor<2x3x4xf64>
  return %o : tensor<2x3x4xf64>
}
