"""Check the arguments of the functions for engines, and pickle what the tasks need of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypedDict

import piecework as pw
from piecework._internal.validation import check_type
from piecework.distributed.tasks import CountBatchSettings, CountFilesSettings, EncodeSettings
from piecework.errors import ArgumentError
from piecework.train.counting import PartCountSettings, pipeline_of_preset

Dumps: TypeAlias = Callable[[Any], bytes]
"""Pickles functions by value where that is needed: the `cloudpickle` of the engine."""

_TASK_MEMORY = "1GiB"


class EncodeFilesOptions(TypedDict, total=False):
    """Arguments of `piecework.encode_files`."""

    keep_empty: bool
    append_eod: str | None
    add_special_tokens: bool
    field: str | None
    encoding_errors: Literal["replace", "strict"]


def count_files_settings(
    preset: str | pw.train.Preset | pw.train.Pipeline,
    settings: PartCountSettings,
    dumps: Dumps,
) -> tuple[pw.train.Pipeline, bytes]:
    """Return the pipeline and the settings of tasks that count files.

    Raises `ArgumentError` for `sentences` with a size: such a sample needs the whole corpus.
    """
    if settings.rules.size:
        problem = "must be all sentences on a cluster; a sample draws a share of them"
        raise ArgumentError("sentences", problem)
    of_tasks = replace(
        settings,
        memory=settings.memory or _TASK_MEMORY,
        num_threads=settings.num_threads or 1,
    )
    resolved = pipeline_of_preset(preset)
    return resolved, dumps(CountFilesSettings(resolved, vars(of_tasks)))


def count_batch_settings(
    preset: str | pw.train.Preset | pw.train.Pipeline,
    column: str,
    position_column: str | None,
    dumps: Dumps,
) -> tuple[pw.train.Pipeline, bytes]:
    """Return the pipeline and the settings of tasks that count a column of batches."""
    resolved = pipeline_of_preset(preset)
    return resolved, dumps(CountBatchSettings(column, resolved, position_column))


def encode_settings(
    tokenizer: pw.Tokenizer, column: str, ids_column: str, add_special_tokens: bool, dumps: Dumps
) -> bytes:
    """Return the settings of tasks that encode a column of batches."""
    check_type("tokenizer", tokenizer, pw.Tokenizer, "a Tokenizer")
    options = {"add_special_tokens": add_special_tokens}
    return dumps(EncodeSettings(_unpadded(tokenizer), column, ids_column, options))


def encode_files_settings(
    tokenizer: pw.Tokenizer, format: str, options: EncodeFilesOptions, dumps: Dumps
) -> bytes:
    """Return the settings of tasks that encode files."""
    check_type("tokenizer", tokenizer, pw.Tokenizer, "a Tokenizer")
    return dumps((tokenizer, {"format": format, **options}))


def _unpadded(tokenizer: pw.Tokenizer) -> pw.Tokenizer:
    """Return the tokenizer without padding to the longest row, because batches depend on the engine."""
    padding = tokenizer.spec.padding
    depends_on_batch = padding is not None and padding.length is None
    return tokenizer.without_padding() if depends_on_batch else tokenizer
