"""What texts lose when they are encoded and decoded: characters, case and accents, spaces, each apart."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.analysis import RoundTrip, measure_round_trip
from piecework.analysis.text_samples import SCRIPT_TEXTS

TEXTS = [
    "Hello, world! It isn't so.",
    "Největší kůň, v pořádku.",
    "the quick brown fox jumps over the lazy dog",
] * 20


def trained(model: str, preset: str | None = None, **settings: Any) -> pw.Tokenizer:
    if model not in ("word", "char"):
        settings = {"vocab_size": 400, **settings}
    return pw.Tokenizer.train_from_iterator(TEXTS, model=model, preset=preset, **settings)


def test_byte_level_bpe_returns_the_same_text() -> None:
    texts = ["naïve 日 ~\n", "\ta  b \n\n", " Ａ½ﬁ é"]
    found = measure_round_trip(trained("byte-bpe"), texts)
    assert found.is_exact
    assert (found.lost_chars, found.changed_words, found.changed_spaces) == (0, 0, 0)
    assert str(found).splitlines() == [
        "no characters lost",
        "no words changed by the normalizer",
        "no spaces changed",
    ]


def test_unigram_with_byte_fallback_loses_no_characters() -> None:
    tokenizer = trained("unigram", vocab_size=350, byte_fallback=True)
    found = measure_round_trip(tokenizer, ["naïve 日 ~", "Ａ  b"])
    assert found.is_lossless
    assert (found.width_words, found.changed) == (1, (("Ａ", "A"),))
    assert (found.changed_spaces, found.spaces) == (1, 3)
    assert found.spacing == (("Ａ  b", "A b"),)


def test_unigram_without_byte_fallback_loses_characters() -> None:
    found = measure_round_trip(trained("unigram", vocab_size=90), ["the 日 fox ~ 日"])
    assert not found.is_lossless
    assert (found.lost, found.lost_chars, found.chars) == ((("日", 2), ("~", 1)), 3, 9)
    assert found.lost_share == pytest.approx(1 / 3)


def test_uncased_wordpiece_changes_case_and_accents_and_loses_nothing() -> None:
    found = measure_round_trip(trained("wordpiece"), ["Největší kůň, v pořádku.", "the fox"])
    assert found.is_lossless
    assert (found.words, found.changed_words) == (6, 3)
    assert (found.case_words, found.accent_words, found.width_words) == (1, 3, 0)
    assert list(found.changes) == ["case", "accents"]
    assert found.changed[0] == ("Největší", "nejvetsi")
    assert found.changed_spaces == 0


def test_cased_wordpiece_changes_spaces_only() -> None:
    found = measure_round_trip(trained("wordpiece", "bert-cased"), ["It isn't so"])
    assert (found.is_lossless, found.changed_words) == (True, 0)
    assert (found.changed_spaces, found.spaces) == (2, 4)
    assert found.spacing == (("It isn't so", "It isn ' t so"),)


def test_a_word_level_vocabulary_loses_whole_words() -> None:
    found = measure_round_trip(trained("word"), ["the cat", "fox"])
    assert found.lost == (("c", 1), ("a", 1), ("t", 1))
    assert found.chars == 9


def test_bpe_without_word_markers_decodes_with_spaces_inside_words() -> None:
    tokenizer = trained("bpe", "whitespace", vocab_size=60)
    found = measure_round_trip(tokenizer, ["Největší kůň"])
    assert found.is_lossless
    assert found.changed_words == 0
    assert found.changed_spaces > 0
    assert found.spaces == found.changed_spaces + 1


def test_bytes_that_a_vocabulary_lacks_are_lost_characters() -> None:
    letters = {letter: at for at, letter in enumerate("Ġabc")}
    tokenizer = pw.Tokenizer(
        pw.spec.BPE(letters, ()),
        pre_tokenizer=pw.spec.ByteLevel(add_prefix_space=False),
        decoder=pw.spec.ByteLevelDecoder(),
    )
    found = measure_round_trip(tokenizer, ["a ïb"])
    assert (found.lost, found.chars) == ((("ï", 1),), 3)


def test_replaced_characters_are_lost_too() -> None:
    tokenizer = pw.Tokenizer(
        pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}),
        decoder=pw.spec.SequenceDecoder(
            (pw.spec.ReplaceDecoder("b", "\ufffd"), pw.spec.CharDecoder())
        ),
    )
    assert measure_round_trip(tokenizer, ["abab"]).lost == (("b", 2),)


def test_canonically_equivalent_texts_are_unchanged() -> None:
    tokenizer = pw.Tokenizer(
        pw.spec.Char({"[UNK]": 0, "é": 1}),
        normalizer=pw.spec.NFC(),
        decoder=pw.spec.CharDecoder(),
    )
    assert measure_round_trip(tokenizer, ["e\u0301"]).is_exact


def test_characters_that_the_normalizer_removes_are_normalization_not_loss() -> None:
    found = measure_round_trip(trained("wordpiece"), ["the\x00 fox"])
    assert found.is_lossless
    assert (found.other_words, found.changed) == (1, (("the\x00", "the"),))


def test_stored_truncation_and_special_tokens_in_texts_do_not_count_as_loss() -> None:
    tokenizer = trained("byte-bpe").with_truncation(2).with_padding(8, pad_token="<|endoftext|>")
    assert measure_round_trip(tokenizer, ["a long text <|endoftext|> and more"]).is_exact


def test_no_texts_lose_nothing() -> None:
    found = measure_round_trip(trained("word"), [])
    assert found == RoundTrip(texts=0)
    assert (found.lost_share, found.changed_share, found.spacing_share) == (0, 0, 0)


def test_the_figures_are_json() -> None:
    found = measure_round_trip(trained("word"), ["the cat"])
    value = json.loads(json.dumps(found.to_dict()))
    assert (value["lost"][0], value["is_lossless"], value["lost_share"]) == (["c", 1], False, 0.5)


def test_a_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(pw.errors.InputTypeError, match="texts: must be .*, not str"):
        measure_round_trip(trained("char"), "a text")


def test_the_texts_in_many_scripts_have_22_scripts() -> None:
    letters = {c for text in SCRIPT_TEXTS for c in text if c.isalpha()}
    scripts = {unicodedata.name(letter).split()[0] for letter in letters}
    latin_and_han = {"LATIN", "CJK", "FULLWIDTH", "KATAKANA-HIRAGANA"}
    assert len(scripts | latin_and_han) - len({"FULLWIDTH", "KATAKANA-HIRAGANA"}) == 22, scripts


BYTE_LEVEL_TEXTS = ["<s>", "<s></s><s>", " <s> the</s> ", "abcd", "xabcx bcab", "ab</s>abc\n<s>"]


def byte_level_with(*tokens: str) -> pw.Tokenizer:
    special = trained("byte-bpe").with_added_tokens(["<s>", "</s>", "<s></s>"], special=True)
    return special.with_added_tokens(list(tokens))


def test_special_and_overlapping_added_tokens_of_a_byte_level_model_come_back() -> None:
    tokenizer = byte_level_with("ab", "abc", "bc", "bcd", "日")
    for text in BYTE_LEVEL_TEXTS:
        ids = tokenizer.encode(text).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert measure_round_trip(tokenizer, BYTE_LEVEL_TEXTS).is_exact
    assert [tokenizer.decode(tokenizer.encode(text).ids) for text in BYTE_LEVEL_TEXTS[:3]] == [
        *("", "", "  the "),
    ]


def test_an_added_token_of_characters_that_stand_for_bytes_decodes_to_bytes_as_in_tokenizers() -> (
    None
):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = byte_level_with("éé")
    theirs = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    ids = tokenizer.encode("an éé").ids
    assert ids == theirs.encode("an éé").ids
    assert tokenizer.decode(ids) == theirs.decode(ids) == "an \ufffd\ufffd"


def test_inspect_measures_the_round_trip(tmp_path: Path, cli: Callable[..., Any]) -> None:
    tokenizer = trained("wordpiece")
    assert pw.analysis.inspect(tokenizer, TEXTS).round_trip.is_lossless
    found = pw.analysis.inspect(tokenizer)
    assert (found.round_trip.is_lossless, found.round_trip.texts) == (False, len(SCRIPT_TEXTS))
    assert found.to_dict()["round_trip"]["lost_share"] == found.round_trip.lost_share
    tokenizer.save(tmp_path / "t.json")
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS))
    path = str(tmp_path / "t.json")
    _, out, _ = cli("inspect", path, "--corpus", str(tmp_path / "corpus.txt"))
    lines = (
        "round trip      60 texts of --corpus: no characters lost\n                case and accents"
    )
    assert lines in out
    _, out, _ = cli("inspect", path)
    named = r"round trip      built-in text in 22 scripts: [\d,]+ of [\d,]+ characters lost \("
    assert re.search(named, out)
    assert "a vocabulary for few scripts loses the others; --corpus FILE measures your texts" in out


def test_inspect_lists_no_scripts_for_a_lossless_tokenizer(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    trained("byte-bpe").save(tmp_path / "t.json")
    _, out, _ = cli("inspect", str(tmp_path / "t.json"))
    assert "round trip      built-in text in 22 scripts: no characters lost" in out
    assert "few scripts" not in out


def test_a_share_that_is_not_0_is_not_shown_as_0() -> None:
    found = RoundTrip(texts=1, chars=2_400_000, lost_chars=1, lost=(("日", 1),))
    assert str(found).startswith("1 of 2,400,000 characters lost (0.00004 %), first 日")
