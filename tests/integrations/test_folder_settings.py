"""Settings of folders that change ids or decoded text, against AutoTokenizer: a folder for each setting."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import FormatError
from tests import data
from tests.integrations.test_folders import SHORT, TEXTS, drawn_texts, marked

os.environ.setdefault("HF_HUB_OFFLINE", "1")
transformers = pytest.importorskip("transformers")

GPT2 = {"vocab.json": "gpt2/encoder.json", "merges.txt": "gpt2/vocab.bpe"}
ROBERTA = {"vocab.json": "roberta-base/vocab.json", "merges.txt": "roberta-base/merges.txt"}
CLIP = {"vocab.json": "clip/clip_encoder.json", "merges.txt": "clip/clip_vocab.bpe"}
GPT1 = {"vocab.json": "openai-gpt/vocab.json", "merges.txt": "openai-gpt/merges.txt"}
BERT = {"vocab.txt": "bert-base-uncased/vocab.txt"}
T5 = {"spiece.model": "t5/spiece.model"}
PLAIN = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
CLEANS = {"clean_up_tokenization_spaces": True}
CLEANS_BPE = {"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": True}
END = "<|endoftext|>"
MODEL = "config.json"
MAP = "special_tokens_map.json"


def of_json(name: str) -> dict[str, str]:
    return {"tokenizer.json": f"{name}/tokenizer.json"}


# Name -> files of the test data, tokenizer_config.json, and other JSON files.
FOLDERS: dict[str, tuple[dict[str, str], dict[str, Any], dict[str, Any]]] = {
    # add_prefix_space
    "gpt2 prefix": (GPT2, {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}, {}),
    "gpt2 json prefix": (
        of_json("gpt2"),
        {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True},
        {},
    ),
    "roberta prefix": (
        ROBERTA,
        {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True},
        {},
    ),
    "roberta json prefix": (
        of_json("roberta-base"),
        {"tokenizer_class": "RobertaTokenizerFast", "add_prefix_space": True, "trim_offsets": True},
        {},
    ),
    "bart json prefix": (
        of_json("roberta-base"),
        {"tokenizer_class": "BartTokenizer", "add_prefix_space": True},
        {},
    ),
    "longformer json prefix": (
        of_json("roberta-base"),
        {"tokenizer_class": "LongformerTokenizer", "add_prefix_space": True},
        {},
    ),
    "led json prefix": (
        of_json("roberta-base"),
        {"tokenizer_class": "LEDTokenizer", "add_prefix_space": True},
        {},
    ),
    "neox json prefix": (
        of_json("gpt2"),
        {"tokenizer_class": "GPTNeoXTokenizer", "add_prefix_space": True},
        {},
    ),
    # classes of a vocabulary with merges
    "gpt2": (GPT2, {"tokenizer_class": "GPT2Tokenizer"}, {}),
    "gpt2 by model": (GPT2, {"model_max_length": 1024}, {MODEL: {"model_type": "gpt2"}}),
    "gpt2 bos eos": (
        GPT2,
        {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "add_eos_token": True},
        {},
    ),
    "codegen": (GPT2, {"tokenizer_class": "CodeGenTokenizer", "pad_token": END}, {}),
    "neox": (GPT2, {"tokenizer_class": "GPTNeoXTokenizer"}, {}),
    "qwen2": (GPT2, {"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False}, {}),
    "qwen2 prefix": (GPT2, {"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": True}, {}),
    "opt": (
        ROBERTA,
        {
            "tokenizer_class": "GPT2Tokenizer",
            **{f"{role}_token": marked("</s>") for role in ("unk", "bos", "eos")},
            "pad_token": marked("<pad>"),
            "add_bos_token": True,
        },
        {},
    ),
    "roberta": (ROBERTA, {"tokenizer_class": "RobertaTokenizer"}, {}),
    "roberta by model": (ROBERTA, {}, {MODEL: {"model_type": "roberta"}}),
    "clip": (CLIP, {"tokenizer_class": "CLIPTokenizer"}, {}),
    "clip json": (of_json("clip"), {"tokenizer_class": "CLIPTokenizerFast"}, {}),
    "gpt": (GPT1, {"tokenizer_class": "OpenAIGPTTokenizer"}, {}),
    # flags of roles
    "roberta mask": (
        ROBERTA,
        {"tokenizer_class": "RobertaTokenizer", "mask_token": marked("<mask>", lstrip=True)},
        {},
    ),
    "bart mask": (
        ROBERTA,
        {"tokenizer_class": "BartTokenizer", "mask_token": marked("<mask>", rstrip=True)},
        {},
    ),
    "roberta mask of the map": (
        ROBERTA,
        {"tokenizer_class": "RobertaTokenizer", "mask_token": "<mask>"},
        {MAP: {"mask_token": {"content": "<mask>", **PLAIN, "lstrip": True}}},
    ),
    "roberta mask of the decoder": (
        ROBERTA,
        {
            "tokenizer_class": "RobertaTokenizer",
            "mask_token": marked("<mask>", lstrip=True),
            "added_tokens_decoder": {"50264": {"content": "<mask>", **PLAIN, "special": True}},
        },
        {MAP: {"mask_token": {"content": "<mask>", **PLAIN, "rstrip": True}, "pad_token": "the"}},
    ),
    "the map wins": (
        GPT2,
        {"tokenizer_class": "GPT2Tokenizer", "eos_token": "the", "pad_token": "the"},
        {MAP: {"eos_token": END}},
    ),
    "a mask of bert": (
        of_json("bert-base-uncased"),
        {"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": marked("[MASK]", lstrip=True)},
        {},
    ),
    # tokens that no file has
    "gpt2 new pad": (GPT2, {"tokenizer_class": "GPT2Tokenizer", "pad_token": "[PAD]"}, {}),
    "gpt2 json new tokens": (
        of_json("gpt2"),
        {
            "tokenizer_class": "GPT2Tokenizer",
            "pad_token": "[PAD]",
            "additional_special_tokens": ["<a>", marked("<img>", rstrip=True)],
            "image_token": "[MASK]",
        },
        {},
    ),
    "gpt2 json named tokens": (
        of_json("gpt2"),
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "extra_special_tokens": {"image_token": "<img>", "audio_token": "the"},
        },
        {},
    ),
    "bert new tokens": (
        BERT,
        {"tokenizer_class": "BertTokenizer", "bos_token": "<s>", "eos_token": "</s>"},
        {"added_tokens.json": {"[NEW]": 30522}},
    ),
    "xlm-r json": (
        of_json("xlm-roberta-base"),
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "unk_token": "<unk>",
            "mask_token": "<mask>",
        },
        {},
    ),
    "gpt2 two lists": (
        GPT2,
        {
            "tokenizer_class": "GPT2Tokenizer",
            "additional_special_tokens": ["<a>"],
            "extra_special_tokens": ["<img>"],
        },
        {},
    ),
    "bert a list and a mapping": (
        of_json("bert-base-uncased"),
        {
            "tokenizer_class": "BertTokenizer",
            "additional_special_tokens": ["<a>"],
            "extra_special_tokens": {"image_token": "<img>"},
            "model_specific_special_tokens": {"new_token": "[NEW]"},
        },
        {},
    ),
    "bert a mapping of the model": (
        of_json("bert-base-uncased"),
        {
            "tokenizer_class": "BertTokenizer",
            "model_specific_special_tokens": {"new_token": "[NEW]"},
        },
        {},
    ),
    "gpt2 added tokens": (
        GPT2,
        {"tokenizer_class": "GPT2Tokenizer", "mask_token": "[NEW]"},
        {"added_tokens.json": {"[NEW]": 50257, "the": 1169}},
    ),
    "gpt2 no configuration": (
        GPT2,
        {},
        {MODEL: {"model_type": "gpt2"}, MAP: {"pad_token": "[PAD]", "eos_token": "the"}},
    ),
    # letter case and frame of a vocab.txt
    "bert cased": (
        {"vocab.txt": "bert-base-cased/vocab.txt"},
        {"tokenizer_class": "BertTokenizer"},
        {},
    ),
    "bert by model": (
        {"vocab.txt": "bert-base-cased/vocab.txt"},
        {},
        {MODEL: {"model_type": "bert", "tokenizer_class": None}},
    ),
    "bert frame": (
        BERT,
        {
            "tokenizer_class": "BertTokenizer",
            "cls_token": "[unused1]",
            "sep_token": "[unused2]",
            "pad_token": "[unused0]",
            "mask_token": None,
        },
        {},
    ),
    # patterns
    "fixed pattern": (
        of_json("qwen2.5"),
        {"tokenizer_class": "PreTrainedTokenizerFast", "fix_mistral_regex": True},
        {MODEL: {"model_type": "mistral", "transformers_version": "4.50.0"}},
    ),
    "fixed pattern of another model": (
        of_json("qwen2.5"),
        {"tokenizer_class": "PreTrainedTokenizerFast", "fix_mistral_regex": True},
        {MODEL: {"model_type": "mistral", "transformers_version": "5.0.0"}},
    ),
    # settings without effect beside these files
    "gpt2 json bos": (
        of_json("gpt2"),
        {
            "tokenizer_class": "GPT2Tokenizer",
            "add_bos_token": True,
            "add_eos_token": True,
            "do_lower_case": True,
            "errors": "strict",
            "legacy": False,
            "sp_model_kwargs": {"enable_sampling": True},
            "strip_accents": True,
            "tokenize_chinese_chars": False,
            "trim_offsets": False,
        },
        {},
    ),
    "t5 json settings": (
        of_json("t5-small"),
        {
            "tokenizer_class": "T5Tokenizer",
            "add_bos_token": True,
            "do_lower_case": True,
            "keep_accents": False,
            "remove_space": False,
            "sp_model_kwargs": {"enable_sampling": True},
            "split_special_tokens": True,
            "padding_side": "left",
            "truncation_side": "left",
        },
        {},
    ),
    # clean-up of decoded text
    "bert cleaned": (BERT, {"tokenizer_class": "BertTokenizer", **CLEANS}, {}),
    "bert json cleaned": (
        of_json("bert-base-uncased"),
        {"tokenizer_class": "PreTrainedTokenizerFast", **CLEANS},
        {},
    ),
    "t5 cleaned": (T5, {"tokenizer_class": "T5Tokenizer", **CLEANS}, {}),
    "t5 json cleaned": (of_json("t5-small"), {"tokenizer_class": "T5TokenizerFast", **CLEANS}, {}),
    "albert json cleaned": (
        of_json("albert-v2"),
        {
            "tokenizer_class": "AlbertTokenizer",
            "bos_token": "[CLS]",
            "eos_token": "[SEP]",
            **CLEANS,
        },
        {},
    ),
    "gpt2 json not cleaned": (
        of_json("gpt2"),
        {"tokenizer_class": "GPT2Tokenizer", **CLEANS},
        {},
    ),
    "gpt2 json cleaned": (
        of_json("gpt2"),
        {"tokenizer_class": "GPT2Tokenizer", **CLEANS, **CLEANS_BPE},
        {},
    ),
    "clip cleaned": (CLIP, {"tokenizer_class": "CLIPTokenizer", **CLEANS, **CLEANS_BPE}, {}),
}


def made(folder: Path, name: str) -> Path:
    """Write the folder of this name; published files come from the test data, gzipped or not."""
    files, config, others = FOLDERS[name]
    folder.mkdir()
    for file, source in files.items():
        plain = data.find(f"vocab/{source}")
        packed = plain or data.need(f"vocab/{source}.gz")
        content = packed.read_bytes()
        (folder / file).write_bytes(content if plain else gzip.decompress(content))
    for file, value in {"tokenizer_config.json": config, **others}.items():
        (folder / file).write_text(json.dumps(value))
    return folder


@cache
def texts() -> list[str]:
    """Return 330 texts: those of the other tests, naughty strings, English, Japanese, and clean-up."""
    draw = random.Random(53)
    naughty = json.loads(data.need("corpora/blns.json").read_text(encoding="utf-8"))
    lines = [
        line[:200]
        for name in ("tinyshakespeare.txt", "wagahaiwa_nekodearu.txt", "wikitext-2/valid.txt")
        for line in draw.sample(
            data.need(f"corpora/{name}").read_text(encoding="utf-8").split("\n"), 45
        )
    ]
    found = [
        *TEXTS,
        *SHORT,
        *drawn_texts(60),
        *lines,
        "hello . ' ll don ' t , he 's i 'm ve 've you 're do not no n ' t ! ? x",
        "a < b and c<d <</w>",
        "a <mask> b<mask>c\n<mask>",
        "hello world",
        "the<|endoftext|>the <|endoftext|> the",
        "x [PAD] y <img> z <a>[NEW]",
    ]
    return [*found, *draw.sample([text for text in naughty if len(text) < 300], 330 - len(found))]


def check(ours: pw.Tokenizer, theirs: Any) -> None:
    """Compare ids, decoding, streams, pairs, truncation, padding and roles."""
    rows = [theirs(text)["input_ids"] for text in texts()]
    for text, ids in zip(texts(), rows, strict=True):
        assert ours.encode(text).ids == ids, text
        bare = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text, add_special_tokens=False).ids == bare, text
        for skips in (True, False):
            decoded = theirs.decode(ids, skip_special_tokens=skips)
            assert ours.decode(ids, skip_special_tokens=skips) == decoded, text
        stream = ours.decode_stream()
        parts = [*map(stream.step, ids), stream.finish()]
        assert "".join(filter(None, parts)) == ours.decode(ids), text
    assert ours.encode_batch(texts()).to_lists() == rows
    assert ours.decode_batch(rows) == theirs.batch_decode(rows, skip_special_tokens=True)
    for first, second in zip(texts()[::3], filter(None, texts()[1::3]), strict=False):
        pair, expected = ours.encode(first, second), theirs(first, second)
        assert pair.ids == expected["input_ids"], (first, second)
        if "token_type_ids" in expected:
            assert pair.type_ids == expected["token_type_ids"]
    short = ours.with_truncation(9).encode_batch(texts()[::5]).to_lists()
    assert short == theirs(texts()[::5], truncation=True, max_length=9)["input_ids"]
    if theirs.pad_token is not None:
        padded = ours.with_padding().encode_batch(texts()[::7]).to_lists()
        assert padded == theirs(texts()[::7], padding=True)["input_ids"]
    assert ours.get_vocab() == theirs.get_vocab()


def check_roles(ours: pw.Tokenizer, theirs: Any) -> None:
    """Compare roles; templates and models show further ones here."""
    for role in ("unk", "bos", "eos", "sep", "pad", "cls", "mask"):
        expected = getattr(theirs, f"{role}_token")
        assert expected is None or getattr(ours, f"{role}_token") == str(expected), role


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            {"tokenizer_class": "BlenderbotTokenizer"},
            "load the file by its own path with merges for the ids",
        ),
        ({"tokenizer_class": "CLIPTokenizer"}, "has entries of GPT-2, which have no </w>, from"),
        ({"tokenizer_class": "OpenAIGPTTokenizer"}, "OpenAIGPTTokenizer makes no tokenizer"),
        ({"tokenizer_class": "RobertaTokenizer", "sep_token": None}, "sep_token: found null"),
        (
            {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": "yes"},
            "add_prefix_space: found",
        ),
    ],
)
def test_a_class_that_is_not_read_from_these_files_is_refused(
    config: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, pattern="gpt2")
    tok.save(tmp_path / "vocab.json", merges=tmp_path / "merges.txt")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match=re.escape(problem)):
        pw.Tokenizer.load(tmp_path)
    assert pw.Tokenizer.load(tmp_path / "vocab.json", merges=tmp_path / "merges.txt").count("a")


def test_a_pattern_that_is_passed_replaces_that_of_the_class(tmp_path: Path) -> None:
    tok = pw.Tokenizer.from_ranks({bytes([byte]): byte for byte in range(256)}, pattern="gpt2")
    tok.save(tmp_path / "vocab.json", merges=tmp_path / "merges.txt")
    config = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    folder = pw.Tokenizer.load(tmp_path, pattern="cl100k", special_tokens=["z"])
    expected = pw.spec.named_pre_tokenizer("cl100k")
    assert folder.spec.pre_tokenizer == expected
    assert [token.content for token in folder.added_tokens] == ["z", "<|endoftext|>"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::piecework.errors.PortabilityWarning")
@pytest.mark.parametrize("name", FOLDERS)
def test_a_setting_of_a_folder_is_read_as_autotokenizer_reads_it(name: str, tmp_path: Path) -> None:
    folder = made(tmp_path / "f", name)
    assert len(texts()) == 330
    ours, theirs = pw.Tokenizer.load(folder), transformers.AutoTokenizer.from_pretrained(folder)
    check(ours, theirs)
    check_roles(ours, theirs)
    # Saving keeps it, here and in transformers, which opens the saved folder with its general class.
    ours.save(f"{tmp_path}/g/")
    again = pw.Tokenizer.load(tmp_path / "g")
    assert again == ours
    check(again, transformers.AutoTokenizer.from_pretrained(tmp_path / "g"))
    check_roles(again, theirs)
