/* Every function, with arguments that are right. */

#include "check.h"

static piecework_error *error;

static bool ids_are(const piecework_encoding *encoding, const uint32_t *ids, size_t count) {
  return piecework_encoding_len(encoding) == count && memcmp(piecework_encoding_ids(encoding), ids, count * sizeof(*ids)) == 0;
}
#define IDS_ARE(encoding, ...) ids_are(encoding, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static bool span_is(piecework_span span, size_t start, size_t end) { return span.start == start && span.end == end; }

static void encode_ids(const piecework_tokenizer *tokenizer) {
  uint32_t ids[8];
  piecework_encode_options options = {.size = sizeof(options), .add_special_tokens = PIECEWORK_NO};
  CHECK(piecework_encode_ids(tokenizer, "to bes", 6, NULL, ids, 8, &error) == 5);
  CHECK(memcmp(ids, (uint32_t[]){2, 4, 5, 6, 3}, 20) == 0);
  CHECK(piecework_encode_ids(tokenizer, "to bes", 6, &options, ids, 3, &error) == 3 && ids[2] == 6);
  CHECK(piecework_count(tokenizer, "to bes", 6, &options, &error) == 3);
  CHECK(piecework_count(tokenizer, NULL, 0, NULL, NULL) == 2);
  options.parse_special = PIECEWORK_PARSE_NOTHING;
  CHECK(piecework_encode_ids(tokenizer, "[SEP]", 5, &options, ids, 8, &error) == 3 && ids[0] == 1);
  options.parse_special = PIECEWORK_PARSE_DEFAULT;
  piecework_str only = STR("[CLS]");
  options.parsed_tokens = &only;
  options.parsed_token_count = 1;
  CHECK(piecework_encode_ids(tokenizer, "[CLS][SEP]", 10, &options, ids, 8, &error) == 4 && ids[0] == 2 && ids[1] == 1);
  options.parsed_token_count = 0;
  CHECK(piecework_encode_ids(tokenizer, "[CLS]", 5, &options, ids, 8, &error) == 3 && ids[0] == 1);
}

static void encode_with_every_field(const piecework_tokenizer *tokenizer) {
  size_t len;
  piecework_encoding *encoding = piecework_encode(tokenizer, "\xF0\x9F\xA4\x97 bes", 8, "not", 3, NULL, &error);
  CHECK(encoding && IDS_ARE(encoding, 2, 1, 5, 6, 3, 8, 3));
  CHECK(memcmp(piecework_encoding_type_ids(encoding), (uint32_t[]){0, 0, 0, 0, 0, 1, 1}, 28) == 0);
  CHECK(memcmp(piecework_encoding_sequence_ids(encoding), (int32_t[]){-1, 0, 0, 0, -1, 1, -1}, 28) == 0);
  CHECK(memcmp(piecework_encoding_word_ids(encoding), (int32_t[]){-1, 0, 1, 1, -1, 0, -1}, 28) == 0);
  CHECK(memcmp(piecework_encoding_special_tokens_mask(encoding), (uint8_t[]){1, 0, 0, 0, 1, 0, 1}, 7) == 0);
  CHECK(memcmp(piecework_encoding_attention_mask(encoding), (uint8_t[]){1, 1, 1, 1, 1, 1, 1}, 7) == 0);
  CHECK(span_is(piecework_encoding_offsets(encoding)[2], 5, 7) && span_is(piecework_encoding_offsets(encoding)[5], 0, 3));
  CHECK(strncmp(piecework_encoding_token(encoding, 3, &len), "##s", 3) == 0 && len == 3);
  CHECK(!piecework_encoding_token(encoding, 7, &len) && len == 0);
  piecework_encoding_free(encoding);

  const size_t starts[] = {5, 2, 3};
  for (uint32_t unit = PIECEWORK_BYTES; unit <= PIECEWORK_UTF16; unit++) {
    piecework_encode_options options = {.size = sizeof(options), .offset_unit = unit, .offsets = PIECEWORK_YES};
    encoding = piecework_encode(tokenizer, "\xF0\x9F\xA4\x97 bes", 8, NULL, 0, &options, &error);
    CHECK(span_is(piecework_encoding_offsets(encoding)[2], starts[unit], starts[unit] + 2));
    piecework_encoding_free(encoding);
    piecework_batch *batch = piecework_encode_batch(tokenizer, &STR("\xF0\x9F\xA4\x97 bes"), NULL, 1, &options, &error);
    CHECK(span_is(piecework_batch_offsets(batch)[2], starts[unit], starts[unit] + 2));
    piecework_batch_free(batch);
  }
  /* A pair that is empty is a pair. */
  encoding = piecework_encode(tokenizer, "to", 2, "", 0, NULL, &error);
  CHECK(IDS_ARE(encoding, 2, 4, 3, 3));
  piecework_encoding_free(encoding);
}

static void truncate_and_pad(const piecework_tokenizer *tokenizer) {
  piecework_truncation truncation = {.size = sizeof(truncation), .max_length = 4, .stride = 1};
  piecework_tokenizer *cutting = piecework_with_truncation(tokenizer, &truncation, &error);
  piecework_encoding *encoding = piecework_encode(cutting, "to be or", 8, NULL, 0, NULL, &error);
  CHECK(IDS_ARE(encoding, 2, 4, 5, 3) && piecework_encoding_window_count(encoding) == 1);
  CHECK(IDS_ARE(piecework_encoding_window(encoding, 0), 2, 5, 7, 3));
  CHECK(span_is(piecework_encoding_offsets(piecework_encoding_window(encoding, 0))[2], 6, 8));
  CHECK(!piecework_encoding_window(encoding, 1));
  piecework_encoding_free(encoding);

  piecework_padding padding = {.size = sizeof(padding), .pad_token = STR("[PAD]"), .side = PIECEWORK_LEFT, .multiple_of = 3};
  piecework_tokenizer *both = piecework_with_padding(cutting, &padding, &error);
  piecework_tokenizer_free(cutting);
  piecework_str texts[] = {STR("to be or"), STR("to")};
  piecework_encode_options options = {.size = sizeof(options), .overflow = PIECEWORK_YES, .num_threads = 2};
  piecework_batch *batch = piecework_encode_batch(both, texts, NULL, 2, &options, &error);
  CHECK(piecework_batch_len(batch) == 3 && piecework_batch_samples(batch)[1] == 0 && piecework_batch_samples(batch)[2] == 1);
  CHECK(memcmp(piecework_batch_row_offsets(batch), (int64_t[]){0, 6, 12, 18}, 32) == 0);
  CHECK(memcmp(piecework_batch_ids(batch) + 12, (uint32_t[]){0, 0, 0, 2, 4, 3}, 24) == 0);
  CHECK(memcmp(piecework_batch_attention_mask(batch) + 12, (uint8_t[]){0, 0, 0, 1, 1, 1}, 6) == 0);
  piecework_batch_free(batch);

  piecework_tokenizer *cut = piecework_with_padding(both, NULL, &error), *plain = piecework_with_truncation(cut, NULL, &error);
  CHECK(piecework_count(cut, "to be or", 8, NULL, &error) == 4 && piecework_count(plain, "to be or", 8, NULL, &error) == 5);
  piecework_tokenizer_free(both);
  piecework_tokenizer_free(cut);
  piecework_tokenizer_free(plain);
}

static void encode_batches(const piecework_tokenizer *tokenizer) {
  piecework_str texts[] = {STR("to be"), {NULL, 0}, STR("nots")}, pairs[] = {STR("or"), STR("be"), STR("")};
  piecework_batch *batch = piecework_encode_batch(tokenizer, texts, NULL, 3, NULL, &error);
  CHECK(piecework_batch_len(batch) == 3);
  CHECK(memcmp(piecework_batch_row_offsets(batch), (int64_t[]){0, 4, 6, 10}, 32) == 0);
  CHECK(memcmp(piecework_batch_ids(batch), (uint32_t[]){2, 4, 5, 3, 2, 3, 2, 8, 6, 3}, 40) == 0);
  CHECK(!piecework_batch_type_ids(batch) && !piecework_batch_attention_mask(batch) && !piecework_batch_offsets(batch));
  piecework_batch_free(batch);
  batch = piecework_encode_batch(tokenizer, texts, pairs, 3, NULL, &error);
  CHECK(memcmp(piecework_batch_row_offsets(batch), (int64_t[]){0, 6, 10, 15}, 32) == 0 && piecework_batch_type_ids(batch)[4] == 1);
  piecework_batch_free(batch);
  size_t counts[3];
  CHECK(piecework_count_batch(tokenizer, texts, 3, NULL, counts, &error) && counts[0] == 4 && counts[1] == 2 && counts[2] == 4);
  batch = piecework_encode_batch(tokenizer, NULL, NULL, 0, NULL, &error);
  CHECK(batch && piecework_batch_len(batch) == 0 && piecework_count_batch(tokenizer, NULL, 0, NULL, NULL, &error));
  piecework_batch_free(batch);
}

static void encode_prompts(const piecework_tokenizer *tokenizer) {
  piecework_segment prompt[] = {{STR("[CLS]"), 1}, {STR("be [SEP]"), 0}, {STR("[SEP]"), 1}};
  piecework_encoding *encoding = piecework_encode_segments(tokenizer, prompt, 3, NULL, 0, NULL, &error);
  CHECK(encoding && IDS_ARE(encoding, 2, 5, 1, 1, 1, 3));
  size_t count;
  const piecework_span *spans = piecework_encoding_segments(encoding, &count);
  CHECK(count == 3 && span_is(spans[0], 0, 1) && span_is(spans[1], 1, 5) && span_is(spans[2], 5, 6));
  piecework_encoding_free(encoding);

  piecework_encode_options options = {.size = sizeof(options), .offset_unit = PIECEWORK_UTF16};
  piecework_segment accents[] = {{STR("\xC3\xA9 "), 0}, {STR("be"), 0}};
  encoding = piecework_encode_segments(tokenizer, accents, 2, &STR("[CLS]"), 0, &options, &error);
  CHECK(encoding && span_is(piecework_encoding_offsets(encoding)[1], 2, 4));
  piecework_encoding_free(encoding);
  encoding = piecework_encode_segments(tokenizer, NULL, 0, NULL, 0, NULL, &error);
  CHECK(encoding && piecework_encoding_len(encoding) == 0);
  piecework_encoding_free(encoding);
}

static void decode(const piecework_tokenizer *tokenizer) {
  const uint32_t ids[] = {2, 4, 5, 6, 3};
  char text[32];
  piecework_decode_options options = {.size = sizeof(options), .skip_special_tokens = PIECEWORK_NO};
  CHECK(piecework_decode(tokenizer, ids, 5, NULL, text, sizeof(text), &error) == 6 && memcmp(text, "to bes", 6) == 0);
  CHECK(piecework_decode(tokenizer, ids, 5, &options, text, sizeof(text), &error) == 18);
  CHECK(piecework_decode_bytes(tokenizer, ids + 1, 2, text, sizeof(text), &error) == 4 && memcmp(text, "tobe", 4) == 0);
  CHECK(piecework_decode(tokenizer, NULL, 0, NULL, NULL, 0, &error) == 0);
}

/* A stream returns whole characters; the bytes of one come from two tokens. */
static void stream(void) {
  char ranks[256 * 16] = "";
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (unsigned byte = 0; byte < 256; byte++)
    sprintf(ranks + strlen(ranks), "%c%c== %u\n", digits[byte >> 2], digits[(byte & 3) << 4], byte);
  piecework_special_token end = {STR("<end>"), 256};
  piecework_str pattern = STR("\\w+|\\W+");
  piecework_load_options options = {.size = sizeof(options), .patterns = &pattern, .pattern_count = 1};
  options.special_tokens = &end;
  options.special_token_count = 1;
  piecework_tokenizer *tokenizer = piecework_load_bytes(ranks, strlen(ranks), &options, &error);
  CHECK(tokenizer);
  CHECK(piecework_count(tokenizer, "<end>", 5, NULL, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_SPECIAL_TOKEN, "text", "<end>");

  size_t len;
  const uint32_t prefill[] = {'a', 'b'};
  piecework_stream *stream = piecework_decode_stream(tokenizer, prefill, 2, NULL, &error);
  CHECK(piecework_stream_step(stream, 0xC3, &len, &error) && len == 0);
  CHECK(memcmp(piecework_stream_step(stream, 0xA9, &len, &error), "\xC3\xA9", 2) == 0 && len == 2);
  CHECK(piecework_stream_step(stream, 9999, &len, &error) && len == 0);
  CHECK(piecework_stream_step(stream, 0xC3, &len, &error) && len == 0);
  CHECK(memcmp(piecework_stream_finish(stream, &len, &error), "\xEF\xBF\xBD", 3) == 0 && len == 3);
  piecework_stream_free(stream);
  char bytes[2];
  CHECK(piecework_token_bytes(tokenizer, 0xC3, bytes, 2) == 1 && bytes[0] == '\xC3');
  piecework_tokenizer_free(tokenizer);
}

static bool growing_is(const piecework_growing_text *growing, size_t stable, const uint32_t *ids, size_t count) {
  size_t found;
  const uint32_t *first = piecework_growing_text_ids(growing, &found);
  return found == count && piecework_growing_text_num_stable(growing) == stable && memcmp(first, ids, count * sizeof(*ids)) == 0;
}
#define GROWING_IS(growing, stable, ...) growing_is(growing, stable, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void grow(const piecework_tokenizer *tokenizer) {
  size_t count;
  piecework_growing_text *growing = piecework_growing_text_new(tokenizer, NULL, &error);
  CHECK(growing && piecework_growing_text_ids(growing, &count) && count == 0 && piecework_growing_text_num_stable(growing) == 0);
  CHECK(piecework_growing_text_append(growing, "to be", 5, &error) && GROWING_IS(growing, 1, 4, 5));
  CHECK(piecework_growing_text_append(growing, "s [SE", 5, &error) && GROWING_IS(growing, 3, 4, 5, 6, 1, 1));
  CHECK(piecework_growing_text_append(growing, "P]", 2, &error) && GROWING_IS(growing, 3, 4, 5, 6, 3));
  CHECK(piecework_growing_text_append(growing, NULL, 0, &error) && GROWING_IS(growing, 3, 4, 5, 6, 3));
  CHECK(piecework_growing_text_append(growing, " or", 3, &error) && GROWING_IS(growing, 4, 4, 5, 6, 3, 7));
  piecework_growing_text_free(growing);

  piecework_encode_options options = {.size = sizeof(options), .parse_special = PIECEWORK_PARSE_REFUSE, .invalid_utf8 = PIECEWORK_INVALID_REPLACE};
  growing = piecework_growing_text_new(tokenizer, &options, &error);
  CHECK(piecework_growing_text_append(growing, "\xFF [SEP", 6, &error));
  CHECK(!piecework_growing_text_append(growing, "]", 1, &error));
  expect(&error, PIECEWORK_ERROR_SPECIAL_TOKEN, "text", "[SEP]");
  CHECK(piecework_growing_text_append(growing, " to", 3, &error) && GROWING_IS(growing, 2, 1, 1, 4));
  piecework_growing_text_free(growing);
}

static bool chunk_is(piecework_chunk chunk, size_t start, size_t end, size_t num_tokens) {
  return chunk.start == start && chunk.end == end && chunk.num_tokens == num_tokens;
}

static void divide(const piecework_tokenizer *tokenizer) {
  static const char text[] = "\xF0\x9F\xA4\x97 to. be be\n\nbes not.";
  const size_t len = sizeof(text) - 1, starts[] = {9, 6, 7};
  piecework_chunk chunks[8];
  piecework_chunk_options chunking = {.size = sizeof(chunking), .max_tokens = 6};
  for (uint32_t unit = PIECEWORK_BYTES; unit <= PIECEWORK_UTF16; unit++) {
    piecework_encode_options options = {.size = sizeof(options), .offset_unit = unit};
    CHECK(piecework_chunk_text(tokenizer, text, len, &chunking, &options, chunks, 8, &error) == 3);
    CHECK(chunk_is(chunks[0], 0, starts[unit], 5) && chunk_is(chunks[1], starts[unit], starts[unit] + 7, 4));
    CHECK(chunk_is(chunks[2], starts[unit] + 7, starts[unit] + 15, 6));
  }
  piecework_encode_options bare = {.size = sizeof(bare), .add_special_tokens = PIECEWORK_NO};
  chunking.unit = PIECEWORK_PARAGRAPH;
  CHECK(piecework_chunk_text(tokenizer, text, len, &chunking, &bare, chunks, 8, &error) == 2 && chunk_is(chunks[0], 0, 16, 5));
  chunking = (piecework_chunk_options){.size = sizeof(chunking), .max_tokens = 3, .overlap = 2, .unit = PIECEWORK_WORD};
  CHECK(piecework_chunk_text(tokenizer, "to be or not", 12, &chunking, &bare, chunks, 8, &error) == 2);
  CHECK(chunk_is(chunks[0], 0, 9, 3) && chunk_is(chunks[1], 3, 12, 3));
  chunks[0].num_tokens = 77;
  CHECK(piecework_chunk_text(tokenizer, "to be or not", 12, &chunking, &bare, chunks, 1, &error) == 2 && chunks[0].num_tokens == 77);
  chunking.max_tokens = SIZE_MAX;
  chunking.overlap = SIZE_MAX - 1;
  CHECK(piecework_chunk_text(tokenizer, text, len, &chunking, NULL, chunks, 8, &error) == 1 && chunks[0].end == len);
  CHECK(piecework_chunk_text(tokenizer, NULL, 0, &chunking, NULL, NULL, 0, &error) == 0);
}

static void fit(void) {
  const piecework_message messages[] = {
      {9, 0, PIECEWORK_SYSTEM}, {40, 0, PIECEWORK_USER}, {70, 0, PIECEWORK_ASSISTANT}, {5, 0, PIECEWORK_USER}, {6, 3, PIECEWORK_TOOL}, {20, 0, PIECEWORK_USER},
  };
  size_t kept[6];
  CHECK(piecework_fit_messages(messages, 6, 150, kept, 6, &error) == 6 && kept[5] == 5);
  CHECK(piecework_fit_messages(messages, 6, 149, kept, 6, &error) == 2 && kept[0] == 0 && kept[1] == 5);
  CHECK(piecework_fit_messages(messages, 6, 29, NULL, 0, &error) == 2);
  CHECK(piecework_fit_messages(messages, 4, 14, kept, 6, &error) == 2 && kept[1] == 3);
  CHECK(piecework_fit_messages(messages, 1, SIZE_MAX, kept, 6, &error) == 1 && kept[0] == 0);
}

static void look_up(const piecework_tokenizer *tokenizer) {
  uint32_t id = 0;
  size_t len;
  CHECK(piecework_vocab_size(tokenizer) == 10);
  CHECK(piecework_token_to_id(tokenizer, "##s", 3, &id) && id == 6 && piecework_token_to_id(tokenizer, "be", 2, NULL));
  CHECK(!piecework_token_to_id(tokenizer, "##x", 3, &id) && id == 6);
  CHECK(memcmp(piecework_id_to_token(tokenizer, 6, &len), "##s", 3) == 0 && len == 3);
  char digits[65] = "", others[64];
  CHECK(piecework_fingerprint(tokenizer, digits, 64, &error) == 64 && strspn(digits, "0123456789abcdef") == 64);
  piecework_truncation truncation = {.size = sizeof(truncation), .max_length = 4};
  piecework_tokenizer *other = piecework_with_truncation(tokenizer, &truncation, &error);
  CHECK(piecework_fingerprint(other, others, 64, &error) == 64 && memcmp(digits, others, 64) != 0);
  piecework_tokenizer_free(other);
  CHECK(strcmp(piecework_version(), PIECEWORK_VERSION) == 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 2); /* the path of a vocab.txt */
  piecework_tokenizer *tokenizer = load(VOCAB), *of_file = piecework_load_file(argv[1], strlen(argv[1]), NULL, &error);
  CHECK(of_file && piecework_vocab_size(of_file) == 3);
  piecework_tokenizer_free(of_file);
  piecework_warm_up(tokenizer);
  encode_ids(tokenizer);
  encode_with_every_field(tokenizer);
  truncate_and_pad(tokenizer);
  encode_batches(tokenizer);
  encode_prompts(tokenizer);
  decode(tokenizer);
  stream();
  grow(tokenizer);
  divide(tokenizer);
  fit();
  look_up(tokenizer);
  CHECK(!error);
  piecework_tokenizer_free(tokenizer);
  puts("equal");
}
