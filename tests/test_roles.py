"""Roles of special tokens: declared by the tokenizer, its configuration or the caller, never guessed."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import ArgumentError, FormatError, FormatWarning

VOCAB = {"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "<|endoftext|>": 5, "a": 6}


def bert() -> pw.Tokenizer:
    special = [token for token in VOCAB if token != "a"]
    tok = pw.Tokenizer(pw.spec.WordPiece(VOCAB)).with_added_tokens(special, special=True)
    frame = pw.spec.BertProcessing(sep=("[SEP]", 3), cls=("[CLS]", 2))
    return tok.with_post_processor(frame)


def test_roles_come_from_the_tokenizer() -> None:
    tok = bert()
    assert tok.special_tokens_map == {
        "unk_token": "[UNK]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    }
    assert (tok.pad_token, tok.pad_token_id) == ("[PAD]", 1)
    assert (tok.unk_token_id, tok.cls_token_id, tok.sep_token_id, tok.mask_token_id) == (0, 2, 3, 4)


def test_a_name_that_states_no_role_is_not_guessed() -> None:
    tok = bert()
    assert tok.eos_token is None
    assert tok.eos_token_id is None
    assert tok.bos_token_id is None


def test_an_ordinary_token_has_no_role() -> None:
    assert pw.Tokenizer(pw.spec.WordPiece(VOCAB)).pad_token is None


def test_padding_settings_state_the_padding_token() -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece(VOCAB)).with_padding(4, pad_token="<|endoftext|>")
    assert tok.pad_token_id == 5


def test_callers_can_set_and_remove_roles() -> None:
    tok = bert().with_roles(eos_token="<|endoftext|>", mask_token=None)
    assert tok.eos_token_id == 5
    assert tok.mask_token is None
    for derived in (
        pickle.loads(pickle.dumps(tok)),
        copy.deepcopy(tok),
        tok.with_truncation(8),
        tok.with_special_in_text("text"),
        tok.with_word_cache_budget(1 << 20),
        tok.shrink(7)[0],
    ):
        assert derived.eos_token == "<|endoftext|>"
        assert derived.mask_token is None


@pytest.mark.parametrize(
    ("roles", "message"),
    [({"eos": "a"}, "role: found 'eos'"), ({"eos_token": "zebra"}, "eos_token: found 'zebra'")],
)
def test_wrong_roles_are_named(roles: dict[str, str], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        bert().with_roles(**roles)


def test_roles_are_read_from_the_configuration(tmp_path: Path) -> None:
    bert().save(tmp_path / "tokenizer.json")
    config = {
        "eos_token": {"content": "<|endoftext|>", "lstrip": False},
        "bos_token": "zebra",
        "pad_token": None,
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.warns(FormatWarning, match="bos_token 'zebra': not in the vocabulary"):
        tok = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    assert tok.eos_token_id == 5
    assert tok.bos_token is None
    assert tok.pad_token is None  # taken away, although the name [PAD] states the role


def test_a_damaged_configuration_is_named(tmp_path: Path) -> None:
    bert().save(tmp_path / "tokenizer.json")
    for damaged in ("[1]", "{", "\udcff"):
        path = tmp_path / "tokenizer_config.json"
        path.write_bytes(damaged.encode("utf-8", "surrogateescape"))
        with pytest.raises(FormatError, match=r"tokenizer_config\.json"):
            pw.Tokenizer.load(tmp_path / "tokenizer.json")


def test_sizes_follow_transformers() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_added_tokens(["<x>", "<y>"])
    assert (tok.vocab_size, len(tok), tok.get_vocab_size()) == (2, 4, 4)
