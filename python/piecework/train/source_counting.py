"""Count each source of a corpus separately: paths by name in, `SourceCounts` out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike, check_type
from piecework.corpus.paths import corpus_files
from piecework.errors import ArgumentError
from piecework.train.count_checkpoint import source_folder
from piecework.train.counting import CorpusCount, FileCountSettings, pipeline_of_preset
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.presets import Preset
from piecework.train.setting_fields import given_to, takes_settings
from piecework.train.settings import CountFilesOptions
from piecework.train.source_counts import SourceCounts, check_names

_WEIGHTS = ("source_weights", "temperature")


@takes_settings(FileCountSettings, without=_WEIGHTS)
def count_sources(
    sources: Mapping[str, PathLike | Sequence[PathLike]],
    *,
    parallel: Mapping[str, PathLike | Sequence[PathLike]] | None = None,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **settings: Unpack[CountFilesOptions],
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
    checked = given_to(count_sources, FileCountSettings, settings)
    for name, given in (("sources", sources), ("parallel", parallel or {})):
        check_type(name, given, Mapping, "a mapping from names to paths")
    for name in _WEIGHTS:
        if getattr(checked, name) is not None:
            raise ArgumentError(name, "does not apply to sources that are counted by themselves")
    return _counts(sources, parallel or {}, pipeline_of_preset(preset), checked, progress)


def count_paths(
    paths: PathLike | Sequence[PathLike],
    pipeline: Pipeline,
    settings: FileCountSettings,
    progress: Progress,
) -> SourceCounts:
    """Count the words of each path as a source with its name, as `count_sources` does."""
    each = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return _counts({os.fspath(path): path for path in each}, {}, pipeline, settings, progress)


def _counts(
    sources: Mapping[str, PathLike | Sequence[PathLike]],
    parallel: Mapping[str, PathLike | Sequence[PathLike]],
    pipeline: Pipeline,
    settings: FileCountSettings,
    progress: Progress,
) -> SourceCounts:
    check_names(sources, parallel)
    groups: list[dict[str, Counts]] = [{}, {}]
    number, first, folder = 0, settings.first_source, settings.checkpoint
    for counted, group in zip(groups, (sources, parallel), strict=True):
        for name, paths in group.items():
            files = corpus_files(paths)
            own = None if folder is None else source_folder(folder, number)
            of_source = replace(settings, first_source=first, checkpoint=own)
            counted[name] = CorpusCount(files, pipeline, of_source).counts(progress)
            first += len(files)
            number += 1
    return SourceCounts(groups[0], parallel=groups[1])
