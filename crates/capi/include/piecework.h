/* piecework: text to token ids and back, with the vocabularies of published models.
 *
 * A tokenizer is loaded once and never changes: any number of threads use one at the same time. Nothing is kept per thread. Encodings,
 * batches, streams, growing texts and errors belong to whoever received them; one thread at a time uses a stream or a growing text.
 *
 *   piecework_error *error = NULL;
 *   piecework_tokenizer *tokenizer = piecework_load_file("tokenizer.json", 14, NULL, &error);
 *   uint32_t ids[64];
 *   size_t count = piecework_encode_ids(tokenizer, "to be", 5, NULL, ids, 64, &error);
 *
 * Strings are a pointer and a length in bytes of UTF-8; no NUL has to follow. A pointer may be NULL where its length is 0. Input is read
 * during the call only.
 *
 * A function that can fail has `piecework_error **error` as its last parameter. If it fails, it returns NULL, false or PIECEWORK_FAILED
 * and sets `*error` to an error, which the caller frees; otherwise it sets `*error` to NULL. `error` itself may be NULL.
 *
 * When the system refuses memory in the middle of a call, the process ends.
 *
 * A function that writes into a buffer of the caller returns the length of the result. If that is more than the capacity, nothing was
 * written: call again with a larger buffer.
 *
 * Structures of options begin with their size, so that later versions can append fields. Write `{.size = sizeof(options)}`: all other
 * fields are then 0, which is the default. A structure that is NULL has the defaults, too, and so have the fields that the header of an
 * older program lacks. */

#ifndef PIECEWORK_H
#define PIECEWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types */

/* The version of this header; piecework_version() returns the version of the library. */
#define PIECEWORK_VERSION "0.1.0"

/* The length that a failing function returns. */
#define PIECEWORK_FAILED SIZE_MAX

typedef struct piecework_tokenizer piecework_tokenizer;
typedef struct piecework_encoding piecework_encoding;
typedef struct piecework_batch piecework_batch;
typedef struct piecework_stream piecework_stream;
typedef struct piecework_growing_text piecework_growing_text;
typedef struct piecework_error piecework_error;

typedef struct piecework_str {
  const char *data;
  size_t len;
} piecework_str;

/* The half-open interval [start, end). */
typedef struct piecework_span {
  size_t start;
  size_t end;
} piecework_span;

/* ---- Errors */

/* Later versions may add kinds. */
enum piecework_kind {
  PIECEWORK_ERROR_ARGUMENT = 1,      /* an argument or option cannot be used */
  PIECEWORK_ERROR_UTF8 = 2,          /* a text is not UTF-8 */
  PIECEWORK_ERROR_SPECIAL_TOKEN = 3, /* a text contains a special token, and the tokenizer refuses them */
  PIECEWORK_ERROR_FILE = 4,          /* a file cannot be read */
  PIECEWORK_ERROR_FORMAT = 5,        /* a file is malformed, of an unknown format or contradicts itself */
  PIECEWORK_ERROR_VOCABULARY = 6,    /* a vocabulary cannot be used */
  PIECEWORK_ERROR_MEMORY = 7,        /* the system does not provide the memory */
  PIECEWORK_ERROR_INTERNAL = 8,      /* a bug in piecework */
  PIECEWORK_ERROR_OTHER = 9,
  PIECEWORK_ERROR_CANCELLED = 10 /* the option `cancel` ended the call */
};

/* Return an enum piecework_kind; 0 for NULL. */
uint32_t piecework_error_kind(const piecework_error *error);
/* Return what is wrong, for people, followed by NUL; it is freed with the error. `len` may be NULL. */
const char *piecework_error_message(const piecework_error *error, size_t *len);
/* Return the argument, file, line or field that is wrong; it is freed with the error. `len` may be NULL. */
const char *piecework_error_place(const piecework_error *error, size_t *len);
/* Return the position in bytes of what is not UTF-8; PIECEWORK_FAILED for other errors. */
size_t piecework_error_position(const piecework_error *error);
void piecework_error_free(piecework_error *error);

/* ---- Options */

enum piecework_choice { PIECEWORK_DEFAULT = 0, PIECEWORK_YES = 1, PIECEWORK_NO = 2 };
enum piecework_side { PIECEWORK_RIGHT = 0, PIECEWORK_LEFT = 1 };

/* Which special tokens are parsed where they are written in a text. */
enum piecework_parse_special {
  PIECEWORK_PARSE_DEFAULT = 0, /* the tokenizer decides: tiktoken's ranks refuse them, most other files parse all */
  PIECEWORK_PARSE_ALL = 1,
  PIECEWORK_PARSE_NOTHING = 2, /* each is encoded as text: safe for text of users */
  PIECEWORK_PARSE_REFUSE = 3   /* a text that contains one is an error */
};

enum piecework_invalid_utf8 {
  PIECEWORK_INVALID_FAIL = 0,
  PIECEWORK_INVALID_REPLACE = 1 /* by U+FFFD, before encoding; offsets count in the text after that */
};

/* What offsets count. */
enum piecework_offset_unit {
  PIECEWORK_BYTES = 0,       /* of UTF-8 */
  PIECEWORK_CODE_POINTS = 1, /* as Python */
  PIECEWORK_UTF16 = 2        /* as Java, JavaScript and C# */
};

enum piecework_strategy { PIECEWORK_LONGEST_FIRST = 0, PIECEWORK_ONLY_FIRST = 1, PIECEWORK_ONLY_SECOND = 2 };

typedef struct piecework_special_token {
  piecework_str token;
  uint32_t id;
} piecework_special_token;

/* What some formats lack. A setting that a format does not use is an error. */
typedef struct piecework_load_options {
  size_t size;
  piecework_str merges;          /* the content of the merges.txt of a vocab.json */
  const piecework_str *patterns; /* regular expressions that split text for tiktoken's ranks, in turn */
  size_t pattern_count;
  const piecework_special_token *special_tokens; /* of tiktoken's ranks */
  size_t special_token_count;
  uint32_t lowercase; /* enum piecework_choice, for a vocab.txt; by default its entries decide */
} piecework_load_options;

typedef struct piecework_encode_options {
  size_t size;
  const piecework_str *parsed_tokens; /* unless NULL: of the special tokens, parse these only */
  size_t parsed_token_count;
  uint32_t add_special_tokens; /* enum piecework_choice: insert [CLS] and the like; by default yes */
  uint32_t parse_special;      /* enum piecework_parse_special */
  uint32_t invalid_utf8;       /* enum piecework_invalid_utf8 */
  uint32_t offset_unit;        /* enum piecework_offset_unit */
  uint32_t offsets;            /* enum piecework_choice, for batches: compute offsets; by default no */
  uint32_t overflow;           /* enum piecework_choice, for batches: a row for each window of a truncated text; by default no */
  uint32_t num_threads;        /* for batches; 0: as many as CPUs */
  /* Unless NULL: a flag that ends a long call with PIECEWORK_ERROR_CANCELLED within tens of milliseconds after it is not 0. Another
   * thread or a signal handler writes it. Short calls do not read it. */
  const volatile uint32_t *cancel;
} piecework_encode_options;

typedef struct piecework_decode_options {
  size_t size;
  uint32_t skip_special_tokens; /* enum piecework_choice; by default yes */
  uint32_t clean_up;            /* enum piecework_choice: remove spaces before punctuation; by default the decoder decides */
} piecework_decode_options;

typedef struct piecework_truncation {
  size_t size;
  size_t max_length; /* with special tokens */
  size_t stride;     /* the tokens that each window repeats of the one before */
  uint32_t strategy; /* enum piecework_strategy, for pairs */
  uint32_t side;     /* enum piecework_side: where tokens are cut off */
} piecework_truncation;

typedef struct piecework_padding {
  size_t size;
  piecework_str pad_token;
  size_t length;      /* 0: the longest row of a batch */
  size_t multiple_of; /* 0 or 1: any length */
  uint32_t pad_id;
  uint32_t pad_type_id;
  uint32_t side; /* enum piecework_side */
} piecework_padding;

/* ---- Tokenizers */

/* Return the version of the library, such as "0.1.0", followed by NUL. */
const char *piecework_version(void);

/* Load a tokenizer file: tokenizer.json, vocab.txt, SentencePiece .model, tiktoken ranks, GGUF, ... The content decides the format. */
piecework_tokenizer *piecework_load_file(const char *path, size_t path_len, const piecework_load_options *options, piecework_error **error);
/* Load a tokenizer file that is in memory; the memory is not needed afterwards. */
piecework_tokenizer *piecework_load_bytes(const void *bytes, size_t len, const piecework_load_options *options, piecework_error **error);
/* Return another tokenizer, which truncates encodings, or does not if `truncation` is NULL. It shares the tables. */
piecework_tokenizer *piecework_with_truncation(const piecework_tokenizer *tokenizer, const piecework_truncation *truncation, piecework_error **error);
/* Return another tokenizer, which pads encodings and batches, or does not if `padding` is NULL. It shares the tables. */
piecework_tokenizer *piecework_with_padding(const piecework_tokenizer *tokenizer, const piecework_padding *padding, piecework_error **error);
void piecework_tokenizer_free(piecework_tokenizer *tokenizer);

/* Build every table that calls would build late, so that no request waits for one. A server calls it once. */
void piecework_warm_up(const piecework_tokenizer *tokenizer);
/* Write a checksum of everything that affects ids: 64 hexadecimal digits, the fingerprint of the Python package. */
size_t piecework_fingerprint(const piecework_tokenizer *tokenizer, char *digits, size_t capacity, piecework_error **error);

/* Return the number of tokens; 0 for NULL. */
size_t piecework_vocab_size(const piecework_tokenizer *tokenizer);
/* Return whether there is such a token; if so, write its id. `id` may be NULL. */
bool piecework_token_to_id(const piecework_tokenizer *tokenizer, const char *token, size_t token_len, uint32_t *id);
/* Return the token of an id, which lives as long as the tokenizer; NULL if there is none. `len` may be NULL. */
const char *piecework_id_to_token(const piecework_tokenizer *tokenizer, uint32_t id, size_t *len);
/* Write the bytes that a token stands for, which need not be UTF-8; return PIECEWORK_FAILED if there is no such id. */
size_t piecework_token_bytes(const piecework_tokenizer *tokenizer, uint32_t id, char *bytes, size_t capacity);

/* ---- Encode */

/* Write the ids of a text, truncated and not padded; return their number. */
size_t piecework_encode_ids(const piecework_tokenizer *tokenizer, const char *text, size_t text_len, const piecework_encode_options *options, uint32_t *ids, size_t capacity, piecework_error **error);
/* Return the number of ids of a text. */
size_t piecework_count(const piecework_tokenizer *tokenizer, const char *text, size_t text_len, const piecework_encode_options *options, piecework_error **error);
/* Encode a text, or a pair of texts unless `pair` is NULL, with every field. */
piecework_encoding *piecework_encode(const piecework_tokenizer *tokenizer, const char *text, size_t text_len, const char *pair, size_t pair_len, const piecework_encode_options *options, piecework_error **error);

/* A part of a prompt. */
typedef struct piecework_segment {
  piecework_str text;
  uint32_t allow_special; /* 1: may contain special tokens; 0: everything in it is plain text */
} piecework_segment;

/* Encode the concatenated segments of a prompt. Of the options, only invalid_utf8, offset_unit and cancel apply; nothing is inserted.
 *
 * `markers` are added tokens that segments without permission must not contain, besides special tokens; NULL: all added tokens. */
piecework_encoding *piecework_encode_segments(const piecework_tokenizer *tokenizer, const piecework_segment *segments, size_t count, const piecework_str *markers, size_t marker_count, const piecework_encode_options *options, piecework_error **error);

/* The columns of an encoding, each with an item for each token; they are freed with the encoding. */
size_t piecework_encoding_len(const piecework_encoding *encoding);
const uint32_t *piecework_encoding_ids(const piecework_encoding *encoding);
/* Usually 0 for the text and 1 for the pair. */
const uint32_t *piecework_encoding_type_ids(const piecework_encoding *encoding);
/* 1 for tokens, 0 for padding. */
const uint8_t *piecework_encoding_attention_mask(const piecework_encoding *encoding);
/* 1 for tokens that were inserted, 0 for tokens of the text. */
const uint8_t *piecework_encoding_special_tokens_mask(const piecework_encoding *encoding);
/* The span of each token in its text, in `offset_unit`; [0, 0) for tokens that were inserted. */
const piecework_span *piecework_encoding_offsets(const piecework_encoding *encoding);
/* The index of the word of each token in its text, or -1. */
const int32_t *piecework_encoding_word_ids(const piecework_encoding *encoding);
/* 0 for tokens of the text, 1 for tokens of the pair, or -1. */
const int32_t *piecework_encoding_sequence_ids(const piecework_encoding *encoding);
/* Return a token as a string, which lives as long as the encoding; NULL if there is no such token. `len` may be NULL. */
const char *piecework_encoding_token(const piecework_encoding *encoding, size_t index, size_t *len);
/* Return the number of windows that truncation cut off. */
size_t piecework_encoding_window_count(const piecework_encoding *encoding);
/* Return a window, which is freed with the encoding; NULL if there is no such window. */
const piecework_encoding *piecework_encoding_window(const piecework_encoding *encoding, size_t index);
/* Return the tokens of each segment of a prompt. A token with characters of two segments belongs to both. */
const piecework_span *piecework_encoding_segments(const piecework_encoding *encoding, size_t *count);
void piecework_encoding_free(piecework_encoding *encoding);

/* ---- Batches */

/* Encode many texts, or pairs unless `pairs` is NULL, on several threads. */
piecework_batch *piecework_encode_batch(const piecework_tokenizer *tokenizer, const piecework_str *texts, const piecework_str *pairs, size_t count, const piecework_encode_options *options, piecework_error **error);
/* Write the number of ids of each text into `counts`. */
bool piecework_count_batch(const piecework_tokenizer *tokenizer, const piecework_str *texts, size_t count, const piecework_encode_options *options, size_t *counts, piecework_error **error);

/* Return the number of rows. */
size_t piecework_batch_len(const piecework_batch *batch);
/* The columns of all rows, one row after the other; they are freed with the batch. */
const uint32_t *piecework_batch_ids(const piecework_batch *batch);
/* The start of each row in the columns, and the end of the last. */
const int64_t *piecework_batch_row_offsets(const piecework_batch *batch);
/* NULL if all are 0. */
const uint8_t *piecework_batch_type_ids(const piecework_batch *batch);
/* NULL if the tokenizer does not pad. */
const uint8_t *piecework_batch_attention_mask(const piecework_batch *batch);
/* NULL without the option `offsets`. */
const piecework_span *piecework_batch_offsets(const piecework_batch *batch);
/* The index of the text of each row. */
const size_t *piecework_batch_samples(const piecework_batch *batch);
void piecework_batch_free(piecework_batch *batch);

/* ---- Decode */

/* Write the text of ids, as UTF-8. Ids without a token are skipped; bytes that are not UTF-8 become U+FFFD. */
size_t piecework_decode(const piecework_tokenizer *tokenizer, const uint32_t *ids, size_t count, const piecework_decode_options *options, char *text, size_t capacity, piecework_error **error);
/* Write the bytes of ids, special tokens included. An id without a token is an error. */
size_t piecework_decode_bytes(const piecework_tokenizer *tokenizer, const uint32_t *ids, size_t count, char *bytes, size_t capacity, piecework_error **error);

/* Return a stream that decodes one id at a time. `prefill` are the ids before, such as a prompt, whose text it does not return. */
piecework_stream *piecework_decode_stream(const piecework_tokenizer *tokenizer, const uint32_t *prefill, size_t count, const piecework_decode_options *options, piecework_error **error);
/* Decode the next id; return the text that it adds: whole characters, until the next call with the stream. */
const char *piecework_stream_step(piecework_stream *stream, uint32_t id, size_t *len, piecework_error **error);
/* Return the text that is still buffered: U+FFFD for an incomplete character. The stream can be used again. */
const char *piecework_stream_finish(piecework_stream *stream, size_t *len, piecework_error **error);
void piecework_stream_free(piecework_stream *stream);

/* ---- Budgets of tokens */

/* Return the ids of a text that grows at its end. Of the options, those of special tokens in the text and invalid_utf8 apply; nothing is
 * inserted or truncated. */
piecework_growing_text *piecework_growing_text_new(const piecework_tokenizer *tokenizer, const piecework_encode_options *options, piecework_error **error);
/* Append text, whole characters. If this fails, the text stays as it was.
 *
 * Only the text after the last space or added token is encoded again; with models that are not divided at spaces, such as SentencePiece's
 * Unigram, the text after the last added token. */
bool piecework_growing_text_append(piecework_growing_text *growing, const char *text, size_t text_len, piecework_error **error);
/* Return the ids of the whole text, until the next call with it. `count` may be NULL. */
const uint32_t *piecework_growing_text_ids(const piecework_growing_text *growing, size_t *count);
/* Return the number of ids at the beginning that no appended text can change. */
size_t piecework_growing_text_num_stable(const piecework_growing_text *growing);
void piecework_growing_text_free(piecework_growing_text *growing);

/* Where chunks end. A unit that is too long is divided into finer ones. */
enum piecework_chunk_unit {
  PIECEWORK_SENTENCE = 0,  /* after . ! ? and their East Asian forms, before whitespace, and after lines */
  PIECEWORK_PARAGRAPH = 1, /* after blank lines */
  PIECEWORK_WORD = 2,      /* after whitespace */
  PIECEWORK_CHARACTER = 3
};

typedef struct piecework_chunk_options {
  size_t size;
  size_t max_tokens; /* of a chunk, encoded alone with its special tokens */
  size_t overlap;    /* the most tokens at the end of a chunk that the next one repeats, in whole units */
  uint32_t unit;     /* enum piecework_chunk_unit */
} piecework_chunk_options;

/* A part of a text: [start, end) in `offset_unit`. */
typedef struct piecework_chunk {
  size_t start;
  size_t end;
  size_t num_tokens;
} piecework_chunk;

/* Write the chunks of a text; return their number. Without overlap, they are the text. Truncation and padding do not apply.
 *
 * The whole text is encoded once and each chunk counted. It is an error if one character has more than `max_tokens`. */
size_t piecework_chunk_text(const piecework_tokenizer *tokenizer, const char *text, size_t text_len, const piecework_chunk_options *chunking, const piecework_encode_options *options, piecework_chunk *chunks, size_t capacity, piecework_error **error);

enum piecework_role {
  PIECEWORK_USER = 0, /* a message begins a turn */
  PIECEWORK_ASSISTANT = 1,
  PIECEWORK_TOOL = 2,  /* the results of tools, whoever writes them */
  PIECEWORK_SYSTEM = 3 /* or developer: always kept */
};

typedef struct piecework_message {
  size_t num_tokens; /* as the chat template renders it */
  size_t call;       /* 1 and the index of the message with the call that this one answers; 0: of PIECEWORK_TOOL, the last message of the assistant before it */
  uint32_t role;     /* enum piecework_role */
} piecework_message;

/* Write the indices of the system messages and of the most recent turns that have at most `max_tokens` together; return their number.
 *
 * A turn is a message of the user and all messages up to the next one; the result of a tool stays in the turn of its call. Subtract from
 * `max_tokens` what a prompt has besides its messages. It is an error if the last turn does not fit. */
size_t piecework_fit_messages(const piecework_message *messages, size_t count, size_t max_tokens, size_t *kept, size_t capacity, piecework_error **error);

#ifdef __cplusplus
}
#endif

#endif
