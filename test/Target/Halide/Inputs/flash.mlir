#map = affine_map<(d0) -> (d0 ceildiv 24)>
#map1 = affine_map<(d0) -> (d0 * 24)>
#map2 = affine_map<(d0, d1) -> (-d0 + d1, 24)>
#map3 = affine_map<(d0) -> ((d0 floordiv 128) * 128)>
#map4 = affine_map<(d0, d1) -> (-d0 + d1, 128)>
// Tiled attention of one head, as attn-opt --emit=tiled writes it;
// flash-errors.py breaks it in many ways.
module attributes {attn.target = "x86-64-v3"} {
  attn.dim @batch range(1, 64)
  attn.dim @sequence range(1, 4096)
  attn.kernel @attention_0(%arg0: tensor<?x?x1x2xf32>, %arg1: tensor<?x?x1x2xf32>, %arg2: tensor<?x?x1x2xf32>) -> tensor<?x?x1x2xf32> attributes {schedule = #attn.flash_schedule<vector = 8, key_unroll = 4, value_unroll = 4>} {
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.707106769 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x?x1x2xf32>
    %dim_0 = tensor.dim %arg0, %c1 : tensor<?x?x1x2xf32>
    %dim_1 = tensor.dim %arg1, %c1 : tensor<?x?x1x2xf32>
    %0 = affine.apply #map(%dim_0)
    %1 = tensor.empty(%dim, %dim_0) : tensor<?x?x1x2xf32>
    %2 = scf.forall (%b, %h, %it) in (%dim, 1, %0) shared_outs(%out = %1) -> (tensor<?x?x1x2xf32>) {
      %3 = affine.apply #map1(%it)
      %4 = affine.min #map2(%3, %dim_0)
      %5 = attn.tile_load %arg0[%b, %3, %h, %c0] dims [1, 3] rows(%4) : tensor<?x?x1x2xf32> -> !attn.tile<24x2xf32>
      %6 = attn.tile_fill 0xFF800000 : !attn.tile<24xf32>
      %7 = attn.tile_fill 0.0 : !attn.tile<24xf32>
      %8 = attn.tile_fill 0.0 : !attn.tile<24x2xf32>
      %9 = affine.apply #map3(%dim_1)
      %10:3 = scf.for %j = %c0 to %9 step %c128 iter_args(%m = %6, %l = %7, %acc = %8) -> (!attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>) {
        %12 = attn.tile_load %arg1[%b, %j, %h, %c0] dims [1, 3] rows(%c128) : tensor<?x?x1x2xf32> -> !attn.tile<128x2xf32>
        %13 = attn.tile_scores %5, %12 scale(%cst : f32) : !attn.tile<24x2xf32>, !attn.tile<128x2xf32> -> !attn.tile<24x128xf32>
        %14 = attn.tile_max %13, %m : !attn.tile<24x128xf32>, !attn.tile<24xf32>
        %15 = attn.tile_exp %13, %14 scale(1.442695) : !attn.tile<24x128xf32>, !attn.tile<24xf32>
        %16 = attn.tile_rescale %l from %m to %14 scale(1.442695) : !attn.tile<24xf32>, !attn.tile<24xf32>
        %17 = attn.tile_sum %15, %16 : !attn.tile<24x128xf32>, !attn.tile<24xf32>
        %18 = attn.tile_rescale %acc from %m to %14 scale(1.442695) : !attn.tile<24x2xf32>, !attn.tile<24xf32>
        %19 = attn.tile_load %arg2[%b, %j, %h, %c0] dims [1, 3] rows(%c128) : tensor<?x?x1x2xf32> -> !attn.tile<128x2xf32>
        %20 = attn.tile_mix %15, %19, %18 : !attn.tile<24x128xf32>, !attn.tile<128x2xf32>, !attn.tile<24x2xf32>
        scf.yield %14, %17, %20 : !attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>
      }
      %11:3 = scf.for %j = %9 to %dim_1 step %c128 iter_args(%m = %10#0, %l = %10#1, %acc = %10#2) -> (!attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>) {
        %12 = affine.min #map4(%j, %dim_1)
        %13 = attn.tile_load %arg1[%b, %j, %h, %c0] dims [1, 3] rows(%12) : tensor<?x?x1x2xf32> -> !attn.tile<128x2xf32>
        %14 = attn.tile_scores %5, %13 scale(%cst : f32) : !attn.tile<24x2xf32>, !attn.tile<128x2xf32> -> !attn.tile<24x128xf32>
        %15 = attn.tile_max %14, %m : !attn.tile<24x128xf32>, !attn.tile<24xf32>
        %16 = attn.tile_exp %14, %15 scale(1.442695) : !attn.tile<24x128xf32>, !attn.tile<24xf32>
        %17 = attn.tile_rescale %l from %m to %15 scale(1.442695) : !attn.tile<24xf32>, !attn.tile<24xf32>
        %18 = attn.tile_sum %16, %17 : !attn.tile<24x128xf32>, !attn.tile<24xf32>
        %19 = attn.tile_rescale %acc from %m to %15 scale(1.442695) : !attn.tile<24x2xf32>, !attn.tile<24xf32>
        %20 = attn.tile_load %arg2[%b, %j, %h, %c0] dims [1, 3] rows(%12) : tensor<?x?x1x2xf32> -> !attn.tile<128x2xf32>
        %21 = attn.tile_mix %16, %20, %19 : !attn.tile<24x128xf32>, !attn.tile<128x2xf32>, !attn.tile<24x2xf32>
        scf.yield %15, %18, %21 : !attn.tile<24xf32>, !attn.tile<24xf32>, !attn.tile<24x2xf32>
      }
      %result = attn.tile_finish %11#2, %11#1, %11#0 rows(%4) scale(1.442695) : !attn.tile<24x2xf32>, !attn.tile<24xf32> -> tensor<?x2xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %result into %out[%b, %3, %h, 0] [1, %4, 1, 2] [1, 1, 1, 1] : tensor<?x2xf32> into tensor<?x?x1x2xf32>
      }
    }
    attn.yield %2 : tensor<?x?x1x2xf32>
  }
  func.func @attention(%arg0: tensor<?x?x1x2xf32> {attn.dims = ["batch", "sequence", "", ""], attn.name = "query"}, %arg1: tensor<?x?x1x2xf32> {attn.dims = ["batch", "sequence", "", ""], attn.name = "key"}, %arg2: tensor<?x?x1x2xf32> {attn.dims = ["batch", "sequence", "", ""], attn.name = "value"}) -> (tensor<?x?x1x2xf32> {attn.dims = ["batch", "sequence", "", ""], attn.name = "output"}) {
    %0 = attn.dim_size @batch
    %1 = attn.dim_size @sequence
    %2 = tensor.empty(%0, %1) : tensor<?x?x1x2xf32>
    %3 = attn.call @attention_0 ins(%arg0, %arg1, %arg2 : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>) outs(%2 : tensor<?x?x1x2xf32>) -> tensor<?x?x1x2xf32>
    return %3 : tensor<?x?x1x2xf32>
  }
}

