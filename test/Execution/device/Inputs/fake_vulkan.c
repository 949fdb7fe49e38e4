/* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A Vulkan loader that finds as many devices as the program's argument says,
 * all without extensions: what two contexts are told, one after the other. */
#include "scale.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t num_devices;

static int create_instance(const void *info, const void *memory, void **made) {
  (void)info;
  (void)memory;
  *made = &num_devices;
  return 0;
}
static int enumerate(void *instance, uint32_t *count, void **devices) {
  for (uint32_t i = 0; devices && i < num_devices; ++i)
    devices[i] = &num_devices;
  *count = num_devices;
  return instance != &num_devices;
}
static void destroy(void *instance, const void *memory) {
  (void)instance;
  (void)memory;
}

typedef struct extension {
  char name[256];
  uint32_t version;
} extension;
static int of_instance(const char *layer, uint32_t *count, extension *all) {
  (void)layer;
  *count = 1;
  if (all)
    strcpy(all->name, "VK_KHR_get_physical_device_properties2");
  return 0;
}
static int of_device(void *device, const char *layer, uint32_t *count,
                     extension *all) {
  (void)device;
  (void)layer;
  (void)all;
  *count = 0;
  return 0;
}
static int none(const void *a, uint32_t *count) {
  (void)a;
  *count = 0;
  return 0;
}
static void say_nothing(void *device, void *properties) {
  (void)device;
  (void)properties; /* zero as they are */
}
static int refuse(void) { return -3; /* initialization failed */ }

static void *find(const void *instance, const char *name) {
  static const struct {
    const char *name;
    void *function;
  } known[] = {
      {"vkCreateInstance", (void *)create_instance},
      {"vkEnumeratePhysicalDevices", (void *)enumerate},
      {"vkDestroyInstance", (void *)destroy},
      {"vkGetInstanceProcAddr", (void *)find},
      {"vkEnumerateInstanceExtensionProperties", (void *)of_instance},
      {"vkEnumerateInstanceLayerProperties", (void *)none},
      {"vkEnumerateDeviceExtensionProperties", (void *)of_device},
      {"vkGetPhysicalDeviceProperties", (void *)say_nothing},
      {"vkCreateDevice", (void *)refuse},
  };
  (void)instance;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
    if (!strcmp(name, known[i].name))
      return known[i].function;
  return NULL;
}

void *dlopen(const char *name, int mode);
void *dlopen(const char *name, int mode) {
  (void)mode;
  return strcmp(name, "libvulkan.so.1") ? NULL : &num_devices;
}
int dlclose(void *library);
int dlclose(void *library) { return library != &num_devices; }
void *dlsym(void *library, const char *name);
void *dlsym(void *library, const char *name) { return find(library, name); }

int main(int argc, char **argv) {
  scale_model *model;
  num_devices = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
  if (scale_load(NULL, 0, NULL, &model))
    return 1;
  for (int i = 0; i < 2; ++i) {
    char error[256] = "";
    scale_options options = {0};
    scale_ctx *ctx;
    options.error = error;
    options.error_size = sizeof error;
    scale_status status = scale_create(model, &options, &ctx);
    printf("%s: %s\n", scale_status_string(status), error);
  }
  scale_unload(model);
  return 0;
}
