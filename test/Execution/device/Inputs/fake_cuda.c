/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A CUDA driver for machines without one: it says what it is asked, keeps the
 * device's memory in the host's and runs no kernel. FAKE_CUDA_FAILS names a
 * function that fails with code 700, but where FAKE_CUDA_PASSES calls of it
 * succeed first. At the end it says what was not given back. It takes the place
 * of libcuda.so.1 in the program that it is linked into. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, FAILURE = 700 };
static const char *const names[DEVICES] = {"Fake 1000", "Fake 2000"};

static int contexts, streams, allocations, modules;
static void
    *current[8]; /* contexts of a thread; one thread only is told apart */
static int depth;

static int fails(const char *function) {
  const char *name = getenv("FAKE_CUDA_FAILS");
  static int passes = -1;
  if (!name || strcmp(name, function))
    return 0;
  if (passes < 0)
    passes = getenv("FAKE_CUDA_PASSES") ? atoi(getenv("FAKE_CUDA_PASSES")) : 0;
  return passes-- <= 0 ? FAILURE : 0;
}

#define BEGIN(function)                                                        \
  do {                                                                         \
    int code = fails(#function);                                               \
    if (code) {                                                                \
      puts(#function " fails");                                                \
      return code;                                                             \
    }                                                                          \
  } while (0)

static int init(unsigned flags) {
  BEGIN(cuInit);
  return flags != 0;
}
static int get_count(int *count) {
  *count = DEVICES;
  return 0;
}
static int get_device(int *device, int ordinal) {
  *device = ordinal;
  return ordinal >= DEVICES;
}
static int get_name(char *name, int size, int device) {
  snprintf(name, (size_t)size, "%s", names[device]);
  return 0;
}
static int get_attribute(int *value, int attribute, int device) {
  (void)attribute;
  (void)device;
  *value = 8;
  return 0;
}
static char contexts_of[DEVICES];
static int retain(void **context, int device) {
  BEGIN(cuDevicePrimaryCtxRetain);
  printf("retain %s\n", names[device]);
  ++contexts;
  *context = &contexts_of[device];
  return 0;
}
static int release(int device) {
  printf("release %s\n", names[device]);
  --contexts;
  return 0;
}
static int push(void *context) {
  current[depth++ % 8] = context;
  return 0;
}
static int pop(void **context) {
  *context = current[--depth % 8];
  return 0;
}
static int create_stream(void **stream, unsigned flags) {
  BEGIN(cuStreamCreate);
  (void)flags;
  static int number = 0x100;
  ++streams;
  *stream = (void *)(intptr_t)++number;
  return depth != 1;
}
static int destroy_stream(void *stream) {
  (void)stream;
  --streams;
  return depth != 1;
}
static int synchronize(void *stream) {
  BEGIN(cuStreamSynchronize);
  printf("wait for stream %#x\n", (unsigned)(uintptr_t)stream);
  return 0;
}
static int allocate(uint64_t *address, size_t size) {
  BEGIN(cuMemAlloc_v2);
  if (size > (size_t)1 << 32)
    return 2; /* out of memory */
  ++allocations;
  *address = (uint64_t)(uintptr_t)calloc(size, 1);
  return depth != 1;
}
static int deallocate(uint64_t address) {
  --allocations;
  free((void *)(uintptr_t)address);
  return depth != 1;
}
static int copy(const char *what, void *to, const void *from, size_t size,
                void *stream) {
  printf("%s %zu stream %#x\n", what, size, (unsigned)(uintptr_t)stream);
  memcpy(to, from, size);
  return depth != 1;
}
static int upload(uint64_t to, const void *from, size_t size, void *stream) {
  BEGIN(cuMemcpyHtoDAsync_v2);
  return copy("upload", (void *)(uintptr_t)to, from, size, stream);
}
static int download(void *to, uint64_t from, size_t size, void *stream) {
  BEGIN(cuMemcpyDtoHAsync_v2);
  return copy("download", to, (void *)(uintptr_t)from, size, stream);
}
static int load(void **module, const void *image, unsigned num_options,
                int *options, void **values) {
  BEGIN(cuModuleLoadDataEx);
  if (!strstr(image, ".target sm_"))
    return 218; /* not PTX */
  for (unsigned i = 0; i < num_options; ++i)
    if (options[i] == 0) /* CU_JIT_MAX_REGISTERS */
      printf("load, at most %u registers\n", (unsigned)(uintptr_t)values[i]);
  ++modules;
  *module = malloc(1);
  return 0;
}
static int unload(void *module) {
  free(module);
  --modules;
  return 0;
}
static int get_function(void **function, void *module, const char *name) {
  BEGIN(cuModuleGetFunction);
  (void)module;
  *function = (void *)(uintptr_t)name;
  return 0;
}
static int launch(void *function, unsigned x, unsigned y, unsigned z,
                  unsigned thread_x, unsigned thread_y, unsigned thread_z,
                  unsigned shared, void *stream, void **arguments,
                  void **extra) {
  BEGIN(cuLaunchKernel);
  (void)arguments;
  (void)extra;
  printf("launch %s %ux%ux%u of %ux%ux%u, %u bytes, stream %#x\n",
         (const char *)function, x, y, z, thread_x, thread_y, thread_z, shared,
         (unsigned)(uintptr_t)stream);
  return depth != 1;
}
static int nothing(void) {
  puts("an unexpected call");
  return 801; /* not supported */
}

void *dlopen(const char *name, int mode);
void *dlopen(const char *name, int mode) {
  (void)mode;
  return strcmp(name, "libcuda.so.1") ? NULL : &contexts;
}
char *dlerror(void);
char *dlerror(void) { return "no such file"; }
int dlclose(void *library);
int dlclose(void *library) { return library != &contexts; }
void *dlsym(void *library, const char *name);
void *dlsym(void *library, const char *name) {
  static const struct {
    const char *name;
    void *function;
  } known[] = {{"cuInit", (void *)init},
               {"cuDeviceGetCount", (void *)get_count},
               {"cuDeviceGet", (void *)get_device},
               {"cuDeviceGetName", (void *)get_name},
               {"cuDeviceGetAttribute", (void *)get_attribute},
               {"cuDevicePrimaryCtxRetain", (void *)retain},
               {"cuDevicePrimaryCtxRelease_v2", (void *)release},
               {"cuCtxPushCurrent_v2", (void *)push},
               {"cuCtxPopCurrent_v2", (void *)pop},
               {"cuStreamCreate", (void *)create_stream},
               {"cuStreamDestroy_v2", (void *)destroy_stream},
               {"cuStreamSynchronize", (void *)synchronize},
               {"cuMemAlloc_v2", (void *)allocate},
               {"cuMemFree_v2", (void *)deallocate},
               {"cuMemcpyHtoDAsync_v2", (void *)upload},
               {"cuMemcpyDtoHAsync_v2", (void *)download},
               {"cuModuleLoadDataEx", (void *)load},
               {"cuModuleUnload", (void *)unload},
               {"cuModuleGetFunction", (void *)get_function},
               {"cuLaunchKernel", (void *)launch}};
  if (library != &contexts)
    return NULL;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
    if (!strcmp(name, known[i].name))
      return known[i].function;
  return strncmp(name, "cu", 2) ? NULL : (void *)nothing;
}

__attribute__((destructor)) static void say_what_is_left(void) {
  printf("left: %d contexts, %d streams, %d allocations, %d modules\n",
         contexts, streams, allocations, modules);
}
