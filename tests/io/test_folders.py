"""Hugging Face folders: what is written, what is read, and what is refused. No other library is needed."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
    FileError,
    FormatError,
    FormatWarning,
    InputTypeError,
    PortabilityWarning,
)
from tests import data

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (*SPECIAL, "hug", "##s", "a", "cafe", "日")


def bert() -> pw.Tokenizer:
    vocab = {token: id for id, token in enumerate(WORDS)}
    return pw.Tokenizer(
        pw.spec.WordPiece(vocab),
        normalizer=pw.spec.BertNormalizer(),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(cls_id=2, sep_id=3),
        decoder=pw.spec.WordPieceDecoder(),
        added_tokens=[pw.spec.AddedToken(token, id) for id, token in enumerate(SPECIAL)],
    )


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    bert().save(f"{path}/")
    return path


# ---- settings of a tokenizer


def test_settings_are_carried_by_every_variant_and_by_pickles() -> None:
    tok = (
        bert()
        .with_chat_template("{{ messages }}")
        .with_chat_template("{{ tools }}", name="tool_use")
        .with_model_max_length(77)
        .with_roles(eos_token="[SEP]", mask_token=None)
        .with_padding(side="left")
        .with_truncation(9, side="left")
    )
    variants = [
        tok,
        pickle.loads(pickle.dumps(tok)),
        copy.copy(tok),
        copy.deepcopy(tok),
        tok.with_added_tokens(["<x>"]),
        tok.with_normalizer(None),
        tok.without_padding(),
        tok.without_truncation(),
        tok.with_parse_special(False),
        tok.with_word_cache_budget(1 << 20),
        pw.vocabulary.shrink(tok, 9)[0],
        pickle.loads(pickle.dumps(tok.with_normalizer(pw.spec.CustomNormalizer(str.lower)))),
    ]
    for variant in variants:
        assert variant.chat_template == "{{ messages }}"
        assert variant.chat_templates == {"default": "{{ messages }}", "tool_use": "{{ tools }}"}
        assert variant.model_max_length == 77
        assert (variant.padding_side, variant.truncation_side) == ("left", "left")
        assert (variant.eos_token, variant.mask_token) == ("[SEP]", None)
    assert tok == bert().with_padding(side="left").with_truncation(9, side="left")


def test_settings_are_removed_with_none() -> None:
    tok = (
        bert()
        .with_chat_template("x")
        .with_chat_template("y", name="other")
        .with_model_max_length(8)
    )
    bare = tok.with_chat_template(None).with_chat_template(None, name="other")
    assert (bare.chat_template, bare.chat_templates) == (None, {})
    assert bare.with_chat_template(None, name="never there").chat_templates == {}
    assert tok.with_model_max_length(None).model_max_length is None


def test_settings_cannot_be_changed_in_place() -> None:
    tok = bert().with_chat_template("x")
    tok.chat_templates["default"] = "y"
    assert tok.chat_template == "x"
    with pytest.raises(AttributeError):
        tok._settings.model_max_length = 3  # type: ignore[misc]


@pytest.mark.parametrize("length", [0, -1, 2**32])
def test_a_length_that_is_not_a_number_of_tokens_is_refused(length: int) -> None:
    with pytest.raises(ArgumentError, match="length: must be "):
        bert().with_model_max_length(length)


def test_wrong_types_are_refused() -> None:
    anything: Any = 3.5
    with pytest.raises(InputTypeError, match="length: must be .*, not float"):
        bert().with_model_max_length(anything)
    with pytest.raises(InputTypeError, match="template: must be .*, not float"):
        bert().with_chat_template(anything)
    with pytest.raises(
        ArgumentError, match=r"template: must be a string without lone surrogates, not '\\ud800'"
    ):
        bert().with_chat_template("\ud800")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a\\b", ".hidden", "c:d", "a\0", "n" * 201, 3])
def test_a_name_that_cannot_be_a_file_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="name: must be "):
        bert().with_chat_template("x", name=name)


# ---- what save writes


def test_the_files_of_a_folder(folder: Path) -> None:
    assert json_of(folder / "tokenizer_config.json") == {
        "clean_up_tokenization_spaces": False,
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        "pad_token": "[PAD]",
        "padding_side": "right",
        "sep_token": "[SEP]",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "truncation_side": "right",
        "unk_token": "[UNK]",
    }
    assert json_of(folder / "special_tokens_map.json") == {
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
    }
    assert pw.Tokenizer.load(folder / "tokenizer.json") == bert()


def test_a_folder_keeps_everything(tmp_path: Path) -> None:
    tok = (
        bert()
        .with_added_tokens(["<|user|>"], special=True)
        .with_roles(eos_token="[SEP]", mask_token=None)
        .with_chat_template("{% for m in messages %}\n{{ m }}é{% endfor %}")
        .with_chat_template("tools", name="tool_use")
        .with_model_max_length(512)
        .with_padding(4, side="left")
        .with_truncation(4, side="left")
    )
    tok.save(f"{tmp_path}/f/")
    config = json_of(tmp_path / "f" / "tokenizer_config.json")
    assert config["mask_token"] is None
    assert config["additional_special_tokens"] == ["[MASK]", "<|user|>"]
    assert config["model_max_length"] == 512
    again = pw.Tokenizer.load(f"{tmp_path}/f")
    assert again == tok.without_truncation().without_padding()
    assert again.with_model_max_length(None).with_truncation().with_padding("stored") == tok
    assert again.special_tokens_map == tok.special_tokens_map
    assert again.chat_templates == tok.chat_templates
    assert (again.padding_side, again.truncation_side) == ("left", "left")
    assert again.model_max_length == 512
    again.save(f"{tmp_path}/g/")
    for path in (tmp_path / "f").rglob("*"):
        if path.is_file():
            assert (
                tmp_path / "g" / path.relative_to(tmp_path / "f")
            ).read_bytes() == path.read_bytes()


def test_models_without_type_ids_have_none(tmp_path: Path) -> None:
    tok = bert().with_post_processor(None).with_roles(cls_token=None)
    tok.save(f"{tmp_path}/f/")
    names = json_of(tmp_path / "f" / "tokenizer_config.json")["model_input_names"]
    assert names == ["input_ids", "attention_mask"]


def test_special_tokens_as_text_are_a_setting_of_the_folder(tmp_path: Path) -> None:
    tok = bert().with_parse_special(False)
    tok.save(f"{tmp_path}/f/")
    assert json_of(tmp_path / "f" / "tokenizer_config.json")["split_special_tokens"] is True
    assert pw.Tokenizer.load(f"{tmp_path}/f") == tok


def test_a_role_that_transformers_would_match_in_text_is_warned_of(tmp_path: Path) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "end": 1})).with_roles(eos_token="end")
    with pytest.warns(
        PortabilityWarning, match="the eos_token 'end' is not an added token"
    ) as found:
        tok.save(f"{tmp_path}/f/")
    assert [warning.filename for warning in found] == [__file__] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok.with_added_tokens(["end", "[UNK]"], special=True).save(f"{tmp_path}/f/")


def test_files_of_an_earlier_tokenizer_are_replaced(folder: Path) -> None:
    bert().with_chat_template("x").with_chat_template("y", name="z").save(folder)
    write(folder / "added_tokens.json", {"<old>": 99})
    (folder / "config.json").write_text("{}")
    bert().with_chat_template("y", name="kept").save(folder)
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        "additional_chat_templates/kept.jinja",
        "config.json",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]


def test_a_failure_leaves_no_folder_and_the_old_files(tmp_path: Path, folder: Path) -> None:
    custom = bert().with_normalizer(pw.spec.CustomNormalizer(str.lower))
    with pytest.raises(pw.errors.StageError):
        custom.save(f"{tmp_path}/new/")
    assert not (tmp_path / "new").exists()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(pw.errors.StageError):
        custom.save(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_file_that_cannot_be_replaced_is_named(folder: Path) -> None:
    (folder / "tokenizer_config.json").unlink()
    (folder / "tokenizer_config.json").mkdir()
    with pytest.raises(
        FileError, match=r"tokenizer_config\.json: cannot be written: is a directory"
    ):
        bert().save(folder)
    assert not list(folder.glob(".*.tmp"))


def test_a_prefix_space_is_written_for_transformers_4(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    tok = pw.Tokenizer.from_ranks(ranks, pattern="gpt2")
    for prefix in (True, False):
        stage = pw.spec.ByteLevel(add_prefix_space=prefix)
        tok.with_pre_tokenizer(stage).save(f"{tmp_path}/{prefix}/")
        config = json_of(tmp_path / str(prefix) / "tokenizer_config.json")
        assert config.get("add_prefix_space", False) is prefix


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        ArgumentError, match="path: '.*' is a file; remove the / to write it, or name a folder"
    ):
        bert().save(f"{tmp_path}/file/")
    assert (tmp_path / "file").read_text() == "x"


# ---- what load reads


def test_unknown_keys_are_kept_and_references_to_files_and_code_are_not(folder: Path) -> None:
    config = json_of(folder / "tokenizer_config.json")
    kept = {
        "processor_class": "XProcessor",
        "extra_special_tokens": {"image_token": "[MASK]"},
        "nested": {"é": [1, None]},
        "escaped": "\ud800",
    }
    dropped = {
        "auto_map": {"AutoTokenizer": ["code.X", None]},
        "tokenizer_file": "/etc/passwd",
        "vocab_file": "/etc/passwd",
        "added_tokens_decoder": {"0": {"content": "[PAD]", "special": True, "normalized": False}},
    }
    write(folder / "tokenizer_config.json", {**config, **kept, **dropped})
    pw.Tokenizer.load(folder).save(folder)
    again = json_of(folder / "tokenizer_config.json")
    assert {key: again.get(key) for key in kept} == kept
    assert not set(dropped) & set(again)


def test_loading_runs_no_code_of_a_folder(folder: Path) -> None:
    marker = folder / "ran"
    code = f"open({str(marker)!r}, 'w')\nclass X: pass\n"
    for name in ("tokenization_x.py", "__init__.py", "tokenizer_config.py", "conftest.py"):
        (folder / name).write_text(code)
    config = json_of(folder / "tokenizer_config.json")
    config["auto_map"] = {"AutoTokenizer": ["tokenization_x.X", "tokenization_x.X"]}
    config["custom_tokenizers"] = {"x": "tokenization_x.X"}
    config["chat_template"] = "{{ cycler.__init__.__globals__.os.system('touch ran') }}"
    write(folder / "tokenizer_config.json", config)
    tok = pw.Tokenizer.load(folder)
    assert tok == bert()
    assert tok.chat_template == config["chat_template"]
    assert not marker.exists()


def test_templates_come_from_files_before_the_configuration(folder: Path) -> None:
    config = json_of(folder / "tokenizer_config.json")
    named = [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]
    for value, expected in (
        ("one", {"default": "one"}),
        (named, {"default": "a", "rag": "b"}),
        ({"x": "y"}, {"x": "y"}),
        (None, {}),
    ):
        write(folder / "tokenizer_config.json", {**config, "chat_template": value})
        assert pw.Tokenizer.load(folder).chat_templates == expected
    write(folder / "tokenizer_config.json", {**config, "chat_template": named})
    (folder / "chat_template.jinja").write_bytes(b"from a file\r\n")
    assert pw.Tokenizer.load(folder).chat_templates == {"default": "from a file\n"}


def test_roles_come_from_the_map_then_from_the_configuration(folder: Path) -> None:
    config = {"bos_token": "hug", "sep_token": "[SEP]", "model_max_length": 1e30}
    write(folder / "special_tokens_map.json", {"eos_token": {"content": "a"}, "bos_token": "a"})
    write(folder / "tokenizer_config.json", config)
    tok = pw.Tokenizer.load(folder)
    assert (tok.bos_token, tok.eos_token, tok.sep_token) == ("a", "a", "[SEP]")
    assert tok.model_max_length is None
    # added_tokens_decoder replaces the map.
    write(folder / "tokenizer_config.json", {**config, "added_tokens_decoder": {}})
    tok = pw.Tokenizer.load(folder)
    assert (tok.bos_token, tok.eos_token, tok.sep_token) == ("hug", None, "[SEP]")


def test_tokens_that_no_file_has_get_the_next_ids(folder: Path) -> None:
    size = pw.Tokenizer.load(folder).get_vocab_size()
    config = {
        "eos_token": {"content": "<none>", "lstrip": True},
        "pad_token": "[PAD]",
        "bos_token": "<none>",
        "additional_special_tokens": ["<0>", "<1>", {"content": "<2>", "special": False}],
    }
    write(folder / "tokenizer_config.json", config)
    tok = pw.Tokenizer.load(folder)
    assert (tok.bos_token, tok.eos_token, tok.pad_token) == ("<none>", "<none>", "[PAD]")
    added = [(token.content, token.special, token.lstrip) for token in tok.added_tokens[-4:]]
    assert added == [
        ("<none>", True, True),
        ("<0>", True, False),
        ("<1>", True, False),
        ("<2>", False, False),
    ]
    assert [token.id for token in tok.added_tokens[-4:]] == [*range(size, size + 4)]
    tok.save(f"{folder}/again/")
    assert pw.Tokenizer.load(folder / "again") == tok


def test_a_file_for_a_version_of_transformers_is_not_guessed(folder: Path) -> None:
    files = {"fast_tokenizer_files": ["tokenizer.json", "tokenizer.4.0.0.json"]}
    write(folder / "tokenizer_config.json", files)
    with pytest.raises(
        FormatError, match=r"fast_tokenizer_files: lists tokenizer\.4\.0\.0\.json, which"
    ):
        pw.Tokenizer.load(folder)
    assert pw.Tokenizer.load(folder / "tokenizer.json").count("hug")
    write(folder / "tokenizer_config.json", {"fast_tokenizer_files": ["tokenizer.json"]})
    assert pw.Tokenizer.load(folder).count("hug")


def test_a_role_of_a_single_file_whose_token_does_not_exist_is_warned_of(folder: Path) -> None:
    write(folder / "tokenizer_config.json", {"eos_token": "<none>", "pad_token": "[PAD]"})
    with pytest.warns(FormatWarning, match="eos_token '<none>': not in the vocab") as found:
        tok = pw.Tokenizer.load(folder / "tokenizer.json")
    assert [warning.filename for warning in found] == [__file__]
    assert (tok.eos_token, tok.pad_token) == (None, "[PAD]")
    assert tok.with_added_tokens(["<none>"], special=True).eos_token == "<none>"
    extra = {"additional_special_tokens": [f"<{n}>" for n in range(9)]}
    write(folder / "tokenizer_config.json", extra)
    with pytest.warns(FormatWarning, match="extra special tokens '<0>', '<1>', '<2>' and 6 more"):
        pw.Tokenizer.load(folder / "tokenizer.json")


def token(content: str, **flags: bool) -> dict[str, object]:
    return {"content": content, "special": True, "normalized": False, **flags}


def test_declared_tokens_are_added_with_their_ids_and_flags(folder: Path) -> None:
    decoder = {
        "4": token("[MASK]", lstrip=True),
        "11": token("<b>", special=False, normalized=True),
        "10": token("<a>"),
    }
    write(folder / "tokenizer_config.json", {"added_tokens_decoder": decoder})
    tok = pw.Tokenizer.load(folder)
    assert (tok.token_to_id("<a>"), tok.token_to_id("<b>")) == (10, 11)
    assert tok.encode("hug [MASK]<a>", add_special_tokens=False).offsets[1] == (3, 10)
    by_name = {added.content: added for added in tok.added_tokens}
    assert by_name["[MASK]"].lstrip
    assert (by_name["<b>"].special, by_name["<b>"].normalized) == (False, True)
    # A file that is loaded by its own name is not changed by the configuration beside it.
    assert pw.Tokenizer.load(folder / "tokenizer.json") == bert()


def test_added_tokens_json_is_read_without_a_decoder(folder: Path) -> None:
    write(folder / "added_tokens.json", {"<a>": 10, "<b>": 11, "[PAD]": 0})
    write(folder / "tokenizer_config.json", {"additional_special_tokens": ["<b>"]})
    added = {one.content: one for one in pw.Tokenizer.load(folder).added_tokens}
    assert [(added[name].id, added[name].special) for name in ("<a>", "<b>")] == [
        (10, False),
        (11, True),
    ]


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        ({"3": token("hug")}, "the id 3 for 'hug', which has the id 5 in .*tokenizer.json"),
        ({"5": token("<new>")}, "the id 5 for '<new>', which 'hug' has in .*tokenizer.json"),
        ({"1": token("[PAD]")}, "the id 1 for '\\[PAD\\]', which has the id 0"),
        ({"20": token("<a>"), "21": token("<a>")}, "the id 21 for '<a>', which has the id 20"),
    ],
)
def test_a_configuration_that_contradicts_its_tokenizer_is_refused(
    folder: Path, decoder: object, message: str
) -> None:
    write(folder / "tokenizer_config.json", {"added_tokens_decoder": decoder})
    with pytest.raises(
        FormatError,
        match=f"tokenizer_config.json: added_tokens_decoder: contradicts .*: it has {message}",
    ):
        pw.Tokenizer.load(folder)
    assert pw.Tokenizer.load(folder / "tokenizer.json") == bert()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pad_token", 3, "pad_token: found 3, expected a token"),
        ("pad_token", {"contents": "x"}, "pad_token: found {'contents'"),
        ("pad_token", "\ud800", "pad_token: found a lone surrogate"),
        ("model_max_length", "512", "model_max_length: found '512', expected a positive number"),
        ("model_max_length", -1, "model_max_length: found -1"),
        ("model_max_length", 1.5, "model_max_length: found 1.5"),
        ("model_max_length", True, "model_max_length: found True"),
        ("model_max_length", float("nan"), "model_max_length: found nan"),
        ("padding_side", "up", 'padding_side: found \'up\', expected "left" or "right"'),
        ("truncation_side", ["left"], "truncation_side: found"),
        ("chat_template", 3, "chat_template: found 3"),
        ("chat_template", [{"name": "a"}], "chat_template: found"),
        ("chat_template", {"../x": "y"}, "chat_template: the name '../x' contains a separator"),
        ("additional_special_tokens", "x", "additional_special_tokens: found 'x'"),
        ("additional_special_tokens", [None], r"additional_special_tokens\[0\]: found None"),
        ("added_tokens_decoder", [], "added_tokens_decoder: found \\[\\]"),
        ("added_tokens_decoder", {"x": {}}, r"added_tokens_decoder\[x\]: found 'x'"),
        ("added_tokens_decoder", {"9" * 99: {}}, "found '9999"),
        ("added_tokens_decoder", {"4294967296": {}}, "found '4294967296'"),
        ("added_tokens_decoder", {"1": "x"}, r"added_tokens_decoder\[1\]: found 'x'"),
        ("added_tokens_decoder", {"1": {"content": "x", "lstrip": 1}}, r"\[1\].lstrip: found 1"),
        ("split_special_tokens", "yes", "split_special_tokens: found 'yes'"),
    ],
)
def test_wrong_values_are_named(folder: Path, key: str, value: object, message: str) -> None:
    write(folder / "tokenizer_config.json", {key: value})
    with pytest.raises(FormatError, match=f"tokenizer_config.json: {message}|{message}") as caught:
        pw.Tokenizer.load(folder)
    assert str(folder / "tokenizer_config.json") in str(caught.value)


@pytest.mark.parametrize(
    "name", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"]
)
@pytest.mark.parametrize(
    "content", [b"[1]", b"{", b"", b"\xff", b"null", b'{"a":' * 100_000, b"1" * 5000]
)
def test_damaged_files_are_named(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    if name == "added_tokens.json":
        (folder / "tokenizer_config.json").unlink()
    with pytest.raises(FormatError, match=name.replace(".", r"\.")):
        pw.Tokenizer.load(folder)


def test_damaged_templates_are_named(folder: Path) -> None:
    (folder / "chat_template.jinja").write_bytes(b"\xff")
    with pytest.raises(FormatError, match=r"chat_template\.jinja: found invalid UTF-8 at byte 0"):
        pw.Tokenizer.load(folder)


def test_added_tokens_json_that_contradicts_its_tokenizer_is_refused(folder: Path) -> None:
    (folder / "tokenizer_config.json").unlink()
    write(folder / "added_tokens.json", {"hug": 9})
    with pytest.raises(
        FormatError,
        match=r"added_tokens\.json: contradicts the tokenizer file: it has the id 9 for 'hug', which",
    ):
        pw.Tokenizer.load(folder)


@pytest.mark.parametrize("value", [{"x": "1"}, {"x": -1}, {"x": True}, {"x": 1, "y": 1}])
def test_wrong_added_tokens_are_named(folder: Path, value: object) -> None:
    write(folder / "added_tokens.json", value)
    write(folder / "tokenizer_config.json", {})
    with pytest.raises(FormatError, match=r"added_tokens\.json: "):
        pw.Tokenizer.load(folder)


# ---- folders without a tokenizer.json


def test_the_order_of_the_files(tmp_path: Path) -> None:
    trained = pw.Tokenizer.train_from_iterator(
        ["hug pug hug"], preset="llama", vocab_size=269, byte_fallback=True
    )
    files = {
        "vocab.json": b"{}",
        "merges.txt": b"#version: 0.2\n",
        "vocab.txt": b"[UNK]\nhug\n",
        "tokenizer.model": b"",
        "tokenizer.json": bert().to_str().encode(),
    }
    with pytest.raises(
        FileError,
        match="is a directory without a tokenizer; it must contain tokenizer.json, tokenizer.model, vocab",
    ):
        pw.Tokenizer.load(tmp_path)
    models = []
    for name, content in files.items():
        if name.endswith(".model"):
            trained.save(tmp_path / name)
        else:
            (tmp_path / name).write_bytes(content)
        if name not in ("vocab.json", "merges.txt"):
            models.append(type(pw.Tokenizer.load(tmp_path).spec.model).__name__)
    assert models == ["WordPiece", "SentencePiece", "WordPiece"]
    assert len(pw.Tokenizer.load(tmp_path)) == len(WORDS)


def zipped(folder: Path, *names: str) -> None:
    """Compress files of a folder with gzip."""
    for name in names or [path.name for path in folder.iterdir()]:
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()


def test_a_folder_with_compressed_files_is_read_as_without(folder: Path, tmp_path: Path) -> None:
    expected = pw.Tokenizer.load(folder)
    zipped(folder, "tokenizer.json")
    assert pw.Tokenizer.load(folder) == expected
    assert pw.Tokenizer.load(folder).special_tokens_map == expected.special_tokens_map
    padded = expected.with_padding(9)
    padded.save(f"{folder}/")
    zipped(folder, "tokenizer.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = pw.Tokenizer.load(folder)
    assert loaded.encode("hug").ids == expected.encode("hug").ids
    assert loaded.with_padding("stored").encode("hug") == padded.encode("hug")


@pytest.mark.parametrize(
    "are_zipped", [("vocab.json",), ("merges.txt",), ("vocab.json", "merges.txt")]
)
def test_a_vocabulary_and_its_merges_may_be_compressed(
    are_zipped: tuple[str, ...], tmp_path: Path
) -> None:
    gpt2 = pw.Tokenizer.train_from_iterator(["hug hugs"] * 9, preset="gpt2", vocab_size=260)
    gpt2.save(tmp_path / "vocab.json", merges=tmp_path / "merges.txt")
    expected = pw.Tokenizer.load(tmp_path)
    zipped(tmp_path, *are_zipped)
    assert pw.Tokenizer.load(tmp_path) == expected


def test_the_settings_of_a_compressed_vocab_txt_are_read(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join((*WORDS, "Café")) + "\n")
    cased = {"do_lower_case": False, "strip_accents": False, "tokenizer_class": "BertTokenizer"}
    write(tmp_path / "tokenizer_config.json", cased)
    expected = pw.Tokenizer.load(tmp_path)
    zipped(tmp_path, "vocab.txt")
    assert pw.Tokenizer.load(tmp_path) == expected
    assert "Café" in pw.Tokenizer.load(tmp_path).encode("Café").tokens


def test_a_compressed_sentencepiece_model_has_the_frame_of_its_class(tmp_path: Path) -> None:
    trained = pw.Tokenizer.train_from_iterator(
        ["hug pug hug"], preset="llama", vocab_size=269, byte_fallback=True
    )
    trained.save(tmp_path / "tokenizer.model")
    write(
        tmp_path / "tokenizer_config.json",
        {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True},
    )
    expected = pw.Tokenizer.load(tmp_path)
    zipped(tmp_path, "tokenizer.model")
    assert pw.Tokenizer.load(tmp_path) == expected
    assert expected.encode("hug").tokens[0] == "<s>"


def test_files_that_transformers_reads_win_over_compressed_ones(folder: Path) -> None:
    zipped(folder, "tokenizer.json")
    (folder / "vocab.txt").write_text("[UNK]\nhug\n")
    assert pw.Tokenizer.load(folder).token_to_id("hug") == 1


def test_a_vocab_txt_follows_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join((*WORDS, "Café", "日本")) + "\n")
    text = "Café 日本"
    cased = {"do_lower_case": False, "strip_accents": False, "tokenize_chinese_chars": False}
    for config, tokens in (
        ({"do_lower_case": True}, ["cafe", "日", "[UNK]"]),
        ({"do_lower_case": False}, ["Café", "日", "[UNK]"]),
        ({**cased, "tokenizer_class": "BertTokenizer"}, ["Café", "日本"]),
        ({"do_lower_case": True, "strip_accents": False}, ["[UNK]", "日", "[UNK]"]),
    ):
        write(tmp_path / "tokenizer_config.json", config)
        assert pw.Tokenizer.load(tmp_path).encode(text, add_special_tokens=False).tokens == tokens
    assert pw.Tokenizer.load(tmp_path, lowercase=False).encode("Café").tokens[1] == "Café"
    write(tmp_path / "tokenizer_config.json", {"do_lower_case": 1})
    with pytest.raises(FormatError, match="do_lower_case: found 1, expected true, false or null"):
        pw.Tokenizer.load(tmp_path)
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "MPNetTokenizerFast"})
    with pytest.raises(
        FormatError, match=r"MPNetTokenizer, whose .* by its own path for the ids of BERT"
    ):
        pw.Tokenizer.load(tmp_path)


def test_a_sentencepiece_model_gets_the_tokens_of_its_class(tmp_path: Path) -> None:
    pw.Tokenizer.train_from_iterator(["hug pug hug"], preset="llama", vocab_size=269).save(
        tmp_path / "tokenizer.model"
    )
    assert pw.Tokenizer.load(tmp_path).encode("").ids == []
    for config, ids in (
        ({"tokenizer_class": "LlamaTokenizer"}, []),
        ({"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}, [1]),
        ({"tokenizer_class": "LlamaTokenizerFast", "add_eos_token": True}, [2]),
        ({"tokenizer_class": "CodeLlamaTokenizer"}, [1]),
        ({"tokenizer_class": "T5Tokenizer"}, [2]),
        ({"tokenizer_class": "XLMRobertaTokenizer"}, [0, 2]),
        ({"add_bos_token": True, "add_eos_token": True}, [1, 2]),
    ):
        write(tmp_path / "tokenizer_config.json", config)
        assert pw.Tokenizer.load(tmp_path).encode("").ids == ids
    for name in ("SiglipTokenizer", "NllbTokenizer", "TokenizersBackend"):
        write(tmp_path / "tokenizer_config.json", {"tokenizer_class": name})
        with pytest.raises(FormatError, match=f"{name}, whose .* for the ids of SentencePiece"):
            pw.Tokenizer.load(tmp_path)


LLAMA_JSON = {
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    },
    "pre_tokenizer": None,
}


def llama_file(folder: Path, **changes: Any) -> None:
    """Write the `tokenizer.json` of a small Llama, with other stages."""
    tok = pw.Tokenizer.train_from_iterator(["hug pug hug"], preset="llama", vocab_size=269)
    document = json.loads(tok.to_str()) | LLAMA_JSON | changes
    (folder / "tokenizer.json").write_text(json.dumps(document))


def test_a_tokenizer_json_of_sentencepiece_follows_the_class_of_llama(tmp_path: Path) -> None:
    llama_file(tmp_path)
    file = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    for config, tokens in (
        ({}, ["▁", "▁hug"]),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, ["▁", "▁hug"]),
        ({"tokenizer_class": "LlamaTokenizer"}, ["▁hug"]),
        ({"tokenizer_class": "LlamaTokenizerFast"}, ["▁hug"]),
        ({"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False}, ["▁hug"]),
    ):
        write(tmp_path / "tokenizer_config.json", config)
        assert pw.Tokenizer.load(tmp_path).encode(" hug", add_special_tokens=False).tokens == tokens
    assert pw.Tokenizer.load(tmp_path).padding_side == "left"
    # Of these models, transformers reads the file.
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"})
    for model_type, tokens in (("mistral", ["▁", "▁hug"]), ("llama", ["▁hug"])):
        write(tmp_path / "config.json", {"model_type": model_type})
        assert pw.Tokenizer.load(tmp_path).encode(" hug", add_special_tokens=False).tokens == tokens
    assert file.encode(" hug", add_special_tokens=False).tokens == ["▁", "▁hug"]


def test_a_byte_level_file_wins_over_the_class_of_llama(tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(["a b a b"] * 9, model="byte-bpe", vocab_size=258)
    tok.save(tmp_path / "tokenizer.json")
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "LlamaTokenizerFast"})
    with pytest.warns(FormatWarning) as found:
        loaded = pw.Tokenizer.load(tmp_path)
    assert [str(warning.message).partition("tokenizer.json: ")[2] for warning in found] == [
        "read as the file says: LlamaTokenizer of transformers 5.0 to 5.21 replaces its normalizer and "
        f"pre-tokenizer, so that 'a b' is {tok.encode('ab').ids} there and {tok.encode('a b').ids} here"
    ]
    assert loaded.spec == tok.spec
    # transformers reads the file too if its configuration names this type of model.
    write(tmp_path / "config.json", {"model_type": "phi3"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pw.Tokenizer.load(tmp_path).spec == tok.spec


@pytest.mark.parametrize(
    "changes",
    [
        {"post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}},
        {
            "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "decoder": {"type": "Fuse"},
        },
    ],
    ids=["a byte-level stage", "no metaspace"],
)
def test_a_file_of_another_pipeline_wins_over_the_class_of_llama(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    llama_file(tmp_path, **changes)
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"})
    with pytest.warns(FormatWarning, match="read as the file says: LlamaTokenizer"):
        loaded = pw.Tokenizer.load(tmp_path)
    file = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    for stage in ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder"):
        assert getattr(loaded.spec, stage) == getattr(file.spec, stage)


def test_llama_does_not_drop_the_characters_of_a_file_without_bytes(tmp_path: Path) -> None:
    llama_file(tmp_path)
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    document["model"]["byte_fallback"] = False
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"})
    with pytest.warns(
        FormatWarning, match="read as the file says: LlamaTokenizer of transformers 5 "
    ):
        loaded = pw.Tokenizer.load(tmp_path)
    assert loaded.encode("é", add_special_tokens=False).tokens == ["▁", "<unk>"]


def test_a_model_of_llama_in_a_folder_is_read_as_its_class_reads_it(tmp_path: Path) -> None:
    bare = pw.Tokenizer.train_from_iterator(["hug pug hug"], preset="llama", vocab_size=269)
    bare.save(tmp_path / "tokenizer.model")
    texts = ["<s>hug", "hug</s>hug", " hug"]
    for legacy, expected in (
        (True, [["<s>", "▁hug"], ["▁hug", "</s>", "▁hug"], ["▁hug"]]),
        (False, [["<s>", "h", "ug"], ["▁hug", "</s>", "h", "ug"], ["▁hug"]]),
    ):
        config = {"tokenizer_class": "LlamaTokenizer", "legacy": legacy}
        write(tmp_path / "tokenizer_config.json", config)
        tok = pw.Tokenizer.load(tmp_path)
        assert [tok.encode(text).tokens for text in texts] == expected
        assert (tok.bos_token, tok.eos_token, tok.unk_token) == ("<s>", "</s>", "<unk>")
        # The file by its own name is a SentencePiece model, for which control pieces are text.
        file = pw.Tokenizer.load(tmp_path / "tokenizer.model")
        assert [file.encode(text).tokens for text in (" hug", "<s>hug")] == [
            ["▁", "▁hug"],
            ["▁", *(f"<0x{byte:02X}>" for byte in b"<s>"), "h", "ug"],
        ]
    for _ in range(2):
        assert pw.Tokenizer.load(tmp_path, compiled_cache=True) == tok
    write(tmp_path / "tokenizer_config.json", {**config, "split_special_tokens": True})
    assert pw.Tokenizer.load(tmp_path).encode("<s>").tokens[0] == "▁"


def test_tokens_that_a_model_lacks_get_the_next_ids(tmp_path: Path) -> None:
    bare = pw.Tokenizer.train_from_iterator(["hug pug hug"], preset="llama", vocab_size=269)
    bare.save(tmp_path / "tokenizer.model")
    size = len(bare)
    config = {
        "tokenizer_class": "LlamaTokenizer",
        "pad_token": "[PAD]",
        "image_token": "<image>",
        "extra_special_tokens": ["<a>"],
        "added_tokens_decoder": {str(size): {"content": "<b>", "special": False}},
    }
    write(tmp_path / "tokenizer_config.json", config)
    tok = pw.Tokenizer.load(tmp_path)
    tokens = ["<b>", "[PAD]", "<image>", "<a>"]
    assert [tok.token_to_id(token) for token in tokens] == list(range(size, size + 4))
    assert (tok.pad_token_id, tok.padding_side) == (size + 1, "left")
    spaced = {"tokenizer_class": "LlamaTokenizer", "bos_token": "a b:", "add_bos_token": True}
    write(tmp_path / "tokenizer_config.json", spaced)
    assert pw.Tokenizer.load(tmp_path).encode("").tokens == ["a b:"]
    broken = {"tokenizer_class": "XLMRobertaTokenizer", "mask_token": None}
    write(tmp_path / "tokenizer_config.json", broken)
    with pytest.raises(FormatError, match="mask_token: found null, expected a token, which XLMRob"):
        pw.Tokenizer.load(tmp_path)
    write(tmp_path / "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer", "extra_ids": -1})
    with pytest.raises(FormatError, match="extra_ids: found -1, expected a number of tokens"):
        pw.Tokenizer.load(tmp_path)


def test_ranks_under_the_name_of_a_model_are_refused_with_what_to_pass(tmp_path: Path) -> None:
    source = data.need("vocab/tiktoken/r50k_base.tiktoken")
    (tmp_path / "tokenizer.model").write_bytes(source.read_bytes())
    with pytest.raises(ArgumentError, match="pass a pattern such as 'llama3', and special_tokens"):
        pw.Tokenizer.load(tmp_path)
    tok = pw.Tokenizer.load(tmp_path, pattern="gpt2", special_tokens={"<|endoftext|>": 50256})
    assert tok.encode("hello world").ids == [31373, 995]


def test_a_tekken_file_is_found(tmp_path: Path) -> None:
    import gzip

    source = data.need("vocab/mistral/tekken_240911.json.gz")
    (tmp_path / "tekken.json").write_bytes(gzip.decompress(source.read_bytes()))
    assert pw.Tokenizer.load(tmp_path).encode("hello").ids


def test_a_compiled_cache_of_a_folder_keeps_its_settings(folder: Path) -> None:
    bert().with_chat_template("x").save(folder)
    for _ in range(2):
        tok = pw.Tokenizer.load(folder, compiled_cache=True)
        assert (tok.chat_template, tok) == ("x", bert())
    assert (folder / "tokenizer.json.pwc").exists()
