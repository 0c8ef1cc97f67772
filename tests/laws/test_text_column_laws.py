"""A column of the lines of a block has the texts that Python's string methods give."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from piecework._internal._core import TextColumn
from piecework.corpus.rows import Texts, joined, sizes, sliced, without_blank

blocks = st.text(st.sampled_from("ab \r\n\t\v\x1c\x85\xa0é\u2028\u3000😀"), max_size=30)


def by_python(block: str) -> list[str]:
    lines = block.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def column_of(block: str) -> TextColumn:
    column = TextColumn.of_lines(block.encode())
    assert column is not None
    return column


@given(blocks)
def test_lines_of_a_block_are_split_as_by_python(block: str) -> None:
    column = column_of(block)
    lines = by_python(block)
    assert list(column) == lines
    assert [column[row] for row in range(len(column))] == lines
    assert sizes(column).tolist() == [len(line.encode()) for line in lines]
    assert sizes(lines).tolist() == [len(line) for line in lines]


@given(blocks, st.integers(0, 9), st.integers(0, 9))
def test_slices_and_lines_without_blanks_equal_python(block: str, start: int, end: int) -> None:
    column = column_of(block)
    assert list(sliced(column, start, end)) == sliced(by_python(block), start, end)
    assert list(without_blank(column)) == without_blank(by_python(block))


@given(st.lists(blocks, min_size=1, max_size=4), st.booleans())
def test_joined_columns_have_the_lines_of_all(parts: list[str], with_list: bool) -> None:
    texts: list[Texts] = [column_of(part) for part in parts]
    if with_list:
        texts[0] = by_python(parts[0])
    together = joined(texts)
    assert list(together) == [line for part in parts for line in by_python(part)]
    assert isinstance(together, list) == with_list


def test_whitespace_equals_that_of_python() -> None:
    characters = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    column = column_of("\n".join(character for character in characters if character != "\n"))
    kept = [c for c in characters if c not in "\r\n" and not c.isspace()]
    assert list(without_blank(column)) == kept


def test_invalid_utf8_makes_no_column() -> None:
    assert TextColumn.of_lines(b"a\n\xff") is None
