"""A tokenizer with the methods of `tokenizers.Tokenizer` that encodes and decodes with piecework."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import tokenizers

from piecework import Batch, Encoding, Tokenizer
from piecework._internal.validation import path_text
from piecework.errors import InputTypeError, PieceworkError
from piecework.integrations.transformers.encodings import BackendEncoding, as_tokenizers_encoding
from piecework.integrations.transformers.pipeline import Pipeline, added_token, with_new_tokens
from piecework.io.read_file import file_bytes
from piecework.io.stored_lengths import ignore_warnings_of_lengths

Rows = Sequence[Any]
Lengths: TypeAlias = dict[str, Any] | None
# The defaults of `tokenizers`.
_TRUNCATION = {"stride": 0, "strategy": "longest_first", "direction": "right"}
_PADDING = {
    "length": None,
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_token": "[PAD]",
    "pad_type_id": 0,
    "direction": "right",
}
# The most tokenizers with truncation and padding that are kept, for programs that alternate between lengths.
_MAX_VARIANTS = 16


class BackendTokenizer:
    """A tokenizer of this library with the methods of `tokenizers.Tokenizer`.

    >>> import piecework as pw
    >>> from piecework.integrations.transformers import BackendTokenizer
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> backend = BackendTokenizer(tok)
    >>> backend.encode("hugs").ids, backend.token_to_id("hug")
    ([1, 2], 1)

    transformers takes it as `TokenizersBackend(tokenizer_object=...)`. Copies share the compiled tables.
    Setting or changing a component (`normalizer`, `model.dropout`, ...) compiles again at the next call.
    A pipeline that this library cannot compile, such as one with components in Python, runs in `tokenizers`
    (see `refusal`), and so do `post_process`, `train` and methods that are not defined here.
    """

    # Without "transformers", by which other libraries recognize tokenizers of that library.
    __module__ = "piecework.integrations._tokenizers"

    def __init__(self, tokenizer: Tokenizer) -> None:
        spec = tokenizer.spec
        plain = tokenizer.without_truncation().without_padding()
        truncation = _fields(spec.truncation, ("max_length", *_TRUNCATION))
        padding = _fields(spec.padding, _PADDING)
        self._assign(Pipeline(plain), truncation, padding, False)

    @classmethod
    def from_tokenizers(cls, original: tokenizers.Tokenizer) -> BackendTokenizer:
        """Take over a tokenizer of `tokenizers`, which must not be changed elsewhere afterwards.

        >>> import tokenizers
        >>> from piecework.integrations.transformers import BackendTokenizer
        >>> model = tokenizers.models.WordLevel({"[UNK]": 0, "hug": 1}, unk_token="[UNK]")
        >>> BackendTokenizer.from_tokenizers(tokenizers.Tokenizer(model)).encode("hug").ids
        [1]
        """
        lengths = original.truncation, original.padding
        special = original.encode_special_tokens
        return cls.__new__(cls)._assign(Pipeline(original=original), *lengths, special)

    @classmethod
    def from_str(cls, json: str) -> BackendTokenizer:
        """Read the text of a `tokenizer.json`."""
        try:
            with warnings.catch_warnings():
                ignore_warnings_of_lengths()  # piecework applies them as `tokenizers` does
                return cls(Tokenizer.from_str(json))
        except PieceworkError:  # a pipeline that only `tokenizers` runs, or its own error
            return cls.from_tokenizers(tokenizers.Tokenizer.from_str(json))

    @classmethod
    def from_buffer(cls, buffer: bytes) -> BackendTokenizer:
        """Read the bytes of a `tokenizer.json`."""
        return cls.from_str(bytes(buffer).decode())

    @classmethod
    def from_file(cls, path: str) -> BackendTokenizer:
        """Read a `tokenizer.json`."""
        return cls.from_str(file_bytes(path_text(path), "a tokenizer.json").decode())

    @classmethod
    def from_pretrained(
        cls, identifier: str, revision: str = "main", token: str | None = None
    ) -> BackendTokenizer:
        """Download the `tokenizer.json` of a repository of the hub, or take it from its cache, and read it.

        `token` gives access to a private repository. Requires `piecework[hub]`. Raises `ArgumentError` for
        a name that is not a repository or a revision, and `FileError` if the library fails.
        """
        from piecework.io.hub import download_tokenizer_json

        return cls.from_file(download_tokenizer_json(identifier, revision, token))

    def _assign(
        self, pipeline: Pipeline, truncation: Lengths, padding: Lengths, special: bool
    ) -> BackendTokenizer:
        self._pipeline = pipeline
        self._truncation = truncation
        self._padding = padding
        self.encode_special_tokens = special
        # By truncation and padding: the compiled tokenizer, and the one with these. Snapshots share them.
        self._variants: dict[object, tuple[Tokenizer, Tokenizer]] = {}
        return self

    # ---- what runs where

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer that encodes, with truncation and padding; None if `tokenizers` encodes."""
        compiled = self._pipeline.compiled()
        lengths = self._truncation, self._padding
        if compiled is None or lengths == (None, None):
            return compiled
        key = tuple(settings and tuple(sorted(settings.items())) for settings in lengths)
        made = self._variants.get(key)
        if made is None or made[0] is not compiled:
            if len(self._variants) >= _MAX_VARIANTS:
                self._variants.clear()
            made = self._variants[key] = compiled, _with_lengths(compiled, *lengths)
        return made[1]

    def take_settings(self, other: BackendTokenizer) -> None:
        """Take truncation, padding and the treatment of special tokens from a snapshot of this one."""
        self._truncation, self._padding = other._truncation, other._padding
        self.encode_special_tokens = other.encode_special_tokens

    def snapshot(self) -> BackendTokenizer:
        """Return a backend of the same pipeline with settings of its own, for one call of one thread."""
        taken = type(self).__new__(type(self))
        taken.__dict__.update(self.__dict__)
        return taken

    @property
    def refusal(self) -> str | None:
        """Why the pipeline runs in `tokenizers`; None if it runs in piecework."""
        return self._pipeline.refusal

    def to_tokenizers(self) -> tokenizers.Tokenizer:
        """Return the whole tokenizer as an object of `tokenizers`."""
        original = self._pipeline.original()
        _set_lengths(original, self._truncation, self._padding)
        original.encode_special_tokens = self.encode_special_tokens
        return original

    # ---- text to ids

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> BackendEncoding:
        """Encode one text, or a text and its pair."""
        settings = is_pretokenized, add_special_tokens
        split = as_rows([sequence]), None if pair is None else as_rows([pair])
        [encoding] = self._encodings(
            split, settings, lambda original: [original.encode(sequence, pair, *settings)]
        )
        return encoding

    def encode_batch(
        self, input: Rows, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[BackendEncoding]:
        """Encode many texts, pairs (tuples or lists of two), or (with `is_pretokenized`) lists of words.

        Arrays and columns of numpy and pandas count as lists.
        """
        rows, settings = as_rows(input), (is_pretokenized, add_special_tokens)
        return self._encodings(
            split_rows(rows, is_pretokenized),
            settings,
            lambda original: original.encode_batch(rows, *settings),
        )

    def _encodings(
        self,
        split: tuple[Rows, Rows | None],
        settings: tuple[bool, bool],
        there: Callable[[tokenizers.Tokenizer], list[Any]],
    ) -> list[BackendEncoding]:
        """Encode rows in piecework, or with `there` if piecework refuses the rows or the pipeline."""
        refusal: PieceworkError | None = None
        try:
            encode = self.encoder(*split, *settings)
            if encode is not None:
                return list(map(BackendEncoding, encode()))
        except PieceworkError as error:
            refusal = error
        original = self.to_tokenizers()
        try:
            return list(map(BackendEncoding, there(original)))
        except BaseException as raised:
            # A panic there is no Exception and would end programs that handle errors.
            if refusal is None or isinstance(raised, Exception):
                raise
            raise refusal from None

    encode_batch_fast = encode_batch

    def encoder(
        self, texts: Rows, pairs: Rows | None, is_pretokenized: bool, add_special_tokens: bool
    ) -> Callable[[], list[Encoding]] | None:
        """Return a function that encodes rows with the current settings; None if `tokenizers` encodes."""
        tokenizer, padding = self.tokenizer, self._padding
        if tokenizer is None or self._has_no_room(pairs is not None, add_special_tokens):
            return None
        settings = is_pretokenized, add_special_tokens, not self.encode_special_tokens

        def encode() -> list[Encoding]:
            rows = list(zip(texts, repeat(None) if pairs is None else pairs, strict=False))
            padded = tokenizer
            if padding is not None and padding["length"] is None and len(rows) > 1:
                # Every row is padded to the longest of all.
                unpadded = tokenizer.without_padding()
                length = max(len(unpadded.encode(*row, *settings).ids) for row in rows)
                if length:
                    padded = _with_lengths(unpadded, None, {**padding, "length": length})
            return [padded.encode(*row, *settings) for row in rows]

        return encode

    def batch(
        self,
        texts: Rows,
        pairs: Rows | None,
        is_pretokenized: bool,
        add_special_tokens: bool,
        *,
        offsets: bool = False,
        overflow: bool = False,
    ) -> Batch | None:
        """Encode into columns; None if `tokenizers` encodes them, and if only some rows are pairs."""
        tokenizer = self.tokenizer
        is_mixed = pairs is not None and None in pairs
        if (
            tokenizer is None
            or is_mixed
            or self._has_no_room(pairs is not None, add_special_tokens)
        ):
            return None
        return tokenizer.encode_batch(
            texts,
            pairs,
            add_special_tokens=add_special_tokens,
            is_pretokenized=is_pretokenized,
            parse_special=not self.encode_special_tokens,
            offsets=offsets,
            overflow=overflow,
        )

    def _has_no_room(self, is_pair: bool, add_special_tokens: bool) -> bool:
        """Return whether truncation leaves no token of a text; `tokenizers` then truncates by other rules."""
        if self._truncation is None:
            return False
        added = self.num_special_tokens_to_add(is_pair) if add_special_tokens else 0
        return bool(self._truncation["max_length"] <= added)

    def post_process(
        self,
        encoding: BackendEncoding | tokenizers.Encoding,
        pair: BackendEncoding | tokenizers.Encoding | None = None,
        add_special_tokens: bool = True,
    ) -> BackendEncoding:
        """Truncate an encoding without special tokens, or a pair of them, add these tokens, and pad."""
        there = None if pair is None else as_tokenizers_encoding(pair)
        return BackendEncoding(
            self.to_tokenizers().post_process(
                as_tokenizers_encoding(encoding), there, add_special_tokens
            )
        )

    # ---- ids to text

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids."""
        tokenizer = self._pipeline.compiled()
        if tokenizer is None:
            return self._pipeline.original().decode(ids, skip_special_tokens)
        return tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the text of each list of ids."""
        tokenizer = self._pipeline.compiled()
        if tokenizer is None:
            return self._pipeline.original().decode_batch(sequences, skip_special_tokens)
        return tokenizer.decode_batch(sequences, skip_special_tokens=skip_special_tokens)

    # ---- truncation and padding

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The truncation settings; None if nothing is truncated."""
        return self._truncation and dict(self._truncation)

    def enable_truncation(self, max_length: int, **settings: Any) -> None:
        """Truncate encodings to `max_length` tokens."""
        self._truncation = {"max_length": max_length, **_TRUNCATION, **settings}

    def no_truncation(self) -> None:
        """Truncate nothing."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """The padding settings; None if nothing is padded."""
        return self._padding and dict(self._padding)

    def enable_padding(self, **settings: Any) -> None:
        """Pad encodings to a length, or to the longest of a batch."""
        self._padding = {**_PADDING, **settings}

    def no_padding(self) -> None:
        """Pad nothing."""
        self._padding = None

    # ---- vocabulary

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None if it is not in the vocabulary."""
        return self._holder().token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """Return the token with an id, or None if no token has this id."""
        return self._holder().id_to_token(id)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the vocabulary as a dict from token to id."""
        return self._holder().get_vocab(with_added_tokens)

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens."""
        return self._holder().get_vocab_size(with_added_tokens)

    def get_added_tokens_decoder(self) -> dict[int, tokenizers.AddedToken]:
        """Return the added tokens by id."""
        original = self._pipeline.uncompiled()
        if original is not None:
            return original.get_added_tokens_decoder()
        compiled = self._compiled()
        return {token.id: added_token(token) for token in compiled.added_tokens}

    def add_tokens(self, tokens: Iterable[str | tokenizers.AddedToken]) -> int:
        """Add tokens that are matched as a whole; return how many are new or changed."""
        return self._add(tokens, is_special=False)

    def add_special_tokens(self, tokens: Iterable[str | tokenizers.AddedToken]) -> int:
        """Add special tokens; return how many are new or changed."""
        return self._add(tokens, is_special=True)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        compiled = self._pipeline.compiled()
        if compiled is None:
            return self._pipeline.original().num_special_tokens_to_add(is_pair)
        return sum(compiled.encode("", "" if is_pair else None).special_tokens_mask)

    def _add(self, tokens: Iterable[str | tokenizers.AddedToken], *, is_special: bool) -> int:
        tokens = list(tokens)
        original = self._pipeline.uncompiled()
        if original is not None:
            add = original.add_special_tokens if is_special else original.add_tokens
            return add(tokens)
        compiled, count = with_new_tokens(self._compiled(), tokens, is_special=is_special)
        if count:
            self._pipeline.replace_compiled(compiled)
        return count

    def _holder(self) -> Tokenizer | tokenizers.Tokenizer:
        """Return the object that has the vocabulary; both kinds have the same methods."""
        return self._pipeline.uncompiled() or self._compiled()

    def _compiled(self) -> Tokenizer:
        compiled = self._pipeline.compiled()
        assert compiled is not None
        return compiled

    # ---- text form

    def to_str(self, pretty: bool = False) -> str:
        """Return the text of a `tokenizer.json`, with truncation and padding."""
        tokenizer = self.tokenizer
        if tokenizer is None:
            return self.to_tokenizers().to_str(pretty)
        return tokenizer.to_str(pretty=pretty)

    def save(self, path: str, pretty: bool = True) -> None:
        """Write a `tokenizer.json`, with truncation and padding."""
        from piecework.io.atomic_files import atomic_file

        text = self.to_str(pretty).encode()
        with atomic_file(str(path)) as temporary:
            temporary.write_bytes(text)

    # ---- training

    def train(self, files: Sequence[str], trainer: Any = None) -> None:
        """Train the model in `tokenizers`; the result is compiled at the next call."""
        self._train(lambda original: original.train(files, trainer))

    def train_from_iterator(
        self, iterator: Any, trainer: Any = None, length: int | None = None
    ) -> None:
        """Train the model on texts in `tokenizers`; the result is compiled at the next call."""
        self._train(lambda original: original.train_from_iterator(iterator, trainer, length))

    def _train(self, run: Callable[[tokenizers.Tokenizer], None]) -> None:
        original = self._pipeline.original()
        run(original)
        self._pipeline.replace_original(original)

    # ---- being a value

    def __copy__(self) -> BackendTokenizer:
        lengths = self.truncation, self.padding
        made = type(self).__new__(type(self))
        return made._assign(self._pipeline.shared(), *lengths, self.encode_special_tokens)

    def __deepcopy__(self, memo: dict[int, Any]) -> BackendTokenizer:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        pipeline = self._pipeline.compiled() or self._pipeline.original()
        lengths = self._truncation, self._padding
        return _restored, (pipeline, *lengths, self.encode_special_tokens)

    def __repr__(self) -> str:
        return f"BackendTokenizer({self._pipeline.compiled() or self._pipeline.original()!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(tokenizers.Tokenizer, name):
            raise AttributeError(f"BackendTokenizer has no attribute {name!r}")
        # Methods of `tokenizers` that are not defined here run there.
        return getattr(self.to_tokenizers(), name)


def _stage(name: str) -> property:
    return property(
        lambda self: self._pipeline.component(name),
        lambda self, component: self._pipeline.set_component(name, component),
        doc=f"The {name.replace('_', '-')}, as a component of `tokenizers`.",
    )


for _name in ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder"):
    setattr(BackendTokenizer, _name, _stage(_name))


def _fields(settings: object, names: Iterable[str]) -> Lengths:
    """Return settings under the names of `tokenizers`, in which `side` is called `direction`."""
    if settings is None:
        return None
    return {name: getattr(settings, "side" if name == "direction" else name) for name in names}


def as_rows(given: Any) -> Rows:
    """Return rows as a list; the rows of an array or a column, and words in arrays, as lists too."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputTypeError("input", f"must be a list of texts, not {type(given).__name__}")
    rows = given.tolist() if hasattr(given, "tolist") else given
    return [row.tolist() if hasattr(row, "tolist") else row for row in rows]


def split_rows(rows: Rows, is_pretokenized: bool) -> tuple[Rows, Rows | None]:
    """Return the texts and the pairs of rows; None in place of a pair, or of all if no row is a pair."""
    if not rows:
        return (), None
    texts, pairs = zip(*map(_as_pair, rows, repeat(is_pretokenized)), strict=True)
    return texts, (None if all(pair is None for pair in pairs) else pairs)


def _as_pair(row: Any, is_pretokenized: bool) -> tuple[Any, Any]:
    """Return the text and the pair of a row; None for a row without a pair."""
    is_pair = isinstance(row, tuple | list) and len(row) == 2
    if is_pair and is_pretokenized:
        is_pair = not isinstance(row[0], str)
    return (row[0], row[1]) if is_pair else (row, None)


def _with_lengths(tokenizer: Tokenizer, truncation: Lengths, padding: Lengths) -> Tokenizer:
    if truncation is not None:
        tokenizer = tokenizer.with_truncation(**_with_side(truncation))
    # model2vec sets the length 0, with which `tokenizers` pads nothing.
    if padding is None or padding["length"] == 0:
        return tokenizer
    return tokenizer.with_padding(**_with_side(padding))


def _with_side(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of `tokenizers`, whose `direction` is called `side` in piecework."""
    return {"side" if name == "direction" else name: value for name, value in settings.items()}


def _set_lengths(original: tokenizers.Tokenizer, truncation: Lengths, padding: Lengths) -> None:
    if truncation is None:
        original.no_truncation()
    elif original.truncation != truncation:
        original.enable_truncation(**truncation)
    if padding is None:
        original.no_padding()
    elif original.padding != padding:
        original.enable_padding(**padding)


def _restored(
    pipeline: Tokenizer | tokenizers.Tokenizer, truncation: Lengths, padding: Lengths, special: bool
) -> BackendTokenizer:
    held = Pipeline(pipeline) if isinstance(pipeline, Tokenizer) else Pipeline(original=pipeline)
    made = BackendTokenizer.__new__(BackendTokenizer)
    return made._assign(held, truncation, padding, special)
