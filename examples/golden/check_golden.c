/* Compare the ids of libpiecework with a golden file.
 *
 *   cc -std=c99 check_golden.c $(pkg-config --cflags --libs piecework) -o check_golden
 *   check_golden golden.jsonl tokenizer.json
 *   check_golden golden.jsonl cl100k_base.tiktoken --pattern PATTERN --special '<|endoftext|>' 100257
 *   check_golden golden.jsonl vocab.json --merges merges.txt
 *
 * Prints the rows that differ. The exit code is 0 if all rows are equal, 1 if one differs or there is none, and 2 if a file cannot be
 * used. */

#include <piecework.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
  fprintf(stderr, "check_golden: %s\n", what);
  exit(2);
}

/* ---- JSON: a tree of values in one block of memory, which the next row uses again */

typedef struct value value;
struct value {
  enum { MISSING, LITERAL, NUMBER, STRING, ARRAY, OBJECT } kind;
  piecework_str text; /* of a string, unescaped; of a number or literal, as written */
  size_t number;
  piecework_str key;
  value *first, *next; /* the items of an array or object */
};

static const value missing;
static char *arena;
static size_t used, reserved;

static void *allocate(size_t bytes) {
  void *start = arena + used;
  used += (bytes + 15) / 16 * 16;
  if (used > reserved) fail("a row needs too much memory");
  return start;
}

static const char *skip_spaces(const char *at) { return at + strspn(at, " \t\r\n"); }

static char *put_utf8(char *to, unsigned long c) {
  int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char heads[] = {0, 0xC0, 0xE0, 0xF0};
  *to++ = (char)(heads[more] | (c >> (6 * more)));
  while (more-- > 0) *to++ = (char)(0x80 | ((c >> (6 * more)) & 0x3F));
  return to;
}

static unsigned long four_digits(const char *at) {
  char digits[5] = {0};
  strncpy(digits, at, 4);
  return strtoul(digits, NULL, 16);
}

static const char *read_string(const char *at, piecework_str *string) {
  static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char *to = allocate(strcspn(at + 1, "\"") + strlen(at) + 1);
  char *start = to;
  for (at++; *at != '"'; at++) {
    if (*at == '\0') fail("a string of the golden file does not end");
    if (*at != '\\') {
      *to++ = *at;
    } else if (*++at != 'u') {
      const char *escape = *at ? strchr(escapes, *at) : NULL;
      if (!escape) fail("a string of the golden file has an unknown escape");
      *to++ = meanings[escape - escapes];
    } else {
      unsigned long c = four_digits(at + 1);
      at += 4;
      if (c >= 0xD800 && c < 0xDC00 && at[1] == '\\' && at[2] == 'u') {
        c = 0x10000 + ((c - 0xD800) << 10) + (four_digits(at + 3) - 0xDC00);
        at += 6;
      }
      to = put_utf8(to, c);
    }
  }
  used = (size_t)(start - arena) + ((size_t)(to - start) + 15) / 16 * 16;
  string->data = start;
  string->len = (size_t)(to - start);
  return at + 1;
}

static const char *read_value(const char *at, value *into);

static const char *read_items(const char *at, value *into, char end) {
  value **place = &into->first;
  for (at = skip_spaces(at + 1); *at != end; at = skip_spaces(at + (*at == ','))) {
    if (*at == '\0') fail("the golden file has a line that is not JSON");
    value *item = allocate(sizeof(value));
    memset(item, 0, sizeof(value));
    if (end == '}') at = skip_spaces(read_string(at, &item->key)) + 1;
    at = read_value(skip_spaces(at), item);
    *place = item;
    place = &item->next;
    at = skip_spaces(at);
  }
  return at + 1;
}

static const char *read_value(const char *at, value *into) {
  if (*at == '"') {
    into->kind = STRING;
    return read_string(at, &into->text);
  }
  if (*at == '[' || *at == '{') {
    into->kind = *at == '[' ? ARRAY : OBJECT;
    return read_items(at, into, *at == '[' ? ']' : '}');
  }
  size_t length = strcspn(at, ",]} \t\r\n");
  if (length == 0) fail("the golden file has a line that is not JSON");
  into->kind = *at >= '0' && *at <= '9' ? NUMBER : LITERAL;
  into->number = strtoul(at, NULL, 10);
  into->text.data = at;
  into->text.len = length;
  return at + length;
}

static bool equals(piecework_str string, const char *data, size_t len) {
  return string.len == len && (len == 0 || memcmp(string.data, data, len) == 0);
}

static const value *field(const value *object, const char *key) {
  for (const value *item = object->first; item; item = item->next)
    if (equals(item->key, key, strlen(key))) return item;
  return &missing;
}

static bool is(const value *one, const char *text) { return equals(one->text, text, strlen(text)); }

/* ---- Rows */

/* Return the tokenizer with the truncation and padding of a row. */
static piecework_tokenizer *tokenizer_for(const piecework_tokenizer *tokenizer, const value *row, piecework_error **error) {
  const value *cut = field(row, "truncation"), *padded = field(row, "padding"), *strategy = field(cut, "strategy");
  piecework_truncation truncation = {.size = sizeof(truncation)};
  truncation.max_length = field(cut, "max_length")->number;
  truncation.stride = field(cut, "stride")->number;
  truncation.side = is(field(cut, "side"), "left") ? PIECEWORK_LEFT : PIECEWORK_RIGHT;
  truncation.strategy = is(strategy, "only_first")    ? PIECEWORK_ONLY_FIRST
                        : is(strategy, "only_second") ? PIECEWORK_ONLY_SECOND
                                                      : PIECEWORK_LONGEST_FIRST;
  piecework_padding padding = {.size = sizeof(padding)};
  padding.length = field(padded, "length")->number;
  padding.side = is(field(padded, "side"), "left") ? PIECEWORK_LEFT : PIECEWORK_RIGHT;
  padding.pad_id = (uint32_t)field(padded, "id")->number;
  padding.pad_token.data = piecework_id_to_token(tokenizer, padding.pad_id, &padding.pad_token.len);

  piecework_tokenizer *cutting = piecework_with_truncation(tokenizer, cut->kind ? &truncation : NULL, error);
  if (!cutting) return NULL;
  piecework_tokenizer *result = piecework_with_padding(cutting, padded->kind ? &padding : NULL, error);
  piecework_tokenizer_free(cutting);
  return result;
}

static bool ids_differ(const value *expected, const piecework_encoding *encoding) {
  const uint32_t *ids = piecework_encoding_ids(encoding);
  size_t count = piecework_encoding_len(encoding), at = 0;
  for (const value *item = expected->first; item; item = item->next, at++)
    if (at >= count || ids[at] != item->number) return true;
  return at != count;
}

static bool tokens_differ(const value *expected, const piecework_encoding *encoding) {
  size_t at = 0, len;
  for (const value *item = expected->first; item; item = item->next, at++) {
    const char *token = piecework_encoding_token(encoding, at, &len);
    if (!token || !equals(item->text, token, len)) return true;
  }
  return false;
}

static bool offsets_differ(const value *expected, const piecework_encoding *encoding) {
  const piecework_span *span = piecework_encoding_offsets(encoding);
  for (const value *item = expected->first; item; item = item->next, span++)
    if (span->start != item->first->number || span->end != item->first->next->number) return true;
  return false;
}

static bool decoded_differs(const value *row, const piecework_tokenizer *tokenizer, const piecework_encoding *encoding, piecework_error **error) {
  const uint32_t *ids = piecework_encoding_ids(encoding);
  size_t count = piecework_encoding_len(encoding);
  piecework_decode_options options = {.size = sizeof(options), .skip_special_tokens = PIECEWORK_NO};
  size_t len = piecework_decode(tokenizer, ids, count, &options, NULL, 0, error);
  if (len == PIECEWORK_FAILED) return true;
  char *text = malloc(len + 1);
  len = piecework_decode(tokenizer, ids, count, &options, text, len, error);
  const value *expected = field(row, "decoded");
  bool differs = !equals(expected->kind ? expected->text : field(row, "text")->text, text, len);
  free(text);
  return differs;
}

/* Return the first field of a row that differs; NULL if there is none. */
static const char *difference(const piecework_tokenizer *loaded, const value *row, piecework_error **error) {
  static const char *const units[] = {"byte_offsets", "char_offsets"};
  const value *text = field(row, "text"), *pair = field(row, "pair");
  piecework_tokenizer *tokenizer = tokenizer_for(loaded, row, error);
  const char *differs = tokenizer || is(field(row, "error"), "true") ? NULL : "error";
  for (uint32_t unit = PIECEWORK_BYTES; unit <= PIECEWORK_CODE_POINTS && tokenizer && !differs; unit++) {
    piecework_encode_options options = {.size = sizeof(options), .offset_unit = unit};
    options.add_special_tokens = is(field(row, "add_special_tokens"), "true") ? PIECEWORK_YES : PIECEWORK_NO;
    options.parse_special = is(field(row, "parse_special"), "true") ? PIECEWORK_PARSE_ALL : PIECEWORK_PARSE_NOTHING;
    const char *second = pair->kind ? pair->text.data : NULL;
    piecework_encoding *encoding = piecework_encode(tokenizer, text->text.data, text->text.len, second, pair->text.len, &options, error);
    if (!encoding != is(field(row, "error"), "true")) differs = "error";
    else if (!encoding) break;
    else if (ids_differ(field(row, "ids"), encoding)) differs = "ids";
    else if (tokens_differ(field(row, "tokens"), encoding)) differs = "tokens";
    else if (offsets_differ(field(row, units[unit]), encoding)) differs = units[unit];
    else if (decoded_differs(row, tokenizer, encoding, error)) differs = "decoded";
    piecework_encoding_free(encoding);
  }
  piecework_tokenizer_free(tokenizer);
  return differs;
}

/* ---- Files */

/* Return the content of a file, followed by NUL. */
static char *read_file(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path);
  char *content = NULL;
  size_t capacity = 0;
  for (*len = 0;; *len += fread(content + *len, 1, capacity - *len - 1, file)) {
    if (feof(file)) break;
    if (capacity - *len < 2) content = realloc(content, capacity = 2 * capacity + 65536);
    if (!content || ferror(file)) fail(path);
  }
  fclose(file);
  content[*len] = '\0';
  return content;
}

static piecework_tokenizer *load(int argc, char **argv, piecework_error **error) {
  enum { MOST = 64 };
  piecework_str patterns[MOST];
  piecework_special_token special[MOST];
  piecework_load_options options = {.size = sizeof(options), .patterns = patterns, .special_tokens = special};
  char *merges = NULL;
  for (int at = 3; at + 1 < argc; at += 2) {
    if (strcmp(argv[at], "--merges") == 0) {
      merges = read_file(argv[at + 1], &options.merges.len);
      options.merges.data = merges;
    } else if (strcmp(argv[at], "--pattern") == 0 && options.pattern_count < MOST) {
      patterns[options.pattern_count++] = (piecework_str){argv[at + 1], strlen(argv[at + 1])};
    } else if (strcmp(argv[at], "--special") == 0 && at + 2 < argc && options.special_token_count < MOST) {
      special[options.special_token_count].token = (piecework_str){argv[at + 1], strlen(argv[at + 1])};
      special[options.special_token_count++].id = (uint32_t)strtoul(argv[++at + 1], NULL, 10);
    } else {
      fail(argv[at]);
    }
  }
  piecework_tokenizer *tokenizer = piecework_load_file(argv[2], strlen(argv[2]), &options, error);
  free(merges);
  return tokenizer;
}

int main(int argc, char **argv) {
  if (argc < 3) fail("usage: check_golden GOLDEN TOKENIZER [--merges FILE] [--pattern PATTERN] [--special TOKEN ID]");
  piecework_error *error = NULL;
  piecework_tokenizer *tokenizer = load(argc, argv, &error);
  if (!tokenizer) fail(piecework_error_message(error, NULL));
  size_t len, compared = 0, differing = 0;
  char *golden = read_file(argv[1], &len);
  reserved = 64 * len + 65536;
  arena = malloc(reserved);
  if (!arena) fail("no memory");
  for (char *line = strtok(golden, "\n"); line; line = strtok(NULL, "\n")) {
    value row = {.kind = MISSING};
    used = 0;
    read_value(line, &row);
    if (field(&row, "piecework_golden")->kind) continue;
    compared++;
    const char *differs = difference(tokenizer, &row, &error);
    if (differs) {
      piecework_str text = field(&row, "text")->text;
      printf("row %zu: %s differs: %.*s\n", field(&row, "row")->number, differs, (int)text.len, text.data);
      if (error) printf("  %s\n", piecework_error_message(error, NULL));
      differing++;
    }
    piecework_error_free(error);
    error = NULL;
  }
  printf("piecework %s: %zu of %zu compared rows differ\n", piecework_version(), differing, compared);
  free(arena);
  free(golden);
  piecework_tokenizer_free(tokenizer);
  return differing > 0 || compared == 0;
}
