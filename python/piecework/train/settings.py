"""Types of the keyword arguments of `Tokenizer.train` and of the functions that count.

Written by tools/train_settings.py from the fields of trainers, `Plan` and `CountSettings`, as type checkers
cannot make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypedDict

from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.io.normalization_rules import NormalizationRules
from piecework.train.boundaries import Boundaries
from piecework.train.learners import Learner
from piecework.train.presets import Preset
from piecework.train.sentencepiece_presets import SentencePiecePreset
from piecework.train.sentences import Sentences


class RetrainSettings(TypedDict, total=False):
    """Settings that `Tokenizer.train_new_from_iterator` passes to the trainer.

    >>> settings: RetrainSettings = {"min_frequency": 2}
    """

    learner: Learner | None
    min_frequency: int
    limit_alphabet: int | None
    initial_alphabet: Sequence[str]
    special_tokens: Sequence[str]
    continuing_subword_prefix: str
    max_token_length: int | None
    unk_token: str | None
    alphabet_order: Literal["sorted", "first-seen", "given", "word-starts-first", "byte-values"]
    alphabet_forms: Literal["possible", "start-and-seen", "seen"]
    ties: Literal["lowest-ids", "greatest-strings", "first-seen"]
    parity: bool
    parity_unit: Literal["bytes", "characters", "words"] | None
    parity_window: int | None
    global_merges: int
    transition: float | None
    max_words: int | None
    cross_punctuation: bool
    end_of_word_suffix: str
    seed_vocab_size: int | None
    max_piece_length: int
    shrinking_factor: float
    num_sub_iterations: int
    count_exponent: float
    user_defined_symbols: Sequence[str]
    byte_fallback: bool
    character_coverage: float


class TrainOptions(RetrainSettings, total=False):
    """Keyword arguments of `Tokenizer.train` and its variants: fields of `Plan`, and settings of a trainer.

    >>> options: TrainOptions = {"vocab_size": 8_000, "memory": "2GB"}
    """

    model: str | None
    preset: str | Preset | SentencePiecePreset | None
    num_threads: int | None
    progress: Progress
    memory: int | str | None
    checkpoint: PathLike | None
    boundaries: Boundaries | None
    boundary_marker: str | None
    vocab_size: int | None
    model_type: Literal["unigram", "bpe", "word", "char"]
    hard_vocab_limit: bool | None
    use_all_vocab: bool
    normalization_rule_name: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
    normalization_rule_tsv: PathLike | NormalizationRules | None
    denormalization_rule_tsv: PathLike | NormalizationRules | None
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    treat_whitespace_as_suffix: bool
    required_chars: str
    required_chars_file: PathLike | None
    max_sentencepiece_length: int
    split_by_unicode_script: bool
    split_by_number: bool
    split_digits: bool
    split_by_whitespace: bool
    allow_whitespace_only_pieces: bool
    pretokenization_delimiter: str
    unk_id: int
    bos_id: int
    eos_id: int
    pad_id: int
    unk_piece: str
    bos_piece: str
    eos_piece: str
    pad_piece: str
    unk_surface: str
    control_symbols: Sequence[str]
    control_symbols_file: PathLike | None
    user_defined_symbols_file: PathLike | None
    input_format: Literal["text", "tsv"]
    max_sentence_length: int
    input_sentence_size: int
    shuffle_input_sentence: bool
    seed: int
    seed_sentencepiece_size: int
    seed_sentencepieces_file: PathLike | None
    vocabulary_output_piece_score: bool
    accept_language: Sequence[str]


class CountTextsOptions(TypedDict, total=False):
    """Settings of `count_texts`."""

    num_threads: int | None
    sentences: Sentences | None
    memory: int | str | None
    sample: float | None
    seed: int
    max_word_length: int | None


class CountPartOptions(CountTextsOptions, total=False):
    """Settings of counts on a cluster."""

    field: str | None
    encoding_errors: Literal["replace", "strict"]


class CountFilesOptions(CountPartOptions, total=False):
    """Settings of `count_files` and its variants."""

    on_error: Literal["fail", "skip"]
    first_source: int
    source_weights: Sequence[float | str | Fraction | Decimal] | None
    temperature: float | None
    checkpoint: PathLike | None
    checkpoint_seconds: float
    keep_checkpoint: bool
