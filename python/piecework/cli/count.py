"""`piecework count`: count the words of a corpus."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import click

import piecework as pw
from piecework._internal.validation import counted
from piecework.cli.options import (
    COUNTS_SUFFIXES,
    are_counts_files,
    check_counting,
    corpus_options,
    count_or_load,
    counting_options,
)
from piecework.cli.outputs import check_output
from piecework.cli.parameters import (
    InputFile,
    command,
    is_quiet,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.reading import Reading, given_options
from piecework.cli.summaries import (
    Timing,
    changes_of,
    first_texts,
    normalization_text,
    normalized,
    preset_hint,
    summarize,
    summary_option,
)
from piecework.io.atomic_files import atomic_stream
from piecework.train.counts_files import CountsSummary
from piecework.train.plan import Plan
from piecework.train.trainer import traits_of

_FIRST = "--preset --field --num-threads --memory --sample --output"
_EXAMPLE = """\b
Example:
  piecework count corpus.txt --preset bert-cased -o counts.parquet
  piecework count corpus.txt -o - | head
  piecework count b.txt --first-source 1 -o b.parquet
  piecework count en/ cs/ --source-weights 1,2.5 --memory 2GB --checkpoint state -o counts.parquet
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@corpus_options()
@option(
    "--first-source",
    section="Corpus",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Number of the first file. For --ties first-seen, the files of all shards need distinct numbers.",
)
@counting_options
@output_option("File to write: .parquet or .tsv; - writes TSV to stdout.", required=True)
@summary_option
@quiet_option
def count(
    corpus: tuple[str, ...],
    preset: str | None,
    reading: Reading,
    first_source: int,
    path: str,
    as_json: bool,
    **counting: Any,
) -> None:
    """Count the words of CORPUS, for later training.

    CORPUS: {formats}; directories of these, quoted patterns such as 'data/**/*.jsonl.gz', URLs such as
    s3://bucket/data.jsonl, or - for stdin.
    Counts files (.parquet, .tsv), recognized by content, are merged.
    """
    plan = Plan.of(preset=preset or "bert-uncased")
    if path != "-" and Path(path).suffix.lower() not in COUNTS_SUFFIXES:
        problem = (
            f"must be a file name that ends in .parquet or .tsv, or - for stdout, not {path!r}"
        )
        raise pw.errors.ArgumentError("output", problem)
    check_output(path)
    check_counting(corpus, plan, reading, counting)
    merges = are_counts_files(corpus, reading["field"], plan.sentences)
    timing = Timing(corpus, of_text=not merges)
    found = normalized(plan, first_texts(corpus, plan, reading))
    counting["first_source"] = first_source
    if path == "-" or merges or plan.sentences.size:
        counts = count_or_load(corpus, plan.pipeline, reading, plan.sentences, counting)
        summary = CountsSummary(counts.total, len(counts))
        if path == "-":
            with atomic_stream(path) as stream:
                counts.write_tsv(stream)
        else:
            counts.save(path)
    else:
        summary = pw.train.count_files_to(
            path,
            corpus,
            preset=plan.pipeline,
            progress=not is_quiet(),
            sentences=plan.sentences,
            **reading,
            **given_options(counting),
        )
    if path == "-" and not as_json:
        return
    assert plan.preset is not None
    name, normalizer = plan.preset.name, plan.pipeline.normalizer
    train, output = "train", "tokenizer.json"
    if traits_of(plan.trainer).has_own_pipeline:
        train, output = "train-sentencepiece", "spm.model"
    given = click.get_current_context().params["preset"]
    chosen = f" --preset {given}" if given else ""
    following = f"piecework {train} {quote(path)}{chosen} --vocab-size 8000 -o {output}"
    lines = [
        f"{counted(summary.words, 'word')}, {summary.distinct:,} distinct {timing}, saved as {path}",
        f"preset {name} {normalization_text(normalizer, found)}",
        preset_hint(plan, found),
        f"next: {following}",
    ]
    data = {
        "preset": name,
        "changes": list(changes_of(normalizer)),
        "words": summary.words,
        "distinct_words": summary.distinct,
        **timing.figures(),
        "changed_share": found.changed_share if found.words else None,
        "saved": None if path == "-" else path,
        "next": None if path == "-" else following,
    }
    summarize(lines, data, as_json=as_json, err=path == "-")
