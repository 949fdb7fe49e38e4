// RUN: attn-opt %s --attn-name-dims='dims=batch=2..3,sequence=7,batch=1..9' | FileCheck %s
// RUN: not attn-opt %s --attn-name-dims='dims=bach=2,sequence=7..6,sequence,n=-1..2,n=1..2147483648,batch=1..2..3' 2>&1 | FileCheck %s --check-prefix=WRONG

// The last range of a name counts; other dimensions keep theirs.
// CHECK-DAG: attn.dim @batch range(1, 9)
// CHECK-DAG: attn.dim @sequence range(7, 7)

// All problems at once.
// WRONG: error: expected the name of a dimension (batch, sequence), got 'bach' in 'bach=2'
// WRONG: error: expected a range like batch=1..8 or batch=4 with sizes from 0 to 2147483647, got 'sequence=7..6'
// WRONG: error: expected a range like batch=1..8 or batch=4 with sizes from 0 to 2147483647, got 'sequence'
// WRONG: error: expected a range like batch=1..8 or batch=4 with sizes from 0 to 2147483647, got 'n=-1..2'
// WRONG: error: expected a range like batch=1..8 or batch=4 with sizes from 0 to 2147483647, got 'n=1..2147483648'
// WRONG: error: expected a range like batch=1..8 or batch=4 with sizes from 0 to 2147483647, got 'batch=1..2..3'

attn.dim @batch range(1, 4)
attn.dim @sequence range(1, 4)
func.func @f(%x: tensor<?x?xf32> {attn.dims = ["batch", "sequence"]}) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}
