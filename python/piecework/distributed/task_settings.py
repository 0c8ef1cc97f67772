"""Check the arguments of the functions for engines, and pickle what the tasks need of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypedDict

import piecework as pw
from piecework._internal.validation import check_type
from piecework.distributed.tasks import CountBatchSettings, CountFilesSettings, EncodeSettings
from piecework.errors import ArgumentError

Dumps: TypeAlias = Callable[[Any], bytes]
"""Pickles functions by value where that is needed: the `cloudpickle` of the engine."""

_TASK_MEMORY = "1GiB"


class CountFilesOptions(TypedDict, total=False):
    """Arguments of `piecework.count_files`; `memory` is for each task, 1 GiB by default."""

    field: str | None
    encoding_errors: Literal["replace", "strict"]
    sentences: pw.train.Sentences | None
    sample: float | None
    seed: int
    max_word_length: int | None
    memory: int | str | None


class EncodeFilesOptions(TypedDict, total=False):
    """Arguments of `piecework.encode_files`."""

    keep_empty: bool
    append_eod: str | None
    add_special_tokens: bool
    field: str | None
    encoding_errors: Literal["replace", "strict"]


def count_files_settings(
    preset: str | pw.train.Preset | pw.train.Pipeline, options: CountFilesOptions, dumps: Dumps
) -> tuple[pw.train.Pipeline, bytes]:
    """Return the pipeline and the settings of tasks that count files.

    Raises `ArgumentError` for `sentences` with a size: such a sample needs the whole corpus.
    """
    sentences = options.get("sentences")
    if sentences is not None and sentences.size:
        problem = "must be all sentences on a cluster; sample=SHARE draws a share of them"
        raise ArgumentError("sentences", problem)
    resolved = _pipeline_of(preset)
    given = {"memory": _TASK_MEMORY, **options}
    return resolved, dumps(CountFilesSettings(resolved, given))


def count_batch_settings(
    preset: str | pw.train.Preset | pw.train.Pipeline,
    column: str,
    position_column: str | None,
    dumps: Dumps,
) -> tuple[pw.train.Pipeline, bytes]:
    """Return the pipeline and the settings of tasks that count a column of batches."""
    resolved = _pipeline_of(preset)
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


def _pipeline_of(preset: str | pw.train.Preset | pw.train.Pipeline) -> pw.train.Pipeline:
    """Return a pipeline as it is, or the one of a preset."""
    resolved = pw.count_texts((), preset=preset).pipeline
    assert resolved is not None
    return resolved


def _unpadded(tokenizer: pw.Tokenizer) -> pw.Tokenizer:
    """Return the tokenizer without padding to the longest row, because batches depend on the engine."""
    padding = tokenizer.spec.padding
    depends_on_batch = padding is not None and padding.length is None
    return tokenizer.without_padding() if depends_on_batch else tokenizer
