//===- RunTest.cpp - checks of arguments, runs, hooks -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <atomic>
#include <thread>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

struct Run : testing::Test {
  WeightsFile file;
  attn_model *model = nullptr;
  attn_ctx *ctx = nullptr;
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {};
  Inputs in = {2, {x, {0, 0}}};
  Outputs out = {{y, {0, 0}}};

  void SetUp() override {
    behaviour = {};
    ASSERT_EQ(attn_model_load(file.data(), file.size(), nullptr, &model),
              ATTN_OK);
    ASSERT_EQ(attn_model_create(model, nullptr, &ctx), ATTN_OK);
  }
  void TearDown() override {
    attn_model_destroy(ctx);
    attn_model_unload(model);
  }
  attn_status run() { return attn_model_run(ctx, &in, &out, nullptr, 0); }
  void expectRefused(attn_status status, const char *text) {
    EXPECT_EQ(run(), status);
    EXPECT_STREQ(attn_model_last_error(ctx), text);
    EXPECT_EQ(behaviour.calls, 0);
  }
};

TEST_F(Run, ComputesOnDenseTensors) {
  EXPECT_EQ(run(), ATTN_OK) << attn_model_last_error(ctx);
  EXPECT_EQ(std::vector<float>(y, y + 6),
            (std::vector<float>{11, 22, 33, 14, 25, 36}));
  EXPECT_STREQ(attn_model_last_error(ctx), "");
}

TEST_F(Run, HandsStridesToADriverThatTakesThem) {
  float wide[10] = {1, 2, 3, 0, 0, 4, 5, 6, 0, 0};
  in.x = {wide, {5, 1}};
  EXPECT_EQ(run(), ATTN_OK);
  EXPECT_EQ(behaviour.strides[0], 5);
  EXPECT_EQ(y[5], 36);
}

TEST_F(Run, CopiesWhereTheInnermostStrideIsNotOne) {
  float columns[6] = {1, 4, 2, 5, 3, 6};
  in.x = {columns, {1, 2}};
  EXPECT_EQ(run(), ATTN_OK);
  EXPECT_EQ(behaviour.strides[0], 3);
  EXPECT_EQ(std::vector<float>(y, y + 6),
            (std::vector<float>{11, 22, 33, 14, 25, 36}));
}

TEST_F(Run, CopiesAnOutputThatTheDriverWantsDense) {
  float wide[8];
  for (float &value : wide)
    value = -1;
  out.y = {wide, {4, 1}};
  EXPECT_EQ(run(), ATTN_OK);
  EXPECT_EQ(std::vector<float>(wide, wide + 8),
            (std::vector<float>{11, 22, 33, -1, 14, 25, 36, -1}));
}

TEST_F(Run, DoesNothingForAnEmptyBatch) {
  in = {0, {nullptr, {0, 0}}};
  out = {{nullptr, {0, 0}}};
  EXPECT_EQ(run(), ATTN_OK);
  EXPECT_EQ(behaviour.calls, 0);
}

TEST_F(Run, NamesTheDimOutOfRange) {
  in.batch = 8;
  expectRefused(ATTN_ERROR_SHAPE, "expected 0 <= batch <= 7, got 8");
  in.batch = -1;
  expectRefused(ATTN_ERROR_SHAPE, "expected 0 <= batch <= 7, got -1");
}

TEST_F(Run, NamesTheTensorWithoutData) {
  in.x.data = nullptr;
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected data for input x, got a null pointer");
  in.x.data = x;
  out.y.data = nullptr;
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected data for output y, got a null pointer");
}

TEST_F(Run, RefusesDataThatAreNotAlignedToTheirElements) {
  in.x.data = reinterpret_cast<float *>(reinterpret_cast<char *>(x) + 2);
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected input x aligned to its elements of 4 bytes, got an "
                "address with remainder 2");
}

TEST_F(Run, RefusesNegativeStrides) {
  in.x.stride[0] = -3;
  in.x.stride[1] = 1;
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected strides of at least 0 for input x, got -3 for "
                "dimension 0");
}

TEST_F(Run, RefusesStridesThatOverflow) {
  in.x.stride[0] = INT64_MAX;
  in.x.stride[1] = 1;
  expectRefused(ATTN_ERROR_SHAPE,
                "expected dimensions whose tensors can be addressed, got sizes "
                "that overflow for x");
}

TEST_F(Run, RefusesAnOutputWhoseElementsOverlap) {
  out.y.stride[0] = 2;
  out.y.stride[1] = 1;
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected strides that give each element of output y a place "
                "of its own, got overlapping ones");
}

TEST_F(Run, TakesOneMemoryAsInputAndOutput) {
  out.y.data = x;
  EXPECT_EQ(run(), ATTN_OK) << attn_model_last_error(ctx);
  EXPECT_TRUE(behaviour.inPlace);
  EXPECT_EQ(std::vector<float>(x, x + 6),
            (std::vector<float>{11, 22, 33, 14, 25, 36}));
}

TEST_F(Run, CopiesOneMemoryOnceWhereTheDriverWantsItDense) {
  float columns[6] = {1, 4, 2, 5, 3, 6};
  in.x = {columns, {1, 2}};
  out.y = {columns, {1, 2}};
  EXPECT_EQ(run(), ATTN_OK) << attn_model_last_error(ctx);
  EXPECT_TRUE(behaviour.inPlace);
  EXPECT_EQ(std::vector<float>(columns, columns + 6),
            (std::vector<float>{11, 14, 22, 25, 33, 36}));
}

TEST_F(Run, CopiesAnOutputWhoseInputIsTakenAsItIs) {
  float wide[8] = {1, 2, 3, -1, 4, 5, 6, -1};
  in.x = {wide, {4, 1}};
  out.y = {wide, {4, 1}};
  EXPECT_EQ(run(), ATTN_OK) << attn_model_last_error(ctx);
  EXPECT_FALSE(behaviour.inPlace); // x may have strides, y not
  EXPECT_EQ(std::vector<float>(wide, wide + 8),
            (std::vector<float>{11, 22, 33, -1, 14, 25, 36, -1}));
}

TEST_F(Run, ComparesNoStrideOfASingleEntry) {
  in = {1, {x, {17, 1}}};
  out.y = {x, {3, 1}};
  EXPECT_EQ(run(), ATTN_OK) << attn_model_last_error(ctx);
  EXPECT_EQ(x[2], 33);
}

TEST_F(Run, RefusesOneMemoryWithOtherStrides) {
  float wide[10] = {};
  in.x = {wide, {5, 1}};
  out.y = {wide, {3, 1}};
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected output y with the strides of input x (because it has "
                "the same address), got 3 instead of 5 for dimension 0");
}

TEST_F(Run, RefusesMemoryThatMeetsThatOfTheInput) {
  float wide[12] = {};
  in.x.data = wide;
  out.y.data = wide + 5;
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected output y at the address of input x or in memory that "
                "does not meet it, got an address 20 bytes behind it");
  in.x.data = wide + 1;
  out.y.data = wide;
  expectRefused(ATTN_ERROR_ARGUMENT,
                "expected output y at the address of input x or in memory that "
                "does not meet it, got an address 4 bytes before it");
  in.x.data = wide;
  out.y.data = wide + 6;
  EXPECT_EQ(run(), ATTN_OK);
}

TEST_F(Run, TakesRowsBetweenThoseOfTheInput) {
  float both[14] = {1, 2, 3, 0, 0, 0, 0, 4, 5, 6};
  in.x = {both, {7, 1}};
  for (int gap : {3, 4}) {
    out.y = {both + gap, {7, 1}};
    EXPECT_EQ(run(), ATTN_OK) << attn_model_last_error(ctx);
    EXPECT_EQ(both[gap], 11);
    EXPECT_EQ(both[gap + 9], 36);
  }
  for (int gap : {2, 5, 9}) {
    out.y = {both + gap, {7, 1}};
    EXPECT_EQ(run(), ATTN_ERROR_ARGUMENT) << gap;
  }
  // With other strides what lies between rows counts as theirs.
  out.y = {both + 3, {4, 1}};
  EXPECT_EQ(run(), ATTN_ERROR_ARGUMENT);
}

TEST_F(Run, LetsEmptyTensorsMeet) {
  in = {0, {x, {5, 1}}};
  out.y = {x, {3, 1}};
  EXPECT_EQ(run(), ATTN_OK);
}

TEST_F(Run, RefusesNullStructs) {
  EXPECT_EQ(attn_model_run(ctx, nullptr, &out, nullptr, 0),
            ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected the structs of inputs and outputs, got a null "
               "pointer");
  EXPECT_EQ(attn_model_run(nullptr, &in, &out, nullptr, 0),
            ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(attn_model_last_error(nullptr),
               "expected a context, got a null pointer");
}

TEST_F(Run, ChecksTheCallersWorkspace) {
  alignas(64) char workspace[128];
  EXPECT_EQ(attn_model_workspace_size(ctx, &in), 128);
  EXPECT_EQ(attn_model_run(ctx, &in, &out, workspace, 128), ATTN_OK);
  EXPECT_EQ(attn_model_run(ctx, &in, &out, workspace, 127),
            ATTN_ERROR_WORKSPACE);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected a workspace of at least 128 bytes, got 127");
  EXPECT_EQ(attn_model_run(ctx, &in, &out, workspace + 8, 128),
            ATTN_ERROR_WORKSPACE);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected a workspace aligned to 64 bytes, got an address with "
               "remainder 8");
}

TEST_F(Run, ReportsAWorkspaceThatOverflows) {
  float large[21] = {};
  in = {7, {large, {0, 0}}};
  out = {{large, {0, 0}}};
  expectRefused(ATTN_ERROR_SHAPE,
                "expected dimensions whose tensors can be addressed, got sizes "
                "that overflow for the workspace");
  EXPECT_EQ(attn_model_workspace_size(ctx, &in), -1);
}

TEST_F(Run, ReportsAKernelThatFails) {
  behaviour.result = -26;
  EXPECT_EQ(run(), ATTN_ERROR_INTERNAL);
  EXPECT_STREQ(attn_model_last_error(ctx), "a kernel failed with code -26");
  behaviour.result = 0;
  EXPECT_EQ(run(), ATTN_OK);
  EXPECT_STREQ(attn_model_last_error(ctx), "");
}

TEST_F(Run, ReportsAnIdOutOfRangeWithItsPosition) {
  behaviour.before = [](void *ctx) {
    const int64_t ids[] = {0, 1, 2, 3, 4, 9}, sizes[] = {2, 3};
    return attn_rt_check_ids(ctx, ids, 1, 5, "input_ids", 2, sizes);
  };
  EXPECT_EQ(run(), ATTN_ERROR_VALUE);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected 0 <= input_ids[1][2] < 5, got 9");
  behaviour.before = [](void *ctx) {
    const int32_t ids[] = {0, -1}, sizes32 = 2;
    const int64_t sizes[] = {sizes32};
    return attn_rt_check_ids(ctx, ids, 0, 5, "ids", 1, sizes);
  };
  EXPECT_EQ(run(), ATTN_ERROR_VALUE);
  EXPECT_STREQ(attn_model_last_error(ctx), "expected 0 <= ids[1] < 5, got -1");
}

TEST_F(Run, ReportsSizesThatKernelsCannotIndex) {
  behaviour.before = [](void *ctx) {
    return attn_rt_too_large(ctx, "linear_0"); // as a driver does
  };
  EXPECT_EQ(run(), ATTN_ERROR_SHAPE);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected dimensions below 2^31 after rows are joined, got "
               "larger ones for kernel linear_0");
}

TEST_F(Run, TakesTheGenericEntry) {
  const int64_t dims[] = {2}, strides[] = {3, 1};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  const int64_t *inputStrides[] = {strides};
  EXPECT_EQ(
      attn_model_run_generic(ctx, dims, inputs, inputStrides, outputs, nullptr),
      ATTN_OK);
  EXPECT_EQ(y[5], 36);
  EXPECT_EQ(
      attn_model_run_generic(ctx, nullptr, inputs, nullptr, outputs, nullptr),
      ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected arrays of dims, inputs and outputs, got a null "
               "pointer");
}

#if defined(__x86_64__)
TEST_F(Run, RunsInTheDefaultFloatModeAndGivesTheCallersBack) {
  static unsigned inside;
  behaviour.before = [](void *) {
    inside = _mm_getcsr();
    return 0;
  };
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x9fc0); // flush and read denormals as zero
  EXPECT_EQ(run(), ATTN_OK);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(inside, 0x1f80u);
  EXPECT_EQ(after, 0x9fc0u);
}
#endif

TEST_F(Run, RunsContextsOfOneModelSideBySide) {
  std::atomic<int> wrong{0};
  auto work = [&](float add) {
    attn_ctx *own = nullptr;
    if (attn_model_create(model, nullptr, &own) != ATTN_OK) {
      ++wrong;
      return;
    }
    for (int i = 0; i < 2000; ++i) {
      float from[3] = {add, add, add}, to[3] = {};
      Inputs inputs = {1, {from, {0, 0}}};
      Outputs outputs = {{to, {0, 0}}};
      wrong += attn_model_run(own, &inputs, &outputs, nullptr, 0) != ATTN_OK;
      wrong += to[2] != 30 + add;
    }
    attn_model_destroy(own);
  };
  std::thread first(work, 1.f), second(work, 2.f);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

struct Options : Run {
  attn_options options = {};
  char error[256] = "";
  attn_ctx *other = nullptr;

  void SetUp() override {
    Run::SetUp();
    options.error = error;
    options.error_size = sizeof error;
  }
  void TearDown() override {
    attn_model_destroy(other);
    Run::TearDown();
  }
  /// There is memory for the first allocation and for no other.
  void failSecondAllocation() {
    static int allocations;
    allocations = 0;
    options.allocate = [](void *, size_t size, size_t alignment) -> void * {
      return allocations++ ? nullptr
                           : aligned_alloc(alignment, (size + 63) & ~63ul);
    };
    options.deallocate = [](void *, void *pointer) { free(pointer); };
  }
};

TEST_F(Options, RefusesAThreadCountOutOfRange) {
  options.num_threads = -1;
  EXPECT_EQ(attn_model_create(model, &options, &other), ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected 0 <= options.num_threads <= 1024, got -1");
}

TEST_F(Options, RefusesHalfAnAllocator) {
  options.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
  EXPECT_EQ(attn_model_create(model, &options, &other), ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected options.allocate and options.deallocate both "
                      "or none, got one of them");
}

TEST_F(Options, ReportsMemoryThatIsNotThere) {
  options.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
  options.deallocate = [](void *, void *) {};
  EXPECT_EQ(attn_model_create(model, &options, &other), ATTN_ERROR_MEMORY);
  EXPECT_EQ(std::string(error).rfind("out of memory: a context needs ", 0), 0u);
  attn_model *none = nullptr;
  EXPECT_EQ(attn_model_load(file.data(), file.size(), &options, &none),
            ATTN_ERROR_MEMORY);
  EXPECT_EQ(std::string(error).rfind("out of memory: a model needs ", 0), 0u);
  EXPECT_EQ(none, nullptr);
}

TEST_F(Options, ReportsAPoolThatCannotBeMade) {
  failSecondAllocation();
  options.num_threads = 4;
  EXPECT_EQ(attn_model_create(model, &options, &other), ATTN_ERROR_MEMORY);
  EXPECT_STREQ(error, "expected 4 threads (options.num_threads), got fewer: "
                      "out of memory");
}

TEST_F(Options, ReportsMemoryForWeightsThatIsNotThere) {
  failSecondAllocation();
  attn_model *none = nullptr;
  EXPECT_EQ(attn_model_load(file.data(), file.size(), &options, &none),
            ATTN_ERROR_MEMORY);
  EXPECT_STREQ(error, "out of memory: repacking the weights of test for plain "
                      "needs 0 bytes");
}

TEST_F(Options, RefusesNullPointers) {
  EXPECT_EQ(attn_model_load(file.data(), file.size(), &options, nullptr),
            ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected a place for the model, got a null pointer");
  attn_model *none = nullptr;
  EXPECT_EQ(attn_model_load_file(nullptr, &options, &none),
            ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error,
               "expected the path of a weights file, got a null pointer");
  EXPECT_EQ(attn_model_create(model, &options, nullptr), ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected a place for the context, got a null pointer");
  EXPECT_EQ(attn_model_create(nullptr, &options, &other), ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected a loaded model, got a null pointer");
  EXPECT_EQ(attn_model_workspace_size(ctx, nullptr), -1);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected the inputs struct, got a null pointer");
  EXPECT_EQ(attn_model_workspace_size_generic(ctx, nullptr), -1);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "expected an array of dims, got a null pointer");
  attn_model_destroy(nullptr);
  attn_model_unload(nullptr);
}

TEST_F(Options, UsesTheCallersMemoryForEverything) {
  static int live, allocations;
  live = allocations = 0;
  options.allocate = [](void *, size_t size, size_t alignment) -> void * {
    ++live;
    ++allocations;
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
  };
  options.deallocate = [](void *, void *pointer) {
    --live;
    free(pointer);
  };
  options.num_threads = 2;
  ASSERT_EQ(attn_model_create(model, &options, &other), ATTN_OK);
  EXPECT_EQ(attn_model_run(other, &in, &out, nullptr, 0), ATTN_OK);
  EXPECT_EQ(allocations, 3); // context, pool, workspace
  attn_model_destroy(other);
  other = nullptr;
  EXPECT_EQ(live, 0);
}

TEST_F(Options, LoadsTheTargetThatTheCallerWants) {
  attn_model *wanted = nullptr;
  options.target = "impossible";
  EXPECT_EQ(attn_model_load(file.data(), file.size(), &options, &wanted),
            ATTN_ERROR_CPU);
  options.target = "plain";
  EXPECT_EQ(attn_model_load(file.data(), file.size(), &options, &wanted),
            ATTN_OK);
  attn_model_unload(wanted);
}

TEST_F(Options, GivesParallelLoopsToTheCaller) {
  static int loops, bodies;
  loops = bodies = 0;
  options.parallel_for = [](void *, int (*task)(void *, int), void *argument,
                            int count) {
    ++loops;
    for (int i = count - 1; i >= 0; --i)
      if (int result = task(argument, i))
        return result;
    return 0;
  };
  ASSERT_EQ(attn_model_create(model, &options, &other), ATTN_OK);
  behaviour.before = [](void *ctx) {
    auto body = [](void *, int i, uint8_t *) {
      bodies += i;
      return 0;
    };
    return halide_do_par_for(ctx, body, 10, 4, nullptr);
  };
  EXPECT_EQ(attn_model_run(other, &in, &out, nullptr, 0), ATTN_OK);
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(bodies, 10 + 11 + 12 + 13);
}

TEST(Status, HasATextForEachCode) {
  for (int status = ATTN_OK; status <= ATTN_ERROR_INTERNAL; ++status)
    EXPECT_STRNE(attn_model_status_string(static_cast<attn_status>(status)),
                 "unknown status");
  EXPECT_STREQ(attn_model_status_string(static_cast<attn_status>(99)),
               "unknown status");
}

} // namespace
