"""Comparison: a corpus worked out by hand, a naive twin for any, and that only sums are kept."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import compare, corpus_counts
from piecework.analysis.comparison import Comparison, Measures
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.corpus import iterables, read_corpus

HUGS = pw.Tokenizer(
    pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2, "pug": 3, "12": 4}),
    pre_tokenizer=pw.spec.WhitespaceSplit(),
    added_tokens=[pw.spec.AddedToken("[UNK]", 0)],
)
CHARS = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3, "s": 4, " ": 5}))
BYTES = pw.Tokenizer(
    pw.spec.BPE({token: id for id, token in enumerate("h u g s Ġ Ã © hu".split())}, (("h", "u"),)),
    pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
    decoder=pw.spec.ByteLevelDecoder(),
)
ALL = {"wordpiece": HUGS, "characters": CHARS, "bytes": BYTES}
TEXTS = st.lists(st.text(alphabet="hugspé12 \t[UNK]", max_size=12), min_size=1, max_size=12)


# ---- by hand


def test_measures_of_a_small_corpus_equal_values_by_hand() -> None:
    found = compare({"a": HUGS}, ["hug hugs", "", "pugs mug hug"])
    assert (found.texts, found.words, found.chars, found.bytes) == (2, 5, 20, 20)
    assert (found.replacements, found.gold_words) == (0, None)
    [one] = found.measures
    # hug | hug ##s | pug ##s | [UNK] | hug: counts [1, 3, 2, 1, 0] of five entries
    assert (one.name, one.family, one.vocab_size, one.numeric_tokens) == ("a", "WordPiece", 5, 1)
    assert (one.tokens, one.unknown_tokens) == (7, 1)
    assert one.fertility == 7 / 5
    assert one.unknown_rate == 1 / 7
    assert one.chars_per_token == one.bytes_per_token == 20 / 7
    assert one.used_share == 4 / 5
    assert one.tail_share == 1.0
    assert one.frequency_at_95 == 0
    assert one.mean_rank == pytest.approx((3 * 1 + 2 * 2 + 3 + 4) / 7 / 5)
    assert one.renyi_efficiency == pytest.approx(
        math.log((3**2.5 + 2**2.5 + 2) / 7**2.5) / -1.5 / math.log(5)
    )
    assert (one.sequence.mean, one.sequence.median, one.sequence.longest) == (3.5, 3, 4)
    assert one.token_lengths == ((1, 2), (3, 4))
    assert one.entry_lengths == ((1, 1), (2, 1), (3, 2), (5, 1))
    assert one.boundaries is None


def test_characters_and_bytes_differ_outside_ascii() -> None:
    [one] = compare({"bytes": BYTES}, ["hé"]).measures
    assert (one.tokens, one.chars_per_token, one.bytes_per_token) == (3, 2 / 3, 1.0)


def test_words_equal_those_of_the_pipeline_named() -> None:
    assert compare(ALL, ["hug,hug hug"]).words == 2
    assert compare(ALL, ["hug,hug hug"], words="punctuation").words == 4
    with pytest.raises(pw.errors.ArgumentError, match="preset"):
        compare(ALL, ["hug"], words="nonsense")


def test_words_characters_and_pieces_trade_size_for_length(english_corpus: Path) -> None:
    train = pw.Tokenizer.train
    tokenizers = {
        "words": train(english_corpus, model="word", vocab_size=2000),
        "characters": train(english_corpus, model="char", vocab_size=200),
        "pieces": train(english_corpus, preset="bert-cased", vocab_size=2000),
    }
    words, characters, pieces = compare(tokenizers, read_corpus(english_corpus)).measures
    assert [one.family for one in (words, characters, pieces)] == ["word", "character", "WordPiece"]
    assert characters.vocab_size < pieces.vocab_size == words.vocab_size
    assert words.sequence.mean < pieces.sequence.mean < characters.sequence.mean
    assert words.unknown_rate > 0.05
    assert pieces.unknown_rate < 0.001
    assert characters.unknown_rate < 0.001
    assert 1 <= words.fertility < pieces.fertility < characters.fertility


# ---- the naive twin


def naive_words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def naive_figures(tokenizer: pw.Tokenizer, texts: Sequence[str]) -> dict[str, object]:
    """One text after the other, and one token after the other."""
    rows = [
        tokenizer.encode(text, add_special_tokens=False, parse_special=False).tokens
        for text in texts
        if text
    ]
    counts = Counter(token for row in rows for token in row)
    tokens = sum(counts.values())
    chars = sum(map(len, texts))
    size = tokenizer.get_vocab_size()
    return {
        "tokens": tokens,
        "fertility": tokens / naive_words(texts) if naive_words(texts) else 0.0,
        "chars_per_token": chars / tokens if tokens else 0.0,
        "bytes_per_token": sum(len(text.encode()) for text in texts) / tokens if tokens else 0.0,
        "unknown_tokens": counts["[UNK]"],
        "used_share": len(counts) / size,
        "tail_share": sum(counts[token] < 5 for token in tokenizer.get_vocab()) / size,
    }


@given(TEXTS)
def test_figures_equal_their_naive_twins(texts: list[str]) -> None:
    if not any(texts):
        with pytest.raises(pw.errors.CorpusError, match="no text"):
            compare(ALL, texts)
        return
    found = compare(ALL, texts)
    assert found.words == naive_words(texts)
    for one in found.measures:
        for name, value in naive_figures(ALL[one.name], texts).items():
            assert getattr(one, name) == pytest.approx(value), (one.name, name)
        assert one.sequence.mean * found.texts == pytest.approx(one.tokens)
        assert sum(many for _, many in one.token_lengths) == one.tokens - one.unknown_tokens
        assert sum(many for _, many in one.entry_lengths) == one.vocab_size


# ---- words that are split differently


def naive_split(tokenizer: pw.Tokenizer, word: str) -> tuple[frozenset[int], int, bool]:
    """Return the inner boundaries of a word, its number of tokens, and whether one is unknown."""
    encoding = tokenizer.encode(f" {word}", add_special_tokens=False, parse_special=False)
    columns = zip(encoding.offsets, encoding.tokens, strict=True)
    spans = [(span, token) for span, token in columns if span[1] > max(span[0], 1)]
    ends, boundaries = 1, set()
    for (start, end), _ in spans:
        if start >= ends:
            boundaries.add(start - 1)
        ends = end
    boundaries &= set(range(1, len(word)))
    return frozenset(boundaries), len(spans), "[UNK]" in [token for _, token in spans]


def naive_charge(tokenizer: pw.Tokenizer, word: str) -> int:
    """Return the tokens of a word, with its bytes in place of unknown tokens and of dropped characters."""
    [encoding] = tokenizer.encode_batch([f" {word}"], **PLAIN_TEXT, offsets="bytes")
    columns = [*zip(encoding.offsets, encoding.tokens, strict=True)]
    known = [span for span, token in columns if token != "[UNK]" and span[1] > max(span[0], 1)]
    lost = {at for (start, end), token in columns if token == "[UNK]" for at in range(start, end)}
    if tokenizer is BYTES:  # the alphabet of this one has no p, no digit, and é
        lost = {at for at, byte in enumerate(f" {word}".encode()) if byte in b"p12[UNK]\t"}
    return len(known) + len(lost - {0})


@given(TEXTS.filter(any))
def test_word_differences_equal_their_naive_twin(texts: list[str]) -> None:
    counts = Counter(word for text in texts for word in text.split())
    found = compare(ALL, texts).word_differences
    splits = {word: [naive_split(one, word) for one in ALL.values()] for word in counts}
    differences = {}
    for word, sides in splits.items():
        boundaries = [side[0] for side in sides]
        some = frozenset[int]().union(*boundaries) - boundaries[0].intersection(*boundaries)
        differences[word] = len(some) + (len({side[2] for side in sides}) > 1)
    assert (found.words, found.occurrences) == (len(counts), sum(counts.values()))
    assert found.differing_words == sum(map(bool, differences.values()))
    assert found.differing_occurrences == sum(counts[word] for word in counts if differences[word])
    groups: dict[tuple[int, ...], list[str]] = {}
    for word in filter(differences.get, counts):
        sides = [(side[0], side[2]) for side in splits[word]]
        groups.setdefault(tuple(map(sides.index, sides)), []).append(word)
    assert len(found.groups) == len(groups)
    for group in found.groups:
        sets = {at: set for set in group.alike for at in set}
        words = groups[tuple(sets[at][0] for at in range(len(ALL)))]
        assert (group.words, group.occurrences) == (len(words), sum(counts[one] for one in words))
        assert {one.word for one in group.most} <= set(words)
        assert len(group.most) == min(len(words), 60 // len(groups))
        for one in group.most:
            assert (one.count, one.differences) == (counts[one.word], differences[one.word])
        weights = [one.count * one.differences for one in group.most]
        assert weights == sorted(weights, reverse=True)
    for at, pairs in enumerate(found.tokens_per_word):
        expected = Counter[int]()
        for word, sides in splits.items():
            expected[sides[at][1]] += counts[word]
        assert dict(pairs) == expected
        for other in range(len(ALL)):
            alike = sum(
                counts[word]
                for word, sides in splits.items()
                if (sides[at][0], sides[at][2]) == (sides[other][0], sides[other][2])
            )
            total = sum(counts.values())
            assert found.agreement[at][other] == (alike / total if total else 0)
    for bands in (found.by_length, found.by_frequency):
        assert sum(band.words for band in bands) == len(counts)
        assert sum(band.occurrences for band in bands) == found.occurrences
        for at in range(len(ALL)):
            tokenizer = list(ALL.values())[at]
            tokens = sum(naive_charge(tokenizer, word) * counts[word] for word in splits)
            assert sum(band.tokens[at] for band in bands) == tokens


def test_bands_hold_the_words_of_their_range() -> None:
    found = compare(ALL, ["hug " * 12 + "hugs pug hughughug"]).word_differences
    assert [(band.low, band.high, band.words, band.occurrences) for band in found.by_length] == [
        (3, 4, 3, 14),
        (9, 10, 1, 1),
    ]
    assert [(band.low, band.high, band.words) for band in found.by_frequency] == [
        (1, 1, 3),
        (10, 99, 1),
    ]


def test_the_tokens_of_a_word_have_spans_in_the_word() -> None:
    [group] = compare({"words": HUGS, "bytes": BYTES}, ["hugs"]).word_differences.groups
    [one] = group.most
    assert [[(token.token, token.span) for token in side] for side in one.tokens] == [
        [("hug", (0, 3)), ("##s", (3, 4))],
        [("hu", (0, 2)), ("g", (2, 3)), ("s", (3, 4))],
    ]


def test_words_over_the_limits_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_counts, "MOST_WORDS", 2)
    texts = ["hug pug", "hug mug", "hug bug gug"] * 3 + ["h" * 33, "h" * 32]
    counts = corpus_counts.FrequentWords()
    for text in texts:
        counts.add(pw.train.count_texts([text], preset="whitespace"))
    assert counts.most_common()[0] == ("hug", 9)
    assert len(counts.most_common()) <= 4
    assert "h" * 33 not in dict(counts.most_common())
    assert "h" * 32 in dict(counts.most_common())


# ---- laws


@given(TEXTS.filter(any), st.randoms())
def test_the_order_of_the_texts_does_not_matter(texts: list[str], random: object) -> None:
    shuffled = texts[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert without_examples(compare(ALL, shuffled)) == without_examples(compare(ALL, texts))


def without_examples(found: Comparison) -> Comparison:
    """Remove the examples of round trips, which are the first ones."""
    measures = [
        replace(one, round_trip=replace(one.round_trip, lost=(), changed=(), spacing=()))
        for one in found.measures
    ]
    return replace(found, measures=tuple(measures))


@given(TEXTS.filter(any), TEXTS.filter(any))
def test_sources_add_up_to_the_corpus(first: list[str], second: list[str]) -> None:
    found = compare(ALL, {"first": first, "second": iter(second)})
    assert replace(found, sources=()) == compare(ALL, first + second)
    for source, texts in zip(found.sources, (first, second), strict=True):
        alone = compare(ALL, texts)
        for name in ("texts", "words", "chars", "bytes"):
            assert getattr(source, name) == getattr(alone, name)
        for mine, measures in zip(source.measures, alone.measures, strict=True):
            names = "name tokens charged_tokens fertility chars_per_token unknown_rate single_token_rate"
            for name in names.split():
                assert getattr(mine, name) == getattr(measures, name)


@given(TEXTS.filter(any))
def test_the_single_token_rate_equals_that_of_each_word_alone(texts: list[str]) -> None:
    words = {word for text in texts for word in text.split() if len(word) <= 32}
    for name, measures in zip(ALL, compare(ALL, texts).measures, strict=True):
        retained = 0
        for word in words:
            encoding = ALL[name].encode(f" {word}", add_special_tokens=False)
            ends = [end for start, end in encoding.offsets if end > max(start, 1)]
            unknown = "[UNK]" in encoding.tokens[-len(ends) :] if ends else False
            retained += len(ends) == 1 and not unknown
        assert measures.single_token_rate == (retained / len(words) if words else 0)


def test_token_costs_need_sources_of_as_many_texts() -> None:
    found = compare(ALL, {"en": ["hug", "pug"], "de": ["hugs", "pugs hug"]})
    characters = found.token_costs[1]
    assert (characters.name, characters.premiums) == ("characters", (1.0, 2.0))
    assert (characters.parity, characters.gini) == (2.0, pytest.approx(1 / 6))
    assert found.to_dict()["token_costs"][1]["premiums"] == [1.0, 2.0]
    assert compare(ALL, {"en": ["hug", "pug"], "de": ["hugs"]}).token_costs == ()
    assert compare(ALL, ["hug", "pug"]).token_costs == ()
    assert compare(ALL, {"en": ["hug"]}).token_costs == ()


@given(TEXTS.filter(any), TEXTS.filter(any))
def test_concatenated_corpora_add_up(first: list[str], second: list[str]) -> None:
    one, two = compare(ALL, first), compare(ALL, second)
    both = compare(ALL, first + second)
    for name in ("texts", "words", "chars", "bytes"):
        assert getattr(both, name) == getattr(one, name) + getattr(two, name)
    for left, right, sum_ in zip(one.measures, two.measures, both.measures, strict=True):
        assert sum_.tokens == left.tokens + right.tokens
        assert sum_.unknown_tokens == left.unknown_tokens + right.unknown_tokens
        assert Counter(dict(sum_.token_lengths)) == Counter(dict(left.token_lengths)) + Counter(
            dict(right.token_lengths)
        )
        assert sum_.used_share >= max(left.used_share, right.used_share)


@given(st.lists(st.text(alphabet="hugsp", min_size=1), min_size=1))
def test_a_word_is_at_least_one_token(words: list[str]) -> None:
    for one in compare(ALL, [" ".join(words)], words="whitespace").measures:
        if one.name != "bytes":  # which drops the letter that it has no byte for
            assert one.fertility >= 1


@given(TEXTS.filter(any))
def test_the_size_of_batches_does_not_matter(texts: list[str]) -> None:
    whole = compare(ALL, texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(iterables, "LIST_TEXTS", 2)
        assert compare(ALL, iter(texts)) == whole


@pytest.mark.parametrize("num_threads", [1, 3])
def test_the_number_of_threads_changes_no_figure(num_threads: int, english_corpus: Path) -> None:
    tokenizers = {"pieces": pw.Tokenizer.train(english_corpus, vocab_size=500)}
    texts = read_corpus(english_corpus)
    assert compare(tokenizers, texts, num_threads=num_threads) == compare(tokenizers, texts)


# ---- what is left out, and what is given


def test_truncation_padding_and_special_tokens_are_left_out() -> None:
    framed = pw.Tokenizer.train_from_iterator(["hug hugs [SEP]"] * 5, vocab_size=19)
    short = framed.with_truncation(3).with_padding(8)
    texts = ["hug hugs hug hugs [SEP]"]
    assert compare({"a": short}, texts) == compare({"a": framed}, texts)
    [one] = compare({"a": short}, texts).measures
    assert one.tokens == len(framed.encode(texts[0], add_special_tokens=False, parse_special=False))
    assert framed.encode(texts[0]).ids.count(framed.token_to_id("[SEP]")) == 2


def test_dropout_is_left_out() -> None:
    wild = pw.Tokenizer.from_spec(
        replace(BYTES.spec, model=replace(BYTES.spec.model, dropout=1.0))  # type: ignore[call-arg]
    )
    gold = pw.analysis.Gold.of({"hug": ["hu", "g"]})
    found = compare({"a": wild}, ["hug hug"], gold=gold)
    assert found == compare({"a": BYTES}, ["hug hug"], gold=gold)
    assert pw.analysis.inspect(wild) == pw.analysis.inspect(BYTES)


def test_files_of_every_format_are_compared_by_lines(tmp_path: Path) -> None:
    texts = ["hug hugs", "", "hé pug"]
    plain, packed, lines = (tmp_path / name for name in ("a.txt", "a.txt.gz", "a.jsonl"))
    plain.write_bytes("hug hugs\r\n\nhé pug\n".encode())
    packed.write_bytes(gzip.compress("hug hugs\n\nhé pug".encode()))
    lines.write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    expected = compare(ALL, texts)
    assert compare(ALL, read_corpus(plain)) == expected
    assert compare(ALL, read_corpus([packed])) == expected
    assert compare(ALL, read_corpus(lines, field="body")) == expected
    assert compare(ALL, read_corpus([plain, lines], field="body")).texts == 4


def test_invalid_utf8_is_replaced_and_counted_or_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug \xff\xef\xbf\xbd hug\n")
    found = compare(ALL, read_corpus(path))
    assert found.replacements == 1
    assert replace(found, replacements=0) == compare(ALL, ["hug \ufffd\ufffd hug"])
    with pytest.raises(
        pw.errors.InvalidUtf8Error, match=r"a\.txt line 1: found invalid UTF-8 at byte 4"
    ):
        compare(ALL, read_corpus(path, encoding_errors="strict"))
    assert compare(ALL, ["hug \ud800"]).replacements == 1


def test_progress_is_called_with_counts() -> None:
    told: list[tuple[int, int]] = []
    compare(ALL, ["hug", "pug"], progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]
    told.clear()
    sources = {"de": ["hug"], "fr": ["pug", "hugs"]}
    compare(ALL, sources, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (3, 3)]


def test_progress_over_the_files_of_sources_never_falls(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("hug hugs\n" * 9)
    told: list[tuple[int, int]] = []
    texts = {name: read_corpus(tmp_path / f"{name}.txt") for name in "ab"}
    found = compare(ALL, texts, progress=lambda done, total: told.append((done, total)))
    assert [source.texts for source in found.sources] == [9, 9]
    assert told[-1] == (162, 162)
    assert told == sorted(told)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(
        pw.errors.ArgumentError, match="tokenizers: must have at least one tokenizer"
    ):
        compare({}, ["hug"])
    with pytest.raises(pw.errors.InputTypeError, match="tokenizers: must be .*, not list"):
        compare([HUGS], ["hug"])  # type: ignore[arg-type]
    with pytest.raises(pw.errors.InputTypeError, match=r"tokenizers\['a'\]: must be .*, not str"):
        compare({"a": "b"}, ["hug"])  # type: ignore[dict-item]
    with pytest.raises(pw.errors.InputTypeError, match="texts: must be .*, not str"):
        compare(ALL, "hug")
    with pytest.raises(pw.errors.InputTypeError, match=r"texts\[1\]: must be .*, not int"):
        compare(ALL, ["hug", 3])  # type: ignore[list-item]
    with pytest.raises(
        pw.errors.ArgumentError, match="texts: must have at least one name with its texts or paths"
    ):
        compare(ALL, {})
    with pytest.raises(
        pw.errors.InputTypeError, match="texts: the names of sources must be str, not 3"
    ):
        compare(ALL, {3: ["hug"]})  # type: ignore[dict-item]
    with pytest.raises(pw.errors.CorpusError, match="source 'fr': has no texts that are not empty"):
        compare(ALL, {"de": ["hug"], "fr": [""]})


def test_plain_data_is_what_json_keeps() -> None:
    gold = pw.analysis.Gold.of({"hugs": ["hug", "s"]})
    found: Comparison = compare(ALL, ["hug hugs"], gold=gold)
    value = found.to_dict()
    assert json.loads(json.dumps(value)) == value
    first: Measures = found.measures[0]
    assert value["measures"][0]["boundaries"]["f1"] == 1.0
    assert value["measures"][0]["sequence"]["mean"] == first.sequence.mean


def test_texts_can_have_several_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug hugs\npug\n\nhug\n")
    (tmp_path / "b.txt").write_text("hug\n")
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1}))

    def found(document: Any, name: str = "a.txt") -> pw.corpus.Corpus:
        return pw.corpus.read_corpus(tmp_path / name, document=document)

    measured = compare({"a": tok}, found("blank-line"))
    assert (measured.texts, measured.words, measured.chars) == (2, 4, 15)
    assert measured.to_dict()["document"] == "blank-line"
    assert (
        str(measured)
        .strip()
        .startswith("2 texts (separated by blank lines), 4 words, 15 characters")
    )
    assert compare({"a": tok}, found("file")).texts == 1
    assert compare({"a": tok}, ["hug"]).document is None
    assert compare({"a": tok}, found("line")).document is None
    several = {"a": found("file"), "b": found("line", "b.txt")}
    assert compare({"a": tok}, several).document is None
