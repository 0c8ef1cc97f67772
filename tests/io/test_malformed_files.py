"""Wrong tokenizer files: each fault of a class is refused, by a typed error that names its place.

The first tests damage every field of every component; the rest are contradictions, one a line.
"""

from __future__ import annotations

import base64
import copy
import json
import pathlib
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, FormatError, FormatWarning, VocabularyError
from tests import components
from tests.io.test_malformed_models import DEFINED, START
from tests.io.test_malformed_models import model as model_file
from tests.processes import LINUX

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
        pw.Tokenizer.from_str(json.dumps(document))
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
    single: list[Any],
    token: str = "[CLS]",
    id: int = 2,
    name: str = "[CLS]",
    tokens: components.Json | None = None,
) -> components.Json:
    a, b = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}
    return {
        "model": WORDS,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [a if piece == "A" else piece for piece in single],
            "pair": [a, b],
            "special_tokens": tokens or {"[CLS]": {"id": name, "ids": [id], "tokens": [token]}},
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
        (
            {"model": PAIRS | {"vocab": {"": 3} | PAIRS["vocab"], "merges": ["a b", "a "]}},
            "model.merges[1]",
        ),
        (
            {"model": PAIRS | {"vocab": {"": 3} | PAIRS["vocab"], "merges": [["", "b"]]}},
            "model.merges[0]",
        ),
        ({"model": PIECES | {"vocab": [["<unk>", 0.0], ["", -1.0]]}}, "model.vocab[1]"),
        ({"padding": PADDING | {"pad_to_multiple_of": 0}}, "padding.pad_to_multiple_of"),
        ({"padding": PADDING | {"pad_id": 77}}, "padding.pad_id"),
        ({"padding": PADDING | {"pad_type_id": 256}}, "padding.pad_type_id"),
        (
            {"truncation": TRUNCATION | {"max_length": 2, "stride": 2}},
            "truncation.stride",
        ),
        ({"truncation": TRUNCATION | {"max_length": 0}}, "truncation.max_length"),
        ({"truncation": TRUNCATION | {"max_length": 1 << 32}}, "truncation.max_length"),
        ({"truncation": TRUNCATION | {"max_length": 1 << 63}}, "truncation.max_length"),
        (framed(["A"], id=77), "post_processor.special_tokens"),
        (framed(["A"], id=1), "post_processor.special_tokens"),
        (framed(["A"], token="[SEP]"), "post_processor.special_tokens"),
        (framed(["A"], name="[SEP]"), "post_processor.special_tokens"),
        (
            framed(["A"], tokens={"[CLS]": {"id": "[CLS]", "ids": [], "tokens": []}}),
            'post_processor.special_tokens["[CLS]"].ids',
        ),
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
        pw.Tokenizer.from_str(json.dumps(components.document(**stages)))
    assert caught.value.place.startswith(place), caught.value
    assert caught.value.found
    assert caught.value.expected


@pytest.mark.parametrize("depth", [200, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused(depth: int, opening: str, closing: str) -> None:
    with pytest.raises(FormatError, match="recursion limit"):
        pw.Tokenizer.from_str(opening * depth + "0" + closing * depth)


@pytest.mark.parametrize("text", ["", "null", "[]", "7", '"a"', "{", "{}{}", '{"a":"\\ud800"}'])
def test_documents_without_a_tokenizer_are_rejected(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        pw.Tokenizer.from_str(text)
    assert caught.value.expected


def test_a_lone_surrogate_in_the_text_of_a_file_is_refused() -> None:
    with pytest.raises(FormatError, match="lone surrogate"):
        pw.Tokenizer.from_str(json.dumps(components.document()) + "\ud800")


# ---- what works and is probably a mistake

TWICE = PAIRS | {
    "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4},
    "merges": ["a b", "b c", "a b"],
}
EMPTY = WORDS | {"vocab": {"[UNK]": 0, "a": 1, "": 2}}
PIECEWISE = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 0,
    "vocab": {"[UNK]": 0, "a": 1},
}


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"padding": PADDING | {"pad_token": "[PAD]"}}, "padding.pad_token: found \"[PAD]\", which is not"),
        ({"padding": PADDING | {"pad_token": "a"}, "model": WORDS}, "padding.pad_token: found \"a\", which"),
        ({"model": EMPTY}, "model.vocab[\"\"]: found the empty token with id 2"),
        ({"model": TWICE}, "model.merges[2]: found the merge of model.merges[0] again"),
        ({"model": PIECEWISE}, "model.max_input_chars_per_word: found 0"),
    ],
    ids=["absent pad token", "other pad token", "empty token", "merge twice", "no characters"],
)  # fmt: skip
def test_a_probable_mistake_is_warned_of_and_read_as_by_its_owner(
    stages: components.Json, message: str, tmp_path: pathlib.Path
) -> None:
    document = components.document(**stages)
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with pytest.warns(FormatWarning, match=re.escape(message)) as caught:
        ours = pw.Tokenizer.load(tmp_path / "tokenizer.json")
    assert "tokenizer.json" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(FormatWarning, match=re.escape(message)) as caught:
        pw.Tokenizer.from_str(json.dumps(document))
    assert caught[0].filename == __file__
    theirs = tokenizers.Tokenizer.from_str(json.dumps(document))
    for text in ("a", "abc", ""):
        assert list(ours.encode(text).ids) == theirs.encode(text).ids, text


def test_byte_pairs_may_fill_a_gap_with_an_empty_token() -> None:
    """The vocabulary of Whisper does."""
    model = PAIRS | {"vocab": {"": 3} | PAIRS["vocab"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pw.Tokenizer.from_str(json.dumps(components.document(model=model)))


# ---- bounds


DOUBLING = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
SPACES: components.Json = {"type": "BPEDecoder", "suffix": ""}
DELIMITERS = {"type": "CTC", "pad_token": "x", "word_delimiter_token": "", "cleanup": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def members(name: str, step: components.Json, inner: bool) -> components.Json:
    steps: components.Json = {"type": "Sequence", name: [step] * 40}
    return {"type": "Sequence", name: [steps]} if inner else steps


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("step", [DOUBLING, SPACES, DELIMITERS], ids=["Replace", "BPE", "CTC"])
@pytest.mark.parametrize("count", [10, 1000])
def test_decoders_that_double_the_text_are_stopped_by_name(
    step: components.Json, inner: bool, count: int
) -> None:
    document = components.document(model=WORDS, decoder=members("decoders", step, inner))
    tok = pw.Tokenizer.from_str(json.dumps(document))
    place = r"decoder\.decoders\[0\]" if inner else "decoder"
    with pytest.raises(
        ArgumentError, match=rf"^{place}\.decoders\[\d+\]: must be .*, not a decoder that"
    ):
        tok.decode([1] * count)


def test_a_decoder_that_multiplies_the_text_at_once_is_stopped() -> None:
    decoder = DOUBLING | {"content": "a" * 60_000}
    tok = pw.Tokenizer.from_str(json.dumps(components.document(model=WORDS, decoder=decoder)))
    assert tok.decode([1]) == "a" * 60_000
    for count in (10, 1000):
        with pytest.raises(
            ArgumentError, match=r"^decoder: must be .*, not a decoder that writes more"
        ):
            tok.decode([1] * count)


def test_a_long_text_for_unknown_pieces_is_stopped() -> None:
    decoder = {
        "type": "SentencePiece",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "unk_piece": "a",
        "unk_surface": "?" * 1_000_000,
        "control_symbols": [],
        "byte_fallback": False,
        "denormalizer": None,
    }
    tok = pw.Tokenizer.from_str(json.dumps(components.document(model=WORDS, decoder=decoder)))
    for count in (10, 1000):
        with pytest.raises(
            ArgumentError, match=r"^decoder: must be .*, not a decoder that writes more"
        ):
            tok.decode([1] * count)


@pytest.mark.parametrize(
    ("stage", "list_name", "step", "text"),
    [
        ("normalizer", "normalizers", DOUBLING, "a"),
        ("pre_tokenizer", "pretokenizers", BYTES, "é"),
        ("normalizer", "normalizers", {"type": "Prepend", "prepend": "a" * 200_000}, "a"),
    ],
    ids=["Replace", "ByteLevel", "Prepend"],
)
def test_steps_that_double_the_text_are_stopped_by_name(
    stage: str, list_name: str, step: components.Json, text: str
) -> None:
    stages: components.Json = {stage: members(list_name, step, inner=False)}
    tok = pw.Tokenizer.from_str(json.dumps(components.document(model=WORDS, **stages)))
    with pytest.raises(
        ArgumentError, match=rf"^{stage}\.{list_name}\[\d+\]: must be .*, not .* more than"
    ):
        tok.encode(text)


def test_a_rule_that_writes_much_more_than_it_reads_is_stopped() -> None:
    empty = {"type": "Replace", "pattern": {"Regex": ""}, "content": "x" * 1000}
    tok = pw.Tokenizer.from_str(json.dumps(components.document(model=WORDS, normalizer=empty)))
    with pytest.raises(ArgumentError, match=r"^normalizer: must be at most 64 times its length"):
        tok.encode("a" * 100_000)
    assert tok.normalize("a" * 10).count("x") == 11_000


def test_the_longest_forms_of_unicode_are_within_the_limit() -> None:
    # NFKC writes the ligature with 33 bytes for 3, and the byte level doubles them.
    text = "\ufdfa" * 100_000
    stages = {
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    }
    tok = pw.Tokenizer.from_str(json.dumps(components.document(model=WORDS, **stages)))
    assert len(tok.normalize(text)) == 18 * len(text)
    assert tok.encode(text).ids


def test_a_special_token_before_a_no_break_space_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\u00a0\na\n", encoding="utf-8")
    with pytest.raises(
        VocabularyError, match=r'line 2: found "\[UNK\]\\u\{a0\}".*alone on its line'
    ):
        pw.Tokenizer.load(path)
    # bert-base-chinese has such a token of text.
    path.write_text("[UNK]\r\n##\u2028\na \n", encoding="utf-8")
    assert list(pw.Tokenizer.load(path).get_vocab()) == ["[UNK]", "##", "a"]


def test_an_empty_token_among_ranks_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    lines = [b"%s %d" % (base64.b64encode(bytes([byte])), byte) for byte in range(256)]
    path.write_bytes(b"\n".join([*lines, b"= 256"]))
    assert pw.Tokenizer.load(path, pattern="gpt2").id_to_token(256) == ""
    path.write_bytes(b"\n".join([*lines, b"= 256", b"YWI= 257"]))
    with pytest.raises(FormatError, match="line 257: found an empty token with rank 256, which"):
        pw.Tokenizer.load(path, pattern="gpt2")


@pytest.mark.parametrize(
    ("stage", "list_name", "kind"),
    [
        ("normalizer", "normalizers", "NFC"),
        ("pre_tokenizer", "pretokenizers", "Whitespace"),
        ("decoder", "decoders", "Fuse"),
    ],
)
def test_a_stage_of_too_many_steps_is_refused(stage: str, list_name: str, kind: str) -> None:
    steps = {"type": "Sequence", list_name: [{"type": kind}] * 600}
    nested = {"type": "Sequence", list_name: [steps, steps]}
    with pytest.raises(FormatError, match=rf"^{stage}: found 1200 steps, expected at most 1024"):
        pw.Tokenizer.from_str(json.dumps(components.document(model=WORDS, **{stage: nested})))


LONG = "x" * (1 << 20) + "y"


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (WORDS | {"vocab": WORDS["vocab"] | {LONG: 3}}, r"model\.vocab\[\"x{60}\.\.\.\"\]"),
        (PAIRS | {"vocab": PAIRS["vocab"] | {LONG: 3}}, r"model\.vocab\[\"x{60}\.\.\.\"\]"),
        (PIECEWISE | {"vocab": {"[UNK]": 0, LONG: 1}}, r"model\.vocab\[\"x{60}\.\.\.\"\]"),
        (PIECES | {"vocab": [*PIECES["vocab"], [LONG, -1.0]]}, r"model\.vocab\[2\]"),
    ],
    ids=["WordLevel", "BPE", "WordPiece", "Unigram"],
)
def test_a_very_long_token_is_refused(model: components.Json, place: str) -> None:
    with pytest.raises(
        VocabularyError, match=rf"^{place}: found a token of 1048577 bytes"
    ) as caught:
        pw.Tokenizer.from_str(json.dumps(components.document(model=model)))
    assert len(str(caught.value)) < 300


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "spiece.model"])
def test_a_line_of_fifty_megabytes_is_refused_within_little_memory(
    name: str, tmp_path: pathlib.Path
) -> None:
    line = "x" * 50_000_000
    document = components.document(model=PIECEWISE | {"vocab": {"[UNK]": 0, line: 1}})
    content = {
        "vocab.txt": f"[UNK]\n{line}\n".encode(),
        "tokenizer.json": json.dumps(document).encode(),
        "spiece.model": model_file([*START, (line, 0.0, DEFINED)]),
    }[name]
    (tmp_path / name).write_bytes(content)
    code = """
import resource, sys
import piecework as pw
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (1 << 30),) * 2)
try:
    pw.Tokenizer.load(sys.argv[1])
except pw.errors.VocabularyError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "found a token of 50000000 bytes" in run.stdout


@pytest.mark.parametrize(("count", "length"), [(70, 1 << 20), (66_000, 1 << 10)])
def test_a_vocabulary_too_large_for_its_tables_is_refused(count: int, length: int) -> None:
    vocab = {f"{n:0{length}}": n + 1 for n in range(count)} | {"[UNK]": 0}
    document = components.document(model=PIECEWISE | {"vocab": vocab})
    with pytest.raises(VocabularyError, match=r"found over 67108864 bytes of tokens"):
        pw.Tokenizer.from_str(json.dumps(document))


# ---- specifications written in Python

CHARS = pw.spec.Char({"[UNK]": 0})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pw.Tokenizer("model"), "model: must be .*, not str"),  # type: ignore[arg-type]
        (
            lambda: pw.Tokenizer(pw.spec.Char(None)),
            (r'vocab: is missing: pass a vocabulary; Tokenizer\.train\(files, model="char",'),
        ),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(pw.spec.Char({"\ud800": 0})), "lone surrogate"),
        (lambda: pw.Tokenizer(CHARS, normalizer="nfc"), 'normalizer: found "nfc"'),  # type: ignore[arg-type]
        (
            lambda: pw.Tokenizer(CHARS, normalizer=pw.spec.Prepend(b"x")),
            "spec: must contain components, str, numbers, bool and None only, not bytes",
        ),  # type: ignore[arg-type]
        (
            lambda: pw.Tokenizer(CHARS, normalizer=pw.spec.SequenceNormalizer(("nfc",))),  # type: ignore[arg-type]
            r'normalizer\.normalizers\[0\]: found "nfc"',
        ),
        (lambda: pw.Tokenizer(CHARS, pre_tokenizer=pw.spec.NFC()), r"pre_tokenizer\.type"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(CHARS, added_tokens=7), "added_tokens: must be .*, not int"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer(CHARS, added_tokens=["x"]), r"added_tokens\[0\]"),  # type: ignore[list-item]
        (lambda: pw.Tokenizer(CHARS, padding=7), "padding: found 7"),  # type: ignore[arg-type]
        (lambda: pw.Tokenizer.from_spec("x"), "spec: must be .*, not str"),  # type: ignore[arg-type]
    ],
    ids=range(11),
)
def test_a_wrong_specification_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises((FormatError, ArgumentError), match=message):
        make()
