"""The reader of JSON lines in the core agrees with Python's `json` on valid and on broken lines."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from piecework._internal._core import TextColumn
from piecework.corpus.field_path import FieldPath
from piecework.corpus.json_lines import json_line_record, json_rows
from piecework.corpus.rows import ReadOptions, Skipped
from piecework.errors import CorpusError

FIELDS = ["text", "meta.text", r"a\.b.c", "", "a.b.c", "."]
KEYS = st.sampled_from(["text", "meta", "a", "b", "c", "a.b", "meta.text", "", "x", "\ud800"])
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()  # json.dumps writes NaN and Infinity, which json.loads reads
    | st.text(st.characters(codec=None), max_size=8)
    | st.sampled_from([10**400, "\ud83d\ude00", "\ud800", "\u2028", "\0"])
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Draw a line: JSON of any shape, sometimes with bytes changed."""
    value = draw(st.dictionaries(KEYS, VALUES, max_size=5) | VALUES)
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=None)
    if isinstance(value, dict) and draw(st.booleans()):  # repeat the members
        other = json.dumps(draw(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3)))
        text = other if text == "{}" else text[:-1] + ", " + other[1:]
    line = text.encode(errors="surrogatepass")
    for position, byte in draw(
        st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=2)
    ):
        if line:
            position %= len(line)
            line = line[:position] + bytes([byte]) + line[position + draw(st.integers(0, 1)) :]
    padding = st.sampled_from([b"", b" ", b"\t", b"\r", b"\x0b", b"\xef\xbb\xbf"])
    return (draw(padding) + line + draw(padding)).replace(b"\n", b"")


def by_python(line: bytes, field: FieldPath, errors: str) -> Any:
    try:
        text, replaced, _ = json_line_record(line, "f line 1", field, errors)
    except CorpusError as error:
        return type(error), str(error)
    return text, replaced


def by_reader(line: bytes, field: FieldPath, errors: str) -> Any:
    try:
        rows = json_rows(line, 1, "f", ReadOptions(field, errors))
    except CorpusError as error:
        return type(error), str(error)
    return rows.texts[0], rows.replacements


@given(lines(), st.sampled_from(FIELDS), st.sampled_from(["replace", "strict"]))
@example(b'{"text": "a", "n": ' + b"9" * 5000 + b"}", "text", "replace")
@example(b'{"text": "a", "n": ' + b"[" * 5000 + b"]" * 5000 + b"}", "text", "replace")
@example(b'{"text": "a", "n": 1e999}', "text", "replace")
@example(b'{"text": "a", "n": 0.' + b"1" * 5000 + b"}", "text", "replace")
@example(b'{"text": "a", "n": 01}', "text", "replace")
@example(b'{"text": "a\\u00e9\\ud83d\\ude00"}', "text", "replace")
@example(b'{"meta.text": "a", "meta": {"text": "b"}}', "meta.text", "replace")
def test_the_core_reads_a_line_as_python_does(line: bytes, field: str, errors: str) -> None:
    path = FieldPath.of(field)
    if line.strip():
        assert by_reader(line, path, errors) == by_python(line, path, errors)


@given(st.lists(lines(), max_size=6), st.booleans())
def test_lines_are_read_alone_as_in_a_block(block: list[bytes], ends: bool) -> None:
    field = FieldPath.of("text")
    skipped = Skipped()
    data = b"\n".join(block) + (b"\n" if ends and block else b"")
    rows = json_rows(data, 1, "f", ReadOptions(field, "replace", skipped))
    expected = []
    for line in data.removesuffix(b"\n").split(b"\n") if data else []:
        if line.strip():
            found = by_python(line, field, "replace")
            expected += [found[0]] if isinstance(found[0], str) else []
        else:
            expected.append("")
    assert list(rows.texts) == expected
    faults = sum(
        isinstance(by_python(line, field, "replace")[0], type) for line in block if line.strip()
    )
    assert sum(skipped.counts.values()) == faults


def test_plain_lines_are_not_left_to_python() -> None:
    line = json.dumps({"id": 1, "meta": {"score": 0.5, "tags": ["é", None]}, "text": "a\né😀"})
    block = (line + "\n\n").encode() * 3
    column, unread = TextColumn.of_json_lines(block, "text", ["text"])
    assert column.to_list() == ["a\né😀", ""] * 3
    assert not unread
