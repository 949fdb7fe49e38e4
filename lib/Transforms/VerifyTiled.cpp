//===- VerifyTiled.cpp - attn-verify-tiled ---------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-verify-tiled: the contract between tiling and code generation. Code
// generation decides nothing: what it needs to know must stand in the IR, also
// after a user has edited it. Every violation is reported before it fails.
//
//===----------------------------------------------------------------------===//

#include "TargetOf.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "attn-verify-tiled"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYTILEDPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {
struct AttnVerifyTiledPass final
    : attn::impl::AttnVerifyTiledPassBase<AttnVerifyTiledPass> {
  using AttnVerifyTiledPassBase::AttnVerifyTiledPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) { verify(kernel); });
    getOperation()->walk([&](func::FuncOp func) { verify(func); });
    if (!ok)
      signalPassFailure();
  }

private:
  void reject(LogicalResult result) { ok &= succeeded(result); }

  /// Verifies that a host function packs nothing itself.
  void verify(func::FuncOp func) {
    func.walk([&](PackOp op) {
      reject(
          op.emitOpError("expected packing in a kernel or in the recipe of a "
                         "weight, got it in a host function: run "
                         "attn-schedule"));
    });
  }

  /// Verifies that a kernel
  /// - is made for a known target,
  /// - holds no attention that is not tiled, and
  /// - has a schedule of its kind and of its element type, which fits its
  ///   tiles and panels.
  void verify(KernelOp kernel) {
    if (failed(getTargetOf(kernel)))
      ok = false;
    bool tiled = false;
    FusedLinearOp linear;
    kernel.walk([&](Operation *op) {
      if (isa<AttentionOp>(op))
        reject(op->emitOpError("expected tiled loops, got an operation of the "
                               "fused level: run attn-tile"));
      tiled |= isa<TileFinishOp>(op);
      if (auto found = dyn_cast<FusedLinearOp>(op))
        linear = found;
    });

    Attribute schedule = kernel.getScheduleAttr();
    if (!schedule)
      return reject(kernel.emitOpError(
          "expected a schedule (because code generation chooses nothing), got "
          "none: run attn-schedule"));
    if (kernel.isLoopKernel())
      return;
    if (kernel.hasDoubles())
      return reject(kernel.emitOpError()
                    << "expected #attn.loops_schedule (because the kernel has "
                       "tensors of f64, and Halide kernels compute in f32), "
                       "got "
                    << schedule);
    if (isGpu(kernel))
      return verifyGpu(kernel, linear, tiled);
    StringRef expected = linear ? "#attn.linear_schedule or "
                                  "#attn.matrix_linear_schedule"
                         : tiled
                             ? "#attn.flash_schedule, #attn.decode_schedule or "
                               "#attn.matrix_schedule"
                             : "#attn.rowwise_schedule";
    bool fits =
        linear ? isa<LinearScheduleAttr, MatrixLinearScheduleAttr>(schedule)
        : tiled
            ? isa<FlashScheduleAttr, DecodeScheduleAttr, MatrixScheduleAttr>(
                  schedule)
            : isa<RowwiseScheduleAttr>(schedule);
    if (!fits)
      return reject(kernel.emitOpError()
                    << "expected " << expected
                    << " (because of what the kernel computes), got "
                    << schedule);
    if (auto blocks = dyn_cast<LinearScheduleAttr>(schedule))
      verifyLinear(linear, blocks);
    if (auto flash = dyn_cast<FlashScheduleAttr>(schedule)) {
      verifyLanes(kernel, flash.getVector());
      verifyKeys(kernel, flash.getKeyUnroll());
    } else if (auto decode = dyn_cast<DecodeScheduleAttr>(schedule)) {
      verifyKeys(kernel, decode.getKeyUnroll());
    } else if (auto matrix = dyn_cast<MatrixScheduleAttr>(schedule)) {
      verifyLanes(kernel, matrix.getVector());
      verifyKeys(kernel, matrix.getKeyUnroll());
    }
  }

  /// Whether the kernel is for a device.
  static bool isGpu(KernelOp kernel) {
    FailureOr<const TargetInfo *> target = getTargetOf(kernel);
    return succeeded(target) && (*target)->isGpu();
  }

  void verifyGpu(KernelOp kernel, FusedLinearOp linear, bool tiled) {
    Attribute schedule = kernel.getScheduleAttr();
    StringRef expected = linear  ? "#attn.gpu_linear_schedule"
                         : tiled ? "#attn.gpu_attention_schedule"
                                 : "#attn.gpu_rowwise_schedule";
    bool fits = linear  ? isa<GpuLinearScheduleAttr>(schedule)
                : tiled ? isa<GpuAttentionScheduleAttr>(schedule)
                        : isa<GpuRowwiseScheduleAttr>(schedule);
    if (!fits)
      reject(kernel.emitOpError()
             << "expected " << expected
             << " (because of what the kernel computes on a device), got "
             << schedule);
  }

  /// Verifies that panels are what the register tile reads, that vectors fill
  /// it, and that blocks hold whole register tiles.
  void verifyLinear(FusedLinearOp op, LinearScheduleAttr schedule) {
    RankedTensorType weight = op.getWeight().getType();
    if (weight.getRank() != 3)
      return reject(op.emitOpError()
                    << "expected a packed weight (P, K, " << schedule.getNr()
                    << "), got " << weight << ": run attn-schedule");
    if (weight.getDimSize(2) != schedule.getNr())
      reject(op.emitOpError()
             << "expected panels of " << schedule.getNr()
             << " columns (because of nr of the schedule), got " << weight);
    if (schedule.getNr() % schedule.getVector() != 0)
      reject(op.emitOpError()
             << "expected nr to be a multiple of vector = "
             << schedule.getVector() << ", got " << schedule.getNr());
    if (schedule.getMb() % schedule.getMr() != 0)
      reject(op.emitOpError()
             << "expected mb to be a multiple of mr = " << schedule.getMr()
             << ", got " << schedule.getMb());
  }

  /// Verifies that vectors divide the queries of a tile.
  void verifyLanes(KernelOp kernel, int64_t vector) {
    kernel.walk([&](TileScoresOp op) {
      if (op.getResult().getType().getShape()[0] % vector != 0)
        reject(op.emitOpError()
               << "expected a number of queries that is a "
                  "multiple of vector = "
               << vector << " (because queries are the lanes), got "
               << op.getResult().getType());
    });
  }

  /// Verifies that register tiles divide the keys of a tile.
  void verifyKeys(KernelOp kernel, int64_t keyUnroll) {
    kernel.walk([&](TileScoresOp op) {
      if (op.getResult().getType().getShape()[1] % keyUnroll != 0)
        reject(
            op.emitOpError()
            << "expected a number of keys that is a multiple of key_unroll = "
            << keyUnroll << ", got " << op.getResult().getType());
    });
  }

  bool ok = true;
};
} // namespace
