"""Tokenizers with other stages share the compiled tables of the model and equal fresh compilations."""

from __future__ import annotations

import json

import pytest

import piecework as pw
from piecework.errors import ArgumentError, FormatError, InputTypeError, VocabularyError

TEXTS = ("Hugs and hugs", "  HÜGS [x] hug", "")


def trained() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(["hug hugs bug and bugs"] * 9, vocab_size=30)


@pytest.mark.parametrize(
    "change",
    [
        lambda tok: tok.with_normalizer(pw.spec.Lowercase()),
        lambda tok: tok.with_normalizer(None),
        lambda tok: tok.with_pre_tokenizer(pw.spec.WhitespaceSplit()),
        lambda tok: tok.with_post_processor(None),
        lambda tok: tok.with_decoder(None),
        lambda tok: tok.with_added_tokens(["[x]", "new"]),
        lambda tok: pw.tokenizer.stages.with_stages(
            tok, {"pre_tokenizer": {"type": "WhitespaceSplit"}}
        ),
    ],
)
def test_another_stage_shares_the_model_and_equals_a_fresh_compilation(change: object) -> None:
    tok = trained()
    changed = change(tok)  # type: ignore[operator]
    fresh = pw.Tokenizer.from_spec(changed.spec)
    assert changed == fresh
    assert changed.get_vocab() == fresh.get_vocab()
    for text in TEXTS:
        assert changed.encode(text) == fresh.encode(text)
        ids = fresh.encode(text).ids
        assert changed.decode(ids) == fresh.decode(ids)
    assert changed.spec.model == tok.spec.model


def test_settings_that_no_specification_has_are_kept() -> None:
    tok = trained().with_word_cache_budget(1 << 20).with_roles(eos_token="hug")
    changed = tok.with_normalizer(None)
    assert changed.memory().budget == 1 << 20
    assert changed.eos_token == "hug"
    assert tok.with_parse_special(False).with_normalizer(None).spec.parse_special is False


def test_custom_stages_keep_their_functions() -> None:
    tok = trained().with_normalizer(pw.spec.CustomNormalizer(str.lower))
    assert tok.with_post_processor(None).encode("HUG").tokens == ["hug"]
    assert (
        pw.tokenizer.stages.with_stages(tok, {"normalizer": None}).encode("HUG").tokens[1]
        == "[UNK]"
    )


def test_stages_are_written_without_the_vocabulary() -> None:
    stages = json.loads(pw.spec.portable_json(pw.tokenizer.stages.stages_of(trained())))
    assert stages["model"]["vocab"] == {}
    assert stages["normalizer"]["type"] == "BertNormalizer"


def test_invalid_stages_are_refused() -> None:
    tok = trained()
    with pytest.raises(ArgumentError, match="stages"):
        pw.tokenizer.stages.with_stages(tok, {"model": {}})
    with pytest.raises(FormatError, match="normalizer"):
        pw.tokenizer.stages.with_stages(tok, {"normalizer": {"type": "Nothing"}})
    with pytest.raises(VocabularyError):
        tok.with_padding(pad_id=10**6)
    with pytest.raises((FormatError, VocabularyError), match="added_tokens"):
        pw.tokenizer.stages.with_stages(
            tok, {"added_tokens": [{**pw.spec.AddedToken("a", id=1).to_json()}]}
        )


# ---- a stage alone

NORMALIZERS = (
    pw.spec.BertNormalizer(),
    pw.spec.SequenceNormalizer([pw.spec.NFKC(), pw.spec.Lowercase()]),
    pw.spec.CustomNormalizer(str.swapcase),
)
PRE_TOKENIZERS = (
    pw.spec.ByteLevel(),
    pw.spec.SequencePreTokenizer([pw.spec.WhitespaceSplit(), pw.spec.ByteLevel(use_regex=False)]),
    pw.spec.CustomPreTokenizer(str.split),
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_stage_alone_gives_the_result_of_the_tokenizer(text: str) -> None:
    for normalizer in NORMALIZERS:
        tok = trained().with_normalizer(normalizer)
        assert pw.tokenizer.stages.normalize(normalizer, text) == tok.normalize(text)
    for pre_tokenizer in PRE_TOKENIZERS:
        tok = trained().with_normalizer(None).with_pre_tokenizer(pre_tokenizer)
        assert pw.tokenizer.stages.pre_tokenize(pre_tokenizer, text) == tok.pre_tokenize(text)


def test_another_stage_is_refused() -> None:
    for stage in (pw.spec.Lowercase(), pw.spec.ByteLevelDecoder(), None, "bert"):
        with pytest.raises(
            InputTypeError, match="^pre_tokenizer: must be a pre-tokenizer of piece"
        ):
            pw.tokenizer.stages.pre_tokenize(stage, "hug")  # type: ignore[arg-type]
    with pytest.raises(
        InputTypeError, match="^normalizer: must be a normalizer of piece.* ByteLevel$"
    ):
        pw.tokenizer.stages.normalize(pw.spec.ByteLevel(), "hug")  # type: ignore[arg-type]
