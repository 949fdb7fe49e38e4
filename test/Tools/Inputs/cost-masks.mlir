// A window, a window and 16 keys that all see, and documents with a causal mask.
attn.dim @n range(1, 4096)
func.func @masks(%q: tensor<1x?x2x64xf32> {attn.name = "q", attn.dims = ["", "n", "", ""]},
                 %k: tensor<1x?x2x64xf32> {attn.name = "k", attn.dims = ["", "n", "", ""]},
                 %ids: tensor<1x?xi64> {attn.name = "ids", attn.dims = ["", "n"]})
    -> (tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>) {
  %c = arith.constant 0.125 : f32
  %near = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %width = arith.constant 64 : index
    %apart = arith.subi %i, %j : index
    %distance = math.absi %apart : index
    %visible = arith.cmpi sle, %distance, %width : index
    attn.yield %visible : i1
  } : tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32> -> tensor<1x?x2x64xf32>
  %longformer = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %width = arith.constant 64 : index
    %global = arith.constant 16 : index
    %apart = arith.subi %i, %j : index
    %distance = math.absi %apart : index
    %inside = arith.cmpi sle, %distance, %width : index
    %first = arith.cmpi slt, %j, %global : index
    %visible = arith.ori %inside, %first : i1
    attn.yield %visible : i1
  } : tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32> -> tensor<1x?x2x64xf32>
  %documents = attn.attention %q, %k, %k scale(%c : f32) capture(%ids : tensor<1x?xi64>) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %id: tensor<1x?xi64>):
    %query = tensor.extract %id[%b, %i] : tensor<1x?xi64>
    %key = tensor.extract %id[%b, %j] : tensor<1x?xi64>
    %same = arith.cmpi eq, %query, %key : i64
    %before = arith.cmpi sle, %j, %i : index
    %visible = arith.andi %same, %before : i1
    attn.yield %visible : i1
  } : tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32> -> tensor<1x?x2x64xf32>
  return %near, %longformer, %documents : tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32>
}
