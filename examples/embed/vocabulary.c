/*===- vocabulary.c - tokens and their ids ------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* The file stays in memory and the table points into it. Strings of
 * tokenizer.json are decoded in place: they only get shorter. */
#include "vocabulary.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *token; /* NULL: free */
  size_t length;
  int64_t id;
} entry;

struct vocabulary {
  char *text;
  entry *entries;
  size_t capacity; /* a power of two, more than twice `count` */
  size_t count;
  int cased;
};

static size_t hash(const char *token, size_t length) { /* FNV-1a */
  uint64_t value = 0xcbf29ce484222325u;
  size_t i;
  for (i = 0; i < length; ++i)
    value = (value ^ (unsigned char)token[i]) * 0x100000001b3u;
  return (size_t)(value ^ (value >> 32));
}

/* The entry of a token, or the free one where it belongs. */
static entry *slot(const vocabulary *v, const char *token, size_t length) {
  size_t i = hash(token, length) & (v->capacity - 1);
  while (v->entries[i].token != NULL &&
         (v->entries[i].length != length ||
          memcmp(v->entries[i].token, token, length) != 0))
    i = (i + 1) & (v->capacity - 1);
  return &v->entries[i];
}

int64_t vocabulary_find(const vocabulary *v, const char *token, size_t length) {
  const entry *found = slot(v, token, length);
  return found->token == NULL ? -1 : found->id;
}

int vocabulary_is_cased(const vocabulary *v) { return v->cased; }

/* Returns 0 if there is no memory. */
static int add(vocabulary *v, const char *token, size_t length, int64_t id) {
  entry *place;
  if (2 * (v->count + 1) > v->capacity) {
    vocabulary larger = *v;
    size_t i;
    larger.capacity = v->capacity == 0 ? 1024 : 2 * v->capacity;
    larger.entries = calloc(larger.capacity, sizeof(entry));
    if (larger.entries == NULL)
      return 0;
    for (i = 0; i < v->capacity; ++i)
      if (v->entries[i].token != NULL)
        *slot(&larger, v->entries[i].token, v->entries[i].length) =
            v->entries[i];
    free(v->entries);
    *v = larger;
  }
  place = slot(v, token, length);
  if (place->token == NULL)
    ++v->count;
  place->token = token;
  place->length = length;
  place->id = id;
  return 1;
}

/* ---- vocab.txt: the id of a token is the number of its line. */

static int read_lines(vocabulary *v) {
  char *line = v->text;
  int64_t id = 0;
  while (*line != '\0') {
    size_t length = strcspn(line, "\n");
    char *next = line + length + (line[length] == '\n');
    if (length > 0 && line[length - 1] == '\r')
      --length;
    if (!add(v, line, length, id++))
      return 0;
    line = next;
  }
  return 1;
}

/* ---- tokenizer.json: "vocab": {"token": id, ...} */

static char *skip_spaces(char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
    ++at;
  return at;
}

/* The value of the first key of that name, or NULL. */
static char *find_value(char *text, const char *quoted_key) {
  char *at;
  for (at = text; (at = strstr(at, quoted_key)) != NULL;) {
    char *after = skip_spaces(at += strlen(quoted_key));
    if (*after == ':')
      return skip_spaces(after + 1);
  }
  return NULL;
}

static char *put_utf8(char *out, unsigned long c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xC0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *out++ = (char)(0xE0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  } else {
    *out++ = (char)(0xF0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3F));
    *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    *out++ = (char)(0x80 | (c & 0x3F));
  }
  return out;
}

/* Reads the four digits of \uXXXX; -1 if there are none. */
static long hex4(const char *at) {
  long value = 0;
  int i;
  for (i = 0; i < 4; ++i) {
    if (!isxdigit((unsigned char)at[i]))
      return -1;
    value = value * 16 + (isdigit((unsigned char)at[i])
                              ? at[i] - '0'
                              : tolower((unsigned char)at[i]) - 'a' + 10);
  }
  return value;
}

/* Decodes the string that begins after a quote at `*at`, in place. Returns its
 * length and moves `*at` behind the closing quote; NULL there if the string is
 * malformed. */
static size_t decode_string(char **at) {
  char *in = *at, *out = *at;
  while (*in != '"') {
    static const char codes[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *code;
    long c, low;
    if (*in == '\0') {
      *at = NULL;
      return 0;
    }
    if (*in != '\\') {
      *out++ = *in++;
      continue;
    }
    code = in[1] == '\0' ? NULL : strchr(codes, in[1]);
    if (code != NULL) {
      *out++ = values[code - codes];
      in += 2;
      continue;
    }
    if (in[1] != 'u' || (c = hex4(in + 2)) < 0) {
      *at = NULL;
      return 0;
    }
    in += 6;
    if (c >= 0xD800 && c < 0xDC00 && in[0] == '\\' && in[1] == 'u' &&
        (low = hex4(in + 2)) >= 0xDC00 && low < 0xE000) {
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      in += 6;
    }
    out = put_utf8(out, (unsigned long)c);
  }
  {
    size_t length = (size_t)(out - *at);
    *at = in + 1;
    return length;
  }
}

/* Returns NULL, or what is wrong. */
static const char *read_json(vocabulary *v) {
  char *type, *lowercase, *at;
  for (type = v->text; (type = find_value(type, "\"type\"")) != NULL;)
    if (strncmp(type, "\"WordPiece\"", 11) == 0)
      break;
  if (type == NULL)
    return "expected a tokenizer of type WordPiece, got another";
  lowercase = find_value(v->text, "\"lowercase\"");
  v->cased = lowercase != NULL && strncmp(lowercase, "false", 5) == 0;
  at = find_value(v->text, "\"vocab\"");
  if (at == NULL || *at != '{')
    return "expected an object \"vocab\", got none";
  at = skip_spaces(at + 1);
  while (*at == '"') {
    char *token = ++at, *end;
    size_t length = decode_string(&at);
    long long id;
    if (at == NULL || *(at = skip_spaces(at)) != ':')
      break;
    id = strtoll(skip_spaces(at + 1), &end, 10);
    if (end == at + 1 || id < 0)
      break;
    if (!add(v, token, length, id))
      return "expected memory for the vocabulary, got none";
    at = skip_spaces(end);
    if (*at == '}')
      return NULL;
    if (*at == ',')
      at = skip_spaces(at + 1);
  }
  return "expected \"vocab\" to map tokens to ids, got other text";
}

/* ---- The file. */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t size = 0, capacity = 0, got;
  if (file == NULL)
    return NULL;
  do {
    char *larger;
    capacity = capacity == 0 ? 1 << 16 : 2 * capacity;
    larger = realloc(text, capacity + 1);
    if (larger == NULL)
      break;
    text = larger;
    got = fread(text + size, 1, capacity - size, file);
    size += got;
  } while (size == capacity);
  if (ferror(file) || size == capacity) {
    free(text);
    text = NULL;
  } else {
    text[size] = '\0';
  }
  fclose(file);
  return text;
}

vocabulary *vocabulary_open(const char *path, char *error, size_t error_size) {
  size_t length = strlen(path);
  const char *problem;
  vocabulary *v = calloc(1, sizeof(*v));
  if (v != NULL && (v->text = read_file(path)) == NULL) {
    problem = strerror(errno);
  } else if (v == NULL) {
    problem = "expected memory for the vocabulary, got none";
  } else if (length > 5 && strcmp(path + length - 5, ".json") == 0) {
    problem = read_json(v);
  } else {
    problem =
        read_lines(v) ? NULL : "expected memory for the vocabulary, got none";
  }
  if (problem == NULL && v->count == 0)
    problem = "expected tokens, got an empty file";
  if (problem == NULL)
    return v;
  snprintf(error, error_size, "%s: %s", path, problem);
  vocabulary_close(v);
  return NULL;
}

void vocabulary_close(vocabulary *v) {
  if (v == NULL)
    return;
  free(v->entries);
  free(v->text);
  free(v);
}
