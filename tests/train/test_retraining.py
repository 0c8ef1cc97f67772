"""Retraining and resizing keep the whole pipeline, the post-processor with its new ids included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import piecework as pw
from piecework.spec import (
    BPE,
    AddedToken,
    BertProcessing,
    ByteLevel,
    ByteLevelDecoder,
    ByteLevelProcessing,
    Padding,
    PostProcessor,
    RobertaProcessing,
    SequenceProcessing,
    TemplateProcessing,
    TokenizerSpec,
    Truncation,
)
from tests.data import data_dir

TEXTS = ["hug hugs pug pun bun, the huge hug"] * 20
LETTERS = {letter: id for id, letter in enumerate("Ġabdeghlnpstu,")}
CLS, SEP, PAD = ("<s>", 40), ("</s>", 41), ("<pad>", 42)
TEMPLATE = TemplateProcessing(
    ("<both>:0", "$A:0", "</s>:1"),
    ("<both>:0", "$A:0", "</s>:1", "$B:1", "<s>:2"),
    {"<both>": (40, 41), "</s>": (41,), "<s>": (40,)},
    {"<both>": ("<s>", "</s>")},
)

POST_PROCESSORS: dict[str, PostProcessor | None] = {
    "none": None,
    "bert": BertProcessing(sep=SEP, cls=CLS),
    "roberta": RobertaProcessing(sep=SEP, cls=CLS, trim_offsets=False, add_prefix_space=False),
    "byte level": ByteLevelProcessing(trim_offsets=False),
    "template of several ids": TEMPLATE,
    "sequence": SequenceProcessing((ByteLevelProcessing(trim_offsets=True), TEMPLATE)),
    "nested sequence": SequenceProcessing(
        (ByteLevelProcessing(), SequenceProcessing((RobertaProcessing(sep=SEP, cls=CLS),)))
    ),
}


def made(post_processor: PostProcessor | None) -> pw.Tokenizer:
    return pw.Tokenizer.from_spec(
        TokenizerSpec(
            BPE(LETTERS, ()),
            pre_tokenizer=ByteLevel(add_prefix_space=False),
            post_processor=post_processor,
            decoder=ByteLevelDecoder(),
            added_tokens=(
                AddedToken("<s>", 40),
                AddedToken("</s>", 41, normalized=True),
                AddedToken("<pad>", 42),
                AddedToken("<mask>", 43, lstrip=True),
                AddedToken("<word>", 44, single_word=True, rstrip=True, special=False),
            ),
            truncation=Truncation(max_length=9, stride=2, side="left"),
            padding=Padding(pad_id=42, pad_token="<pad>", side="left", length=12),
            parse_special=False,
        )
    )


def by_name(tokenizer: pw.Tokenizer) -> dict[str, object]:
    """Describe all but model and ids, with token names instead of ids."""
    spec = tokenizer.spec

    def name(id: int) -> str | None:
        return tokenizer.id_to_token(id)

    def named(processor: PostProcessor | None) -> object:
        if isinstance(processor, BertProcessing | RobertaProcessing):
            for token, id in (processor.sep, processor.cls):
                assert name(id) == token
            return replace(processor, sep=(processor.sep[0], 0), cls=(processor.cls[0], 0))
        if isinstance(processor, TemplateProcessing):
            ids = {key: tuple(map(name, ids)) for key, ids in processor.special_tokens.items()}
            return replace(processor, special_tokens={}), ids
        if isinstance(processor, SequenceProcessing):
            return [named(member) for member in processor.processors]
        return processor

    return {
        "post_processor": named(spec.post_processor),
        "padding": spec.padding and (name(spec.padding.pad_id), replace(spec.padding, pad_id=0)),
        "truncation": spec.truncation,
        "decoder": spec.decoder,
        "normalizer": spec.normalizer,
        "pre_tokenizer": spec.pre_tokenizer,
        "parse_special": spec.parse_special,
        "added_tokens": sorted(
            (replace(token, id=0) for token in spec.added_tokens), key=lambda token: token.content
        ),
    }


@pytest.mark.parametrize("name", POST_PROCESSORS)
def test_retraining_keeps_every_kind_of_post_processor(name: str) -> None:
    old = made(POST_PROCESSORS[name])
    new = old.train_new_from_iterator(TEXTS, 270)
    assert by_name(new) == by_name(old)
    framing = old.without_truncation().without_padding().encode("", "").tokens
    assert new.without_truncation().without_padding().encode("", "").tokens == framing


@pytest.mark.parametrize("name", POST_PROCESSORS)
def test_resizing_keeps_every_kind_of_post_processor(name: str) -> None:
    old = made(POST_PROCESSORS[name])
    larger, _ = pw.vocabulary.extend(old, TEXTS, 3)
    smaller, _ = pw.vocabulary.shrink(larger, larger.get_vocab_size() - 1)
    pruned, _ = pw.vocabulary.prune(larger, ["h", "u", "g"], keep_alphabet=False)
    for changed in (larger, smaller, pruned):
        assert by_name(changed) == by_name(old)


def published() -> list[Path]:
    folder = data_dir()
    return sorted(folder.glob("vocab/*/tokenizer.json*")) if folder else []


@pytest.mark.slow
@pytest.mark.skipif(
    not published(), reason="needs published tokenizer.json files of the data folder"
)
@pytest.mark.parametrize("path", published(), ids=lambda path: path.parent.name)
def test_retraining_keeps_published_pipelines(path: Path) -> None:
    old = pw.Tokenizer.load(path)
    model = old.spec.model
    if (
        isinstance(model, BPE)
        and model.byte_fallback
        and not isinstance(old.spec.pre_tokenizer, ByteLevel)
    ):
        with pytest.raises(pw.errors.ArgumentError, match="byte_fallback"):
            old.train_new_from_iterator(TEXTS, 600)
        return
    size = len(old.added_tokens) + (25 if isinstance(model, pw.spec.Unigram) else 300)
    new = old.train_new_from_iterator(TEXTS, size)
    before, after = by_name(old), by_name(new)
    added_before, added_after = before.pop("added_tokens"), after.pop("added_tokens")
    assert after == before
    assert isinstance(added_before, list)
    assert isinstance(added_after, list)
    unknown = getattr(model, "unk_token", None)
    kept = [token for token in added_after if token in added_before or token.content != unknown]
    assert kept == added_before
    bare_old, bare_new = (tok.without_truncation().without_padding() for tok in (old, new))
    assert bare_new.encode("", "").tokens == bare_old.encode("", "").tokens


def test_retraining_roberta_keeps_its_frame() -> None:
    old = made(POST_PROCESSORS["roberta"]).without_truncation().without_padding()
    assert old.train_new_from_iterator(TEXTS, 280).encode("hug").tokens == ["<s>", "hug", "</s>"]
