"""All segmentations of a text by a Unigram model: the best ones, samples, scores and entropy.

The functions take a tokenizer first. `Tokenizer.encode` describes `parse_special`. All raise
`ArgumentError` for models that do not score segmentations.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from piecework._internal._core import entropy as core_entropy
from piecework._internal._core import scores, segmentations
from piecework._internal.validation import check_tokenizer, check_type, id_list
from piecework.errors import ArgumentError
from piecework.tokenizer.sampling import (
    Sampling,
    SeededSampling,
    Segmentation,
    check_alpha,
    check_has_scores,
    check_segmentations,
    resolved,
)

if TYPE_CHECKING:
    from piecework._internal.types import Ids
    from piecework.tokenizer import Tokenizer

__all__ = ["entropy", "nbest", "sample", "score", "score_ids"]

_MORE_SAMPLES = "; encode_batch([text] * n, sampling=...) has neither limit nor scores"


def nbest(
    tokenizer: Tokenizer,
    text: str,
    n: int,
    *,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
) -> list[Segmentation]:
    """Return the `n` best segmentations of a text, the best first.

    >>> import math
    >>> import piecework as pw
    >>> counts = {"h": 15, "u": 36, "g": 20, "s": 5, "ug": 20, "hug": 15}
    >>> pieces = tuple((piece, math.log(count / 111)) for piece, count in counts.items())
    >>> tok = pw.Tokenizer(pw.spec.Unigram(pieces))
    >>> for segmentation in pw.tokenizer.lattice.nbest(tok, "hugs", 3):
    ...     print(segmentation)
    Segmentation(hug s, score=-5.10157)
    Segmentation(h ug s, score=-6.81537)
    Segmentation(h u g s, score=-7.94138)

    Returns fewer if the text has fewer. `n` is at most 1,024, and less for texts above 8 KiB: all
    segmentations together cover at most 8 MiB. `encode` returns the first. The order of equal scores
    is unspecified. A SentencePiece `.model` returns what `sentencepiece` returns, in its order; its
    32-bit sums may put another segmentation of equal score before the one that `encode` returns.

    A segmentation covers the whole text: if a pre-tokenizer produces several words, their segmentations
    are combined. A run of unknown characters is one token; each of its characters contributes to the
    score.

    Raises `ArgumentError` for other models and for an `n` that is too large.
    """
    check_tokenizer(tokenizer)
    check_segmentations("n", n)
    return _segmentations(tokenizer, text, n, None, add_special_tokens, parse_special)


def sample(
    tokenizer: Tokenizer,
    text: str,
    n: int,
    sampling: Sampling | None = None,
    *,
    replacement: bool = True,
    include_best: bool = False,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
) -> list[Segmentation]:
    """Draw `n` segmentations of a text, each with its log-probability.

    >>> import piecework as pw
    >>> scored = (("a", -1.0), ("b", -1.0), ("ab", -1.5))
    >>> tok = pw.Tokenizer(pw.spec.Unigram(scored))
    >>> samples = pw.tokenizer.lattice.sample(tok, "ab", 2, pw.Sampling(alpha=1, seed=4), replacement=False)
    >>> sorted((s.encoding.tokens, round(s.log_probability, 3)) for s in samples)
    [(['a', 'b'], -0.974), (['ab'], -0.474)]

    With `replacement`, samples are independent, the rows of `encode_batch([text] * n, sampling=...)`.
    Without, they all differ, and there are fewer if the text has fewer segmentations. Each then has a
    `log_inclusion`, ln(1 - exp(-exp(log_probability - k))), where k is the perturbed log-probability of
    the best segmentation that was not drawn: sums weighted by exp(log_probability - log_inclusion) are
    unbiased. `include_best` puts the best segmentation first and draws n - 1 others. `n` is limited as
    in `nbest`, because each segmentation has an encoding and probabilities. For more samples, or
    samples of the n best, call `encode_batch([text] * n, sampling=...)`.

    Raises `ArgumentError` for other models, for `Sampling(nbest_size=...)`, and for `include_best` with
    replacement.

    Sources: Kudo 2018, "Subword Regularization"; without replacement Kool et al. 2019, "Stochastic
    Beams and Where to Find Them".
    """
    check_tokenizer(tokenizer)
    check_segmentations("n", n, instead=_MORE_SAMPLES if replacement else "")
    if include_best and replacement:
        raise ArgumentError("include_best", "cannot be combined", also=["replacement"])
    check_type("sampling", sampling, Sampling | None, "Sampling or None")
    sampling = sampling or Sampling()
    if sampling.nbest_size is not None and sampling.nbest_size >= 0:
        raise ArgumentError(
            "sampling.nbest_size",
            f"must be None, which draws from all segmentations{_MORE_SAMPLES}, not "
            f"{sampling.nbest_size}",
        )
    drawn = resolved(sampling, tokenizer._core)
    return _segmentations(
        tokenizer, text, n, drawn, add_special_tokens, parse_special, replacement, include_best
    )


def entropy(
    tokenizer: Tokenizer,
    text: str,
    alpha: float = 1.0,
    *,
    parse_special: bool | Collection[str] | None = None,
) -> float:
    """Return the entropy of the segmentations of a text, in nats.

    >>> import math
    >>> import piecework as pw
    >>> scored = (("a", -1.0), ("b", -1.0), ("ab", -2.0))
    >>> tok = pw.Tokenizer(pw.spec.Unigram(scored))
    >>> round(pw.tokenizer.lattice.entropy(tok, "ab"), 6) == round(math.log(2), 6)
    True

    Probabilities are proportional to exp(alpha * score), as in `Sampling`. A text with one segmentation
    has entropy 0. All segmentations are summed, in time linear in the text.
    """
    check_tokenizer(tokenizer)
    check_alpha(alpha)
    check_has_scores(tokenizer)
    recognized = tokenizer._recognized(parse_special, [text])
    return core_entropy(tokenizer._core, text, alpha=float(alpha), parse_special=recognized)


def score(
    tokenizer: Tokenizer,
    text: str,
    *,
    parse_special: bool | Collection[str] | None = None,
) -> float:
    """Return the score of the best segmentation of a text, a sum of log-probabilities.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("a", -1.0), ("b", -1.5), ("ab", -2.0))))
    >>> pw.tokenizer.lattice.score(tok, "ab")
    -2.0
    """
    check_tokenizer(tokenizer)
    return _segmentations(tokenizer, text, 1, None, False, parse_special)[0].score


def score_ids(tokenizer: Tokenizer, ids: Ids) -> float:
    """Return the score of a segmentation given as ids.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Unigram((("a", -1.0), ("b", -1.5), ("ab", -2.0))))
    >>> pw.tokenizer.lattice.score_ids(tok, [0, 1])
    -2.5

    An unknown id counts as one unknown character, and added tokens outside the model count 0. Raises
    `ArgumentError` for ids that are not in the vocabulary.
    """
    check_tokenizer(tokenizer)
    core = tokenizer._core
    ids = id_list(ids, "ids")
    check_has_scores(tokenizer)
    found = scores(core, ids)
    for index, (id, score) in enumerate(zip(ids, found, strict=True)):
        if score is None and core.id_to_token(id) is None:
            raise ArgumentError(f"ids[{index}]", f"must be an id of the vocabulary, not {id}")
    return math.fsum(score or 0.0 for score in found)


def _segmentations(
    tokenizer: Tokenizer,
    text: str,
    n: int,
    drawn: SeededSampling | None,
    add_special_tokens: bool,
    parse_special: bool | Collection[str] | None,
    replacement: bool = True,
    include_best: bool = False,
) -> list[Segmentation]:
    check_has_scores(tokenizer)
    found = segmentations(
        tokenizer._core,
        text,
        n,
        sampling=drawn,
        replacement=replacement,
        include_best=include_best,
        add_special_tokens=add_special_tokens,
        parse_special=tokenizer._recognized(parse_special, [text]),
    )
    return [
        Segmentation(encoding, score, log_probability, log_inclusion)
        for encoding, score, log_probability, log_inclusion in found
    ]
