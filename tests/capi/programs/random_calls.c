/* Calls with random texts, lengths, ids and options, and with damaged files: random_calls FILE SEED CALLS
 *
 * A call fails with an error, or succeeds without one. Valgrind or AddressSanitizer see the rest. */

#include "check.h"

static uint64_t state;
static piecework_error *error;

/* xorshift64* */
static uint32_t below(uint32_t limit) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * 0x2545F4914F6CDD1D) >> 33) % limit;
}

static void check(bool succeeded) {
  CHECK(succeeded == !error);
  piecework_error_free(error);
  error = NULL;
}

/* Make a string of its own block, so that a read past its end is seen. */
static piecework_str text(void) {
  static const char *const pieces[] = {"to", " be", "[SEP]", "##s", "\xC3\xA9", "\xF0\x9F\xA4\x97", "\xFF", "\xE2\x82", "", " ", "\n", "not"};
  char bytes[128];
  size_t len = 0, count = below(12);
  while (count-- > 0) {
    const char *piece = pieces[below(12)];
    memcpy(bytes + len, piece, strlen(piece));
    len += strlen(piece);
  }
  if (len == 0 && below(2)) return (piecework_str){NULL, 0};
  char *copy = malloc(len + !len);
  memcpy(copy, bytes, len);
  return (piecework_str){copy, len};
}

static void drop(piecework_str string) { free((char *)string.data); }

static piecework_encode_options options(void) {
  piecework_encode_options options = {.size = sizeof(options)};
  uint32_t most = below(8) ? 3 : 6; /* seldom out of range */
  options.add_special_tokens = below(most);
  options.parse_special = below(most);
  options.invalid_utf8 = below(most) > 0;
  options.offset_unit = below(most);
  options.offsets = below(most);
  options.overflow = below(most);
  options.num_threads = below(3);
  if (below(50) == 0) options.size -= below(80);
  return options;
}

static void encode(const piecework_tokenizer *tokenizer) {
  piecework_str first = text(), second = text();
  piecework_encode_options used = options();
  size_t capacity = below(8);
  uint32_t *ids = malloc(sizeof(uint32_t) * (capacity + 1));
  size_t count = piecework_encode_ids(tokenizer, first.data, first.len, below(4) ? &used : NULL, ids, capacity, &error);
  bool fits = count <= capacity;
  check(count != PIECEWORK_FAILED);
  char decoded[64];
  if (fits) check(piecework_decode(tokenizer, ids, count, NULL, decoded, below(64), &error) != PIECEWORK_FAILED);
  free(ids);
  piecework_encoding *encoding = piecework_encode(tokenizer, first.data, first.len, second.data, second.len, &used, &error);
  check(encoding);
  size_t len;
  for (size_t at = 0; at < piecework_encoding_len(encoding); at++) {
    piecework_span span = piecework_encoding_offsets(encoding)[at];
    CHECK(span.start <= span.end && piecework_encoding_token(encoding, at, &len));
  }
  piecework_encoding_free(encoding);
  drop(first);
  drop(second);
}

static void encode_many(const piecework_tokenizer *tokenizer) {
  piecework_str texts[4], pairs[4];
  piecework_segment segments[4];
  size_t counts[4], count = below(5);
  for (size_t at = 0; at < count; at++) {
    texts[at] = text();
    pairs[at] = text();
    segments[at].text = texts[at];
    segments[at].allow_special = below(20) ? below(2) : below(4);
  }
  piecework_encode_options used = options();
  piecework_batch *batch = piecework_encode_batch(tokenizer, texts, below(2) ? pairs : NULL, count, &used, &error);
  check(batch);
  if (batch) CHECK(piecework_batch_row_offsets(batch)[piecework_batch_len(batch)] >= 0);
  piecework_batch_free(batch);
  check(piecework_count_batch(tokenizer, texts, count, &used, counts, &error));
  piecework_encoding *encoding = piecework_encode_segments(tokenizer, segments, count, texts, count && below(2), below(2) ? &used : NULL, &error);
  check(encoding);
  piecework_encoding_free(encoding);
  for (size_t at = 0; at < count; at++) {
    drop(texts[at]);
    drop(pairs[at]);
  }
}

static void decode(const piecework_tokenizer *tokenizer) {
  uint32_t ids[6];
  char bytes[16];
  size_t len, count = below(7);
  for (size_t at = 0; at < count; at++) ids[at] = below(12) ? below(14) : below(1u << 30) * 4;
  piecework_decode_options used = {.size = sizeof(used), .skip_special_tokens = below(4), .clean_up = below(4)};
  check(piecework_decode(tokenizer, ids, count, &used, bytes, below(17), &error) != PIECEWORK_FAILED);
  check(piecework_decode_bytes(tokenizer, ids, count, bytes, below(17), &error) != PIECEWORK_FAILED);
  piecework_stream *stream = piecework_decode_stream(tokenizer, ids, below((uint32_t)count + 1), &used, &error);
  check(stream);
  for (size_t at = 0; stream && at < count; at++) check(piecework_stream_step(stream, ids[at], &len, &error));
  if (stream) check(piecework_stream_finish(stream, &len, &error));
  piecework_stream_free(stream);
  for (size_t at = 0; at < count; at++) {
    piecework_id_to_token(tokenizer, ids[at], &len);
    piecework_token_bytes(tokenizer, ids[at], bytes, below(17));
  }
}

static void spend(const piecework_tokenizer *tokenizer) {
  piecework_encode_options used = options();
  if (below(2)) used = (piecework_encode_options){.size = sizeof(used), .parse_special = below(5), .invalid_utf8 = below(2)};
  piecework_growing_text *growing = piecework_growing_text_new(tokenizer, below(4) ? &used : NULL, &error);
  check(growing);
  size_t len, stable = 0;
  for (uint32_t appends = growing ? below(5) : 0; appends > 0; appends--) {
    piecework_str part = text();
    check(piecework_growing_text_append(growing, part.data, part.len, &error));
    drop(part);
    CHECK(stable <= piecework_growing_text_num_stable(growing) && piecework_growing_text_ids(growing, &len));
    stable = piecework_growing_text_num_stable(growing);
    CHECK(stable <= len);
  }
  piecework_growing_text_free(growing);

  piecework_str whole = text();
  size_t capacity = below(6);
  piecework_chunk *chunks = malloc(sizeof(piecework_chunk) * (capacity + 1));
  piecework_chunk_options chunking = {.size = sizeof(chunking), .max_tokens = below(20) ? below(12) : SIZE_MAX, .overlap = below(4), .unit = below(4) ? below(4) : below(6)};
  size_t count = piecework_chunk_text(tokenizer, whole.data, whole.len, below(20) ? &chunking : NULL, below(4) ? &used : NULL, chunks, capacity, &error);
  for (size_t at = 0; count <= capacity && at < count; at++) CHECK(chunks[at].start < chunks[at].end && chunks[at].num_tokens <= chunking.max_tokens);
  check(count != PIECEWORK_FAILED);
  free(chunks);
  drop(whole);

  size_t messages = below(5), kept_capacity = below(6);
  piecework_message *conversation = malloc(sizeof(piecework_message) * (messages + 1));
  size_t *kept = malloc(sizeof(size_t) * (kept_capacity + 1));
  for (size_t at = 0; at < messages; at++) conversation[at] = (piecework_message){below(9), below(3) ? 0 : below(5), below(30) ? below(4) : below(9)};
  count = piecework_fit_messages(conversation, messages, below(20), kept, kept_capacity, &error);
  for (size_t at = 0; count <= kept_capacity && at < count; at++) CHECK(kept[at] < messages);
  check(count != PIECEWORK_FAILED);
  free(conversation);
  free(kept);
}

static void change_lengths(const piecework_tokenizer *tokenizer) {
  piecework_truncation truncation = {.size = sizeof(truncation), .max_length = below(6), .stride = below(3)};
  truncation.strategy = below(4);
  truncation.side = below(3);
  piecework_padding padding = {.size = sizeof(padding), .length = below(9), .multiple_of = below(4), .side = below(3)};
  piecework_str token = padding.pad_token = text();
  piecework_tokenizer *cutting = piecework_with_truncation(tokenizer, &truncation, &error);
  check(cutting);
  piecework_tokenizer *both = cutting ? piecework_with_padding(cutting, &padding, &error) : NULL;
  if (cutting) check(both);
  if (both) encode(both), encode_many(both), spend(both);
  piecework_tokenizer_free(cutting);
  piecework_tokenizer_free(both);
  drop(token);
}

/* Load a file in which some bytes were changed, or whose end is missing. */
static void load_damaged(const char *file, size_t len) {
  size_t left = below(3) ? len : below((uint32_t)len + 1);
  char *copy = malloc(left + !left);
  memcpy(copy, file, left);
  for (uint32_t changes = below(4); changes > 0 && left > 0; changes--) copy[below((uint32_t)left)] = (char)below(256);
  piecework_tokenizer *tokenizer = piecework_load_bytes(copy, left, NULL, &error);
  free(copy);
  check(tokenizer);
  if (tokenizer) encode(tokenizer), decode(tokenizer);
  piecework_tokenizer_free(tokenizer);
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  state = strtoull(argv[2], NULL, 10) * 2 + 1;
  FILE *file = fopen(argv[1], "rb");
  CHECK(file);
  char *content = malloc(1 << 20);
  size_t len = fread(content, 1, 1 << 20, file);
  fclose(file);
  piecework_tokenizer *tokenizer = load(VOCAB);
  static void (*const calls[])(const piecework_tokenizer *) = {encode, encode_many, decode, change_lengths, spend};
  for (unsigned long left = strtoul(argv[3], NULL, 10); left > 0; left--) {
    uint32_t kind = below(6);
    if (kind < 5) calls[kind](tokenizer);
    else load_damaged(content, len);
  }
  piecework_tokenizer_free(tokenizer);
  free(content);
  puts("equal");
}
