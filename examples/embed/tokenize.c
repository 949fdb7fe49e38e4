/*===- tokenize.c - prints token ids ------------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* tokenize VOCABULARY [MAX]: reads lines, writes the ids of each. */
#include "wordpiece.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  char error[512], line[1 << 16];
  size_t max_ids = argc > 2 ? strtoul(argv[2], NULL, 10) : 512;
  int64_t *ids = max_ids < 2 ? NULL : malloc(max_ids * sizeof(*ids));
  wordpiece *tokenizer;
  if (argc < 2 || argc > 3 || ids == NULL) {
    fprintf(stderr,
            "usage: %s vocab.txt|tokenizer.json [most ids, 2 or more]\n",
            argv[0]);
    free(ids);
    return 2;
  }
  tokenizer = wordpiece_open(argv[1], error, sizeof(error));
  if (tokenizer == NULL) {
    fprintf(stderr, "error: %s\n", error);
    free(ids);
    return 1;
  }
  while (fgets(line, sizeof(line), stdin) != NULL) {
    size_t count, i;
    line[strcspn(line, "\n")] = '\0';
    count = wordpiece_encode(tokenizer, line, ids, max_ids);
    for (i = 0; i < count; ++i)
      printf(i == 0 ? "%" PRId64 : " %" PRId64, ids[i]);
    printf("\n");
  }
  wordpiece_close(tokenizer);
  free(ids);
  return 0;
}
