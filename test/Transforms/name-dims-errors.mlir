// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-name-dims

attn.dim @a range(1, 8)
attn.dim @b range(1, 8)
func.func @two_names(%x: tensor<?xf32> {attn.dims = ["a"]}, %y: tensor<?xf32> {attn.dims = ["b"]}) -> tensor<?xf32> {
  // expected-error @+1 {{expected sizes 'a' and 'b' to have one name (because this operation forces them to be equal), got two: use one name in attn.dims}}
  %0 = arith.addf %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

attn.dim @a range(1, 8)
attn.dim @b range(1, 8)
// expected-error @+1 {{expected dimension 0 of result 'result0' to be called 'a' (because the operations of the function force the two sizes to be equal), got 'b'}}
func.func @result_of_another_name(%x: tensor<?xf32> {attn.dims = ["a"]}) -> (tensor<?xf32> {attn.dims = ["b"]}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{expected dimension 0 of result 'result0' to be the size of an argument's dimension (because the caller allocates the results), got a size that only the model computes}}
func.func @size_is_a_product(%x: tensor<?x?x4xf32>) -> tensor<?x4xf32> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// expected-note @+1 {{the other one is here}}
func.func @first(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
// expected-error @+1 {{expected one public function, the entry of the model, got 'first' and 'second': make the others private}}
func.func @second(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{expected 'sequence' to be at most 512 (because the tensor that is read there has no more), got a range of 1..1024}}
attn.dim @sequence range(1, 1024)
func.func @beyond_the_table(%x: tensor<1x?x8xf32> {attn.dims = ["", "sequence", ""]},
    %table: tensor<512x8xf32>) -> tensor<1x?x8xf32> {
  // expected-note @+1 {{it is read here}}
  %0 = attn.learned_positions %x, %table : tensor<1x?x8xf32>, tensor<512x8xf32>
  return %0 : tensor<1x?x8xf32>
}

// -----

// expected-error @+1 {{expected the range of 'n' to include 4 (because an operation forces it to be equal to a dimension of that size), got 1..3}}
attn.dim @n range(1, 3)
func.func @range_without_the_static_size(%x: tensor<?xf32> {attn.dims = ["n"]}, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected the entry to be one block (because a compiled model has no branches), got 2}}
func.func @branches(%x: tensor<?xf32>) -> tensor<?xf32> {
  cf.br ^next
^next:
  return %x : tensor<?xf32>
}
