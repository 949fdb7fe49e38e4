//===- TargetText.cpp - a target's description as text ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything that a schedule is derived from and what was derived, so that a
// reader can check the arithmetic: ScheduleModel.cpp has the same formulas as
// code, with the reasons. Factors that depend on a layer's sizes are shown for
// sizes that are common.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/GpuModel.h"
#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TargetInfo.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using llvm::formatv;

namespace {

/// Lines of three columns: what, how much, and why.
class Lines {
public:
  explicit Lines(llvm::raw_ostream &os) : os(os) {}

  void operator()(llvm::StringRef what, const std::string &value,
                  llvm::StringRef use) {
    os << formatv("  {0,-22} {1,-30} {2}\n", what, value, use);
  }

private:
  llvm::raw_ostream &os;
};

} // namespace

/// "512 KiB".
static std::string kibibytes(int64_t bytes) {
  return formatv("{0} KiB", bytes / 1024);
}

static void printRow(const TargetInfo &target, Lines line) {
  line("triple", target.triple.str(), "host code, run-time");
  line("Halide's target", target.halideTarget.str(), "kernels");
  line("vectors",
       formatv("{0} bytes, {1} f32", target.vectorBytes, target.f32Lanes()),
       "lanes of all tiles");
  line("vector registers", std::to_string(target.vectorRegisters),
       "size of register tiles");
  line("multiply-adds",
       formatv("{0} a cycle, {1} cycles each", target.fmaPorts,
               target.fmaLatency),
       target.fusedMultiplyAdd
           ? "register tiles; one instruction each"
           : "register tiles; two instructions each, of which the product "
             "takes a register");
  line("f32 operations", formatv("{0:F0} a cycle", target.flopsPerCycle()),
       "2 x lanes x multiply-adds of a cycle; --emit=cost");
  line("L1 data cache", kibibytes(target.l1Bytes), "keys of a tile");
  line("L2 cache", kibibytes(target.l2Bytes), "mb, kc, keys of a tile");
  if (target.hasMatrixUnit())
    line("matrix unit", "32 x 32 x 32 bf16", "attention of bf16 tensors");
  else
    line("matrix unit", "none", "no kernel of this target uses one");
  Machine machine = assumeMachine(target);
  line("clock", formatv("{0:F1} GHz, assumed", target.assumedGHz),
       formatv("{0:F0} GFLOP/s a core; --emit=cost without --machine",
               machine.gflops)
           .str());
  line("memory reads",
       formatv("{0:F1} GB/s, assumed", target.assumedReadGBytes),
       "of one core; --emit=cost without --machine");
}

static void printAttention(const TargetInfo &target, int64_t channels,
                           Lines line) {
  AttentionTiles tiles = chooseAttentionTiles(target, {channels, channels});
  int64_t lanes = target.f32Lanes(), vectors = tiles.queries / lanes;
  RegisterTile scores{vectors, tiles.keyUnroll};
  line("register tile",
       formatv("{0} vectors x {1} keys", vectors, tiles.keyUnroll),
       formatv("most sums with v k + v + {0} = {1} of {2} registers",
               target.broadcastsLoads
                   ? std::to_string(target.fusedMultiplyAdd ? 1 : 2)
                   : "k",
               scores.scoreRegisters(target), target.vectorRegisters)
           .str());
  line("queries of a tile", std::to_string(tiles.queries),
       formatv("{0} vectors x {1} lanes", vectors, lanes).str());
  line("channels at a time", std::to_string(tiles.valueUnroll),
       "as keys of the register tile, halved to 4 while it leaves a rest of D");
  AttentionTiles masked = chooseAttentionTiles(
      target, {channels, channels, /*queries=*/-1, /*isMasked=*/true});
  line(
      "keys of a tile",
      formatv("{0}, {1} with a mask", tiles.keys, masked.keys),
      formatv("128, {0} with a mask, halved to 16 while 8 q k = {1} > L1 = {2} "
              "or 4 (q k + 2 D k + 2 D q) = {3} > L2/2 = {4}",
              maskedKeys, 8 * tiles.queries * tiles.keys, target.l1Bytes,
              4 * (tiles.queries * tiles.keys + 2 * channels * tiles.keys +
                   2 * channels * tiles.queries),
              target.l2Bytes / 2)
          .str());
}

static void printMatrix(const TargetInfo &target, int64_t channels,
                        Lines line) {
  AttentionTiles tiles =
      chooseAttentionTiles(target, {channels, channels, /*queries=*/-1,
                                    /*isMasked=*/false,
                                    /*isBrainProduct=*/true});
  line("queries of a tile", std::to_string(tiles.queries),
       "rows of two products side by side");
  line("keys of a tile", std::to_string(tiles.keys),
       formatv("power of two with 6 q k = {0} <= 3/4 L1 = {1}",
               6 * tiles.queries * tiles.keys, target.l1Bytes * 3 / 4)
           .str());
}

static void printDecoding(const TargetInfo &target, int64_t channels,
                          int64_t queries, Lines line) {
  AttentionTiles tiles =
      chooseAttentionTiles(target, {channels, channels, queries});
  int64_t sums = target.fmaPorts * target.fmaLatency;
  line("channels at a time", std::to_string(tiles.valueUnroll),
       formatv("lanes x the power of two <= multiply-adds of a cycle x latency "
               "/ queries = {0}, halved while it leaves a rest of D",
               sums / queries)
           .str());
  line("keys of a tile", std::to_string(tiles.keys),
       formatv("256, halved to 64 while 4 D k = {0} > L2/2 = {1}",
               4 * channels * tiles.keys, target.l2Bytes / 2)
           .str());
}

static void printLinear(const TargetInfo &target, int64_t inputs,
                        int64_t outputs, Lines line) {
  LinearBlocks blocks = chooseLinearBlocks(target, inputs, outputs);
  int64_t vectors = blocks.nr / target.f32Lanes();
  RegisterTile tile{vectors, blocks.mr};
  line("mr x nr",
       formatv("{0} rows x {1} = {2} x {3}", blocks.mr, blocks.nr, vectors,
               target.f32Lanes()),
       formatv("least cycles a row: {0:F1} a step of K, {1} of {2} registers",
               tile.cycles(target), tile.registers(target),
               target.vectorRegisters)
           .str());
  int64_t panel = inputs * blocks.nr * 4;
  if (blocks.kc)
    line("kc", std::to_string(blocks.kc),
         formatv("largest divisor of K in eights with 4 kc nr = {0} <= L2/8 "
                 "= {1}",
                 4 * blocks.kc * blocks.nr, target.l2Bytes / 8)
             .str());
  else
    line("kc", "0 (K in one block)",
         panel <= target.l2Bytes / 2
             ? formatv("a panel of 4 K nr = {0} bytes <= L2/2 = {1}", panel,
                       target.l2Bytes / 2)
                   .str()
             : std::string("K has no divisor of 64 or more in eights"));
  line("mb", std::to_string(blocks.mb),
       blocks.kc ? formatv("min(512, L2/2 / (4 kc) = {0}) in steps of mr",
                           target.l2Bytes / 2 / (4 * blocks.kc))
                       .str()
                 : std::string("512 in steps of mr"));
}

/// A device: what bounds a block of threads, and the tiles that follow.
static void printDevice(const TargetInfo &target, llvm::raw_ostream &os) {
  Lines line(os);
  Machine machine = assumeMachine(target);
  line("triple", target.triple.str(), "host code, run-time");
  line("Halide's target", target.halideTarget.str(), "kernels");
  line("shared memory", kibibytes(target.device.sharedBytes) + " a block",
       "tiles of queries, keys, values and weights");
  line("threads", formatv("{0} a block", target.device.threads),
       "x and y of all schedules");
  line("registers", formatv("{0} a thread", target.device.registers),
       "sums of a thread");
  line("blocks", formatv("{0} keep it busy", target.device.blocks),
       "chunks of keys for few queries");
  line("f32 operations", formatv("{0:F0} GFLOP/s, assumed", machine.gflops),
       "--emit=cost without --machine");
  line("memory reads",
       formatv("{0:F0} GB/s, assumed", target.assumedReadGBytes),
       "--emit=cost without --machine");
  for (int64_t channels : {64, 128}) {
    GpuAttentionTiles tiles =
        chooseGpuAttentionTiles(target, {channels, channels});
    os << "attention, head size D = " << channels << "\n";
    line("tile", formatv("{0} queries x {1} keys", tiles.queries, tiles.keys),
         formatv("most q k / (q + k) with {0} bytes <= shared memory",
                 gpuAttentionSharedBytes(tiles, channels, channels))
             .str());
    line("threads", formatv("{0} x {1}", tiles.x, tiles.y),
         formatv("16 x 16, more where a thread would keep over {0} numbers",
                 mostGpuAttentionNumbers(target))
             .str());
  }
  GpuLinearBlocks blocks = chooseGpuLinearBlocks(target, 768);
  os << "linear layer, N = 768 outputs\n";
  line("threads", formatv("{0} x {1}", blocks.x, blocks.y),
       formatv("{0} rows x {1} columns each", blocks.mr, blocks.nr).str());
  line("kc", std::to_string(blocks.kc),
       formatv("{0} bytes of shared memory", gpuLinearSharedBytes(blocks))
           .str());
  os << "row-wise layer\n";
  line("threads", std::to_string(chooseGpuRowThreads(target)),
       "of the block that computes a row");
}

void attn::printTarget(const TargetInfo &target, llvm::raw_ostream &os) {
  os << "target " << target.name << "\n";
  if (target.isGpu())
    return printDevice(target, os);
  Lines line(os);
  printRow(target, line);
  for (int64_t channels : {64, 128}) {
    os << "attention, head size D = " << channels << "\n";
    printAttention(target, channels, line);
  }
  if (target.hasMatrixUnit()) {
    os << "attention of bf16 tensors, head size D = 64\n";
    printMatrix(target, 64, line);
  }
  int64_t most = mostDecodeQueries(target);
  for (int64_t queries : {int64_t(1), most}) {
    os << "attention of " << queries << (queries == 1 ? " query" : " queries")
       << " (up to " << most
       << " have channels in the lanes), head size D = 128\n";
    printDecoding(target, 128, queries, line);
  }
  for (auto [inputs, outputs] : {std::pair(768, 3072), {3072, 768}}) {
    os << "linear layer, K = " << inputs << " inputs, N = " << outputs
       << " outputs\n";
    printLinear(target, inputs, outputs, line);
  }
  os << "row-wise layer\n";
  line("rows in flight", std::to_string(chooseRowsInFlight(target)),
       formatv("power of two <= multiply-adds of a cycle x latency / 2 = {0}",
               target.fmaPorts * target.fmaLatency / 2)
           .str());
  line("of a softmax", std::to_string(chooseRowsInFlight(target, true)),
       "half of them");
}
