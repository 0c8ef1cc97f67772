"""Every case of `conformance/`, run by the reference and by the core."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from piecework.reference.wordpiece_training import (
    Merge,
    MergeSettings,
    apply_merge,
    candidate_merges,
    initial_splits,
)
from piecework.spec import (
    BertNormalizer,
    BertPreTokenizer,
    Char,
    Punctuation,
    TemplateProcessing,
    TokenizerSpec,
    WhitespaceSplit,
    WordLevel,
    WordPiece,
    WordPieceDecoder,
)
from piecework.train import LEARNERS
from tests.case_files import read_cases
from tests.data import need, read_vocab, vocab_path
from tests.engines import ENGINES, PIPELINES, REFERENCE, Engine, score_of, settings_for

pytestmark = pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")


def load(file: str, kind: str = "case") -> list[dict[str, Any]]:
    return read_cases(file)[kind]


def cases(file: str, kind: str = "case") -> pytest.MarkDecorator:
    """Parametrize over the cases of a file, each by every engine that the case allows."""
    found = [
        pytest.param(engine, case, id=f"{engine.name}-{case['row']}: {case['name']}")
        for case in load(file, kind)
        for engine in ENGINES
        if engine.name in case.get("engines", ["reference", "core"])
    ]
    return pytest.mark.parametrize(("engine", "case"), found)


def reference_cases(file: str, key: str) -> pytest.MarkDecorator:
    """Parametrize over the cases of a file that say something under `key`."""
    found = [
        pytest.param(case, id=f"{case['row']}: {case['name']}")
        for case in load(file)
        if key in case
    ]
    return pytest.mark.parametrize("case", found)


# ---- the simple tokenizers

KINDS = {
    "whitespace": TokenizerSpec(WordLevel({"[UNK]": 0}), None, WhitespaceSplit()),
    "punctuation": TokenizerSpec(WordLevel({"[UNK]": 0}), None, Punctuation()),
    "words and punctuation": TokenizerSpec(WordLevel({"[UNK]": 0}), None, BertPreTokenizer()),
}


@cases("words.toml")
def test_simple_tokenizers_cut_as_the_case_says(engine: Engine, case: dict[str, Any]) -> None:
    text = case["text"]
    if case["kind"] == "characters":
        vocab = {piece: number for number, piece in enumerate(dict.fromkeys(["[UNK]", *text]))}
        pieces = engine.encode(TokenizerSpec(Char(vocab)), text).tokens
        offsets = engine.encode(TokenizerSpec(Char(vocab)), text).offsets
    else:
        words = engine.words(KINDS[case["kind"]], text)
        pieces = [word for word, _, _ in words]
        offsets = [(start, end) for _, start, end in words]
    assert pieces == case["pieces"]
    assert [text[start:end] for start, end in offsets] == pieces
    assert offsets == [tuple(span) for span in case.get("offsets", offsets)]


@cases("words.toml", "vocabulary")
def test_word_and_character_vocabularies(engine: Engine, case: dict[str, Any]) -> None:
    model, preset = case["model"], case["preset"]
    vocab = engine.learn_units(model, preset, case["texts"], case["vocab_size"])
    assert vocab == case["vocab"]
    ids = {token: number for number, token in enumerate(vocab)}
    kind = Char(ids) if model == "char" else WordLevel(ids)
    assert engine.encode(TokenizerSpec(kind, *PIPELINES[preset]), case["text"]).ids == case["ids"]


# ---- BERT's basic tokenizer


@cases("bert_words.toml")
def test_bert_words_and_their_offsets(engine: Engine, case: dict[str, Any]) -> None:
    normalizer = BertNormalizer(**case.get("normalizer", {}))
    spec = TokenizerSpec(WordLevel({"[UNK]": 0}), normalizer, BertPreTokenizer())
    assert engine.words(spec, case["text"]) == [tuple(word) for word in case["words"]]


# ---- training


def settings_of(case: dict[str, Any], key: str = "settings") -> dict[str, Any]:
    settings = {"min_frequency": 1, **case[key]}
    kind = LEARNERS[settings.pop("learner")]
    own = {field.name for field in fields(kind)} & settings.keys()
    return {"learner": kind(**{name: settings.pop(name) for name in own}), **settings}


def words_of(engine: Engine, case: dict[str, Any]) -> list[tuple[str, int]]:
    if "texts" in case:
        return engine.count_words(case["texts"], case["preset"])
    return [(word, count) for word, count in case["words"]]


@cases("training.toml")
def test_learning_gives_these_counts_merges_and_entries(
    engine: Engine, case: dict[str, Any]
) -> None:
    words, settings = words_of(engine, case), settings_of(case)
    learned = engine.learn(words, settings)
    assert learned.vocab == case["vocab"]
    assert words == [tuple(word) for word in case.get("word_counts", words)]
    specials = len(settings.get("special_tokens", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    alphabet = case.get("alphabet", [])
    assert learned.vocab[specials:][: len(alphabet)] == alphabet
    merges = case.get("merges", [])
    for merge, expected in zip(learned.merges[: len(merges)], merges, strict=True):
        assert merge[:4] == tuple(expected[:4])
        assert len(expected) == 4 or merge[4] == score_of(expected[4])


@reference_cases("training.toml", "pair_scores")
def test_first_pair_scores(case: dict[str, Any]) -> None:
    expected = case["pair_scores"]
    assert scores_after(case, 0)[: len(expected)] == [tuple(score) for score in expected]


@reference_cases("training.toml", "later_scores")
def test_pair_scores_after_some_merges(case: dict[str, Any]) -> None:
    for later in case["later_scores"]:
        found = scores_after(case, later["merges"])
        assert {tuple(score) for score in later["scores"]} <= set(found)


def scores_after(case: dict[str, Any], merges: int) -> list[tuple[str, str, str]]:
    """Return the score of every pair after the first merges of a case, in order of occurrence."""
    settings = settings_for(MergeSettings, settings_of(case))
    splits = initial_splits(words_of(REFERENCE, case), settings)
    for left, right, token, count, score in case["merges"][:merges]:
        merge = Merge(left, right, token, count, score)
        splits = [(apply_merge(entries, merge), word_count) for entries, word_count in splits]
    return [
        (merge.left, merge.right, str(merge.score)) for merge in candidate_merges(splits, settings)
    ]


@cases("training.toml", "retrain")
def test_a_new_vocabulary_for_the_same_pipeline(engine: Engine, case: dict[str, Any]) -> None:
    fresh = training_case(case["new_case"])
    old = case["old_texts"], settings_of(case, "old_settings")
    new = fresh["texts"], settings_of(fresh)
    assert engine.relearn(case["preset"], old, new) == fresh["vocab"]


@cases("training.toml", "replay")
def test_replaying_merges_differs_from_longest_match(engine: Engine, case: dict[str, Any]) -> None:
    word = case["word"]
    entries = [word[0], *(f"##{character}" for character in word[1:])]
    for left, right, token in case["merges"]:
        entries = apply_merge(entries, Merge(left, right, token, 1, 1))
    assert entries == case["pieces"]


def training_case(name: str) -> dict[str, Any]:
    return next(case for case in load("training.toml") if case["name"] == name)


# ---- encoding


def vocab_of(case: dict[str, Any]) -> dict[str, int]:
    if isinstance(case.get("vocab"), str):
        path = vocab_path(case["vocab"]) or need(f"vocab/{case['vocab']}/vocab.txt")
        return read_vocab(path)
    tokens = case["vocab"] if "vocab" in case else training_case(case["vocab_of"])["vocab"]
    return {token: number for number, token in enumerate(tokens)}


def spec_of(case: dict[str, Any]) -> TokenizerSpec:
    vocab = vocab_of(case)
    model = WordPiece(vocab, **case.get("model", {}))
    framed = "[CLS]" in vocab and "[SEP]" in vocab
    return TokenizerSpec(
        model,
        *PIPELINES[case.get("preset", "whitespace")],
        post_processor=TemplateProcessing.bert(vocab["[CLS]"], vocab["[SEP]"]) if framed else None,
        decoder=WordPieceDecoder(),
    )


@cases("encoding.toml")
def test_encoding_gives_these_tokens(engine: Engine, case: dict[str, Any]) -> None:
    spec = spec_of(case)
    for token, number in case.get("special_tokens", {}).items():
        assert spec.model.vocab[token] == number
    for example in case["examples"]:
        check_example(engine, spec, example)


def check_example(engine: Engine, spec: TokenizerSpec, example: dict[str, Any]) -> None:
    text = example["text"] if "text" in example else example["repeat"][0] * example["repeat"][1]
    special = example.get("add_special_tokens", False)
    encoded = engine.encode(spec, text, add_special_tokens=special)
    assert encoded.tokens == example.get("tokens", encoded.tokens)
    assert encoded.ids == example.get("ids", encoded.ids)
    assert encoded.offsets == [tuple(o) for o in example.get("offsets", encoded.offsets)]
    assert len(encoded.tokens) == example.get("count", len(encoded.tokens))


# ---- decoding


@cases("decoding.toml")
def test_decoding_gives_this_text(engine: Engine, case: dict[str, Any]) -> None:
    vocab = {
        token: number for number, token in enumerate(dict.fromkeys(["[UNK]", *case["tokens"]]))
    }
    spec = TokenizerSpec(WordPiece(vocab), decoder=WordPieceDecoder())
    ids = [vocab[token] for token in case["tokens"]]
    assert engine.decode(spec, ids, case.get("clean_up")) == case["text"]
