/* Calls with random texts, lengths, ids, options and structures, and with damaged files: random_calls SEED CALLS FILE...
 *
 * A call fails with an error, or succeeds without one. Valgrind or AddressSanitizer see the rest: every input and every buffer is a block
 * of its own with its exact size. */

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

/* Copy a structure to a block of its own. Seldom, its size is another one: shorter, or longer with a rest that is not always 0. */
static void *sized(const void *structure, size_t size) {
  size_t used = below(20) ? size : below(2) ? below((uint32_t)size) : size + below(100);
  size_t readable = used < sizeof(size_t) ? sizeof(size_t) : used;
  char *copy = calloc(1, readable);
  memcpy(copy, structure, readable < size ? readable : size);
  if (readable > size && below(2)) copy[size + below((uint32_t)(readable - size))] = 1;
  memcpy(copy, &used, sizeof(used));
  return copy;
}

static piecework_encode_options *encode_options(const piecework_str *token) {
  static const uint32_t cancel[] = {0, 1};
  piecework_encode_options options = {0};
  uint32_t most = below(8) ? 3 : 6; /* seldom out of range */
  if (below(4) == 0) return NULL;
  options.add_special_tokens = below(most);
  options.parse_special = below(most);
  options.invalid_utf8 = below(most) > 0;
  options.offset_unit = below(most);
  options.offsets = below(most);
  options.overflow = below(most);
  options.num_threads = below(3);
  if (below(4) == 0) options.cancel = cancel + below(2);
  if (below(30) == 0) options.cancel = (const uint32_t *)((const char *)cancel + 1);
  if (below(8) == 0) options.parsed_tokens = token, options.parsed_token_count = below(2);
  return sized(&options, sizeof(options));
}

static piecework_decode_options *decode_options(void) {
  piecework_decode_options options = {.skip_special_tokens = below(4), .clean_up = below(4)};
  return below(4) ? sized(&options, sizeof(options)) : NULL;
}

static void check_encoding(const piecework_encoding *encoding) {
  size_t len, count, tokens = piecework_encoding_len(encoding);
  for (size_t at = 0; at < tokens; at++) {
    piecework_span span = piecework_encoding_offsets(encoding)[at];
    CHECK(span.start <= span.end && piecework_encoding_token(encoding, at, &len));
    CHECK(piecework_encoding_word_ids(encoding)[at] >= -1 && piecework_encoding_sequence_ids(encoding)[at] >= -1);
    CHECK(piecework_encoding_attention_mask(encoding)[at] <= 1 && piecework_encoding_special_tokens_mask(encoding)[at] <= 1);
  }
  CHECK(!piecework_encoding_token(encoding, tokens, NULL) && !piecework_encoding_token(encoding, SIZE_MAX - below(2), &len));
  size_t windows = piecework_encoding_window_count(encoding);
  if (windows > 0) check_encoding(piecework_encoding_window(encoding, below((uint32_t)windows)));
  CHECK(!piecework_encoding_window(encoding, windows));
  const piecework_span *segments = piecework_encoding_segments(encoding, &count);
  for (size_t at = 0; at < count; at++) CHECK(segments[at].start <= segments[at].end && segments[at].end <= tokens);
}

static void encode(const piecework_tokenizer *tokenizer) {
  piecework_str first = text(), second = text(), token = text();
  piecework_encode_options *used = encode_options(&token);
  size_t capacity = below(8);
  uint32_t *ids = malloc(sizeof(uint32_t) * capacity + 1);
  size_t count = piecework_encode_ids(tokenizer, first.data, first.len, used, ids, capacity, &error);
  check(count != PIECEWORK_FAILED);
  if (count <= capacity) {
    piecework_decode_options *decoding = decode_options();
    size_t room = below(64);
    char *decoded = malloc(room + 1);
    check(piecework_decode(tokenizer, ids, count, decoding, decoded, room, &error) != PIECEWORK_FAILED);
    free(decoded);
    free(decoding);
  }
  free(ids);
  check(piecework_count(below(50) ? tokenizer : NULL, first.data, below(50) ? first.len : SIZE_MAX - below(9), used, &error) != PIECEWORK_FAILED);
  piecework_encoding *encoding = piecework_encode(tokenizer, first.data, first.len, second.data, second.len, used, &error);
  check(encoding);
  check_encoding(encoding);
  piecework_encoding_free(encoding);
  free(used);
  drop(first), drop(second), drop(token);
}

static void encode_many(const piecework_tokenizer *tokenizer) {
  size_t count = below(5), size = count + !count;
  piecework_str *texts = malloc(size * sizeof(*texts)), *pairs = malloc(size * sizeof(*pairs)), token = text();
  piecework_segment *segments = malloc(size * sizeof(*segments));
  size_t *counts = malloc(size * sizeof(*counts));
  for (size_t at = 0; at < count; at++) {
    texts[at] = text();
    pairs[at] = text();
    segments[at].text = texts[at];
    segments[at].allow_special = below(20) ? below(2) : below(4);
  }
  piecework_encode_options *used = encode_options(&token);
  piecework_batch *batch = piecework_encode_batch(tokenizer, texts, below(2) ? pairs : NULL, count, used, &error);
  check(batch);
  size_t rows = piecework_batch_len(batch);
  if (batch) CHECK(piecework_batch_row_offsets(batch)[rows] >= 0);
  for (size_t row = 0; row < rows; row++) CHECK(piecework_batch_samples(batch)[row] < count);
  piecework_batch_free(batch);
  check(piecework_count_batch(tokenizer, texts, count, used, counts, &error));
  piecework_encoding *encoding = piecework_encode_segments(tokenizer, segments, count, texts, count && below(2), below(2) ? used : NULL, &error);
  check(encoding);
  check_encoding(encoding);
  piecework_encoding_free(encoding);
  for (size_t at = 0; at < count; at++) drop(texts[at]), drop(pairs[at]);
  drop(token);
  free(used), free(texts), free(pairs), free(segments), free(counts);
}

static void decode(const piecework_tokenizer *tokenizer) {
  size_t len, count = below(7), room = below(17);
  uint32_t *ids = malloc(count * sizeof(*ids) + 1);
  char *bytes = malloc(room + 1);
  for (size_t at = 0; at < count; at++) ids[at] = below(12) ? below(14) : below(1u << 30) * 4;
  piecework_decode_options *used = decode_options();
  check(piecework_decode(tokenizer, ids, count, used, bytes, room, &error) != PIECEWORK_FAILED);
  check(piecework_decode_bytes(tokenizer, ids, below(50) ? count : SIZE_MAX / 4, bytes, room, &error) != PIECEWORK_FAILED);
  piecework_stream *stream = piecework_decode_stream(tokenizer, ids, below((uint32_t)count + 1), used, &error);
  check(stream);
  for (size_t at = 0; stream && at < count; at++) check(piecework_stream_step(stream, ids[at], &len, &error));
  if (stream) check(piecework_stream_finish(stream, &len, &error));
  piecework_stream_free(stream);
  for (size_t at = 0; at < count; at++) {
    const char *token = piecework_id_to_token(tokenizer, ids[at], &len);
    if (token) CHECK(piecework_token_to_id(tokenizer, token, len, below(2) ? &ids[at] : NULL));
    piecework_token_bytes(tokenizer, ids[at], bytes, room);
  }
  free(used), free(ids), free(bytes);
}

static void spend(const piecework_tokenizer *tokenizer) {
  piecework_str token = text();
  piecework_encode_options *used = encode_options(&token);
  piecework_encode_options plain = {.size = sizeof(plain), .parse_special = below(5), .invalid_utf8 = below(2)};
  piecework_growing_text *growing = piecework_growing_text_new(tokenizer, below(2) ? used : &plain, &error);
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
  size_t count = piecework_chunk_text(tokenizer, whole.data, whole.len, below(20) ? &chunking : NULL, used, chunks, capacity, &error);
  for (size_t at = 0; count <= capacity && at < count; at++) CHECK(chunks[at].start < chunks[at].end && chunks[at].num_tokens <= chunking.max_tokens);
  check(count != PIECEWORK_FAILED);
  free(chunks), free(used);
  drop(whole), drop(token);

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
  piecework_truncation truncation = {.max_length = below(20) ? below(6) : SIZE_MAX - below(6), .stride = below(3), .strategy = below(4), .side = below(3)};
  piecework_padding padding = {.pad_token = text(), .length = below(9), .multiple_of = below(4), .pad_id = below(12), .side = below(3)};
  void *cut = sized(&truncation, sizeof(truncation)), *padded = sized(&padding, sizeof(padding));
  piecework_tokenizer *cutting = piecework_with_truncation(tokenizer, below(9) ? cut : NULL, &error);
  check(cutting);
  piecework_tokenizer *both = cutting ? piecework_with_padding(cutting, below(9) ? padded : NULL, &error) : NULL;
  if (cutting) check(both);
  piecework_tokenizer_free(cutting);
  if (both) encode(both), encode_many(both), spend(both);
  piecework_tokenizer_free(both);
  drop(padding.pad_token);
  free(cut), free(padded);
}

static void look_up(const piecework_tokenizer *tokenizer) {
  piecework_str token = text();
  uint32_t id;
  char digits[64];
  if (piecework_token_to_id(tokenizer, token.data, token.len, &id)) CHECK(piecework_id_to_token(tokenizer, id, NULL));
  CHECK(piecework_fingerprint(tokenizer, digits, below(65), &error) == 64 && piecework_vocab_size(tokenizer) > 0);
  if (below(8) == 0) piecework_warm_up(tokenizer);
  drop(token);
}

static void (*const calls[])(const piecework_tokenizer *) = {encode, encode_many, decode, change_lengths, look_up, spend};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

/* Return settings for what a file lacks, which most files refuse; `strings` are used in them. */
static piecework_load_options *load_options(const piecework_str strings[2], const piecework_special_token *special) {
  piecework_load_options options = {.lowercase = below(3)};
  if (below(3)) return NULL;
  if (below(2)) options.patterns = strings, options.pattern_count = below(3);
  if (below(2)) options.special_tokens = special, options.special_token_count = 1;
  if (below(8) == 0) options.merges = strings[1];
  return sized(&options, sizeof(options));
}

/* Load a file in which some bytes were changed, or whose end is missing, and call everything. */
static void load_damaged(piecework_str file) {
  size_t left = below(8) ? file.len : below((uint32_t)file.len + 1);
  char *copy = malloc(left + !left);
  memcpy(copy, file.data, left);
  for (uint32_t changes = below(4); changes > 0 && left > 0; changes--) copy[below((uint32_t)left)] = (char)below(256);
  piecework_str strings[] = {text(), text()};
  piecework_special_token special = {text(), below(9000)};
  piecework_load_options *used = load_options(strings, &special);
  piecework_tokenizer *tokenizer = piecework_load_bytes(copy, left, used, &error);
  check(tokenizer);
  free(copy), free(used);
  drop(strings[0]), drop(strings[1]), drop(special.token);
  for (size_t at = 0; tokenizer && at < CALLS; at++) calls[at](tokenizer);
  piecework_tokenizer_free(tokenizer);
}

static piecework_str content(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file);
  char *bytes = malloc(1 << 20);
  size_t len = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return (piecework_str){bytes, len};
}

int main(int argc, char **argv) {
  CHECK(argc > 3);
  state = strtoull(argv[1], NULL, 10) * 2 + 1;
  uint32_t count = (uint32_t)argc - 3;
  piecework_str *files = malloc(sizeof(*files) * count);
  for (uint32_t at = 0; at < count; at++) files[at] = content(argv[at + 3]);
  piecework_tokenizer *tokenizer = load(VOCAB);
  for (unsigned long left = strtoul(argv[2], NULL, 10); left > 0; left--) {
    if (below(2)) load_damaged(files[below(count)]);
    else calls[below(CALLS)](tokenizer);
  }
  piecework_tokenizer_free(tokenizer);
  for (uint32_t at = 0; at < count; at++) drop(files[at]);
  free(files);
  puts("equal");
}
