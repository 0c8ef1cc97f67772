"""Wrong tokenizer files: each fault of a class is refused, by a typed error that names its place.

The first tests damage every field of every component; the rest are contradictions, one a line.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, FormatError
from tests import components

Path = tuple[str | int, ...]

ADDED = {
    "id": 20,
    "content": "new",
    "single_word": False,
    "lstrip": False,
    "rstrip": False,
    "normalized": True,
    "special": False,
}
PADDING = {
    "strategy": {"Fixed": 8},
    "direction": "Right",
    "pad_to_multiple_of": 8,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "[UNK]",
}
TRUNCATION = {"direction": "Right", "max_length": 10, "strategy": "LongestFirst", "stride": 0}

FULL_DOCUMENTS = components.DOCUMENTS.map(
    lambda document: (
        document | {"padding": PADDING, "truncation": TRUNCATION, "added_tokens": [ADDED]}
    )
)


def paths(value: object, here: Path = ()) -> Iterator[Path]:
    """Yield the path of every value below this one."""
    members: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        members = iter(value.items())
    elif isinstance(value, list):
        members = iter(enumerate(value))
    for key, member in members:
        yield (*here, key)
        yield from paths(member, (*here, key))


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def with_value(document: components.Json, path: Path, value: object) -> components.Json:
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def of_another_type(value: object) -> object:
    if isinstance(value, bool):
        return "true"
    if isinstance(value, (int, float)):
        return str(value)
    return {str: 7, list: {"a": [[]]}, dict: ["a"]}[type(value)]


def assert_refused(document: components.Json, stage: str | int) -> None:
    with pytest.raises((FormatError, ArgumentError)) as caught:
        pw.Tokenizer.from_json(json.dumps(document))
    error = caught.value
    assert re.match(rf"{stage}\b", error.place), error
    assert error.found, error
    assert error.expected, error


@given(document=FULL_DOCUMENTS, data=st.data())
def test_a_value_of_another_type_is_refused(document: components.Json, data: st.DataObject) -> None:
    typed = [path for path in paths(document) if at(document, path) is not None]
    path = data.draw(st.sampled_from(typed))
    wrong = of_another_type(at(document, path))
    assert_refused(with_value(document, path, wrong), path[0])


@given(document=FULL_DOCUMENTS, data=st.data())
def test_an_unknown_field_is_refused(document: components.Json, data: st.DataObject) -> None:
    # What stands in these is named by the file itself.
    free = {"vocab", "special_tokens"}
    objects = [
        path
        for path in paths(document)
        if isinstance(at(document, path), dict) and path[-1] not in free
    ]
    path = data.draw(st.sampled_from(objects))
    assert_refused(with_value(document, (*path, "colour"), "blue"), path[0])


@given(document=FULL_DOCUMENTS, data=st.data())
def test_an_unknown_name_is_refused(document: components.Json, data: st.DataObject) -> None:
    names = {"type", "behavior", "prepend_scheme", "direction"}
    named = [path for path in paths(document) if path[-1] in names]
    path = data.draw(st.sampled_from(named))
    assert_refused(with_value(document, path, "unheard-of"), path[0])


@given(
    document=FULL_DOCUMENTS, number=st.sampled_from([-1, 2**32, 2**64, 1.5, 1e300]), data=st.data()
)
def test_an_id_out_of_range_is_refused(
    document: components.Json, number: float, data: st.DataObject
) -> None:
    ids = [
        path
        for path in paths(document)
        if {"id", "pad_id", "unk_id", "type_id", "ids"} & set(path[-2:])
        or (path[-2:-1] == ("vocab",) and document["model"]["type"] != "Unigram")
        or (path[0] == "post_processor" and path[-2:] in [("sep", 1), ("cls", 1)])
    ]
    path = data.draw(st.sampled_from([path for path in ids if type(at(document, path)) is int]))
    assert_refused(with_value(document, path, number), path[0])


WORDS = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "[CLS]": 2}, "unk_token": "[UNK]"}
PAIRS = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
PIECES = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}


def framed(
    single: list[Any], token: str = "[CLS]", id: int = 2, name: str = "[CLS]"
) -> components.Json:
    a, b = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}
    return {
        "model": WORDS,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [a if piece == "A" else piece for piece in single],
            "pair": [a, b],
            "special_tokens": {"[CLS]": {"id": name, "ids": [id], "tokens": [token]}},
        },
    }


@pytest.mark.parametrize(
    ("stages", "place"),
    [
        ({"model": WORDS | {"vocab": {"[UNK]": 0, "a": 0}}}, "model.vocab"),
        ({"model": WORDS | {"unk_token": "<unk>"}}, "model.unk_token"),
        ({"model": PAIRS | {"unk_token": "<unk>"}}, "model.unk_token"),
        ({"model": PAIRS | {"merges": ["a c"]}}, "model.merges[0]"),
        ({"model": PAIRS | {"merges": ["a b", ["b", "a"]]}}, "model.merges[1]"),
        ({"model": PAIRS | {"merges": ["a b c"]}}, "model.merges[0]"),
        ({"model": PAIRS | {"dropout": 1.5}}, "model.dropout"),
        ({"model": PIECES | {"unk_id": 2}}, "model.unk_id"),
        ({"model": PIECES | {"vocab": [["a", 0.0], ["a", 0.0]]}}, "model.vocab[1]"),
        ({"model": PIECES | {"vocab": []}}, "model.unk_id"),
        ({"added_tokens": [ADDED, ADDED]}, "added_tokens[1]"),
        ({"added_tokens": [ADDED, ADDED | {"content": "other"}]}, "added_tokens[1]"),
        ({"added_tokens": [ADDED | {"id": 1}]}, "added_tokens[0]"),
        ({"added_tokens": [ADDED | {"content": ""}]}, "added_tokens[0].content"),
        ({"padding": PADDING | {"pad_id": 77}}, "padding.pad_id"),
        ({"padding": PADDING | {"pad_type_id": 256}}, "padding.pad_type_id"),
        (
            {"truncation": TRUNCATION | {"max_length": 2, "stride": 2}},
            "truncation.stride",
        ),
        (framed(["A"], id=77), "post_processor.special_tokens"),
        (framed(["A"], id=1), "post_processor.special_tokens"),
        (framed(["A"], token="[SEP]"), "post_processor.special_tokens"),
        (framed(["A"], name="[SEP]"), "post_processor.special_tokens"),
        (framed([]), "post_processor.single"),
        (
            framed(["A", {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]),
            "post_processor.single",
        ),
        (
            {
                "model": WORDS,
                "post_processor": {
                    "type": "Sequence",
                    "processors": [
                        {"type": "BertProcessing", "sep": ["[CLS]", 2], "cls": ["a", 2]}
                    ],
                },
            },
            "post_processor.processors[0].cls",
        ),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AA=="}}, "normalizer"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "%"}}, "normalizer"),
        (
            {"normalizer": {"type": "Replace", "pattern": {"Regex": "("}, "content": ""}},
            "normalizer.pattern",
        ),
        ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "pre_tokenizer.length"),
        ({"version": "3.0"}, "version"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_contradiction_is_refused(stages: components.Json, place: str) -> None:
    with pytest.raises((FormatError, ArgumentError)) as caught:
        pw.Tokenizer.from_json(json.dumps(components.document(**stages)))
    assert caught.value.place.startswith(place), caught.value
    assert caught.value.found
    assert caught.value.expected


@pytest.mark.parametrize("depth", [200, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused(depth: int, opening: str, closing: str) -> None:
    with pytest.raises(FormatError, match="recursion limit"):
        pw.Tokenizer.from_json(opening * depth + "0" + closing * depth)


@pytest.mark.parametrize("text", ["", "null", "[]", "7", '"a"', "{", "{}{}", '{"a":"\\ud800"}'])
def test_what_is_no_tokenizer_document_is_refused(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        pw.Tokenizer.from_json(text)
    assert caught.value.expected


def test_a_lone_surrogate_in_the_text_of_a_file_is_refused() -> None:
    with pytest.raises(FormatError, match="lone surrogate"):
        pw.Tokenizer.from_json(json.dumps(components.document()) + "\ud800")


# ---- specifications written in Python

CHARS = pw.spec.Char({"[UNK]": 0})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pw.Tokenizer("model"), 'model: found "model"'),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(pw.spec.Char(None)), "vocab: found NoneType"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(pw.spec.Char({"\ud800": 0})), "lone surrogate"),
        (lambda: pw.Tokenizer(CHARS, normalizer="nfc"), 'normalizer: found "nfc"'),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(CHARS, normalizer=pw.spec.Prepend(b"x")), "spec: found bytes"),  # type: ignore[arg-type]
        (
            lambda: pw.Tokenizer(CHARS, normalizer=pw.spec.SequenceNormalizer(("nfc",))),  # type: ignore[arg-type]
            r'normalizer\.normalizers\[0\]: found "nfc"',
        ),
        (lambda: pw.Tokenizer(CHARS, pre_tokenizer=pw.spec.NFC()), r"pre_tokenizer\.type"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(CHARS, added_tokens=7), "added_tokens: found int"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(CHARS, added_tokens=["x"]), r"added_tokens\[0\]"),  # type: ignore[list-item]
        (lambda: pw.Tokenizer(CHARS, padding=7), "padding: found 7"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer.from_spec("x"), "spec: found str"),  # type: ignore[arg-type]
    ],
    ids=range(11),
)
def test_a_wrong_specification_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises((FormatError, ArgumentError), match=message):
        make()
