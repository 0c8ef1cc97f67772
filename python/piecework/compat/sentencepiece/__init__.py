"""The API of sentencepiece over this package: same names, same pieces, ids, spans and text.

The calls of 0.2.3 are here (`return_type`, "proto", "numpy", "offset_mapping"), and those that only
earlier versions have: "immutable_proto", `set_vocabulary`, `set_encode_extra_options`,
`sample_encode_and_score`, `calculate_entropy` and others. Methods have both spellings, as in `EncodeAsIds`
and `encode_as_ids`. The package itself need not be installed.

>>> import io
>>> model = io.BytesIO()
>>> sentences = iter(["hug hugs bug bugs", "bug hug"] * 20)
>>> SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, vocab_size=12)
>>> sp = SentencePieceProcessor(model_proto=model.getvalue())
>>> sp.encode("hug bugs", out_type=str)
['▁hug', '▁bugs']
>>> sp.decode(sp.encode("hug bugs"))
'hug bugs'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piecework._internal.validation import PathLike
from piecework.compat.sentencepiece.decoding import Decoding
from piecework.compat.sentencepiece.inputs import (
    DrawOptions,
    OutType,
    Settings,
    set_random_generator_seed,
)
from piecework.compat.sentencepiece.model import LoadedModel
from piecework.compat.sentencepiece.nbest import Several
from piecework.compat.sentencepiece.normalizer import SentencePieceNormalizer
from piecework.compat.sentencepiece.protos import (
    ImmutableNBestSentencePieceText,
    ImmutableSentencePieceText,
    NBestSentencePieceText,
    SentencePieceText,
    SurfacePiece,
)
from piecework.compat.sentencepiece.training import SentencePieceTrainer
from piecework.errors import ArgumentError
from piecework.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = [
    "ImmutableNBestSentencePieceText",
    "ImmutableSentencePieceText",
    "NBestSentencePieceText",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceText",
    "SentencePieceTrainer",
    "SetRandomGeneratorSeed",
    "SurfacePiece",
    "set_random_generator_seed",
]

SetRandomGeneratorSeed = set_random_generator_seed


class SentencePieceProcessor(Several, Decoding):
    """Text to pieces and back, with the methods of `sentencepiece.SentencePieceProcessor`.

    The settings are those of `encode`; each call can say otherwise. Without a model, `load` one. A
    `tokenizer` that was read from a `.model`, or could be saved as one, is taken too.
    """

    def __init__(
        self,
        model_file: PathLike | None = None,
        model_proto: Any = None,
        out_type: OutType | None = None,
        *,
        tokenizer: Tokenizer | None = None,
        **options: Unpack[DrawOptions],
    ) -> None:
        self._settings = Settings().given(out_type, options)
        if tokenizer is not None:
            self._loaded = LoadedModel.of(tokenizer)
        if model_file or model_proto:
            self.load(model_file, model_proto)

    @classmethod
    def from_file(cls, model_file: PathLike, **options: Any) -> Self:
        """Read a `.model` from a path."""
        return cls(model_file=model_file, **options)

    @classmethod
    def from_proto(cls, model_proto: Any, **options: Any) -> Self:
        """Read a `.model` from its bytes."""
        return cls(model_proto=model_proto, **options)

    def parallel_encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        chunk_len: int,
        **options: Unpack[DrawOptions],
    ) -> Any:
        """Encode as `encode` does, which takes texts apart by itself; `chunk_len` is taken for callers."""
        if chunk_len <= 0:
            raise ArgumentError("chunk_len", repr(chunk_len), "a number of bytes, above 0")
        return self.encode(input, out_type, **options)

    def parallel_encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Encode to ids; see `parallel_encode`."""
        return self.parallel_encode(input, int, **options)

    def parallel_encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Encode to pieces; see `parallel_encode`."""
        return self.parallel_encode(input, str, **options)

    def parallel_encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Encode to arrays of ids; see `parallel_encode`."""
        return self.parallel_encode(input, "numpy", **options)

    def parallel_encode_as_proto(self, input: Any, **options: Any) -> Any:
        """Encode to `SentencePieceText`; see `parallel_encode`."""
        return self.parallel_encode(input, "proto", **options)

    def __getstate__(self) -> dict[str, Any]:
        data = None if self._loaded is None else self._loaded.data
        return {**self.__dict__, "_loaded": data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_loaded"] is not None:
            self.load_from_serialized_proto(state["_loaded"])

    ParallelEncode = parallel_encode
    ParallelEncodeAsIds = parallel_encode_as_ids
    ParallelEncodeAsPieces = parallel_encode_as_pieces
    ParallelEncodeAsNumpy = parallel_encode_as_numpy
    ParallelEncodeAsProto = parallel_encode_as_proto
