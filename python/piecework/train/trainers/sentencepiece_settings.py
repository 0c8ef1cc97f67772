"""Check the settings of `SentencePieceTrainer`, serialize them, and assign the ids that they name.

The four roles have the ids that the settings name; -1 omits one. Control symbols get the lowest free ids,
then user-defined symbols, then the 256 bytes of byte fallback; learned pieces get the rest. A symbol with
the text of bos, eos or pad keeps the id of the role and gets the type of the symbol.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from piecework._internal import validation as checks
from piecework._internal._core import sentencepiece_settings
from piecework._internal.setting_fields import File
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, FormatError, TrainingError
from piecework.io.normalization_rules import NormalizationRules
from piecework.io.read_file import text_lines
from piecework.spec import (
    Normalizer,
    PieceType,
    Regex,
    Replace,
    ScoredPiece,
    SentencePieceNormalizer,
    SequenceNormalizer,
)
from piecework.train.trainers.common import set_field

Rules: TypeAlias = PathLike | NormalizationRules

ROLES = ("unk", "bos", "eos", "pad")

SENTENCEPIECE_TYPES = ("unigram", "bpe", "word", "char")
_NOT_WRITTEN = {
    "model_type",  # written as a number
    "vocab_size",  # written as the size of the model
    "normalization_rule_name",
    "normalization_rule_tsv",
    "denormalization_rule_tsv",
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "escape_whitespaces",
    "seed",
    "required_chars_file",
    "control_symbols_file",
    "user_defined_symbols_file",
    "seed_sentencepieces_file",
    "transition",
    "max_words",
    "cross_punctuation",
    "learner",
}


@dataclass(frozen=True)
class RulesFile(File):
    """Normalization rules, the path of a file of them, or None for no file."""

    annotation, words = "PathLike | NormalizationRules", "a path, or `NormalizationRules`"

    def checked(self, name: str, value: Any) -> Any:
        """Return the rules or the path."""
        if not isinstance(value, (str, os.PathLike, NormalizationRules)):
            problem = f"must be a path or NormalizationRules, not {type(value).__name__}"
            raise ArgumentError(name, problem)
        return value


# ---- checks


def read_files(trainer: Any) -> None:
    """Add the lines of `..._file` settings to the settings of the same name."""
    for name in ("control_symbols", "user_defined_symbols", "required_chars"):
        path = getattr(trainer, f"{name}_file")
        if path is None:
            continue
        lines = [line for line in text_lines(path) if line]
        value = getattr(trainer, name)
        if isinstance(value, str):
            set_field(trainer, name, value + "".join(lines))
        else:
            set_field(trainer, name, checks.distinct_tokens(name, (*value, *lines)))
        set_field(trainer, f"{name}_file", None)


def check_contradictions(trainer: Any) -> None:
    """Raise `ArgumentError` for settings that do not go together."""
    if not trainer.escape_whitespaces:
        problem = "must be True: the trainer recognizes words by ▁"
        raise ArgumentError("escape_whitespaces", problem)
    if trainer.seed_sentencepieces_file is not None and trainer.model_type != "unigram":
        problem = "must be None: only unigram models start with seed pieces"
        raise ArgumentError("seed_sentencepieces_file", problem)
    if trainer.transition is not None and trainer.model_type != "bpe":
        problem = f"needs a model of type 'bpe', not {trainer.model_type!r}"
        raise ArgumentError("transition", problem, also=["model_type"])
    if trainer.transition is not None and not trainer.split_by_whitespace:
        problem = "cannot be combined: the first pieces would cross spaces too"
        raise ArgumentError("transition", problem, also=["split_by_whitespace"])
    _check_learner(trainer)
    is_ranking = trainer.model_type in ("word", "char")
    if trainer.use_all_vocab and not is_ranking:
        problem = "must be False: only word and char models can take all words or characters"
        raise ArgumentError("use_all_vocab", problem)
    if trainer.pretokenization_delimiter and is_ranking:
        problem = "must be empty: only unigram and bpe models learn pieces that could cross it"
        raise ArgumentError("pretokenization_delimiter", problem)
    needed = max(len(trainer.meta_pieces), max(trainer.meta_pieces) + 1)
    if not trainer.use_all_vocab and trainer.vocab_size < needed:
        problem = f"{trainer.vocab_size} is too small: {needed} pieces are not learned"
        raise ArgumentError("vocab_size", problem, limit=needed)


def _check_learner(trainer: Any) -> None:
    """Raise `ArgumentError` for settings that do not fit the learner."""
    learner = trainer.learner
    if learner is None:
        return
    if trainer.model_type != "unigram":
        problem = f"needs a model of type 'unigram', not {trainer.model_type!r}"
        raise ArgumentError("learner", problem, also=["model_type"])
    if learner.segmentation != "greedy":
        # After 100 tokens, sums of such scores are rounded to whole numbers.
        problem = f"{learner}: a .model has scores of 32 bits, too few for it; use UnigramTrainer"
        raise ArgumentError("learner", problem)
    defaults = {field.name: field.default for field in fields(trainer)}
    advice = {
        "seed_sentencepiece_size": ": pass Pruning(seed_vocab_size=...)",
        "seed_sentencepieces_file": ", which finds its own seeds",
        "shrinking_factor": "",
    }
    for name, instead in advice.items():
        value = getattr(trainer, name)
        if value != defaults[name]:
            shown = f"{value:g}" if isinstance(value, float) else repr(value)
            raise ArgumentError(name, f"{shown} does not apply with Pruning(){instead}")
    learner._check(trainer.vocab_size)


def resolve_rules(rules: Rules | None) -> NormalizationRules | None:
    """Return rules unchanged, or read them from a file."""
    if rules is None or isinstance(rules, NormalizationRules):
        return rules
    return NormalizationRules.from_tsv(rules)


def read_seeds(path: PathLike) -> list[tuple[str, int]]:
    """Read lines of a piece, a tab and its count; columns after these two are ignored."""
    return [_seed(line, f"{path} line {row}") for row, line in enumerate(text_lines(path), start=1)]


def _seed(line: str, place: str) -> tuple[str, int]:
    piece, _, rest = line.partition("\t")
    count = rest.split("\t")[0].strip()
    if not (count.isascii() and count.isdigit() and 0 < int(count) < 2**63):
        problem = f"found {line[:80]!r}, expected a piece, a tab, and an integer of at least 1"
        raise FormatError(place, problem)
    return piece, int(count)


# ---- serialization


def settings_as_bytes(trainer: Any, vocab_size: int) -> bytes:
    """Return the settings as the bytes that a `.model` contains, without other messages."""
    values = {field.name: getattr(trainer, field.name) for field in fields(trainer)}
    written = {name: value for name, value in values.items() if name not in _NOT_WRITTEN}
    written |= {
        "model_type": SENTENCEPIECE_TYPES.index(trainer.model_type) + 1,
        "vocab_size": vocab_size,
        "self_test_sample_size": 0,
        "hard_vocab_limit": trainer.hard_vocab_limit is not False,
        "split_by_whitespace": trainer.split_by_whitespace and trainer.transition is None,
    }
    settings = [
        (name, list(value) if isinstance(value, tuple) else value)
        for name, value in written.items()
    ]
    is_custom = trainer.normalization_rule_tsv is not None
    name = "user_defined" if is_custom else trainer.normalization_rule_name
    denormalizer = trainer._decoder.denormalizer
    return sentencepiece_settings(
        settings,
        _normalizer_settings(name, trainer._normalizer),
        denormalizer and _normalizer_settings("user_defined", denormalizer),
    )


def _normalizer_settings(name: str, normalizer: SentencePieceNormalizer) -> list[tuple[str, Any]]:
    spaces = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    flags = [(flag, getattr(normalizer, flag)) for flag in spaces]
    return [("name", name), ("precompiled_charsmap", ""), *flags]


# ---- normalizers derived from a SentencePiece model's normalizer: for decoded text, and for training


def denormalizer_of(rules: NormalizationRules | None) -> SentencePieceNormalizer | None:
    """Return a normalizer that applies rules to decoded text and does not change spaces."""
    if rules is None:
        return None
    return SentencePieceNormalizer(
        rules.charsmap,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )


def with_tab_for(texts: Sequence[str], normalizer: Normalizer) -> Normalizer:
    """Return the normalizer followed by replacing each text with a tab, which no piece contains."""
    if not texts:
        return normalizer
    pattern = Regex("|".join(map(re.escape, texts)))
    return SequenceNormalizer((normalizer, Replace(pattern, "\t")))


# ---- ids of the pieces that are not learned


class Role(NamedTuple):
    """One of the four roles with its id, -1 to omit it, and its piece."""

    name: str
    id: int
    piece: str


def pieces_by_id(
    roles: Sequence[Role], symbols: Iterable[tuple[str, str, PieceType]]
) -> dict[int, ScoredPiece]:
    """Return the pieces by id, in increasing order; the first role is the unknown piece.

    `symbols` are settings, texts and types.

    >>> roles = Role("unk", 0, "<unk>"), Role("eos", 2, "</s>")
    >>> symbols = [("control_symbols", text, "control") for text in ("<a>", "<b>")]
    >>> [(id, piece.text) for id, piece in pieces_by_id(roles, symbols).items()]
    [(0, '<unk>'), (1, '<a>'), (2, '</s>'), (3, '<b>')]

    Raises `ArgumentError` for an id or a text that is used twice.
    """
    pieces = _pieces_of_roles(roles)
    role_ids = {piece.text: id for id, piece in pieces.items()}
    free_ids = (id for id in count() if id not in pieces)
    seen = {roles[0].piece}
    for field, text, type in symbols:
        if text in seen:
            raise ArgumentError(field, f"contains {text!r} twice, or as another symbol")
        seen.add(text)
        id = role_ids[text] if text in role_ids else next(free_ids)
        pieces[id] = ScoredPiece(text, 0.0, type)
    return dict(sorted(pieces.items()))


def with_learned(
    meta_pieces: dict[int, ScoredPiece], learned: Sequence[tuple[str, float]]
) -> tuple[ScoredPiece, ...]:
    """Return all pieces in the order of their ids; learned pieces fill the free ids.

    >>> meta_pieces = {1: ScoredPiece("<unk>", 0.0, "unknown")}
    >>> [piece.text for piece in with_learned(meta_pieces, [("▁a", -1.0), ("▁b", -2.0)])]
    ['▁a', '<unk>', '▁b']

    Raises `TrainingError` if there are too few learned pieces to fill the gaps.
    """
    size = len(meta_pieces) + len(learned)
    beyond = next((id for id in meta_pieces if id >= size), None)
    if beyond is not None:
        found = f"id {beyond} for {meta_pieces[beyond].text!r}, but only {size} pieces"
        raise TrainingError("vocab_size", f"leaves {found}; ids must be below {size}")
    rest = iter(learned)
    return tuple(
        meta_pieces[id] if id in meta_pieces else ScoredPiece(*next(rest)) for id in range(size)
    )


def _pieces_of_roles(roles: Sequence[Role]) -> dict[int, ScoredPiece]:
    role_of: dict[int, Role] = {}
    for role in roles:
        if role.id < 0:
            continue
        if role.id in role_of:
            problem = (
                f"must be an id of its own: {role.id} already belongs to {role_of[role.id].name}"
            )
            raise ArgumentError(f"{role.name}_id", problem)
        same = next((other for other in role_of.values() if other.piece == role.piece), None)
        if same is not None:
            problem = f"must be a piece of its own: {role.piece!r} already belongs to {same.name}"
            raise ArgumentError(f"{role.name}_piece", problem)
        role_of[role.id] = role
    types: dict[str, PieceType] = {roles[0].piece: "unknown"}
    return {
        id: ScoredPiece(role.piece, 0.0, types.get(role.piece, "control"))
        for id, role in role_of.items()
    }
