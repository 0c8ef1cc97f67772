"""The half of the SentencePiece-shaped processor that lists the ways to segment a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piecework._core import entropy, piece_segmentations
from piecework._internal.types import Drawn
from piecework.compat.sentencepiece.encoding import Encoding
from piecework.compat.sentencepiece.forms import spelled
from piecework.compat.sentencepiece.inputs import (
    Options,
    OutType,
    Settings,
    Source,
    next_seed,
    sources_of,
)
from piecework.compat.sentencepiece.protos import ImmutableNBestSentencePieceText
from piecework.errors import ArgumentError
from piecework.sampling import check_alpha, check_segmentations

if TYPE_CHECKING:
    from typing_extensions import Unpack

_PROTOS = ("proto", "serialized_proto", "immutable_proto")


class Several(Encoding):
    """The best segmentations, several drawn ones with their scores, and how many there might be."""

    def nbest_encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        nbest_size: int | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """List the best segmentations of a text, or of each of a list, the best first.

        `out_type` is as for `encode`; protos are `NBestSentencePieceText` and have scores. Raises
        `ArgumentError` for models that have no scores.
        """
        settings = self._settings.given(out_type, options)
        n = max(1, self._settings.nbest_size if nbest_size is None else nbest_size)
        check_segmentations("nbest_size", n)
        if settings.out_type == "offset_mapping":
            raise ArgumentError(
                "out_type", "'offset_mapping'", "another form for several segmentations"
            )

        def best(source: Source) -> Any:
            found = self._segmentations(source, n, None, True, False)
            rows = [(row, score) for row, score, _, _ in found]
            return self._as_several(source, rows, settings, with_scores=False)

        return _each(input, best)

    def sample_encode_and_score(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        num_samples: int = 1,
        alpha: float = 1.0,
        wor: bool = False,
        include_best: bool = False,
        **options: Unpack[Options],
    ) -> Any:
        """Draw segmentations of a text, or of each of a list, and say how likely each was.

        Gives pairs of ids or pieces and a score, or a proto of all: ln of the share of a segmentation at
        `alpha`, and without replacement (`wor`) ln of the probability that it is drawn. With
        `include_best` the best is always the first, which needs `wor`.
        """
        settings = self._settings.given(out_type, options)
        check_segmentations("num_samples", num_samples)
        check_alpha(alpha)
        if include_best and not wor:
            raise ArgumentError("include_best", "True, with replacement", "wor=True")

        def some(source: Source) -> Any:
            drawn = (float(alpha), None, next_seed(), 0)
            found = self._segmentations(source, num_samples, drawn, not wor, include_best)
            rows = [(row, logp if not wor else apart) for row, _, logp, apart in found]
            return self._as_several(source, rows, settings, with_scores=True)

        return _each(input, some)

    def calculate_entropy(
        self, input: Any, alpha: float = 1.0, num_threads: int | None = None
    ) -> Any:
        """Return the entropy of the segmentations of a text in nats, or of each of a list."""
        check_alpha(alpha)
        core = self.tokenizer._core
        return _each(
            input, lambda source: entropy(core, source.text, alpha=float(alpha), parse_special=[])
        )

    def nbest_encode_as_ids(
        self, input: Any, nbest_size: int | None = None, **options: Unpack[Options]
    ) -> Any:
        """List the best segmentations as ids; see `nbest_encode`."""
        return self.nbest_encode(input, int, nbest_size, **options)

    def nbest_encode_as_pieces(
        self, input: Any, nbest_size: int | None = None, **options: Unpack[Options]
    ) -> Any:
        """List the best segmentations as pieces; see `nbest_encode`."""
        return self.nbest_encode(input, str, nbest_size, **options)

    def nbest_encode_as_numpy(
        self, input: Any, nbest_size: int | None = None, **options: Unpack[Options]
    ) -> Any:
        """List the best segmentations as arrays of ids; see `nbest_encode`."""
        return self.nbest_encode(input, "numpy", nbest_size, **options)

    def nbest_encode_as_proto(
        self, input: Any, nbest_size: int | None = None, **options: Unpack[Options]
    ) -> Any:
        """List the best segmentations as a `NBestSentencePieceText`; see `nbest_encode`."""
        return self.nbest_encode(input, "proto", nbest_size, **options)

    def nbest_encode_as_serialized_proto(
        self, input: Any, nbest_size: int | None = None, **options: Unpack[Options]
    ) -> Any:
        """List the best segmentations as bytes of a proto; see `nbest_encode`."""
        return self.nbest_encode(input, "serialized_proto", nbest_size, **options)

    def nbest_encode_as_immutable_proto(
        self, input: Any, nbest_size: int | None = None, **options: Unpack[Options]
    ) -> Any:
        """List the best segmentations as `ImmutableNBestSentencePieceText`; see `nbest_encode`."""
        return self.nbest_encode(input, "immutable_proto", nbest_size, **options)

    def sample_encode_and_score_as_ids(
        self, input: Any, num_samples: int = 1, alpha: float = 1.0, **options: Any
    ) -> Any:
        """Draw ids with scores; see `sample_encode_and_score`."""
        return self.sample_encode_and_score(
            input, int, num_samples=num_samples, alpha=alpha, **options
        )

    def sample_encode_and_score_as_pieces(
        self, input: Any, num_samples: int = 1, alpha: float = 1.0, **options: Any
    ) -> Any:
        """Draw pieces with scores; see `sample_encode_and_score`."""
        return self.sample_encode_and_score(
            input, str, num_samples=num_samples, alpha=alpha, **options
        )

    def sample_encode_and_score_as_serialized_proto(
        self, input: Any, num_samples: int = 1, alpha: float = 1.0, **options: Any
    ) -> Any:
        """Draw segmentations as bytes of a proto; see `sample_encode_and_score`."""
        return self.sample_encode_and_score(
            input, "serialized_proto", num_samples=num_samples, alpha=alpha, **options
        )

    def sample_encode_and_score_as_immutable_proto(
        self, input: Any, num_samples: int = 1, alpha: float = 1.0, **options: Any
    ) -> Any:
        """Draw an `ImmutableNBestSentencePieceText`; see `sample_encode_and_score`."""
        return self.sample_encode_and_score(
            input, "immutable_proto", num_samples=num_samples, alpha=alpha, **options
        )

    def _segmentations(
        self, source: Source, n: int, drawn: Drawn | None, replacement: bool, include_best: bool
    ) -> list[Any]:
        """Return rows with their score, log share, and log probability to be drawn."""
        found = piece_segmentations(
            self.tokenizer._core,
            source.text,
            n,
            sampling=drawn,
            replacement=replacement,
            include_best=include_best,
        )
        return [(self._named(row), *numbers) for row, *numbers in found]

    def _as_several(
        self, source: Source, rows: list[Any], settings: Settings, *, with_scores: bool
    ) -> Any:
        """Return rows with scores in the form that is wanted."""
        if settings.out_type in _PROTOS:
            settings.refuse_extras()
            length = len(source.text)
            nbests = (
                spelled(source, self._with_encode_extras(row, length), score) for row, score in rows
            )
            return _formed(ImmutableNBestSentencePieceText(tuple(nbests)), settings.out_type)
        formed = (self._as_row(source, row, settings) for row, _ in rows)
        if not with_scores:
            return list(formed)
        return [(row, score) for row, (_, score) in zip(formed, rows, strict=True)]

    def _as_row(self, source: Source, row: list[Any], settings: Settings) -> Any:
        if settings.out_type in (int, "numpy"):
            return self._as_ids([[id for id, _, _ in row]], settings)[0]
        return self._as_pieces(source, row, settings, False)

    CalculateEntropy = calculate_entropy
    NBestEncode = nbest_encode
    NBestEncodeAsIds = nbest_encode_as_ids
    NBestEncodeAsPieces = nbest_encode_as_pieces
    NBestEncodeAsNumpy = nbest_encode_as_numpy
    NBestEncodeAsProto = nbest_encode_as_proto
    NBestEncodeAsSerializedProto = nbest_encode_as_serialized_proto
    NBestEncodeAsImmutableProto = nbest_encode_as_immutable_proto
    SampleEncodeAndScore = sample_encode_and_score
    SampleEncodeAndScoreAsIds = sample_encode_and_score_as_ids
    SampleEncodeAndScoreAsPieces = sample_encode_and_score_as_pieces
    SampleEncodeAndScoreAsSerializedProto = sample_encode_and_score_as_serialized_proto
    SampleEncodeAndScoreAsImmutableProto = sample_encode_and_score_as_immutable_proto


def _each(input: Any, of: Any) -> Any:
    done = [of(source) for source in sources_of(input)]
    return done if isinstance(input, list) else done[0]


def _formed(several: ImmutableNBestSentencePieceText, out_type: OutType) -> Any:
    if out_type == "immutable_proto":
        return several
    return several.in_bytes() if out_type == "proto" else several.SerializeAsString()
