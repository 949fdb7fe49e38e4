// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a static type (because weights are laid out ahead of time), got 'tensor<?xf32>'}}
attn.weight @weight_c1_dynamic source<"a.safetensors", "a"> : tensor<?xf32>

// -----

// expected-error @+1 {{expected a type of floats or integers, got 'tensor<2xindex>'}}
attn.weight @weight_c1_element source<"a.safetensors", "a"> : tensor<2xindex>

// -----

// expected-error @+1 {{expected elements of type 'tensor<3xf32>' (because the weight has that type), got 'tensor<2xf32>'}}
attn.weight @weight_c2 value<dense<0.0> : tensor<2xf32>> : tensor<3xf32>

// -----

// expected-error @+1 {{expected names of attn.weight in the recipe, got @nowhere}}
attn.weight @weight_c3_missing concat<[@nowhere], axis = 0> : tensor<3xf32>

// -----

attn.dim @a range(1, 2)
// expected-error @+1 {{expected names of attn.weight in the recipe, got @a}}
attn.weight @weight_c3_other_symbol concat<[@a], axis = 0> : tensor<3xf32>

// -----

// expected-note @+1 {{the part is defined here}}
attn.weight @a value<dense<0.0> : tensor<2x3xf32>> : tensor<2x3xf32>
// expected-error @+1 {{expected parts that agree with 'tensor<4x4xf32>' in all but axis 0, got 'tensor<2x3xf32>' for @a}}
attn.weight @weight_c3_agree concat<[@a, @a], axis = 0> : tensor<4x4xf32>

// -----

attn.weight @a value<dense<0.0> : tensor<2x3xf32>> : tensor<2x3xf32>
// expected-error @+1 {{expected 4 in axis 0 of 'tensor<5x3xf32>' (because the parts add up to that), got 5}}
attn.weight @weight_c3_fill concat<[@a, @a], axis = 0> : tensor<5x3xf32>

// -----

attn.weight @a value<dense<0.0> : tensor<2x3xf32>> : tensor<2x3xf32>
// expected-error @+1 {{expected axis < 2 (because the weight has that rank), got 2}}
attn.weight @weight_c3_axis concat<[@a, @a], axis = 2> : tensor<4x3xf32>

// -----

attn.weight @a value<dense<0.0> : tensor<2xf32>> : tensor<2xf32>
// expected-error @+1 {{expected a weight of rank 2 to pack (because it is (N, K)), got 'tensor<2xf32>' for @a}}
attn.weight @weight_c4_rank pack<@a, panel = 24> : tensor<1x2x24xf32>

// -----

attn.weight @a value<dense<0.0> : tensor<25x3xf32>> : tensor<25x3xf32>
// expected-error @+1 {{expected type 'tensor<2x3x24xf32>' (because @a has type 'tensor<25x3xf32>' and panel is 24), got 'tensor<1x3x24xf32>'}}
attn.weight @weight_c4_panels pack<@a, panel = 24> : tensor<1x3x24xf32>

// -----

// expected-error @+1 {{expected a recipe that ends in data, got one that leads back to @weight_c5}}
attn.weight @weight_c5 concat<[@b], axis = 0> : tensor<3xf32>
attn.weight @b concat<[@weight_c5], axis = 0> : tensor<3xf32>

// -----

func.func @weight_ref_c1_name() {
  // expected-error @+1 {{expected the name of an attn.weight, got @nowhere}}
  %0 = attn.weight_ref @nowhere : tensor<2xf32>
  return
}

// -----

// expected-note @+1 {{the weight is defined here}}
attn.weight @a value<dense<0.0> : tensor<2xf32>> : tensor<2xf32>
func.func @weight_ref_c1_type() {
  // expected-error @+1 {{expected a result of type 'tensor<2xf32>' (because @a has that type), got 'tensor<3xf32>'}}
  %0 = attn.weight_ref @a : tensor<3xf32>
  return
}

// -----

// expected-error @+1 {{expected 0 <= min <= max in the range, got 5 and 4}}
attn.dim @dim_c1_order range(5, 4)

// -----

// expected-error @+1 {{expected 0 <= min <= max in the range, got -1 and 4}}
attn.dim @dim_c1_sign range(-1, 4)

// -----

// expected-error @+1 {{expected a C identifier (because generated headers use the name), got 'dim_c2.name'}}
attn.dim @dim_c2.name range(1, 4)

// -----

func.func @dim_size_c1() {
  // expected-error @+1 {{expected the name of an attn.dim, got @nowhere}}
  %0 = attn.dim_size @nowhere
  return
}

// -----

func.func @check_ids_c1(%ids: tensor<?xi64>) {
  // expected-error @+1 {{attribute 'limit' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  attn.check_ids %ids below(0) name("ids") : tensor<?xi64>
  return
}

// -----

func.func @check_ids_c2(%ids: tensor<?xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values or memref of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?xf32>'}}
  attn.check_ids %ids below(3) name("ids") : tensor<?xf32>
  return
}

// -----

func.func @check_ids_c3_both(%ids: tensor<?xi64>, %n: index) {
  // expected-error @+1 {{expected one limit, a number or a value, got both}}
  "attn.check_ids"(%ids, %n) <{limit = 3 : i64, name = "ids"}> : (tensor<?xi64>, index) -> ()
  return
}

// -----

func.func @check_ids_c3_none(%ids: tensor<?xi64>) {
  // expected-error @+1 {{expected one limit, a number or a value, got none}}
  attn.check_ids %ids below() name("ids") : tensor<?xi64>
  return
}

// -----

// expected-error @+1 {{expected a body (because a kernel is never external), got none}}
attn.kernel private @kernel_c1(tensor<2xf32>) -> tensor<2xf32>

// -----

attn.kernel @kernel_c2_type(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'attn.yield' op expected values of types ('tensor<3xf32>') (because kernel @kernel_c2_type returns those), got ('tensor<2xf32>')}}
  attn.yield %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{'attn.kernel' op expected the body to end in attn.yield}}
attn.kernel @kernel_c2_terminator(%x: tensor<2xf32>) -> tensor<2xf32> {
  llvm.unreachable
}

// -----

// expected-error @+1 {{expected a ranked tensor, an index, an integer or a float for capture 0, got 'memref<2xf32>'}}
attn.kernel @kernel_c3_argument(%x: memref<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  attn.yield %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{expected a ranked tensor for result 0, got 'f32'}}
attn.kernel @kernel_c3_result(%x: f32) -> f32 {
  attn.yield %x : f32
}

// -----

func.func @call_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected the name of an attn.kernel, got @nowhere}}
  %0 = attn.call @nowhere ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// expected-note @+1 {{the kernel is defined here}}
attn.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> {
  attn.yield %x : tensor<2xf32>
}
func.func @call_c2_count(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 1 inputs (because kernel @k has that many), got 2}}
  %0 = attn.call @k ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%x : tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// expected-note @+1 {{the kernel is defined here}}
attn.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> {
  attn.yield %x : tensor<2xf32>
}
func.func @call_c2_c3_types(%x: tensor<3xf32>) {
  // expected-error @+2 {{expected type 'tensor<2xf32>' for input 0 (because kernel @k has that type), got 'tensor<3xf32>'}}
  // expected-error @+1 {{expected type 'tensor<2xf32>' for output 0 (because kernel @k has that type), got 'tensor<3xf32>'}}
  %0 = attn.call @k ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

attn.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> {
  attn.yield %x : tensor<2xf32>
}
func.func @call_c4(%x: tensor<2xf32>, %y: memref<2xf32>) {
  // expected-error @+1 {{expected shaped operands to be all tensors or all memrefs, got both}}
  attn.call @k ins(%x : tensor<2xf32>) outs(%y : memref<2xf32>)
  return
}

// -----

attn.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> {
  attn.yield %x : tensor<2xf32>
}
func.func @call_c5(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  attn.call @k ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>)
  return
}

// -----

func.func @yield_elsewhere(%x: tensor<2xf32>) {
  // expected-error @+1 {{expects parent op to be one of 'attn.attention, attn.fused_linear, attn.kernel, attn.tile_scores, attn.tile_score, attn.tile_mask, attn.tile_any, attn.tile_mix'}}
  attn.yield %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{argument 0: expected attn.name to be a C identifier (because generated headers use it), got "present.0.key"}}
func.func @name_identifier(%x: tensor<?xf32> {attn.name = "present.0.key"}) {
  return
}

// -----

// expected-error @+1 {{argument 1: expected an attn.name of its own, got "x", which argument 0 has}}
func.func @name_twice(%x: tensor<?xf32> {attn.name = "x"}, %y: tensor<?xf32> {attn.name = "x"}) {
  return
}

// -----

attn.weight @batch value<dense<1.0> : tensor<1xf32>> : tensor<1xf32>
// expected-error @+1 {{argument 0: expected the name of an attn.dim in attn.dims, got "batch", which is the name of an operation attn.weight}}
func.func @dims_of_another_symbol(%x: tensor<?xf32> {attn.dims = ["batch"]}) {
  return
}

// -----

attn.dim @batch range(1, 8)
// expected-error @+1 {{result 0: expected 2 names in attn.dims (because 'tensor<?x2xf32>' has that many dimensions), got 1}}
func.func @dims_length(%x: tensor<?x2xf32>) -> (tensor<?x2xf32> {attn.dims = ["batch"]}) {
  return %x : tensor<?x2xf32>
}

// -----

attn.dim @batch range(1, 8)
// expected-error @+1 {{argument 0: expected size ? for dimension 0 (because it is named "batch", whose range is 1 to 8), got 4}}
func.func @dims_static(%x: tensor<4xf32> {attn.dims = ["batch"]}) {
  return
}

// -----

// expected-error @+1 {{argument 0: expected attn.dims to be a list of strings, got [1]}}
func.func @dims_kind(%x: tensor<?xf32> {attn.dims = [1]}) {
  return
}

// -----

// expected-error @+1 {{argument 0: expected attn.name or attn.dims, got "attn.size"}}
func.func @other_attribute(%x: tensor<?xf32> {attn.size = 3}) {
  return
}

// -----

// expected-error @+1 {{expected attn.target to be a string on a module, got "x86-64-v3"}}
func.func @target_on_function() attributes {attn.target = "x86-64-v3"} {
  return
}
