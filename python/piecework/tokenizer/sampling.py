"""Subword regularization: random segmentations for the training of models.

The functions about pieces segment a text as `sentencepiece` does: without added tokens, and each piece with
the span of the text that it covers, spaces included.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from piecework._internal._core import Core, pieces
from piecework._internal._core import piece_segmentations as core_segmentations
from piecework._internal.validation import check_number, check_type
from piecework.errors import ArgumentError
from piecework.tokenizer.encoding import Encoding

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


@dataclass(frozen=True)
class SeededSampling:
    """The settings of random segmentation for the texts of one call, with every value resolved."""

    alpha: float
    """The probability that a merge is skipped (BPE), or the exponent of the scores (Unigram)."""
    seed: int
    nbest_size: int | None = None
    """The number of best segmentations to sample from; None for all."""
    text_index: int = 0
    """The index of the first text; seed and index determine how a text is segmented."""


Piece: TypeAlias = tuple[int, str, tuple[int, int]]
"""Id, normalized text, and span in characters of the original text."""

PieceSegmentation: TypeAlias = tuple[list[Piece], float, float, float | None]
"""Pieces, score, log probability and log inclusion probability, as in `Segmentation`."""

_DEFAULT_STRENGTH = 0.1
_SEEDS = 2**64
_MAX_SEGMENTATIONS = 1024


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Settings of random segmentation: strength, seed and number of candidates.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "hu": 2}, (("h", "u"),)))
    >>> tok.encode("huhu").ids
    [2, 2]
    >>> tok.encode("huhu", sampling=pw.Sampling(dropout=1)).ids
    [0, 1, 0, 1]
    >>> a, b = (tok.encode("huhu" * 9, sampling=pw.Sampling(dropout=0.5, seed=7)).ids for _ in "ab")
    >>> a == b
    True

    The strength has the name that the papers give it:

    - `dropout`, for BPE: the probability, from 0 to 1, of skipping each possible merge at each step. 0 skips
      none, 1 results in characters (or bytes). A native SentencePiece BPE model never retries a skipped
      merge, as `sentencepiece` does. None means the `dropout` of the model, or 0.1 if it has none.
    - `alpha`, for Unigram: the inverse temperature, at least 0. A segmentation has a probability
      proportional to exp(alpha * score). 0 makes all segmentations equally likely; large values select the
      best one. None means 0.1.

    Encoding raises `ArgumentError` for the strength of the other kind of model.

    `nbest_size` applies to Unigram: None or a negative number samples from all segmentations, 2 to 1024
    from this number of best segmentations of the whole text. 0 or 1 disables sampling, also for BPE; use it
    to evaluate a model with `dropout`.

    The same `seed`, from 0 to 2**64 - 1, results in the same segmentation of the same text at the same
    index of a batch, for any number of threads. None uses a random seed. The texts of a batch are sampled
    independently: `encode_batch([text] * n, sampling=...)` returns n samples.

    Sources: Provilkov et al. 2020, "BPE-Dropout", algorithm 1; Kudo 2018, "Subword Regularization",
    section 3.1.
    """

    dropout: float | None = None
    alpha: float | None = None
    seed: int | None = None
    nbest_size: int | None = None

    def __post_init__(self) -> None:
        if self.dropout is not None:
            check_dropout(self.dropout)
        if self.alpha is not None:
            check_alpha(self.alpha)
        if self.seed is not None:
            check_number("seed", self.seed, (int,), "int or None")
            if not 0 <= self.seed < _SEEDS:
                problem = f"must be a number from 0 to 2**64 - 1, not {self.seed}"
                raise ArgumentError("seed", problem)
        if self.nbest_size is not None:
            check_number("nbest_size", self.nbest_size, (int,), "int or None")
            if self.nbest_size > _MAX_SEGMENTATIONS:
                problem = (
                    f"must be at most {_MAX_SEGMENTATIONS}, or None for all, not {self.nbest_size}"
                )
                raise ArgumentError("nbest_size", problem)


@dataclass(frozen=True)
class Segmentation:
    """One segmentation of a text with its score and probability.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("h", -1.0), ("u", -1.0), ("hu", -1.5))))
    >>> pw.tokenizer.lattice.nbest(tok, "hu", 1)
    [Segmentation(hu, score=-1.5)]

    `score` is the sum of the log probabilities of the pieces; an unknown character has the lowest score
    of the vocabulary minus 10. `log_probability` is the natural logarithm of the probability among all
    segmentations of the text, at the alpha of the sample, otherwise at 1. At alpha 1,
    `score - log_probability` is the log probability of the text. `log_inclusion` is set for samples without
    replacement (`lattice.sample`): the log probability of being sampled, given the noise of the other
    samples.
    """

    encoding: Encoding
    score: float
    log_probability: float
    log_inclusion: float | None = None

    def __repr__(self) -> str:
        return f"Segmentation({' '.join(self.encoding.tokens)}, score={self.score:.6g})"


def resolved(sampling: Sampling | None, core: Core) -> SeededSampling | None:
    """Return the sampling for the core, None for the best segmentation.

    Without `sampling`, only a model with `dropout` samples. `by_score` says that the model is Unigram, for
    which 0 is a sampling strength.
    """
    dropout, by_score = core.dropout, core.scores_segmentations
    if sampling is None:
        sampling = Sampling(dropout=dropout, nbest_size=None if dropout else 1)
    check_type("sampling", sampling, Sampling, "Sampling or None")
    nbest_size = sampling.nbest_size
    if nbest_size in (0, 1):
        return None
    strength = _strength(sampling, by_score)
    if strength is None:
        strength = _DEFAULT_STRENGTH if dropout is None else dropout
    if strength == 0 and not by_score:
        return None
    seed = secrets.randbits(64) if sampling.seed is None else sampling.seed
    size = nbest_size if nbest_size and nbest_size > 0 else None
    return SeededSampling(strength, seed, size)


def _strength(sampling: Sampling, by_score: bool) -> float | None:
    """Return the strength for the kind of model; raise for the strength of the other kind."""
    if by_score and sampling.dropout is not None:
        message = "dropout is for BPE; pass Sampling(alpha=...) to a Unigram model"
        raise ArgumentError("sampling.dropout", message)
    if not by_score and sampling.alpha is not None:
        message = "alpha is for Unigram models; pass Sampling(dropout=...) to a BPE model"
        raise ArgumentError("sampling.alpha", message)
    return sampling.alpha if by_score else sampling.dropout


def check_dropout(dropout: object) -> None:
    """Raise unless `dropout` is a probability."""
    check_number("dropout", dropout, (int, float), "a number")
    if not 0 <= dropout <= 1:  # type: ignore[operator]
        raise ArgumentError("dropout", f"must be a probability from 0 to 1, not {dropout}")


def check_alpha(alpha: object) -> None:
    """Raise unless `alpha` is a finite number of at least 0."""
    check_number("alpha", alpha, (int, float), "a number")
    try:
        is_finite = math.isfinite(float(alpha))  # type: ignore[arg-type]
    except OverflowError:
        is_finite = False
    if not is_finite or alpha < 0:  # type: ignore[operator]
        raise ArgumentError("alpha", f"must be a finite number, at least 0, not {alpha}")


def check_segmentations(name: str, value: object, *, instead: str = "") -> None:
    """Raise unless `value` is a number of segmentations, from 1 to 1024; `instead` ends the message."""
    check_number(name, value, (int,), "int")
    if not 1 <= value <= _MAX_SEGMENTATIONS:  # type: ignore[operator]
        problem = f"must be a number of segmentations from 1 to {_MAX_SEGMENTATIONS}{instead}, not {value}"
        raise ArgumentError(name, problem)


def check_has_scores(tokenizer: Tokenizer) -> None:
    """Raise unless the model scores segmentations, as Unigram models do.

    >>> import piecework as pw
    >>> check_has_scores(pw.Tokenizer(pw.spec.Char({"[UNK]": 0})))
    Traceback (most recent call last):
    piecework.errors.ArgumentError: model: must be a Unigram model, not Char
    """
    if tokenizer._core.scores_segmentations:
        return
    model = tokenizer.spec.model
    found = type(model).__name__
    if found == "SentencePiece":
        found = f"a SentencePiece model of kind {model.kind!r}"  # type: ignore[union-attr]
    raise ArgumentError("model", f"must be a Unigram model, not {found}")


def encode_pieces(
    tokenizer: Tokenizer, text: str, sampling: Sampling | None = None, row: int = 0
) -> list[Piece]:
    """Segment a text into pieces; `row` is the index of the text in a sampled batch.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("h", -1.0), ("u", -1.0), ("hu", -1.5))))
    >>> encode_pieces(tok, "huh")
    [(2, 'hu', (0, 2)), (0, 'h', (2, 3))]
    """
    seeded = resolved(sampling, tokenizer._core)
    seeded = seeded and replace(seeded, text_index=row)
    return pieces(tokenizer._core, text, sampling=seeded)


def piece_segmentations(
    tokenizer: Tokenizer,
    text: str,
    n: int,
    sampling: Sampling | None = None,
    *,
    replacement: bool = True,
    include_best: bool = False,
) -> list[PieceSegmentation]:
    """Return `n` segmentations of a text by a Unigram model: the best, or drawn ones with `sampling`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("h", -1.0), ("u", -1.0), ("hu", -1.5))))
    >>> [(score, len(found)) for found, score, _, _ in piece_segmentations(tok, "hu", 9)]
    [(-1.5, 1), (-2.0, 2)]
    >>> settings = {"replacement": False, "include_best": True}
    >>> drawn = piece_segmentations(tok, "hu", 2, Sampling(alpha=1, seed=4), **settings)
    >>> [len(found) for found, *_ in drawn]
    [1, 2]
    """
    check_has_scores(tokenizer)
    core = tokenizer._core
    settings = {"replacement": replacement, "include_best": include_best}
    return core_segmentations(core, text, n, sampling=resolved(sampling, core), **settings)
