"""Segmentations drawn at random, for training models that should not depend on one segmentation."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass

from piecework._core import Core, entropy, scores, segmentations
from piecework._internal.lazy import hints
from piecework._internal.validation import check_number
from piecework.encoding import Encoding
from piecework.errors import ArgumentError, InputTypeError

_DEFAULT_ALPHA = 0.1
_SEEDS = 2**64
_MAX_SEGMENTATIONS = 1024


@dataclass(frozen=True)
class Sampling:
    """How to draw segmentations: how random, from which seed, and from how many.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "hu": 2}, (("h", "u"),)))
    >>> tok.encode("huhu").ids
    [2, 2]
    >>> tok.encode("huhu", sampling=pw.Sampling(alpha=1)).ids
    [0, 1, 0, 1]
    >>> a, b = (tok.encode("huhu" * 9, sampling=pw.Sampling(alpha=0.5, seed=7)).ids for _ in "ab")
    >>> a == b
    True

    What `alpha` means is the model's affair, and the two meanings run in opposite directions:

    - BPE: the probability, 0 to 1, with which each merge that could be made is left out at each step.
      0 leaves out none, 1 gives characters (or bytes). A native SentencePiece BPE model leaves out for
      good, as `sentencepiece` does.
    - Unigram: what the scores are multiplied by, 0 or more, so that a segmentation is drawn with
      probability proportional to exp(alpha * score): its own probability at 1; 0 makes all alike, and
      the greater alpha is, the more often it is the best. It is an inverse temperature.

    None takes the model's own `dropout`, or 0.1 where it has none.

    `nbest_size` is for Unigram: None, or any negative number, draws from all segmentations; 2 to 1024
    draws from so many of the best of the whole text. With 0 or 1 nothing is drawn, for BPE too: that is
    how to evaluate a model that draws by itself.

    The same `seed`, a whole number from 0 to 2**64 - 1, gives the same segmentation of the same text at
    the same place of a batch, whatever the number of threads; None takes fresh randomness. Every text of
    a batch is drawn by itself, so n samples of a text are `encode_batch([text] * n, sampling=...)`.

    Sources: Provilkov et al. 2020, "BPE-Dropout", algorithm 1; Kudo 2018, "Subword Regularization",
    section 3.1.
    """

    alpha: float | None = None
    seed: int | None = None
    nbest_size: int | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_alpha(self.alpha)
        if self.seed is not None:
            check_number("seed", self.seed, (int,), "int or None")
            if not 0 <= self.seed < _SEEDS:
                raise ArgumentError("seed", str(self.seed), "a number from 0 to 2**64 - 1")
        if self.nbest_size is not None:
            check_number("nbest_size", self.nbest_size, (int,), "int or None")
            if self.nbest_size > _MAX_SEGMENTATIONS:
                expected = f"at most {_MAX_SEGMENTATIONS}, or None for all"
                raise ArgumentError("nbest_size", str(self.nbest_size), expected)


@dataclass(frozen=True)
class Segmentation:
    """One segmentation of a text, with what the model thinks of it.

    `score` is the sum of the scores, which are log-probabilities, of its pieces; a character that is not
    in the vocabulary has the lowest score there is less 10. `log_probability` is the natural logarithm
    of its share of all segmentations of the text, at the alpha it was drawn with, else at 1: at 1,
    `score - log_probability` is the log-probability of the text itself. `log_inclusion`, when it was
    drawn without replacement, is that of the probability to be drawn, given the noise that decided on
    the others (`encode_samples`); else None.
    """

    encoding: Encoding
    score: float
    log_probability: float
    log_inclusion: float | None = None

    def __repr__(self) -> str:
        return f"Segmentation({' '.join(self.encoding.tokens)}, score={self.score:.6g})"


def resolved(
    sampling: Sampling | None, dropout: float | None, by_score: bool
) -> hints.Drawn | None:
    """Say what to draw with, None for the one segmentation.

    A model with `dropout` draws by itself; one that draws `by_score` does so only when told.
    """
    if sampling is None:
        sampling = Sampling(alpha=dropout, nbest_size=None if dropout else 1)
    if not isinstance(sampling, Sampling):
        raise InputTypeError("sampling", type(sampling).__name__, "Sampling or None")
    nbest_size = sampling.nbest_size
    if nbest_size in (0, 1):
        return None
    alpha = sampling.alpha
    if alpha is None:
        alpha = _DEFAULT_ALPHA if dropout is None else dropout
    if alpha == 0 and not by_score:
        return None
    seed = secrets.randbits(64) if sampling.seed is None else sampling.seed
    return float(alpha), nbest_size if nbest_size and nbest_size > 0 else None, seed, 0


def check_alpha(alpha: object) -> None:
    """Refuse what is no alpha of any model; BPE has a narrower range."""
    check_number("alpha", alpha, (int, float), "a number")
    try:
        is_finite = math.isfinite(float(alpha))  # type: ignore[arg-type]
    except OverflowError:
        is_finite = False
    if not is_finite or alpha < 0:  # type: ignore[operator]
        expected = "a finite number, at least 0 (and for BPE at most 1)"
        raise ArgumentError("alpha", str(alpha), expected)


def check_segmentations(name: str, value: object) -> None:
    """Refuse what is no number of segmentations to list."""
    check_number(name, value, (int,), "int")
    if not 1 <= value <= _MAX_SEGMENTATIONS:  # type: ignore[operator]
        expected = f"a number of segmentations from 1 to {_MAX_SEGMENTATIONS}"
        raise ArgumentError(name, str(value), expected)


def list_segmentations(
    core: Core, text: str, n: int, *, add_special_tokens: bool, parse_special: list[int] | None
) -> list[Segmentation]:
    """Return the `n` best segmentations of a text, the best first."""
    check_segmentations("n", n)
    return _segmentations(core, text, n, None, add_special_tokens, parse_special)


def draw_segmentations(
    core: Core,
    text: str,
    n: int,
    sampling: Sampling | None,
    *,
    replacement: bool,
    include_best: bool,
    add_special_tokens: bool,
    parse_special: list[int] | None,
) -> list[Segmentation]:
    """Draw `n` segmentations of a text, with or without replacement."""
    check_segmentations("n", n)
    if include_best and replacement:
        raise ArgumentError("include_best", "True, with replacement", "replacement=False")
    if not isinstance(sampling, Sampling | None):
        raise InputTypeError("sampling", type(sampling).__name__, "Sampling or None")
    sampling = sampling or Sampling()
    if sampling.nbest_size is not None and sampling.nbest_size >= 0:
        expected = "None: samples are drawn from all segmentations"
        raise ArgumentError("sampling.nbest_size", str(sampling.nbest_size), expected)
    drawn = resolved(sampling, core.dropout, core.scores_segmentations)
    return _segmentations(
        core, text, n, drawn, add_special_tokens, parse_special, replacement, include_best
    )


def segmentation_entropy(
    core: Core, text: str, alpha: float, *, parse_special: list[int] | None
) -> float:
    """Return the entropy of the segmentations of a text, in nats."""
    check_alpha(alpha)
    return entropy(core, text, alpha=float(alpha), parse_special=parse_special)


def score_of_text(core: Core, text: str, parse_special: list[int] | None) -> float:
    """Return the score of the best segmentation of a text."""
    return _segmentations(core, text, 1, None, False, parse_special)[0].score


def score_of_ids(core: Core, ids: list[int]) -> float:
    """Return the sum of the scores of ids."""
    if not core.scores_segmentations:
        raise ArgumentError("model", "a model that does not score segmentations", "a Unigram model")
    found = scores(core, ids)
    for index, (id, score) in enumerate(zip(ids, found, strict=True)):
        if score is None and core.id_to_token(id) is None:
            raise ArgumentError(f"text[{index}]", str(id), "an id of the vocabulary")
    return math.fsum(score or 0.0 for score in found)


def _segmentations(
    core: Core,
    text: str,
    n: int,
    drawn: hints.Drawn | None,
    add_special_tokens: bool,
    parse_special: list[int] | None,
    replacement: bool = True,
    include_best: bool = False,
) -> list[Segmentation]:
    found = segmentations(
        core,
        text,
        n,
        sampling=drawn,
        replacement=replacement,
        include_best=include_best,
        add_special_tokens=add_special_tokens,
        parse_special=parse_special,
    )
    return [
        Segmentation(Encoding.of(raw, text), score, log_probability, log_inclusion)
        for raw, score, log_probability, log_inclusion in found
    ]
