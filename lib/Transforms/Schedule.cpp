//===- Schedule.cpp - attn-schedule ----------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-schedule: the last decisions before code generation. Each kernel gets a
// typed schedule attribute, by the formulas of attn/Analysis/ScheduleModel.h,
// and the weights of linear layers the layout that their register tile reads:
// panels of `nr` columns. A weight that is a constant of the model is packed
// when the weights file is written; any other is packed by a kernel of its own.
//
//===----------------------------------------------------------------------===//

#include "TargetOf.h"
#include "attn/Analysis/AttentionSizes.h"
#include "attn/Analysis/GpuModel.h"
#include "attn/Analysis/Tuning.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "attn-schedule"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNSCHEDULEPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

/// The first operation of a kind in a kernel, or null.
template <typename Op> static Op findIn(KernelOp kernel) {
  Op found;
  kernel.walk([&](Op op) {
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

namespace {

/// Schedules the kernels of one module, which holds all that they refer to.
struct Scheduler {
  Scheduler(ModuleOp module, bool loops)
      : module(module), loops(loops), symbols(module) {}

  LogicalResult run();

private:
  LogicalResult schedule(KernelOp kernel);
  Attribute scheduleFlash(KernelOp kernel, const TargetInfo &target);
  /// Null if the weight of a linear layer cannot be packed.
  Attribute scheduleGpu(KernelOp kernel, const TargetInfo &target);
  FailureOr<LinearScheduleAttr>
  scheduleLinear(KernelOp kernel, FusedLinearOp op, const TargetInfo &target);

  /// Gives the kernel a packed weight argument, and its calls packed weights.
  LogicalResult packWeight(KernelOp kernel, FusedLinearOp op, int64_t panel);
  Value packOperand(CallOp call, Value weight, RankedTensorType packedType);
  FlatSymbolRefAttr packConstant(FlatSymbolRefAttr weight,
                                 RankedTensorType packedType);
  KernelOp packKernel(CallOp call, RankedTensorType type,
                      RankedTensorType packedType);

  ModuleOp module;
  /// Whether all kernels become plain loops.
  bool loops;
  SymbolTable symbols;
  /// Packed forms that exist, by weight and panel, and kernels, by types.
  llvm::MapVector<std::pair<Attribute, Type>, FlatSymbolRefAttr> packedWeights;
  llvm::MapVector<std::pair<Type, Type>, KernelOp> packKernels;
};

} // namespace

static void scheduleLoops(KernelOp kernel, StringRef reason) {
  kernel.setScheduleAttr(LoopsScheduleAttr::get(kernel.getContext()));
  remark::passed(kernel.getLoc(), remark::RemarkOpts::name("LoopsScheduled")
                                      .category(DEBUG_TYPE)
                                      .function(kernel.getName()))
      << remark::reason("{0}", reason.str());
}

LogicalResult Scheduler::run() {
  bool ok = true;
  for (KernelOp kernel : llvm::to_vector(module.getOps<KernelOp>())) {
    if (loops)
      scheduleLoops(kernel, "it was asked for");
    else if (!kernel.getScheduleAttr() && failed(schedule(kernel)))
      ok = false;
  }
  return success(ok);
}

LogicalResult Scheduler::schedule(KernelOp kernel) {
  FailureOr<const TargetInfo *> target = getTargetOf(kernel);
  if (failed(target))
    return failure();

  Attribute attribute;
  if (auto attention = findIn<AttentionOp>(kernel))
    return attention.emitOpError("expected tiled loops in a kernel that is "
                                 "scheduled, got an operation of "
                                 "the fused level: run attn-tile");
  if (kernel.hasDoubles()) {
    scheduleLoops(kernel, "Halide kernels compute in f32, and this one has "
                          "tensors of f64");
    return success();
  }
  if ((*target)->isGpu()) {
    attribute = scheduleGpu(kernel, **target);
    if (!attribute)
      return failure();
  } else if (auto linear = findIn<FusedLinearOp>(kernel)) {
    if (std::optional<MatrixBlocks> blocks =
            getMatrixBlocks(linear, **target)) {
      attribute = MatrixLinearScheduleAttr::get(
          kernel.getContext(), (*target)->f32Lanes(), blocks->nb, blocks->mb);
    } else {
      FailureOr<LinearScheduleAttr> schedule =
          scheduleLinear(kernel, linear, **target);
      if (failed(schedule))
        return failure();
      attribute = *schedule;
    }
  } else if (findIn<TileFinishOp>(kernel)) {
    attribute = scheduleFlash(kernel, **target);
  } else {
    bool isSoftmax = findIn<SoftmaxOp>(kernel) != nullptr;
    attribute =
        RowwiseScheduleAttr::get(kernel.getContext(), (*target)->f32Lanes(),
                                 chooseRowsInFlight(**target, isSoftmax));
  }
  kernel.setScheduleAttr(attribute);
  return success();
}

/// Whether the tiles that the text has are products of bf16 numbers, of whole
/// tiles of a matrix unit.
static bool fitsMatrix(KernelOp kernel) {
  auto isBrain = [](Value tile) {
    auto load = tile.getDefiningOp<TileLoadOp>();
    return load && getElementTypeOrSelf(load.getTensor().getType()).isBF16();
  };
  bool fits = true;
  kernel.walk([&](TileScoresOp op) {
    fits &= op.getCombine().empty() && isBrain(op.getQuery()) &&
            isBrain(op.getKey()) &&
            llvm::all_of(op.getResult().getType().getShape(),
                         [](int64_t size) { return size % matrixSide == 0; });
  });
  kernel.walk([&](TileMixOp op) {
    fits &= op.getValues().empty() && isBrain(op.getValue());
  });
  return fits;
}

Attribute Scheduler::scheduleFlash(KernelOp kernel, const TargetInfo &target) {
  auto finish = findIn<TileFinishOp>(kernel);
  auto scores = findIn<TileScoresOp>(kernel);
  ArrayRef<int64_t> accumulator = finish.getAccumulator().getType().getShape();
  int64_t valueSize = accumulator[1];
  int64_t headSize =
      scores ? scores.getQuery().getType().getShape()[1] : valueSize;
  // The tiles in the IR decide; unrolling follows them.
  AttentionTiles tiles =
      chooseAttentionTiles(target, {headSize, valueSize, accumulator[0],
                                    /*isMasked=*/false, fitsMatrix(kernel)});
  tiles.queries = accumulator[0];
  if (scores)
    tiles.keys = scores.getResult().getType().getShape()[1];
  bool isMasked = findIn<TileMaskOp>(kernel) != nullptr;
  tiles = getTunedUnroll(kernel, target, {headSize, valueSize, -1, isMasked},
                         tiles);
  if (scores)
    while (tiles.keyUnroll > 1 && tiles.keys % tiles.keyUnroll != 0)
      tiles.keyUnroll /= 2;
  if (tiles.isMatrix)
    return MatrixScheduleAttr::get(kernel.getContext(), target.f32Lanes(),
                                   tiles.keyUnroll, tiles.valueUnroll);
  if (tiles.isDecode)
    return DecodeScheduleAttr::get(kernel.getContext(), target.f32Lanes(),
                                   tiles.keyUnroll, tiles.valueUnroll);
  return FlashScheduleAttr::get(kernel.getContext(), target.f32Lanes(),
                                tiles.keyUnroll, tiles.valueUnroll);
}

Attribute Scheduler::scheduleGpu(KernelOp kernel, const TargetInfo &target) {
  MLIRContext *context = kernel.getContext();
  if (auto linear = findIn<FusedLinearOp>(kernel)) {
    RankedTensorType weight = linear.getWeight().getType();
    int64_t outputs = linear.getResult().getType().getDimSize(1);
    GpuLinearBlocks blocks = chooseGpuLinearBlocks(target, outputs);
    if (weight.getRank() != 3 &&
        failed(packWeight(kernel, linear, blocks.panel())))
      return {};
    return GpuLinearScheduleAttr::get(context, blocks.x, blocks.y, blocks.mr,
                                      blocks.nr, blocks.kc);
  }
  if (auto finish = findIn<TileFinishOp>(kernel)) {
    // The tiles in the IR decide; threads follow them.
    auto load = findIn<TileScoresOp>(kernel);
    ArrayRef<int64_t> accumulator =
        finish.getAccumulator().getType().getShape();
    int64_t keys = load ? load.getResult().getType().getShape()[1] : 16;
    GpuAttentionTiles tiles =
        arrangeGpuThreads(target, accumulator[0], keys, accumulator[1]);
    return GpuAttentionScheduleAttr::get(context, tiles.x, tiles.y);
  }
  return GpuRowwiseScheduleAttr::get(context, chooseGpuRowThreads(target));
}

FailureOr<LinearScheduleAttr>
Scheduler::scheduleLinear(KernelOp kernel, FusedLinearOp op,
                          const TargetInfo &target) {
  auto weightType = op.getWeight().getType();
  int64_t inputs = op.getInput().getType().getDimSize(1);
  int64_t outputs = op.getResult().getType().getDimSize(1);
  LinearBlocks blocks = getLinearBlocks(op, target, inputs, outputs);
  if (blocks.nr % target.f32Lanes() != 0)
    return op.emitOpError("expected nr of #attn.tuned_linear to be a multiple "
                          "of ")
           << target.f32Lanes() << " (because these are the f32 lanes of "
           << target.name << "), got " << blocks.nr;
  if (weightType.getRank() == 3)
    blocks.nr = weightType.getDimSize(2); // Packed before, by hand.
  else if (failed(packWeight(kernel, op, blocks.nr)))
    return failure();
  remark::passed(op.getLoc(), remark::RemarkOpts::name("LinearScheduled")
                                  .category(DEBUG_TYPE)
                                  .function(kernel.getName()))
      << remark::metric("Rows", blocks.mr)
      << remark::metric("Columns", blocks.nr)
      << remark::metric("InputBlock", blocks.kc)
      << remark::metric("RowBlock", blocks.mb);
  return LinearScheduleAttr::get(kernel.getContext(), target.f32Lanes(),
                                 blocks.mr, blocks.nr, blocks.kc, blocks.mb);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

LogicalResult Scheduler::packWeight(KernelOp kernel, FusedLinearOp op,
                                    int64_t panel) {
  auto argument = dyn_cast<BlockArgument>(op.getWeight());
  if (!argument || argument.getOwner()->getParentOp() != kernel ||
      !argument.hasOneUse())
    return op.emitOpError("expected the weight to be an argument of the kernel "
                          "with this one use (because its layout is changed), "
                          "got ")
           << op.getWeight();
  auto type = cast<RankedTensorType>(argument.getType());
  auto packedType = RankedTensorType::get(
      {int64_t(llvm::divideCeil(type.getDimSize(0), panel)), type.getDimSize(1),
       panel},
      type.getElementType());

  unsigned position = argument.getArgNumber();
  argument.setType(packedType);
  SmallVector<Type> inputs(kernel.getFunctionType().getInputs());
  inputs[position] = packedType;
  kernel.setFunctionType(FunctionType::get(
      kernel.getContext(), inputs, kernel.getFunctionType().getResults()));

  module.walk([&](CallOp call) {
    if (call.getCallee() != kernel.getName())
      return;
    OpOperand &operand = call.getInputsMutable()[position];
    Value weight = operand.get();
    operand.set(packOperand(call, weight, packedType));
    // The plain form is often not needed any more.
    if (auto ref = weight.getDefiningOp<WeightRefOp>();
        ref && weight.use_empty())
      ref.erase();
  });
  return success();
}

Value Scheduler::packOperand(CallOp call, Value weight,
                             RankedTensorType packedType) {
  OpBuilder builder(call);
  if (auto ref = weight.getDefiningOp<WeightRefOp>())
    return WeightRefOp::create(builder, ref.getLoc(), packedType,
                               packConstant(ref.getWeightAttr(), packedType));

  KernelOp kernel =
      packKernel(call, cast<RankedTensorType>(weight.getType()), packedType);
  Value init =
      tensor::EmptyOp::create(builder, call.getLoc(), packedType.getShape(),
                              packedType.getElementType());
  return CallOp::create(builder, call.getLoc(), packedType,
                        FlatSymbolRefAttr::get(kernel), weight, init)
      .getResult(0);
}

FlatSymbolRefAttr Scheduler::packConstant(FlatSymbolRefAttr weight,
                                          RankedTensorType packedType) {
  FlatSymbolRefAttr &packed = packedWeights[{weight, packedType}];
  if (packed)
    return packed;
  auto plain = symbols.lookup<WeightOp>(weight.getValue());
  int64_t panel = packedType.getDimSize(2);
  // Behind the weight that it is made from.
  OpBuilder builder(plain);
  builder.setInsertionPointAfter(plain);
  auto op = WeightOp::create(
      builder, plain.getLoc(),
      (weight.getValue() + "_panels" + Twine(panel)).str(),
      /*sym_visibility=*/StringAttr(),
      PackAttr::get(builder.getContext(), weight, panel), packedType);
  symbols.insert(op); // Makes the name unique.
  packed = FlatSymbolRefAttr::get(op);
  return packed;
}

KernelOp Scheduler::packKernel(CallOp call, RankedTensorType type,
                               RankedTensorType packedType) {
  KernelOp &kernel = packKernels[{type, packedType}];
  if (kernel)
    return kernel;
  auto callee = symbols.lookup<KernelOp>(call.getCallee());
  OpBuilder builder(callee);
  kernel = KernelOp::create(
      builder, call.getLoc(), "pack_" + std::to_string(packKernels.size() - 1),
      FunctionType::get(builder.getContext(), type, packedType),
      /*sym_visibility=*/StringAttr(), /*arg_attrs=*/ArrayAttr(),
      /*res_attrs=*/ArrayAttr(), /*schedule=*/Attribute());
  symbols.insert(kernel);
  Block &block = kernel.getBody().emplaceBlock();
  Value argument = block.addArgument(type, call.getLoc());
  builder.setInsertionPointToStart(&block);
  Value packed = PackOp::create(builder, call.getLoc(), packedType, argument,
                                packedType.getDimSize(2));
  YieldOp::create(builder, call.getLoc(), packed);
  FailureOr<const TargetInfo *> target = getTargetOf(kernel);
  Attribute schedule;
  if ((*target)->isGpu())
    schedule = GpuRowwiseScheduleAttr::get(builder.getContext(),
                                           chooseGpuRowThreads(**target));
  else
    schedule =
        RowwiseScheduleAttr::get(builder.getContext(), (*target)->f32Lanes(),
                                 chooseRowsInFlight(**target));
  kernel.setScheduleAttr(schedule);
  return kernel;
}

namespace {
struct AttnSchedulePass final
    : attn::impl::AttnSchedulePassBase<AttnSchedulePass> {
  using AttnSchedulePassBase::AttnSchedulePassBase;

  void runOnOperation() override {
    bool ok = true;
    // Each module that holds kernels has its own weights and calls.
    getOperation()->walk([&](ModuleOp module) {
      if (failed(Scheduler(module, loops).run()))
        ok = false;
    });
    if (!ok)
      signalPassFailure();
  }
};
} // namespace
