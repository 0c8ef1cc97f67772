"""`piecework inspect`: what a tokenizer file holds, stage by stage, and how sound it is."""

from __future__ import annotations

from collections.abc import Sequence

import click

import piecework as pw
from piecework.cli.reachability import unreachable_tokens

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


@click.command(epilog=_EXAMPLE)
@click.argument("tokenizer")
@click.option("--show", default=10, show_default=True, help="Examples of each kind of token.")
def inspect(tokenizer: str, show: int) -> None:
    """Print the pipeline of TOKENIZER, its sizes, and its special, numeric and unreachable tokens.

    Numeric: nothing but decimal digits. Unreachable: no text was found that gives the token.
    """
    loaded = pw.Tokenizer.load(tokenizer)
    spec = loaded.spec
    for stage in _STAGES:
        _say(stage.replace("_", "-"), str(getattr(spec, stage) or "none"))
    ids = loaded.get_vocab()
    vocab = sorted(ids, key=ids.__getitem__)
    prefix = continuation_prefix(spec)
    inside = sum(_is_inside(token, prefix) for token in vocab)
    _say("vocabulary", f"{len(vocab):,} tokens, {inside:,} of them inside words")
    special = sorted(spec.added_tokens, key=lambda token: token.id)
    _say("added tokens", ", ".join(f"{token.content} {token.id}" for token in special) or "none")
    numeric = [token for token in vocab if _bare(token, prefix).strip().isdecimal()]
    _say("numeric tokens", _some(numeric, show))
    _say("unreachable", _some(unreachable_tokens(loaded, prefix), show))


def continuation_prefix(spec: pw.spec.TokenizerSpec) -> str:
    """Return what marks tokens inside words; empty for models that mark nothing."""
    model = spec.model
    return model.continuing_subword_prefix if isinstance(model, pw.spec.WordPiece) else ""


def _say(name: str, value: str) -> None:
    click.echo(f"{name:<16}{value}")


def _some(tokens: Sequence[str], show: int) -> str:
    shown = " ".join(tokens[:show])
    more = " ..." if len(tokens) > show else ""
    return f"{len(tokens):,}" + (f"  ({shown}{more})" if shown else "")


def _is_inside(token: str, prefix: str) -> bool:
    return bool(prefix) and token.startswith(prefix) and token != prefix


def _bare(token: str, prefix: str) -> str:
    return token[len(prefix) :] if _is_inside(token, prefix) else token
