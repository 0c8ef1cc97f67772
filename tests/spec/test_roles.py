"""Roles of special tokens: declared by the tokenizer, its configuration or the caller, never guessed."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework._internal.role_attributes import ROLES
from piecework.errors import ArgumentError, FormatError, FormatWarning
from piecework.train.plan import Plan

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
        "additional_special_tokens": ["<|endoftext|>"],
    }
    assert (tok.pad_token, tok.pad_token_id) == ("[PAD]", 1)
    assert (tok.unk_token_id, tok.cls_token_id, tok.sep_token_id, tok.mask_token_id) == (0, 2, 3, 4)


def test_a_new_special_token_is_listed_and_stays_listed(tmp_path: Path) -> None:
    plain = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=30)
    roles = plain.special_tokens_map
    assert "additional_special_tokens" not in roles
    tok = plain.with_added_tokens(["\n"], special=True)
    assert tok.special_tokens_map == {**roles, "additional_special_tokens": ["\n"]}
    assert plain.with_added_tokens(["\n"]).special_tokens_map == roles
    assert pickle.loads(pickle.dumps(tok)).special_tokens_map == tok.special_tokens_map
    more = tok.with_added_tokens(["<a>", "\n"], special=True)
    assert more.special_tokens_map["additional_special_tokens"] == ["\n", "<a>"]
    assert more.without_added_tokens(["\n"]).special_tokens_map["additional_special_tokens"] == [
        "<a>"
    ]
    tok.save(f"{tmp_path}/f/")
    assert pw.Tokenizer.load(tmp_path / "f").special_tokens_map == tok.special_tokens_map
    listed = json.loads((tmp_path / "f/special_tokens_map.json").read_text())
    assert listed["additional_special_tokens"] == ["\n"]


def test_additional_special_tokens_are_set_as_roles_are() -> None:
    tok = bert().with_added_tokens(["<a>", "<b>"], special=True)
    changed = tok.with_roles(additional_special_tokens=["<b>"], eos_token="<|endoftext|>")
    assert changed.special_tokens_map["additional_special_tokens"] == ["<b>"]
    assert changed.eos_token == "<|endoftext|>"
    assert changed.encode("<a><b>").ids == tok.encode("<a><b>").ids
    none = changed.with_roles(additional_special_tokens=[])
    assert "additional_special_tokens" not in none.special_tokens_map
    with pytest.raises(
        ArgumentError,
        match="additional_special_tokens: 'a' is not one of the special tokens, which",
    ):
        tok.with_roles(additional_special_tokens=["a"])
    with pytest.raises(pw.errors.InputTypeError, match="additional_special_tokens"):
        tok.with_roles(additional_special_tokens="<a>")


def test_a_name_that_states_no_role_is_not_guessed() -> None:
    tok = bert()
    assert tok.eos_token is None
    assert tok.eos_token_id is None
    assert tok.bos_token_id is None


PUBLISHED_ROLES = {
    "gpt2": dict.fromkeys(("unk_token", "bos_token", "eos_token"), "<|endoftext|>"),
    "cl100k": {"eos_token": "<|endoftext|>"},
    "o200k": {"eos_token": "<|endoftext|>"},
    "cl100k-r2l": {"eos_token": "<|endoftext|>"},
    "o200k-r2l": {"eos_token": "<|endoftext|>"},
    "cl100k-nl": {"eos_token": "<|endoftext|>"},
    "o200k-nl": {"eos_token": "<|endoftext|>"},
    "o200k-superwords": {"eos_token": "<|endoftext|>"},
    "qwen2": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
    "llama3": {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"},
    "bert-uncased": {
        "unk_token": "[UNK]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    },
    "t5": {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"},
    "llama": {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
    "albert": {
        "unk_token": "<unk>",
        "bos_token": "[CLS]",
        "eos_token": "[SEP]",
        "sep_token": "[SEP]",
        "pad_token": "<pad>",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    },
    "xlnet": {
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "<sep>",
        "pad_token": "<pad>",
        "cls_token": "<cls>",
        "mask_token": "<mask>",
    },
}
"""What the published tokenizer_config.json of each model says."""


TEXTS = ["whether tis nobler in the mind to suffer the slings and arrows of outrageous fortune"] * 9


@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
@pytest.mark.parametrize("preset", PUBLISHED_ROLES)
def test_a_trained_tokenizer_has_the_roles_of_its_preset(preset: str) -> None:
    expected = PUBLISHED_ROLES[preset]
    model, settings = None, {"vocab_size": 60}
    if preset == "llama":
        settings = {"vocab_size": 300}
    elif preset in pw.train.PRESETS and preset != "bert-uncased":
        tokens = tuple(dict.fromkeys(expected.values()))
        model, settings = "byte-bpe", {"vocab_size": 300, "special_tokens": tokens}
    options: dict[str, Any] = {"model": model, "preset": preset, **settings}
    assert pw.Tokenizer.train_from_iterator(TEXTS, **options).special_tokens_map == expected
    plan = Plan.of(model=model, preset=preset, **settings)
    counts = pw.count_texts(TEXTS, preset=plan.pipeline, sentences=plan.sentences)
    assert pw.Tokenizer.train_from_counts(counts, **options).special_tokens_map == expected


def test_a_preset_gives_no_role_to_a_token_that_the_vocabulary_lacks() -> None:
    tok = pw.Tokenizer.train_from_iterator(
        ["to be"] * 9, model="byte-bpe", vocab_size=260, special_tokens=("<end>",), min_frequency=1
    )
    assert tok.special_tokens_map == {"additional_special_tokens": ["<end>"]}


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
        tok.with_parse_special(False),
        tok.with_word_cache_budget(1 << 20),
        pw.vocabulary.shrink(tok, 7)[0],
    ):
        assert derived.eos_token == "<|endoftext|>"
        assert derived.mask_token is None


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"eos": "a"}, "role: must be .*, not 'eos'"),
        ({"eos_token": "zebra"}, "eos_token: must be .*, not 'zebra'"),
    ],
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
    assert len(tok) == tok.get_vocab_size() == 4
    assert tok.get_vocab_size(with_added_tokens=False) == 2
    with pytest.raises(AttributeError, match=r"len\(tokenizer\), or get_vocab_size\(with_added"):
        _ = tok.vocab_size


@pytest.mark.parametrize("role", ROLES)
def test_roles_are_documented_on_the_class(role: str) -> None:
    assert f"`{role}`" in (inspect.getdoc(getattr(pw.Tokenizer, role)) or "")
    assert f"`{role}`" in (inspect.getdoc(getattr(pw.Tokenizer, f"{role}_id")) or "")
