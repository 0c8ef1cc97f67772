"""Tokenizers of transformers whose encoding and decoding run here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import transformers
from transformers import BatchEncoding, TokenizersBackend
from transformers.utils import PaddingStrategy

from piecework import Batch
from piecework.errors import InputTypeError, PieceworkError
from piecework.integrations.transformers.backend import BackendTokenizer, Rows, split_rows
from piecework.rows.rectangles import as_tensor

_TENSOR_TYPES = ("np", "pt")


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
        call = _Call.of(self, text, text_pair, settings) if _encodes_plainly(cls) else None
        encoded = None if call is None else call.run()
        if encoded is None:
            # Invalid input, for the error of transformers, and calls that it serves itself.
            return super()._encode_plus(text, text_pair, **settings)  # type: ignore[misc]
        return encoded

    def __reduce_ex__(self, protocol: Any) -> Any:
        cls: Any = type(self)
        # A class that extends an accelerated one, such as those of vLLM, has a pickle of its own.
        if cls.__mro__[1] is not EncodesHere or cls is not accelerated_class(cls.__mro__[2]):
            return super().__reduce_ex__(protocol)
        # The class is made again, from the class of transformers that it extends.
        return _restored, (cls.__mro__[2], self.__dict__)


@cache
def accelerated_class(base: Any) -> Any:
    """Return the subclass of a class of transformers that encodes here; it has the same name."""
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
    """Return a tokenizer of transformers that gives the same results and encodes and decodes here.

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
    compiled at the next call. Calls that this library cannot serve run in `tokenizers`; see `coverage`.

    Raises `InputTypeError` for a tokenizer that is not a fast one.
    """
    if isinstance(tokenizer, EncodesHere):
        return tokenizer
    if not isinstance(tokenizer, TokenizersBackend):
        expected = "a fast tokenizer, a transformers.TokenizersBackend"
        raise InputTypeError("tokenizer", type(tokenizer).__name__, expected)
    state = {name: value for name, value in vars(tokenizer).items() if name != "_tokenizer"}
    result = _restored(type(tokenizer), deepcopy(state))
    backend = tokenizer._tokenizer
    if not isinstance(backend, BackendTokenizer):
        backend = BackendTokenizer.from_tokenizers(backend)
    # A copy shares what was compiled, and has an original of its own where nothing could be.
    result._tokenizer = copy(backend)
    return result


def coverage(tokenizer: Any) -> dict[str, str]:
    """Return, for each call of a tokenizer of `accelerate`, where it runs: "piecework", or why not.

    >>> import piecework as pw
    >>> from piecework.integrations.transformers import PieceworkTokenizerFast, coverage
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> found = coverage(PieceworkTokenizerFast(tokenizer_object=tok))
    >>> found["__call__"], found["decode"]
    ('piecework', 'piecework')
    >>> found["train_new_from_iterator"]
    'tokenizers: trains with its own trainers'
    """
    backend = getattr(tokenizer, "_tokenizer", None)
    if not isinstance(backend, BackendTokenizer):
        expected = "a tokenizer that accelerate returned"
        raise InputTypeError("tokenizer", type(tokenizer).__name__, expected)
    refusal = backend.refusal
    here = "piecework" if refusal is None else f"tokenizers: {refusal}"
    calls = {
        **dict.fromkeys(("__call__", "encode", "tokenize", "apply_chat_template"), here),
        **dict.fromkeys(("decode", "batch_decode"), here),
        **dict.fromkeys(("add_tokens", "save_pretrained", "pickle"), here),
        "pad": "transformers: no text is encoded",
        "train_new_from_iterator": "tokenizers: trains with its own trainers",
        "backend_tokenizer.model": "tokenizers: the model as a component is built when it is read",
        "sanitize_control_tokens=True": "tokenizers: encodes span by span",
        "a custom _decode or _encode_plus": "the class of the tokenizer",
    }
    cls: Any = type(tokenizer)
    if not _encodes_plainly(cls):
        calls["__call__"] = f"{here}, through _encode_plus of {cls.__name__}"
    return calls


# ---- one call


@dataclass
class _Call:
    """One call of a tokenizer: its rows, how they are encoded, and what it returns."""

    owner: Any
    backend: BackendTokenizer
    rows: Rows
    is_batched: bool
    is_pretokenized: bool
    add_special_tokens: bool
    max_length: int | None
    verbose: bool
    return_tensors: str | None
    columns: tuple[str, ...]
    has_overflow: bool

    @classmethod
    def of(cls, owner: Any, text: Any, text_pair: Any, settings: dict[str, Any]) -> _Call | None:
        """Return the call, with the settings of its backend; None for one that transformers has to serve."""
        words = settings.get("is_split_into_words", False)
        rows, is_batched = _rows_of(text, text_pair, words)
        if rows is None or settings.get("sanitize_control_tokens"):
            return None
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
        return cls(
            owner=owner,
            backend=backend,
            rows=rows,
            is_batched=is_batched,
            is_pretokenized=words,
            add_special_tokens=settings.get("add_special_tokens", True),
            max_length=settings.get("max_length"),
            verbose=settings.get("verbose", True),
            return_tensors=settings.get("return_tensors"),
            columns=tuple(_columns_of(owner, settings)),
            has_overflow=settings.get("return_overflowing_tokens", False),
        )

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
        data = {name: list(_FIELDS[name](encoding)) for name in self.columns}
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
        data = {name: _ARRAYS[name](batch, shape).astype(np.int64) for name in self.columns}
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
_ARRAYS: dict[str, Callable[[Batch, tuple[int, int]], Any]] = {
    "input_ids": lambda batch, shape: batch.ids.reshape(shape),
    "token_type_ids": lambda batch, shape: batch.type_ids.reshape(shape),
    "attention_mask": lambda batch, shape: batch.attention_mask.reshape(shape),
    "special_tokens_mask": lambda batch, shape: batch.special_tokens_mask.reshape(shape),
    "offset_mapping": lambda batch, shape: batch.offsets.reshape(*shape, 2),
    "length": lambda batch, shape: batch.lengths,
}


# The same of one encoding.
_FIELDS: dict[str, Callable[[Any], list[Any]]] = {
    "input_ids": lambda encoding: encoding.ids,
    "token_type_ids": lambda encoding: encoding.type_ids,
    "attention_mask": lambda encoding: encoding.attention_mask,
    "special_tokens_mask": lambda encoding: encoding.special_tokens_mask,
    "offset_mapping": lambda encoding: encoding.offsets,
    "length": lambda encoding: [len(encoding.ids)],
}


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
