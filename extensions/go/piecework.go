// Package piecework turns text into token ids and back, with the vocabularies of published models.
//
// A tokenizer never changes: any number of goroutines use one at the same time. Results are ordinary Go values; only tokenizers and
// streams hold memory of the library, until Close or until the garbage collector finds that nobody has them. Offsets count bytes, so
// text[span.Start:span.End] is the text of a token.
package piecework

// #cgo pkg-config: piecework
// #include <piecework.h>
// #include <stdlib.h>
//
// /* These take strings of Go without a copy, and return their error by value, so that it needs no place in the heap of Go. */
// typedef struct { size_t len; piecework_error *error; } length;
// typedef struct { piecework_encoding *encoding; piecework_error *error; } encoded;
//
// static length count(const piecework_tokenizer *tokenizer, _GoString_ text, piecework_encode_options options) {
//   length found;
//   found.len = piecework_count(tokenizer, _GoStringPtr(text), _GoStringLen(text), &options, &found.error);
//   return found;
// }
//
// static length encode_ids(const piecework_tokenizer *tokenizer, _GoString_ text, piecework_encode_options options, uint32_t *ids, size_t capacity) {
//   length found;
//   found.len = piecework_encode_ids(tokenizer, _GoStringPtr(text), _GoStringLen(text), &options, ids, capacity, &found.error);
//   return found;
// }
//
// static encoded encode(const piecework_tokenizer *tokenizer, _GoString_ text, _GoString_ pair, bool paired, piecework_encode_options options) {
//   encoded found;
//   const char *second = !paired ? NULL : _GoStringLen(pair) ? _GoStringPtr(pair) : "";
//   found.encoding = piecework_encode(tokenizer, _GoStringPtr(text), _GoStringLen(text), second, _GoStringLen(pair), &options, &found.error);
//   return found;
// }
//
// static void tokens_of(const piecework_encoding *encoding, piecework_str *tokens) {
//   for (size_t at = 0; at < piecework_encoding_len(encoding); at++)
//     tokens[at].data = piecework_encoding_token(encoding, at, &tokens[at].len);
// }
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Errors

// ErrClosed is the error of every call after Close.
var ErrClosed = errors.New("piecework: the object is closed")

// A Kind says what an error is about. Later versions may add kinds.
type Kind uint32

const (
	KindArgument     Kind = C.PIECEWORK_ERROR_ARGUMENT
	KindUTF8         Kind = C.PIECEWORK_ERROR_UTF8
	KindSpecialToken Kind = C.PIECEWORK_ERROR_SPECIAL_TOKEN
	KindFile         Kind = C.PIECEWORK_ERROR_FILE
	KindFormat       Kind = C.PIECEWORK_ERROR_FORMAT
	KindVocabulary   Kind = C.PIECEWORK_ERROR_VOCABULARY
	KindMemory       Kind = C.PIECEWORK_ERROR_MEMORY
	KindInternal     Kind = C.PIECEWORK_ERROR_INTERNAL
	KindOther        Kind = C.PIECEWORK_ERROR_OTHER
)

// An Error is what the library refuses.
type Error struct {
	Kind     Kind
	Message  string
	Place    string // the argument, file, line or field that is wrong
	Position int    // of the byte that is not UTF-8; -1 for other errors
}

func (e *Error) Error() string { return "piecework: " + e.Message }

// failure returns an error of the library as one of Go, and frees it.
func failure(found *C.piecework_error) error {
	if found == nil {
		return nil
	}
	defer C.piecework_error_free(found)
	var messageLen, placeLen C.size_t
	message := C.piecework_error_message(found, &messageLen)
	place := C.piecework_error_place(found, &placeLen)
	return &Error{
		Kind:     Kind(C.piecework_error_kind(found)),
		Message:  C.GoStringN(message, C.int(messageLen)),
		Place:    C.GoStringN(place, C.int(placeLen)),
		Position: int(C.piecework_error_position(found)),
	}
}

// Options

// A Choice overrides a default.
type Choice uint32

const (
	Default Choice = C.PIECEWORK_DEFAULT
	Yes     Choice = C.PIECEWORK_YES
	No      Choice = C.PIECEWORK_NO
)

// ParseSpecial says which special tokens are parsed where they are written in a text.
type ParseSpecial uint32

const (
	ParseDefault ParseSpecial = C.PIECEWORK_PARSE_DEFAULT // the tokenizer decides
	ParseAll     ParseSpecial = C.PIECEWORK_PARSE_ALL
	ParseNothing ParseSpecial = C.PIECEWORK_PARSE_NOTHING // each is encoded as text: safe for text of users
	ParseRefuse  ParseSpecial = C.PIECEWORK_PARSE_REFUSE  // a text that contains one is an error
)

// OffsetUnit says what offsets count.
type OffsetUnit uint32

const (
	Bytes      OffsetUnit = C.PIECEWORK_BYTES
	CodePoints OffsetUnit = C.PIECEWORK_CODE_POINTS
	UTF16      OffsetUnit = C.PIECEWORK_UTF16
)

// Strategy says which text of a pair is truncated.
type Strategy uint32

const (
	LongestFirst Strategy = C.PIECEWORK_LONGEST_FIRST
	OnlyFirst    Strategy = C.PIECEWORK_ONLY_FIRST
	OnlySecond   Strategy = C.PIECEWORK_ONLY_SECOND
)

// Side says where a row is truncated or padded.
type Side uint32

const (
	Right Side = C.PIECEWORK_RIGHT
	Left  Side = C.PIECEWORK_LEFT
)

// LoadOptions are what some formats lack. A setting that a format does not use is an error.
type LoadOptions struct {
	Merges        []byte            // the content of the merges.txt of a vocab.json
	Patterns      []string          // regular expressions that split text for tiktoken's ranks, in turn
	SpecialTokens map[string]uint32 // of tiktoken's ranks
	Lowercase     Choice            // for a vocab.txt; by default its entries decide
}

// EncodeOptions are the settings of a call; nil has the defaults.
type EncodeOptions struct {
	AddSpecialTokens Choice // insert [CLS] and the like; by default yes
	ParseSpecial     ParseSpecial
	ParsedTokens     []string // unless nil: of the special tokens, parse these only
	ReplaceInvalid   bool     // encode U+FFFD in place of bytes that are not UTF-8; otherwise they are an error
	OffsetUnit       OffsetUnit
	Offsets          bool // for batches: compute offsets
	Overflow         bool // for batches: a row for each window of a truncated text
	NumThreads       int  // for batches; 0: as many as CPUs
}

// DecodeOptions are the settings of decoding; nil has the defaults.
type DecodeOptions struct {
	SkipSpecialTokens Choice // by default yes
	CleanUp           Choice // remove spaces before punctuation; by default the decoder decides
}

// Truncation limits the tokens of a row, special tokens included.
type Truncation struct {
	MaxLength int
	Stride    int // the tokens that each window repeats of the one before
	Strategy  Strategy
	Side      Side // where tokens are cut off
}

// Padding makes rows equally long.
type Padding struct {
	PadToken   string
	PadID      uint32
	PadTypeID  uint32
	Length     int // 0: the longest row of a batch
	MultipleOf int // 0 or 1: any length
	Side       Side
}

// memory is memory of C, which structures with pointers need: Go's memory must not point to Go's memory when C reads it.
type memory []unsafe.Pointer

func (m *memory) allocate(size int) unsafe.Pointer {
	block := C.calloc(1, C.size_t(size+1))
	*m = append(*m, block)
	return block
}

func (m *memory) free() {
	for _, block := range *m {
		C.free(block)
	}
}

func (m *memory) string(text string) C.piecework_str {
	data := m.allocate(len(text))
	copy(unsafe.Slice((*byte)(data), len(text)), text)
	return C.piecework_str{(*C.char)(data), C.size_t(len(text))}
}

// strings returns a copy of texts in one block; nil for nil.
func (m *memory) strings(texts []string) *C.piecework_str {
	if texts == nil {
		return nil
	}
	whole := m.string(strings.Join(texts, ""))
	array := (*C.piecework_str)(m.allocate(len(texts) * C.sizeof_piecework_str))
	rows := unsafe.Slice(array, len(texts))
	at := 0
	for row, text := range texts {
		rows[row].data = (*C.char)(unsafe.Add(unsafe.Pointer(whole.data), at))
		rows[row].len = C.size_t(len(text))
		at += len(text)
	}
	return array
}

func (o *LoadOptions) in(m *memory) *C.piecework_load_options {
	if o == nil {
		return nil
	}
	options := (*C.piecework_load_options)(m.allocate(C.sizeof_piecework_load_options))
	options.size = C.sizeof_piecework_load_options
	if o.Merges != nil {
		options.merges = m.string(string(o.Merges))
	}
	options.patterns, options.pattern_count = m.strings(o.Patterns), C.size_t(len(o.Patterns))
	options.lowercase = C.uint32_t(o.Lowercase)
	if o.SpecialTokens != nil {
		options.special_tokens = (*C.piecework_special_token)(m.allocate(len(o.SpecialTokens) * C.sizeof_piecework_special_token))
	}
	items := unsafe.Slice(options.special_tokens, len(o.SpecialTokens))
	for token, id := range o.SpecialTokens {
		items[options.special_token_count] = C.piecework_special_token{token: m.string(token), id: C.uint32_t(id)}
		options.special_token_count++
	}
	return options
}

func (o *EncodeOptions) in(m *memory) C.piecework_encode_options {
	options := C.piecework_encode_options{size: C.sizeof_piecework_encode_options}
	if o == nil {
		return options
	}
	options.parsed_tokens, options.parsed_token_count = m.strings(o.ParsedTokens), C.size_t(len(o.ParsedTokens))
	options.add_special_tokens = C.uint32_t(o.AddSpecialTokens)
	options.parse_special = C.uint32_t(o.ParseSpecial)
	options.offset_unit = C.uint32_t(o.OffsetUnit)
	options.num_threads = C.uint32_t(o.NumThreads)
	if o.ReplaceInvalid {
		options.invalid_utf8 = C.PIECEWORK_INVALID_REPLACE
	}
	if o.Offsets {
		options.offsets = C.PIECEWORK_YES
	}
	if o.Overflow {
		options.overflow = C.PIECEWORK_YES
	}
	return options
}

func (o *DecodeOptions) c() *C.piecework_decode_options {
	options := C.piecework_decode_options{size: C.sizeof_piecework_decode_options}
	if o != nil {
		options.skip_special_tokens, options.clean_up = C.uint32_t(o.SkipSpecialTokens), C.uint32_t(o.CleanUp)
	}
	return &options
}

// Load

// A Tokenizer encodes and decodes.
type Tokenizer struct {
	mutex sync.RWMutex // calls hold it for reading, Close for writing
	c     *C.piecework_tokenizer
}

func tokenizerOf(found *C.piecework_tokenizer, wrong *C.piecework_error) (*Tokenizer, error) {
	if found == nil {
		return nil, failure(wrong)
	}
	tokenizer := &Tokenizer{c: found}
	runtime.SetFinalizer(tokenizer, (*Tokenizer).Close)
	return tokenizer, nil
}

// Version returns the version of the library.
func Version() string { return C.GoString(C.piecework_version()) }

// Load loads a tokenizer file: tokenizer.json, vocab.txt, SentencePiece .model, tiktoken ranks, GGUF, ... The content decides the format.
func Load(path string, options *LoadOptions) (*Tokenizer, error) {
	var m memory
	defer m.free()
	var wrong *C.piecework_error
	file := m.string(path)
	found := C.piecework_load_file(file.data, file.len, options.in(&m), &wrong)
	return tokenizerOf(found, wrong)
}

// LoadBytes loads the content of a tokenizer file.
func LoadBytes(content []byte, options *LoadOptions) (*Tokenizer, error) {
	var m memory
	defer m.free()
	var wrong *C.piecework_error
	found := C.piecework_load_bytes(unsafe.Pointer(first(content)), C.size_t(len(content)), options.in(&m), &wrong)
	return tokenizerOf(found, wrong)
}

// first returns the address of the items of a slice; nil for none.
func first[T any](items []T) *T {
	if len(items) == 0 {
		return nil
	}
	return &items[0]
}

// enter begins a call, which ends with t.mutex.RUnlock(), unless the tokenizer is closed.
func (t *Tokenizer) enter() error {
	t.mutex.RLock()
	if t.c == nil {
		t.mutex.RUnlock()
		return ErrClosed
	}
	return nil
}

// Close frees the tokenizer when the calls that use it have returned. Further calls do nothing.
func (t *Tokenizer) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	C.piecework_tokenizer_free(t.c)
	t.c = nil
	return nil
}

// WithTruncation returns another tokenizer, which truncates, or does not for nil. It shares the tables; close both.
func (t *Tokenizer) WithTruncation(truncation *Truncation) (*Tokenizer, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var options *C.piecework_truncation
	if truncation != nil {
		options = &C.piecework_truncation{
			size:       C.sizeof_piecework_truncation,
			max_length: C.size_t(truncation.MaxLength),
			stride:     C.size_t(truncation.Stride),
			strategy:   C.uint32_t(truncation.Strategy),
			side:       C.uint32_t(truncation.Side),
		}
	}
	var wrong *C.piecework_error
	found := C.piecework_with_truncation(t.c, options, &wrong)
	return tokenizerOf(found, wrong)
}

// WithPadding returns another tokenizer, which pads encodings and batches, or does not for nil. It shares the tables; close both.
func (t *Tokenizer) WithPadding(padding *Padding) (*Tokenizer, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	var options *C.piecework_padding
	if padding != nil {
		options = &C.piecework_padding{
			size:        C.sizeof_piecework_padding,
			pad_token:   m.string(padding.PadToken),
			length:      C.size_t(padding.Length),
			multiple_of: C.size_t(padding.MultipleOf),
			pad_id:      C.uint32_t(padding.PadID),
			pad_type_id: C.uint32_t(padding.PadTypeID),
			side:        C.uint32_t(padding.Side),
		}
	}
	var wrong *C.piecework_error
	found := C.piecework_with_padding(t.c, options, &wrong)
	return tokenizerOf(found, wrong)
}

// Look up

// WarmUp builds every table that calls would build late, so that no request waits for one. A server calls it once.
func (t *Tokenizer) WarmUp() error {
	if err := t.enter(); err != nil {
		return err
	}
	defer t.mutex.RUnlock()
	C.piecework_warm_up(t.c)
	return nil
}

// Fingerprint returns a checksum of everything that affects ids, which equals the fingerprint of the Python package.
func (t *Tokenizer) Fingerprint() (string, error) {
	if err := t.enter(); err != nil {
		return "", err
	}
	defer t.mutex.RUnlock()
	digits, err := filled(64, func(digits *byte, capacity C.size_t) (len C.size_t, wrong *C.piecework_error) {
		len = C.piecework_fingerprint(t.c, (*C.char)(unsafe.Pointer(digits)), capacity, &wrong)
		return
	})
	return string(digits), err
}

// VocabSize returns the number of tokens; 0 after Close.
func (t *Tokenizer) VocabSize() int {
	if t.enter() != nil {
		return 0
	}
	defer t.mutex.RUnlock()
	return int(C.piecework_vocab_size(t.c))
}

// TokenToID returns the id of a token, and whether there is such a token.
func (t *Tokenizer) TokenToID(token string) (uint32, bool) {
	if t.enter() != nil {
		return 0, false
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	var id C.uint32_t
	name := m.string(token)
	known := C.piecework_token_to_id(t.c, name.data, name.len, &id)
	return uint32(id), bool(known)
}

// IDToToken returns the token of an id, and whether there is such a token.
func (t *Tokenizer) IDToToken(id uint32) (string, bool) {
	if t.enter() != nil {
		return "", false
	}
	defer t.mutex.RUnlock()
	var len C.size_t
	token := C.piecework_id_to_token(t.c, C.uint32_t(id), &len)
	return C.GoStringN(token, C.int(len)), token != nil
}

// Encode

// filled returns what write writes, which returns its length: it runs again if the first buffer was too small.
func filled[T any](capacity int, write func(*T, C.size_t) (C.size_t, *C.piecework_error)) ([]T, error) {
	for {
		buffer := make([]T, capacity)
		len, wrong := write(&buffer[0], C.size_t(capacity))
		if wrong != nil {
			return nil, failure(wrong)
		}
		if int(len) <= capacity {
			return buffer[:len], nil
		}
		capacity = int(len)
	}
}

// EncodeIDs returns the ids of a text, truncated and not padded.
func (t *Tokenizer) EncodeIDs(text string, options *EncodeOptions) ([]uint32, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	settings := options.in(&m)
	return filled(len(text)/2+8, func(ids *uint32, capacity C.size_t) (C.size_t, *C.piecework_error) {
		found := C.encode_ids(t.c, text, settings, (*C.uint32_t)(unsafe.Pointer(ids)), capacity)
		return found.len, found.error
	})
}

// Count returns the number of ids of a text.
func (t *Tokenizer) Count(text string, options *EncodeOptions) (int, error) {
	if err := t.enter(); err != nil {
		return 0, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	found := C.count(t.c, text, options.in(&m))
	if found.error != nil {
		return 0, failure(found.error)
	}
	return int(found.len), nil
}

// A Span is the half-open interval [Start, End).
type Span struct{ Start, End int }

// An Encoding has the tokens of a text: an item of each column for each token.
type Encoding struct {
	IDs               []uint32
	Tokens            []string
	Offsets           []Span      // the span of each token in its text; 0, 0 for tokens that were inserted
	TypeIDs           []uint32    // usually 0 for the text and 1 for the pair
	AttentionMask     []uint8     // 1 for tokens, 0 for padding
	SpecialTokensMask []uint8     // 1 for tokens that were inserted, 0 for tokens of the text
	WordIDs           []int32     // the index of the word of each token in its text, or -1
	SequenceIDs       []int32     // 0 for tokens of the text, 1 for tokens of the pair, or -1
	Windows           []*Encoding // what truncation cut off
	Segments          []Span      // the tokens of each segment of a prompt
}

// Encode encodes a text with every field.
func (t *Tokenizer) Encode(text string, options *EncodeOptions) (*Encoding, error) {
	return t.encode(text, "", false, options)
}

// EncodePair encodes a pair of texts with every field.
func (t *Tokenizer) EncodePair(text, pair string, options *EncodeOptions) (*Encoding, error) {
	return t.encode(text, pair, true, options)
}

func (t *Tokenizer) encode(text, pair string, paired bool, options *EncodeOptions) (*Encoding, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	found := C.encode(t.c, text, pair, C.bool(paired), options.in(&m))
	return encodingOf(found.encoding, found.error)
}

// A Segment is a part of a prompt. Unless it may contain special tokens, everything in it is plain text.
type Segment struct {
	Text         string
	AllowSpecial bool
}

// EncodeSegments encodes the concatenated segments of a prompt; nothing is inserted.
//
// Markers are added tokens that segments without permission must not contain, besides special tokens; nil: all added tokens. Of the
// options, only ReplaceInvalid and OffsetUnit apply.
func (t *Tokenizer) EncodeSegments(segments []Segment, markers []string, options *EncodeOptions) (*Encoding, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	array := (*C.piecework_segment)(m.allocate(len(segments) * C.sizeof_piecework_segment))
	items := unsafe.Slice(array, len(segments))
	for at, segment := range segments {
		items[at].text = m.string(segment.Text)
		if segment.AllowSpecial {
			items[at].allow_special = 1
		}
	}
	settings := options.in(&m)
	var wrong *C.piecework_error
	found := C.piecework_encode_segments(t.c, array, C.size_t(len(segments)), m.strings(markers), C.size_t(len(markers)), &settings, &wrong)
	return encodingOf(found, wrong)
}

func encodingOf(found *C.piecework_encoding, wrong *C.piecework_error) (*Encoding, error) {
	if found == nil {
		return nil, failure(wrong)
	}
	defer C.piecework_encoding_free(found)
	return copied(found), nil
}

// column returns a copy of a column of the library; nil for NULL.
func column[T, Item any](items *Item, count int) []T {
	if items == nil {
		return nil
	}
	return append([]T(nil), unsafe.Slice((*T)(unsafe.Pointer(items)), count)...)
}

func copied(from *C.piecework_encoding) *Encoding {
	count := int(C.piecework_encoding_len(from))
	encoding := &Encoding{
		IDs:               column[uint32](C.piecework_encoding_ids(from), count),
		Tokens:            make([]string, count),
		Offsets:           column[Span](C.piecework_encoding_offsets(from), count),
		TypeIDs:           column[uint32](C.piecework_encoding_type_ids(from), count),
		AttentionMask:     column[uint8](C.piecework_encoding_attention_mask(from), count),
		SpecialTokensMask: column[uint8](C.piecework_encoding_special_tokens_mask(from), count),
		WordIDs:           column[int32](C.piecework_encoding_word_ids(from), count),
		SequenceIDs:       column[int32](C.piecework_encoding_sequence_ids(from), count),
	}
	tokens := make([]C.piecework_str, count)
	C.tokens_of(from, first(tokens))
	for at, token := range tokens {
		encoding.Tokens[at] = C.GoStringN(token.data, C.int(token.len))
	}
	for at := C.size_t(0); at < C.piecework_encoding_window_count(from); at++ {
		encoding.Windows = append(encoding.Windows, copied(C.piecework_encoding_window(from, at)))
	}
	var segments C.size_t
	spans := C.piecework_encoding_segments(from, &segments)
	encoding.Segments = column[Span](spans, int(segments))
	return encoding
}

// Batches

// A Batch has many texts: the columns of all rows, one row after the other, and the index of the text of each row.
type Batch struct {
	IDs           []uint32
	RowOffsets    []int64 // the start of each row in the columns, and the end of the last
	TypeIDs       []uint8 // nil if all are 0
	AttentionMask []uint8 // nil if the tokenizer does not pad
	Offsets       []Span  // nil without the option Offsets
	Samples       []int
}

// Len returns the number of rows.
func (b *Batch) Len() int { return len(b.Samples) }

// Row returns the ids of a row, which are part of IDs.
func (b *Batch) Row(row int) []uint32 { return b.IDs[b.RowOffsets[row]:b.RowOffsets[row+1]] }

// EncodeBatch encodes many texts, or pairs unless pairs is nil, on several threads.
func (t *Tokenizer) EncodeBatch(texts, pairs []string, options *EncodeOptions) (*Batch, error) {
	if pairs != nil && len(pairs) != len(texts) {
		message := fmt.Sprintf("pairs: found %d, expected %d, one for each text", len(pairs), len(texts))
		return nil, &Error{KindArgument, message, "pairs", -1}
	}
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	settings := options.in(&m)
	var wrong *C.piecework_error
	found := C.piecework_encode_batch(t.c, m.strings(texts), m.strings(pairs), C.size_t(len(texts)), &settings, &wrong)
	if found == nil {
		return nil, failure(wrong)
	}
	defer C.piecework_batch_free(found)
	rows := int(C.piecework_batch_len(found))
	batch := &Batch{
		RowOffsets: column[int64](C.piecework_batch_row_offsets(found), rows+1),
		Samples:    column[int](C.piecework_batch_samples(found), rows),
	}
	count := int(batch.RowOffsets[rows])
	batch.IDs = column[uint32](C.piecework_batch_ids(found), count)
	batch.TypeIDs = column[uint8](C.piecework_batch_type_ids(found), count)
	batch.AttentionMask = column[uint8](C.piecework_batch_attention_mask(found), count)
	batch.Offsets = column[Span](C.piecework_batch_offsets(found), count)
	return batch, nil
}

// CountBatch returns the number of ids of each text.
func (t *Tokenizer) CountBatch(texts []string, options *EncodeOptions) ([]int, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var m memory
	defer m.free()
	settings := options.in(&m)
	counts := make([]int, len(texts))
	var wrong *C.piecework_error
	C.piecework_count_batch(t.c, m.strings(texts), C.size_t(len(texts)), &settings, (*C.size_t)(unsafe.Pointer(first(counts))), &wrong)
	if wrong != nil {
		return nil, failure(wrong)
	}
	return counts, nil
}

// Decode

// Decode returns the text of ids. Ids without a token are skipped; bytes that are not UTF-8 become U+FFFD.
func (t *Tokenizer) Decode(ids []uint32, options *DecodeOptions) (string, error) {
	if err := t.enter(); err != nil {
		return "", err
	}
	defer t.mutex.RUnlock()
	settings := options.c()
	text, err := filled(4*len(ids)+8, func(text *byte, capacity C.size_t) (len C.size_t, wrong *C.piecework_error) {
		len = C.piecework_decode(t.c, cIDs(ids), count(ids), settings, (*C.char)(unsafe.Pointer(text)), capacity, &wrong)
		return
	})
	return string(text), err
}

// DecodeBytes returns the bytes of ids, special tokens included, which need not be UTF-8. An id without a token is an error.
func (t *Tokenizer) DecodeBytes(ids []uint32) ([]byte, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	return filled(4*len(ids)+8, func(bytes *byte, capacity C.size_t) (len C.size_t, wrong *C.piecework_error) {
		len = C.piecework_decode_bytes(t.c, cIDs(ids), count(ids), (*C.char)(unsafe.Pointer(bytes)), capacity, &wrong)
		return
	})
}

func cIDs(ids []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.Pointer(first(ids))) }
func count(ids []uint32) C.size_t   { return C.size_t(len(ids)) }

// A DecodeStream returns the text that each id adds: whole characters. It does not need its tokenizer to stay open.
type DecodeStream struct {
	mutex sync.Mutex
	c     *C.piecework_stream
}

// DecodeStream returns a stream that decodes one id at a time, after the ids of a prompt, whose text it does not return.
func (t *Tokenizer) DecodeStream(prefill []uint32, options *DecodeOptions) (*DecodeStream, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	defer t.mutex.RUnlock()
	var wrong *C.piecework_error
	found := C.piecework_decode_stream(t.c, cIDs(prefill), count(prefill), options.c(), &wrong)
	if found == nil {
		return nil, failure(wrong)
	}
	stream := &DecodeStream{c: found}
	runtime.SetFinalizer(stream, (*DecodeStream).Close)
	return stream, nil
}

// Step decodes the next id and returns the text that it adds.
func (s *DecodeStream) Step(id uint32) (string, error) {
	return s.next(func(len *C.size_t, wrong **C.piecework_error) *C.char {
		return C.piecework_stream_step(s.c, C.uint32_t(id), len, wrong)
	})
}

// Finish returns the text that is still buffered: U+FFFD for an incomplete character. The stream can be used again.
func (s *DecodeStream) Finish() (string, error) {
	return s.next(func(len *C.size_t, wrong **C.piecework_error) *C.char {
		return C.piecework_stream_finish(s.c, len, wrong)
	})
}

func (s *DecodeStream) next(call func(*C.size_t, **C.piecework_error) *C.char) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.c == nil {
		return "", ErrClosed
	}
	var len C.size_t
	var wrong *C.piecework_error
	text := call(&len, &wrong)
	if text == nil {
		return "", failure(wrong)
	}
	return C.GoStringN(text, C.int(len)), nil
}

// Close frees the stream. Further calls do nothing.
func (s *DecodeStream) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	C.piecework_stream_free(s.c)
	s.c = nil
	return nil
}
