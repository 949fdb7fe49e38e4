// RUN: attn-run %s --random --dim b=2 --dim n=3 --dim m=2 --reference
// RUN: attn-run %s --random --dim b=1 --dim n=50 --dim m=300 --seed=2 --reference
// RUN: attn-run %s --random --dim b=2 --dim n=29 --dim m=385 --seed=3 --reference

// Keys that are hidden from the front: the first visible key lies inside a
// tile, at its edge, behind it, or where each row of the batch says. A tile that
// is cut is masked, whether the bound is the same for all queries or not.

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @first_keys(%q: tensor<?x2x?x8xf32> {attn.name = "q", attn.dims = ["b", "", "n", ""]},
                      %k: tensor<?x2x?x8xf32> {attn.name = "k", attn.dims = ["b", "", "m", ""]},
                      %first: tensor<?xi64> {attn.name = "first", attn.dims = ["b"]})
    -> (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) {
  %c = arith.constant 0.35 : f32
  %from_1 = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %bound = arith.constant 1 : index
    %visible = arith.cmpi uge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %from_5 = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %bound = arith.constant 5 : index
    %visible = arith.cmpi uge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %from_64 = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %bound = arith.constant 64 : index
    %visible = arith.cmpi uge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %from_128 = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %bound = arith.constant 128 : index
    %visible = arith.cmpi uge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %from_129 = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %bound = arith.constant 129 : index
    %visible = arith.cmpi uge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %from_256 = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %bound = arith.constant 256 : index
    %visible = arith.cmpi uge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %from_batch = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %loaded = tensor.extract %f[%b] : tensor<?xi64>
    %bound = arith.index_cast %loaded : i64 to index
    %visible = arith.cmpi sge, %j, %bound : index
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %between = attn.attention %q, %k, %k scale(%c : f32) capture(%first : tensor<?xi64>) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: tensor<?xi64>):
    %low = arith.constant 7 : index
    %high = arith.constant 200 : index
    %above = arith.cmpi uge, %j, %low : index
    %below = arith.cmpi ult, %j, %high : index
    %visible = arith.andi %above, %below : i1
    attn.yield %visible : i1
  } : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  return %from_1, %from_5, %from_64, %from_128, %from_129, %from_256, %from_batch, %between
      : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>
}
