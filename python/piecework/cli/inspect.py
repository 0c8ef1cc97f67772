"""`piecework inspect`: print the stages, sizes and kinds of tokens of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

import piecework as pw
from piecework._internal.validation import counted
from piecework.cli.outputs import print_json
from piecework.cli.parameters import InputFile, command, option
from piecework.cli.tokenizer_options import with_tokenizer

if TYPE_CHECKING:
    from piecework.analysis.round_trip import RoundTrip

_EXAMPLE = """\b
Example:
  piecework inspect tokenizer.json
  piecework inspect vocab.txt --show 50
"""

_STAGES = (
    "normalizer",
    "pre_tokenizer",
    "model",
    "post_processor",
    "decoder",
    "truncation",
    "padding",
)


@command(epilog=_EXAMPLE)
@with_tokenizer
@option(
    "--corpus",
    multiple=True,
    type=InputFile(),
    help="File whose first 1,000 texts are encoded and decoded; repeatable.  [default: texts in 22 scripts]",
)
@option(
    "--field", metavar="NAME", help="Field or column of --corpus with the text.  [default: text]"
)
@option("--show", default=10, show_default=True, help="Number of examples of each kind of token.")
@option("--json", "as_json", is_flag=True, help="Print all tokens of each kind as JSON.")
def inspect(
    tokenizer: pw.Tokenizer,
    corpus: tuple[str, ...],
    field: str | None,
    show: int,
    as_json: bool,
) -> None:
    """Print the stages, sizes and tokens of TOKENIZER.

    These are facts about one tokenizer; `piecework check` judges them.

    Byte tokens represent a single byte. Tokens listed under "invalid UTF-8" are not valid text on their
    own. Numeric tokens consist of decimal digits. Fused line ends are tokens in which a line end follows
    a symbol or precedes an indent. No tested text produces an unreachable token. Duplicates represent the
    same text. "round trip" lists what texts lose when they are encoded and decoded: characters,
    what the normalizer changes, and spaces.
    """
    from piecework.analysis.corpus_texts import sample_of_files

    texts = sample_of_files(corpus, field=field) if corpus else None
    found = pw.analysis.inspect(tokenizer, texts)
    if as_json:
        print_json(found.to_dict())
        return
    spec = tokenizer.spec
    for stage in _STAGES:
        _print_field(stage.replace("_", "-"), str(getattr(spec, stage) or "none"))
    _print_field("family", found.family)
    _print_field(
        "vocabulary",
        f"{counted(found.vocab_size, 'token')}, {found.inside_words:,} with a continuation prefix",
    )
    _print_field("special tokens", _with_ids(tokenizer, found.special))
    _print_field("added tokens", _with_ids(tokenizer, found.added))
    _print_field("byte tokens", _count_and_examples(found.byte_tokens, show))
    _print_field("invalid UTF-8", _count_and_examples(found.invalid_utf8, show))
    _print_field("numeric tokens", _count_and_examples(found.numeric, show))
    _print_field("fused line ends", _count_and_examples(found.fused_line_ends, show))
    _print_field("unreachable", _count_and_examples(found.unreachable, show))
    _print_field(
        "duplicates", _count_and_examples([" = ".join(tokens) for tokens in found.duplicates], show)
    )
    for at, line in enumerate(_round_trip_lines(found.round_trip, is_built_in=not corpus)):
        _print_field("" if at else "round trip", line)
    _print_field("memory", _memory_text(tokenizer.memory()))
    lengths = " ".join(f"{length}:{many:,}" for length, many in found.entry_lengths)
    _print_field("token lengths", lengths or "none")


def _print_field(name: str, value: str) -> None:
    from piecework.analysis.readable import escape_controls

    click.echo(f"{name:<16}{escape_controls(value)}")


def _round_trip_lines(found: RoundTrip, *, is_built_in: bool) -> Iterator[str]:
    """Yield what texts lose, with the name of the texts."""
    if not found.texts:
        yield "--corpus has no texts that are not empty; a pipe or a URL is not read"
        return
    texts = (
        "built-in text in 22 scripts"
        if is_built_in
        else f"{counted(found.texts, 'text')} of --corpus"
    )
    yield f"{texts}: {found.lost_text}"
    if is_built_in and not found.is_lossless:
        yield "a vocabulary for few scripts loses the others; --corpus FILE measures your texts"
    yield found.changed_text
    yield found.spacing_text


def _memory_text(memory: tuple[int, int, int]) -> str:
    tables, caches, budget = (f"{size / (1 << 20):,.1f} MiB" for size in memory)
    return f"tables {tables}, word cache {caches} per thread (limit {budget})"


def _with_ids(tokenizer: pw.Tokenizer, tokens: Sequence[str]) -> str:
    return ", ".join(f"{token} {tokenizer.token_to_id(token)}" for token in tokens) or "none"


def _count_and_examples(tokens: Sequence[str], show: int) -> str:
    shown = " ".join(tokens[:show])
    more = " ..." if len(tokens) > show else ""
    return f"{len(tokens):,}" + (f"  ({shown}{more})" if shown else "")
