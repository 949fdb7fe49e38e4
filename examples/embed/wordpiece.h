/*===- wordpiece.h - BERT's tokenizer -----------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Text to token ids, as BERT and its relatives do it: clean the text, put
 * spaces around CJK characters, strip accents and lower the case (if the model
 * is uncased), split at spaces and punctuation, then cut each word into the
 * longest pieces that the vocabulary has.
 *
 * Left out: special tokens written in the text ("[SEP]") are text, and CJK
 * compatibility ideographs are not replaced by their unified forms. */
#ifndef EMBED_WORDPIECE_H
#define EMBED_WORDPIECE_H

#include <stddef.h>
#include <stdint.h>

typedef struct wordpiece wordpiece;

/* Reads a vocabulary: vocab.txt (a token a line) or tokenizer.json. Returns
 * NULL with a message in `error` if that fails. */
wordpiece *wordpiece_open(const char *path, char *error, size_t error_size);
void wordpiece_close(wordpiece *tokenizer);

/* Writes the ids of [CLS] text [SEP], at most `max_ids` (2 or more); what does
 * not fit is cut off before [SEP]. Returns how many. `text` is UTF-8; bytes
 * that are not are skipped. */
size_t wordpiece_encode(const wordpiece *tokenizer, const char *text,
                        int64_t *ids, size_t max_ids);

/* The id that fills up shorter sentences, [PAD]. */
int64_t wordpiece_padding(const wordpiece *tokenizer);

#endif /* EMBED_WORDPIECE_H */
