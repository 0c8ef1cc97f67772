/* Count, encode and decode in SQLite, with the tokenizer files of one folder:
 *
 *   SELECT load_extension('./piecework');
 *   SELECT piecework_folder('/srv/tokenizers');
 *   SELECT piecework_count(body, 'bert.json') FROM texts;
 *   SELECT piecework_encode('to be', 'bert.json');          -- '[101,2000,2022,102]'
 *   SELECT piecework_decode('[101,2000,2022,102]', 'bert.json');
 *
 * Ids are a JSON array, as SQLite has no arrays. Each connection has a folder and keeps the tokenizers that it has loaded. */

#include <sqlite3ext.h>

#include <piecework.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

typedef struct loaded {
  struct loaded *next;
  piecework_tokenizer *tokenizer;
  char name[];
} loaded;

/* What the functions of a connection share; the last of them frees it. */
typedef struct connection {
  int functions;
  char *folder;
  loaded *all;
} connection;

static void forget(connection *shared) {
  while (shared->all) {
    loaded *first = shared->all;
    shared->all = first->next;
    piecework_tokenizer_free(first->tokenizer);
    sqlite3_free(first);
  }
}

static void release(void *context) {
  connection *shared = context;
  if (--shared->functions > 0) return;
  forget(shared);
  sqlite3_free(shared->folder);
  sqlite3_free(shared);
}

/* ---- Errors */

/* Make the text of an error the result, and free the error. */
static void fail(sqlite3_context *context, piecework_error *error) {
  char *message = sqlite3_mprintf("piecework: %s", piecework_error_message(error, NULL));
  if (message) sqlite3_result_error(context, message, -1);
  else sqlite3_result_error_nomem(context);
  sqlite3_free(message);
  piecework_error_free(error);
}

/* ---- Tokenizers */

/* piecework_folder(path): the functions of this connection read files of this folder only. */
static void set_folder(sqlite3_context *context, int count, sqlite3_value **arguments) {
  connection *shared = sqlite3_user_data(context);
  const char *folder = (const char *)sqlite3_value_text(arguments[0]);
  (void)count;
  forget(shared);
  sqlite3_free(shared->folder);
  shared->folder = folder ? sqlite3_mprintf("%s", folder) : NULL;
  sqlite3_result_value(context, arguments[0]);
}

static piecework_tokenizer *load(sqlite3_context *context, connection *shared, const char *name) {
  char *path = sqlite3_mprintf("%s/%s", shared->folder, name);
  loaded *made = sqlite3_malloc64(sizeof(loaded) + strlen(name) + 1);
  piecework_error *error = NULL;
  if (path && made) made->tokenizer = piecework_load_file(path, strlen(path), NULL, &error);
  sqlite3_free(path);
  if (path && made && made->tokenizer) {
    strcpy(made->name, name);
    made->next = shared->all;
    shared->all = made;
    return made->tokenizer;
  }
  sqlite3_free(made);
  if (error) fail(context, error);
  else sqlite3_result_error_nomem(context);
  return NULL;
}

/* Return the tokenizer that an argument names; NULL after an error. */
static piecework_tokenizer *tokenizer_of(sqlite3_context *context, sqlite3_value *argument) {
  connection *shared = sqlite3_user_data(context);
  const char *name = (const char *)sqlite3_value_text(argument);
  if (!shared->folder) {
    sqlite3_result_error(context, "piecework: no folder is set: SELECT piecework_folder('...')", -1);
    return NULL;
  }
  if (!name || !*name || *name == '.' || strpbrk(name, "/\\:") || strlen(name) != (size_t)sqlite3_value_bytes(argument)) {
    sqlite3_result_error(context, "piecework: the second argument is not the name of a file in the folder", -1);
    return NULL;
  }
  for (loaded *at = shared->all; at; at = at->next)
    if (strcmp(at->name, name) == 0) return at->tokenizer;
  return load(context, shared, name);
}

/* ---- Texts and ids */

static bool is_null(int count, sqlite3_value **arguments) {
  while (count > 0)
    if (sqlite3_value_type(arguments[--count]) == SQLITE_NULL) return true;
  return false;
}

/* Return an argument as text. SQLite does not check that it is UTF-8. */
static piecework_str text_of(sqlite3_value *argument) {
  const char *data = (const char *)sqlite3_value_text(argument);
  return (piecework_str){data, (size_t)sqlite3_value_bytes(argument)};
}

static piecework_encode_options options_of(int count, sqlite3_value **arguments) {
  piecework_encode_options options = {.size = sizeof(options), .invalid_utf8 = PIECEWORK_INVALID_REPLACE};
  if (count > 2) options.add_special_tokens = sqlite3_value_int(arguments[2]) ? PIECEWORK_YES : PIECEWORK_NO;
  return options;
}

static void count_tokens(sqlite3_context *context, int count, sqlite3_value **arguments) {
  if (is_null(count, arguments)) return;
  const piecework_tokenizer *tokenizer = tokenizer_of(context, arguments[1]);
  if (!tokenizer) return;
  piecework_str text = text_of(arguments[0]);
  piecework_encode_options options = options_of(count, arguments);
  piecework_error *error = NULL;
  size_t tokens = piecework_count(tokenizer, text.data, text.len, &options, &error);
  if (error) fail(context, error);
  else sqlite3_result_int64(context, (sqlite3_int64)tokens);
}

/* Make ids the result, as a JSON array. */
static void result_ids(sqlite3_context *context, const uint32_t *ids, size_t count) {
  char *json = sqlite3_malloc64(11 * (sqlite3_uint64)count + 3), *end = json;
  if (!json) {
    sqlite3_result_error_nomem(context);
    return;
  }
  *end++ = '[';
  for (size_t at = 0; at < count; at++) {
    char digits[10];
    int length = 0;
    for (uint32_t rest = ids[at]; length == 0 || rest > 0; rest /= 10) digits[length++] = (char)('0' + rest % 10);
    if (at > 0) *end++ = ',';
    while (length > 0) *end++ = digits[--length];
  }
  *end++ = ']';
  sqlite3_result_text64(context, json, (sqlite3_uint64)(end - json), sqlite3_free, SQLITE_UTF8);
}

static void encode(sqlite3_context *context, int count, sqlite3_value **arguments) {
  if (is_null(count, arguments)) return;
  const piecework_tokenizer *tokenizer = tokenizer_of(context, arguments[1]);
  if (!tokenizer) return;
  piecework_str text = text_of(arguments[0]);
  piecework_encode_options options = options_of(count, arguments);
  piecework_error *error = NULL;
  uint32_t *ids = NULL;
  size_t capacity = 0, needed = text.len / 4 + 16;
  while (needed > capacity && !error) {
    sqlite3_free(ids);
    ids = sqlite3_malloc64(sizeof(uint32_t) * (capacity = needed));
    if (!ids) break;
    needed = piecework_encode_ids(tokenizer, text.data, text.len, &options, ids, capacity, &error);
  }
  if (error) fail(context, error);
  else if (!ids) sqlite3_result_error_nomem(context);
  else result_ids(context, ids, needed);
  sqlite3_free(ids);
}

/* Read a JSON array of ids into `ids`, which has room for one of each byte; return their number, or -1. */
static sqlite3_int64 read_ids(const char *json, uint32_t *ids) {
  static const char spaces[] = " \t\r\n";
  sqlite3_int64 count = 0;
  json += strspn(json, spaces);
  if (*json++ != '[') return -1;
  json += strspn(json, spaces);
  if (*json == ']') return json[1 + strspn(json + 1, spaces)] ? -1 : 0;
  for (;; json++) {
    char *end;
    json += strspn(json, spaces);
    size_t digits = strspn(json, "0123456789");
    unsigned long long id = strtoull(json, &end, 10);
    if (digits == 0 || digits > 10 || id > UINT32_MAX) return -1;
    ids[count++] = (uint32_t)id;
    json = end + strspn(end, spaces);
    if (*json == ']') return json[1 + strspn(json + 1, spaces)] ? -1 : count;
    if (*json != ',') return -1;
  }
}

static void result_text(sqlite3_context *context, const piecework_tokenizer *tokenizer, const uint32_t *ids, size_t count,
                        const piecework_decode_options *options) {
  piecework_error *error = NULL;
  char *text = NULL;
  size_t capacity = 0, needed = 4 * count + 16;
  while (needed > capacity && !error) {
    sqlite3_free(text);
    text = sqlite3_malloc64(capacity = needed);
    if (!text) break;
    needed = piecework_decode(tokenizer, ids, count, options, text, capacity, &error);
  }
  if (!error && text) {
    sqlite3_result_text64(context, text, needed, sqlite3_free, SQLITE_UTF8);
    return;
  }
  sqlite3_free(text);
  if (error) fail(context, error);
  else sqlite3_result_error_nomem(context);
}

static void decode(sqlite3_context *context, int count, sqlite3_value **arguments) {
  if (is_null(count, arguments)) return;
  const piecework_tokenizer *tokenizer = tokenizer_of(context, arguments[1]);
  if (!tokenizer) return;
  piecework_decode_options options = {.size = sizeof(options)};
  if (count > 2) options.skip_special_tokens = sqlite3_value_int(arguments[2]) ? PIECEWORK_YES : PIECEWORK_NO;
  const char *json = (const char *)sqlite3_value_text(arguments[0]);
  uint32_t *ids = json ? sqlite3_malloc64(sizeof(uint32_t) * ((sqlite3_uint64)sqlite3_value_bytes(arguments[0]) / 2 + 1)) : NULL;
  sqlite3_int64 len = ids ? read_ids(json, ids) : 0;
  if (!ids) sqlite3_result_error_nomem(context);
  else if (len < 0) sqlite3_result_error(context, "piecework: the first argument is not a JSON array of ids", -1);
  else result_text(context, tokenizer, ids, (size_t)len, &options);
  sqlite3_free(ids);
}

int sqlite3_piecework_init(sqlite3 *database, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  (void)message;
  /* No view or trigger, which a foreign database can have, may choose the folder. */
  static const struct {
    const char *name;
    int arguments, flags;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {
      {"piecework_folder", 1, SQLITE_DIRECTONLY, set_folder},
      {"piecework_count", 2, 0, count_tokens},
      {"piecework_count", 3, 0, count_tokens},
      {"piecework_encode", 2, 0, encode},
      {"piecework_encode", 3, 0, encode},
      {"piecework_decode", 2, 0, decode},
      {"piecework_decode", 3, 0, decode},
  };
  connection *shared = sqlite3_malloc(sizeof(connection));
  if (!shared) return SQLITE_NOMEM;
  *shared = (connection){.functions = 1};
  int status = SQLITE_OK;
  for (size_t at = 0; at < sizeof(functions) / sizeof(*functions) && status == SQLITE_OK; at++) {
    shared->functions++;
    /* SQLite calls `release` even if it fails. */
    status = sqlite3_create_function_v2(database, functions[at].name, functions[at].arguments, SQLITE_UTF8 | functions[at].flags, shared,
                                        functions[at].function, NULL, NULL, release);
  }
  release(shared);
  return status;
}
