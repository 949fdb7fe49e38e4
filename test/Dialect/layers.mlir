// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// Linear layers, norms, activations, embeddings, positions and pooling.

// CHECK-LABEL: func.func @linear
// CHECK: attn.linear %{{.*}}, %{{.*}} bias(%{{.*}}) : tensor<?x?x384xf32>, tensor<1536x384xf32>, tensor<1536xf32> -> tensor<?x?x1536xf32>
// CHECK: attn.linear %{{.*}}, %{{.*}} : tensor<384xf32>, tensor<1536x384xf32> -> tensor<1536xf32>
func.func @linear(%x: tensor<?x?x384xf32>, %row: tensor<384xf32>, %w: tensor<1536x384xf32>, %b: tensor<1536xf32>)
    -> (tensor<?x?x1536xf32>, tensor<1536xf32>) {
  %0 = attn.linear %x, %w bias(%b) : tensor<?x?x384xf32>, tensor<1536x384xf32>, tensor<1536xf32> -> tensor<?x?x1536xf32>
  %1 = attn.linear %row, %w : tensor<384xf32>, tensor<1536x384xf32> -> tensor<1536xf32>
  return %0, %1 : tensor<?x?x1536xf32>, tensor<1536xf32>
}

// Numbers keep their bits: the fewest digits that parse to them.
// CHECK-LABEL: func.func @norms
// CHECK: attn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} epsilon(1.0e-12) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
// CHECK: attn.layer_norm %{{.*}} epsilon(0.1)
// CHECK: attn.layer_norm %{{.*}} epsilon(0.1000000014901161)
// CHECK: attn.layer_norm %{{.*}} epsilon(0.0)
// CHECK: attn.layer_norm %{{.*}} epsilon(5.0e-324)
// CHECK: attn.l2_normalize %{{.*}} epsilon(1.0e-12) : tensor<?x?x384xf32>
// CHECK: attn.rms_norm %{{.*}}, %{{.*}} epsilon(1.0e-06) : tensor<?x?x384xf32>, tensor<384xf32>
func.func @norms(%x: tensor<?x?x384xf32>, %g: tensor<384xf32>) -> tensor<?x?x384xf32> {
  %0 = attn.layer_norm %x, %g, %g epsilon(1.0e-12) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
  %1 = attn.layer_norm %0, %g, %g epsilon(0.1) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
  %2 = attn.layer_norm %1, %g, %g epsilon(0.1000000014901161) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
  %3 = attn.layer_norm %2, %g, %g epsilon(0.0) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
  %4 = attn.layer_norm %3, %g, %g epsilon(4.9e-324) : tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>
  %5 = attn.l2_normalize %4 epsilon(1.0e-12) : tensor<?x?x384xf32>
  %6 = attn.rms_norm %5, %g epsilon(1.0e-6) : tensor<?x?x384xf32>, tensor<384xf32>
  return %6 : tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @activations
// CHECK: attn.gelu %{{.*}}<erf> : tensor<?x8xf32>
// CHECK: attn.gelu %{{.*}}<tanh> : f32
// CHECK: attn.relu %{{.*}} : tensor<?x8xf32>
// CHECK: attn.relu %{{.*}} : f64
func.func @activations(%x: tensor<?x8xf32>, %f: f32, %d: f64) -> (tensor<?x8xf32>, f32, f64) {
  %0 = attn.gelu %x<erf> : tensor<?x8xf32>
  %1 = attn.gelu %f<tanh> : f32
  %2 = attn.relu %0 : tensor<?x8xf32>
  %3 = attn.relu %d : f64
  return %2, %1, %3 : tensor<?x8xf32>, f32, f64
}

// CHECK-LABEL: func.func @positions
// CHECK: attn.embedding %{{.*}}, %{{.*}} : tensor<?x?xi64>, tensor<30522x384xf32> -> tensor<?x?x384xf32>
// CHECK: attn.embedding %{{.*}}, %{{.*}} : tensor<i32>, tensor<30522x384xf32> -> tensor<384xf32>
// CHECK: attn.learned_positions %{{.*}}, %{{.*}} : tensor<?x?x384xf32>, tensor<514x384xf32>
// CHECK: attn.learned_positions %{{.*}}, %{{.*}} first(2) : tensor<?x?x384xf32>, tensor<514x384xf32>
// CHECK: attn.sinusoidal %{{.*}}<interleaved> : tensor<?x?x384xf32>
// CHECK: attn.sinusoidal %{{.*}}<halves> base(500.0) : tensor<?x?x384xf32>
func.func @positions(%ids: tensor<?x?xi64>, %id: tensor<i32>, %words: tensor<30522x384xf32>, %table: tensor<514x384xf32>)
    -> (tensor<?x?x384xf32>, tensor<384xf32>) {
  %0 = attn.embedding %ids, %words : tensor<?x?xi64>, tensor<30522x384xf32> -> tensor<?x?x384xf32>
  %1 = attn.embedding %id, %words : tensor<i32>, tensor<30522x384xf32> -> tensor<384xf32>
  %2 = attn.learned_positions %0, %table : tensor<?x?x384xf32>, tensor<514x384xf32>
  %3 = attn.learned_positions %2, %table first(2) : tensor<?x?x384xf32>, tensor<514x384xf32>
  %4 = attn.sinusoidal %3<interleaved> base(10000.0) : tensor<?x?x384xf32>
  %5 = attn.sinusoidal %4<halves> base(500.0) : tensor<?x?x384xf32>
  return %5, %1 : tensor<?x?x384xf32>, tensor<384xf32>
}

// CHECK-LABEL: func.func @pool
// CHECK: attn.pool %{{.*}} mask(%{{.*}} : tensor<?x?xi64>)<mean> : tensor<?x?x384xf32> -> tensor<?x384xf32>
// CHECK: attn.pool %{{.*}}<cls> : tensor<?x?x384xf32> -> tensor<?x384xf32>
func.func @pool(%x: tensor<?x?x384xf32>, %mask: tensor<?x?xi64>) -> (tensor<?x384xf32>, tensor<?x384xf32>) {
  %0 = attn.pool %x mask(%mask : tensor<?x?xi64>)<mean> : tensor<?x?x384xf32> -> tensor<?x384xf32>
  %1 = attn.pool %x<cls> : tensor<?x?x384xf32> -> tensor<?x384xf32>
  return %0, %1 : tensor<?x384xf32>, tensor<?x384xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK: attn.pack %{{.*}} panel(24) : tensor<100x384xf32> -> tensor<5x384x24xf32>
func.func @pack(%w: tensor<100x384xf32>) -> tensor<5x384x24xf32> {
  %0 = attn.pack %w panel(24) : tensor<100x384xf32> -> tensor<5x384x24xf32>
  return %0 : tensor<5x384x24xf32>
}
