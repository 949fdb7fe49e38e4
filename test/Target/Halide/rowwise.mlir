// RUN: attn-opt %s --emit=stmt --target=x86-64-v3 | FileCheck %s

// The maximum of a softmax recognises -inf by its bits (0xff800000), which
// fast-math would take for a number; an exponent below -126 gives exactly 0; an
// empty row has the sum 0.

func.func @softmax(%x: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = attn.softmax %x : tensor<?x128xf32> -> tensor<?x128xf32>
  return %0 : tensor<?x128xf32>
}

// CHECK-LABEL: softmax_0__v3
// CHECK: internal func softmax_0__v3_par_for_output0_s0_r0_row_group
// CHECK-NOT: allocate {{.*}} in Heap
// CHECK: select(reinterpret<int32x8>({{.*}}) == x8(-8388608), 
// While exponentials are computed, lines of the result and of the rows after
// the two in flight are asked for.
// CHECK: prefetch(output0,
// CHECK-NEXT: prefetch(arg0, {{.*}}min({{.*}} + 3, arg0.extent.1)
// CHECK: strict_lt({{.*}}, x8(-126.000000f))
// CHECK: strict_eq
