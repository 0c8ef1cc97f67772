package piecework

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

const vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nto\nbe\n##s\nor\nnot\né\n"

func load(t testing.TB, content string, options *LoadOptions) *Tokenizer {
	t.Helper()
	tokenizer, err := LoadBytes([]byte(content), options)
	must(t, err)
	t.Cleanup(func() { tokenizer.Close() })
	return tokenizer
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal compares what a call returns with what is expected.
func equal(t testing.TB, expected, found any, err error) {
	t.Helper()
	must(t, err)
	if !reflect.DeepEqual(expected, found) {
		t.Fatalf("expected %v, found %v", expected, found)
	}
}

func refused(t testing.TB, err error, kind Kind, place string, position int, part string) {
	t.Helper()
	var found *Error
	if !errors.As(err, &found) {
		t.Fatalf("expected an Error, found %v", err)
	}
	if found.Kind != kind || found.Place != place || found.Position != position || !strings.Contains(found.Message, part) {
		t.Fatalf("found %+v", found)
	}
}

func TestIDs(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	ids, err := tokenizer.EncodeIDs("to bes", nil)
	equal(t, []uint32{2, 4, 5, 6, 3}, ids, err)
	ids, err = tokenizer.EncodeIDs("", nil)
	equal(t, []uint32{2, 3}, ids, err)
	ids, err = tokenizer.EncodeIDs(strings.Repeat(".", 2000), &EncodeOptions{AddSpecialTokens: No}) // more than the first buffer holds
	equal(t, 2000, len(ids), err)
	count, err := tokenizer.Count("to bes", &EncodeOptions{AddSpecialTokens: No})
	equal(t, 3, count, err)
	for special, expected := range map[ParseSpecial][]uint32{ParseDefault: {3}, ParseAll: {3}, ParseNothing: {1, 1, 1}} {
		ids, err = tokenizer.EncodeIDs("[SEP]", &EncodeOptions{AddSpecialTokens: No, ParseSpecial: special})
		equal(t, expected, ids, err)
	}
	_, err = tokenizer.EncodeIDs("a [SEP]", &EncodeOptions{ParseSpecial: ParseRefuse})
	refused(t, err, KindSpecialToken, "text", -1, "[SEP]")
	ids, err = tokenizer.EncodeIDs("[CLS][SEP]", &EncodeOptions{AddSpecialTokens: No, ParsedTokens: []string{"[CLS]"}})
	equal(t, []uint32{2, 1, 1, 1}, ids, err)
	ids, err = tokenizer.EncodeIDs("[CLS]", &EncodeOptions{AddSpecialTokens: No, ParsedTokens: []string{}})
	equal(t, []uint32{1, 1, 1}, ids, err)
}

func TestEveryField(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	found, err := tokenizer.EncodePair("🤗 bes", "not", nil)
	equal(t, &Encoding{
		IDs:               []uint32{2, 1, 5, 6, 3, 8, 3},
		Tokens:            []string{"[CLS]", "[UNK]", "be", "##s", "[SEP]", "not", "[SEP]"},
		Offsets:           []Span{{0, 0}, {0, 4}, {5, 7}, {7, 8}, {0, 0}, {0, 3}, {0, 0}},
		TypeIDs:           []uint32{0, 0, 0, 0, 0, 1, 1},
		AttentionMask:     []uint8{1, 1, 1, 1, 1, 1, 1},
		SpecialTokensMask: []uint8{1, 0, 0, 0, 1, 0, 1},
		WordIDs:           []int32{-1, 0, 1, 1, -1, 0, -1},
		SequenceIDs:       []int32{-1, 0, 0, 0, -1, 1, -1},
	}, found, err)
	for unit, start := range map[OffsetUnit]int{Bytes: 5, CodePoints: 2, UTF16: 3} {
		found, err = tokenizer.Encode("🤗 bes", &EncodeOptions{OffsetUnit: unit})
		equal(t, Span{start, start + 2}, found.Offsets[2], err)
	}
	found, err = tokenizer.EncodePair("to", "", nil) // an empty pair is a pair
	equal(t, []uint32{2, 4, 3, 3}, found.IDs, err)
}

func TestTruncationAndPadding(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	cutting, err := tokenizer.WithTruncation(&Truncation{MaxLength: 4, Stride: 1})
	must(t, err)
	found, err := cutting.Encode("to be or", nil)
	equal(t, []uint32{2, 4, 5, 3}, found.IDs, err)
	equal(t, []uint32{2, 5, 7, 3}, found.Windows[0].IDs, nil)
	equal(t, Span{6, 8}, found.Windows[0].Offsets[2], nil)
	both, err := cutting.WithPadding(&Padding{PadToken: "[PAD]", MultipleOf: 3, Side: Left})
	must(t, err)
	must(t, cutting.Close()) // the tables are shared, the tokenizer is not
	batch, err := both.EncodeBatch([]string{"to be or", "to"}, nil, &EncodeOptions{Overflow: true, Offsets: true, NumThreads: 2})
	equal(t, 3, batch.Len(), err)
	equal(t, []int{0, 0, 1}, batch.Samples, nil)
	equal(t, []uint32{0, 0, 0, 2, 4, 3}, batch.Row(2), nil)
	equal(t, []uint8{0, 0, 0, 1, 1, 1}, batch.AttentionMask[12:], nil)
	equal(t, Span{0, 2}, batch.Offsets[16], nil)
	plain, err := both.WithPadding(nil)
	must(t, err)
	plain, err = plain.WithTruncation(nil)
	must(t, err)
	count, err := plain.Count("to be or", nil)
	equal(t, 5, count, err)
}

func TestBatches(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	batch, err := tokenizer.EncodeBatch([]string{"to be", "", "nots"}, nil, nil)
	equal(t, &Batch{IDs: []uint32{2, 4, 5, 3, 2, 3, 2, 8, 6, 3}, RowOffsets: []int64{0, 4, 6, 10}, Samples: []int{0, 1, 2}}, batch, err)
	batch, err = tokenizer.EncodeBatch([]string{"to", "be"}, []string{"or", ""}, nil)
	equal(t, []uint8{0, 0, 0, 1, 1, 0, 0, 0, 1}, batch.TypeIDs, err)
	counts, err := tokenizer.CountBatch([]string{"to be", "", "nots"}, nil)
	equal(t, []int{4, 2, 4}, counts, err)
	batch, err = tokenizer.EncodeBatch(nil, nil, nil)
	equal(t, 0, batch.Len(), err)
	counts, err = tokenizer.CountBatch(nil, nil)
	equal(t, 0, len(counts), err)
	batch, err = tokenizer.EncodeBatch([]string{"to", "é be"}, nil, &EncodeOptions{Offsets: true, OffsetUnit: CodePoints, AddSpecialTokens: No})
	equal(t, []Span{{0, 2}, {0, 1}, {2, 4}}, batch.Offsets, err)
}

func TestSegments(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	prompt := []Segment{{"[CLS]", true}, {"é [SEP]", false}, {"[SEP]", true}}
	found, err := tokenizer.EncodeSegments(prompt, nil, nil)
	equal(t, []uint32{2, 1, 1, 1, 1, 3}, found.IDs, err)
	equal(t, []Span{{0, 1}, {1, 5}, {5, 6}}, found.Segments, nil)
	equal(t, Span{8, 9}, found.Offsets[2], nil)
	found, err = tokenizer.EncodeSegments(nil, []string{"[CLS]"}, nil)
	equal(t, 0, len(found.IDs), err)
	_, err = tokenizer.EncodeSegments(prompt, nil, &EncodeOptions{Overflow: true})
	refused(t, err, KindArgument, "options", -1, "segments")
	_, err = tokenizer.EncodeSegments([]Segment{{"to", true}, {"\xe2\x82", false}}, nil, nil)
	refused(t, err, KindUTF8, "segments[1]", 0, "byte 0")
}

func TestDecode(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	ids := []uint32{2, 4, 5, 6, 3}
	text, err := tokenizer.Decode(ids, nil)
	equal(t, "to bes", text, err)
	text, err = tokenizer.Decode(ids, &DecodeOptions{SkipSpecialTokens: No})
	equal(t, "[CLS] to bes [SEP]", text, err)
	text, err = tokenizer.Decode([]uint32{4, 10, 1 << 31, 1<<32 - 1}, nil)
	equal(t, "to", text, err)
	text, err = tokenizer.Decode(nil, nil)
	equal(t, "", text, err)
	many := make([]uint32, 3000) // more than the first buffer holds
	text, err = tokenizer.Decode(many, &DecodeOptions{SkipSpecialTokens: No})
	equal(t, strings.Repeat("[PAD] ", 2999)+"[PAD]", text, err)
	bytes, err := tokenizer.DecodeBytes(ids[1:3])
	equal(t, "tobe", string(bytes), err)
	_, err = tokenizer.DecodeBytes([]uint32{4, 10})
	refused(t, err, KindArgument, "ids[1]", -1, "10")
}

// ranks returns tiktoken's ranks of the 256 bytes.
func ranks() string {
	var lines strings.Builder
	for rank := 0; rank < 256; rank++ {
		fmt.Fprintf(&lines, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(rank)}), rank)
	}
	return lines.String()
}

func TestStream(t *testing.T) {
	tokenizer := load(t, ranks(), &LoadOptions{Patterns: []string{`\w+|\W+`}, SpecialTokens: map[string]uint32{"<a>": 256, "<b>": 257}})
	_, err := tokenizer.Count("é <b>", nil)
	refused(t, err, KindSpecialToken, "text", -1, "<b>")
	ids, err := tokenizer.EncodeIDs("<b><a>", &EncodeOptions{ParseSpecial: ParseAll})
	equal(t, []uint32{257, 256}, ids, err)
	stream, err := tokenizer.DecodeStream([]uint32{'a', 'b'}, nil)
	must(t, err)
	must(t, tokenizer.Close())
	for _, step := range []struct {
		id   uint32
		text string
	}{{0xC3, ""}, {0xA9, "é"}, {9999, ""}, {256, ""}, {'!', "!"}, {0xC3, ""}} {
		text, err := stream.Step(step.id)
		equal(t, step.text, text, err)
	}
	text, err := stream.Finish()
	equal(t, "\uFFFD", text, err)
	must(t, stream.Close())
	must(t, stream.Close())
	_, err = stream.Step(1)
	equal(t, ErrClosed, err, nil)
}

// byteVocab returns a vocab.json with the 256 bytes, as GPT-2 writes them, and "to".
func byteVocab() string {
	tokens, other := map[string]int{"to": 256}, 256
	for value := 0; value < 256; value++ {
		letter := rune(value)
		if value < '!' || value > '~' && value < '¡' || value == '\u00AD' {
			letter = rune(other)
			other++
		}
		tokens[string(letter)] = value
	}
	content, _ := json.Marshal(tokens)
	return string(content)
}

func TestLookUp(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	must(t, tokenizer.WarmUp())
	equal(t, 10, tokenizer.VocabSize(), nil)
	id, known := tokenizer.TokenToID("##s")
	equal(t, []any{uint32(6), true}, []any{id, known}, nil)
	_, known = tokenizer.TokenToID("\xff")
	equal(t, false, known, nil)
	token, known := tokenizer.IDToToken(9)
	equal(t, []any{"é", true}, []any{token, known}, nil)
	_, known = tokenizer.IDToToken(10)
	equal(t, false, known, nil)
	fingerprint, err := tokenizer.Fingerprint()
	equal(t, 64, len(fingerprint), err)
	equal(t, true, strings.HasPrefix(Version(), "0."), nil)
	lower, err := LoadBytes([]byte("[UNK]\nTo\n"), &LoadOptions{Lowercase: Yes})
	must(t, err)
	ids, err := lower.EncodeIDs("To", nil)
	equal(t, []uint32{0}, ids, err)
	merged := load(t, byteVocab(), &LoadOptions{Merges: []byte("t o\n")})
	ids, err = merged.EncodeIDs("to", nil)
	equal(t, []uint32{256}, ids, err)
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "é.txt")
	must(t, os.WriteFile(path, []byte(vocab), 0o600))
	tokenizer, err := Load(path, nil)
	must(t, err)
	equal(t, 10, tokenizer.VocabSize(), nil)
	must(t, tokenizer.Close())
	for _, path := range []string{filepath.Dir(path), "", "no\x00file", "missing"} {
		_, err = Load(path, nil)
		refused(t, err, KindFile, path, -1, path)
	}
	for content, kind := range map[string]Kind{"": KindVocabulary, "{}": KindFormat, "\x1f\x8b\x08": KindFormat, "[UNK]\nto\nto\n": KindVocabulary} {
		_, err = LoadBytes([]byte(content), nil)
		var found *Error
		if !errors.As(err, &found) || found.Kind != kind {
			t.Fatalf("%q: found %v", content, err)
		}
	}
	_, err = LoadBytes([]byte(vocab), &LoadOptions{Patterns: []string{"x"}})
	refused(t, err, KindArgument, "pattern", -1, "does not use")
}

func TestBadInput(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	const invalid = "to é \xff be"
	_, err := tokenizer.EncodeIDs(invalid, nil)
	refused(t, err, KindUTF8, "text", 6, "byte 6")
	_, err = tokenizer.EncodePair("to", "\xff", nil)
	refused(t, err, KindUTF8, "pair", 0, "byte 0")
	_, err = tokenizer.EncodeBatch([]string{"to", "be\x80"}, nil, nil)
	refused(t, err, KindUTF8, "texts[1]", 2, "texts[1]")
	_, err = tokenizer.CountBatch([]string{"to", "be\x80"}, nil)
	refused(t, err, KindUTF8, "texts[1]", 2, "texts[1]")
	count, err := tokenizer.Count(invalid, &EncodeOptions{ReplaceInvalid: true})
	other, err2 := tokenizer.Count("to é \uFFFD be", nil)
	must(t, err2)
	equal(t, other, count, err)
	_, err = tokenizer.EncodeBatch([]string{"to", "be"}, []string{"or"}, nil)
	refused(t, err, KindArgument, "pairs", -1, "expected 2")
	_, err = tokenizer.Count("to", &EncodeOptions{ParseSpecial: 4})
	refused(t, err, KindArgument, "options.parse_special", -1, "4")
	_, err = tokenizer.WithTruncation(&Truncation{MaxLength: 2, Stride: 9})
	equal(t, true, err != nil, nil)
	zeros := strings.Repeat("to\x00 ", 1_000_000)
	count, err = tokenizer.Count(zeros, &EncodeOptions{AddSpecialTokens: No})
	equal(t, 1_000_000, count, err)
}

func TestClosed(t *testing.T) {
	tokenizer, err := LoadBytes([]byte(vocab), nil)
	must(t, err)
	must(t, tokenizer.Close())
	must(t, tokenizer.Close())
	var other *Tokenizer
	calls := map[string]func() error{
		"Count":          func() error { _, err := tokenizer.Count("to", nil); return err },
		"EncodeIDs":      func() error { _, err := tokenizer.EncodeIDs("to", nil); return err },
		"Encode":         func() error { _, err := tokenizer.Encode("to", nil); return err },
		"EncodeSegments": func() error { _, err := tokenizer.EncodeSegments(nil, nil, nil); return err },
		"EncodeBatch":    func() error { _, err := tokenizer.EncodeBatch(nil, nil, nil); return err },
		"CountBatch":     func() error { _, err := tokenizer.CountBatch(nil, nil); return err },
		"Decode":         func() error { _, err := tokenizer.Decode(nil, nil); return err },
		"DecodeBytes":    func() error { _, err := tokenizer.DecodeBytes(nil); return err },
		"DecodeStream":   func() error { _, err := tokenizer.DecodeStream(nil, nil); return err },
		"Fingerprint":    func() error { _, err := tokenizer.Fingerprint(); return err },
		"WarmUp":         func() error { return tokenizer.WarmUp() },
		"WithTruncation": func() error { other, err = tokenizer.WithTruncation(nil); return err },
		"WithPadding":    func() error { other, err = tokenizer.WithPadding(nil); return err },
	}
	for name, call := range calls {
		if err := call(); err != ErrClosed || other != nil {
			t.Fatalf("%s: found %v", name, err)
		}
	}
	equal(t, 0, tokenizer.VocabSize(), nil)
	_, known := tokenizer.TokenToID("to")
	equal(t, false, known, nil)
	_, known = tokenizer.IDToToken(4)
	equal(t, false, known, nil)
}

func TestGoroutines(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	texts := []string{"to be", "or not to bes", "🤗 be", "", "[SEP]"}
	expected := make([][]uint32, len(texts))
	for at, text := range texts {
		expected[at], _ = tokenizer.EncodeIDs(text, nil)
	}
	var group sync.WaitGroup
	for number := 0; number < 64; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			for round := 0; round < 100; round++ {
				at := (round + number) % len(texts)
				ids, err := tokenizer.EncodeIDs(texts[at], nil)
				batch, other := tokenizer.EncodeBatch(texts, nil, &EncodeOptions{NumThreads: 1})
				if err != nil || other != nil || !reflect.DeepEqual(ids, expected[at]) || !reflect.DeepEqual(batch.Row(at), ids) {
					t.Errorf("%q: found %v %v", texts[at], ids, err)
				}
				if _, err := tokenizer.Count("\xff", nil); err == nil {
					t.Error("expected an error")
				}
			}
		}(number)
	}
	group.Wait()
}

func TestCloseWhileOthersEncode(t *testing.T) {
	for round := 0; round < 20; round++ {
		tokenizer, err := LoadBytes([]byte(vocab), nil)
		must(t, err)
		var group sync.WaitGroup
		for number := 0; number < 8; number++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					if ids, err := tokenizer.EncodeIDs("or not to be", nil); err == ErrClosed {
						return
					} else if err != nil || len(ids) != 6 {
						t.Errorf("found %v %v", ids, err)
					}
				}
			}()
		}
		runtime.Gosched()
		must(t, tokenizer.Close())
		group.Wait()
	}
}

// resident returns the memory of the process in pages.
func resident(t *testing.T) (pages int) {
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("needs /proc")
	}
	_, err = fmt.Sscan(strings.Fields(string(statm))[1], &pages)
	must(t, err)
	return pages
}

func TestNothingLeaks(t *testing.T) {
	tokenizer := load(t, vocab, nil)
	long := strings.Repeat("to be ", 20_000)
	tokens := strings.Fields(strings.Repeat("[CLS] ", 20))
	work := func(rounds int) {
		for round := 0; round < rounds; round++ {
			found, err := tokenizer.Encode(long, nil)
			equal(t, 40_002, len(found.IDs), err)
			batch, err := tokenizer.EncodeBatch([]string{long, long}, nil, nil)
			equal(t, 2, batch.Len(), err)
			other, err := LoadBytes([]byte(vocab), nil) // freed by its finalizer
			must(t, err)
			for call := 0; call < 2000; call++ {
				_, err = other.Count("to", &EncodeOptions{ParsedTokens: tokens})
				must(t, err)
				if _, err = other.Count("\xff", nil); err == nil {
					t.Fatal("expected an error")
				}
				stream, err := other.DecodeStream([]uint32{4}, nil)
				must(t, err)
				must(t, stream.Close())
			}
			runtime.GC()
		}
	}
	work(30)
	before := resident(t)
	work(100)
	if grown := resident(t) - before; grown > 24<<20/os.Getpagesize() {
		t.Fatalf("memory grew by %d pages", grown)
	}
}
