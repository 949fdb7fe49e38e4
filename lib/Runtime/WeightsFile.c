/*===- WeightsFile.c - is this the weights file of this model? ---*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* The file is untrusted. The descriptor knows every offset and size, so nothing
 * read from the file is ever used as an address: it is only compared. */
#include "Runtime.h"
#include "attn-c/weights.h"
#include <inttypes.h>
#include <string.h>

static void hex(const uint8_t *bytes, char *text) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 8; ++i) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  text[16] = 0;
}

attn_status attn_rt_check_weights(const attn_descriptor *descriptor,
                                  const void *data, uint64_t size, char *error,
                                  size_t error_size) {
#define FAIL(...)                                                              \
  return attn_rt_fail(error, error_size, ATTN_ERROR_WEIGHTS, __VA_ARGS__)
  attn_weights_header header;
  if (size < sizeof header)
    FAIL("expected a weights file of %" PRIu64 " bytes for %s, got %" PRIu64
         " bytes, less than its header",
         descriptor->file_size, descriptor->name, size);
  if ((uintptr_t)data % ATTN_WEIGHTS_ALIGNMENT)
    FAIL("expected weights aligned to %u bytes (because kernels load whole "
         "vectors), got an address with remainder %u",
         ATTN_WEIGHTS_ALIGNMENT,
         (unsigned)((uintptr_t)data % ATTN_WEIGHTS_ALIGNMENT));
  memcpy(&header, data, sizeof header);
  if (memcmp(header.magic, ATTN_WEIGHTS_MAGIC, sizeof header.magic))
    FAIL("expected a weights file of attn-opt, got something else: its first "
         "bytes are not '" ATTN_WEIGHTS_MAGIC "'");
  if (header.version != ATTN_WEIGHTS_VERSION)
    FAIL("expected version %u of the weights file, got %" PRIu32
         ": write it again with the attn-opt that wrote %s.o",
         ATTN_WEIGHTS_VERSION, header.version, descriptor->name);
  if (memcmp(header.layout, descriptor->layout, sizeof header.layout)) {
    char expected[17], got[17], model[33];
    hex(descriptor->layout, expected);
    hex(header.layout, got);
    memcpy(model, header.model, 32);
    model[32] = 0;
    for (char *c = model; *c; ++c) /* the text is shown to people */
      if (*c < 32 || *c > 126)
        *c = '?';
    FAIL("expected weights of layout %s for %s, got layout %s of '%s': object "
         "and weights file must come from one run of attn-opt",
         expected, descriptor->name, got, model);
  }
  if (header.file_size != descriptor->file_size || header.file_size != size)
    FAIL("expected a weights file of %" PRIu64 " bytes for %s, got %" PRIu64
         " bytes: it is %s",
         descriptor->file_size, descriptor->name, size,
         size < descriptor->file_size ? "truncated" : "damaged");
  uint64_t count = (uint64_t)descriptor->num_stored;
  if (header.header_size != sizeof header || header.count != count ||
      header.table != sizeof header ||
      count > (size - sizeof header) / sizeof(attn_weights_entry))
    FAIL("expected a table of %" PRIu64
         " weights at byte %zu for %s, got %" PRIu64 " at byte %" PRIu64
         ": the weights file is damaged",
         count, sizeof header, descriptor->name, header.count, header.table);
  for (uint64_t i = 0; i < count; ++i) {
    attn_weights_entry entry;
    memcpy(&entry, (const char *)data + sizeof header + i * sizeof entry,
           sizeof entry);
    const attn_stored_weight *weight = &descriptor->stored[i];
    if (entry.offset != weight->offset || entry.size != weight->size)
      FAIL("expected %" PRIu64 " bytes at byte %" PRIu64
           " for weight %s of %s, got %" PRIu64 " at byte %" PRIu64
           ": the weights file is damaged",
           weight->size, weight->offset, weight->name, descriptor->name,
           entry.size, entry.offset);
  }
#undef FAIL
  return ATTN_OK;
}
