"""Segmentations drawn at random, for training models that should not depend on one segmentation."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from piecework.errors import ArgumentError, InputTypeError

Drawn = tuple[float, int, int]
"""What the core takes: alpha, seed, and the number of the text within its batch."""

_DEFAULT_ALPHA = 0.1
_SEEDS = 2**64


@dataclass(frozen=True)
class Sampling:
    """How to draw segmentations: how random, and from which seed.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "hu": 2}, (("h", "u"),)))
    >>> tok.encode("huhu").ids
    [2, 2]
    >>> tok.encode("huhu", sampling=pw.Sampling(alpha=1)).ids
    [0, 1, 0, 1]
    >>> a, b = (tok.encode("huhu" * 9, sampling=pw.Sampling(alpha=0.5, seed=7)).ids for _ in "ab")
    >>> a == b
    True

    For BPE `alpha` is the probability with which each merge that could be made is left out at each
    step: 0 leaves out none, 1 gives characters (or bytes). None takes the model's own `dropout`, or
    0.1 where it has none. The same `seed`, a whole number from 0 to 2**64 - 1, gives the same
    segmentation of the same text at the same place of a batch, whatever the number of workers; None
    takes fresh randomness. Every text of a batch is drawn by itself, so n samples of a text are
    `encode_batch([text] * n, sampling=...)`.

    Source: Provilkov et al. 2020, "BPE-Dropout", algorithm 1.
    """

    alpha: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None:
            _check_number("alpha", self.alpha, (int, float), "a number")
            if not 0 <= self.alpha <= 1:
                raise ArgumentError("alpha", str(self.alpha), "a number from 0 to 1")
        if self.seed is not None:
            _check_number("seed", self.seed, (int,), "int or None")
            if not 0 <= self.seed < _SEEDS:
                raise ArgumentError("seed", str(self.seed), "a number from 0 to 2**64 - 1")


def resolved(sampling: Sampling | None, dropout: float | None) -> Drawn | None:
    """Say what to draw with, None for the one segmentation; a model with `dropout` draws by itself."""
    if sampling is None:
        sampling = Sampling(alpha=dropout or 0.0)
    if not isinstance(sampling, Sampling):
        raise InputTypeError("sampling", type(sampling).__name__, "Sampling or None")
    alpha = sampling.alpha
    if alpha is None:
        alpha = _DEFAULT_ALPHA if dropout is None else dropout
    if alpha == 0:
        return None
    return float(alpha), secrets.randbits(64) if sampling.seed is None else sampling.seed, 0


def _check_number(name: str, value: object, kinds: tuple[type, ...], expected: str) -> None:
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise InputTypeError(name, type(value).__name__, expected)
