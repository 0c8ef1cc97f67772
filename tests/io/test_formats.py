"""Files: what is read and written, what other libraries make of it, and what bad files get."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import tracemalloc
from pathlib import Path

import pytest
import tokenizers
from hypothesis import assume, given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, FileError, FormatError, VocabularyError
from piecework.io.format_detection import detect_format
from piecework.io.load_options import LoadOptions
from piecework.spec.portable import portable_json
from piecework.train import Merges
from tests import components, data

TEXTS = ["I have a new GPU!", "Don't you love 🤗 Transformers?", "naïve 漢字 [MASK] x", "", "hugs"]


def trained(**settings: object) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(
        ["the hug of a pug, the pun of a bun"] * 3,
        vocab_size=40,
        learner=Merges("frequency"),
        **settings,
    )


def document(tokenizer: pw.Tokenizer | None = None) -> dict[str, object]:
    return json.loads((tokenizer or trained()).to_str())


def load_changed(tmp_path: Path, change: object) -> pw.Tokenizer:
    value = document()
    change(value)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return pw.Tokenizer.load(path)


# ---- round trips


@pytest.mark.parametrize(
    "tokenizer",
    [
        trained(),
        trained(preset="bert-cased").with_truncation(8, stride=2).with_padding(12, side="left"),
        trained(preset="whitespace"),
        pw.Tokenizer.train_from_iterator(["to be or not"], model="word"),
        pw.Tokenizer.train_from_iterator(["to be or not"], model="char"),
    ],
)
def test_saved_files_load_equal_here_and_in_tokenizers(
    tokenizer: pw.Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = pw.Tokenizer.load(path)
    assert loaded == tokenizer
    assert loaded.spec == tokenizer.spec
    assert loaded.to_str(pretty=True) == path.read_text(encoding="utf-8")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    for text in TEXTS:
        assert theirs.encode(text).ids == tokenizer.encode(text).ids
    assert json.loads(theirs.to_str()) == json.loads(tokenizer.to_str())


@pytest.mark.slow
@pytest.mark.parametrize("path", data.tokenizer_files(), ids=lambda path: path.parent.name)
def test_published_files_are_written_back_equal(path: Path) -> None:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    theirs = tokenizers.Tokenizer.from_str(text).to_str()
    assert pw.Tokenizer.from_str(text).to_str() == theirs
    assert pw.Tokenizer.from_str(theirs).to_str() == theirs


def assert_written_alike(value: components.Json) -> None:
    text = json.dumps(value)
    ours = pw.Tokenizer.from_str(text)
    assert ours.to_str() == tokenizers.Tokenizer.from_str(text).to_str()
    portable = portable_json(ours.spec)
    assert json.loads(portable) == json.loads(ours.to_str())
    assert pw.TokenizerSpec.from_json(portable) == ours.spec


@pytest.mark.parametrize(
    ("stage", "kind"),
    [(stage, kind) for stage, kinds in components.ALONE.items() for kind in kinds],
)
@given(draw=st.data())
def test_every_component_is_written_as_tokenizers_writes_it(
    stage: str, kind: str, draw: st.DataObject
) -> None:
    component = draw.draw(components.ALONE[stage][kind])
    assert_written_alike(components.document(**{stage: component}))


@given(components.DOCUMENTS)
def test_every_pipeline_is_written_as_tokenizers_writes_it(value: components.Json) -> None:
    try:
        assert_written_alike(value)
    except FormatError as error:
        # A template after processors that make three parts has no meaning; they panic when it runs.
        assume("a template after processors" not in str(error))
        raise


@pytest.mark.parametrize(
    ("stage", "old"),
    [
        ("pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}),
        (
            "pre_tokenizer",
            {
                "type": "Metaspace",
                "replacement": "▁",
                "str_rep": "▁",
                "add_prefix_space": False,
                "prepend_scheme": "never",
            },
        ),
        ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}),
        ("pre_tokenizer", {"type": "Punctuation"}),
        ("pre_tokenizer", {"type": "FixedLength"}),
        ("model", {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}),
        ("model", {"vocab": [["<unk>", 0], ["a", -1.5]], "unk_id": 0}),
        ("model", {"vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}),
    ],
)
def test_old_files_are_read_as_tokenizers_reads_them(stage: str, old: components.Json) -> None:
    assert_written_alike(components.document(**{stage: old}))


def test_models_that_tokenizers_trains_load_equal() -> None:
    theirs = tokenizers.BertWordPieceTokenizer()
    theirs.train_from_iterator(["the hug of a pug, the pun of a bun"] * 3, vocab_size=60)
    ours = pw.Tokenizer.from_str(theirs.to_str())
    for text in TEXTS:
        assert ours.encode(text).ids == theirs.encode(text).ids
        assert ours.encode(text).offsets == theirs.encode(text).offsets


def test_vocab_txt_round_trips_and_sniffing_goes_by_content(tmp_path: Path) -> None:
    tokenizer = trained()
    tokenizer.save(tmp_path / "vocab.txt")
    (tmp_path / "disguised.json").write_bytes((tmp_path / "vocab.txt").read_bytes())
    tokenizer.save(tmp_path / "tokenizer.json")
    (tmp_path / "disguised.txt").write_bytes((tmp_path / "tokenizer.json").read_bytes())
    assert pw.Tokenizer.load(tmp_path / "vocab.txt") == tokenizer
    assert pw.Tokenizer.load(tmp_path / "disguised.json") == tokenizer
    assert pw.Tokenizer.load(tmp_path / "disguised.txt") == tokenizer


def test_letter_case_of_a_vocab_txt_is_decided_by_its_entries(tmp_path: Path) -> None:
    (tmp_path / "cased.txt").write_text("[UNK]\nHug\n")
    cased = pw.Tokenizer.load(tmp_path / "cased.txt")
    assert cased.encode("Hug hug", add_special_tokens=False).ids == [1, 0]
    lowered = pw.Tokenizer.load(tmp_path / "cased.txt", lowercase=True)
    assert lowered.encode("Hug", add_special_tokens=False).ids == [0]


def test_options_that_others_lack_survive_in_a_file_of_this_library(tmp_path: Path) -> None:
    model = pw.spec.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk="char", segmentation="shortest")
    path = tmp_path / "tokenizer.piecework"
    tok = pw.Tokenizer(model, parse_special="refuse")
    tok.save(path)
    assert pw.Tokenizer.load(path) == tok


# ---- bad files


def test_a_missing_file_is_named() -> None:
    with pytest.raises(FileError, match=r"nowhere\.json: cannot be read: no such file"):
        pw.Tokenizer.load("nowhere.json")


def test_duplicate_lines_are_named_with_both_numbers(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\nhug\npug\nhug\n")
    with pytest.raises(VocabularyError, match=r"vocab\.txt: line 4: found \"hug\", which line 2"):
        pw.Tokenizer.load(path)


def test_a_vocabulary_without_the_unknown_token_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("hug\npug\n")
    with pytest.raises(VocabularyError, match="no unknown token"):
        pw.Tokenizer.load(path)
    with pytest.raises(VocabularyError, match=r"model\.unk_token: found \"\[UNK\]\""):
        pw.Tokenizer(pw.spec.WordPiece({"hug": 0}))


def test_bytes_that_are_not_utf8_are_named_by_position(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[UNK]\nh\xffg\n")
    with pytest.raises(FormatError, match="byte 7"):
        pw.Tokenizer.load(path)


def test_broken_json_is_named_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": "1.0",\n "model": }')
    with pytest.raises(FormatError, match="line 2, column 11"):
        pw.Tokenizer.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(colour="red"), "colour: found an unknown field"),
        (lambda d: d.pop("model"), "model: found nothing"),
        (lambda d: d["normalizer"].update(type="Shout"), r"normalizer\.type: found \"Shout\""),
        (lambda d: d["normalizer"].update(loud=True), r"normalizer\.loud: found an unknown field"),
        (
            lambda d: d["normalizer"].update(lowercase=1),
            r"normalizer\.lowercase: found 1, expected true",
        ),
        (
            lambda d: d["model"].update(type="Magic"),
            r"model\.type: found \"Magic\", expected one of BPE",
        ),
        (lambda d: d["model"]["vocab"].update({"hug": -1}), r"model\.vocab\[\"hug\"\]: found -1"),
        (lambda d: d["model"]["vocab"].update({"x": 5}), "id 5 twice"),
        (lambda d: d["model"]["vocab"].update({"x": 4_000_000_000}), "id 4000000000"),
        (lambda d: d["added_tokens"][1].update(id=7), r"added_tokens\[1\]"),
        (lambda d: d["added_tokens"][1].update(normalized=1), r"added_tokens\[1\]\.normalized"),
        (
            lambda d: d["added_tokens"].append(d["added_tokens"][0]),
            r"added_tokens\[5\]: found id 0, which added_tokens\[0\] has too",
        ),
        (
            lambda d: d["post_processor"].update(single=[]),
            r"post_processor\.single: found no sequence A",
        ),
        (
            lambda d: d["post_processor"]["special_tokens"].pop("[CLS]"),
            r"post_processor\.single\[0\]: found \"\[CLS\]\"",
        ),
        (lambda d: d.update(version="7.0"), r"version: found \"7\.0\""),
        (lambda d: d.update(model=[]), "model: found an array, expected an object"),
    ],
)
def test_errors_name_the_path_inside_the_json(change: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message):
        load_changed(tmp_path, change)


@pytest.mark.parametrize(
    ("stage", "text", "message"),
    [
        ("decoder", '{"type":"Fuse","type":"Fuse"}', r"decoder\.type: found this field again"),
        (
            "model",
            '{"vocab":{"a":0,"a":1},"unk_token":"a"}',
            r'model\.vocab\["a"\]: found this entry',
        ),
        (
            "pre_tokenizer",
            '{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"Shout"}]}',
            r"pre_tokenizer\.pretokenizers\[1\]\.type: found \"Shout\", expected one of Bert",
        ),
        (
            "decoder",
            '{"suffix":"</w>"}',
            r"decoder\.type: found nothing, expected one of WordPiece",
        ),
        (
            "pre_tokenizer",
            '{"type":"CharDelimiterSplit","delimiter":"ab"}',
            "expected one character",
        ),
        (
            "normalizer",
            '{"type":"Precompiled","precompiled_charsmap":"%"}',
            r"normalizer\.precompiled_charsmap: found text that is not base64",
        ),
        ("model", '{"type":"Unigram","unk_id":1,"vocab":[["a",0]]}', r"model\.unk_id: found 1"),
        ("model", '{"vocab":{},"merges":["a  b"]}', r"model\.merges\[0\]: found \"a  b\""),
        ("model", '{"vocab":{},"merges":[],"dropout":2}', r"model\.dropout: found 2"),
    ],
)
def test_errors_that_tokenizers_ignores_are_named(stage: str, text: str, message: str) -> None:
    value = json.dumps(components.document(**{stage: {"here": 0}}))
    with pytest.raises(FormatError, match=message):
        pw.Tokenizer.from_str(value.replace('{"here": 0}', text))


def test_version_2_is_read_and_written_as_version_1() -> None:
    value = components.document(
        version="2.0",
        normalizer={
            "type": "MetaspaceNormalizer",
            "replacement": "▁",
            "prepend": True,
            "drop_whitespace": False,
        },
        pre_tokenizer={
            "type": "Split",
            "pattern": {"String": "▁"},
            "behavior": "MergedWithNext",
            "invert": False,
        },
        post_processor={
            "type": "TemplateProcessing",
            "single": [{"ids": [6]}, {"seq": "A"}],
            "pair": [{"seq": "A"}, {"ids": [7]}, {"seq": "B", "type_id": 1}],
        },
    )
    spec = pw.Tokenizer.from_str(json.dumps(value)).spec
    assert spec.normalizer is None
    assert spec.pre_tokenizer == pw.spec.Metaspace()
    assert isinstance(spec.post_processor, pw.spec.TemplateProcessing)
    assert spec.post_processor.single == ("[CLS]:0", "$A:0")
    assert spec.post_processor.special_tokens == {"[CLS]": (6,), "[SEP]": (7,)}


def test_deeply_nested_json_is_an_error_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model":' + "[" * 200_000)
    with pytest.raises(FormatError):
        pw.Tokenizer.load(path)


def test_lowercase_contradicts_a_tokenizer_json(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    trained().save(path)
    with pytest.raises(ArgumentError, match="lowercase"):
        pw.Tokenizer.load(path, lowercase=True)


@given(seed=st.integers(0, 2**32))
def test_damaged_files_give_typed_errors(seed: int) -> None:
    rng = random.Random(seed)
    damaged = bytearray(DOCUMENT)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(damaged))
        choice = rng.random()
        if choice < 0.4:
            damaged[at] = rng.randrange(256)
        elif choice < 0.7:
            del damaged[at : at + rng.randint(1, 40)]
        else:
            damaged[at:at] = damaged[rng.randrange(len(damaged)) :][: rng.randint(1, 40)]
    text = damaged.decode("utf-8", errors="replace")
    with contextlib.suppress(FormatError, ArgumentError):
        pw.Tokenizer.from_str(text).encode("the hug of a pug")


DOCUMENT = trained().to_str().encode()


# ---- writing


def test_a_vocabulary_with_gaps_cannot_be_a_vocab_txt(tmp_path: Path) -> None:
    tokenizer = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "a": 5}))
    with pytest.raises(VocabularyError, match="ids from 0 without gaps"):
        tokenizer.save(tmp_path / "vocab.txt")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_place_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="missing"):
        trained().save(tmp_path / "missing" / "tokenizer.json")
    assert list(tmp_path.iterdir()) == []


def test_a_long_key_takes_little_memory_to_detect(tmp_path: Path) -> None:
    for text in ("a" * 5_000_000, "\\\\" * 2_500_000):
        data = b'{"' + text.encode()
        tracemalloc.start()
        try:
            assert detect_format(data, LoadOptions()) == "tokenizer.json"
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("key", ["", "a", 'a"b', "a\\", "\n", "é", "a" * 10_000, '\\"' * 1000])
def test_the_first_key_of_a_vocabulary_may_have_escapes(key: str) -> None:
    for pad in ("", " ", "\n\t"):
        data = f"{{{pad}{json.dumps(key)}{pad}:{pad}0}}".encode()
        assert detect_format(data, LoadOptions()) == "vocab.json"
    assert detect_format(json.dumps({key: "0"}).encode(), LoadOptions()) == "tokenizer.json"


def test_a_token_with_a_lone_surrogate_is_in_no_vocabulary() -> None:
    assert trained().token_to_id("\ud800") is None
