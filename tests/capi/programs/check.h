/* What the programs of this folder share: a check that stops the program, and small tokenizers. */

#ifndef CHECK_H
#define CHECK_H

#include <piecework.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

#define STR(text) ((piecework_str){text, sizeof(text) - 1})

static const char VOCAB[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\nor\nnot\n\xC3\xA9\n";

static inline piecework_tokenizer *load(const char *bytes) {
  piecework_error *error = NULL;
  piecework_tokenizer *tokenizer = piecework_load_bytes(bytes, strlen(bytes), NULL, &error);
  CHECK(tokenizer && !error);
  return tokenizer;
}

/* Check the kind, the place and a part of the message of an error, and free it. */
static inline void expect(piecework_error **error, uint32_t kind, const char *place, const char *part) {
  size_t len, place_len;
  CHECK(*error);
  const char *message = piecework_error_message(*error, &len), *found = piecework_error_place(*error, &place_len);
  if (piecework_error_kind(*error) != kind || !strstr(message, part)) fprintf(stderr, "found: %s\n", message);
  CHECK(piecework_error_kind(*error) == kind);
  CHECK(strlen(message) == len && strstr(message, part));
  CHECK(place_len == strlen(place) && memcmp(found, place, place_len) == 0);
  piecework_error_free(*error);
  *error = NULL;
}

#endif
