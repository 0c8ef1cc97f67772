"""Count the words of each source of a corpus by itself: paths by name in, `SourceCounts` out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike
from piecework.corpus.paths import corpus_files
from piecework.errors import ArgumentError
from piecework.train.corpus_count import CountOptions
from piecework.train.count_checkpoint import source_folder
from piecework.train.counting import count_files
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.presets import Preset
from piecework.train.source_counts import SourceCounts, check_names


def count_sources(
    sources: Mapping[str, PathLike | Sequence[PathLike]],
    *,
    parallel: Mapping[str, PathLike | Sequence[PathLike]] | None = None,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **options: Unpack[CountOptions],
) -> SourceCounts:
    """Count the words of each source, and of a parallel text for each, with the arguments of `count_files`.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "en.txt").write_text("hug pug\\n"), (folder / "cs.txt").write_text("ahoj\\n")
    >>> count_sources({"en": folder / "en.txt", "cs": folder / "cs.txt"})
    SourceCounts(en: 2 words, 2 in total; cs: 1 word, 1 in total)

    The files are numbered through all sources, so that `ties="first-seen"` can compare their positions.
    `checkpoint` is a folder with a folder for each source.
    """
    for name in ("source_weights", "temperature"):
        if options.get(name) is not None:
            raise ArgumentError(name, "= does not apply to sources that are counted by themselves")
    check_names(sources, parallel or {})
    shared: dict[str, Any] = {**options}
    first, folder = shared.pop("first_source", 0), shared.pop("checkpoint", None)
    groups: list[dict[str, Counts]] = [{}, {}]
    number = 0
    for counted, group in zip(groups, (sources, parallel or {}), strict=True):
        for name, paths in group.items():
            files = corpus_files(paths)
            counted[name] = count_files(
                files,
                preset=preset,
                progress=progress,
                first_source=first,
                checkpoint=None if folder is None else source_folder(folder, number),
                **shared,
            )
            first += len(files)
            number += 1
    return SourceCounts(groups[0], parallel=groups[1])


def count_paths(
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **options: Unpack[CountOptions],
) -> SourceCounts:
    """Count the words of each path as a source with its name, as `count_sources` does."""
    each = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    sources = {os.fspath(path): path for path in each}
    return count_sources(sources, preset=preset, progress=progress, **options)
