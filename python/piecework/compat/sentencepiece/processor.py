"""`SentencePieceProcessor`: the methods of sentencepiece's class, over the functions of this folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Signature, isfunction, signature
from typing import TYPE_CHECKING, Any

import piecework as pw
from piecework import Tokenizer
from piecework._internal.validation import PathLike
from piecework.compat.sentencepiece.decode import decode_row
from piecework.compat.sentencepiece.encode import (
    RowEncoder,
    best_segmentations,
    sampled_segmentations,
)
from piecework.compat.sentencepiece.loaded_model import LoadedModel
from piecework.compat.sentencepiece.normalizer import normalize_input
from piecework.compat.sentencepiece.options import (
    OutType,
    Settings,
    chosen_out_type,
    parse_extra_options,
)
from piecework.compat.sentencepiece.texts import InputText, input_texts, is_sequence
from piecework.errors import ArgumentError, InputTypeError
from piecework.tokenizer.sampling import check_alpha

if TYPE_CHECKING:
    from typing_extensions import Self


def _of_form(method: Callable[..., Any], out_type: OutType) -> Callable[..., Any]:
    """Return a method that calls `method` with `out_type` after the input."""

    def call(self: SentencePieceProcessor, input: Any, *args: Any, **options: Any) -> Any:
        return method(self, input, out_type, *args, **options)

    name, shown = method.__name__.lstrip("_"), getattr(out_type, "__name__", repr(out_type))
    call.__doc__ = f"Call `{name}` with `out_type={shown}`."
    parameters = signature(method).parameters.values()
    others = [parameter for parameter in parameters if parameter.name != "out_type"]
    call.__signature__ = Signature(others)  # type: ignore[attr-defined]
    return call


class SentencePieceProcessor:
    """Text to pieces and back, with the methods of `sentencepiece.SentencePieceProcessor`.

    >>> import io
    >>> model = io.BytesIO()
    >>> from piecework.compat.sentencepiece import SentencePieceTrainer
    >>> sentences = iter(["hug hugs bug bugs", "bug hug"] * 20)
    >>> SentencePieceTrainer.train(sentence_iterator=sentences, model_writer=model, vocab_size=12)
    >>> sp = SentencePieceProcessor(model_proto=model.getvalue(), out_type=str)
    >>> sp.encode(["hug", "bugs"])
    [['▁hug'], ['▁bugs']]

    The options are options of `encode` and become its defaults. Without a model, call `load` first. A
    `tokenizer` must be one that can be saved as a `.model`.
    """

    _loaded: LoadedModel | None = None
    _settings: Settings
    _encode_extras: tuple[str, ...] = ()
    _decode_extras: tuple[str, ...] = ()

    def __init__(
        self,
        model_file: PathLike | None = None,
        model_proto: Any = None,
        out_type: OutType | None = None,
        *,
        tokenizer: Tokenizer | None = None,
        **options: Any,
    ) -> None:
        self._settings = Settings().with_options(out_type, options)
        if tokenizer is not None:
            self._loaded = LoadedModel.from_tokenizer(tokenizer)
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

    def __getstate__(self) -> dict[str, Any]:
        data = None if self._loaded is None else self._loaded.data
        return {**self.__dict__, "_loaded": data}

    def __setstate__(self, state: dict[str, Any] | bytes) -> None:
        """Restore a pickled processor; the state of sentencepiece up to 0.2.1 is the bytes of the model."""
        if isinstance(state, bytes):
            state = {"_settings": Settings(), "_loaded": state}
        self.__dict__.update(state)
        if state["_loaded"] is not None:
            self.load_from_serialized_proto(state["_loaded"])

    # ---- the model

    @property
    def tokenizer(self) -> Tokenizer:
        """The `piecework.Tokenizer` of the model."""
        return self._model.tokenizer

    @property
    def _model(self) -> LoadedModel:
        if self._loaded is None:
            raise ArgumentError("model", "no model is loaded; call load first")
        return self._loaded

    def load(self, model_file: PathLike | None = None, model_proto: Any = None) -> bool:
        """Read a `.model` from a path or from its bytes."""
        if model_file and model_proto:
            problem = "and model_file cannot be combined; pass one of them"
            raise ArgumentError("model_proto", problem)
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if model_file:
            return self.load_from_file(model_file)
        message = (
            "no model is given; pass model_file=the path of a .model, or its bytes as model_proto"
        )
        raise ArgumentError("model_file", message)

    def load_from_file(self, filename: PathLike) -> bool:
        """Read a `.model` file; raises `FileError`, and `FormatError` with the field."""
        self._loaded = LoadedModel.from_file(filename)
        return True

    def load_from_serialized_proto(self, serialized: Any) -> bool:
        """Read the bytes of a `.model`; raises `FormatError` with the field."""
        self._loaded = LoadedModel.from_bytes(serialized)
        return True

    def serialized_model_proto(self) -> bytes:
        """Return the bytes of the `.model`, including changes made since it was loaded."""
        return self._model.data

    def override_normalizer_spec(self, **kwargs: Any) -> bool:
        """Change settings of the normalizer, and the settings of the decoder that follow from them.

        The settings are `add_dummy_prefix`, `remove_extra_whitespaces`, `escape_whitespaces` and
        `precompiled_charsmap`.
        """
        self._loaded = self._model.with_normalizer_fields(kwargs)
        return True

    # ---- restricting the vocabulary, and extra options

    def set_vocabulary(self, valid_vocab: Sequence[str]) -> bool:
        """Restrict encoding to these pieces and to single characters; ids do not change.

        Raises `ArgumentError` for word and character models.
        """
        self._loaded = LoadedModel(self._restricted(valid_vocab))
        return True

    def reset_vocabulary(self) -> bool:
        """Use all pieces again."""
        self._loaded = LoadedModel(self._restricted(None))
        return True

    def load_vocabulary(self, filename: PathLike, threshold: int) -> bool:
        """Restrict encoding to the pieces that occur at least `threshold` times according to a file.

        Each line has a piece, a tab and the count. A line without a count means 1.
        """
        self._loaded = LoadedModel(self._restricted(filename, threshold))
        return True

    def _restricted(
        self, vocabulary: PathLike | Sequence[str] | None, threshold: float = 1
    ) -> Tokenizer:
        restricted = pw.vocabulary.restrict(self.tokenizer, vocabulary, threshold=threshold)
        return restricted.tokenizer

    def set_encode_extra_options(self, extra_option: str) -> bool:
        """Set what `encode` applies to each result, in order: `bos`, `eos`, `reverse`, `unk`.

        Options are separated by colons. `unk` replaces the text of unknown pieces by the unknown piece.
        """
        self._encode_extras = self._checked_extras(extra_option)
        return True

    def set_decode_extra_options(self, extra_option: str) -> bool:
        """Set what `decode` applies to its input; see `set_encode_extra_options`."""
        self._decode_extras = self._checked_extras(extra_option)
        return True

    def _checked_extras(self, extra_option: str) -> tuple[str, ...]:
        extras = parse_extra_options(extra_option)
        for name, piece in (
            ("bos", self._model.model.bos_piece),
            ("eos", self._model.model.eos_piece),
        ):
            if name in extras and self._model.id_of(piece) == self._model.unk_id:
                problem = f"{name!r} needs a model with the piece {piece!r}"
                raise ArgumentError("extra_option", problem)
        return extras

    # ---- pieces and ids

    def get_piece_size(self) -> int:
        """Return the number of pieces; 0 before a model is loaded."""
        return 0 if self._loaded is None else len(self._loaded.model.pieces)

    def piece_to_id(self, piece: Any) -> Any:
        """Return the id of a piece, or of each piece of a list; unknown pieces get the unknown id."""
        if isinstance(piece, (str, bytes)):
            return self._model.id_of(InputText(piece, "piece").escaped)
        if not is_sequence(piece):
            problem = f"must be str or a list of str, not {type(piece).__name__}"
            raise InputTypeError("piece", problem)
        sources = [InputText(one, f"piece[{at}]") for at, one in enumerate(piece)]
        return [self._model.id_of(source.escaped) for source in sources]

    def id_to_piece(self, id: Any) -> Any:
        """Return the piece of an id, or of each id; raises `IdRangeError`, an `IndexError`."""
        return self._for_each_id(id, lambda id: self._model.texts[id])

    def get_score(self, id: Any) -> Any:
        """Return the score of the piece of an id, or of each id."""
        return self._for_each_id(id, lambda id: self._model.model.pieces[id].score)

    def is_unknown(self, id: Any) -> Any:
        """Return whether an id, or each id, stands for the unknown piece."""
        return self._for_each_id(id, lambda id: self._model.is_type(id, "unknown"))

    def is_control(self, id: Any) -> Any:
        """Return whether an id, or each id, stands for a control symbol such as `<s>`."""
        return self._for_each_id(id, lambda id: self._model.is_type(id, "control"))

    def is_unused(self, id: Any) -> Any:
        """Return whether an id, or each id, stands for a piece that encoding never uses."""
        return self._for_each_id(id, lambda id: self._model.is_type(id, "unused"))

    def is_byte(self, id: Any) -> Any:
        """Return whether an id, or each id, stands for a byte piece such as `<0x0A>`."""
        return self._for_each_id(id, lambda id: self._model.is_type(id, "byte"))

    def unk_id(self) -> int:
        """Return the id of the unknown piece."""
        return self._model.unk_id

    def bos_id(self) -> int:
        """Return the id of the BOS piece, -1 if the model has none."""
        return self._model.control_id(self._model.model.bos_piece)

    def eos_id(self) -> int:
        """Return the id of the EOS piece, -1 if the model has none."""
        return self._model.control_id(self._model.model.eos_piece)

    def pad_id(self) -> int:
        """Return the id of the padding piece, -1 if the model has none."""
        return self._model.control_id(self._model.model.pad_piece)

    def __len__(self) -> int:
        return self.get_piece_size()

    def __getitem__(self, piece: Any) -> Any:
        return self.piece_to_id(piece)

    def _for_each_id(self, id: Any, value_of: Callable[[int], Any]) -> Any:
        if is_sequence(id):
            return [value_of(one) for one in self._model.checked_ids(id)]
        return value_of(self._model.checked_ids([id])[0])

    # ---- normalization

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalize a text, or each text of a list.

        With `with_offsets`, return each text with a list: where each normalized character starts in the
        input, and where the last one ends. For bytes, offsets count bytes.
        """
        return normalize_input(self.tokenizer, input, with_offsets)

    # ---- text to pieces

    def encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        return_bytes: bool | None = None,
        **options: Any,
    ) -> Any:
        """Encode a text, or each text of a list.

        `out_type` selects the result:

        - int or "numpy": ids.
        - str or bytes: pieces.
        - "proto": a `SentencePieceText` of `sentencepiece_pb2`, over protobuf, with spans in bytes;
          "serialized_proto": its bytes.
        - "immutable_proto": `ImmutableSentencePieceText`, with spans in characters.
        - "offset_mapping": a dict of ids, pieces and spans, in bytes with `return_bytes`.

        `reverse` is applied before `add_bos` and `add_eos`. `emit_unk_piece` replaces the text of unknown
        pieces by `<unk>`.

        `enable_sampling` samples a segmentation: from all (`nbest_size=-1`) or from the `nbest_size` best,
        with probabilities proportional to exp(alpha * score). For BPE, `alpha` is the probability to skip
        a merge.
        """
        settings = self._settings.with_options(out_type, options)
        sources = input_texts(input)
        if return_bytes is not None and settings.out_type != "offset_mapping":
            problem = f"needs out_type='offset_mapping', not {settings.out_type!r}"
            raise ArgumentError("return_bytes", problem)
        in_bytes = bool(sources and sources[0].is_bytes) if return_bytes is None else return_bytes
        rows = self._row_encoder(settings).rows(sources, in_bytes)
        return rows if isinstance(input, list) else rows[0]

    def _row_encoder(self, settings: Settings) -> RowEncoder:
        return RowEncoder(self._model, settings, self._encode_extras)

    encode_as_ids = _of_form(encode, int)
    encode_as_pieces = _of_form(encode, str)
    encode_as_numpy = _of_form(encode, "numpy")
    encode_as_proto = _of_form(encode, "proto")
    encode_as_serialized_proto = _of_form(encode, "serialized_proto")
    encode_as_immutable_proto = _of_form(encode, "immutable_proto")

    def encode_as_offset_mapping(
        self, input: Any, return_bytes: bool | None = None, **options: Any
    ) -> Any:
        """Encode to a dict of ids, pieces and spans; see `encode`."""
        return self.encode(input, "offset_mapping", return_bytes=return_bytes, **options)

    # ---- sampling and several segmentations

    def _sample_encode(
        self,
        input: Any,
        out_type: OutType,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        return self.encode(
            input, out_type, enable_sampling=True, nbest_size=nbest_size, alpha=alpha, **options
        )

    sample_encode_as_ids = _of_form(_sample_encode, int)
    sample_encode_as_pieces = _of_form(_sample_encode, str)
    sample_encode_as_numpy = _of_form(_sample_encode, "numpy")
    sample_encode_as_proto = _of_form(_sample_encode, "proto")
    sample_encode_as_serialized_proto = _of_form(_sample_encode, "serialized_proto")
    sample_encode_as_immutable_proto = _of_form(_sample_encode, "immutable_proto")

    def nbest_encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return the best segmentations of a text, or of each text of a list, the best first.

        `out_type` has the values of `encode`. Protos are `NBestSentencePieceText`s with scores. Raises
        `ArgumentError` for models without scores.
        """
        settings = self._settings.with_options(out_type, options)
        n = max(1, self._settings.nbest_size if nbest_size is None else nbest_size)
        rows = best_segmentations(self._row_encoder(settings), input_texts(input), n)
        return rows if isinstance(input, list) else rows[0]

    nbest_encode_as_ids = _of_form(nbest_encode, int)
    nbest_encode_as_pieces = _of_form(nbest_encode, str)
    nbest_encode_as_numpy = _of_form(nbest_encode, "numpy")
    nbest_encode_as_proto = _of_form(nbest_encode, "proto")
    nbest_encode_as_serialized_proto = _of_form(nbest_encode, "serialized_proto")
    nbest_encode_as_immutable_proto = _of_form(nbest_encode, "immutable_proto")

    def sample_encode_and_score(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        num_samples: int = 1,
        alpha: float = 1.0,
        wor: bool = False,
        include_best: bool = False,
        **options: Any,
    ) -> Any:
        """Sample segmentations of a text, or of each text of a list, with their log probabilities.

        Returns pairs of a segmentation and its score, or one proto for all. The score is the log of the
        probability of the segmentation at `alpha`. Without replacement (`wor`) it is the log of the
        probability that the segmentation is sampled. `include_best` always puts the best segmentation
        first and requires `wor`.
        """
        settings = self._settings.with_options(out_type, options)
        rows = sampled_segmentations(
            self._row_encoder(settings),
            input_texts(input),
            num_samples,
            alpha,
            replacement=not wor,
            include_best=include_best,
        )
        return rows if isinstance(input, list) else rows[0]

    def _sample_and_score(
        self,
        input: Any,
        out_type: OutType,
        num_samples: int = 1,
        alpha: float = 1.0,
        **options: Any,
    ) -> Any:
        return self.sample_encode_and_score(
            input, out_type, num_samples=num_samples, alpha=alpha, **options
        )

    sample_encode_and_score_as_ids = _of_form(_sample_and_score, int)
    sample_encode_and_score_as_pieces = _of_form(_sample_and_score, str)
    sample_encode_and_score_as_serialized_proto = _of_form(_sample_and_score, "serialized_proto")
    sample_encode_and_score_as_immutable_proto = _of_form(_sample_and_score, "immutable_proto")

    def calculate_entropy(
        self, input: Any, alpha: float = 1.0, num_threads: int | None = None
    ) -> Any:
        """Return the entropy of the segmentations of a text, or of each text of a list, in nats.

        `num_threads` is accepted for compatibility and ignored.
        """
        check_alpha(alpha)
        rows = [
            pw.tokenizer.lattice.entropy(self.tokenizer, source.text, alpha, parse_special=False)
            for source in input_texts(input)
        ]
        return rows if isinstance(input, list) else rows[0]

    # ---- pieces to text

    def decode(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        return_type: OutType | None = None,
        return_bytes: bool | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Decode an id, a piece, a list of either, or a list of such lists to text.

        `out_type`: str, bytes, "proto", "immutable_proto", "serialized_proto" or "offset_mapping". A piece
        outside the vocabulary decodes to its own text. `num_threads` is accepted for compatibility and
        ignored. Raises `IdRangeError`, an `IndexError`.
        """
        form = chosen_out_type(out_type, return_type, str)
        if form in (int, "numpy"):
            problem = f"must be str, bytes, 'offset_mapping' or a kind of proto, not {form!r}"
            raise ArgumentError("out_type", problem)
        if return_bytes is not None and form != "offset_mapping":
            raise ArgumentError("return_bytes", f"needs out_type='offset_mapping', not {form!r}")
        if input is None or (isinstance(input, (str, bytes)) and not input):
            input = []
        elif not is_sequence(input):
            input = [input]
        if len(input) and is_sequence(input[0]):
            return [self._decode_row(row, form, return_bytes) for row in input]
        return self._decode_row(input, form, return_bytes)

    def _decode_row(self, row: Any, form: OutType, return_bytes: bool | None) -> Any:
        extras = self._decode_extras
        return decode_row(self._model, row, form, extras=extras, return_bytes=return_bytes)

    decode_ids_as_proto = _of_form(decode, "proto")
    decode_ids_as_serialized_proto = _of_form(decode, "serialized_proto")
    decode_ids_as_immutable_proto = _of_form(decode, "immutable_proto")

    # ---- synonyms

    piece_size = vocab_size = get_piece_size
    tokenize = encode
    detokenize = decode_ids = decode_pieces = decode
    decode_pieces_as_proto = decode_ids_as_proto
    decode_pieces_as_serialized_proto = decode_ids_as_serialized_proto
    decode_pieces_as_immutable_proto = decode_ids_as_immutable_proto


# What sentencepiece has in this spelling only.
_SNAKE_CASE_ONLY = (
    "serialized_model_proto unk_id bos_id eos_id pad_id piece_size vocab_size".split()
)


def _add_camel_case(cls: type) -> None:
    """Add the other spelling of each method, as sentencepiece does: `NBestEncode` is `nbest_encode`."""
    for name, method in list(vars(cls).items()):
        if isfunction(method) and not name.startswith("_") and name not in _SNAKE_CASE_ONLY:
            if "_as_" in name:
                method.__name__, method.__qualname__ = name, f"{cls.__name__}.{name}"
            words = name.replace("nbest", "n_best").split("_")
            setattr(cls, "".join(word.capitalize() for word in words), method)


_add_camel_case(SentencePieceProcessor)
