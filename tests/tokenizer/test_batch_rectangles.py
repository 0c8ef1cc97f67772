"""`Batch.to_numpy` fills short rows with the tokenizer's padding id, with the given one, or raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError

VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "[PAD]": 3, "<pad>": 4, "[CLS]": 5}
BARE = pw.Tokenizer(pw.spec.Char(VOCAB))
TEXTS = ["abab", "a", "ab"]


def with_special(*tokens: str) -> pw.Tokenizer:
    return BARE.with_added_tokens(tokens, special=True)


def test_no_id_is_guessed() -> None:
    batch = BARE.encode_batch(TEXTS)
    with pytest.raises(ArgumentError, match="pad_id: .*pass the id that pads$") as raised:
        batch.to_numpy()
    assert raised.value.place == "pad_id"
    # Two names of the role leave it open which one is meant.
    with pytest.raises(ArgumentError):
        with_special("[PAD]", "<pad>").encode_batch(TEXTS).to_numpy()
    # An ordinary entry of that name is text.
    with pytest.raises(ArgumentError):
        BARE.with_added_tokens(["[PAD]"]).encode_batch(TEXTS).to_numpy()


def test_rows_of_one_length_need_no_padding_id() -> None:
    assert BARE.encode_batch(["ab", "ba"]).to_numpy().tolist() == [[1, 2], [2, 1]]
    assert BARE.encode_batch([]).to_numpy().shape == (0, 0)
    assert BARE.encode_batch(["", ""]).to_numpy().shape == (2, 0)


@pytest.mark.parametrize(("token", "id"), [("[PAD]", 3), ("<pad>", 4)])
def test_the_special_padding_token_fills(token: str, id: int) -> None:
    filled = with_special(token).encode_batch(TEXTS).to_numpy()
    assert filled.tolist() == [[1, 2, 1, 2], [1, id, id, id], [1, 2, id, id]]
    assert filled.dtype == np.uint32


def test_a_given_pad_id_has_precedence() -> None:
    for tok in (BARE, with_special("[PAD]"), with_special("[PAD]").with_padding(3)):
        batch = tok.encode_batch(["ab", "bab", "b" * 4])
        assert batch.to_numpy(pad_id=5)[-1].tolist() == [2, 2, 2, 2]
        assert batch.to_numpy(np.uint32(5))[1].tolist() == [2, 1, 2, 5]


def test_the_padding_setting_decides_the_id_the_type_and_the_side() -> None:
    tok = with_special("[PAD]").with_padding(3, pad_token="[CLS]", side="left", pad_type_id=1)
    batch = tok.encode_batch(["a", "abab"], offsets=True)
    assert batch.to_numpy().tolist() == [[5, 5, 5, 1], [1, 2, 1, 2]]
    assert batch.to_numpy(column="type_ids").tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]
    assert batch.to_numpy(column="attention_mask").tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]
    assert batch.to_numpy(column="special_tokens_mask").tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]
    right = batch.to_numpy(side="right")
    assert right.tolist() == [[5, 5, 1, 5], [1, 2, 1, 2]]


def test_a_sentencepiece_model_declares_its_padding_piece() -> None:
    pieces = (
        *(("<unk>", 0.0, "unknown"), ("<s>", 0.0, "control"), ("</s>", 0.0, "control")),
        *(("<fill>", 0.0, "control"), ("▁", -1.0, "normal"), ("a", -2.0, "normal")),
    )
    scored = tuple(pw.spec.ScoredPiece(*piece) for piece in pieces)  # type: ignore[arg-type]
    normalizer = pw.spec.SentencePieceNormalizer()
    declared = pw.Tokenizer(
        pw.spec.SentencePiece(scored, pad_piece="<fill>"), normalizer=normalizer
    )
    assert declared.encode_batch(["a", ""]).to_numpy().tolist() == [[4, 5], [3, 3]]
    other = pw.Tokenizer(pw.spec.SentencePiece(scored, pad_piece="a"), normalizer=normalizer)
    with pytest.raises(ArgumentError, match="pad_id"):
        other.encode_batch(["a", ""]).to_numpy()


@pytest.mark.parametrize("side", ["right", "left"])
def test_every_column_has_the_shape_of_the_ids(side: Any) -> None:
    tok = with_special("[PAD]", "[CLS]")
    template = pw.spec.TemplateProcessing(("[CLS]:0", "$A:0"), ("$A:0", "$B:1"), {"[CLS]": (5,)})
    tok = tok._replaced(post_processor=template)
    batch = tok.encode_batch(TEXTS, TEXTS[::-1], offsets=True)
    ids = batch.to_numpy(side=side)
    filled = {
        column: batch.to_numpy(column=column, side=side)
        for column in (
            *("type_ids", "attention_mask", "special_tokens_mask"),
            *("word_ids", "sequence_ids", "offsets"),
        )
    }
    is_filling = filled["attention_mask"] == 0
    assert (ids[is_filling] == 3).all()
    fillings = {"special_tokens_mask": 1, "word_ids": -1, "sequence_ids": -1}
    for column, values in filled.items():
        assert values.shape[:2] == ids.shape
        flat = getattr(batch, column)
        assert values.dtype == flat.dtype
        assert (values[~is_filling] == flat).all()
        assert (values[is_filling] == fillings.get(column, 0)).all()
    assert filled["offsets"].shape == (*ids.shape, 2)
    ends = ids[:, -1] if side == "right" else ids[:, 0]
    assert (ends == 3).sum() == (batch.lengths < ids.shape[1]).sum()


def test_filling_equals_padding_to_the_longest() -> None:
    for side in ("right", "left"):
        padded = with_special("[PAD]").with_padding(side=side)  # type: ignore[arg-type]
        theirs = padded.encode_batch(TEXTS, offsets=True)
        ours = with_special("[PAD]").encode_batch(TEXTS, offsets=True)
        for column in ("ids", "attention_mask", "type_ids", "special_tokens_mask", "word_ids"):
            filled = ours.to_numpy(column=column, side=side)  # type: ignore[arg-type]
            assert filled.reshape(-1).tolist() == getattr(theirs, column).tolist(), column


@pytest.mark.parametrize(
    ("settings", "error", "place"),
    [
        ({"pad_id": -1}, ArgumentError, "pad_id"),
        ({"pad_id": 2**32}, ArgumentError, "pad_id"),
        ({"pad_id": True}, InputTypeError, "pad_id"),
        ({"pad_id": "[PAD]"}, InputTypeError, "pad_id"),
        ({"pad_id": 0, "column": "attention_mask"}, ArgumentError, "pad_id"),
        ({"column": "token"}, ArgumentError, "column"),
        ({"side": "both"}, ArgumentError, "side"),
        ({"column": "offsets"}, ArgumentError, "offsets"),
        ({"column": "special_tokens_mask"}, ArgumentError, "offsets"),
    ],
)
def test_unusable_arguments_are_named(settings: Any, error: type, place: str) -> None:
    with pytest.raises(error) as raised:
        with_special("[PAD]").encode_batch(TEXTS).to_numpy(**settings)
    assert raised.value.place == place  # type: ignore[attr-defined]
