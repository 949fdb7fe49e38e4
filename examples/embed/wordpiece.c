/*===- wordpiece.c - BERT's tokenizer -----------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* One pass over the code points of the text. Each is dropped, ends the word, is
 * a word of its own, or is folded and appended to the word; a word that ends is
 * cut into pieces. */
#include "wordpiece.h"

#include "unicode_tables.h"
#include "vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* BERT gives up on longer words. */
enum { MAX_WORD = 100 };

struct wordpiece {
  vocabulary *vocabulary;
  int64_t unknown, start, end, padding;
};

/* ---- Code points */

/* The code point at `*text`, which moves behind it; 0xFFFD for bytes that are
 * not UTF-8, one at a time. */
static uint32_t next_code_point(const char **text) {
  const unsigned char *at = (const unsigned char *)*text;
  static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  uint32_t c = at[0];
  int more = c < 0x80 ? 0 : c < 0xC0 ? -1 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
  int i;
  ++*text;
  if (more <= 0 || c > 0xF4)
    return more == 0 ? c : 0xFFFD;
  c &= 0x3Fu >> more;
  for (i = 1; i <= more; ++i) {
    if ((at[i] & 0xC0) != 0x80)
      return 0xFFFD;
    c = c << 6 | (at[i] & 0x3F);
  }
  if (c < smallest[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
    return 0xFFFD;
  *text += more;
  return c;
}

static size_t put_utf8(char *out, uint32_t c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (char)(0xC0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 0x3F));
  out[2] = (char)(0x80 | (c >> 6 & 0x3F));
  out[3] = (char)(0x80 | (c & 0x3F));
  return 4;
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Whether a sorted table of ranges has the code point. */
static int in_ranges(const uint32_t (*ranges)[2], size_t count, uint32_t c) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (c > ranges[middle][1])
      low = middle + 1;
    else if (c < ranges[middle][0])
      high = middle;
    else
      return 1;
  }
  return 0;
}

static int is_space(uint32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 ||
         c == 0x2029 || c == 0x0B || c == 0x0C ||
         in_ranges(spaces, COUNT(spaces), c);
}

static int is_dropped(uint32_t c) {
  return c == 0xFFFD || (c != '\t' && c != '\n' && c != '\r' &&
                         in_ranges(controls, COUNT(controls), c));
}

static int is_punctuation(uint32_t c) {
  if (c < 0x80) /* also symbols such as $ and +, which Unicode tells apart */
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) ||
           (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  return in_ranges(punctuation, COUNT(punctuation), c);
}

static int is_cjk(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/* Lower case without accents; writes up to three code points, returns how
 * many. */
static size_t fold(uint32_t c, uint32_t out[3]) {
  size_t low = 0, high = COUNT(folds), i;
  out[0] = c;
  if (c < 0x80) {
    if (c >= 'A' && c <= 'Z')
      out[0] = c - 'A' + 'a';
    return 1;
  }
  if (in_ranges(marks, COUNT(marks), c))
    return 0;
  if (c >= 0xAC00 && c <= 0xD7A3) { /* a Hangul syllable: its letters */
    uint32_t index = c - 0xAC00;
    out[0] = 0x1100 + index / 588;
    out[1] = 0x1161 + index % 588 / 28;
    out[2] = 0x11A7 + index % 28;
    return index % 28 == 0 ? 2 : 3;
  }
  while (low < high) {
    size_t middle = (low + high) / 2;
    const uint32_t *range = folds[middle];
    if (c > range[1]) {
      low = middle + 1;
    } else if (c < range[0]) {
      high = middle;
    } else {
      uint32_t distance = c - range[0];
      if (range[2] == 0)
        out[0] = range[3];
      else if (distance % range[2] == 0)
        out[0] = range[3] + distance;
      return 1;
    }
  }
  for (i = 0; i < COUNT(long_folds); ++i)
    if (long_folds[i][0] == c) {
      memcpy(out, long_folds[i] + 2, 3 * sizeof(uint32_t));
      return long_folds[i][1];
    }
  return 1;
}

/* ---- Words */

/* The state of one call. */
typedef struct {
  const wordpiece *tokenizer;
  int64_t *ids;
  size_t count, max_ids;
  uint32_t word[MAX_WORD + 1];
  size_t length; /* MAX_WORD + 1: too long */
} encoder;

static void put_id(encoder *e, int64_t id) {
  if (e->count < e->max_ids)
    e->ids[e->count++] = id;
}

/* Cuts the word into the longest pieces there are, from the left. */
static void end_word(encoder *e) {
  char bytes[2 + 4 * MAX_WORD] = "##";
  size_t offsets[MAX_WORD + 1];
  size_t first = 0, last, i, begin = e->count;
  size_t length = e->length;
  e->length = 0;
  if (length == 0)
    return;
  if (length > MAX_WORD) {
    put_id(e, e->tokenizer->unknown);
    return;
  }
  offsets[0] = 2;
  for (i = 0; i < length; ++i)
    offsets[i + 1] = offsets[i] + put_utf8(bytes + offsets[i], e->word[i]);
  while (first < length) {
    int64_t id = -1;
    /* A piece that continues a word is spelled with ## in front. */
    char saved[2];
    char *piece = bytes + offsets[first] - (first == 0 ? 0 : 2);
    memcpy(saved, piece, 2);
    if (first != 0)
      memcpy(piece, "##", 2);
    for (last = length; last > first && id < 0; --last)
      id = vocabulary_find(e->tokenizer->vocabulary, piece,
                           (size_t)(bytes + offsets[last] - piece));
    if (first != 0)
      memcpy(piece, saved, 2);
    if (id < 0) { /* the whole word is unknown, not only the rest */
      e->count = begin;
      put_id(e, e->tokenizer->unknown);
      return;
    }
    put_id(e, id);
    first = last + 1;
  }
}

static void put_in_word(encoder *e, uint32_t c) {
  if (e->length <= MAX_WORD)
    e->word[e->length++] = c;
}

/* A word of one code point. */
static void put_alone(encoder *e, uint32_t c) {
  end_word(e);
  put_in_word(e, c);
  end_word(e);
}

size_t wordpiece_encode(const wordpiece *tokenizer, const char *text,
                        int64_t *ids, size_t max_ids) {
  encoder e = {0};
  e.tokenizer = tokenizer;
  e.ids = ids;
  e.max_ids = max_ids - 1; /* for [SEP] */
  put_id(&e, tokenizer->start);
  while (*text != '\0') {
    uint32_t c = next_code_point(&text), folded[3];
    size_t count = 1, i;
    if (is_dropped(c))
      continue;
    if (is_space(c)) {
      end_word(&e);
      continue;
    }
    folded[0] = c;
    if (!vocabulary_is_cased(tokenizer->vocabulary))
      count = fold(c, folded);
    if (is_cjk(c))
      end_word(&e);
    for (i = 0; i < count; ++i)
      if (is_punctuation(folded[i]))
        put_alone(&e, folded[i]);
      else
        put_in_word(&e, folded[i]);
    if (is_cjk(c))
      end_word(&e);
  }
  end_word(&e);
  e.max_ids = max_ids;
  put_id(&e, tokenizer->end);
  return e.count;
}

/* ---- The tokenizer */

wordpiece *wordpiece_open(const char *path, char *error, size_t error_size) {
  static const char *const names[] = {"[UNK]", "[CLS]", "[SEP]", "[PAD]"};
  wordpiece *tokenizer = calloc(1, sizeof(*tokenizer));
  int64_t *ids[4];
  size_t i;
  if (tokenizer == NULL) {
    snprintf(error, error_size, "expected memory, got none");
    return NULL;
  }
  ids[0] = &tokenizer->unknown;
  ids[1] = &tokenizer->start;
  ids[2] = &tokenizer->end;
  ids[3] = &tokenizer->padding;
  tokenizer->vocabulary = vocabulary_open(path, error, error_size);
  if (tokenizer->vocabulary == NULL) {
    wordpiece_close(tokenizer);
    return NULL;
  }
  for (i = 0; i < 4; ++i) {
    *ids[i] = vocabulary_find(tokenizer->vocabulary, names[i], 5);
    if (*ids[i] < 0) {
      snprintf(error, error_size, "%s: expected a token %s, got none", path,
               names[i]);
      wordpiece_close(tokenizer);
      return NULL;
    }
  }
  return tokenizer;
}

void wordpiece_close(wordpiece *tokenizer) {
  if (tokenizer == NULL)
    return;
  vocabulary_close(tokenizer->vocabulary);
  free(tokenizer);
}

int64_t wordpiece_padding(const wordpiece *tokenizer) {
  return tokenizer->padding;
}
