"""`SentencePieceNormalizer` normalizes, reads and writes as that of `sentencepiece` 0.2.3."""

from __future__ import annotations

import io
import itertools
import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piecework import PieceworkError
from piecework.compat.sentencepiece import (
    SentencePieceNormalizer,
    SentencePieceProcessor,
    SentencePieceTrainer,
)
from piecework.train import NormalizationRules
from tests.differential.test_sentencepiece import (
    CORPUS,
    HARD_TEXTS,
    MODELS,
    code_point_texts,
    trained,
)

sentencepiece = pytest.importorskip("sentencepiece")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
NAMES = NormalizationRules.NAMES
FLAGS = ("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces")
SPACES = [
    dict(zip(FLAGS, values, strict=True))
    for values in itertools.product((None, True, False), repeat=3)
]
BOTH = (SentencePieceNormalizer, sentencepiece.SentencePieceNormalizer)
PAIRS = [("I'm", "I am"), ("\t", " "), ("…", "..."), ("x", "")]


def assert_same(ours: Any, theirs: Any, texts: list[Any]) -> None:
    assert ours.normalize(texts) == theirs.normalize(texts)
    found = ours.Normalize(texts, with_offsets=True)
    expected = theirs.Normalize(texts, with_offsets=True)
    for text, one, two in zip(texts, found, expected, strict=True):
        assert (one[0], list(one[1])) == (two[0], list(two[1])), ascii(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flags", SPACES if FULL else SPACES[::4], ids=str)
def test_named_rules_normalize_alike(name: str, flags: dict[str, bool | None]) -> None:
    ours, theirs = (of(rule_name=name, **flags) for of in BOTH)
    points = itertools.islice(code_point_texts(), None if FULL else 60)
    assert_same(ours, theirs, [*CORPUS[:6], *HARD_TEXTS, "I'm  x…", *points])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "identity"])
def test_named_rules_decompile_alike(name: str) -> None:
    ours, theirs = (of(rule_name=name) for of in BOTH)
    assert dict(ours.decompile()) == dict(theirs.decompile())


@pytest.mark.skipif(not MODELS, reason="no published models here: see tests/data.py")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_rules_of_published_models(path: Path) -> None:
    texts = [*CORPUS[:6], *HARD_TEXTS, *itertools.islice(code_point_texts(), None if FULL else 50)]
    for flags in ({}, {"add_dummy_prefix": False, "escape_whitespaces": False}):
        ours, theirs = (of(model_file=str(path), **flags) for of in BOTH)
        assert_same(ours, theirs, texts)
    assert_same(SentencePieceNormalizer(model_proto=path.read_bytes()), BOTH[1](str(path)), texts)


@pytest.mark.parametrize("flags", range(11))
def test_a_normalizer_takes_only_rules_and_flags_from_a_model(flags: int) -> None:
    """Neither spaces behind words nor symbols that rules leave alone."""
    model = trained("bpe", "nmt_nfkc", flags)
    texts = [*CORPUS[:6], "a<x>b <y z> ▁<x>", *HARD_TEXTS]
    assert_same(*(of(model_proto=model) for of in BOTH), texts)


@pytest.mark.parametrize("flags", SPACES, ids=str)
def test_texts_that_normalize_to_little_or_nothing_are_equal(flags: dict[str, bool | None]) -> None:
    """Spaces and what rules make spaces or nothing of, in any order."""
    texts = ["".join(text) for n in range(5) for text in itertools.product("\r \x1f▁a", repeat=n)]
    for name in ("nmt_nfkc", "identity"):
        ours, theirs = (of(rule_name=name, **flags) for of in BOTH)
        assert_same(ours, theirs, texts)
        assert_same(ours, theirs, [text.encode() for text in texts])


def test_rules_from_files_and_mappings_normalize_alike(tmp_path: Path) -> None:
    NormalizationRules.from_mapping(dict(PAIRS)).save_tsv(tmp_path / "rules.tsv")
    texts = ["I'm xx  here…", " x ", *HARD_TEXTS]
    for source in ({"rule_tsv": str(tmp_path / "rules.tsv")}, {"norm_map": PAIRS}):
        ours, theirs = (of(**source) for of in BOTH)
        assert_same(ours, theirs, texts)
        assert sorted(ours.Decompile()) == sorted(theirs.Decompile())


@pytest.mark.parametrize("flags", SPACES[::5], ids=str)
def test_both_libraries_read_written_rules(flags: dict[str, bool | None]) -> None:
    texts = ["I'm xx  here…", " ＡＢ  ", *HARD_TEXTS]
    for writer, reader in itertools.product(BOTH, repeat=2):
        of = writer(norm_map=PAIRS, **flags)
        for again in (
            reader(model_proto=of.serialized_model_proto()),
            reader(normalizer_spec=of.serialized_normalizer_spec()),
        ):
            assert_same(again, of, texts)
    ours = SentencePieceNormalizer(norm_map=PAIRS, **flags)
    assert_same(pickle.loads(pickle.dumps(ours)), ours, texts)


def test_bytes_are_normalized_with_offsets_in_bytes() -> None:
    texts = [text.encode() for text in [*CORPUS[:6], *HARD_TEXTS]]
    for name in NAMES:
        assert_same(*(of(rule_name=name) for of in BOTH), texts)


@settings(max_examples=3000 if FULL else 200)
@given(
    text=st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("ab  ▁\0éＡ½\t\u0301"))),
    flags=st.sampled_from(SPACES),
    name=st.sampled_from(NAMES),
)
def test_random_texts_are_normalized_alike(
    text: str, flags: dict[str, bool | None], name: str
) -> None:
    assert_same(*(of(rule_name=name, **flags) for of in BOTH), [text])


@pytest.mark.parametrize("flags", [{}, {"add_dummy_prefix": False}], ids=str)
def test_training_takes_a_normalizer(flags: dict[str, bool]) -> None:
    models = []
    for trainer, normalizer in (
        (SentencePieceTrainer, SentencePieceNormalizer(norm_map=PAIRS, **flags)),
        (sentencepiece.SentencePieceTrainer, BOTH[1](norm_map=PAIRS, **flags)),
    ):
        model = io.BytesIO()
        trainer.train(
            sentence_iterator=iter([*CORPUS, "I'm so… fox"]),
            model_writer=model,
            normalizer=normalizer,
            model_type="bpe",
            vocab_size=150,
            minloglevel=2,
        )
        sp = SentencePieceProcessor(model_proto=model.getvalue())
        models.append([(sp.id_to_piece(id), sp.get_score(id)) for id in range(len(sp))])
    assert models[0] == models[1]


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda of: of(), "no normalization rules are given; pass one of model_file"),
    (lambda of: of(norm_map=[]), "no normalization rules"),
    (lambda of: of(rule_name="nope"), "nope"),
    (lambda of: of(rule_tsv="/no/such"), "/no/such"),
    (lambda of: of(model_file="/no/such"), "/no/such"),
    (lambda of: of(normalizer_spec=b"\xff"), "normalizer_spec"),
    (lambda of: of(normalizer_spec=b"\x12\x03abc").normalize("a"), "charsmap"),
    (lambda of: of(rule_name="nfkc", add_dummy_prefix="no"), "add_dummy_prefix"),
    (lambda of: of(norm_map=3), "norm_map"),
    (lambda of: of(rule_name="nfkc").normalize(3), "input"),
    (lambda of: of(rule_name="nfkc").normalize(["a", None]), r"input\[1\]"),
]


@pytest.mark.parametrize(("call", "place"), WRONG, ids=[place for _, place in WRONG])
def test_a_call_that_sentencepiece_rejects_is_an_error_here_too(
    call: Callable[[Any], Any], place: str
) -> None:
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        call(BOTH[1])
    with pytest.raises(PieceworkError, match=place):
        call(SentencePieceNormalizer)


@pytest.mark.parametrize("other", ["normalization_rule_name", "add_dummy_prefix"])
def test_a_normalizer_goes_with_no_other_settings_of_its_kind(other: str) -> None:
    for trainer, normalizer in (
        (SentencePieceTrainer, BOTH[0]),
        (sentencepiece.SentencePieceTrainer, BOTH[1]),
    ):
        with pytest.raises((PieceworkError, ValueError), match=other):
            trainer.train(
                sentence_iterator=iter(CORPUS),
                model_writer=io.BytesIO(),
                normalizer=normalizer(norm_map=PAIRS),
                **{other: "nfkc" if "name" in other else False},
            )


def test_random_rules_normalize_alike() -> None:
    for seed in range(200 if FULL else 20):
        chance = random.Random(seed)
        letters = ["a", "b", " ", "▁", "é", "漢", "😀", "\u0301"]
        pairs = {
            "".join(chance.choices(letters, k=chance.randint(1, 3))): "".join(
                chance.choices(letters, k=chance.randint(0, 3))
            )
            for _ in range(chance.randint(1, 20))
        }
        rules = [(old, new) for old, new in pairs.items() if old != new]
        if not rules:
            continue
        flags = chance.choice(SPACES)
        texts = ["".join(chance.choices(letters, k=chance.randint(0, 30))) for _ in range(60)]
        assert_same(*(of(norm_map=rules, **flags) for of in BOTH), texts)
