"""`piecework prune`: remove tokens from a tokenizer."""

from __future__ import annotations

import click

import piecework as pw
from piecework.cli.outputs import check_outputs, listed_words, note, resizing_outputs, save_resized
from piecework.cli.parameters import (
    InputFile,
    VocabSize,
    command,
    in_corpus,
    in_output,
    in_vocabulary,
    is_quiet,
)
from piecework.cli.reading import Reading, in_one_thread, reading_options
from piecework.cli.tokenizer_options import with_tokenizer

_FIRST = "--corpus --min-count --size --keep --field --map --output --dry-run"
_EXAMPLE = """\b
Example:
  piecework prune tokenizer.json --min-count 5 --corpus english.txt -o smaller.json --map ids.npy
  piecework prune tokenizer.json --size 8000 --corpus english.txt --dry-run
  piecework prune tokenizer.json --keep tokens.txt -o smaller.json
"""


@command(first=_FIRST, epilog=_EXAMPLE)
@with_tokenizer
@in_vocabulary(
    "--keep",
    "keep_path",
    type=InputFile(),
    help="File of tokens to keep, one per line.",
)
@in_vocabulary(
    "--min-count",
    type=click.IntRange(min=1),
    help="Keep tokens that occur at least N times in --corpus.",
)
@in_vocabulary(
    "--size",
    type=VocabSize(),
    metavar="N",
    help="Keep the N tokens that --corpus uses most, added tokens included.",
)
@in_corpus(
    "--corpus",
    multiple=True,
    type=InputFile(),
    help="Text or JSON lines file, read twice; repeatable.",
)
@reading_options
@resizing_outputs(required=False)
@in_output(
    "--dry-run",
    is_flag=True,
    help="Print what would be removed and how many more tokens --corpus would have; write nothing.",
)
def prune(
    tokenizer: pw.Tokenizer,
    keep_path: str | None,
    min_count: int | None,
    size: int | None,
    corpus: tuple[str, ...],
    reading: Reading,
    map_path: str | None,
    path: str | None,
    dry_run: bool,
) -> None:
    """Remove tokens from TOKENIZER, and renumber the others.

    The command keeps the tokens in a file (--keep), the tokens that a corpus uses (--min-count, --size), or
    both. It also keeps special tokens, and the tokens from which kept tokens are merged. With --corpus, it
    prints how many tokens the corpus has before and after.
    """
    by_use = min_count is not None or size is not None
    if keep_path is None and not by_use:
        raise click.UsageError("no tokens to keep; give --keep, --min-count or --size")
    if by_use != bool(corpus):
        raise click.UsageError("one of --min-count and --corpus is missing; give both")
    if "-" in corpus:
        raise click.UsageError("prune reads --corpus twice; give files, not -")
    if path is not None:
        if dry_run:
            raise click.UsageError("--dry-run writes no file; leave out --output and --map")
        check_outputs(tokenizer, path, map_path)
    elif not dry_run:
        raise click.UsageError("Missing option '-o' / '--output'.")
    keep = [] if keep_path is None else listed_words(keep_path)
    if corpus:
        plan = pw.analysis.plan_prune(
            tokenizer,
            pw.corpus.read_corpus(corpus, **in_one_thread(reading)),
            min_count=min_count,
            size=size,
            keep=keep,
            num_threads=reading["num_threads"],
            progress=not is_quiet(),
        )
        smaller, id_map = plan.tokenizer, plan.id_map
        if path is None:
            click.echo(str(plan))
            return
        tokens = f"{plan.tokens_before:,} -> {plan.tokens_after:,} ({plan.loss:+.2%})"
        note(f"corpus tokens: {tokens}")
    else:
        smaller, id_map = pw.vocabulary.prune(tokenizer, keep)
    if path is not None:
        save_resized(smaller, id_map, path, map_path)
