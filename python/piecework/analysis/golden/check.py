"""Compare the answers of an engine with the rows of a golden file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import piecework as pw
from piecework import Tokenizer
from piecework._internal.validation import (
    PathLike,
    check_choice,
    check_positive,
    check_tokenizer,
    check_type,
    counted,
    listed,
)
from piecework.analysis.blocks import Block, Grid, Paragraph
from piecework.analysis.displayed import LINES, Displayed
from piecework.analysis.golden.file import Golden, GoldenRow
from piecework.analysis.golden.generate import answered_row
from piecework.analysis.golden.libraries import library_answers
from piecework.analysis.golden.program import program_answers
from piecework.analysis.peers import PEERS
from piecework.analysis.readable import show_whitespace
from piecework.errors import ArgumentError

Answer: TypeAlias = Mapping[str, Any]
"""What an engine makes of a row: its `ids`, an `error`, or a reason to `skip` it."""

_COMPARED = ("ids", "tokens", "byte_offsets", "char_offsets", "decoded")
_SHOWN = 5


@dataclass(frozen=True)
class RowDifference:
    """A row whose answer differs; `differs` names what: "ids", "tokens", ..., or "error".

    >>> row = GoldenRow(1, "a", ids=(1,), flags=("case",), comment="a letter")
    >>> RowDifference(row, {"ids": [2]}, ("ids",)).differs
    ('ids',)
    """

    row: GoldenRow
    answer: Answer
    differs: tuple[str, ...]


@dataclass(frozen=True)
class GoldenCheck(Displayed):
    """The rows of a golden file that an engine answers in another way, the smallest text first.

    >>> print(GoldenCheck("my-engine", rows=371, skipped={}, differences=(), flags={}), end="")
      my-engine: 371 rows: all are equal

    `skipped` has the number of rows for each reason, and `flags` what each flag means.
    """

    _computed = ("is_equal",)

    engine: str
    rows: int
    skipped: Mapping[str, int]
    differences: tuple[RowDifference, ...]
    flags: Mapping[str, str]

    @property
    def is_equal(self) -> bool:
        """Whether a row was compared, and all that were are equal."""
        return bool(self.rows) and not self.differences

    def blocks(self) -> Iterator[Block]:
        """Yield the verdict, and for each flag the smallest rows that differ."""
        differing = len(self.differences)
        equal = "all are equal" if self.rows else "none was compared"
        verdict = f"{counted(differing, 'row')} differ" if differing else equal
        yield Paragraph(f"{self.engine}: {counted(self.rows, 'row')}: {verdict}")
        for reason, rows in self.skipped.items():
            yield Paragraph(f"skipped {counted(rows, 'row')}: {reason}")
        for flag, about in self.flags.items():
            of_flag = [one for one in self.differences if flag in one.row.flags]
            if of_flag:
                yield _grid(f"{flag} ({counted(len(of_flag), 'row')}): {about}", of_flag)


def _grid(title: str, differences: Sequence[RowDifference]) -> Grid:
    header = ("row", "text", "differs", "expected", "found")
    rows = tuple(map(_cells, differences[:_SHOWN]))
    omitted = max(0, len(differences) - _SHOWN)
    return Grid(header, rows, numbers=("row",), omitted=omitted, title=title)


def _cells(one: RowDifference) -> tuple[str, ...]:
    text = one.row.text if one.row.pair is None else f"{one.row.text} + {one.row.pair}"
    name = one.differs[0]
    found = one.answer.get("error") if name == "error" else one.answer[name]
    expected = "an error" if one.row.error else getattr(one.row, "ids" if name == "error" else name)
    shown = map(
        _short, (show_whitespace(text), expected, found if found is not None else one.answer)
    )
    first, second, third = shown
    return str(one.row.row), first, ", ".join(one.differs), second, third


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        items = [show_whitespace(str(item)) for item in value[:LINES]]
        return " ".join(items) + (" ..." if len(value) > LINES else "")
    text = " ".join(str(value).split("\n"))
    return text[:80] + ("..." if len(text) > 80 else "")


def check_golden(
    golden: Golden,
    tokenizer: Tokenizer | None = None,
    *,
    library: str | None = None,
    path: PathLike | None = None,
    program: str | Sequence[str] | None = None,
    timeout: float = 60.0,
) -> GoldenCheck:
    """Compare a tokenizer, the library that reads its file, or a program with a golden file.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> check_golden(pw.analysis.golden(tok), tok).is_equal
    True

    With `library`, "tokenizers", "transformers", "tiktoken" or "sentencepiece", this library reads the file
    `path` of the tokenizer. Rows of a mode that the library lacks are skipped and counted.

    `program` is a command: it reads one JSON object a line from its standard input, a row without its
    answers, and writes one a line: `{"row": 1, "ids": [...]}`, or `"error"` or `"skip"` with a reason in
    place of the ids. `tokens`, `byte_offsets`, `char_offsets` and `decoded` are compared if it writes them.
    It has `timeout` seconds.

    Raises `FormatError` for a file of another Unicode version or another tokenizer, `ProgramError` for a
    program that fails, hangs or writes something else, and the errors of `verify_files` for a library.
    """
    engine, answers = _engine(golden, tokenizer, library, path, program, timeout)
    skipped = Counter(str(one["skip"]) for one in answers.values() if "skip" in one)
    found = [
        RowDifference(row, answers[row.row], differs)
        for row in golden.rows
        if (differs := _differs(row, answers[row.row]))
    ]
    return GoldenCheck(
        engine=engine,
        rows=len(golden.rows) - skipped.total(),
        skipped=dict(skipped),
        differences=tuple(sorted(found, key=lambda one: (len(one.row.text), one.row.row))),
        flags=golden.flags,
    )


def _engine(
    golden: Golden,
    tokenizer: Tokenizer | None,
    library: str | None,
    path: PathLike | None,
    program: str | Sequence[str] | None,
    timeout: float,
) -> tuple[str, Mapping[int, Answer]]:
    """Return the name of the engine and its answers by row."""
    if program is not None and library is not None:
        raise ArgumentError("program", "cannot be combined", also=["library"])
    check_type("golden", golden, Golden, "a Golden")
    check_positive("timeout", timeout)
    if tokenizer is not None:
        check_tokenizer(tokenizer)
    golden.check_header(tokenizer)
    if program is not None:
        program = program if isinstance(program, str) else listed(program, "program")
        return program_answers(program, golden.rows, timeout)
    if tokenizer is None:
        raise ArgumentError("tokenizer", "is missing; pass a tokenizer or a program")
    if library is None:
        rows = {row.row: _own_answer(answered_row(tokenizer, row)) for row in golden.rows}
        return f"piecework {pw.__version__}", rows
    check_choice("library", library, PEERS)
    if path is None:
        raise ArgumentError("path", "is missing; a library reads the file of the tokenizer")
    return library_answers(library, path, tokenizer, golden.rows)


def _own_answer(row: GoldenRow) -> Answer:
    if row.error:
        return {"error": True}
    return {name: getattr(row, name) for name in _COMPARED}


def _differs(row: GoldenRow, answer: Answer) -> tuple[str, ...]:
    if "skip" in answer:
        return ()
    if "error" in answer or row.error:
        return () if "error" in answer and row.error else ("error",)
    return tuple(
        name
        for name in _COMPARED
        if name in answer and _plain(answer[name]) != _plain(getattr(row, name))
    )


def _plain(value: Any) -> Any:
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value
