"""The sources of a corpus on the command line: `--corpus FILE`, or `--corpus NAME=FILE`."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

import piecework as pw
from piecework.cli.parameters import InputFile

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _NamedPathType = click.ParamType["NamedPath"]
else:
    _NamedPathType = click.ParamType

_SHOWN_CHARS = 40
_NAMED = re.compile(r"(?P<name>[^=/\\:*?]+)=(?P<path>.+)", re.DOTALL)


class NamedPath(NamedTuple):
    """A path, and the name of its source, None if none was given."""

    name: str | None
    path: str


class NamedInput(_NamedPathType):
    """A file to read, with an optional name before `=`; a file whose name contains `=` needs no name."""

    name = "file"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> NamedPath:
        """Return the name and the path."""
        if isinstance(value, NamedPath):
            return value
        text = str(value)
        match = _NAMED.fullmatch(text)
        if match is None or os.path.lexists(text):
            return NamedPath(None, text)
        return NamedPath(match["name"], match["path"])

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Make the shell complete file names."""
        return InputFile().shell_complete(ctx, param, incomplete)


def sources_of_corpus(corpus: Sequence[NamedPath]) -> list[str] | Mapping[str, list[str]]:
    """Return the paths of one corpus without a name, else the paths of each source.

    >>> sources_of_corpus([NamedPath("de", "a.txt"), NamedPath(None, "b/c.txt")])
    {'de': ['a.txt'], 'c.txt': ['b/c.txt']}

    A source without a name has that of its file, or its path if another file has the same name. Paths with
    the same name are one source.
    """
    if len(corpus) == 1 and corpus[0].name is None:
        return [corpus[0].path]
    paths = dict.fromkeys(one.path for one in corpus if one.name is None)
    files = [Path(path).name or path for path in paths]
    given = {one.name for one in corpus}
    sources: dict[str, list[str]] = {}
    for name, path in corpus:
        if name is None:
            file = Path(path).name or path
            name = path if files.count(file) > 1 or file in given else file
        # File names may contain invalid Unicode, which cannot be printed.
        shown = name.encode(errors="surrogateescape").decode(errors="replace")
        sources.setdefault(shown, []).append(path)
    return sources


def check_no_text(paths: Sequence[str], command: str) -> None:
    """Raise `FileError` for a text in place of a file; the message has a `command` that reads stdin."""
    for path in paths:
        if path == "-" or not _can_be_text(path) or os.path.exists(path) or glob(path):
            continue
        shown = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}..."
        problem = f": there is no such file; for a text: echo {shlex.quote(shown)} | {command}"
        raise pw.errors.FileError(shown, problem)


def _can_be_text(path: str) -> bool:
    """Whether a path has several words, or is one word without a folder, a suffix or a wildcard."""
    if "://" in path:
        return False
    return len(path.split()) > 1 or not re.search(r"[/\\.*?\[]", path)
