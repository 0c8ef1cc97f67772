/* Arguments that are wrong: an error and a text, never a crash. */

#include "check.h"

static piecework_error *error;

static void null_arguments(const piecework_tokenizer *tokenizer) {
  size_t len = 7;
  uint32_t ids[4];
  CHECK(piecework_count(NULL, "to", 2, NULL, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "tokenizer", "NULL");
  CHECK(piecework_count(tokenizer, NULL, 2, NULL, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "text", "NULL");
  CHECK(!piecework_encode(tokenizer, "to", 2, NULL, 1, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "pair", "NULL");
  CHECK(piecework_encode_ids(tokenizer, "to", 2, NULL, NULL, 8, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "ids", "NULL");
  CHECK(!piecework_encode_batch(tokenizer, NULL, NULL, 1, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "texts", "NULL");
  piecework_str texts[] = {STR("to"), {NULL, 3}};
  CHECK(!piecework_encode_batch(tokenizer, texts, NULL, 2, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "texts[1]", "texts[1]: found NULL");
  CHECK(!piecework_count_batch(tokenizer, texts, 1, NULL, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "counts", "NULL");
  CHECK(!piecework_encode_segments(tokenizer, NULL, 2, NULL, 0, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "segments", "NULL");
  CHECK(piecework_decode(tokenizer, NULL, 3, NULL, NULL, 0, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "ids", "NULL");
  CHECK(!piecework_decode_stream(NULL, NULL, 0, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "tokenizer", "NULL");
  CHECK(!piecework_stream_step(NULL, 1, &len, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "stream", "NULL");
  CHECK(!piecework_growing_text_new(NULL, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "tokenizer", "NULL");
  CHECK(!piecework_growing_text_append(NULL, "to", 2, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "growing", "NULL");
  piecework_chunk_options chunking = {.size = sizeof(chunking), .max_tokens = 9};
  CHECK(piecework_chunk_text(tokenizer, NULL, 2, &chunking, NULL, NULL, 0, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "text", "NULL");
  CHECK(piecework_chunk_text(tokenizer, "to", 2, &chunking, NULL, NULL, 1, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "chunks", "NULL");
  CHECK(piecework_fit_messages(NULL, 2, 9, NULL, 0, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "messages", "NULL");
  CHECK(!piecework_load_file(NULL, 3, NULL, &error) && !piecework_with_padding(NULL, NULL, NULL));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "path", "NULL");

  /* Without `error`, and of functions that cannot fail. */
  CHECK(piecework_count(NULL, NULL, 0, NULL, NULL) == PIECEWORK_FAILED);
  CHECK(piecework_vocab_size(NULL) == 0 && !piecework_token_to_id(NULL, "to", 2, ids) && !piecework_token_to_id(tokenizer, NULL, 2, ids));
  CHECK(!piecework_id_to_token(NULL, 1, &len) && len == 0 && piecework_token_bytes(NULL, 1, NULL, 0) == PIECEWORK_FAILED);
  CHECK(piecework_encoding_len(NULL) == 0 && !piecework_encoding_ids(NULL) && !piecework_encoding_offsets(NULL));
  CHECK(!piecework_encoding_token(NULL, 0, NULL) && !piecework_encoding_window(NULL, 0) && !piecework_encoding_segments(NULL, NULL));
  CHECK(piecework_batch_len(NULL) == 0 && !piecework_batch_ids(NULL) && !piecework_batch_row_offsets(NULL) && !piecework_batch_samples(NULL));
  CHECK(piecework_error_kind(NULL) == 0 && piecework_error_message(NULL, NULL)[0] == '\0' && piecework_error_position(NULL) == PIECEWORK_FAILED);
  piecework_warm_up(NULL);
  piecework_tokenizer_free(NULL);
  piecework_encoding_free(NULL);
  piecework_batch_free(NULL);
  piecework_stream_free(NULL);
  CHECK(!piecework_growing_text_ids(NULL, &len) && len == 0 && piecework_growing_text_num_stable(NULL) == 0);
  piecework_growing_text_free(NULL);
  piecework_error_free(NULL);
}

static void lengths_that_no_memory_has(const piecework_tokenizer *tokenizer) {
  CHECK(piecework_count(tokenizer, "to", SIZE_MAX, NULL, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "text", "length");
  piecework_str text = STR("to");
  CHECK(!piecework_encode_batch(tokenizer, &text, NULL, SIZE_MAX / 4, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "texts", "length");
  uint32_t ids[3] = {4, 5, 6};
  CHECK(piecework_decode(tokenizer, (const uint32_t *)((const char *)ids + 1), 2, NULL, NULL, 0, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "ids", "aligned");
}

static void buffers_that_are_too_small(const piecework_tokenizer *tokenizer) {
  uint32_t ids[] = {77, 77, 77, 77};
  CHECK(piecework_encode_ids(tokenizer, "to be", 5, NULL, ids, 3, &error) == 4 && ids[0] == 77);
  CHECK(piecework_encode_ids(tokenizer, "to be", 5, NULL, NULL, 0, &error) == 4);
  CHECK(piecework_encode_ids(tokenizer, "to be", 5, NULL, ids, 4, &error) == 4 && ids[3] == 3);
  char text[5] = "????";
  CHECK(piecework_decode(tokenizer, ids, 4, NULL, text, 4, &error) == 5 && text[0] == '?');
  CHECK(piecework_decode(tokenizer, ids, 4, NULL, text, 5, &error) == 5 && memcmp(text, "to be", 5) == 0);
  CHECK(piecework_fingerprint(tokenizer, text, 5, &error) == 64 && piecework_decode_bytes(tokenizer, ids, 4, NULL, 0, &error) == 14);
  CHECK(piecework_token_bytes(tokenizer, 4, text, 1) == 2 && !error);
}

static void texts_that_are_not_utf8(const piecework_tokenizer *tokenizer) {
  static const char invalid[] = "to \xC3\xA9 \xFF be";
  piecework_encode_options options = {.size = sizeof(options), .invalid_utf8 = PIECEWORK_INVALID_REPLACE};
  CHECK(piecework_count(tokenizer, invalid, 10, NULL, &error) == PIECEWORK_FAILED && piecework_error_position(error) == 6);
  expect(&error, PIECEWORK_ERROR_UTF8, "text", "at byte 6");
  piecework_str texts[] = {STR("to"), STR("be\x80")};
  CHECK(!piecework_encode_batch(tokenizer, texts, NULL, 2, NULL, &error) && piecework_error_position(error) == 2);
  expect(&error, PIECEWORK_ERROR_UTF8, "texts[1]", "texts[1]: found a byte that is not UTF-8 at byte 2");
  piecework_segment segment = {STR("\xE2\x82"), 0};
  CHECK(!piecework_encode_segments(tokenizer, &segment, 1, NULL, 0, NULL, &error) && piecework_error_position(error) == 0);
  expect(&error, PIECEWORK_ERROR_UTF8, "segments[0]", "byte 0");

  CHECK(piecework_count(tokenizer, invalid, 10, &options, &error) == piecework_count(tokenizer, "to \xC3\xA9 \xEF\xBF\xBD be", 12, NULL, &error));
  piecework_encoding *encoding = piecework_encode(tokenizer, invalid, 10, "\xFF", 1, &options, &error);
  CHECK(encoding);
  piecework_encoding_free(encoding);
  piecework_batch *batch = piecework_encode_batch(tokenizer, texts, NULL, 2, &options, &error);
  CHECK(batch);
  piecework_batch_free(batch);
  CHECK(!piecework_token_to_id(tokenizer, "\xFF", 1, NULL));
  piecework_str token = STR("\xFF");
  options.parsed_tokens = &token;
  options.parsed_token_count = 1;
  CHECK(piecework_count(tokenizer, "to", 2, &options, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_UTF8, "options.parsed_tokens", "byte 0");
}

static void budgets_that_nothing_fits(const piecework_tokenizer *tokenizer) {
  piecework_chunk chunks[4];
  const struct {
    size_t max_tokens, overlap;
    uint32_t unit;
    const char *place, *part;
  } wrong[] = {
      {0, 0, 0, "max_tokens", "at least 1, not 0"},
      {2, 0, 0, "max_tokens", "at least 3, the tokens of \"t\" alone, not 2"},
      {5, 5, 0, "overlap", "less than max_tokens, which is 5, not 5"},
      {5, SIZE_MAX, 0, "overlap", "less than max_tokens"},
      {5, 0, 4, "chunking.unit", "4"},
  };
  for (size_t at = 0; at < sizeof(wrong) / sizeof(*wrong); at++) {
    piecework_chunk_options chunking = {.size = sizeof(chunking), .max_tokens = wrong[at].max_tokens, .overlap = wrong[at].overlap, .unit = wrong[at].unit};
    CHECK(piecework_chunk_text(tokenizer, "to be", 5, &chunking, NULL, chunks, 4, &error) == PIECEWORK_FAILED);
    expect(&error, PIECEWORK_ERROR_ARGUMENT, wrong[at].place, wrong[at].part);
  }
  CHECK(piecework_chunk_text(tokenizer, "to be", 5, NULL, NULL, chunks, 4, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "max_tokens", "at least 1");
  piecework_chunk_options chunking = {.size = sizeof(chunking), .max_tokens = 9};
  piecework_encode_options options = {.size = sizeof(options), .parse_special = PIECEWORK_PARSE_REFUSE};
  CHECK(piecework_chunk_text(tokenizer, "[SEP]", 5, &chunking, &options, chunks, 4, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_SPECIAL_TOKEN, "text", "[SEP]");
  CHECK(piecework_chunk_text(tokenizer, "to \xFF", 4, &chunking, NULL, chunks, 4, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_UTF8, "text", "byte 3");

  options.add_special_tokens = PIECEWORK_NO;
  CHECK(!piecework_growing_text_new(tokenizer, &options, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "options", "does not use");
  piecework_growing_text *growing = piecework_growing_text_new(tokenizer, NULL, &error);
  CHECK(!piecework_growing_text_append(growing, "\xC3", 1, &error) && piecework_error_position(error) == 0);
  expect(&error, PIECEWORK_ERROR_UTF8, "text", "byte 0");
  piecework_growing_text_free(growing);

  piecework_message messages[] = {{5, 0, PIECEWORK_USER}, {6, 2, PIECEWORK_TOOL}};
  size_t kept[2];
  CHECK(piecework_fit_messages(messages, 0, 9, kept, 2, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "messages", "at least one");
  CHECK(piecework_fit_messages(messages, 1, 4, kept, 2, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "max_tokens", "at least 5, the tokens of the last turn");
  CHECK(piecework_fit_messages(messages, 2, 40, kept, 2, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "messages[1]", "earlier");
  messages[1].role = 4;
  CHECK(piecework_fit_messages(messages, 2, 40, kept, 2, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "messages[1]", "messages[1]: found the role 4");
}

static void ids_out_of_range(const piecework_tokenizer *tokenizer) {
  const uint32_t ids[] = {4, 10, UINT32_MAX};
  char text[8];
  size_t len;
  CHECK(piecework_decode(tokenizer, ids, 3, NULL, text, 8, &error) == 2 && memcmp(text, "to", 2) == 0);
  CHECK(piecework_decode_bytes(tokenizer, ids, 3, text, 8, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "ids[1]", "10");
  CHECK(!piecework_id_to_token(tokenizer, 10, &len) && len == 0 && !piecework_id_to_token(tokenizer, UINT32_MAX, NULL));
  CHECK(piecework_token_bytes(tokenizer, 10, text, 8) == PIECEWORK_FAILED);
  piecework_stream *stream = piecework_decode_stream(tokenizer, ids, 3, NULL, &error);
  CHECK(stream && piecework_stream_step(stream, UINT32_MAX, &len, &error) && len == 0);
  piecework_stream_free(stream);
}

static void options_of_another_size(const piecework_tokenizer *tokenizer) {
  struct {
    piecework_encode_options options;
    uint64_t later;
  } longer = {.options = {.size = sizeof(longer)}};
  CHECK(piecework_count(tokenizer, "to", 2, &longer.options, &error) == 3);
  longer.later = 1;
  CHECK(piecework_count(tokenizer, "to", 2, &longer.options, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "options", "later version");
  /* An earlier version was shorter: the rest has the defaults, and nothing there is read. */
  size_t *earlier = malloc(sizeof(size_t));
  *earlier = sizeof(size_t);
  CHECK(piecework_count(tokenizer, "to", 2, (const piecework_encode_options *)earlier, &error) == 3);
  free(earlier);
  const size_t sizes[] = {0, 1, sizeof(size_t) - 1, sizeof(piecework_decode_options) - 1, 1 << 20, SIZE_MAX};
  for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
    /* Nothing behind the size is read. */
    size_t *size = malloc(sizeof(size_t));
    *size = sizes[at];
    CHECK(piecework_count(tokenizer, "to", 2, (const piecework_encode_options *)size, &error) == PIECEWORK_FAILED);
    expect(&error, PIECEWORK_ERROR_ARGUMENT, "options.size", "sizeof");
    CHECK(piecework_decode(tokenizer, NULL, 0, (const piecework_decode_options *)size, NULL, 0, &error) == PIECEWORK_FAILED);
    expect(&error, PIECEWORK_ERROR_ARGUMENT, "options.size", "sizeof");
    CHECK(!piecework_load_bytes("to\n", 3, (const piecework_load_options *)size, &error));
    expect(&error, PIECEWORK_ERROR_ARGUMENT, "options.size", "sizeof");
    CHECK(!piecework_with_truncation(tokenizer, (const piecework_truncation *)size, &error));
    expect(&error, PIECEWORK_ERROR_ARGUMENT, "truncation.size", "sizeof");
    CHECK(!piecework_with_padding(tokenizer, (const piecework_padding *)size, &error));
    expect(&error, PIECEWORK_ERROR_ARGUMENT, "padding.size", "sizeof");
    free(size);
  }
}

static void options_out_of_range(const piecework_tokenizer *tokenizer) {
  piecework_encode_options options = {.size = sizeof(options), .parse_special = 4};
  CHECK(piecework_count(tokenizer, "to", 2, &options, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "options.parse_special", "4");
  options = (piecework_encode_options){.size = sizeof(options), .offset_unit = UINT32_MAX};
  CHECK(!piecework_encode(tokenizer, "to", 2, NULL, 0, &options, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "options.offset_unit", "below 3");
  options = (piecework_encode_options){.size = sizeof(options), .parsed_tokens = &STR("to"), .parsed_token_count = 1};
  CHECK(piecework_count(tokenizer, "to", 2, &options, &error) == PIECEWORK_FAILED);
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "parse_special_only", "not a special token");
  options = (piecework_encode_options){.size = sizeof(options), .overflow = PIECEWORK_YES};
  CHECK(!piecework_encode_segments(tokenizer, NULL, 0, NULL, 0, &options, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "options", "segments");
  piecework_segment segment = {STR("to"), 2};
  CHECK(!piecework_encode_segments(tokenizer, &segment, 1, NULL, 0, NULL, &error));
  expect(&error, PIECEWORK_ERROR_ARGUMENT, "segments[0]", "allow_special");
  CHECK(!piecework_encode_segments(tokenizer, &segment, 0, &STR("to"), 1, NULL, &error));
  CHECK(piecework_error_kind(error) == PIECEWORK_ERROR_ARGUMENT);
  piecework_error_free(error);
  piecework_truncation truncation = {.size = sizeof(truncation), .max_length = 2, .stride = 9};
  CHECK(!piecework_with_truncation(tokenizer, &truncation, &error));
  CHECK(piecework_error_kind(error) == PIECEWORK_ERROR_ARGUMENT);
  piecework_error_free(error);
}

static void files_that_are_no_tokenizers(const char *folder) {
  static const struct {
    const char *bytes;
    size_t len;
    uint32_t kind;
  } files[] = {
      {"", 0, PIECEWORK_ERROR_VOCABULARY},       {"{}", 2, PIECEWORK_ERROR_FORMAT},
      {"\x7F" "ELF\x02\x01\0\0", 8, PIECEWORK_ERROR_VOCABULARY}, {"\x1F\x8B\x08", 3, PIECEWORK_ERROR_FORMAT},
      {"GGUF\3\0\0\0", 8, PIECEWORK_ERROR_FORMAT}, {"{\"model\": [", 11, PIECEWORK_ERROR_FORMAT},
      {"[UNK]\nto\nto\n", 12, PIECEWORK_ERROR_VOCABULARY},
  };
  for (size_t at = 0; at < sizeof(files) / sizeof(*files); at++) {
    CHECK(!piecework_load_bytes(files[at].bytes, files[at].len, NULL, &error));
    if (piecework_error_kind(error) != files[at].kind) fprintf(stderr, "%zu: %s\n", at, piecework_error_message(error, NULL));
    CHECK(piecework_error_kind(error) == files[at].kind);
    piecework_error_free(error);
  }
  CHECK(!piecework_load_file(folder, strlen(folder), NULL, &error));
  expect(&error, PIECEWORK_ERROR_FILE, folder, folder);
  CHECK(!piecework_load_file("no\0file", 7, NULL, &error) && piecework_error_kind(error) == PIECEWORK_ERROR_FILE);
  piecework_error_free(error);
  CHECK(!piecework_load_file(NULL, 0, NULL, &error) && piecework_error_kind(error) == PIECEWORK_ERROR_FILE);
  piecework_error_free(error);
}

int main(int argc, char **argv) {
  CHECK(argc == 2); /* the path of a folder */
  piecework_tokenizer *tokenizer = load(VOCAB);
  null_arguments(tokenizer);
  lengths_that_no_memory_has(tokenizer);
  buffers_that_are_too_small(tokenizer);
  texts_that_are_not_utf8(tokenizer);
  budgets_that_nothing_fits(tokenizer);
  ids_out_of_range(tokenizer);
  options_of_another_size(tokenizer);
  options_out_of_range(tokenizer);
  files_that_are_no_tokenizers(argv[1]);
  piecework_tokenizer_free(tokenizer);
  puts("equal");
}
