"""The options of the SentencePiece trainer; names, types and defaults come from its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, fields
from typing import Any, TypeVar

import click

import piecework as pw
from piecework.cli.parameters import apply, option

Command = TypeVar("Command", bound=Callable[..., Any])

_SECTION = "SentencePiece"

# Options that other trainers share.
_SHARED = {
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
    "normalization_rule_tsv": "File of custom normalization rules, in place of named rules.",
    "denormalization_rule_tsv": "File of rules to apply to decoded text.",
    "required_chars": "Characters to include even if they do not occur, as one string.",
    "split_by_whitespace": "Do not learn pieces that cross whitespace.",
    "split_by_unicode_script": "Do not learn pieces of several Unicode scripts.",
    "split_by_number": "Do not learn pieces of digits and other characters.",
    "split_digits": "Make each digit a piece.",
    "required_chars_file": "File of further required characters.",
    "control_symbols_file": "File of further control symbols, one per line.",
    "user_defined_symbols_file": "File of further user-defined symbols, one per line.",
    "seed_sentencepieces_file": "File of seed pieces: piece, tab, count (unigram).",
    "self_test_sample_size": "Number of sentences stored in the model with their pieces, for self-tests.",
    "pretokenization_delimiter": "String that no learned piece contains.",
    "control_symbols": "Piece that never matches text; repeatable.",
    "input_format": "text, or tsv: sentence, tab, count.",
    "max_sentence_length": "Longest sentence, in bytes; longer ones are skipped.",
    "input_sentence_size": "Maximum number of sentences to train on; 0 means all.",
    "shuffle_input_sentence": "Sample --input-sentence-size sentences at random, or use the first.",
    "hard_vocab_limit": "Fail if the corpus has too few pieces for --vocab-size, or take fewer as spm_train "
    "does.  [default: take fewer, with a warning]",
    "use_all_vocab": "Keep all words or characters of the corpus (word, char).",
    "add_dummy_prefix": "Add a space before the text.",
    "remove_extra_whitespaces": "Remove leading, trailing and repeated spaces.",
    "treat_whitespace_as_suffix": "Put the metaspace at the end of words.",
    "max_sentencepiece_length": "Longest piece to learn, in characters.",
    "allow_whitespace_only_pieces": "Allow pieces of several spaces.",
    "unk_id": "Id of the unknown piece.",
    "bos_id": "Id of the BOS piece; -1 for none.",
    "eos_id": "Id of the EOS piece; -1 for none.",
    "pad_id": "Id of the padding piece; -1 for none.",
    "unk_piece": "Name of the unknown piece.",
    "bos_piece": "Name of the BOS piece.",
    "eos_piece": "Name of the EOS piece.",
    "pad_piece": "Name of the padding piece.",
    "unk_surface": "Text that an unknown piece decodes to.",
    "seed": "Seed of random sampling.",
    "seed_sentencepiece_size": "Number of seed pieces (unigram).",
    "num_sub_iterations": "EM iterations before each pruning step (unigram).",
    "vocabulary_output_piece_score": "Write scores to the .vocab file.",
    "accept_language": "Languages of the model, stored in the file.",
}


def sentencepiece_options(command: Command) -> Command:
    """Add `--type`, and the options that only the SentencePiece trainer has."""
    return apply([_type_option(), *_setting_options()], command)


def _type_option() -> Callable[[Command], Command]:
    return option(
        "--type",
        "model_type",
        section=_SECTION,
        type=click.Choice(pw.SentencePieceTrainer.TYPES),
        help="Train a SentencePiece model (.model) of this type, with the options below; use it in "
        "place of --model and --preset.",
    )


def _setting_options() -> Iterator[Callable[[Command], Command]]:
    for field in fields(pw.SentencePieceTrainer):
        if field.name not in _SHARED:
            yield _option(field)


def _option(field: Field[Any]) -> Callable[[Command], Command]:
    flag = f"--{field.name.replace('_', '-')}"
    about = _HELP.get(field.name, "")
    if field.name == "hard_vocab_limit":
        both = f"{flag}/--no{flag[1:]}"
        return option(both, field.name, section=_SECTION, default=None, help=about)
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
        f"{about}  [default: {_typed(field.default)}]" if field.default not in (None, "") else about
    )
    kind = type(field.default) if field.default is not None else str
    return option(flag, field.name, section=_SECTION, type=kind, help=shown.strip() or None)


def _typed(default: object) -> str:
    """Return a default as the user would type it, quoted if it starts or ends with a space."""
    text = str(default)
    return repr(text) if text != text.strip() else text
