"""The rows: ids of the definition and of the libraries, one file for one tokenizer, and what they find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import piecework as pw
from piecework.analysis import Golden, check_golden, golden
from piecework.analysis.golden.file import FLAGS, GoldenRow
from piecework.analysis.golden.generate import encoding_of
from piecework.errors import StageError
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.spec import BertNormalizer, CustomNormalizer, CustomPreTokenizer, TokenizerSpec
from tests.analysis.golden.tokenizers import KINDS, pins, small
from tests.laws.characters import CHARACTERS

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs" / "reference" / "golden.schema.json").read_text())

Change = Callable[[pw.Tokenizer], pw.Tokenizer]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_read_as_it_was_written(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    pins(kind).save(path)
    assert Golden.load(path) == pins(kind)
    assert path.stat().st_size <= 100_000
    lines = path.read_text(encoding="utf-8").splitlines()  # at U+2028 and U+0085 too
    assert len(lines) == len(pins(kind).rows) + 1 <= 401


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_agrees_with_the_schema(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    for line in pins(kind).to_lines():
        validator.validate(json.loads(line))


def test_the_schema_rejects_other_lines() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    row = pins("char").rows[0].to_dict()
    assert validator.is_valid(json.loads(json.dumps(row)))
    for wrong in ({**row, "id": 1}, {**row, "error": True}, {**row, "ids": [-1]}, {"row": 1}):
        assert not validator.is_valid(json.loads(json.dumps(wrong)))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_equal_the_definition(kind: str) -> None:
    agreed = set(CHARACTERS.agreed)
    compared = 0
    for row in pins(kind).rows:
        if not agreed.issuperset(row.text + (row.pair or "")) or row.error:
            continue
        compared += 1
        found = _reference(small(kind).spec, row)
        expected = (list(row.ids), list(row.tokens), list(row.char_offsets))
        assert (found.ids, found.tokens, found.offsets) == expected, row
    assert compared > 0.8 * len(pins(kind).rows)


def _reference(spec: TokenizerSpec, row: GoldenRow) -> Any:
    spec = replace(spec, truncation=None, padding=None, parse_special=row.parse_special)
    if row.truncation is not None:
        spec = replace(spec, truncation=pw.spec.Truncation(**row.truncation))
    if row.padding is not None:
        length, side, pad_id = (row.padding[name] for name in ("length", "side", "id"))
        token = ReferenceTokenizer(spec).tokens_by_id[pad_id]
        padding = pw.spec.Padding(length=length, side=side, pad_id=pad_id, pad_token=token)
        spec = replace(spec, padding=padding)
    tokenizer = ReferenceTokenizer(spec)
    return tokenizer.encode(row.text, row.pair, add_special_tokens=row.add_special_tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_count_bytes_and_code_points(kind: str) -> None:
    for row in pins(kind).rows:
        if row.error:
            continue
        if row.pair is None:
            data = row.text.encode()
            for (start, end), (first, last) in zip(row.char_offsets, row.byte_offsets, strict=True):
                assert row.text[start:end].encode() == data[first:last]
        assert encoding_of(small(kind), row).ids == list(row.ids)


def test_every_row_has_a_known_flag_and_a_comment() -> None:
    for kind in KINDS:
        found = pins(kind)
        assert [row.row for row in found.rows] == list(range(1, len(found.rows) + 1))
        assert all(row.comment and set(row.flags) <= found.flags.keys() for row in found.rows)
        assert found.flags.items() <= FLAGS.items()


def test_texts_are_there_once_in_each_mode() -> None:
    for kind in KINDS:
        rows = [tuple(row.request().items())[1:] for row in pins(kind).rows]
        assert len({json.dumps(row) for row in rows}) == len(rows)


CHANGES: dict[str, list[Change]] = {
    "wordpiece": [
        lambda tok: tok.with_normalizer(None),
        lambda tok: tok.with_normalizer(BertNormalizer(cleaning="original", lowercase=False)),
        lambda tok: tok.with_normalizer(BertNormalizer(strip_accents=False)),
        lambda tok: tok.with_normalizer(BertNormalizer(clean_text=False)),
        lambda tok: tok.with_normalizer(BertNormalizer(handle_chinese_chars=False)),
        lambda tok: tok.with_pre_tokenizer(pw.spec.Whitespace()),
        lambda tok: tok.with_post_processor(None),
        lambda tok: tok.with_decoder(None),
        lambda tok: tok.without_added_tokens(["<mask>er"]),
        lambda tok: _with_model(tok, max_input_chars_per_word=99),
        lambda tok: _with_model(tok, unk="char"),
    ],
    "byte-bpe": [
        lambda tok: tok.with_normalizer(None),
        lambda tok: tok.with_normalizer(pw.spec.NFKC()),
        lambda tok: tok.with_pre_tokenizer(pw.spec.ByteLevel(add_prefix_space=False)),
        lambda tok: _with_model(tok, merges=tuple(tok.spec.model.merges)[::-1]),  # type: ignore[union-attr]
    ],
    "bpe": [
        lambda tok: tok.with_normalizer(pw.spec.Lowercase()),
        lambda tok: tok.with_added_tokens([pw.spec.AddedToken("<mask>", lstrip=False)]),
        lambda tok: tok.with_added_tokens([pw.spec.AddedToken("<word>", single_word=False)]),
        lambda tok: tok.with_added_tokens([pw.spec.AddedToken("Pug", normalized=False)]),
    ],
    "unigram": [
        lambda tok: tok.with_normalizer(pw.spec.NFKD()),
        lambda tok: tok.with_pre_tokenizer(pw.spec.Metaspace(prepend_scheme="first")),
        lambda tok: tok.with_pre_tokenizer(pw.spec.Metaspace(prepend_scheme="never")),
    ],
}


def _with_model(tokenizer: pw.Tokenizer, **settings: Any) -> pw.Tokenizer:
    spec = tokenizer.spec
    return pw.Tokenizer.from_spec(replace(spec, model=replace(spec.model, **settings)))


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, at) for kind, found in CHANGES.items() for at in range(len(found))]
)
def test_a_single_change_of_the_tokenizer_is_found(kind: str, number: int) -> None:
    changed = CHANGES[kind][number](small(kind))
    header = {**pins(kind).tokenizer, "fingerprint": changed.fingerprint}
    found = check_golden(replace(pins(kind), tokenizer=header), changed)
    assert not found.is_equal
    assert "differ" in str(found)
    sizes = [len(one.row.text) for one in found.differences]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    "change",
    [
        lambda tok: tok.with_normalizer(CustomNormalizer(str.lower, name="mine")),
        lambda tok: tok.with_pre_tokenizer(CustomPreTokenizer(str.split, name="mine")),
        lambda tok: tok.with_normalizer(
            pw.spec.SequenceNormalizer((CustomNormalizer(str.lower, name="mine"),))
        ),
    ],
)
def test_stages_in_python_are_refused(change: Change) -> None:
    with pytest.raises(StageError, match="'mine'.*is a Python function"):
        golden(change(small("char")))


def test_a_corpus_adds_lines_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a private line\n\n" + "x" * 500 + "\n")
    found = golden(small("char"), corpus=pw.corpus.read_corpus(tmp_path / "corpus.txt"))
    lines = [row.text for row in found.rows if "corpus" in row.flags]
    assert found.corpus
    assert set(lines) == {"a private line", "x" * 80}
    assert not pins("char").corpus


def test_a_chat_template_adds_rendered_chats() -> None:
    template = "{% for m in messages %}<mask>{{ m.role }}: {{ m.content }}\n{% endfor %}"
    found = golden(small("char").with_chat_template(template))
    chats = [row for row in found.rows if row.messages]
    assert len(chats) == 3
    assert chats[0].text == "<mask>user: Hello, it's 12:30.\n"


def test_the_smallest_tokenizers_have_golden_files() -> None:
    for model in (pw.spec.Char({"[UNK]": 0}), pw.spec.WordLevel({"[UNK]": 0})):
        tokenizer = pw.Tokenizer(model)
        assert check_golden(golden(tokenizer), tokenizer).is_equal


def test_a_text_that_raises_is_a_row_with_an_error() -> None:
    tokenizer = pw.Tokenizer(pw.spec.Unigram((("a", -1.0), ("b", -2.0))))
    found = golden(tokenizer)
    errors = [row for row in found.rows if row.error]
    assert errors
    assert "ids" not in errors[0].to_dict()
    assert check_golden(found, tokenizer).is_equal
