"""Tokenizers of transformers that encode and decode with piecework: any fast one, and a new class."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import tokenizers.decoders
import transformers
from transformers import AutoTokenizer, BatchEncoding, TokenizersBackend
from transformers.models.auto.tokenization_auto import REGISTERED_TOKENIZER_CLASSES
from transformers.utils import PaddingStrategy

from piecework import Batch, Tokenizer
from piecework.errors import ArgumentError, InputTypeError, PieceworkError
from piecework.integrations.transformers.backend import BackendTokenizer, Rows, split_rows
from piecework.io.stored_lengths import ignore_warnings_of_lengths
from piecework.tokenizer.rectangles import as_tensor

_TENSOR_TYPES = ("np", "pt")
_LOGGER = logging.getLogger(__name__)
_OriginalStream: Any = tokenizers.decoders.DecodeStream  # servers replace it by ours


class EncodesHere:
    """The part of a class of tokenizers that encodes with a `BackendTokenizer`.

    It comes before `TokenizersBackend`, or a subclass of it, in the bases of a class.
    """

    @property
    def _tokenizer(self) -> BackendTokenizer | None:
        return self.__dict__.get("_backend")

    @_tokenizer.setter
    def _tokenizer(self, tokenizer: Any) -> None:
        if tokenizer is not None and not isinstance(tokenizer, BackendTokenizer):
            tokenizer = BackendTokenizer.from_tokenizers(tokenizer)
        self.__dict__["_backend"] = tokenizer

    def _encode_plus(self, text: Any, text_pair: Any = None, **settings: Any) -> BatchEncoding:
        cls: Any = type(self)
        encoded = None
        if _encodes_plainly(cls) and not settings.get("sanitize_control_tokens"):
            words = settings.get("is_split_into_words", False)
            rows, is_batched = _rows_of(text, text_pair, words)
            encoded = None if rows is None else _Call(self, rows, is_batched, settings).run()
        if encoded is None:
            # Invalid input, for the error of transformers, and calls that it serves itself.
            return super()._encode_plus(text, text_pair, **settings)  # type: ignore[misc]
        return encoded

    def __reduce_ex__(self, protocol: Any) -> Any:
        cls: Any = type(self)
        # A class that extends an accelerated one, as vLLM does, has a pickle of its own.
        if cls.__mro__[1] is not EncodesHere or cls is not accelerated_class(cls.__mro__[2]):
            return super().__reduce_ex__(protocol)
        # The class is made again, from the class of transformers that it extends.
        return _restored, (cls.__mro__[2], self.__dict__)


@cache
def accelerated_class(base: Any) -> Any:
    """Return the subclass of a class of transformers that encodes with piecework, under the same name."""
    body = {
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    # transformers reads the files of a class by other rules if the class itself has a constructor and is
    # not TokenizersBackend.
    if "__init__" in vars(base) and base is not TokenizersBackend:
        body["__init__"] = base.__init__
    return type(base.__name__, (EncodesHere, base), body)


def _restored(base: Any, state: dict[str, Any]) -> Any:
    cls = accelerated_class(base)
    tokenizer = cls.__new__(cls)
    tokenizer.__dict__.update(state)
    return tokenizer


@cache
def _encodes_plainly(cls: Any) -> bool:
    """Return whether no class between this part and `TokenizersBackend` encodes in its own way."""
    first: Any = next(
        base for base in cls.__mro__ if base is not EncodesHere and "_encode_plus" in vars(base)
    )
    return first is TokenizersBackend


# ---- the public functions


def accelerate(tokenizer: Any) -> Any:
    """Return a tokenizer of transformers that encodes and decodes with piecework, with the same results.

    >>> import piecework as pw
    >>> from transformers import TokenizersBackend
    >>> from piecework.integrations.transformers import BackendTokenizer, accelerate
    >>> vocab = {"[UNK]": 0, "hug": 1, "##s": 2}
    >>> backend = BackendTokenizer(pw.Tokenizer(pw.spec.WordPiece(vocab)))
    >>> theirs = TokenizersBackend(tokenizer_object=backend.to_tokenizers())
    >>> accelerate(theirs)("hugs")["input_ids"]
    [1, 2]

    `tokenizer` is any fast tokenizer; it is not changed. The result is of a subclass of its class, with the
    same name, settings and files. Changes of it (`add_tokens`, `backend_tokenizer.normalizer = ...`) are
    compiled at the next call. Calls that this library cannot serve run in `tokenizers`;
    `backend_tokenizer.refusal` has the reason, or None.

    Raises `InputTypeError` for a tokenizer that is not a fast one.
    """
    if isinstance(tokenizer, EncodesHere):
        return tokenizer
    if not isinstance(tokenizer, TokenizersBackend):
        raise InputTypeError(
            "tokenizer",
            "must be a fast tokenizer, a transformers.TokenizersBackend, not "
            f"{type(tokenizer).__name__}",
        )
    state = {name: value for name, value in vars(tokenizer).items() if name != "_tokenizer"}
    result = _restored(type(tokenizer), deepcopy(state))
    backend = tokenizer._tokenizer
    if not isinstance(backend, BackendTokenizer):
        backend = BackendTokenizer.from_tokenizers(backend)
    # A copy shares what was compiled, and has an original of its own where nothing could be.
    result._tokenizer = copy(backend)
    return result


def served(tokenizer: Any) -> Any:
    """Return a tokenizer of a server that encodes, decodes and streams with piecework.

    >>> import piecework as pw
    >>> from transformers import TokenizersBackend
    >>> from piecework.integrations.transformers import BackendTokenizer, served
    >>> backend = BackendTokenizer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> served(TokenizersBackend(tokenizer_object=backend.to_tokenizers())).encode("hugs")
    [1, 2]

    Compiles at once, so that the first request does not wait. Logs a warning if this library cannot compile
    the pipeline, which then runs in `tokenizers`. Raises `InputTypeError` for a tokenizer that is not a fast
    one of transformers.
    """
    result = accelerate(tokenizer)
    refusal = result._tokenizer.refusal
    if refusal is not None:
        _LOGGER.warning("tokenizers encodes, because piecework cannot compile this: %s", refusal)
    decoders: Any = tokenizers.decoders
    decoders.DecodeStream = DecodeStream
    return result


# ---- one call


class _Call:
    """One call of a tokenizer: its rows, how they are encoded, and what it returns."""

    def __init__(self, owner: Any, rows: Rows, is_batched: bool, settings: dict[str, Any]) -> None:
        # Other threads call the same owner with other lengths: this call has a backend of its own.
        backend = owner._tokenizer.snapshot()
        _with_backend(owner, backend).set_truncation_and_padding(
            padding_strategy=settings.get("padding_strategy", PaddingStrategy.DO_NOT_PAD),
            truncation_strategy=settings.get(
                "truncation_strategy",
                transformers.tokenization_utils_base.TruncationStrategy.DO_NOT_TRUNCATE,
            ),
            max_length=settings.get("max_length"),
            stride=settings.get("stride", 0),
            pad_to_multiple_of=settings.get("pad_to_multiple_of"),
            padding_side=settings.get("padding_side"),
        )
        split = settings.get("split_special_tokens")
        backend.encode_special_tokens = owner.split_special_tokens if split is None else split
        owner._tokenizer.take_settings(backend)
        self.owner = owner
        self.backend: BackendTokenizer = backend
        self.rows = rows
        self.is_batched = is_batched
        self.is_pretokenized = settings.get("is_split_into_words", False)
        self.add_special_tokens = settings.get("add_special_tokens", True)
        self.max_length = settings.get("max_length")
        self.verbose = settings.get("verbose", True)
        self.return_tensors = settings.get("return_tensors")
        self.columns = tuple(_columns_of(owner, settings))
        self.has_overflow = settings.get("return_overflowing_tokens", False)

    def run(self) -> BatchEncoding | None:
        """Encode; None if the backend cannot, so that transformers calls it and raises its errors."""
        try:
            if self.is_batched or self.has_overflow or self.return_tensors is not None:
                return self._run_batch()
            return self._run_one()
        except PieceworkError:
            return None

    def _run_one(self) -> BatchEncoding | None:
        encode = self._encoder(*split_rows(self.rows, self.is_pretokenized))
        if encode is None:
            return None
        [encoding] = encode()
        owner = self.owner
        owner._eventual_warn_about_too_long_sequence(encoding.ids, self.max_length, self.verbose)
        data = {name: _list(name, encoding) for name in self.columns}
        return BatchEncoding(data, [encoding], n_sequences=encoding.n_sequences)

    def _run_batch(self) -> BatchEncoding | None:
        texts, pairs = split_rows(self.rows, self.is_pretokenized)
        needs_offsets = bool({"offset_mapping", "special_tokens_mask"} & set(self.columns))
        batch = self.backend.batch(
            texts,
            pairs,
            self.is_pretokenized,
            self.add_special_tokens,
            offsets=needs_offsets,
            overflow=self.has_overflow,
        )
        encode = self._encoder(texts, pairs)
        if batch is None or encode is None:
            return None
        self._warn_about_length(batch)
        encodings = Encodings(self._with_windows(encode), len(batch))
        data = self._data(batch)
        n_sequences = 1 if pairs is None else 2
        is_made = self.return_tensors is None or not isinstance(data["input_ids"], list)
        tensor_type = None if is_made else self.return_tensors
        return BatchEncoding(data, encodings, tensor_type=tensor_type, n_sequences=n_sequences)

    def _data(self, batch: Batch) -> dict[str, Any]:
        tensors = self._tensors(batch)
        if tensors is not None:
            return tensors
        data: dict[str, Any] = {name: _LISTS[name](batch) for name in self.columns}
        if self.has_overflow:
            data["overflow_to_sample_mapping"] = batch.overflow_to_sample_mapping.tolist()
        return data

    def _tensors(self, batch: Batch) -> dict[str, Any] | None:
        """Return the columns as tensors; None for other kinds, and for rows of different lengths."""
        kind = getattr(self.return_tensors, "value", self.return_tensors)
        lengths = batch.lengths
        if kind not in _TENSOR_TYPES or (lengths != lengths[0]).any() or not lengths[0]:
            return None
        shape = len(lengths), int(lengths[0])
        data = {name: _array(name, batch, shape).astype(np.int64) for name in self.columns}
        if self.has_overflow:
            data["overflow_to_sample_mapping"] = batch.overflow_to_sample_mapping
        if kind == "np":
            return data
        return {name: as_tensor(array, 'return_tensors="pt"') for name, array in data.items()}

    def _encoder(self, texts: Rows, pairs: Rows | None) -> Callable[[], list[Any]] | None:
        return self.backend.encoder(texts, pairs, self.is_pretokenized, self.add_special_tokens)

    def _with_windows(self, encode: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
        """Return a function that returns one encoding for each row of the result."""
        if not self.has_overflow:
            return encode
        return lambda: [each for first in encode() for each in (first, *first.overflowing)]

    def _warn_about_length(self, batch: Batch) -> None:
        limit = self.owner.model_max_length
        if self.max_length is None and self.verbose and batch.lengths.max() > limit:
            longer = int(batch.lengths[np.argmax(batch.lengths > limit)])
            self.owner._eventual_warn_about_too_long_sequence(
                range(longer), self.max_length, self.verbose
            )


def _with_backend(owner: Any, backend: BackendTokenizer) -> Any:
    """Return a tokenizer of the class and settings of `owner` with another backend, for one call."""
    cls: Any = type(owner)
    caller = cls.__new__(cls)
    caller.__dict__.update(owner.__dict__)
    caller._tokenizer = backend
    return caller


def _rows_of(text: Any, text_pair: Any, is_pretokenized: bool) -> tuple[Rows | None, bool]:
    """Return the rows of a call and whether they are a batch; None for input that may be invalid."""
    if is_pretokenized:
        is_batched = isinstance(text, list | tuple) and bool(text) and not isinstance(text[0], str)
        is_valid = isinstance(text, list | tuple) and bool(text)
    else:
        is_batched = isinstance(text, list | tuple)
        is_valid = bool(text) if is_batched else isinstance(text, str)
    if not is_valid:
        return None, is_batched
    if not is_batched:
        return [(text, text_pair)] if text_pair else [text], False
    if text_pair is None:
        return text, True
    is_valid = isinstance(text_pair, list | tuple) and len(text_pair) == len(text)
    return (list(zip(text, text_pair, strict=True)) if is_valid else None), True


def _columns_of(owner: Any, settings: dict[str, Any]) -> Iterator[str]:
    yield "input_ids"
    for name in ("token_type_ids", "attention_mask"):
        asked = settings.get(f"return_{name}")
        if (name in owner.model_input_names) if asked is None else asked:
            yield name
    for name in ("special_tokens_mask", "offset_mapping"):
        if settings.get("return_offsets_mapping" if name == "offset_mapping" else f"return_{name}"):
            yield name
    if settings.get("return_length"):
        yield "length"


# ---- columns of a batch as transformers returns them


def _cut(values: list[Any], batch: Batch) -> list[list[Any]]:
    return [values[start:end] for start, end in pairwise(batch.row_offsets.tolist())]


def _constant(value: int, batch: Batch) -> list[list[int]]:
    return [[value] * length for length in batch.lengths.tolist()]


def _type_id_lists(batch: Batch) -> list[list[int]]:
    type_ids = batch.type_ids
    return _cut(type_ids.tolist(), batch) if type_ids.any() else _constant(0, batch)


def _mask_lists(batch: Batch) -> list[list[int]]:
    mask = batch.attention_mask
    return _constant(1, batch) if mask.all() else _cut(mask.tolist(), batch)


_LISTS: dict[str, Callable[[Batch], list[Any]]] = {
    "input_ids": Batch.to_lists,
    "token_type_ids": _type_id_lists,
    "attention_mask": _mask_lists,
    "special_tokens_mask": lambda batch: _cut(batch.special_tokens_mask.tolist(), batch),
    "offset_mapping": lambda batch: _cut(list(zip(*batch.offsets.T.tolist(), strict=True)), batch),
    "length": lambda batch: batch.lengths.tolist(),
}
# The names of the columns in a batch and in an encoding.
_ATTRIBUTES = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
}


def _array(name: str, batch: Batch, shape: tuple[int, int]) -> Any:
    if name == "length":
        return batch.lengths
    values = getattr(batch, _ATTRIBUTES[name])
    return values.reshape(*shape, *values.shape[1:])


def _list(name: str, encoding: Any) -> list[Any]:
    return [len(encoding)] if name == "length" else list(getattr(encoding, _ATTRIBUTES[name]))


class Encodings(Sequence[Any]):
    """The encodings of a call, with offsets and words; they are made when one is read."""

    def __init__(self, make: Callable[[], list[Any]], length: int) -> None:
        self._make: Callable[[], list[Any]] | None = make
        self._length = length
        self._made: list[Any] = []

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self[:],)


# ---- decoding id by id


class DecodeStream:
    """`tokenizers.decoders.DecodeStream` for tokenizers of both libraries.

    >>> import piecework as pw
    >>> from piecework.integrations.transformers import BackendTokenizer, DecodeStream
    >>> backend = BackendTokenizer(pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})))
    >>> stream = DecodeStream(ids=[1])
    >>> stream.step(backend, 2), stream.step(backend, [1, 2])
    (' ##s', ' hug ##s')

    The first step decides: a `BackendTokenizer` decodes in piecework, another tokenizer in `tokenizers`.
    `ids` are the ids before the stream, such as a prompt. As in `tokenizers`, ids without token add no text.
    """

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._ids = None if ids is None else list(ids)
        self._skip_special_tokens = skip_special_tokens
        self._stream: Any = None
        self._is_here = False

    def step(self, tokenizer: Any, id: int | Sequence[int]) -> str | None:
        """Add the next id, or the next ids; return the text that they add, None if there is none yet."""
        if self._stream is None:
            self._start(tokenizer)
        if not self._is_here:
            text: str | None = self._stream.step(_original(tokenizer), id)
            return text
        if isinstance(id, int):
            try:
                text = self._stream.step(id)
            except ArgumentError:
                # tokenizers raises a TypeError, which servers handle.
                problem = f"must be an id from 0 to 4294967295, not {id!r}"
                raise InputTypeError("id", problem) from None
            return text
        texts = [self.step(tokenizer, each) for each in id]
        return "".join(text for text in texts if text is not None) or None

    def _start(self, tokenizer: Any) -> None:
        here = _compiled(tokenizer)
        self._is_here = here is not None
        if here is None:
            self._stream = _OriginalStream(self._ids, self._skip_special_tokens)
            return
        prefill = [id for id in self._ids or () if here.id_to_token(id) is not None]
        self._stream = here.decode_stream(prefill, skip_special_tokens=self._skip_special_tokens)

    def __copy__(self) -> DecodeStream:
        other = DecodeStream(self._ids, self._skip_special_tokens)
        other._stream, other._is_here = copy(self._stream), self._is_here
        return other

    def __deepcopy__(self, memo: object) -> DecodeStream:
        return self.__copy__()


def _compiled(tokenizer: Any) -> Tokenizer | None:
    """Return the tokenizer of piecework that decodes, None if `tokenizers` decodes."""
    if not isinstance(tokenizer, BackendTokenizer) or tokenizer.refusal is not None:
        return None
    return tokenizer.tokenizer


def _original(tokenizer: Any) -> Any:
    return tokenizer.to_tokenizers() if isinstance(tokenizer, BackendTokenizer) else tokenizer


# ---- a class of this library


class PieceworkTokenizerFast(EncodesHere, TokenizersBackend):  # type: ignore[misc]
    """A tokenizer of this library with the interface of transformers' fast tokenizers.

    >>> import piecework as pw
    >>> from piecework.integrations.transformers import PieceworkTokenizerFast
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
    >>> fast = PieceworkTokenizerFast(tokenizer_object=tok)
    >>> fast(["hugs", "pun hugs"], padding=True)["input_ids"]
    [[2, 21, 3, 0], [2, 23, 21, 3]]

    `tokenizer_object` is a `Tokenizer`; its special tokens, padding and truncation become the
    settings of the class. `from_pretrained` reads folders with a `tokenizer.json`, a SentencePiece
    `tokenizer.model` or a `vocab.txt`; of other files, pass what `Tokenizer.load` returns. No tokenizer of
    `tokenizers` is built, unless the model is read as a component.
    """

    vocab_files_names = {  # noqa: RUF012 - transformers reads it from the class
        "tokenizer_file": "tokenizer.json",
        "sentencepiece_file": "tokenizer.model",
        "vocab_file": "vocab.txt",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        tokenizer = kwargs.pop("tokenizer_object", None)
        files = [kwargs.pop(name, None) for name in self.vocab_files_names]
        if tokenizer is None and any(files):
            with warnings.catch_warnings():
                ignore_warnings_of_lengths()  # transformers applies none
                tokenizer = Tokenizer.load(next(filter(None, files)))
        if isinstance(tokenizer, Tokenizer):
            kwargs = {**_settings(tokenizer), **kwargs}
            tokenizer = BackendTokenizer(tokenizer)
        super().__init__(*args, tokenizer_object=tokenizer, **kwargs)

    @classmethod
    def convert_to_native_format(cls, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments of the constructor for the files of a folder."""
        return kwargs


def register(*config_classes: type) -> None:
    """Make `AutoTokenizer` return a `PieceworkTokenizerFast` for these models and for folders that name it.

    >>> from piecework.integrations.transformers import register
    >>> register()

    `config_classes` are configuration classes of transformers, such as `BertConfig`: a folder of such a
    model whose `tokenizer_config.json` names no class then opens with this one.
    """
    REGISTERED_TOKENIZER_CLASSES[PieceworkTokenizerFast.__name__] = PieceworkTokenizerFast
    for config_class in config_classes:
        AutoTokenizer.register(config_class, tokenizer_class=PieceworkTokenizerFast, exist_ok=True)


def _settings(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the settings of transformers that a tokenizer has: roles, lengths, sides and chat templates."""
    templates = tokenizer.chat_templates
    found = {
        "model_max_length": tokenizer.model_max_length,
        "padding_side": tokenizer.padding_side,
        "truncation_side": tokenizer.truncation_side,
        "chat_template": templates if templates.keys() - {"default"} else tokenizer.chat_template,
    }
    return {
        **{
            role: token
            for role, token in tokenizer.special_tokens_map.items()
            if isinstance(token, str)
        },
        **{name: value for name, value in found.items() if value is not None},
    }
