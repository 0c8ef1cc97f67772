"""Read the lines of one or several inputs for encoding: in blocks of about 2 MB, labelled.

A line or document of plain text, also an empty one, and a record of another format is one text
(`corpus.reader`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Any

from piecework._internal.surrogates import replace_surrogates
from piecework.corpus.conversations import Conversation
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions, Rows, Texts, joined, sizes
from piecework.corpus.text_stream import MEMORY_SHARE, MEMORY_SHARE_WITH_OFFSETS

_BLOCK_BYTES = 2 << 20
_NO_RECORD: Mapping[str, Any] = MappingProxyType({})


class LabelledLine(str):
    """The text of a line with a label, which output formats write next to the ids.

    `label` has the keys `file` (if there are several), `line` and `id` (if the JSON object has one), and
    `kept` with fields of the JSON object or the table (if some are kept).
    """

    label: dict[str, Any]

    @classmethod
    def of(cls, text: str, label: dict[str, Any]) -> LabelledLine:
        """Return the text of a line with its label."""
        labelled = cls(text)
        labelled.label = label
        return labelled


class LineSource:
    """Read the lines of files in sequence; count `bytes_read` and `replacements`.

    With `labels` every line is a `LabelledLine`. `kept` names fields of JSON lines and columns of tables to
    put into labels. `current_name` is the name of the file that is read; `a_text` is "line" or "document".
    """

    def __init__(
        self,
        paths: Sequence[str],
        options: ReadOptions,
        *,
        labels: bool = False,
        kept: Sequence[str] = (),
    ) -> None:
        self.paths = paths
        self.name = ", ".join("<stdin>" if path == "-" else path for path in paths)
        self.a_text = "line" if options.document == "line" else "document"
        self.current_name = ""
        self.replacements = 0
        self._labels = labels or bool(kept)
        self._kept = kept
        self._reader = CorpusReader(
            paths,
            replace(
                options,
                whole_lines=True,
                kept=tuple(kept),
                with_records=self._labels,
                memory_share=MEMORY_SHARE_WITH_OFFSETS if labels else MEMORY_SHARE,
            ),
        )

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes read so far."""
        return self._reader.bytes_read

    @property
    def is_idle(self) -> bool:
        """Whether reading would block, because the pipe is empty."""
        return self._reader.is_idle

    def blocks(self) -> Iterator[Texts]:
        """Yield non-empty lists or columns with about 2 MB of lines, or more for a longer line.

        Yields less at the end of the input, and when reading more would block. Lines with labels are lists.
        """
        parts: list[Texts] = []
        size = 0
        for rows in self._reader.rows():
            self.current_name = rows.name
            self.replacements += rows.replacements
            parts.append(self._labelled(rows) if self._labels else rows.texts)
            size += int(sizes(rows.texts).sum()) + len(rows)
            if size >= _BLOCK_BYTES or self.is_idle:
                yield joined(parts)
                parts, size = [], 0
        if parts:
            yield joined(parts)

    def _labelled(self, rows: Rows) -> list[str]:
        records = rows.records or repeat(_NO_RECORD, len(rows))
        return [
            _labelled(text, self._label(rows.name, number, record))
            for text, number, record in zip(rows.texts, rows.numbers, records, strict=True)
        ]

    def _label(self, name: str, number: int, record: Mapping[str, Any]) -> dict[str, Any]:
        label: dict[str, Any] = {"file": name} if len(self.paths) > 1 else {}
        label["line"] = number
        if "id" in record:
            label["id"] = record["id"]
        if self._kept:
            label["kept"] = {key: _kept_text(record.get(key)) for key in self._kept}
        return label


def _labelled(text: str, label: dict[str, Any]) -> str:
    if isinstance(text, Conversation):
        text.label = label
        return text
    return LabelledLine.of(text, label)


def _kept_text(value: Any) -> str | None:
    """Return a value as text: numbers, lists and objects as JSON; lone surrogates become U+FFFD.

    Values that JSON lacks, such as dates in tables, are written as Python's `str` writes them.
    """
    if value is None:
        return None
    is_json = isinstance(value, (bool, int, float, list, dict))
    text = json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)
    return replace_surrogates(text, "", "replace")[0]
