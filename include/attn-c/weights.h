/*===- weights.h - format of a weights file ----------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Little-endian throughout:
 *
 *   attn_weights_header                 128 bytes
 *   attn_weights_entry[count]           at `table`
 *   data of weight 0, 1, ...            each 64-byte aligned, gaps are zero
 *
 * The entries are in the order of the model's descriptor and must say exactly
 * what it says; `layout` is the SHA-256 of names, shapes, types and recipes of
 * the stored weights. So a file belongs to one layout, and a loader needs no
 * more than comparisons to be safe against a wrong or hostile one. */
#ifndef ATTN_C_WEIGHTS_H
#define ATTN_C_WEIGHTS_H

#include <stdint.h>

#define ATTN_WEIGHTS_MAGIC "ATTNWTS" /* and the null byte: 8 bytes */
#define ATTN_WEIGHTS_VERSION 1u
#define ATTN_WEIGHTS_ALIGNMENT 64u

typedef struct attn_weights_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* of this struct */
  uint64_t file_size;
  uint64_t count; /* of entries */
  uint64_t table; /* offset of the first entry */
  uint8_t layout[32];
  char model[32]; /* for readers; cut to 31 bytes */
  uint8_t reserved[24];
} attn_weights_header;

typedef struct attn_weights_entry {
  uint64_t offset;
  uint64_t size;
} attn_weights_entry;

#endif /* ATTN_C_WEIGHTS_H */
