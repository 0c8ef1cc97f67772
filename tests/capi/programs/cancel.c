/* A flag ends long calls of every kind, written before, by a signal handler or by another thread; what follows is as before. */

#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { WORDS = 1000000 };

static volatile sig_atomic_t stopped; /* what a signal handler may write */
static piecework_error *error;
static piecework_tokenizer *tokenizer;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static piecework_encode_options options(void) {
  piecework_encode_options options = {.size = sizeof(options), .num_threads = 2};
  options.cancel = (const volatile uint32_t *)&stopped;
  return options;
}

static void cancelled(bool failed) {
  CHECK(failed);
  expect(&error, PIECEWORK_ERROR_CANCELLED, "cancel", "a request");
}

/* Runs in a thread of its own: Rust keeps 48 bytes for the main thread that waits for others, which valgrind calls possibly lost. */
static void *every_kind_of_call(void *argument) {
  piecework_str text = *(piecework_str *)argument;
  piecework_encode_options used = options();
  piecework_str texts[] = {text, STR("to"), text};
  piecework_segment segments[] = {{text, 0}, {STR("to"), 1}};
  size_t counts[3];
  cancelled(piecework_count(tokenizer, text.data, text.len, &used, &error) == PIECEWORK_FAILED);
  cancelled(piecework_encode_ids(tokenizer, text.data, text.len, &used, NULL, 0, &error) == PIECEWORK_FAILED);
  cancelled(!piecework_encode(tokenizer, "to", 2, text.data, text.len, &used, &error));
  cancelled(!piecework_encode_batch(tokenizer, texts, NULL, 3, &used, &error));
  cancelled(!piecework_count_batch(tokenizer, texts, 3, &used, counts, &error));
  used.num_threads = 0;
  cancelled(!piecework_encode_segments(tokenizer, segments, 2, NULL, 0, &used, &error));
  CHECK(piecework_count(tokenizer, "to be", 5, &used, &error) == 4 && !error);
  CHECK(piecework_count(tokenizer, text.data, text.len, NULL, &error) == WORDS + 2 && !error);
  return NULL;
}

/* Count again and again, until the flag is written. */
static void until_stopped(piecework_str text) {
  piecework_encode_options used = options();
  while (piecework_count(tokenizer, text.data, text.len, &used, &error) != PIECEWORK_FAILED) CHECK(!error);
  cancelled(stopped);
}

static void *write_later(void *flag) {
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  *(volatile uint32_t *)flag = 1;
  return NULL;
}

int main(void) {
  char *words = malloc(WORDS * 3);
  for (size_t at = 0; at < WORDS; at++) memcpy(words + 3 * at, "to ", 3);
  piecework_str text = {words, WORDS * 3};
  tokenizer = load(VOCAB);
  piecework_encode_options used = options();
  CHECK(piecework_count(tokenizer, text.data, text.len, &used, &error) == WORDS + 2 && !error);

  pthread_t thread;
  stopped = 1;
  CHECK(pthread_create(&thread, NULL, every_kind_of_call, &text) == 0 && pthread_join(thread, NULL) == 0);

  stopped = 0;
  signal(SIGALRM, stop);
  CHECK(setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 50000}}, NULL) == 0);
  until_stopped(text);

  stopped = 0;
  CHECK(pthread_create(&thread, NULL, write_later, (void *)&stopped) == 0);
  until_stopped(text);
  CHECK(pthread_join(thread, NULL) == 0);

  used.cancel = (const volatile uint32_t *)((const volatile char *)&stopped + 1);
  CHECK(piecework_count(tokenizer, "to", 2, &used, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "options.cancel", "aligned");
  piecework_tokenizer_free(tokenizer);
  free(words);
  puts("equal");
}
