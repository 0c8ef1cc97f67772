"""Folders against transformers: what `save` writes and what `save_pretrained` writes, opened by the other."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests import data
from tests.short_vocabularies import read_short

os.environ.setdefault("HF_HUB_OFFLINE", "1")
transformers = pytest.importorskip("transformers")

TEXTS = [
    "Hello, y'all! How are you doing today? 😁",
    "  two  spaces,\ttabs\nand lines \r\n at the ends  ",
    "I can't believe it's 2024-01-31; naïve café, ÉCOLE, Straße, ﬁne ½ ①",
    "日本語のテキストと한국어 и русский العربية हिन्दी",
    "def f(x):\n    return x ** 2  # comment\n",
    "a [MASK] b <mask> c <s> d </s> e [SEP] f <|endoftext|> g <pad> h [UNK] <unk>",
    "x" * 120 + " supercalifragilisticexpialidocious " + "é" * 40,
    "",
    " ",
    "<|im_start|>user\nhi<|im_end|>",
]
PAIRS = [("first text", "and the second"), ("", "only one"), ("日本", "a [SEP] b")]

ROLES = ("unk", "bos", "eos", "sep", "pad", "cls", "mask")
CHAT = (
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
MESSAGES = [{"role": "user", "content": "Hi é 日"}, {"role": "assistant", "content": "Hello"}]

# Published tokenizer.json -> the roles that its model card names.
PUBLISHED = {
    "all-minilm-l6-v2": {},
    "bert-base-uncased": {},
    "albert-v2": {"bos_token": "[CLS]", "eos_token": "[SEP]"},
    "clip": {"bos_token": "<|startoftext|>", "pad_token": "<|endoftext|>"},
    "deepseek-v3": {"eos_token": "<｜end▁of▁sentence｜>", "bos_token": "<｜begin▁of▁sentence｜>"},
    "falcon": {"eos_token": "<|endoftext|>"},
    "gpt2": {
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
    },
    "mistral-7b-v0.1": {"pad_token": "</s>"},
    "qwen2.5": {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"},
    "roberta-base": {},
    "t5-small": {"eos_token": "</s>", "pad_token": "<pad>"},
    "whisper-tiny": {"eos_token": "<|endoftext|>"},
    "xlm-roberta-base": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "cls_token": "<s>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    },
}


def tokenizer_json(name: str) -> bytes:
    """Return a published tokenizer.json, with fewer entries."""
    folder = data.need(f"vocab/{name}")
    path = next(folder.glob("tokenizer.json*"), None)
    if path is None:  # the package has the vocabulary alone
        return pw.Tokenizer.load(folder / "vocab.txt").to_str().encode()
    return read_short(path).encode()


def roles_of(tok: pw.Tokenizer) -> dict[str, str]:
    return {role: token for role, token in tok.special_tokens_map.items() if isinstance(token, str)}


@cache
def published(name: str) -> pw.Tokenizer:
    tok = pw.Tokenizer.from_bytes(tokenizer_json(name)).with_roles(**PUBLISHED[name])
    added = {token.content for token in tok.added_tokens}
    # transformers matches the token of a role in text; the file of XLM-R has no added tokens.
    missing = [token for token in roles_of(tok).values() if token not in added]
    tok = tok.with_added_tokens(missing, special=True) if missing else tok
    return tok.without_truncation().without_padding()


def opened(folder: Path | str) -> Any:
    return transformers.AutoTokenizer.from_pretrained(str(folder))


def assert_same_ids(ours: pw.Tokenizer, theirs: Any, texts: list[str] = TEXTS) -> None:
    """Compare single texts, pairs and decoding, with and without special tokens."""
    for special in (True, False):
        ids = [ours.encode(text, add_special_tokens=special).ids for text in texts]
        expected = [theirs(text, add_special_tokens=special)["input_ids"] for text in texts]
        assert ids == expected
    for first, second in PAIRS:
        encoding = ours.encode(first, second)
        expected = theirs(first, second)
        assert encoding.ids == expected["input_ids"]
        if "token_type_ids" in expected:
            assert encoding.type_ids == expected["token_type_ids"]
    for row in ids:
        assert ours.decode(row) == theirs.decode(row, skip_special_tokens=True)


def assert_same_settings(ours: pw.Tokenizer, theirs: Any) -> None:
    """Compare sizes, roles, lengths, sides, templates."""
    assert ours.get_vocab() == theirs.get_vocab()
    for role in ROLES:
        assert getattr(ours, f"{role}_token") == getattr(theirs, f"{role}_token"), role
        assert getattr(ours, f"{role}_token_id") == getattr(theirs, f"{role}_token_id"), role
    limit = theirs.model_max_length
    assert ours.model_max_length == (limit if limit < 10**20 else None)
    assert (ours.padding_side, ours.truncation_side) == (
        theirs.padding_side,
        theirs.truncation_side,
    )
    templates = theirs.chat_template
    if isinstance(templates, str):
        templates = {"default": templates}
    assert ours.chat_templates == (templates or {})


# ---- ours, opened by transformers


@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
def test_the_roles_of_a_preset_equal_those_of_the_folder_in_transformers(tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, model="byte-bpe", vocab_size=300)
    tok.save(f"{tmp_path}/folder/")
    theirs = opened(tmp_path / "folder")
    assert (theirs.bos_token, theirs.eos_token, theirs.unk_token) == ("<|endoftext|>",) * 3
    assert theirs.eos_token_id == tok.eos_token_id == tok.token_to_id("<|endoftext|>")
    config = json.loads((tmp_path / "folder" / "tokenizer_config.json").read_text())
    assert "additional_special_tokens" not in config
    assert pw.Tokenizer.load(tmp_path / "folder").special_tokens_map == tok.special_tokens_map
    assert_same_settings(tok, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_transformers_opens_our_folder_with_the_same_ids_and_settings(
    name: str, tmp_path: Path
) -> None:
    tok = (
        published(name)
        .with_model_max_length(77)
        .with_chat_template(CHAT)
        .with_chat_template("{{ tools }}", name="tool_use")
    )
    tok.save(f"{tmp_path}/{name}/")
    theirs = opened(tmp_path / name)
    assert type(theirs).__name__ == "TokenizersBackend"
    assert_same_settings(tok, theirs)
    assert_same_ids(tok, theirs)
    again = pw.Tokenizer.load(tmp_path / name)
    assert again == tok
    assert_same_settings(again, theirs)


STORED = {
    "truncation": {
        "max_length": 128,
        "strategy": "LongestFirst",
        "stride": 0,
        "direction": "Right",
    },
    "padding": {
        "strategy": {"Fixed": 128},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    },
}


@pytest.mark.parametrize("config", [{}, {"model_max_length": 512, "padding_side": "left"}])
def test_stored_lengths_are_applied_when_transformers_applies_them(
    config: dict[str, Any], tmp_path: Path
) -> None:
    content = {**json.loads(tokenizer_json("bert-base-uncased")), **STORED}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", **config})
    )
    ours, theirs = pw.Tokenizer.load(tmp_path), opened(tmp_path)
    long = "hello world " * 350
    assert_same_settings(ours, theirs)
    assert_same_ids(ours, theirs, [*TEXTS, long])
    assert ours.count(long) == len(theirs(long)["input_ids"]) == 702
    texts = ["a", "hello world"]
    padded = ours.with_padding(None).encode_batch(texts)
    assert padded.to_lists() == theirs(texts, padding=True)["input_ids"]
    short = ours.with_truncation(64).encode(long).ids
    assert short == theirs(long, truncation=True, max_length=64)["input_ids"]
    if config:
        assert ours.with_truncation().encode(long).ids == theirs(long, truncation=True)["input_ids"]
    ours.save(f"{tmp_path}/again/")
    opened(tmp_path).save_pretrained(tmp_path / "theirs")
    saved, expected = (
        json.loads((tmp_path / name / "tokenizer.json").read_text()) for name in ("again", "theirs")
    )
    for name in STORED:
        assert saved[name] == expected[name] == STORED[name]


@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "mistral-7b-v0.1", "t5-small"])
@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_and_truncation_equal_those_of_the_folder(
    name: str, side: Any, tmp_path: Path
) -> None:
    pad = published(name).pad_token or "[PAD]"
    tok = published(name).with_padding(side=side, pad_token=pad)
    tok = tok.with_truncation(9, side=side)
    tok.save(f"{tmp_path}/f/")
    theirs = opened(tmp_path / "f")
    assert_same_settings(tok, theirs)
    rows = theirs(TEXTS, padding=True, truncation=True, max_length=9)
    batch = tok.encode_batch(TEXTS)
    assert batch.to_lists() == rows["input_ids"]
    # A tokenizer.json without padding has its side in the configuration.
    tok.without_padding().without_truncation().save(f"{tmp_path}/g/")
    assert opened(tmp_path / "g").padding_side == side
    assert pw.Tokenizer.load(tmp_path / "g").truncation_side == side


@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "mistral-7b-v0.1"])
def test_chat_templates_are_rendered_alike(name: str, tmp_path: Path) -> None:
    tok = published(name).with_chat_template(CHAT).with_chat_template("named", name="rag")
    tok = tok.with_added_tokens(["<user>", "<assistant>"], special=True)
    tok.save(f"{tmp_path}/f/")
    theirs = opened(tmp_path / "f")
    text = theirs.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True)
    assert text.endswith("<assistant>")
    assert "Hi é 日" in text
    ids = theirs.apply_chat_template(MESSAGES, add_generation_prompt=True, return_dict=False)
    assert ids == tok.encode(text, add_special_tokens=False).ids
    assert theirs.apply_chat_template(MESSAGES, chat_template="rag", tokenize=False) == "named"


def test_special_tokens_as_text_stay_text(tmp_path: Path) -> None:
    tok = published("bert-base-uncased").with_parse_special(False)
    tok.save(f"{tmp_path}/f/")
    theirs = opened(tmp_path / "f")
    assert theirs("a [MASK]")["input_ids"] == tok.encode("a [MASK]").ids
    assert pw.Tokenizer.load(tmp_path / "f") == tok


def test_trained_tokenizers_are_opened(tmp_path: Path) -> None:
    texts = ["the quick brown fox jumps over the lazy dog", "hug pug pun bun hugs"] * 20
    for model in ("wordpiece", "bpe", "byte-bpe", "unigram", "word"):
        size = 60 if model == "unigram" else 300
        tok = pw.Tokenizer.train_from_iterator(texts, model=model, vocab_size=size)
        tok = tok.with_added_tokens(["[UNK]"], special=True)
        tok.save(f"{tmp_path}/{model}/")
        theirs = opened(tmp_path / model)
        assert_same_ids(tok, theirs, ["the quick hugs", "zebra é", ""])
        assert_same_settings(tok, theirs)


# ---- theirs, opened here


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_folders_of_save_pretrained_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(tokenizer_json(name))
    tok = published(name)
    theirs = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "tokenizer.json"),
        **roles_of(tok),
        model_max_length=99,
        padding_side="left",
        truncation_side="left",
        extra_special_tokens=["<new_1>", "<new_2>"],
        chat_template={"default": CHAT, "rag": "x"},
    )
    theirs.add_tokens(["ordinaryword"])
    theirs.add_special_tokens({"pad_token": "<|new pad|>"})
    theirs.save_pretrained(tmp_path / "f")
    ours = pw.Tokenizer.load(tmp_path / "f").without_truncation().without_padding()
    again = opened(tmp_path / "f")
    extra = ["a <new_1> ordinaryword<new_2> b", "<|new pad|>x"]
    # Declared roles are added to those of the configuration, where this one has none.
    assert ours.pad_token == "<|new pad|>"
    assert (ours.model_max_length, ours.padding_side, ours.truncation_side) == (99, "left", "left")
    assert ours.chat_templates == again.chat_template
    assert ours.get_vocab() == again.get_vocab()
    for role in ROLES:
        assert getattr(again, f"{role}_token") in (None, getattr(ours, f"{role}_token"))
    assert_same_ids(ours, again, TEXTS + extra)
    # And back again.
    ours.save(f"{tmp_path}/g/")
    back = opened(tmp_path / "g")
    assert_same_ids(ours, back, TEXTS + extra)
    assert set(again.all_special_tokens) <= set(back.all_special_tokens)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"do_lower_case": False},
        {"do_lower_case": True},
        {"do_lower_case": False, "strip_accents": True},
        {"strip_accents": False, "tokenize_chinese_chars": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize(
    "name", ["BertTokenizer", "BertTokenizerFast", "ElectraTokenizer", "ConvBertTokenizer", None]
)
def test_settings_of_the_class_win_over_the_normalizer_of_the_file(
    name: str | None, lowercase: bool, settings: dict[str, bool], tmp_path: Path
) -> None:
    entries = "[PAD] [UNK] [CLS] [SEP] [MASK] hug Hug élan elan Élan Elan 漢 字 漢字".split()
    tok = pw.Tokenizer(
        pw.spec.WordPiece({entry: id for id, entry in enumerate(entries)}),
        normalizer=pw.spec.BertNormalizer(lowercase=lowercase),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(cls_id=2, sep_id=3),
        decoder=pw.spec.WordPieceDecoder(),
    ).with_added_tokens(entries[:5], special=True)
    tok.save(tmp_path / "tokenizer.json")
    named = {} if name is None else {"tokenizer_class": name}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(named | settings))
    if name is None:  # which transformers reads by the type of the model, and needs one
        assert pw.Tokenizer.load(tmp_path).spec.normalizer == tok.spec.normalizer
        return
    text = "Hug hug Élan élan 漢字"
    theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    assert pw.Tokenizer.load(tmp_path).encode(text).ids == theirs(text)["input_ids"]


def test_our_folders_survive_a_round_trip_through_transformers(tmp_path: Path) -> None:
    tok = published("bert-base-uncased").with_model_max_length(512).with_chat_template(CHAT)
    tok.save(f"{tmp_path}/f/")
    opened(tmp_path / "f").save_pretrained(tmp_path / "g")
    again = pw.Tokenizer.load(tmp_path / "g")
    assert again == tok
    assert again.special_tokens_map == tok.special_tokens_map
    assert (again.model_max_length, again.chat_template) == (512, CHAT)


def test_additional_special_tokens_are_the_extra_ones_of_transformers(tmp_path: Path) -> None:
    tok = published("bert-base-uncased").with_added_tokens(["\n", "<a>"], special=True)
    tok.save(f"{tmp_path}/f/")
    theirs = opened(tmp_path / "f")
    assert tok.special_tokens_map["additional_special_tokens"] == ["\n", "<a>"]
    assert theirs.extra_special_tokens == ["\n", "<a>"]
    assert_same_ids(tok, theirs, ["a\nb <a>c", "\n"])
    theirs.add_special_tokens(
        {"additional_special_tokens": ["<b>"]}, replace_extra_special_tokens=False
    )
    theirs.save_pretrained(tmp_path / "g")
    again = pw.Tokenizer.load(tmp_path / "g")
    assert again.special_tokens_map["additional_special_tokens"] == theirs.extra_special_tokens
    fewer = again.with_roles(additional_special_tokens=["<b>"])
    fewer.save(f"{tmp_path}/h/")
    assert opened(tmp_path / "h").extra_special_tokens == ["<b>"]


# ---- folders without a tokenizer.json


def copied(folder: Path, files: dict[str, str], config: dict[str, Any]) -> Path:
    """Copy vocabulary files into a folder with a configuration."""
    folder.mkdir()
    for name, source in files.items():
        shutil.copyfile(data.need(source), folder / name)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


SPECIAL = {"special": True, "lstrip": False, "rstrip": False, "normalized": False}


def sentencepiece_tokens(*pieces: str) -> dict[str, dict[str, Any]]:
    return {str(id): {"content": piece, **SPECIAL} for id, piece in enumerate(pieces)}


FOLDERS: dict[str, tuple[dict[str, str], dict[str, Any], Callable[[str], bool]]] = {
    "bert uncased": (
        {"vocab.txt": "vocab/bert-base-uncased/vocab.txt"},
        {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512},
        lambda text: True,
    ),
    "bert cased": (
        {"vocab.txt": "vocab/bert-base-cased/vocab.txt"},
        {"tokenizer_class": "BertTokenizer", "do_lower_case": False},
        lambda text: True,
    ),
    "bert accents": (
        {"vocab.txt": "vocab/bert-base-chinese/vocab.txt"},
        {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": True,
            "strip_accents": False,
            "tokenize_chinese_chars": False,
        },
        lambda text: True,
    ),
    "gpt2": (
        {"vocab.json": "vocab/gpt2/encoder.json", "merges.txt": "vocab/gpt2/vocab.bpe"},
        {"tokenizer_class": "GPT2Tokenizer"},
        lambda text: True,
    ),
    "roberta": (
        {
            "vocab.json": "vocab/roberta-base/vocab.json",
            "merges.txt": "vocab/roberta-base/merges.txt",
        },
        {"tokenizer_class": "RobertaTokenizer", "mask_token": "<mask>"},
        lambda text: True,
    ),
    "t5": (
        {"spiece.model": "vocab/t5/spiece.model"},
        {"tokenizer_class": "T5Tokenizer"},
        lambda text: True,
    ),
    "mistral": (
        {"tokenizer.model": "vocab/mistral/tokenizer.model.v1"},
        {
            "tokenizer_class": "LlamaTokenizer",
            "add_bos_token": True,
            "add_eos_token": False,
            "added_tokens_decoder": sentencepiece_tokens("<unk>", "<s>", "</s>"),
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "legacy": False,
        },
        lambda text: True,
    ),
}


def test_a_sentencepiece_model_by_its_own_name_is_read_as_its_library_reads_it(
    tmp_path: Path,
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    files, config, _ = FOLDERS["mistral"]
    model = copied(tmp_path / "f", files, config) / "tokenizer.model"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    ours = pw.Tokenizer.load(model)
    for text in TEXTS:
        assert ours.encode(text).ids == processor.encode(text)


# ---- classes that make a tokenizer of a SentencePiece model

MISTRAL = "vocab/mistral/tokenizer.model.v1"
MISTRAL_V3 = "vocab/mistral/mistral_instruct_tokenizer_240323.model.v3"
BYTES = "vocab/transformers-fixtures/test_sentencepiece_with_bytefallback.model"
UNIGRAM = "vocab/transformers-fixtures/test_sentencepiece.model"


def marked(content: str, **flags: bool) -> dict[str, Any]:
    """Return a token as transformers 4 wrote it into a tokenizer_config.json."""
    plain = {"lstrip": False, "normalized": True, "rstrip": False, "single_word": False}
    return {"__type": "AddedToken", "content": content, **plain, **flags}


def llama(**values: Any) -> dict[str, Any]:
    return {"tokenizer_class": "LlamaTokenizer", **values}


# Model, and the configuration of its folder.
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": (MISTRAL, llama()),
    "llama, legacy": (MISTRAL, llama(legacy=True, add_bos_token=True)),
    "llama, not legacy": (MISTRAL, llama(legacy=False, add_bos_token=True, add_eos_token=True)),
    "v3, legacy": (MISTRAL_V3, llama(legacy=True, add_bos_token=True)),
    "v3, not legacy": (MISTRAL_V3, llama(legacy=False, add_bos_token=True, pad_token="[PAD]")),
    "v3, empty list": (MISTRAL_V3, llama(additional_special_tokens=[])),
    "v3, extra tokens": (MISTRAL_V3, llama(additional_special_tokens=["<a>", "<img>"])),
    "v3, no prefix": (MISTRAL_V3, llama(legacy=None, add_prefix_space=False)),
    "unigram, legacy": (BYTES, llama(legacy=True)),
    "unigram, not legacy": (BYTES, llama(legacy=False)),
    "named tokens": (
        MISTRAL,
        llama(extra_special_tokens={"image_token": "<img>"}, audio_token="<a>", unk_token=None),
    ),
    "declared tokens": (
        MISTRAL,
        llama(
            legacy=True,
            pad_token="[PAD]",
            bos_token=marked("<s>"),
            added_tokens_decoder={
                **sentencepiece_tokens("<unk>", "<s>", "</s>"),
                "32000": {"content": "<a>", "special": False, "lstrip": True},
            },
        ),
    ),
    "roles with flags": (MISTRAL, llama(eos_token=marked("</s>", rstrip=True))),
    "code llama": (MISTRAL_V3, {"tokenizer_class": "CodeLlamaTokenizer"}),
    "gemma": (MISTRAL, {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True}),
    "t5": ("vocab/t5/spiece.model", {"tokenizer_class": "T5Tokenizer", "legacy": False}),
    "t5, few extra ids": (
        "vocab/t5/spiece.model",
        {"tokenizer_class": "T5Tokenizer", "extra_ids": 3},
    ),
    "t5, listed extra ids": (
        "vocab/t5/spiece.model",
        {
            "tokenizer_class": "T5Tokenizer",
            "extra_ids": 100,
            "additional_special_tokens": [f"<extra_id_{index}>" for index in range(100)],
        },
    ),
    "albert": ("vocab/albert-v2/spiece.model", {"tokenizer_class": "AlbertTokenizer"}),
    "albert, cased": (
        "vocab/albert-v2/spiece.model",
        {
            "tokenizer_class": "AlbertTokenizer",
            "do_lower_case": False,
            "keep_accents": True,
            "mask_token": marked("[MASK]", lstrip=True, normalized=False),
        },
    ),
    "xlnet": ("vocab/xlnet/spiece.model", {"tokenizer_class": "XLNetTokenizer"}),
    "xlm-roberta": (UNIGRAM, {"tokenizer_class": "XLMRobertaTokenizer"}),
    "xlm-roberta, mask": (
        UNIGRAM,
        {
            "tokenizer_class": "XLMRobertaTokenizer",
            "add_prefix_space": False,
            "mask_token": marked("<mask>", lstrip=True, normalized=False),
        },
    ),
}
SHORT = [
    *(
        "",
        " ",
        "  ",
        "Hi",
        " Hi",
        "  Hi",
        "Hi ",
        "Hi there",
        "Hi  there",
        "\n",
        "\nHi",
        "Hi\tthere",
    ),
    *("<s>", "<s>Hi", "<s> Hi", "<s>  Hi", " <s>Hi", "Hi<s>", "Hi</s>there", "Hi </s> there"),
    *(
        "<s><s>",
        "<s>Hi</s>",
        "</s>\nHi",
        "<unk>Hi",
        "a<unk>b",
        "<pad>Hi",
        "[INST] Hi [/INST] there",
    ),
    *(
        "[INST]Hi[/INST]",
        "<s>[INST]",
        "▁Hi",
        "<s>▁Hi",
        "日本",
        "<s>日本",
        "é<s>é",
        "😁</s>",
        "[PAD]<mask>",
    ),
]
SPECIAL_PIECES = [
    *("<s>", "</s>", "<unk>", "<pad>", "[CLS]", "[SEP]", "[MASK]", "<mask>", "[INST]", "[/INST]"),
    *("<extra_id_0>", "<extra_id_99>", "<sep>", "<cls>", "<a>", "<img>", "▁<PRE>", "[PAD]"),
]
TEXT_PIECES = [
    *(
        "Hi",
        "there",
        " ",
        "  ",
        "\n",
        "\t",
        "é",
        "日本",
        "▁",
        "ABC",
        "``x''",
        "1,234.5",
        "😁",
        "\u00a0",
    ),
    *("don't", "(a)", "€", "xxxxx", "\u0301", "ﬁ", "."),
]


def drawn_texts(count: int) -> list[str]:
    """Draw texts beside and between special tokens."""
    draw = random.Random(39)

    def piece() -> str:
        return draw.choice(SPECIAL_PIECES if draw.random() < 0.35 else TEXT_PIECES)

    return ["".join(piece() for _ in range(draw.randint(1, 9))) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_makes_the_same_tokenizer_of_a_sentencepiece_model(
    name: str, tmp_path: Path
) -> None:
    model, config = CLASSES[name]
    file = "spiece.model" if "spiece" in model else "tokenizer.model"
    if config["tokenizer_class"].startswith("XLMRoberta"):
        file = "sentencepiece.bpe.model"
    folder = copied(tmp_path / "f", {file: model}, config)
    ours, theirs = pw.Tokenizer.load(folder), opened(folder)
    assert len(SHORT) == 36
    texts = [
        *SHORT,
        *drawn_texts(2000 if name in ("llama, legacy", "v3, not legacy", "t5") else 200),
    ]
    expected = [theirs(text)["input_ids"] for text in texts]
    for text, row, ids in zip(texts, ours.encode_batch(texts), expected, strict=True):
        assert ours.encode(text).ids == ids, text
        assert row.ids == ids, text
    for text, ids in zip(SHORT, expected[: len(SHORT)], strict=True):
        assert ours.encode(text).tokens == theirs.convert_ids_to_tokens(ids), text
    assert_same_ids(ours, theirs)
    assert added_tokens_of(ours) == json.loads(theirs.backend_tokenizer.to_str())["added_tokens"]
    assert {
        role: token for role, token in ours.special_tokens_map.items() if role in ROLE_NAMES
    } == {
        role: str(token) for role, token in theirs.special_tokens_map.items() if role in ROLE_NAMES
    }
    assert ours.padding_side == theirs.padding_side
    if "," in name:
        return
    # What was read is a whole tokenizer, which is saved and opened without the model.
    ours.save(f"{tmp_path}/g/")
    again, ours_again = opened(tmp_path / "g"), pw.Tokenizer.load(tmp_path / "g")
    for text, ids in zip(SHORT, expected[: len(SHORT)], strict=True):
        assert again(text)["input_ids"] == ids == ours_again.encode(text).ids


ROLE_NAMES = {f"{role}_token" for role in ROLES}


def added_tokens_of(tok: pw.Tokenizer) -> list[dict[str, Any]]:
    return json.loads(tok.to_str())["added_tokens"]


def test_a_model_of_llama_without_bytes_is_warned_of(tmp_path: Path) -> None:
    model = "vocab/transformers-fixtures/test_sentencepiece_bpe.model"
    folder = copied(tmp_path / "f", {"tokenizer.model": model}, llama(legacy=True))
    with pytest.warns(
        pw.errors.FormatWarning, match="LlamaTokenizer drops characters that have no piece"
    ):
        ours = pw.Tokenizer.load(folder)
    theirs = opened(folder)
    for text in ("Hi there", "<s>Hi", "  the</s> end ", "a  b", "<s> the <s>"):
        assert ours.encode(text).ids == theirs(text)["input_ids"]


@pytest.mark.parametrize("name", FOLDERS)
def test_vocabularies_with_a_configuration_give_the_same_ids(name: str, tmp_path: Path) -> None:
    files, config, comparable = FOLDERS[name]
    folder = copied(tmp_path / "f", files, config)
    ours, theirs = pw.Tokenizer.load(folder), opened(folder)
    for text in filter(comparable, TEXTS):
        assert ours.encode(text).ids == theirs(text)["input_ids"], text
    for first, second in PAIRS[:2]:
        assert ours.encode(first, second).ids == theirs(first, second)["input_ids"]
    # Its class writes a tokenizer.json, which is read here.
    theirs.save_pretrained(tmp_path / "h")
    assert_same_ids(pw.Tokenizer.load(tmp_path / "h"), opened(tmp_path / "h"))
    # What was read is a whole tokenizer, which transformers opens without the class.
    ours.save(f"{tmp_path}/g/")
    again = opened(tmp_path / "g")
    for text in filter(comparable, TEXTS):
        assert again(text)["input_ids"] == ours.encode(text).ids, text
