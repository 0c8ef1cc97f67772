"""`piecework prune`: remove tokens from a tokenizer."""

from __future__ import annotations

import click

import piecework as pw
from piecework.cli.notes import note
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
from piecework.cli.resizing import check_outputs, listed_words, resizing_outputs, save_resized
from piecework.cli.tokenizer_options import Hints, load_one, tokenizer_argument, tokenizer_options

_EXAMPLE = """\b
Example:
  piecework prune tokenizer.json --min-count 5 --corpus english.txt -o smaller.json --map ids.npy
  piecework prune tokenizer.json --size 8000 --corpus english.txt --dry-run
  piecework prune tokenizer.json --keep tokens.txt -o smaller.json
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
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
@in_vocabulary(
    "--residues",
    is_flag=True,
    help="Also remove BPE tokens that --corpus uses less often than --min-count (default: never) and that "
    "others are merged from, if other merges can make those.",
)
@in_vocabulary(
    "--drop-alphabet",
    is_flag=True,
    help="Also remove single characters and bytes.",
)
@in_corpus(
    "--corpus",
    multiple=True,
    type=InputFile(),
    help="Text or JSON lines file, - for stdin; repeatable.",
)
@reading_options
@tokenizer_options
@resizing_outputs(required=False)
@in_output(
    "--dry-run",
    is_flag=True,
    help="Print what is removed and how many more tokens --corpus has, and write nothing.",
)
def prune(
    tokenizer: str,
    keep_path: str | None,
    min_count: int | None,
    size: int | None,
    residues: bool,
    corpus: tuple[str, ...],
    drop_alphabet: bool,
    reading: Reading,
    hints: Hints,
    map_path: str | None,
    path: str | None,
    dry_run: bool,
) -> None:
    """Remove tokens from TOKENIZER, and renumber the others.

    The tokens of a file (--keep), the tokens that a corpus uses (--min-count, --size), or both are kept.
    Special tokens are kept too, and the tokens from which kept tokens are merged. With --corpus, prints how
    many tokens the corpus has before and after.
    """
    by_use = min_count is not None or size is not None or residues
    _check(keep_path is not None, by_use, corpus, path, map_path, dry_run)
    if "-" in corpus and (size is not None or residues):
        raise click.UsageError("--size and --residues read --corpus twice; give files, not -")
    loaded = load_one(tokenizer, hints)
    if path is not None:
        check_outputs(loaded, path, map_path)
    keep: list[str | int] = [] if keep_path is None else [*listed_words(keep_path)]
    if corpus and "-" not in corpus:
        plan = pw.analysis.plan_prune(
            loaded,
            pw.corpus.read_corpus(corpus, **in_one_thread(reading)),
            min_count=min_count,
            size=size,
            keep=keep,
            residues=residues,
            keep_alphabet=not drop_alphabet,
            num_threads=reading["num_threads"],
            progress=not is_quiet(),
        )
        smaller, id_map = plan.tokenizer, plan.id_map
        if dry_run:
            click.echo(str(plan))
            return
        tokens = f"{plan.tokens_before:,} -> {plan.tokens_after:,} ({plan.loss:+.2%})"
        note(f"corpus tokens: {tokens}")
    else:
        if corpus:
            keep += _used_in_stdin(loaded, corpus, min_count or 1, reading)
        smaller, id_map = pw.vocabulary.prune(loaded, keep, keep_alphabet=not drop_alphabet)
    assert path is not None  # checked before
    save_resized(smaller, id_map, path, map_path)


def _used_in_stdin(
    loaded: pw.Tokenizer, corpus: tuple[str, ...], min_count: int, reading: Reading
) -> list[int]:
    """Return the ids that a corpus uses, which is read once."""
    texts = pw.corpus.read_corpus(corpus, **in_one_thread(reading))
    counts = pw.analysis.token_counts(
        loaded, texts, num_threads=reading["num_threads"], progress=not is_quiet()
    )
    ids: list[int] = (counts >= min_count).nonzero()[0].tolist()
    return ids


def _check(
    keeps: bool,
    by_use: bool,
    corpus: tuple[str, ...],
    path: str | None,
    map_path: str | None,
    dry_run: bool,
) -> None:
    """Raise for options that contradict each other, and for missing ones."""
    if not keeps and not by_use:
        raise click.UsageError("no tokens to keep; give --keep, --min-count, --size or --residues")
    if by_use != bool(corpus):
        raise click.UsageError("one of --min-count and --corpus is missing; give both")
    if dry_run and (not corpus or "-" in corpus):
        raise click.UsageError("--dry-run needs files in --corpus")
    if dry_run and (path is not None or map_path is not None):
        raise click.UsageError("--dry-run writes no file; leave out --output and --map")
    if not dry_run and path is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
