"""The part of `Tokenizer` that lists the segmentations of a text and says how likely they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from piecework._core import Core, entropy, scores, segmentations
from piecework._internal.lazy import hints, pw, typing
from piecework._internal.validation import id_list
from piecework.encoding import Encoding
from piecework.errors import ArgumentError, InputTypeError

TYPE_CHECKING = False


class Segmentable:
    """The part of `Tokenizer` that scores segmentations; the others give what it is made of."""

    if TYPE_CHECKING:
        _core: Core

        def _selected(
            self, parse_special: bool | Collection[str] | None, *texts: Iterable[typing.Any]
        ) -> list[int] | None: ...

        def _drawn(self, sampling: pw.Sampling | None) -> hints.Drawn | None: ...

    def encode_nbest(
        self,
        text: str,
        n: int,
        *,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
    ) -> list[pw.Segmentation]:
        """List the `n` best segmentations of a text by a Unigram model, the best first.

        >>> import math
        >>> import piecework as pw
        >>> counts = {"h": 15, "u": 36, "g": 20, "s": 5, "ug": 20, "hug": 15}
        >>> pieces = tuple((piece, math.log(count / 111)) for piece, count in counts.items())
        >>> tok = pw.Tokenizer(pw.spec.Unigram(pieces))
        >>> for segmentation in tok.encode_nbest("hugs", 3):
        ...     print(segmentation)
        Segmentation(hug s, score=-5.10157)
        Segmentation(h ug s, score=-6.81537)
        Segmentation(h u g s, score=-7.94138)

        Fewer where there are no more. `n` is at most 1,024, and less for texts above 8 KiB: all listed
        together cover at most 8 MiB. The first is the one of `encode`; others with the same score come
        in an order that is not promised. A native `.model` lists what `sentencepiece` lists, in its
        order, by 32-bit sums, which may put an equal before the one of `encode`. Segmentations are of
        the whole text: where a pre-tokenizer makes several words, those of the words are combined. A
        run of unknown characters is one token and counts by characters.

        Raises `ArgumentError` for other models and for an `n` that is too large.
        """
        from piecework.sampling import check_segmentations

        check_segmentations("n", n)
        return self._segmentations(text, n, None, add_special_tokens, parse_special)

    def encode_samples(
        self,
        text: str,
        n: int,
        sampling: pw.Sampling | None = None,
        *,
        replacement: bool = True,
        include_best: bool = False,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
    ) -> list[pw.Segmentation]:
        """Draw `n` segmentations of a text by a Unigram model, and say how likely each was.

        >>> import piecework as pw
        >>> scored = (("a", -1.0), ("b", -1.0), ("ab", -1.5))
        >>> tok = pw.Tokenizer(pw.spec.Unigram(scored))
        >>> samples = tok.encode_samples("ab", 2, pw.Sampling(alpha=1, seed=4), replacement=False)
        >>> sorted((s.encoding.tokens, round(s.log_probability, 3)) for s in samples)
        [(['a', 'b'], -0.974), (['ab'], -0.474)]

        With `replacement` they are the rows of `encode_batch([text] * n, sampling=...)`. Without, all
        are different, each drawn from those left over, and there are fewer where the text has no more.
        `log_inclusion` then says how likely a segmentation was to be among the drawn: ln(1 -
        exp(-exp(log_probability - k))), k the noisy log-probability of the best that was left out, which
        makes sums weighted by exp(log_probability - log_inclusion) unbiased. With `include_best` the
        best is always the first, and n - 1 others are drawn. `n` is limited as for `encode_nbest`.

        Sources: Kudo 2018, "Subword Regularization"; without replacement Kool et al. 2019, "Stochastic
        Beams and Where to Find Them". Raises `ArgumentError` for other models, for `nbest_size` (which
        `encode_batch` takes), and for `include_best` with replacement.
        """
        from piecework.sampling import Sampling, check_segmentations

        check_segmentations("n", n)
        if include_best and replacement:
            raise ArgumentError("include_best", "True, with replacement", "replacement=False")
        if not isinstance(sampling, Sampling | None):
            raise InputTypeError("sampling", type(sampling).__name__, "Sampling or None")
        sampling = sampling or Sampling()
        if sampling.nbest_size is not None and sampling.nbest_size >= 0:
            expected = "None: samples are drawn from all segmentations"
            raise ArgumentError("sampling.nbest_size", str(sampling.nbest_size), expected)
        drawn = self._drawn(sampling)
        return self._segmentations(
            text, n, drawn, add_special_tokens, parse_special, replacement, include_best
        )

    def entropy(
        self, text: str, alpha: float = 1.0, *, parse_special: bool | Collection[str] | None = None
    ) -> float:
        """Return the entropy of a Unigram model's segmentations of a text, in nats.

        >>> import math
        >>> import piecework as pw
        >>> scored = (("a", -1.0), ("b", -1.0), ("ab", -2.0))
        >>> tok = pw.Tokenizer(pw.spec.Unigram(scored))
        >>> round(tok.entropy("ab"), 6) == round(math.log(2), 6)
        True

        0 when there is but one; with probabilities proportional to exp(alpha * score), as `Sampling`
        draws. All segmentations count, in time linear in the text. Raises `ArgumentError` for other
        models.
        """
        from piecework.sampling import check_alpha

        check_alpha(alpha)
        selected = self._selected(parse_special, [text])
        return entropy(self._core, text, alpha=float(alpha), parse_special=selected)

    def score(
        self, text: str | hints.Ids, *, parse_special: bool | Collection[str] | None = None
    ) -> float:
        """Return the score of a text's best segmentation, or of the ids of any segmentation.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Unigram((("a", -1.0), ("b", -1.5), ("ab", -2.0))))
        >>> tok.score("ab"), tok.score([0, 1])
        (-2.0, -2.5)

        A sum of log-probabilities: see `Segmentation`. Among ids the unknown one counts as one unknown
        character, however many it stands for, and added tokens that the model does not have count
        nothing. Raises `ArgumentError` for other models and for ids of nothing.
        """
        if isinstance(text, str):
            return self._segmentations(text, 1, None, False, parse_special)[0].score
        if not self._core.scores_segmentations:
            raise ArgumentError(
                "model", "a model that does not score segmentations", "a Unigram model"
            )
        from math import fsum

        ids = id_list(text, "text")
        known = scores(self._core, ids)
        for at, (id, score) in enumerate(zip(ids, known, strict=True)):
            if score is None and self._core.id_to_token(id) is None:
                raise ArgumentError(f"text[{at}]", str(id), "an id of the vocabulary")
        return fsum(score or 0.0 for score in known)

    def _segmentations(
        self,
        text: str,
        n: int,
        drawn: hints.Drawn | None,
        add_special_tokens: bool,
        parse_special: bool | Collection[str] | None,
        replacement: bool = True,
        include_best: bool = False,
    ) -> list[pw.Segmentation]:
        from piecework.sampling import Segmentation

        found = segmentations(
            self._core,
            text,
            n,
            sampling=drawn,
            replacement=replacement,
            include_best=include_best,
            add_special_tokens=add_special_tokens,
            parse_special=self._selected(parse_special, [text]),
        )
        return [
            Segmentation(Encoding.of(raw, text), score, log_probability, log_inclusion)
            for raw, score, log_probability, log_inclusion in found
        ]
