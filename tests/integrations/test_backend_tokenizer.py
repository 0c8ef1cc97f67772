"""`BackendTokenizer` takes and gives what `tokenizers.Tokenizer` does, compared call by call."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tokenizers

import piecework as pw
from piecework.errors import ArgumentError, FileError, InputTypeError
from piecework.integrations.transformers import BackendEncoding, BackendTokenizer, DecodeStream

VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "hug": 3, "##s": 4, "my": 5, "pair": 6, "dog": 7}
COLUMNS = (
    *("ids", "tokens", "offsets", "word_ids", "sequence_ids", "type_ids", "special_tokens_mask"),
    *("attention_mask", "n_sequences"),
)


def text_of_tokenizer() -> str:
    template = pw.spec.TemplateProcessing.bert(cls_id=1, sep_id=2)
    tokenizer = pw.Tokenizer(
        pw.spec.WordPiece(VOCAB),
        pre_tokenizer=pw.spec.Whitespace(),
        post_processor=template,
        decoder=pw.spec.WordPieceDecoder(),
        added_tokens=[
            pw.spec.AddedToken(name, VOCAB[name], special=True) for name in list(VOCAB)[:3]
        ],
    )
    return tokenizer.to_str()


@pytest.fixture
def both() -> tuple[tokenizers.Tokenizer, BackendTokenizer]:
    text = text_of_tokenizer()
    return tokenizers.Tokenizer.from_str(text), BackendTokenizer.from_str(text)


def plain(value: Any) -> Any:
    """Return encodings, and lists of them, as plain data."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "ids"):
        columns = {name: getattr(value, name) for name in COLUMNS}
        return {**columns, "overflowing": plain(value.overflowing)}
    return value


def assert_same(both: tuple[Any, Any], call: Callable[[Any], Any]) -> None:
    theirs, ours = (plain(call(tokenizer)) for tokenizer in both)
    assert ours == theirs


# ---- what is encoded


@pytest.mark.parametrize(
    "rows",
    [
        np.array(["hugs my", "dog"]),
        np.array(["hugs my", "dog"], dtype=object),
        pd.Series(["hugs my", "dog"]),
        np.array([["hugs", "dog"], ["my", "pair"]]),
        [["hugs my", "dog"], ["my", "pair"]],
        [("hugs my", "dog"), "my", ["my", "pair"]],
        ("hugs my", "dog"),
        [],
    ],
    ids=["array", "objects", "series", "array of pairs", "lists", "mixed", "tuple", "nothing"],
)
def test_rows_of_every_kind_are_encoded_as_in_tokenizers(both: Any, rows: Any) -> None:
    assert_same(both, lambda tokenizer: tokenizer.encode_batch(rows))
    # There the fast call returns no offsets.
    assert_same(both, lambda tokenizer: [e.ids for e in tokenizer.encode_batch_fast(rows)])


@pytest.mark.parametrize(
    "rows",
    [
        [(["my"], ["pair"])],
        [[["my", "dog"], ["pair"]], ["hugs", "my"]],
        [(("my", "dog"), ("pair",))],
        [["my", "dog"]],
    ],
)
def test_words_and_pairs_of_words_are_encoded_as_in_tokenizers(both: Any, rows: Any) -> None:
    assert_same(both, lambda tokenizer: tokenizer.encode_batch(rows, is_pretokenized=True))


def test_words_in_arrays_are_words(both: Any) -> None:
    backend = both[1]
    words, pair = np.array(["my", "dog"]), np.array(["hugs"])
    found = backend.encode(words, pair, is_pretokenized=True)
    assert found == backend.encode(["my", "dog"], ["hugs"], is_pretokenized=True)


@pytest.mark.parametrize("rows", ["hugs", None, 3])
def test_inputs_other_than_lists_of_texts_raise_type_errors(both: Any, rows: Any) -> None:
    with pytest.raises(TypeError):
        both[0].encode_batch(rows)
    with pytest.raises(InputTypeError, match="input: must be a list of texts, not .*"):
        both[1].encode_batch(rows)


@pytest.mark.parametrize("text", [None, ("my", "dog"), ["my", "dog"]])
def test_one_text_is_not_a_pair(both: Any, text: Any) -> None:
    for tokenizer in both:
        with pytest.raises(TypeError, match="TextInputSequence must be str"):
            tokenizer.encode(text)


# ---- encodings that change


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.truncate(4, 1),
        lambda e: e.truncate(max_length=4, stride=1, direction="left"),
        lambda e: e.pad(12),
        lambda e: e.pad(12, direction="left", pad_id=3, pad_type_id=1, pad_token="[X]"),
        lambda e: e.set_sequence_id(1),
        lambda e: (e.truncate(5), e.word_to_tokens(1), e.char_to_token(5), e.token_to_sequence(1)),
    ],
)
def test_encodings_change_as_in_tokenizers(both: Any, change: Callable[[Any], Any]) -> None:
    def changed(tokenizer: Any) -> Any:
        encoding = tokenizer.encode("hugs my dog", "my pair")
        return change(encoding), encoding

    assert_same(both, changed)


@pytest.mark.parametrize("growing_offsets", [True, False])
def test_encodings_are_merged_as_in_tokenizers(both: Any, growing_offsets: bool) -> None:
    def merged(tokenizer: Any) -> Any:
        encodings = tokenizer.encode_batch(["hugs my", "dog"])
        return type(encodings[0]).merge(encodings, growing_offsets=growing_offsets)

    assert_same(both, merged)


def test_post_process_adds_the_special_tokens(both: Any) -> None:
    def processed(tokenizer: Any) -> Any:
        first, second = (
            tokenizer.encode(text, add_special_tokens=False) for text in ("hugs my", "dog")
        )
        alone, pair = tokenizer.post_process(first), tokenizer.post_process(first, second)
        return alone, pair, tokenizer.post_process(first, add_special_tokens=False)

    assert_same(both, processed)


def test_an_encoding_is_a_value(both: Any) -> None:
    encoding = both[1].encode("hugs my", "dog")
    assert isinstance(encoding, BackendEncoding)
    assert pickle.loads(pickle.dumps(encoding)) == copy.deepcopy(encoding) == encoding
    assert encoding == both[0].encode("hugs my", "dog")
    assert len(encoding) == len(encoding.ids) == 7
    encoding.truncate(3)
    assert encoding != both[1].encode("hugs my", "dog")
    assert both[1].encode("hugs my", "dog").byte_offsets[1] == (0, 3)


# ---- constructors and streams


def test_a_file_and_its_bytes_are_read(both: Any, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(text_of_tokenizer(), encoding="utf-8")
    expected = both[1].encode("hugs my")
    assert BackendTokenizer.from_file(str(path)).encode("hugs my") == expected
    assert BackendTokenizer.from_buffer(path.read_bytes()).encode("hugs my") == expected
    with pytest.raises(FileError, match=r"none\.json"):
        BackendTokenizer.from_file(str(tmp_path / "none.json"))


def test_a_repository_of_the_hub_is_read_from_its_cache(
    both: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    path = tmp_path / "tokenizer.json"
    path.write_text(text_of_tokenizer(), encoding="utf-8")
    asked: list[Any] = []

    def download(name: str, file: str, **settings: Any) -> str:
        asked.append((name, file, settings))
        return os.fspath(path)

    monkeypatch.setattr(hub, "hf_hub_download", download)
    backend = BackendTokenizer.from_pretrained("a/b", token="secret")
    assert backend.encode("hugs") == both[1].encode("hugs")
    assert asked == [("a/b", "tokenizer.json", {"revision": "main", "token": "secret"})]
    for name in ("../x", "a/../../b", "/etc/x", "%2e%2e/x", "a/b\0", "a/b\n", "a/b@v1", "a\\..\\b"):
        with pytest.raises(ArgumentError, match="identifier: must be a repository of the hub"):
            BackendTokenizer.from_pretrained(name)
    for revision in ("../../x", "a/../b", "/etc", "a\0", "a\\b"):
        with pytest.raises(ArgumentError, match="revision: must be a branch, a tag or a commit"):
            BackendTokenizer.from_pretrained("a/b", revision=revision)
    assert len(asked) == 1
    monkeypatch.setattr(hub, "hf_hub_download", lambda *_, **__: 1 / 0)
    with pytest.raises(FileError, match="a/b: cannot be downloaded: ZeroDivisionError"):
        BackendTokenizer.from_pretrained("a/b")


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("prefill", [0, 2])
def test_a_stream_decodes_as_that_of_tokenizers(both: Any, skip: bool, prefill: int) -> None:
    def streamed(tokenizer: Any) -> Any:
        kind = DecodeStream if isinstance(tokenizer, BackendTokenizer) else theirs
        ids = tokenizer.encode("hugs my dog").ids
        stream = kind(ids=ids[:prefill], skip_special_tokens=skip)
        return [stream.step(tokenizer, id) for id in ids[prefill:]]

    theirs = tokenizers.decoders.DecodeStream
    assert_same(both, streamed)


def test_a_stream_takes_several_ids_at_once(both: Any) -> None:
    assert DecodeStream().step(both[1], [3, 4, 5]) == "hugs my"


def test_padding_to_the_length_0_pads_nothing_and_encodes_here(
    both: tuple[tokenizers.Tokenizer, BackendTokenizer],
) -> None:
    """model2vec sets this length."""
    for tokenizer in both:
        tokenizer.enable_padding(length=0)
        tokenizer.enable_truncation(4)
    assert both[1].tokenizer is not None
    assert both[1].padding == both[0].padding
    assert_same(both, lambda tokenizer: tokenizer.encode_batch(["my dog hugs", "pair"]))
    again = BackendTokenizer.from_str(both[0].to_str())
    assert plain(again.encode("my pair")) == plain(both[0].encode("my pair"))


def test_the_class_has_the_name_by_which_libraries_recognize_it(both: tuple[Any, Any]) -> None:
    # chonkie chooses an adapter by the first of "transformers", "tokenizers" and "tiktoken" in the name.
    name = str(type(both[1]))
    assert "tokenizers" in name
    assert "transformers" not in name
    again = pickle.loads(pickle.dumps(both[1]))
    assert type(again) is BackendTokenizer
    assert again.encode("hugs").ids == both[1].encode("hugs").ids
