"""Boundaries inside words that no entry may cross: from a lexicon, a function, or a marker in the text.

A learner takes the parts between boundaries as words. Only the first part begins a word, so a WordPiece entry
of a later part has the continuation prefix. The model does not know boundaries: it encodes as ever.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from piecework._internal.validation import PathLike, check_type, path_text
from piecework.corpus.paths import corpus_files
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions
from piecework.errors import ArgumentError, FormatError, InputTypeError
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE

if TYPE_CHECKING:
    from piecework.train.presets import Pipeline

Parts: TypeAlias = Sequence[str]
Boundaries: TypeAlias = PathLike | Mapping[str, Parts] | Callable[[str], Parts | None]
"""A lexicon file, a mapping from words to their parts, or a function that returns the parts of a word."""

_FORM = "a word, a tab and its parts with spaces between them, such as undoing<TAB>un do ing"


def read_boundaries(path: PathLike) -> dict[str, tuple[str, ...]]:
    r"""Read a lexicon: lines of a word, a tab and its parts with spaces between them.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lexicon.tsv"
    >>> _ = path.write_text("undoing\tun do ing\ndo\tdo\n")
    >>> read_boundaries(path)
    {'undoing': ('un', 'do', 'ing'), 'do': ('do',)}

    The file may be compressed; empty lines are skipped. Raises `FileError`, `InvalidUtf8Error`, and
    `FormatError` with the line for one without two columns, for parts that do not spell their word, and for a
    word with other parts than in an earlier line; also for a file without words.
    """
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    options = ReadOptions.of(encoding_errors="strict", tables_as_lines=True)
    for rows in CorpusReader(corpus_files(path_text(path, "boundaries")), options).rows():
        if not rows.are_lines:
            raise FormatError(
                rows.name, f"has a format with named fields, expected lines of {_FORM}"
            )
        for number, line in zip(rows.numbers, rows.texts, strict=True):
            if not line.strip():
                continue
            place = f"{rows.name} line {number}"
            word, parts = _entry(place, line)
            earlier = found.setdefault(word, (parts, place))
            if earlier[0] != parts:
                problem = f"found {word!r} as {' '.join(parts)!r}, expected {' '.join(earlier[0])!r} as in"
                raise FormatError(place, f"{problem} {earlier[1]}")
    if not found:
        raise FormatError(os.fspath(path), f"has no words, expected lines of {_FORM}")
    return {word: parts for word, (parts, _) in found.items()}


def _entry(place: str, line: str) -> tuple[str, tuple[str, ...]]:
    """Return the word and the parts of a line."""
    columns = line.split("\t")
    if len(columns) != 2 or not all(columns):
        raise FormatError(place, f"found {line[:40]!r}, expected {_FORM}")
    word, parts = columns[0], tuple(columns[1].split())
    if "".join(parts) != word:
        found = f"{columns[1][:40]!r}, which spells {''.join(parts)[:40]!r}"
        raise FormatError(place, f"found {found}, expected parts that spell {word[:40]!r}")
    return word, parts


def boundaries_of(
    words: Iterable[str], pipeline: Pipeline | None, source: Boundaries
) -> list[list[int]]:
    """Return the boundaries inside counted words, in characters; none for words that the source lacks.

    >>> boundaries_of(["undo", "do"], None, {"undo": ["un", "do"]})
    [[2], []]

    The source is asked for the text of a word without the mark of a space. Raises `ArgumentError` for parts
    that do not spell their word, for an empty lexicon, and for one that has none of the words.
    """
    look_up = _checked(source)
    found, is_known, text = [], False, ""
    for word in words:
        before, text, width = spelling(word, pipeline)
        parts = look_up(text) if text else None
        is_known = is_known or parts is not None
        ends = accumulate(map(width, parts or ()), initial=before)
        found.append(list(ends)[1:-1])
    if not is_known and not callable(source):
        problem = "has none of the counted words, which are looked up as the pipeline leaves them"
        raise ArgumentError("boundaries", f"{problem}, such as {text!r}")
    return found


def _checked(source: object) -> Callable[[str], Parts | None]:
    """Return a function that returns the parts of a text, None for none, and checks them."""
    if isinstance(source, (str, os.PathLike)):
        return read_boundaries(source).get
    if callable(source):
        ask: Callable[[str], object] = source
        return lambda text: _spelled(f"boundaries({text!r})", text, ask(text))
    if not isinstance(source, Mapping):
        expected = "a path, a mapping from words to their parts, or a function"
        raise InputTypeError("boundaries", f"must be {expected}, not {type(source).__name__}")
    if not source:
        raise ArgumentError("boundaries", "has no words; give a mapping from words to their parts")
    for word, parts in source.items():
        _spelled(f"boundaries[{word!r}]", word, parts)
    return source.get


def _spelled(place: str, text: str, parts: object) -> Parts | None:
    """Return parts that spell a text, or None; raise for others."""
    if parts is None:
        return None
    are_texts = isinstance(parts, Sequence) and not isinstance(parts, (str, bytes))
    if not are_texts or not all(isinstance(part, str) for part in parts):  # type: ignore[attr-defined]
        raise InputTypeError(place, f"must be a list of strings, not {parts!r}")
    spelled: list[str] = list(parts)  # type: ignore[call-overload]
    if not all(spelled) or "".join(spelled) != text:
        raise ArgumentError(place, f"must be parts that spell {text!r}, not {spelled!r}")
    return spelled


def without_marker(
    words: Iterable[str], pipeline: Pipeline | None, marker: str
) -> list[tuple[str, list[int]]]:
    """Return words without a marker, and the boundaries where it stood, in characters.

    >>> without_marker(["un|do", "|do"], None, "|")
    [('undo', [2]), ('do', [])]

    A marker at the edge of a word is no boundary inside it. Raises `ArgumentError` for an empty marker, for
    one that is a word, and for one that no word has.
    """
    check_marker(marker)
    is_byte_level = pipeline is not None and pipeline.is_byte_level
    stored = (
        "".join(CHARACTER_OF_BYTE[byte] for byte in marker.encode()) if is_byte_level else marker
    )
    found, is_found = [], False
    for word in words:
        is_found = is_found or stored in word
        parts = word.split(stored)
        whole = "".join(parts)
        if not whole:
            problem = (
                f"{marker!r} is a word of the pipeline; use a letter that the text lacks, such as ǀ"
            )
            raise ArgumentError("boundary_marker", f"{problem} (U+01C0)")
        before, text, width = spelling(whole, pipeline)
        inside = range(before + 1, before + width(text))
        ends = dict.fromkeys(accumulate(map(len, parts[:-1])))
        found.append((whole, [end for end in ends if end in inside]))
    if not is_found:
        problem = (
            f"{marker!r} is in no word; the text lacks it, or the pipeline drops it. Use a letter"
        )
        raise ArgumentError("boundary_marker", f"{problem} that the text lacks, such as ǀ (U+01C0)")
    return found


def check_marker(marker: object) -> None:
    """Raise `ArgumentError` unless a marker is a string that is not empty.

    >>> check_marker("ǀ")
    """
    check_type("boundary_marker", marker, str, "a string")
    if not marker:
        raise ArgumentError("boundary_marker", "must not be empty")


def spelling(word: str, pipeline: Pipeline | None) -> tuple[int, str, Callable[[str], int]]:
    """Return the length of the mark of a space, the text of a word without it, and how to measure a part.

    >>> before, text, width = spelling("▁undo", None)
    >>> before, text, width("un")
    (1, 'undo', 2)

    Lengths are in characters of the word. A byte-level word has one for each byte.
    """
    mark, text = "▁", word
    width: Callable[[str], int] = len
    if pipeline is not None and pipeline.is_byte_level:
        decoded = _decoded(word)
        if decoded is not None:
            mark, text, width = " ", decoded, _bytes
    elif pipeline is not None and pipeline.metaspace is not None:
        mark = pipeline.metaspace.replacement
    bare = text.lstrip(mark)
    return len(text) - len(bare), bare.rstrip(mark), width


def _bytes(part: str) -> int:
    return len(part.encode())


def _decoded(word: str) -> str | None:
    """Return the text of a byte-level word, None if it has a part of a character."""
    try:
        return bytes(BYTE_OF_CHARACTER[character] for character in word).decode()
    except (KeyError, UnicodeDecodeError):
        return None
