"""Sentences in, a whole SentencePiece model out: with the settings and the rules of its trainer."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

from piecework.arguments import PathLike
from piecework.errors import ArgumentError
from piecework.normalization import NormalizationRules
from piecework.spec import (
    Metaspace,
    PreTokenizer,
    Regex,
    ScoredPiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    Split,
)
from piecework.train import checks
from piecework.train.pipeline import Pipeline
from piecework.train.sentences import Sentences
from piecework.train.trainers.common import set_field
from piecework.train.trainers.meta_pieces import Role, Symbols, placed

ModelType: TypeAlias = Literal["unigram", "bpe", "word", "char"]
Rules: TypeAlias = PathLike | NormalizationRules

MODEL_TYPES = ("unigram", "bpe", "word", "char")

_ROLES = ("unk", "bos", "eos", "pad")
_RESERVED = "▅"
_RANGES = (
    ("vocab_size", 1, 2**31 - 1),
    ("max_sentencepiece_length", 1, 512),
    ("max_sentence_length", 1, None),
    ("input_sentence_size", 0, None),
    ("seed", 0, None),
    ("self_test_sample_size", 0, 1000),
    ("seed_sentencepiece_size", 1, 2**31 - 1),
    ("num_sub_iterations", 1, 10),
)


@dataclass(frozen=True)
class SentencePieceTrainer:
    """Learn a SentencePiece model of any type from raw sentences; settings are called as for `spm_train`.

    >>> import piecework as pw
    >>> trainer = SentencePieceTrainer(model_type="char", vocab_size=8)
    >>> tok = pw.Tokenizer.train_from_iterator(["hug pug hug"], trainer=trainer)
    >>> tok.encode("hug").tokens
    ['▁', 'h', 'u', 'g']

    What is learned is saved as `.model` (and `.vocab`), which `sentencepiece` reads.

    - *Size.* `vocab_size` counts all pieces. With `hard_vocab_limit` that many are learned or it is an
      error that says how many there could be; without, or for "char", what there is. `use_all_vocab`
      takes all words or characters there are (only "word" and "char").
    - *Text.* `normalization_rule_name` is one of `NormalizationRules.NAMES`; `normalization_rule_tsv`, a
      file or `NormalizationRules`, takes its place, `denormalization_rule_tsv` is applied to decoded text. `add_dummy_prefix`, `remove_extra_whitespaces` and `treat_whitespace_as_suffix` are those
      of `spec.SentencePieceNormalizer`; `escape_whitespaces` must be set.
    - *Characters.* The most frequent ones are pieces until they make up `character_coverage` of the text,
      and `required_chars` in any case; the others are unknown.
    - *Shapes.* No learned piece has more than `max_sentencepiece_length` characters; characters of two
      scripts (`split_by_unicode_script`; Japanese is one script, and unless `split_by_number` digits are
      of any); a digit beside anything else (`split_digits`); ▁ but as its first character (as its last
      with `treat_whitespace_as_suffix`), or, unless `split_by_whitespace`, but not as its last (first).
      `allow_whitespace_only_pieces` lets pieces be of ▁ alone. None goes across
      `pretokenization_delimiter`, which is not learned itself.
    - *Pieces that are not learned.* Unknown, bos, eos and pad stand at `unk_id`, `bos_id`, `eos_id` and
      `pad_id` (-1: nowhere; the first must be somewhere) and are called `unk_piece`, ...;
      `control_symbols` take the lowest free ids, then `user_defined_symbols` (always tokens of their own),
      then with `byte_fallback` 256 bytes.
    - *Sentences.* Those of more than `max_sentence_length` bytes are left out. `input_sentence_size` are
      taken at most, drawn at random with `shuffle_input_sentence` and `seed`, 0 for all.
      `self_test_sample_size` of them are kept in the model with their pieces.
    - *Unigram alone*: `seed_sentencepiece_size`, `shrinking_factor`, `num_sub_iterations` are
      `seed_size`, ... of `UnigramTrainer`.

    Source: Kudo and Richardson 2018; `spm_train` of sentencepiece 0.2.3.
    """

    model_type: ModelType = "unigram"
    vocab_size: int = 8_000
    hard_vocab_limit: bool = True
    use_all_vocab: bool = False

    normalization_rule_name: str = "nmt_nfkc"
    normalization_rule_tsv: Rules | None = None
    denormalization_rule_tsv: Rules | None = None
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False

    character_coverage: float = 0.9995
    required_chars: str = ""

    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    pretokenization_delimiter: str = ""

    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " ⁇ "
    control_symbols: tuple[str, ...] = ()
    user_defined_symbols: tuple[str, ...] = ()
    byte_fallback: bool = False

    max_sentence_length: int = 4192
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    seed: int = 0
    self_test_sample_size: int = 0

    seed_sentencepiece_size: int = 1_000_000
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2

    vocabulary_output_piece_score: bool = True
    accept_language: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.one_of("model_type", self.model_type, MODEL_TYPES)
        _check_kinds(self)
        _check_numbers(self)
        _check_contradictions(self)
        meta = self.meta_pieces
        needed = max(len(meta), max(meta) + 1) if self.model_type != "char" else len(meta)
        if not self.use_all_vocab and self.vocab_size < needed:
            expected = f"at least {needed}, for the pieces that are not learned"
            raise ArgumentError("vocab_size", str(self.vocab_size), expected)

    # ---- what the settings come to

    @cached_property
    def meta_pieces(self) -> dict[int, ScoredPiece]:
        """The pieces that are not learned, by id.

        >>> SentencePieceTrainer(unk_id=1, bos_id=0, eos_id=-1).meta_pieces[1]
        ScoredPiece(text='<unk>', score=0.0, type='unknown')
        """
        roles = [Role(name, self._of(name, "id"), self._of(name, "piece")) for name in _ROLES]
        symbols = Symbols(self.control_symbols, self.user_defined_symbols, self.byte_fallback)
        return placed(roles, symbols)

    @property
    def normalizer(self) -> SentencePieceNormalizer:
        """What the model does to a text before it segments it."""
        return SentencePieceNormalizer(
            charsmap=self._rules.charsmap,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            treat_whitespace_as_suffix=self.treat_whitespace_as_suffix,
            user_defined_symbols=self._texts("user_defined"),
        )

    @property
    def decoder(self) -> SentencePieceDecoder:
        """What makes text of the pieces of the model."""
        rules = _rules("denormalization_rule_tsv", self.denormalization_rule_tsv)
        return SentencePieceDecoder(
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            unk_piece=self.unk_piece,
            unk_surface=self.unk_surface,
            control_symbols=self._texts("control"),
            byte_fallback=self.byte_fallback,
            denormalizer=_denormalizer(rules),
        )

    @property
    def pipeline(self) -> Pipeline:
        """The stages that make words of sentences, or leave them whole.

        Symbols do not keep the rules of normalization away here, as they do when the model is used.
        """
        normalizer = SentencePieceNormalizer(
            charsmap=self._rules.charsmap,
            add_dummy_prefix=self.add_dummy_prefix,
            remove_extra_whitespaces=self.remove_extra_whitespaces,
            treat_whitespace_as_suffix=self.treat_whitespace_as_suffix,
        )
        return Pipeline(normalizer, self._pre_tokenizer)

    @property
    def sentences(self) -> Sentences:
        """Which sentences are learned from."""
        return Sentences(
            max_bytes=self.max_sentence_length,
            reserved=_RESERVED,
            size=self.input_sentence_size,
            shuffle=self.shuffle_input_sentence,
            seed=self.seed,
        )

    # ---- parts

    @cached_property
    def _rules(self) -> NormalizationRules:
        own = _rules("normalization_rule_tsv", self.normalization_rule_tsv)
        return NormalizationRules.named(self.normalization_rule_name) if own is None else own

    @property
    def _pre_tokenizer(self) -> PreTokenizer | None:
        """What sets words apart: a space begins one or ends one, several spaces each or together."""
        if self.model_type in ("word", "char"):
            return Split("▁", "merged_with_next")
        if not self.split_by_whitespace:
            return None
        spaces = Regex("▁+") if self.allow_whitespace_only_pieces else "▁"
        ends = self.treat_whitespace_as_suffix
        return Split(spaces, "merged_with_previous" if ends else "merged_with_next")

    def _of(self, role: str, part: str) -> Any:
        return getattr(self, f"{role}_{part}")

    def _texts(self, type: str) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.meta_pieces.values() if piece.type == type)


# ---- checks


def _check_kinds(trainer: SentencePieceTrainer) -> None:
    """Check settings by the types of their defaults; lists of texts become tuples."""
    for field in fields(trainer):
        value = getattr(trainer, field.name)
        if isinstance(field.default, bool):
            if not isinstance(value, bool):
                raise ArgumentError(field.name, repr(value), "True or False")
        elif isinstance(field.default, str):
            checks.text(field.name, value)
        elif isinstance(field.default, tuple):
            set_field(trainer, field.name, checks.distinct_tokens(field.name, value, None))
    for role in _ROLES:
        if not trainer._of(role, "piece"):
            raise ArgumentError(f"{role}_piece", "an empty string", "at least one character")


def _check_numbers(trainer: SentencePieceTrainer) -> None:
    for name, least, most in _RANGES:
        number = checks.whole_number(name, getattr(trainer, name), least)
        if most is not None and number > most:
            raise ArgumentError(name, str(number), f"an integer from {least} to {most}")
        set_field(trainer, name, number)
    for role in _ROLES:
        id = trainer._of(role, "id")
        if isinstance(id, bool) or not isinstance(id, int) or not -1 <= id < 2**31:
            raise ArgumentError(f"{role}_id", repr(id), "an id, or -1 for none")
    checks.share("character_coverage", trainer.character_coverage, may_be_all=True)
    checks.share("shrinking_factor", trainer.shrinking_factor, may_be_all=False)


def _check_contradictions(trainer: SentencePieceTrainer) -> None:
    checks.one_of(
        "normalization_rule_name", trainer.normalization_rule_name, NormalizationRules.NAMES
    )
    if not trainer.escape_whitespaces:
        raise ArgumentError("escape_whitespaces", "False", "True: pieces are told by their ▁")
    if trainer.unk_id < 0:
        raise ArgumentError("unk_id", str(trainer.unk_id), "an id: there must be an unknown piece")
    counts = trainer.model_type in ("word", "char")
    if trainer.use_all_vocab and not counts:
        expected = "False: only word and char models take all there is"
        raise ArgumentError("use_all_vocab", "True", expected)
    if trainer.pretokenization_delimiter and counts:
        expected = "none: only unigram and bpe models have pieces that could go across"
        raise ArgumentError(
            "pretokenization_delimiter", repr(trainer.pretokenization_delimiter), expected
        )


def _rules(name: str, given: Rules | None) -> NormalizationRules | None:
    if given is None or isinstance(given, NormalizationRules):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentError(name, type(given).__name__, "a path or NormalizationRules")
    return NormalizationRules.from_tsv(given)


def _denormalizer(rules: NormalizationRules | None) -> SentencePieceNormalizer | None:
    if rules is None:
        return None
    return SentencePieceNormalizer(
        rules.charsmap,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )
