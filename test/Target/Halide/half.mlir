// RUN: sed s/HALF/f16/g %s > %t.f16.mlir
// RUN: sed s/HALF/bf16/g %s > %t.bf16.mlir
// RUN: attn-opt %t.f16.mlir --emit=stmt --target=x86-64-v3 | FileCheck %s
// RUN: attn-opt %t.f16.mlir --emit=asm --target=x86-64-v3 | FileCheck %s --check-prefix=F16C
// RUN: attn-opt %t.f16.mlir --emit=asm --target=x86-64-v2 | FileCheck %s --check-prefix=CALLS
// RUN: attn-opt %t.bf16.mlir --emit=asm --target=x86-64-v3 | FileCheck %s --check-prefix=CALLS
// RUN: attn-opt %t.f16.mlir --emit=asm --target=arm64 | FileCheck %s --check-prefix=CALLS

// Keys are converted for a register tile of them, values for a block of
// channels, each once; tiles without a mask or an edge convert the same way.

// CHECK-LABEL: attention_0__v3
// CHECK: produce wideKeys0
// CHECK: produce scores0
// CHECK: produce wideValues0
// CHECK: produce mix0
// CHECK: produce wideKeys1
// CHECK: produce wideValues1

// One instruction for vectors where the CPU has it, and never a call.
// F16C-LABEL: attention_0__v3
// F16C-DAG: vcvtph2ps {{.*}}, %ymm
// F16C-DAG: vcvtps2ph
// F16C-NOT: call{{.*}}__extend
// F16C-NOT: call{{.*}}__trunc
// CALLS-NOT: __extend
// CALLS-NOT: __trunc
// CALLS-NOT: __gnu

func.func @main(%q: tensor<?x?x2x16xHALF>, %k: tensor<?x?x2x16xHALF>, %v: tensor<?x?x2x16xHALF>) -> tensor<?x?x2x16xHALF> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x2x16xHALF>, tensor<?x?x2x16xHALF> -> tensor<?x2x?x?xHALF>
  %m = attn.mask %s by causal<top_left> : tensor<?x2x?x?xHALF>
  %p = attn.softmax %m : tensor<?x2x?x?xHALF> -> tensor<?x2x?x?xHALF>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x2x?x?xHALF>, tensor<?x?x2x16xHALF> -> tensor<?x?x2x16xHALF>
  return %o : tensor<?x?x2x16xHALF>
}
