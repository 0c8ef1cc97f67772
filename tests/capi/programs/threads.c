/* One tokenizer, 64 threads: each gets the same ids. No function keeps anything for a thread. */

#include "check.h"

#include <pthread.h>

enum { THREADS = 64, ROUNDS = 200 };

static const piecework_tokenizer *tokenizer;
static const char *const texts[] = {"to be", "or not to bes", "\xF0\x9F\xA4\x97 be", "", "[SEP]"};
static size_t expected[5];

static void *encode(void *argument) {
  size_t number = *(size_t *)argument;
  for (size_t round = 0; round < ROUNDS; round++) {
    const char *text = texts[(round + number) % 5];
    uint32_t ids[16];
    piecework_error *error = NULL;
    size_t count = piecework_encode_ids(tokenizer, text, strlen(text), NULL, ids, 16, &error);
    CHECK(count == expected[(round + number) % 5] && !error);
    CHECK(piecework_count(tokenizer, "\xFF", 1, NULL, &error) == PIECEWORK_FAILED);
    expect(&error, PIECEWORK_ERROR_UTF8, "text", "byte 0");
    piecework_encoding *encoding = piecework_encode(tokenizer, text, strlen(text), NULL, 0, NULL, &error);
    CHECK(piecework_encoding_len(encoding) == count && memcmp(piecework_encoding_ids(encoding), ids, 4 * count) == 0);
    piecework_encoding_free(encoding);
    char decoded[64];
    CHECK(piecework_decode(tokenizer, ids, count, NULL, decoded, 64, &error) != PIECEWORK_FAILED);
  }
  return NULL;
}

int main(void) {
  piecework_tokenizer *loaded = load(VOCAB);
  pthread_t threads[THREADS];
  size_t numbers[THREADS];
  tokenizer = loaded;
  for (size_t at = 0; at < 5; at++) expected[at] = piecework_count(loaded, texts[at], strlen(texts[at]), NULL, NULL);
  for (size_t at = 0; at < THREADS; at++) {
    numbers[at] = at;
    CHECK(pthread_create(&threads[at], NULL, encode, &numbers[at]) == 0);
  }
  for (size_t at = 0; at < THREADS; at++) CHECK(pthread_join(threads[at], NULL) == 0);
  piecework_tokenizer_free(loaded);
  puts("equal");
}
