"""The settings of SentencePiece's trainer as options: their names, kinds and defaults are the trainer's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, fields
from typing import Any, TypeVar

import click

import piecework as pw
from piecework.cli.parameters import apply, option

Command = TypeVar("Command", bound=Callable[..., Any])

_SECTION = "SentencePiece"

# Those of other trainers are options already.
_ELSEWHERE = {
    "model_type",
    "vocab_size",
    "user_defined_symbols",
    "byte_fallback",
    "character_coverage",
    "shrinking_factor",
    "escape_whitespaces",
}
_HELP = {
    "normalization_rule_name": ", ".join(pw.NormalizationRules.NAMES) + ".",
    "normalization_rule_tsv": "Rules of your own in its place: a file of code points.",
    "denormalization_rule_tsv": "Rules for decoded text.",
    "required_chars": "Characters to have in any case, as one string.",
    "split_by_whitespace": "No piece across words.",
    "split_by_unicode_script": "No piece of two scripts.",
    "split_by_number": "No piece of digits and letters.",
    "split_digits": "Each digit a piece.",
    "required_chars_file": "A file of more of them.",
    "control_symbols_file": "A file of more of them, one a line.",
    "user_defined_symbols_file": "A file of symbols, one a line.",
    "seed_sentencepieces_file": "Pieces to begin with: each with a tab and its count (unigram).",
    "self_test_sample_size": "Sentences to keep in the model with their pieces.",
    "pretokenization_delimiter": "No piece across it; it is not learned.",
    "control_symbols": "Repeatable; never found in text.",
    "input_format": "text, or tsv: a sentence, a tab and its count.",
    "max_sentence_length": "In bytes; longer ones are left out.",
    "input_sentence_size": "Sentences taken at most, 0 for all.",
    "shuffle_input_sentence": "Draw them at random, or take the first.",
    "hard_vocab_limit": "Exactly --vocab-size pieces, or what there is.",
    "use_all_vocab": "All words or characters there are.",
}


def sentencepiece_options(command: Command) -> Command:
    """Add `--type`, and what SentencePiece's trainer can be told beside the options of the others."""
    return apply([_type_option(), *_setting_options()], command)


def _type_option() -> Callable[[Command], Command]:
    return option(
        "--type",
        "model_type",
        section=_SECTION,
        type=click.Choice(pw.SentencePieceTrainer.TYPES),
        help="Train a SentencePiece model of this type, for a .model; in place of --model and --preset, "
        "with the options below.",
    )


def _setting_options() -> Iterator[Callable[[Command], Command]]:
    for field in fields(pw.SentencePieceTrainer):
        if field.name not in _ELSEWHERE:
            yield _option(field)


def _option(field: Field[Any]) -> Callable[[Command], Command]:
    flag = f"--{field.name.replace('_', '-')}"
    about = _HELP.get(field.name, "")
    if isinstance(field.default, bool):
        default = flag if field.default else f"no{flag[1:]}"
        about = f"{about}  [default: {default.lstrip('-')}]".strip()
        both = f"{flag}/--no{flag[1:]}"
        return option(both, field.name, section=_SECTION, default=None, help=about)
    if isinstance(field.default, tuple):
        return option(
            flag.removesuffix("s"), field.name, section=_SECTION, multiple=True, help=about
        )
    shown = (
        f"{about}  [default: {_shown(field.default)}]" if field.default not in (None, "") else about
    )
    kind = type(field.default) if field.default is not None else str
    return option(flag, field.name, section=_SECTION, type=kind, help=shown.strip() or None)


def _shown(default: object) -> str:
    """Return a default as it is typed, in quotes where it has spaces."""
    text = str(default)
    return repr(text) if text != text.strip() else text
