"""The reader and the writer of `encode_files`, whose output files appear together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, compress
from typing import ClassVar

from piecework._internal.validation import PathLike, counted, file_path
from piecework.corpus.paths import corpus_bytes, corpus_files
from piecework.corpus.rows import ReadOptions, Texts, sliced, without_blank
from piecework.errors import ArgumentError, CorpusError
from piecework.export.encoded_lines import RowLayout, Tally, TextsOfUnit, Write
from piecework.export.formats import OutputFormat
from piecework.export.input_lines import LabelledLine, LineSource
from piecework.export.settings import FileSettings
from piecework.io.atomic_files import check_writable


class FileReader:
    """Read the lines for each output and drop the empty ones; parallel inputs are read together."""

    def __init__(
        self,
        inputs: Sequence[Sequence[str]],
        settings: FileSettings,
        options: ReadOptions,
        *,
        labels: bool,
    ) -> None:
        self.current_name = ""
        self.total_bytes = corpus_bytes([path for paths in inputs for path in paths])
        sources = [LineSource(paths, options, labels=labels) for paths in inputs]
        self._sources = sources
        self._groups = [sources] if settings.parallel else [[source] for source in sources]
        self._keeps_empty = (settings.keep_empty or labels) and settings.chat is None
        self._strips = settings.strip_lines

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes read so far."""
        return sum(source.bytes_read for source in self._sources)

    @property
    def is_idle(self) -> bool:
        """Whether reading would block, because a pipe is empty."""
        return any(source.is_idle for source in self._sources)

    def texts(self) -> Iterator[TextsOfUnit]:
        """Yield the lines of all inputs; all outputs are one unit."""
        first_output = replaced = 0
        for group in self._groups:
            for columns in parallel_lines(group):
                self.current_name = group[0].current_name
                kept = columns if self._keeps_empty else _without_empty(columns)
                dropped = len(columns[0]) - len(kept[0])
                if self._strips:
                    kept = list(map(_stripped, kept))
                before, replaced = replaced, sum(source.replacements for source in self._sources)
                yield TextsOfUnit(0, kept, dropped, replaced - before, first_output)
            first_output += len(group)


@dataclass(frozen=True)
class FileWriter:
    """Write all outputs; they appear, complete, when the last line is written."""

    targets: Sequence[str]
    open_file: Callable[[str], AbstractContextManager[Write]]
    units: ClassVar[Sequence[int]] = (0,)

    @contextmanager
    def open(self, unit: int) -> Iterator[list[Write]]:
        """Yield the function that writes to each output."""
        with ExitStack() as stack:
            yield [stack.enter_context(self.open_file(path)) for path in self.targets]

    def finished(self, unit: int, tally: Tally) -> None:
        """Do nothing: the files are in their places."""

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: each unit closes its files."""


# ---- lines


def parallel_lines(sources: Sequence[LineSource]) -> Iterator[list[Texts]]:
    """Yield the same number of lines from each source, one list for each.

    Raises `CorpusError` with the sources and the line if one source has fewer lines.
    """
    blocks = [source.blocks() for source in sources]
    waiting: list[Texts] = [[] for _ in sources]
    line_count = 0
    while True:
        pairs = zip(waiting, blocks, strict=True)
        waiting = [lines if len(lines) else next(more, []) for lines, more in pairs]
        count = min(map(len, waiting))
        if not count:
            break
        yield [sliced(lines, 0, count) for lines in waiting]
        waiting = [sliced(lines, count, len(lines)) for lines in waiting]
        line_count += count
    _check_equal_lengths(sources, waiting, line_count)


def _check_equal_lengths(
    sources: Sequence[LineSource], waiting: Sequence[Texts], line_count: int
) -> None:
    if not any(map(len, waiting)):
        return
    shorter = ", ".join(s.name for s, lines in zip(sources, waiting, strict=True) if not len(lines))
    longer = ", ".join(s.name for s, lines in zip(sources, waiting, strict=True) if len(lines))
    a_text = sources[0].a_text
    problem = (
        f"ends after {a_text} {line_count}, and {longer} does not; "
        f"parallel files must have the same number of {a_text}s"
    )
    raise CorpusError(shorter, problem)


def _without_empty(columns: list[Texts]) -> list[Texts]:
    if len(columns) == 1:
        return [without_blank(columns[0])]
    keep = [all(map(str.strip, row)) for row in zip(*columns, strict=True)]
    return columns if all(keep) else [list(compress(texts, keep)) for texts in columns]


def _stripped(texts: Texts) -> Texts:
    """Return the lines without whitespace at their ends, with their labels."""
    return [
        LabelledLine.of(text.strip(), text.label)
        if isinstance(text, LabelledLine)
        else text.strip()
        for text in texts
    ]


# ---- paths, checked before any line is read


def checked_outputs(
    outputs: PathLike | Sequence[PathLike], form: OutputFormat, layout: RowLayout
) -> list[str]:
    """Return the output paths; raises unless each is writable and no file is named twice."""
    targets = path_list(outputs, "outputs")
    if "-" in targets and not form.is_stream:
        raise ArgumentError("outputs", "must be a path, not '-': this format has two files")
    known = set[object]()
    for name in _files_of(targets, form, layout):
        if (identity := _identity(name)) in known:
            raise ArgumentError("outputs", f"contain {name!r} twice")
        known.add(identity)
        if name != "-":
            check_writable(name)
    return targets


def checked_inputs(
    inputs: PathLike | Sequence[PathLike],
    targets: Sequence[str],
    form: OutputFormat,
    layout: RowLayout,
    parallel: bool,
) -> list[list[str]]:
    """Return the files to read for each output: all inputs for one output, otherwise one for each."""
    given = path_list(inputs, "inputs")
    if parallel and len(targets) != len(given):
        found = f"{len(targets)} for {len(given)} parallel inputs"
        raise ArgumentError("outputs", f"must be as many as inputs: there are {found}")
    if len(targets) not in (1, len(given)):
        found = f"{len(targets)} for {counted(len(given), 'input')}"
        raise ArgumentError("outputs", f"must be one, or as many as inputs: there are {found}")
    sources = [corpus_files(given)] if len(targets) == 1 else [[path] for path in given]
    if len(targets) > 1 and given.count("-") > 1:
        raise ArgumentError("inputs", "contain '-' twice; stdin can be read once")
    files = [name for name in _files_of(targets, form, layout) if name != "-"]
    check_not_overwritten(list(chain.from_iterable(sources)), files, "outputs")
    return sources


def check_not_overwritten(inputs: Sequence[str], outputs: Sequence[str], place: str) -> None:
    """Raise if an output is one of the inputs, also by another path."""
    known = set(map(_identity, inputs))
    for output in outputs:
        if _identity(output) in known:
            raise ArgumentError(place, f"must not contain the inputs: {output!r} is one of them")


def path_list(paths: PathLike | Sequence[PathLike], place: str) -> list[str]:
    """Return one or several paths as strings; raises unless there is at least one."""
    if not isinstance(paths, Iterable) or isinstance(paths, (str, bytes, os.PathLike)):
        return [file_path(paths, place)]
    given = [file_path(path, place) for path in paths]
    if not given:
        raise ArgumentError(place, "must contain at least one path")
    return given


def _files_of(targets: Sequence[str], form: OutputFormat, layout: RowLayout) -> list[str]:
    return [name for path in targets for name in form.files(path, layout)]


def _identity(path: str) -> object:
    """Return a value that all paths of one file share; a device such as /dev/null differs from itself."""
    real = os.path.realpath(path)
    if path == "-" or not os.path.exists(real):
        return path if path == "-" else real
    status = os.stat(real)
    return (status.st_dev, status.st_ino) if os.path.isfile(real) else object()
