"""A golden file: a header and rows of expected ids as JSON lines, which any language can read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import Any, Final

from piecework import Tokenizer
from piecework._internal._core import UNICODE_VERSION
from piecework._internal.validation import PathLike, path_text
from piecework.analysis.blocks import Block, Grid, Paragraph
from piecework.analysis.displayed import Displayed
from piecework.errors import FormatError
from piecework.io.atomic_files import atomic_stream
from piecework.io.read_file import file_bytes

SCHEMA_VERSION: Final = 1

FLAGS: Final = {
    "accents": "Accents are kept or removed wrongly, or combining marks are in another order.",
    "added-token": "Added tokens are found at other places: their flags, overlaps or longest matches differ.",
    "byte-fallback": "Unknown characters do not become the byte tokens of their UTF-8.",
    "case": "Letters have another lower case, or case matters where it should not.",
    "chat": "The rendered chat template gives other ids.",
    "clean-text": "Control, format, private-use or unassigned characters are dropped or kept wrongly.",
    "corpus": "Ordinary text of the corpus has other ids.",
    "digits": "Runs of digits, or other numbers, are split at other places.",
    "empty": "The empty text, or a text that normalizes to nothing, has other ids.",
    "known-divergence": "A difference between published libraries appears.",
    "line-ends": "Line ends, alone or among spaces, are split or replaced in another way.",
    "long-word": "Long words, or long runs of one character, are segmented in another way.",
    "merges": "The model segments words in another way: order of merges, ties or longest matches.",
    "normal-form": "Another Unicode normalization form, or another version of its tables, is applied.",
    "padding": "Rows are padded with another token, at another side or to another length.",
    "pair": "A pair of texts is joined by other tokens.",
    "parse-special": "Special tokens in a text are parsed where they are text, or the reverse.",
    "pattern": "Contractions, words or symbols are split by another pattern.",
    "punctuation": "Punctuation and symbols are separated by other classes of characters.",
    "replacement": "A replacement or charsmap rule of the normalizer is not applied as specified.",
    "script": "A word of this script is split or normalized in another way.",
    "spaces": "Spaces are kept, removed, split or replaced in another way.",
    "special-tokens": "The post-processor adds other tokens.",
    "truncation": "Texts are truncated to another length, at another side or by another strategy.",
    "unicode-edge": "Characters at the edges of UTF-8 lengths, planes or blocks are read wrongly.",
    "unknown": "Unknown characters or words become other tokens.",
}
"""Flag -> what an engine does wrong if only rows of this flag fail."""

# Characters that editors and line readers change; JSON escapes keep them.
_ESCAPED = re.compile(
    "[\x7f-\xa0\xad\u0300-\u036f\u0600-\u0605\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000"
    "\ue000-\uf8ff\ufe00-\ufe0f\ufeff\ufff0-\uffff\U000e0000-\U0010ffff]"
)
_OPTIONAL = ("pair", "messages", "truncation", "padding")
_ANSWERS = ("ids", "tokens", "byte_offsets", "char_offsets", "decoded")
_DERIVED = ("byte_offsets", "decoded")
_REQUIRED = ("row", "text", "add_special_tokens", "parse_special", "flags", "comment")


@dataclass(frozen=True)
class GoldenRow:
    """A text, how it is encoded, and the expected result.

    >>> GoldenRow(1, "a", ids=(1,), tokens=("a",), flags=("case",), comment="a letter").request()
    {'row': 1, 'text': 'a', 'add_special_tokens': True, 'parse_special': True}

    Offsets count bytes of UTF-8 and code points of the row's own text. `error` says that encoding raises.
    The file leaves out `byte_offsets` that follow from `char_offsets`, and `decoded` that is the text.
    """

    row: int
    text: str
    pair: str | None = None
    messages: tuple[Mapping[str, str], ...] | None = None
    add_special_tokens: bool = True
    parse_special: bool = True
    truncation: Mapping[str, Any] | None = None
    padding: Mapping[str, Any] | None = None
    ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    byte_offsets: tuple[tuple[int, int], ...] = ()
    char_offsets: tuple[tuple[int, int], ...] = ()
    decoded: str = ""
    error: bool = False
    flags: tuple[str, ...] = ()
    comment: str = ""

    def request(self) -> dict[str, Any]:
        """Return the row without its answers, as a program of `--with` reads it."""
        return {
            name: value
            for name, value in self.to_dict().items()
            if name not in (*_ANSWERS, "messages", "error", "flags", "comment")
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the row."""
        left_out = {name for name in _OPTIONAL if getattr(self, name) is None}
        left_out |= set(_ANSWERS) if self.error else {"error"}
        left_out |= {
            name for name, value in self._derived().items() if value == getattr(self, name)
        }
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name not in left_out}

    def _derived(self) -> dict[str, Any]:
        """Return what answers are if the file leaves them out."""
        lengths = [0, *accumulate(len(c.encode()) for c in self.text)]
        last = len(self.text)  # an offset of a second text may be larger
        in_bytes = tuple(
            (lengths[min(start, last)], lengths[min(end, last)]) for start, end in self.char_offsets
        )
        return {"byte_offsets": in_bytes, "decoded": self.text}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> GoldenRow:
        """Read the JSON object of a row."""
        row = cls(**{name: _frozen(one) for name, one in value.items()})
        if row.error:
            return row
        return replace(row, **{k: one for k, one in row._derived().items() if k not in value})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Golden(Displayed):
    """Texts that tell engines apart, with the ids of one tokenizer; `golden` makes it.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pins = pw.analysis.golden(tok)
    >>> pins.tokenizer["model"], pins.rows[0].flags, len(pins.rows) < 400
    ('Char', ('pattern',), True)
    """

    tokenizer: Mapping[str, Any]
    unicode: str
    generator: str
    flags: Mapping[str, str]
    rows: tuple[GoldenRow, ...]
    corpus: bool = False

    def to_lines(self) -> Iterator[str]:
        """Yield the lines of the file: the header, then the rows."""
        header = {
            "piecework_golden": SCHEMA_VERSION,
            "tokenizer": self.tokenizer,
            "unicode": self.unicode,
            "generator": self.generator,
            "rows": len(self.rows),
            **({"corpus": True} if self.corpus else {}),
            "flags": self.flags,
        }
        yield json_line(header)
        for row in self.rows:
            yield json_line(row.to_dict())

    def save(self, path: PathLike) -> None:
        """Write the file; `-` is stdout."""
        with atomic_stream(path_text(path)) as stream:
            for line in self.to_lines():
                stream.write(line.encode() + b"\n")

    @classmethod
    def load(cls, path: PathLike) -> Golden:
        """Read a file.

        Raises `FileError`, and `FormatError` for another version of the schema, an invalid line or a missing
        row; its `kind` is then "schema".
        """
        place = path_text(path)
        lines = [line for line in file_bytes(place, "a golden file").split(b"\n") if line.strip()]
        values = [_object(line, f"{place}:{number}") for number, line in enumerate(lines, 1)]
        header = values[0] if values else {}
        _check_schema(header, place)
        if header.get("rows") != len(values) - 1:
            problem = f"found {len(values) - 1} rows, expected {header.get('rows')}"
            raise FormatError(place, problem, kind="schema")
        try:
            return cls(
                **{name: header[name] for name in ("tokenizer", "unicode", "generator", "flags")},
                rows=tuple(_row(value, f"{place}:{at}") for at, value in enumerate(values[1:], 2)),
                corpus=header.get("corpus", False),
            )
        except KeyError as error:
            raise FormatError(place, f"has no {error} in its header", kind="schema") from None

    def check_header(self, tokenizer: Tokenizer | None, place: str = "golden") -> None:
        """Raise `FormatError` if the file is of another Unicode version, or of another tokenizer.

        Its `kind` is "unicode" or "fingerprint".
        """
        facts = [("unicode", self.unicode, UNICODE_VERSION)]
        if tokenizer is not None:
            facts.append(("fingerprint", self.tokenizer["fingerprint"], tokenizer.fingerprint))
        for kind, found, expected in facts:
            if found != expected:
                problem = f"has the {kind} {found!r}, but this tokenizer has {expected!r}"
                if kind == "unicode":
                    problem = f"has ids of Unicode {found!r}, but this version has {expected!r}"
                advice = "make the file again with `piecework golden`"
                raise FormatError(
                    place, problem, hint=advice, kind=kind, found=str(found), expected=expected
                )

    def blocks(self) -> Iterator[Block]:
        """Yield the size, and the number of rows of each flag."""
        name, model = self.tokenizer["name"], self.tokenizer["model"]
        yield Paragraph(f"{name} ({model}): {len(self.rows):,} rows")
        counts = [(flag, sum(flag in row.flags for row in self.rows)) for flag in self.flags]
        rows = tuple((flag, str(count), self.flags[flag]) for flag, count in counts)
        yield Grid(("flag", "rows", "if its rows fail"), rows, numbers=("rows",))


def json_line(value: object) -> str:
    """Return a value as one line of JSON without invisible characters.

    >>> json_line({"text": "é\\u2028"})
    '{"text":"é\\\\u2028"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
    return _ESCAPED.sub(lambda match: json.dumps(match[0])[1:-1], text)


def header_of(tokenizer: Tokenizer, name: str, format: str) -> dict[str, Any]:
    """Return the facts about a tokenizer in a header."""
    return {
        "name": name,
        "fingerprint": tokenizer.fingerprint,
        "format": format,
        "model": type(tokenizer.spec.model).__name__,
        "vocab_size": len(tokenizer),
    }


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(place, f"is not JSON: {error}", kind="schema") from None
    if not isinstance(value, dict):
        raise FormatError(place, "is not a JSON object", kind="schema")
    return value


def _check_schema(header: Mapping[str, Any], place: str) -> None:
    found = header.get("piecework_golden")
    if found is None:
        problem = "has no header; a golden file begins with a line of `piecework_golden`"
        raise FormatError(place, problem, kind="schema")
    if found != SCHEMA_VERSION:
        problem = f"has version {found} of the schema, but this version reads {SCHEMA_VERSION}"
        raise FormatError(
            place, problem, kind="schema", found=str(found), expected=str(SCHEMA_VERSION)
        )


def _row(value: dict[str, Any], place: str) -> GoldenRow:
    answers = ("error",) if value.get("error") else _ANSWERS
    needed = (*_REQUIRED, *(name for name in answers if name not in _DERIVED))
    missing = [name for name in needed if name not in value]
    unknown = sorted(value.keys() - {field.name for field in fields(GoldenRow)})
    if missing or unknown:
        problem = f"lacks {missing[0]!r}" if missing else f"has an unknown key {unknown[0]!r}"
        raise FormatError(place, problem, kind="schema")
    return GoldenRow.from_dict(value)
