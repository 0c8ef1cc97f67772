"""The trainer settings as keyword arguments, so that editors and type checkers know them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class RetrainSettings(TypedDict, total=False):
    """What `Tokenizer.train_new_from_iterator` passes on to the trainer; see the trainers."""

    score: Literal["likelihood", "pmi", "frequency", "top-down"]
    min_frequency: int
    limit_alphabet: int | None
    initial_alphabet: Sequence[str]
    special_tokens: Sequence[str]
    continuing_subword_prefix: str
    end_of_word_suffix: str
    ties: Literal["lowest-ids", "greatest-strings"]
    max_token_length: int | None
    user_defined_symbols: Sequence[str]
    byte_fallback: bool
    character_coverage: float
    seed_size: int
    max_piece_length: int
    shrinking_factor: float
    num_sub_iterations: int
    unk_token: str | None


class TrainSettings(RetrainSettings, total=False):
    """What `Tokenizer.train` and its kin pass on to the trainer of the model; see the trainers."""

    vocab_size: int
