"""Comparison: a corpus worked out by hand, a naive twin for any, and that only sums are kept."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import Comparison, Measures, compare, compare_files
from piecework.corpus import batches as texts_module

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


def test_every_measure_of_a_small_corpus() -> None:
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
    assert one.rank_frequencies == ((1, 3 / 7), (2, 2 / 7), (3, 1 / 7), (4, 1 / 7))
    assert one.boundaries is None


def test_characters_and_bytes_differ_outside_ascii() -> None:
    [one] = compare({"bytes": BYTES}, ["hé"]).measures
    assert (one.tokens, one.chars_per_token, one.bytes_per_token) == (3, 2 / 3, 1.0)


def test_words_are_those_of_the_pipeline_named() -> None:
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
    words, characters, pieces = compare_files(tokenizers, english_corpus).measures
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


# ---- laws


@given(TEXTS.filter(any), st.randoms())
def test_the_order_of_the_texts_is_of_no_account(texts: list[str], random: object) -> None:
    shuffled = texts[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert compare(ALL, shuffled) == compare(ALL, texts)


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
def test_batches_are_of_no_account(texts: list[str]) -> None:
    whole = compare(ALL, texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts_module, "BATCH_TEXTS", 2)
        assert compare(ALL, iter(texts)) == whole


@pytest.mark.parametrize("num_threads", [1, 3])
def test_threads_are_of_no_account(num_threads: int, english_corpus: Path) -> None:
    tokenizers = {"pieces": pw.Tokenizer.train(english_corpus, vocab_size=500)}
    assert compare_files(tokenizers, english_corpus, num_threads=num_threads) == compare_files(
        tokenizers, english_corpus
    )


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


def test_files_are_lines_whatever_holds_them(tmp_path: Path) -> None:
    texts = ["hug hugs", "", "hé pug"]
    plain, packed, lines = (tmp_path / name for name in ("a.txt", "a.txt.gz", "a.jsonl"))
    plain.write_bytes("hug hugs\r\n\nhé pug\n".encode())
    packed.write_bytes(gzip.compress("hug hugs\n\nhé pug".encode()))
    lines.write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    expected = compare(ALL, texts)
    assert compare_files(ALL, plain) == expected
    assert compare_files(ALL, [packed]) == expected
    assert compare_files(ALL, lines, field="body") == expected
    assert compare_files(ALL, [plain, lines], field="body").texts == 4


def test_invalid_utf8_is_replaced_and_counted_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug \xff\xef\xbf\xbd hug\n")
    found = compare_files(ALL, path)
    assert found.replacements == 1
    assert replace(found, replacements=0) == compare(ALL, ["hug \ufffd\ufffd hug"])
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"a\.txt: found invalid UTF-8 at byte 4"):
        compare_files(ALL, path, errors="strict")
    assert compare(ALL, ["hug \ud800"]).replacements == 1


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    compare(ALL, ["hug", "pug"], progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]


def test_bad_arguments_are_named() -> None:
    with pytest.raises(pw.errors.ArgumentError, match="tokenizers: found none"):
        compare({}, ["hug"])
    with pytest.raises(pw.errors.InputTypeError, match="tokenizers: found list"):
        compare([HUGS], ["hug"])  # type: ignore[arg-type]
    with pytest.raises(pw.errors.InputTypeError, match=r"tokenizers\['a'\]: found str"):
        compare({"a": "b"}, ["hug"])  # type: ignore[dict-item]
    with pytest.raises(pw.errors.InputTypeError, match="texts: found str"):
        compare(ALL, "hug")
    with pytest.raises(pw.errors.InputTypeError, match=r"texts\[1\]: found int"):
        compare(ALL, ["hug", 3])  # type: ignore[list-item]


def test_plain_data_is_what_json_keeps() -> None:
    gold = pw.analysis.Gold.of({"hugs": ["hug", "s"]})
    found: Comparison = compare(ALL, ["hug hugs"], gold=gold)
    value = found.to_dict()
    assert json.loads(json.dumps(value)) == value
    first: Measures = found.measures[0]
    assert value["measures"][0]["boundaries"]["f1"] == 1.0
    assert value["measures"][0]["sequence"]["mean"] == first.sequence.mean
