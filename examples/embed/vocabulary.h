/*===- vocabulary.h - tokens and their ids ------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* A hash table from token to id, read from vocab.txt or tokenizer.json. */
#ifndef EMBED_VOCABULARY_H
#define EMBED_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

typedef struct vocabulary vocabulary;

vocabulary *vocabulary_open(const char *path, char *error, size_t error_size);
void vocabulary_close(vocabulary *vocabulary);

/* The id of a token, or -1. */
int64_t vocabulary_find(const vocabulary *vocabulary, const char *token,
                        size_t length);

/* Whether the file says that text keeps its case; vocab.txt says nothing. */
int vocabulary_is_cased(const vocabulary *vocabulary);

#endif /* EMBED_VOCABULARY_H */
