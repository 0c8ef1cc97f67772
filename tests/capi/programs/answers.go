// Answer the requests of tests/capi/answers.py, which defines them. Offsets count bytes.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	piecework "github.com/piecework/piecework/extensions/go"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func decoded(field string) string { return string(must(base64.StdEncoding.DecodeString(field))) }
func encoded(text string) string  { return base64.StdEncoding.EncodeToString([]byte(text)) }
func number(field string) int     { return must(strconv.Atoi(field)) }

func list(field string) (items []string) {
	for _, item := range strings.Fields(field) {
		items = append(items, decoded(item))
	}
	return items
}

func load(fields []string) *piecework.Tokenizer {
	var options *piecework.LoadOptions
	if patterns := list(fields[2]); patterns != nil {
		options = &piecework.LoadOptions{Patterns: patterns, SpecialTokens: map[string]uint32{}}
		names := list(fields[3])
		for at := 0; at < len(names); at += 2 {
			options.SpecialTokens[names[at]] = uint32(number(names[at+1]))
		}
	}
	return must(piecework.Load(decoded(fields[1]), options))
}

var sides = map[string]piecework.Side{"left": piecework.Left, "right": piecework.Right}
var strategies = map[string]piecework.Strategy{"longest_first": piecework.LongestFirst, "only_first": piecework.OnlyFirst, "only_second": piecework.OnlySecond}

func changed(tokenizer *piecework.Tokenizer, fields []string) (*piecework.Tokenizer, error) {
	var truncation *piecework.Truncation
	var padding *piecework.Padding
	if cut := strings.Split(fields[5], ","); len(cut) > 1 {
		truncation = &piecework.Truncation{MaxLength: number(cut[0]), Stride: number(cut[1]), Strategy: strategies[cut[2]], Side: sides[cut[3]]}
	}
	if pad := strings.Split(fields[6], ","); len(pad) > 1 {
		id := uint32(number(pad[1]))
		token, _ := tokenizer.IDToToken(id)
		padding = &piecework.Padding{PadToken: token, PadID: id, Length: number(pad[0]), Side: sides[pad[2]]}
	}
	cutting, err := tokenizer.WithTruncation(truncation)
	if err != nil {
		return nil, err
	}
	defer cutting.Close()
	return cutting.WithPadding(padding)
}

func answer(loaded *piecework.Tokenizer, fields []string) (string, error) {
	text, paired := decoded(fields[1]), fields[2] != "-"
	options := &piecework.EncodeOptions{AddSpecialTokens: piecework.No, ParseSpecial: piecework.ParseNothing, NumThreads: 1}
	if fields[3] == "1" {
		options.AddSpecialTokens = piecework.Yes
	}
	if fields[4] == "1" {
		options.ParseSpecial = piecework.ParseAll
	}
	tokenizer, err := changed(loaded, fields)
	if err != nil {
		return "", err
	}
	defer tokenizer.Close()
	var pairs []string
	var found *piecework.Encoding
	if paired {
		pairs = []string{decoded(fields[2])}
		found, err = tokenizer.EncodePair(text, pairs[0], options)
	} else {
		found, err = tokenizer.Encode(text, options)
	}
	if err != nil {
		return "", err
	}
	same := reflect.DeepEqual(append([]uint32{}, must(tokenizer.EncodeBatch([]string{text}, pairs, options)).Row(0)...), append([]uint32{}, found.IDs...))
	if !paired && fields[6] == "-" {
		ids := must(tokenizer.EncodeIDs(text, options))
		counts := []int{must(tokenizer.Count(text, options)), must(tokenizer.CountBatch([]string{text}, options))[0]}
		same = same && reflect.DeepEqual(ids, append([]uint32{}, found.IDs...)) && reflect.DeepEqual(counts, []int{len(ids), len(ids)})
	}
	if !same {
		return "calls differ", nil
	}
	var ids, tokens, offsets []string
	for at, id := range found.IDs {
		ids = append(ids, fmt.Sprint(id))
		tokens = append(tokens, encoded(found.Tokens[at]))
		offsets = append(offsets, fmt.Sprint(found.Offsets[at].Start, found.Offsets[at].End))
	}
	text = must(tokenizer.Decode(found.IDs, &piecework.DecodeOptions{SkipSpecialTokens: piecework.No}))
	columns := []string{strings.Join(ids, " "), strings.Join(tokens, " "), strings.Join(offsets, " "), encoded(text)}
	return strings.Join(columns, "\t"), nil
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	var tokenizer *piecework.Tokenizer
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if fields[0] == "load" {
			if tokenizer != nil {
				tokenizer.Close()
			}
			tokenizer = load(fields)
			fmt.Fprintln(out, must(tokenizer.Fingerprint()))
		} else if found, err := answer(tokenizer, fields); err != nil {
			fmt.Fprintln(out, "error")
		} else {
			fmt.Fprintln(out, found)
		}
	}
}
