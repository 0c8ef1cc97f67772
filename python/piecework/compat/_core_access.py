"""What the compatible APIs need of a tokenizer and `Tokenizer` has no public method for.

This is the only module of `compat` that uses the compiled core. Each function takes or returns a
`Tokenizer`, so that a public method can replace it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from piecework import Sampling, Tokenizer, _core
from piecework._internal.threads import thread_count

if TYPE_CHECKING:
    from piecework._core import RawBatch as RawBatch

Piece: TypeAlias = tuple[int, str, tuple[int, int]]
"""Id, normalized text, and span in characters of the original text."""

NormalizerFields: TypeAlias = tuple[bytes, bool, bool, bool]
"""Charsmap, `add_dummy_prefix`, `remove_extra_whitespaces`, `escape_whitespaces`."""


# ---- reading files in memory


def tokenizer_from_sentencepiece(data: bytes, source: str) -> Tokenizer:
    """Read the bytes of a SentencePiece `.model`; `source` names them in errors."""
    return Tokenizer._of(_core.read_sentencepiece(data, source))


def tokenizer_from_tiktoken(
    data: bytes, source: str, pipeline: bytes, special_tokens: Sequence[tuple[str, int]]
) -> Tokenizer:
    """Read the bytes of a `.tiktoken` file into a tokenizer that refuses special tokens in text.

    `pipeline` is a JSON object with a `pre_tokenizer`, as in a `tokenizer.json`.
    """
    core = _core.read_tiktoken(data, source, pipeline, special_tokens)
    return Tokenizer._of(core, "refuse")


def sentencepiece_normalizer_fields(data: bytes, source: str) -> NormalizerFields:
    """Read only the normalizer settings of a SentencePiece `.model`."""
    return _core.read_sentencepiece_normalizer(data, source)


# ---- encoding


def encode_ids(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    special_ids: Sequence[int] = (),
    sampling: Sampling | None = None,
    num_threads: int | None = None,
) -> RawBatch:
    """Encode texts without the post-processor; recognize only the special tokens in `special_ids`."""
    return tokenizer._core.encode_batch(
        texts,
        None,
        add_special_tokens=False,
        is_pretokenized=False,
        parse_special=list(special_ids),
        sampling=_core_sampling(sampling),
        offsets=False,
        overflow=False,
        num_threads=thread_count(num_threads),
    )


def segment_bytes(tokenizer: Tokenizer, word: bytes) -> list[int]:
    """Segment bytes as one pre-token of a byte-level model; they need not be UTF-8."""
    return _core.encode_word_of_bytes(tokenizer._core, word)


def find_special_token(
    tokenizer: Tokenizer, texts: Sequence[str], special_ids: Sequence[int]
) -> str | None:
    """Return the first of these special tokens that occurs in a text, None if there is none."""
    found = _core.find_special(tokenizer._core, texts, special_ids)
    return tokenizer.id_to_token(found[1]) if found else None


def encode_pieces(
    tokenizer: Tokenizer, text: str, sampling: Sampling | None = None, row: int = 0
) -> list[Piece]:
    """Encode one text into pieces with spans; `row` is its index in a sampled batch."""
    return _core.pieces(tokenizer._core, text, sampling=_core_sampling(sampling, row))


def piece_segmentations(
    tokenizer: Tokenizer,
    text: str,
    n: int,
    *,
    sampling: Sampling | None,
    replacement: bool,
    include_best: bool,
) -> list[tuple[list[Piece], float, float, float | None]]:
    """Return up to `n` segmentations: the best ones, or sampled ones if `sampling` is given.

    Each has its pieces, its score, its log probability, and without `replacement` its log inclusion
    probability, as in `Segmentation`.
    """
    return _core.piece_segmentations(
        tokenizer._core,
        text,
        n,
        sampling=_core_sampling(sampling),
        replacement=replacement,
        include_best=include_best,
    )


def normalize_with_offsets(tokenizer: Tokenizer, text: str) -> tuple[str, list[int]]:
    """Normalize a text; also return where each normalized character starts in it, and the end.

    The offsets are empty if normalization drops the whole text as leading whitespace.
    """
    return _core.normalize_with_offsets(tokenizer._core, text)


# ---- tokens as bytes


def token_bytes(tokenizer: Tokenizer, id: int) -> bytes | None:
    """Return the bytes of a token, None for an unknown id."""
    return _core.token_bytes(tokenizer._core, id)


def vocab_bytes(tokenizer: Tokenizer) -> list[tuple[int, bytes]]:
    """Return the entries of the model as (id, bytes), without added tokens."""
    return _core.vocab_bytes(tokenizer._core)


def decode_bytes(tokenizer: Tokenizer, ids: Sequence[int]) -> bytes:
    """Decode ids to bytes, special tokens included; raises `ArgumentError` for an unknown id."""
    return _core.decode_bytes(tokenizer._core, ids)


def _core_sampling(sampling: Sampling | None, row: int = 0) -> _core.SeededSampling | None:
    if sampling is None:
        return None
    assert sampling.alpha is not None
    assert sampling.seed is not None
    seeded = _core.SeededSampling(
        float(sampling.alpha), seed=sampling.seed, nbest_size=sampling.nbest_size
    )
    return seeded.at(row)
