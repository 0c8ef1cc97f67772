"""`piecework inspect`: what a tokenizer file holds, stage by stage, and how sound it is."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

import piecework as pw
from piecework.cli.parameters import command, option
from piecework.cli.terminal_text import escape_controls
from piecework.cli.tokenizer_options import (
    Hints,
    load_tokenizer,
    tokenizer_argument,
    tokenizer_options,
)

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
@tokenizer_argument()
@tokenizer_options
@option("--show", default=10, show_default=True, help="Examples of each kind of token.")
@option("--json", "as_json", is_flag=True, help="Print the kinds of tokens, whole, as JSON.")
def inspect(tokenizer: str, show: int, as_json: bool, hints: Hints) -> None:
    """Print the pipeline of TOKENIZER, its sizes, and its tokens by kind.

    Byte tokens stand for one byte each. Invalid UTF-8: no text alone. Numeric: nothing but decimal
    digits. Unreachable: no text was found that gives the token. Duplicates stand for the same text.
    """
    loaded = load_tokenizer(tokenizer, hints)
    found = pw.analysis.inspect(loaded)
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    spec = loaded.spec
    for stage in _STAGES:
        _say(stage.replace("_", "-"), str(getattr(spec, stage) or "none"))
    _say("family", found.family)
    _say("vocabulary", f"{found.vocab_size:,} tokens, {found.inside_words:,} of them inside words")
    _say("special tokens", _with_ids(loaded, found.special))
    _say("added tokens", _with_ids(loaded, found.added))
    _say("byte tokens", _some(found.byte_tokens, show))
    _say("invalid UTF-8", _some(found.invalid_utf8, show))
    _say("numeric tokens", _some(found.numeric, show))
    _say("unreachable", _some(found.unreachable, show))
    _say("duplicates", _some([" = ".join(tokens) for tokens in found.duplicates], show))
    _say("memory", _sizes(loaded.memory()))
    lengths = " ".join(f"{length}:{many:,}" for length, many in found.entry_lengths)
    _say("characters", lengths or "none")


def _say(name: str, value: str) -> None:
    click.echo(f"{name:<16}{escape_controls(value)}")


def _sizes(memory: tuple[int, int, int]) -> str:
    tables, caches, budget = (f"{size / (1 << 20):,.1f} MiB" for size in memory)
    return f"tables {tables}, caches {caches} a thread, of at most {budget}"


def _with_ids(tokenizer: pw.Tokenizer, tokens: Sequence[str]) -> str:
    return ", ".join(f"{token} {tokenizer.token_to_id(token)}" for token in tokens) or "none"


def _some(tokens: Sequence[str], show: int) -> str:
    shown = " ".join(tokens[:show])
    more = " ..." if len(tokens) > show else ""
    return f"{len(tokens):,}" + (f"  ({shown}{more})" if shown else "")
