"""`piecework explain`: every stage of one text in order, or every step of a small training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.explain_training import explain_training
from piecework.cli.options import corpus_options, counts_of, trainer_of, training_options

_EXAMPLE = """\b
Example:
  piecework explain tokenizer.json "I have a new GPU!"
  piecework explain --training corpus.txt --score pmi --min-frequency 1 --vocab-size 70
"""

Span = tuple[int, int]


@click.command(epilog=_EXAMPLE)
@click.argument("arguments", nargs=-1, required=True, metavar="(TOKENIZER TEXT | CORPUS...)")
@click.option("--training", is_flag=True, help="Train on CORPUS and print the learner's steps.")
@click.option("--steps", default=20, show_default=True, help="Lines of each list of --training.")
@training_options
@corpus_options
def explain(
    arguments: tuple[str, ...],
    training: bool,
    steps: int,
    model: str,
    preset: str | None,
    field: str,
    errors: Literal["replace", "strict"],
    workers: int | None,
    **settings: Any,
) -> None:
    """Print each stage of encoding TEXT with TOKENIZER, or with --training of learning from CORPUS.

    Use --training on small corpora; the other options are those of `piecework train`.
    """
    if training:
        chosen = pw.train.preset_for(model, preset)
        trainer = trainer_of(model, settings)
        counts = counts_of(arguments, chosen, field, errors, workers)
        explain_training(counts, trainer, steps)
        return
    if len(arguments) != 2:
        found = f"{len(arguments)} arguments"
        raise pw.errors.ArgumentError(
            "explain", found, "TOKENIZER and one TEXT in quotes, or --training"
        )
    loaded = pw.Tokenizer.load(arguments[0])
    _explain_text(loaded, arguments[1].encode(errors="surrogateescape").decode(errors="replace"))


def _explain_text(tokenizer: pw.Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    added = _added_token_spans(tokenizer, encoding, text)
    _say("text", [repr(text)])
    _say("special tokens", [f"{text[start:end]}  {start}:{end}" for start, end in added])
    _say("normalized", [repr(_normalized(tokenizer, text, added))])
    _say(
        "words", [f"{word}  {start}:{end}" for word, (start, end) in _words(tokenizer, text, added)]
    )
    _say("pieces", list(_pieces(encoding, text)))
    _say(
        "ids",
        [f"{id:>8}  {token}" for id, token in zip(encoding.ids, encoding.tokens, strict=True)],
    )


def _say(title: str, lines: list[str]) -> None:
    click.echo(title)
    for line in lines or ["none"]:
        click.echo(f"  {line}")


def _added_token_spans(tokenizer: pw.Tokenizer, encoding: pw.Encoding, text: str) -> list[Span]:
    """Return where added tokens stand in the text itself, not those the template put around it."""
    contents = {token.content for token in tokenizer.spec.added_tokens}
    spans = []
    for token, span in zip(encoding.tokens, encoding.offsets, strict=True):
        if token in contents and text[slice(*span)].strip() == token:
            spans.append(span)
    return spans


def _parts(text: str, added: list[Span]) -> Iterator[tuple[int, str, bool]]:
    """Cut a text at its added tokens: start, part, whether it is one of them."""
    end = 0
    for start, stop in added:
        yield end, text[end:start], False
        yield start, text[start:stop], True
        end = stop
    yield end, text[end:], False


def _normalized(tokenizer: pw.Tokenizer, text: str, added: list[Span]) -> str:
    return "".join(
        part if is_added else tokenizer.normalize(part) for _, part, is_added in _parts(text, added)
    )


def _words(tokenizer: pw.Tokenizer, text: str, added: list[Span]) -> Iterator[tuple[str, Span]]:
    for offset, part, is_added in _parts(text, added):
        if is_added:
            yield part, (offset, offset + len(part))
            continue
        for word, (start, end) in tokenizer.pre_tokenize(part):
            yield word, (offset + start, offset + end)


def _pieces(encoding: pw.Encoding, text: str) -> Iterator[str]:
    """Give one line a word: what stands in the text, and the pieces it became."""
    by_word: dict[int, list[int]] = {}
    for at, word in enumerate(encoding.word_ids):
        if word is not None:
            by_word.setdefault(word, []).append(at)
    for places in by_word.values():
        start, end = encoding.offsets[places[0]][0], encoding.offsets[places[-1]][1]
        yield f"{text[start:end]} -> {' '.join(encoding.tokens[at] for at in places)}"
