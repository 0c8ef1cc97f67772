"""The tokenizer: make one, turn text into ids and back, look at its vocabulary, save it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from piecework._core import (
    Core,
    TextColumn,
    TextEncoder,
    find_special,
)
from piecework._internal.cached_property import cached_property
from piecework._internal.lazy import hints, np, pw, typing
from piecework._internal.text_columns import text_rows
from piecework._internal.threads import thread_count
from piecework._internal.validation import PathLike, id_list, listed
from piecework.adaptable import Adaptable, checked_special_in_text
from piecework.batch import Batch, Filling
from piecework.decode_stream import DecodeStream, DecodeStreams
from piecework.encoding import Encoding
from piecework.errors import ArgumentError, FormatError, InputTypeError, SpecialTokenError
from piecework.io.format_readers import warned
from piecework.io.load_options import LoadOptions
from piecework.io.loading import read_tokenizer
from piecework.resizable import Resizable
from piecework.segmentable import Segmentable
from piecework.trainable import Trainable

_ROLES = {
    "bos_token": ("<s>", "<|begin_of_text|>", "<bos>"),
    "eos_token": ("</s>", "<|end_of_text|>", "<|endoftext|>", "<eos>"),
    "sep_token": ("[SEP]", "<sep>"),
    "pad_token": ("[PAD]", "<pad>"),
    "cls_token": ("[CLS]", "<cls>"),
    "mask_token": ("[MASK]", "<mask>"),
}


class Tokenizer(TextEncoder, Trainable, Resizable, Segmentable, Adaptable):
    """Turn text into subword ids and back.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=19)
    >>> tok.encode("Hugs!").tokens
    ['[CLS]', 'hugs', '[UNK]', '[SEP]']

    Immutable: `with_...` methods return a new tokenizer. One tokenizer serves any number of threads,
    survives fork, pickles, and compares and hashes by content.
    """

    # ---- making one

    def __init__(
        self,
        model: pw.spec.Model,
        *,
        normalizer: pw.spec.Normalizer | None = None,
        pre_tokenizer: pw.spec.PreTokenizer | None = None,
        post_processor: pw.spec.PostProcessor | None = None,
        decoder: pw.spec.Decoder | None = None,
        added_tokens: Sequence[pw.spec.AddedToken] = (),
        truncation: pw.spec.Truncation | None = None,
        padding: pw.spec.Padding | None = None,
        special_in_text: pw.spec.SpecialInText = "parse",
    ) -> None:
        from piecework.spec import TokenizerSpec

        spec = TokenizerSpec(
            model=model,
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            post_processor=post_processor,
            decoder=decoder,
            added_tokens=tuple(listed(added_tokens, "added_tokens", "AddedToken")),
            truncation=truncation,
            padding=padding,
        )
        text, functions = spec.to_core()
        self._hold(_compiled(text, functions), checked_special_in_text(special_in_text), functions)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        lowercase: bool | None = None,
        merges: PathLike | None = None,
        encoding: str | None = None,
        pattern: str | tuple[str, ...] | None = None,
        special_tokens: Mapping[str, int] | Collection[str] | None = None,
        compiled_cache: bool | PathLike = False,
    ) -> Tokenizer:
        """Read a tokenizer file of any format, told by its content, gzip or not.

        - `tokenizer.json`, `tekken.json`, CLIP's `bpe_simple_vocab_16e6.txt`: say everything themselves.
        - SentencePiece's `.model`, of all four kinds: likewise.
        - BERT's `vocab.txt`: `lowercase=None` takes its text to have been lowercased when no entry outside
          brackets has a capital ASCII letter.
        - `vocab.json` with `merges.txt` (or `encoder.json` with `vocab.bpe`): give the first and
          `merges=`, or the directory that holds both. The entries tell the pipelines of GPT-2, GPT and CLIP
          apart; another `pattern` (a name of `spec.NAMED_PATTERNS` or regular expressions) can be given, and
          which entries are `special_tokens` if those in `<...>` that no merge makes are not the ones.
        - `.tiktoken` ranks have neither pattern nor special tokens: name the `encoding`, a name of
          `spec.ENCODINGS`, whose published SHA-256 the file must have; or give `pattern` and
          `special_tokens` with their ids. They are never guessed.
        - `.piecework`, which `save` wrote: says everything itself.
        - `.pwc`, a compiled cache that `save` wrote: says everything itself. Under another name it is
          read with `compiled_cache=True` only.

        `compiled_cache=True` keeps the built tables in a file beside the source, with the suffix `.pwc`, or
        in the file named, and reads them from there as long as the source, the settings and the version of
        this library are the same. Where that file cannot be written, the source is read each time. Trust
        such a file as you trust a tokenizer file: it decides which ids come out.

        Ranks make a tokenizer that refuses special tokens in text, as tiktoken does, and a tekken.json one
        that takes them for text; see `parse_special` of `encode`. Raises `FileError`, `FormatError` with
        the field or line, `VocabularyError`, and `ArgumentError` for what the format lacks or does not take.
        Warns with `FormatWarning` of what works and is probably a mistake.
        """
        options = LoadOptions(lowercase, merges, encoding, pattern, special_tokens)
        return cls._of(*read_tokenizer(path, options, compiled_cache))

    @classmethod
    def from_spec(cls, spec: pw.TokenizerSpec) -> Tokenizer:
        """Compile a specification.

        >>> import piecework as pw
        >>> spec = pw.TokenizerSpec(model=pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> pw.Tokenizer.from_spec(spec).encode("ab").ids
        [1, 0]
        """
        from piecework.spec.tokenizer_spec import checked_spec

        text, functions = checked_spec(spec).to_core()
        special_in_text = checked_special_in_text(spec.special_in_text)
        return cls._of(_compiled(text, functions), special_in_text, functions)

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        """Compile the text of a `tokenizer.json`.

        Raises `FormatError` with the field and `VocabularyError`; warns with `FormatWarning` of what works
        and is probably a mistake.
        """
        if not isinstance(text, str):
            raise InputTypeError("text", type(text).__name__, "str")
        return cls._of(warned(_compiled(text, ()), b"", "text", "document", 2))

    # ---- text to ids

    # `encode` is that of `TextEncoder`, which leaves to `_encode_otherwise` what is not one plain text.

    def encode_batch(
        self,
        texts: hints.Texts | Sequence[Sequence[str]],
        pairs: hints.Texts | Sequence[Sequence[str]] | None = None,
        *,
        add_special_tokens: bool = True,
        is_pretokenized: bool = False,
        parse_special: bool | Collection[str] | None = None,
        sampling: pw.Sampling | None = None,
        offsets: bool = False,
        overflow: bool = False,
        num_threads: int | None = None,
    ) -> Batch:
        """Encode many texts into flat columns, on `num_threads` threads (None: one a processor).

        The other settings are those of `encode`. `texts` are a sequence of strings, or a column that is
        read where it lies: Arrow strings, `large` ones and views as pyarrow, polars and others lend them
        (the Arrow PyCapsule interface), or a numpy array of bytes, which hold UTF-8.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> tok.encode_batch(["ab", "b"]).to_lists()
        [[1, 2], [2]]

        `offsets=True` also keeps the columns `offsets`, `word_ids`, `sequence_ids` and
        `special_tokens_mask`, in the units of `encode`.

        >>> batch = tok.encode_batch(["ab", "b"], offsets=True)
        >>> batch.offsets.tolist(), batch.word_ids.tolist()
        ([[0, 1], [1, 2], [0, 1]], [0, 0, 0])

        With truncation, a batch has one row for each text and **drops the rest of a long text**.
        `overflow` makes a row of every window: first the window of `encode`, then those of its
        `overflowing`. `overflow_to_sample_mapping` has the index of the text of each row.

        >>> short = tok.with_truncation(2, stride=1)
        >>> windows = short.encode_batch(["abab", "b"], overflow=True)
        >>> windows.to_lists(), windows.overflow_to_sample_mapping.tolist()
        ([[1, 2], [2, 1], [1, 2], [2]], [0, 0, 0, 1])

        An item that is not a string, or a null, raises `InputTypeError` naming its index, bytes that are
        not UTF-8 `InvalidUtf8Error`.
        """
        rows_of: Callable[[typing.Any, str], typing.Any] = listed if is_pretokenized else text_rows
        first = rows_of(texts, "texts")
        second = None if pairs is None else rows_of(pairs, "pairs")
        raw = self._core.encode_batch(
            first,
            second,
            add_special_tokens=add_special_tokens,
            is_pretokenized=is_pretokenized,
            parse_special=self._selected(parse_special, first, second or ()),
            sampling=self._drawn(sampling),
            offsets=offsets,
            overflow=overflow,
            num_threads=thread_count(num_threads),
        )
        return Batch(raw, self._core.id_to_token, self._filling)

    def count(
        self,
        text: str,
        *,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
        sampling: pw.Sampling | None = None,
    ) -> int:
        """Count the tokens of a text: the length of its encoding, before any padding."""
        return self.count_batch(
            [text],
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            sampling=sampling,
            num_threads=1,
        )[0]

    def count_batch(
        self,
        texts: hints.Texts,
        *,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
        sampling: pw.Sampling | None = None,
        num_threads: int | None = None,
    ) -> list[int]:
        """Count the tokens of each text, without keeping any id.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> tok.count_batch(["ab", "a"])
        [2, 1]

        Returns one number for each text, the length of its encoding before any padding. Settings and
        errors are those of `encode_batch`.
        """
        rows = text_rows(texts)
        return self._core.count_batch(
            rows,
            add_special_tokens=add_special_tokens,
            parse_special=self._selected(parse_special, rows),
            sampling=self._drawn(sampling),
            num_threads=thread_count(num_threads),
        )

    def normalize(self, text: str) -> str:
        """Apply the normalizer alone."""
        return self._core.normalize(text)

    def pre_tokenize(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Normalize and split a text: words with their character spans in the text as given."""
        return self._core.pre_tokenize(text)

    # ---- ids to text

    def decode(
        self, ids: hints.Ids, *, skip_special_tokens: bool = True, clean_up: bool | None = None
    ) -> str:
        """Turn ids into text.

        `clean_up` removes the spaces before punctuation and in contractions; None follows the
        decoder's own setting. Ids of no token are skipped.
        """
        return self._core.decode(id_list(ids, "ids"), skip_special_tokens, clean_up)

    def decode_batch(
        self,
        batch: Batch | Sequence[hints.Ids],
        *,
        skip_special_tokens: bool = True,
        clean_up: bool | None = None,
    ) -> list[str]:
        """Turn every row of a `Batch`, or every list of ids, into text."""
        if isinstance(batch, Batch):
            ids, row_offsets = batch.ids, batch.row_offsets
        else:
            rows = [id_list(row, f"batch[{i}]") for i, row in enumerate(batch)]
            ids = np.array([id for row in rows for id in row], np.uint32)
            row_offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return self._core.decode_batch(ids, row_offsets, skip_special_tokens, clean_up)

    def decode_stream(
        self,
        prefill: hints.Ids = (),
        *,
        skip_special_tokens: bool = True,
        clean_up: bool | None = None,
    ) -> DecodeStream:
        """Return a stream that decodes id by id, after the ids of `prefill`, which it does not give.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> stream = tok.decode_stream(prefill=[1])
        >>> stream.step(2)
        ' b'
        """
        ids = id_list(prefill, "prefill")
        return DecodeStream(self._core.decode_stream([ids], skip_special_tokens, clean_up))

    def decode_streams(
        self,
        prefills: Sequence[hints.Ids],
        *,
        skip_special_tokens: bool = True,
        clean_up: bool | None = None,
    ) -> DecodeStreams:
        """Return streams for several sequences, one after each of `prefills` (which may be empty)."""
        given = listed(prefills, "prefills", "ids")
        rows = [id_list(row, f"prefills[{i}]") for i, row in enumerate(given)]
        return DecodeStreams(self._core.decode_stream(rows, skip_special_tokens, clean_up))

    # ---- vocabulary

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, None for what is not in the vocabulary."""
        return self._core.token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, None for an id that stands for nothing."""
        return self._core.id_to_token(id) if 0 <= id < 2**32 else None

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the vocabulary as token -> id."""
        return self._core.vocab(with_added_tokens)

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens in the vocabulary."""
        return self._core.vocab_size(with_added_tokens)

    @property
    def added_tokens(self) -> tuple[pw.spec.AddedToken, ...]:
        """The tokens that are found whole in the text, special or not."""
        return self.spec.added_tokens

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The special tokens by their customary roles: `unk_token`, `cls_token`, `mask_token`, ...

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.special_tokens_map
        {'unk_token': '[UNK]'}
        """
        special = [token.content for token in self.added_tokens if token.special]
        roles = {role: name for role, names in _ROLES.items() for name in names if name in special}
        unk_token = getattr(self.spec.model, "unk_token", None)
        return {**({"unk_token": unk_token} if unk_token else {}), **roles}

    def memory(self) -> hints.Memory:
        """Return what the tokenizer takes in memory: `tables`, `caches` of a thread, and their `budget`.

        What a text takes while it is encoded comes on top.
        """
        from piecework._internal.memory import Memory

        return Memory(*self._core.memory())

    # ---- specification and files

    @cached_property
    def spec(self) -> pw.TokenizerSpec:
        """The whole tokenizer as data."""
        from dataclasses import replace

        from piecework.spec import TokenizerSpec

        spec = TokenizerSpec.from_json(self._core.to_json(False), self._functions)
        return replace(spec, special_in_text=self._special_in_text)

    def to_json(self, *, pretty: bool = True) -> str:
        """Return the text of a portable `tokenizer.json`: other libraries read it and give the same ids.

        Stages of SentencePiece become components that `tokenizers` has. Raises `PortabilityError` where
        none gives the same ids, with the field and a format that keeps it, and `StageError` for custom
        stages. Warns with `PortabilityWarning` for a SentencePiece Unigram model: its sums are of 32 bits,
        those of a `tokenizer.json` of 64, so another of several segmentations that tie may be chosen.
        """
        from piecework.spec import SentencePiece
        from piecework.spec.portable import portable_spec

        spec = self.spec
        portable = portable_spec(spec)
        if portable is spec:
            return self._core.to_json(pretty)
        if isinstance(spec.model, SentencePiece) and spec.model.kind == "unigram":
            import warnings

            from piecework.errors import PortabilityWarning

            message = (
                "a tokenizer.json sums scores in 64 bits, SentencePiece in 32: where segmentations tie, "
                "ids can differ; a .model file keeps them"
            )
            warnings.warn(message, PortabilityWarning, stacklevel=2)
        return _compiled(portable.to_core()[0], ()).to_json(pretty)

    def save(self, path: PathLike, *, merges: PathLike | None = None) -> None:
        """Write a tokenizer file, whole or not at all; the name decides the format.

        - `.txt`: a `vocab.txt`; the vocabulary only.
        - `.tiktoken`: ranks, for byte-level BPE whose merges are those that the ids as ranks stand for;
          pattern and special tokens are not in the file.
        - `.model`: SentencePiece's, for a tokenizer made of its stages alone; `.vocab`: its pieces with
          their scores.
        - any name with `merges`, or an existing directory: `vocab.json` and `merges.txt`, the model only.
        - `.pwc`: a compiled cache.
        - `.piecework`: everything but custom stages, for this library alone.
        - `.json`, or a name without suffix: a `tokenizer.json`, which is portable: see `to_json`.

        Raises `ArgumentError` for any other suffix and for a directory that does not exist, `FileError`,
        `VocabularyError` when the format cannot hold the vocabulary, `PortabilityError` when other
        libraries would give other ids, and `StageError` for custom stages, which no file holds.
        """
        from piecework.io.saving import save_tokenizer

        save_tokenizer(self, path, merges)

    # ---- being a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self._content == other._content

    def __hash__(self) -> int:
        # Without the functions: not all can be hashed, and their names are in the text.
        return hash((self._core.to_json(False), self._special_in_text))

    def __copy__(self) -> Tokenizer:
        return self  # a tokenizer never changes

    def __deepcopy__(self, memo: Mapping[int, typing.Any]) -> Tokenizer:
        return self

    def __reduce__(self) -> tuple[typing.Any, ...]:
        budget = self._core.cache_budget
        if not self._functions:
            text = self._core.to_json(False)
            return _restored, (type(self), text, self._special_in_text, budget)
        # The stages pickle their functions, and say so where one cannot be.
        return _restored_from_spec, (type(self), self.spec, budget)

    def __repr__(self) -> str:
        from piecework.spec.custom import CustomStage

        spec = self.spec
        stages = (
            spec.normalizer,
            spec.pre_tokenizer,
            spec.model,
            spec.post_processor,
            spec.decoder,
        )
        names = " -> ".join(
            repr(stage) if isinstance(stage, CustomStage) else type(stage).__name__
            for stage in stages
            if stage is not None
        )
        return f"Tokenizer({names}, {self.get_vocab_size()} tokens)"

    @cached_property
    def _filling(self) -> Filling:
        return self._core.filling(_ROLES["pad_token"])

    @property
    def _content(self) -> tuple[typing.Any, ...]:
        return self._core.to_json(False), self._functions, self._special_in_text

    def _derived(self, spec: pw.TokenizerSpec) -> Tokenizer:
        """Compile a specification that was made from this tokenizer's, with the same settings.

        Settings that no specification holds, such as the cache budget, are carried over here alone.
        """
        return _restored_from_spec(type(self), spec, self._core.cache_budget)

    @classmethod
    def _of(
        cls,
        core: Core,
        special_in_text: pw.spec.SpecialInText = "parse",
        functions: Sequence[Callable[[str], typing.Any]] = (),
    ) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        tokenizer._hold(core, special_in_text, functions)
        return tokenizer

    def _hold(
        self,
        core: Core,
        special_in_text: pw.spec.SpecialInText,
        functions: Sequence[Callable[[str], typing.Any]],
    ) -> None:
        self._core, self._functions = core, tuple(functions)
        self._special_in_text: pw.spec.SpecialInText = special_in_text
        is_plain = core.is_plain and not functions and special_in_text != "refuse"
        self._encode_by(core if is_plain else None, special_in_text == "parse")

    def _encode_otherwise(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None,
        *,
        add_special_tokens: bool,
        is_pretokenized: bool,
        parse_special: bool | Collection[str] | None,
        sampling: pw.Sampling | None,
    ) -> Encoding:
        return self._encoded(
            text,
            pair,
            add_special_tokens=add_special_tokens,
            is_pretokenized=is_pretokenized,
            parse_special=self._selected(parse_special, [text] if pair is None else [text, pair]),
            sampling=self._drawn(sampling),
        )

    def _encoded(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None,
        *,
        add_special_tokens: bool,
        is_pretokenized: bool,
        parse_special: Sequence[int] | None,
        sampling: hints.Drawn | None,
    ) -> Encoding:
        raw = self._core.encode(
            text,
            pair,
            add_special_tokens=add_special_tokens,
            is_pretokenized=is_pretokenized,
            parse_special=parse_special,
            sampling=sampling,
        )
        return Encoding.of(raw, text, pair)

    def _drawn(self, sampling: pw.Sampling | None) -> hints.Drawn | None:
        """Say what to draw segmentations with, None for the one segmentation."""
        if sampling is None and not self._core.dropout:
            return None
        from piecework.sampling import resolved

        return resolved(sampling, self._core.dropout, self._core.scores_segmentations)

    def _selected(
        self,
        parse_special: bool | Collection[str] | None,
        *texts: Iterable[typing.Any] | TextColumn,
    ) -> list[int] | None:
        """Return the ids of the special tokens to recognise; None stands for all.

        Where the tokenizer refuses them, they are sought in the texts.
        """
        if parse_special is None:
            if self._special_in_text == "refuse":
                for rows in texts:
                    self._refuse_special(rows)
            parse_special = self._special_in_text == "parse"
        if parse_special is True:
            return None
        if parse_special is False:
            return []
        if isinstance(parse_special, str) or not isinstance(parse_special, Collection):
            expected = "True, False or a collection of special tokens"
            raise InputTypeError("parse_special", type(parse_special).__name__, expected)
        special = {token.content: token.id for token in self.added_tokens if token.special}
        for token in parse_special:
            if token not in special:
                raise ArgumentError("parse_special", repr(token), "special tokens of the tokenizer")
        return [special[token] for token in parse_special]

    def _refuse_special(self, rows: Iterable[typing.Any] | TextColumn) -> None:
        """Raise `SpecialTokenError` for a special token in a text, or in a word of a list of words."""
        if not isinstance(rows, TextColumn):
            rows = [
                word for row in rows for word in (row if isinstance(row, (list, tuple)) else (row,))
            ]
        found = find_special(self._core, rows, None)
        if found is not None:
            token = self.id_to_token(found[1])
            expected = "parse_special=True, parse_special=False or a set of tokens"
            raise SpecialTokenError(
                "parse_special", f"the special token {token!r} in text", expected
            )


def _compiled(text: str, functions: Sequence[Callable[[str], typing.Any]]) -> Core:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        found = f"a lone surrogate at character {error.start}"
        raise FormatError("text", found, "text that UTF-8 can hold") from None
    return Core.from_json(data, "", functions)


def _restored(
    cls: type[Tokenizer], text: str, special_in_text: pw.spec.SpecialInText, cache_budget: int
) -> Tokenizer:
    core = _compiled(text, ()).with_word_cache_budget(cache_budget)
    return cls._of(core, special_in_text)


def _restored_from_spec(
    cls: type[Tokenizer], spec: pw.TokenizerSpec, cache_budget: int
) -> Tokenizer:
    return cls.from_spec(spec).with_word_cache_budget(cache_budget)
