/* Count, encode and decode in PostgreSQL, with the tokenizer files of one folder.
 *
 * Each backend keeps the tokenizers that it has loaded. Errors are raised only after a function of the library has returned, so none of
 * its frames is jumped over. The library starts no thread for one text. In a long text it looks at the flag that the server's signal
 * handlers set, and returns soon after a query is cancelled.
 *
 * Functions with a fingerprint are IMMUTABLE: a file with another fingerprint is an error, so they never return another result. */

#include <postgres.h>

#include <catalog/pg_type.h>
#include <fmgr.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/memutils.h>

#include <piecework.h>

PG_MODULE_MAGIC;

void _PG_init(void);
PG_FUNCTION_INFO_V1(pg_piecework_count);
PG_FUNCTION_INFO_V1(pg_piecework_encode);
PG_FUNCTION_INFO_V1(pg_piecework_decode);
PG_FUNCTION_INFO_V1(pg_piecework_fingerprint);

/* The digits of a fingerprint. */
#define FINGERPRINT 64

/* A tokenizer of this backend. */
typedef struct Loaded {
  struct Loaded *next;
  piecework_tokenizer *tokenizer;
  char fingerprint[FINGERPRINT + 1]; /* empty until it is needed */
  char path[FLEXIBLE_ARRAY_MEMBER];
} Loaded;

static char *folder = NULL;
static Loaded *all_loaded = NULL;

void _PG_init(void) {
  DefineCustomStringVariable("piecework.folder", "The folder whose files the functions of piecework read.", NULL, &folder, "", PGC_SUSET, 0,
                             NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
  MarkGUCPrefixReserved("piecework");
#endif
}

/* ---- Errors */

static int code_of(uint32_t kind) {
  switch (kind) {
    case PIECEWORK_ERROR_ARGUMENT:
    case PIECEWORK_ERROR_SPECIAL_TOKEN:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case PIECEWORK_ERROR_UTF8:
      return ERRCODE_CHARACTER_NOT_IN_REPERTOIRE;
    case PIECEWORK_ERROR_FILE:
      return ERRCODE_UNDEFINED_FILE;
    case PIECEWORK_ERROR_FORMAT:
    case PIECEWORK_ERROR_VOCABULARY:
      return ERRCODE_CONFIG_FILE_ERROR;
    case PIECEWORK_ERROR_MEMORY:
      return ERRCODE_OUT_OF_MEMORY;
    default:
      return ERRCODE_INTERNAL_ERROR;
  }
}

static void fail(piecework_error *error) pg_attribute_noreturn();

/* Free an error of the library and raise its text. */
static void fail(piecework_error *error) {
  size_t len;
  const char *found = piecework_error_message(error, &len);
  char *message = pnstrdup(found, len);
  int code = code_of(piecework_error_kind(error));
  piecework_error_free(error);
  ereport(ERROR, (errcode(code), errmsg("piecework: %s", pg_any_to_server(message, (int)len, PG_UTF8))));
}

/* ---- Tokenizers */

/* Return the path of a file of the folder; the name must not leave it. */
static char *path_of(const text *name) {
  char *file = text_to_cstring(name);
  if (folder == NULL || folder[0] == '\0')
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("piecework.folder is not set"),
                    errhint("A superuser sets it to a folder with tokenizer files.")));
  if (file[0] == '\0' || file[0] == '.' || strpbrk(file, "/\\:") != NULL)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not the name of a file in piecework.folder", file)));
  return psprintf("%s/%s", folder, file);
}

static void drop(Loaded *loaded) {
  piecework_tokenizer_free(loaded->tokenizer);
  pfree(loaded);
}

static Loaded *load(const char *path) {
  Loaded *loaded = MemoryContextAllocZero(TopMemoryContext, offsetof(Loaded, path) + strlen(path) + 1);
  piecework_error *error = NULL;
  strcpy(loaded->path, path);
  loaded->tokenizer = piecework_load_file(path, strlen(path), NULL, &error);
  if (loaded->tokenizer == NULL) {
    drop(loaded);
    fail(error);
  }
  return loaded;
}

/* Keep a tokenizer after those that the backend has. */
static Loaded *keep(Loaded *loaded) {
  Loaded **end = &all_loaded;
  while (*end != NULL) end = &(*end)->next;
  return *end = loaded;
}

/* Return the tokenizer of a file, which is read once in each backend. */
static Loaded *loaded_of(const text *name) {
  char *path = path_of(name);
  for (Loaded *loaded = all_loaded; loaded != NULL; loaded = loaded->next)
    if (strcmp(loaded->path, path) == 0) return loaded;
  return keep(load(path));
}

static const char *fingerprint_of(Loaded *loaded) {
  piecework_error *error = NULL;
  if (loaded->fingerprint[0] == '\0' && piecework_fingerprint(loaded->tokenizer, loaded->fingerprint, FINGERPRINT, &error) == PIECEWORK_FAILED)
    fail(error);
  return loaded->fingerprint;
}

/* Return the tokenizer of a file with a fingerprint. The file is read again if what the backend has is another one. */
static Loaded *pinned_of(const text *name, const char *fingerprint) {
  Loaded *loaded = loaded_of(name);
  for (Loaded *other = loaded; other != NULL; other = other->next)
    if (strcmp(other->path, loaded->path) == 0 && strcmp(fingerprint_of(other), fingerprint) == 0) return other;
  if (strlen(fingerprint) != FINGERPRINT || strspn(fingerprint, "0123456789abcdef") != FINGERPRINT)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not a fingerprint of 64 hexadecimal digits", fingerprint),
                    errhint("piecework_fingerprint(name) returns the fingerprint of a file.")));
  loaded = load(loaded->path);
  if (strcmp(fingerprint_of(loaded), fingerprint) != 0) {
    char *found = pstrdup(loaded->fingerprint);
    drop(loaded);
    ereport(ERROR, (errcode(ERRCODE_CONFIG_FILE_ERROR), errmsg("the file \"%s\" has another fingerprint", text_to_cstring(name)),
                    errdetail("Found %s, expected %s.", found, fingerprint),
                    errhint("Put the expected file back, or rebuild what was computed with it, such as indexes, with the fingerprint found.")));
  }
  return keep(loaded);
}

/* Return the tokenizer that the arguments of a function name: the second is a file; the third of four is its fingerprint. */
static const piecework_tokenizer *tokenizer_of(FunctionCallInfo fcinfo) {
  const text *name = PG_GETARG_TEXT_PP(1);
  Loaded *loaded = PG_NARGS() == 4 ? pinned_of(name, text_to_cstring(PG_GETARG_TEXT_PP(2))) : loaded_of(name);
  return loaded->tokenizer;
}

Datum pg_piecework_fingerprint(PG_FUNCTION_ARGS) {
  PG_RETURN_TEXT_P(cstring_to_text(fingerprint_of(loaded_of(PG_GETARG_TEXT_PP(0)))));
}

/* ---- Texts and ids */

/* Return a flag of the server as the library reads it. */
static const volatile uint32_t *flag_of(const volatile sig_atomic_t *flag) {
  StaticAssertStmt(sizeof(sig_atomic_t) == sizeof(uint32_t), "the library reads a flag of 32 bits");
  return (const volatile uint32_t *)flag;
}

/* Return an argument in UTF-8, which it is already in most databases. */
static piecework_str utf8_of(const text *argument) {
  int len = (int)VARSIZE_ANY_EXHDR(argument);
  const char *data = VARDATA_ANY(argument);
  const char *converted = pg_server_to_any(data, len, PG_UTF8);
  return (piecework_str){converted, converted == data ? (size_t)len : strlen(converted)};
}

/* Return the options of a call, whose last argument is whether special tokens are added. */
static piecework_encode_options options_of(FunctionCallInfo fcinfo) {
  piecework_encode_options options = {.size = sizeof(options)};
  options.add_special_tokens = PG_GETARG_BOOL(PG_NARGS() - 1) ? PIECEWORK_YES : PIECEWORK_NO;
  options.cancel = flag_of(&InterruptPending);
  return options;
}

/* Return whether an interrupt ended a call and the query goes on; raise all other errors. */
static bool is_interrupted(size_t result, piecework_error *error, piecework_encode_options *options) {
  if (result != PIECEWORK_FAILED) return false;
  if (piecework_error_kind(error) != PIECEWORK_ERROR_CANCELLED) fail(error);
  piecework_error_free(error);
  CHECK_FOR_INTERRUPTS();
  /* Other interrupts must not end every call. None acts while the server holds them. */
  options->cancel = InterruptPending ? NULL : flag_of(&QueryCancelPending);
  return true;
}

Datum pg_piecework_count(PG_FUNCTION_ARGS) {
  const piecework_tokenizer *tokenizer = tokenizer_of(fcinfo);
  piecework_str input = utf8_of(PG_GETARG_TEXT_PP(0));
  piecework_encode_options options = options_of(fcinfo);
  piecework_error *error = NULL;
  size_t count;

  CHECK_FOR_INTERRUPTS();
  do count = piecework_count(tokenizer, input.data, input.len, &options, &error);
  while (is_interrupted(count, error, &options));
  PG_RETURN_INT64((int64)count);
}

/* Return an array for so many ids. */
static ArrayType *new_ids(size_t count) {
  Size size = ARR_OVERHEAD_NONULLS(1) + count * sizeof(int32);
  ArrayType *array = palloc(size);
  SET_VARSIZE(array, size);
  array->ndim = 1;
  array->dataoffset = 0;
  array->elemtype = INT4OID;
  ARR_DIMS(array)[0] = (int)count;
  ARR_LBOUND(array)[0] = 1;
  return array;
}

Datum pg_piecework_encode(PG_FUNCTION_ARGS) {
  const piecework_tokenizer *tokenizer = tokenizer_of(fcinfo);
  piecework_str input = utf8_of(PG_GETARG_TEXT_PP(0));
  piecework_encode_options options = options_of(fcinfo);
  size_t capacity = input.len / 4 + 16;

  for (;;) {
    ArrayType *array = new_ids(capacity);
    piecework_error *error = NULL;
    size_t count;

    CHECK_FOR_INTERRUPTS();
    do count = piecework_encode_ids(tokenizer, input.data, input.len, &options, (uint32_t *)ARR_DATA_PTR(array), capacity, &error);
    while (is_interrupted(count, error, &options));
    if (count == 0) PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT4OID));
    if (count <= capacity) {
      ARR_DIMS(array)[0] = (int)count;
      SET_VARSIZE(array, ARR_OVERHEAD_NONULLS(1) + count * sizeof(int32));
      PG_RETURN_ARRAYTYPE_P(array);
    }
    pfree(array);
    capacity = count;
  }
}

/* Return the number of ids; they must be one row without NULL and negative numbers. */
static size_t checked_ids(ArrayType *array) {
  size_t count = (size_t)ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
  const int32 *ids = (const int32 *)ARR_DATA_PTR(array);
  if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids must be an array of one dimension without NULL")));
  for (size_t at = 0; at < count; at++)
    if (ids[at] < 0) ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("%d is not an id", ids[at])));
  return count;
}

Datum pg_piecework_decode(PG_FUNCTION_ARGS) {
  ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
  const piecework_tokenizer *tokenizer = tokenizer_of(fcinfo);
  piecework_decode_options options = {.size = sizeof(options)};
  size_t count = checked_ids(array), capacity = 4 * count + 16;

  options.skip_special_tokens = PG_GETARG_BOOL(PG_NARGS() - 1) ? PIECEWORK_YES : PIECEWORK_NO;
  for (;;) {
    char *result = palloc(capacity + 1);
    piecework_error *error = NULL;
    size_t len;

    CHECK_FOR_INTERRUPTS();
    len = piecework_decode(tokenizer, (const uint32_t *)ARR_DATA_PTR(array), count, &options, result, capacity, &error);
    if (len == PIECEWORK_FAILED) fail(error);
    if (len <= capacity) {
      result[len] = '\0';
      PG_RETURN_TEXT_P(cstring_to_text(pg_any_to_server(result, (int)len, PG_UTF8)));
    }
    pfree(result);
    capacity = len;
  }
}
