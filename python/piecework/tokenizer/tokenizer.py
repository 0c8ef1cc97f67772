"""The tokenizer: load or train one, encode text into ids, decode ids, inspect its vocabulary, save it.

`Tokenizer` is a thin wrapper over a compiled core: each method checks its arguments and calls a function of
the folder that does the work (`io`, `train`, `vocabulary`, `rows`) or a method of the core. What is about one
kind of model or one task is `function(tokenizer, ...)` in `lattice`, `vocabulary`, `chat` and `stages`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeVar

from piecework._internal._core import Core, RawPrompts, TextColumn, decode_bytes, token_bytes
from piecework._internal.names_of_other_libraries import (
    WithForeignNames,
    add_foreign_names,
    hides_keywords,
    immutable_error,
    many_texts,
    reject_keywords,
)
from piecework._internal.role_attributes import RoleId, RoleToken
from piecework._internal.surrogates import first_surrogate
from piecework._internal.text_columns import split_pairs, text_rows
from piecework._internal.threads import thread_count
from piecework._internal.validation import (
    PathLike,
    check_bytes,
    check_choice,
    check_size,
    check_stage,
    check_text,
    check_tokenizer,
    check_type,
    id_list,
    listed,
)
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, FormatError, InputTypeError, PortabilityWarning
from piecework.io import stored_lengths
from piecework.io.folder_config import read_config, templates_with
from piecework.io.folder_settings import (
    DEFAULT_TEMPLATE,
    NO_SETTINGS,
    FolderSettings,
    checked_roles,
    declared_with_new,
    role_tokens,
    tokens_without_role,
)
from piecework.io.format_detection import TOKENIZER_JSON, detect_format, file_format
from piecework.io.format_readers import compile_ranks, warned
from piecework.io.gguf_files import settings_of_gguf, settings_of_gguf_path
from piecework.io.load_options import LoadOptions
from piecework.io.loading import read_tokenizer, read_tokenizer_bytes
from piecework.io.names import resolve_name
from piecework.io.source_bytes import files_of_directory, gunzipped
from piecework.tokenizer.batch import Batch, Filling
from piecework.tokenizer.decode_stream import DecodeStream
from piecework.tokenizer.encoding import Encoding
from piecework.tokenizer.special_tokens import checked_parse_special, refuse_special, special_ids

if TYPE_CHECKING:
    from piecework._internal.array_types import Ids, Texts
    from piecework._internal.types import Progress, Self, Unpack
    from piecework.spec import (
        AddedToken,
        Decoder,
        Model,
        Normalizer,
        Padding,
        ParseSpecial,
        PostProcessor,
        PreTokenizer,
        TokenizerSpec,
        Truncation,
    )
    from piecework.tokenizer.sampling import Sampling, SeededSampling
    from piecework.tokenizer.segments import SegmentedEncoding
    from piecework.train import Counts, RetrainSettings, Trainer, TrainOptions
    from piecework.train.plan import Plan


AnyTokenizer = TypeVar("AnyTokenizer", bound="Tokenizer")


class Memory(NamedTuple):
    """Memory use of a tokenizer in bytes.

    `tables` exist once. `caches` is the size of the word caches now, for each thread that encodes; it
    never exceeds `budget`.
    """

    tables: int
    caches: int
    budget: int


class Tokenizer(metaclass=WithForeignNames):
    """Turn text into subword ids and back.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)
    >>> tok.encode("Hugs!").tokens
    ['[CLS]', 'hugs', '[UNK]', '[SEP]']

    A tokenizer is immutable: `with_...` methods return a new one, and setting an attribute raises
    `ImmutableError`. Any number of threads can share it. It survives fork, pickles, and compares and hashes
    by content.
    """

    _core: Core
    _functions: tuple[Callable[[str], Any], ...]
    _parse_special: ParseSpecial
    _settings: FolderSettings
    _all_roles: dict[str, str] | None
    _spec: TokenizerSpec | None
    _fingerprint: str | None
    _filling: Filling | None
    _prompts: RawPrompts | None
    _encode_text: Callable[[str, bool, bool], Encoding] | None
    _dropout: float | None

    # ---- make one

    def __init__(
        self,
        model: Model,
        *,
        normalizer: Normalizer | None = None,
        pre_tokenizer: PreTokenizer | None = None,
        post_processor: PostProcessor | None = None,
        decoder: Decoder | None = None,
        added_tokens: Sequence[AddedToken] = (),
        truncation: Truncation | None = None,
        padding: Padding | None = None,
        parse_special: ParseSpecial = True,
    ) -> None:
        from piecework.spec import TokenizerSpec

        if isinstance(model, str | bytes):
            problem = f"must be a spec.Model, not {type(model).__name__}"
            raise InputTypeError("model", problem, hint="Tokenizer.load reads a file")
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
        self._set(_compiled(text, functions), checked_parse_special(parse_special), functions)

    @classmethod
    @hides_keywords
    def load(
        cls,
        path: PathLike,
        *,
        lowercase: bool | None = None,
        merges: PathLike | None = None,
        encoding_name: str | None = None,
        pattern: str | tuple[str, ...] | None = None,
        special_tokens: Mapping[str, int] | Collection[str] | None = None,
        compiled_cache: bool | PathLike = False,
        download: bool = False,
        revision: str | None = None,
        **unknown: NoReturn,
    ) -> Self:
        """Load a tokenizer from a file of any format, from a folder, or by its name.

        >>> import pathlib, tempfile
        >>> import piecework as pw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "vocab.txt"
        >>> _ = path.write_text("[UNK]\\nhug\\n##s\\n")
        >>> pw.Tokenizer.load(path).encode("Hugs").tokens
        ['hug', '##s']

        `path` is one of these; a path that exists wins:

        - a file; its content, gzipped or not, decides the format.
        - a folder, as transformers and `save` write it. Its `tokenizer.json` is read, or its
          `tokenizer.model`, `vocab.txt`, `vocab.json` with `merges.txt`, or `tekken.json`.
        - an encoding such as "cl100k_base" or a model of OpenAI such as "gpt-4o", whose ranks are in the
          cache of tiktoken or in the folder that PIECEWORK_TIKTOKEN_DIR names.
        - a repository of the Hugging Face hub, "org/name", in the local cache. `download=True` fetches its
          tokenizer files (extra `hub`); `revision` names a branch, a tag or a commit.

        The formats of files:

        - `tokenizer.json`, `tekken.json`, SentencePiece `.model` and CLIP's `bpe_simple_vocab_16e6.txt` are
          complete.
        - BERT's `vocab.txt` lacks the letter case: `lowercase=None` lowercases text if no entry outside
          brackets has an ASCII capital.
        - `vocab.json` needs its `merges.txt` (`encoder.json` its `vocab.bpe`): pass `merges=`, or the
          folder of both. The entries identify the pipelines of GPT-2, GPT and CLIP. `pattern` (a name of
          `spec.NAMED_PATTERNS` or regular expressions) selects another one. `special_tokens` names the
          special entries; by default all in `<...>` that no merge produces and that do not end in `</w>`.
        - `.tiktoken` ranks have neither pattern nor special tokens. Pass `encoding_name`, one of
          `spec.ENCODINGS`, and the file must have its published SHA-256; or pass `pattern` and
          `special_tokens` with ids.
        - `.gguf` files contain the tokenizer that llama.cpp uses, the roles of its special tokens and chat
          templates. Their tensors are not read. `pattern` replaces the pre-tokenizer of a byte-level model,
          and `lowercase` the letter case of a BERT model.
        - `.piecework` files and `.pwc` compiled caches, which `save` writes, are complete. A compiled cache
          under another suffix needs `compiled_cache=True`.

        `compiled_cache=True` keeps the compiled tables in a file beside the source with the suffix `.pwc`;
        a path keeps them there. Later calls read that file as long as source, settings and library version
        are the same. If it cannot be written, the source is read each time. Trust a compiled cache as much as
        a tokenizer file: it decides the ids.

        Roles of special tokens, `model_max_length`, sides and chat templates come from files in the same
        folder: `tokenizer_config.json`, `special_tokens_map.json` and `.jinja` files. When a folder is
        loaded, they also decide about added tokens and the settings of a `vocab.txt` or a `.model`. Code in a
        folder is never run. A GGUF file contains its roles and chat templates.

        When a folder is loaded, truncation and padding stored in its `tokenizer.json` are kept but not
        applied, as in transformers; `with_truncation()` and `with_padding("stored")` apply them. A single
        `tokenizer.json` applies them to every text, as in `tokenizers`, and warns.

        A tokenizer from ranks has `parse_special="refuse"`, as in tiktoken, and one from `tekken.json` has
        `parse_special=False`. See `encode`.

        Raises `FileError`, `FormatError` with field or line, `VocabularyError`, and `ArgumentError` for an
        option that the format needs or does not support. Warns with `FormatWarning` about probable mistakes
        in the file, truncation and padding of a single file, and roles whose token does not exist.
        """
        if unknown:
            reject_keywords(Tokenizer.load, unknown)
        options = LoadOptions(lowercase, merges, encoding_name, pattern, special_tokens)
        source, options = resolve_name(path, options, download=download, revision=revision)
        # A configuration beside a GGUF file may belong to another file.
        config = None if source.endswith(".gguf") else read_config(source)
        file, options = files_of_directory(source, options)
        settings = NO_SETTINGS
        if config is None:
            core, parse_special = read_tokenizer(file, options, compiled_cache)
        else:
            from piecework.io.folders import configured, folder_options

            options = folder_options(config, options, file)
            core, parse_special = read_tokenizer(file, options, compiled_cache)
            core, parse_special, settings = configured(core, parse_special, config, file)
        if not core.is_plain:
            if file != source:
                core, settings = stored_lengths.lengths_of_folder(core, settings)
            elif file_format(file) == TOKENIZER_JSON:
                stored_lengths.warn_of_lengths(core, file)
        tokenizer = cls._of(core, parse_special)
        in_file = settings_of_gguf_path(file)
        tokenizer._settings = settings if in_file is None else settings.replace(**in_file)
        return tokenizer

    @classmethod
    @hides_keywords
    def from_bytes(
        cls,
        data: bytes,
        *,
        format: str | None = None,
        source: str = "data",
        lowercase: bool | None = None,
        encoding_name: str | None = None,
        pattern: str | tuple[str, ...] | None = None,
        special_tokens: Mapping[str, int] | Collection[str] | None = None,
        **unknown: NoReturn,
    ) -> Self:
        """Load a tokenizer file that is already in memory; the content, gzipped or not, decides the format.

        >>> import piecework as pw
        >>> pw.Tokenizer.from_bytes(b"[UNK]\\nhug\\n##s\\n").encode("Hugs").tokens
        ['hug', '##s']

        `format` requires one format, by the name that `piecework.io.format_detection.file_format` returns,
        such as "SentencePiece .model". `source` names the data in errors. `load` describes the other
        settings. Only `load` reads compiled caches, and a `vocab.json`, which needs a second file.

        Raises the errors of `load`, and `InputTypeError` for data other than bytes.
        """
        if unknown:
            reject_keywords(Tokenizer.from_bytes, unknown)
        check_text("source", source)
        options = LoadOptions(lowercase, None, encoding_name, pattern, special_tokens)
        tokenizer = cls._of(*read_tokenizer_bytes(data, source, options, format))
        if not tokenizer._core.is_plain:
            found = format or detect_format(gunzipped(data, source), options)
            if found == TOKENIZER_JSON:
                stored_lengths.warn_of_lengths(tokenizer._core, source)
        settings = settings_of_gguf(data, source)
        return tokenizer if settings is None else tokenizer._variant(**settings)

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str | tuple[str, ...] | PreTokenizer,
        special_tokens: Mapping[str, int] | None = None,
        source: str = "ranks",
    ) -> Self:
        r"""Compile byte-level BPE from tiktoken ranks: a mapping from the bytes of each token to its id.

        >>> import piecework as pw
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"in": 256, b"ing": 257}
        >>> tok = pw.Tokenizer.from_ranks(ranks, pattern=r"\w+|\W+", special_tokens={"<|end|>": 258})
        >>> tok.encode("being").ids
        [98, 101, 257]

        `pattern` is a name of `spec.NAMED_PATTERNS`, regular expressions in the syntax of `tokenizer.json`,
        or a byte-level pre-tokenizer. As in tiktoken, the tokenizer refuses special tokens in text: its
        `parse_special` is "refuse". `source` names the ranks in errors.

        Raises `FormatError` with the position of an invalid rank, and `VocabularyError`.
        """
        return cls._of(compile_ranks(ranks, pattern, special_tokens or {}, source), "refuse")

    @classmethod
    def from_spec(cls, spec: TokenizerSpec, *, like: Tokenizer | None = None) -> Self:
        """Compile a specification.

        >>> import piecework as pw
        >>> spec = pw.TokenizerSpec(model=pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> pw.Tokenizer.from_spec(spec).encode("ab").ids
        [1, 0]

        A specification has no roles, `model_max_length`, chat templates or word cache budget. The tokenizer
        `like` supplies them, for a specification that was made from `like.spec`.
        """
        from piecework.spec.tokenizer_spec import checked_spec

        if like is not None:
            check_tokenizer(like, "like")
        text, functions = checked_spec(spec).to_core()
        parse_special = checked_parse_special(spec.parse_special)
        tokenizer = cls._of(_compiled(text, functions), parse_special, functions)
        return tokenizer if like is None else tokenizer._with_settings_of(like)

    @classmethod
    def from_str(cls, text: str) -> Self:
        """Compile the text of a `tokenizer.json`.

        >>> import piecework as pw
        >>> text = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).to_str()
        >>> pw.Tokenizer.from_str(text).encode("hug").ids
        [1]

        Raises `FormatError` with the field, and `VocabularyError`. Warns with `FormatWarning` about probable
        mistakes in the text, and about truncation and padding, which apply to every text.
        """
        check_type("text", text, str, "str")
        core = warned(_compiled(text, ()), b"", "text", "document")
        if not core.is_plain:
            stored_lengths.warn_of_lengths(core, "text")
        return cls._of(core)

    # ---- train

    @classmethod
    def train(
        cls,
        files: PathLike | Sequence[PathLike],
        trainer: Trainer | None = None,
        *,
        field: str | None = None,
        encoding_errors: Literal["replace", "strict"] = "replace",
        on_error: Literal["fail", "skip"] = "fail",
        **options: Unpack[TrainOptions],
    ) -> Self:
        """Train a tokenizer on files.

        >>> import pathlib, tempfile
        >>> import piecework as pw
        >>> corpus = pathlib.Path(tempfile.mkdtemp()) / "corpus.txt"
        >>> _ = corpus.write_text("hug hugs pug pun bun\\n" * 5)
        >>> tok = pw.Tokenizer.train(corpus, model="bpe", vocab_size=14)
        >>> tok.encode("hugs").tokens
        ['▁hug', 's']

        `files` are paths of text or of a format with fields (`corpus.FORMATS`), also compressed; a folder
        stands for its files, a pattern such as `"data/**/*.txt"` for the files it matches, `-` for stdin.
        `field` is the text field of JSON lines or the column ("text" by default; dots for nested fields);
        with it, stdin is read as JSON lines. `encoding_errors="strict"` raises for invalid UTF-8 instead of
        replacing it. `on_error="skip"` skips and counts lines and files with errors. `corpus.read_corpus`
        has the details.

        The options, which `train_from_iterator` and `train_from_counts` take too, are settings of the
        trainer, such as `vocab_size` and `min_frequency`, and:

        - `model` (str): "wordpiece", "bpe", "byte-bpe", "unigram", "sentencepiece", "word" or "char"; by
          default the model of the preset, or "wordpiece". Pass either `trainer` or a model and settings.
        - `preset` (str, `train.Preset` or `train.SentencePiecePreset`): the pipeline around the model, such
          as "bert-uncased" (see `train.PRESETS`); one with which the model would lose text is refused. The
          SentencePiece presets "t5", "llama", "albert" and "xlnet" name settings of `SentencePieceTrainer`;
          `model` can select another of its types.
        - `num_threads` (int): by default one for each CPU. The result does not depend on it.
        - `progress` (bool or function): True shows a bar on a terminal and prints a line every 30 seconds
          elsewhere; a function is called with how much of the counting, and then of the learning, is done,
          and the total.
        - `memory` (int or str): the budget of learning besides the counts, such as "2GB", by default a
          quarter of the memory of the machine; if more is needed, rare words are dropped with a
          `TrainingWarning`.
        - `checkpoint` (path): a folder from which an interrupted run continues (see `train.learn_spec`).
        - `boundaries` (path, mapping or function): boundaries inside words that no entry crosses (see
          `Counts.with_boundaries`); or `boundary_marker` (str), which stands in the text at boundaries (see
          `Counts.with_boundary_marker`).

        Raises `FileError`, `CorpusError`, `TrainingError`, `MemoryLimitError` and `ArgumentError`.
        """
        from piecework.train.plan import Plan

        plan = Plan.of(trainer, **options)
        spec = plan.learn_from_files(
            files, field=field, encoding_errors=encoding_errors, on_error=on_error
        )
        return cls._trained(spec, plan)

    @classmethod
    def train_from_iterator(
        cls,
        texts: Iterable[str | Sequence[str]] | Mapping[str, int] | Texts,
        trainer: Trainer | None = None,
        **options: Unpack[TrainOptions],
    ) -> Self:
        """Train a tokenizer on an iterable or a column of texts; `train` lists the options.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.get_vocab_size()
        5

        An item can also be a list of texts, so an iterator of batches works. A mapping from words to counts,
        such as a `Counter`, is read as word counts, as in `train_from_counts`.

        >>> pw.Tokenizer.train_from_iterator({"be": 2, "to": 2, "or": 1}, model="word").get_vocab()
        {'[UNK]': 0, 'be': 1, 'to': 2, 'or': 3}
        """
        from piecework.train.plan import Plan

        plan = Plan.of(trainer, **options)
        return cls._trained(plan.learn_from_texts(texts), plan)

    @classmethod
    def train_from_counts(
        cls,
        counts: Counts | Mapping[str, int],
        trainer: Trainer | None = None,
        **options: Unpack[TrainOptions],
    ) -> Self:
        """Train a tokenizer on word counts; `train` lists the options.

        >>> import piecework as pw
        >>> counts = pw.count_texts(["to be or", "not to be"], preset="punctuation")
        >>> tok = pw.Tokenizer.train_from_counts(counts, model="word")
        >>> sorted(tok.get_vocab())
        ['[UNK]', 'be', 'not', 'or', 'to']

        Counts of shards add up with `+`, so a corpus can be counted on many machines. `counts` can also be a
        mapping from words, as the pipeline makes them, to counts. Without `preset`, the
        tokenizer gets the pipeline that made the counts; without `model` too, the model of the preset that
        made them, such as "byte-bpe" for bytes. Counts made for WordPiece also train "unigram" and "bpe",
        which then decode with a space between all tokens. Counts whose words the model cannot have raise
        `ArgumentError`.
        """
        from piecework.train.plan import Plan

        plan = Plan.of(trainer, counted=getattr(counts, "pipeline", None), **options)
        return cls._trained(plan.learn_from_counts(counts), plan)

    @classmethod
    def _trained(cls, spec: TokenizerSpec, plan: Plan) -> Self:
        tokenizer = cls.from_spec(spec)
        return tokenizer.with_roles(**plan.roles_in(tokenizer.get_vocab()))

    def train_new_from_iterator(
        self,
        texts: Iterable[str | Sequence[str]] | Mapping[str, int],
        vocab_size: int,
        *,
        num_threads: int | None = None,
        progress: Progress = None,
        **settings: Unpack[RetrainSettings],
    ) -> Self:
        """Train a new vocabulary with the pipeline, the model type and the special tokens of this tokenizer.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=19)
        >>> tok.train_new_from_iterator(["pun puns bun"] * 9, vocab_size=19).encode("puns").tokens
        ['[CLS]', 'puns', '[SEP]']

        `texts` is what `train_from_iterator` takes. `settings` are fields of the trainer of the model type,
        except fields that the tokenizer determines.
        """
        from piecework.train.relearn import counts_for, relearn_spec

        spec = self.spec
        counts = counts_for(spec, texts, num_threads=num_threads, progress=progress, name="texts")
        learned = relearn_spec(
            spec, counts, vocab_size, settings, num_threads=num_threads, progress=progress
        )
        return type(self).from_spec(learned, like=self)

    # ---- text to ids

    @hides_keywords
    def encode(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
        sampling: Sampling | None = None,
        # Names of transformers, which only raise. Calls would be slower with `**unknown` (7 %) or
        # keyword-only arguments (a fifth), so the arguments are in the order of `tokenizers`.
        padding: None = None,
        truncation: None = None,
        max_length: None = None,
        return_tensors: None = None,
    ) -> Encoding:
        """Encode one text, or a text and its pair.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
        >>> encoding = tok.encode("hugs")
        >>> encoding.ids, encoding.tokens, encoding.offsets
        ([1, 2], ['hug', '##s'], [(0, 3), (3, 4)])

        `add_special_tokens` applies the post-processor, for instance `[CLS]` and `[SEP]`.

        With `is_pretokenized`, text and pair are sequences of words. Each word is normalized and split
        further; `word_ids` count the words given, and offsets start at 0 in each word.

        `parse_special` says which special tokens are parsed if they appear in the text: all (True,
        as in `tokenizers`), none (False, the safe choice for untrusted text), or a collection of tokens.
        "refuse" raises `SpecialTokenError` if the text contains one. None is the `parse_special` of the
        tokenizer: True for most, "refuse" for tokenizers from `.tiktoken` ranks.

        `sampling` draws the segmentation of a BPE or Unigram model at random. A BPE model with `dropout`
        always draws, with a new seed each time, unless `Sampling(dropout=0)` is given.

        The arguments have the same order as in `tokenizers`, in `encode_batch` too.

        Offsets count characters of the original text. Raises `InputTypeError` unless the text is a string
        (or, with `is_pretokenized`, a sequence of strings).
        """
        encode_text = self._encode_text
        if (
            encode_text is not None
            and pair is None
            and (parse_special is None or parse_special is True or parse_special is False)
            and sampling is None
            and padding is None  # type: ignore[redundant-expr]
            and truncation is None  # type: ignore[redundant-expr]
            and max_length is None  # type: ignore[redundant-expr]
            and return_tensors is None  # type: ignore[redundant-expr]
            and not is_pretokenized
        ):
            parsed = self._parse_special if parse_special is None else parse_special
            try:
                return encode_text(text, add_special_tokens, parsed)  # type: ignore[arg-type]
            except InputTypeError:
                if isinstance(text, list | tuple):
                    raise many_texts(text) from None
                raise
        names = ("padding", "truncation", "max_length", "return_tensors")
        values: tuple[object, ...] = (padding, truncation, max_length, return_tensors)
        if given := [name for name, value in zip(names, values, strict=True) if value is not None]:
            reject_keywords(Tokenizer.encode, given)
        if isinstance(text, list | tuple) and not is_pretokenized:
            raise many_texts(text)
        return self._core.encode(
            text,
            pair,
            add_special_tokens=add_special_tokens,
            is_pretokenized=is_pretokenized,
            parse_special=self._recognized(parse_special, [text] if pair is None else [text, pair]),
            sampling=self._drawn(sampling),
        )

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without the tokens that the post-processor and padding add.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=24)
        >>> tok.tokenize("Hugs pun!")
        ['hugs', 'pun', '[UNK]']

        They are the tokens that transformers returns: `encode(text, add_special_tokens=False).tokens`, except
        that an unknown piece of a SentencePiece or Unigram model is its normalized text, as in `pieces`.
        """
        encoding = self.encode(text, add_special_tokens=False)
        tokens, pieces = encoding.tokens, encoding.pieces
        if pieces != tokens:  # unknown tokens; the specification has the whole vocabulary
            from piecework.spec import SentencePiece, Unigram

            if isinstance(self.spec.model, SentencePiece | Unigram):
                tokens = pieces
        if self._core.is_plain:
            return tokens
        mask = encoding.attention_mask
        return [token for token, is_kept in zip(tokens, mask, strict=True) if is_kept]

    @hides_keywords
    def encode_batch(
        self,
        texts: Texts | Sequence[Sequence[str]] | Sequence[tuple[str, str]],
        pairs: Texts | Sequence[Sequence[str]] | None = None,
        *,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
        sampling: Sampling | None = None,
        offsets: bool | Literal["chars", "bytes", "utf16"] = False,
        overflow: bool = False,
        num_threads: int | None = None,
        **unknown: NoReturn,
    ) -> Batch:
        """Encode many texts into flat columns, on `num_threads` threads (None: one for each CPU).

        `encode` describes the other settings. `texts` is a sequence of strings, or a column that is
        read without a copy: Arrow strings (also `large` strings and string views) of pyarrow, polars and
        other libraries with the Arrow PyCapsule interface, or a numpy array of UTF-8 bytes.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> tok.encode_batch(["ab", "b"]).to_lists()
        [[1, 2], [2]]

        Pairs are tuples, or a second sequence `pairs`.

        >>> tok.encode_batch([("ab", "b"), ("a", "a")]).to_lists()
        [[1, 2, 2], [1, 1]]

        `offsets=True` also keeps the columns `offsets`, `word_ids`, `sequence_ids` and
        `special_tokens_mask`, in the units of `encode`. `offsets="bytes"` counts bytes of UTF-8 instead of
        characters, and `offsets="utf16"` UTF-16 code units.

        >>> batch = tok.encode_batch(["ab", "b"], offsets=True)
        >>> batch.offsets.tolist(), batch.word_ids.tolist()
        ([[0, 1], [1, 2], [0, 1]], [0, 0, 0])
        >>> tok.encode_batch(["éb"], offsets="bytes").offsets.tolist()
        [[0, 2], [2, 3]]

        With truncation, a batch has one row for each text and **drops the rest of a long text**.
        `overflow` makes a row of every window: first the window of `encode`, then its
        `overflowing` windows. `overflow_to_sample_mapping` has the index of the text of each row.

        >>> short = tok.with_truncation(2, stride=1)
        >>> windows = short.encode_batch(["abab", "b"], overflow=True)
        >>> windows.to_lists(), windows.overflow_to_sample_mapping.tolist()
        ([[1, 2], [2, 1], [1, 2], [2]], [0, 0, 0, 1])

        Raises `InputTypeError` with the index of an item that is null or not a string, and
        `InvalidUtf8Error` for bytes that are not UTF-8.
        """
        if unknown:
            reject_keywords(Tokenizer.encode_batch, unknown)
        if not isinstance(offsets, bool):
            check_choice("offsets", offsets, ("chars", "bytes", "utf16"))
        if pairs is None:
            texts, pairs = split_pairs(texts, is_pretokenized)
        rows_of: Callable[[Any, str], Any] = listed if is_pretokenized else text_rows
        first = rows_of(texts, "texts")
        second = None if pairs is None else rows_of(pairs, "pairs")
        raw = self._core.encode_batch(
            first,
            second,
            add_special_tokens=add_special_tokens,
            is_pretokenized=is_pretokenized,
            parse_special=self._recognized(parse_special, first, second or ()),
            sampling=self._drawn(sampling),
            offsets=bool(offsets),
            overflow=overflow,
            num_threads=thread_count(num_threads),
        )
        if offsets in ("bytes", "utf16"):
            from piecework.tokenizer.offset_units import in_unit

            raw = in_unit(raw, first, second, offsets, is_pretokenized)
        if self._filling is None:
            self._filling = stored_lengths.filling_of(self._core, self._settings)
        return Batch(raw, self._core.id_to_token, self._filling)

    def count(
        self,
        text: str,
        *,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
        sampling: Sampling | None = None,
    ) -> int:
        """Count the tokens of a text: the length of its encoding before padding.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})).count("abba")
        4
        """
        return self.count_batch(
            [text],
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            sampling=sampling,
            num_threads=1,
        )[0]

    def count_batch(
        self,
        texts: Texts,
        *,
        add_special_tokens: bool = True,
        parse_special: bool | Collection[str] | None = None,
        sampling: Sampling | None = None,
        num_threads: int | None = None,
    ) -> list[int]:
        """Count the tokens of each text without storing ids.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> tok.count_batch(["ab", "a"])
        [2, 1]

        Returns the length of each encoding before padding. `encode_batch` describes settings and errors.
        """
        rows = text_rows(texts)
        return self._core.count_batch(
            rows,
            add_special_tokens=add_special_tokens,
            parse_special=self._recognized(parse_special, rows),
            sampling=self._drawn(sampling),
            num_threads=thread_count(num_threads),
        )

    # ---- prompts

    def encode_segments(
        self,
        segments: Sequence[tuple[str, bool]],
        *,
        add_special_tokens: bool = False,
        markers: Collection[str] | None = None,
    ) -> SegmentedEncoding:
        """Encode the segments of one text; each says whether it may contain special tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=40)
        >>> user = "be [SEP]"
        >>> result = tok.encode_segments([("[CLS]", True), (user, False), ("[SEP]", True)])
        >>> result.encoding.tokens.count("[SEP]"), result.token_spans[0]
        (1, (0, 1))

        `segments` are `(text, allow_special)` pairs. The result is the encoding of the concatenated texts,
        with one difference: special tokens and markers match only inside one segment that allows them. What
        looks like one in another segment, or across the border of two segments, is plain text. Normalizer,
        pre-tokenizer and model ignore borders, so a token can have characters of two segments.

        Special tokens that are not added tokens count too: tokens of a role or of the post-processor, control
        pieces of a SentencePiece model, and pieces of a Unigram model with a name such as `</s>`.

        `markers` are the added tokens that are guarded besides special ones, such as `<tool_call>`. None
        guards all added tokens except whitespace. Other added tokens match everywhere.

        `add_special_tokens` applies the post-processor. Truncation and padding apply as in `encode`;
        segmentations are never drawn at random.

        Raises `InputTypeError` for a segment of another type, `ArgumentError` for a lone surrogate, and
        `SpecialTokenError` if the model turns plain text into a special token of one character. Plain text
        that would become another special token is segmented without it, as in SentencePiece.
        """
        from piecework.tokenizer.segments import encode_segments

        return encode_segments(segments, self._prompts_with(markers), add_special_tokens)

    def _prompts_with(self, markers: Collection[str] | None) -> RawPrompts:
        """Return what encodes prompts; cache it if there are no markers."""
        from piecework.tokenizer.segments import prompts_of

        if markers is not None:
            return prompts_of(self._core, self._role_tokens().values(), markers)
        if self._prompts is None:
            self._prompts = prompts_of(self._core, self._role_tokens().values(), None)
        return self._prompts

    def normalize(self, text: str) -> str:
        """Apply the normalizer alone.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=pw.spec.Lowercase())
        >>> tok.normalize("Hug")
        'hug'
        """
        return self._core.normalize(text)

    def pre_tokenize(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Normalize and split a text; return each word with its character span in the original text.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.pre_tokenize("hug  hugs")
        [('hug', (0, 3)), ('hugs', (5, 9))]
        """
        return self._core.pre_tokenize(text)

    # ---- ids to text

    @hides_keywords
    def decode(
        self,
        ids: Ids,
        *,
        skip_special_tokens: bool = True,
        clean_up: bool | None = None,
        encoding_errors: Literal["replace", "ignore", "strict"] = "replace",
        **unknown: NoReturn,
    ) -> str:
        """Return the text of ids.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> pw.Tokenizer(model, decoder=pw.spec.WordPieceDecoder()).decode([1, 2, 1])
        'hugs hug'

        `clean_up` removes spaces before punctuation and in contractions; None follows the decoder. Ids that
        are not in the vocabulary are skipped.

        `encoding_errors` says what to do with bytes of byte-level models and byte tokens that are not
        UTF-8, as in `bytes.decode`: "replace" returns U+FFFD for them, "ignore" omits them, and "strict"
        raises `InvalidUtf8Error`.
        """
        if unknown:
            reject_keywords(Tokenizer.decode, unknown)
        ids = id_list(ids, "ids")
        text = self._core.decode(ids, skip_special_tokens, clean_up)
        if encoding_errors == "replace":
            return text
        from piecework.vocabulary.decoding import text_of_ids

        return text_of_ids(self, text, ids, skip_special_tokens, encoding_errors, "ids")

    def decode_bytes(self, ids: Ids) -> bytes:
        r"""Return the bytes of ids, special tokens included; they need not be UTF-8.

        >>> import piecework as pw
        >>> ranks = {bytes([byte]): byte for byte in range(256)}
        >>> pw.Tokenizer.from_ranks(ranks, pattern="gpt2").decode_bytes([0xE2, 0x82])
        b'\xe2\x82'

        The result is the concatenated `token_bytes`; the decoder is not applied. Raises `ArgumentError` for
        an id that is not in the vocabulary.
        """
        try:
            return decode_bytes(self._core, ids)  # type: ignore[arg-type]
        except (TypeError, OverflowError):
            # The core reads lists of int fastest. Other ids are converted, or the invalid one is named.
            return decode_bytes(self._core, id_list(ids, "ids"))

    @hides_keywords
    def decode_batch(
        self,
        batch: Batch | Sequence[Ids],
        *,
        skip_special_tokens: bool = True,
        clean_up: bool | None = None,
        encoding_errors: Literal["replace", "ignore", "strict"] = "replace",
        **unknown: NoReturn,
    ) -> list[str]:
        """Return the text of each row of a `Batch`, or of each list of ids.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, decoder=pw.spec.WordPieceDecoder())
        >>> tok.decode_batch([[1, 2], [1]])
        ['hugs', 'hug']

        `decode` describes the settings.
        """
        import numpy as np

        if unknown:
            reject_keywords(Tokenizer.decode_batch, unknown)
        if isinstance(batch, Batch):
            ids, row_offsets = batch.ids, batch.row_offsets
        else:
            lists = listed(batch, "batch", "lists of ids")
            rows = [id_list(row, f"batch[{i}]") for i, row in enumerate(lists)]
            ids = np.array([id for row in rows for id in row], np.uint32)
            row_offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        texts = self._core.decode_batch(ids, row_offsets, skip_special_tokens, clean_up)
        if encoding_errors == "replace":
            return texts
        rows = [row.tolist() for row in np.split(ids, row_offsets[1:-1])]
        from piecework.vocabulary.decoding import text_of_ids

        return [
            text_of_ids(self, text, row, skip_special_tokens, encoding_errors, f"batch[{i}]")
            for i, (text, row) in enumerate(zip(texts, rows, strict=False))
        ]

    def decode_stream(
        self,
        prefill: Ids = (),
        *,
        skip_special_tokens: bool = True,
        clean_up: bool | None = None,
        encoding_errors: Literal["replace", "ignore", "strict"] = "replace",
    ) -> DecodeStream:
        """Return a stream that decodes one id at a time.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> stream = tok.decode_stream(prefill=[1])
        >>> stream.step(2)
        ' b'

        `prefill` has the ids before the stream, such as a prompt. They are context; the stream does not
        return their text. `decode` describes the other arguments. A stream can be copied and pickled.
        """
        ids = id_list(prefill, "prefill")
        raw = self._core.decode_stream([ids], skip_special_tokens, clean_up)
        if encoding_errors == "replace":
            return DecodeStream(raw, self)
        from piecework.vocabulary.decoding import stream_errors

        errors = stream_errors(self, [ids], skip_special_tokens, encoding_errors)
        return DecodeStream(raw, self, errors)

    # ---- vocabulary

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, or None if it is not in the vocabulary.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).token_to_id("a")
        1
        """
        check_type("token", token, str, "str (id_to_token takes an id)")
        try:
            return self._core.token_to_id(token)
        except UnicodeEncodeError:  # no vocabulary contains a lone surrogate
            return None

    def id_to_token(self, id: int) -> str | None:
        """Return the token with an id, or None if no token has this id.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).id_to_token(1)
        'a'
        """
        if not hasattr(id, "__index__"):
            problem = f"must be int, not {type(id).__name__}; for a token call token_to_id"
            raise InputTypeError("id", problem)
        return self._core.id_to_token(id) if 0 <= id < 2**32 else None

    def token_bytes(self, id: int) -> bytes | None:
        r"""Return the bytes of the token with an id, or None if no token has this id.

        >>> import piecework as pw
        >>> ranks = {bytes([byte]): byte for byte in range(256)}
        >>> pw.Tokenizer.from_ranks(ranks, pattern="gpt2").token_bytes(0xE2)
        b'\xe2'

        Tokens of byte-level models are decoded to the bytes that they represent. Other tokens are encoded
        as UTF-8, with their word markers and prefixes.
        """
        try:
            return token_bytes(self._core, id)
        except OverflowError:
            return None
        except TypeError:
            raise InputTypeError("id", f"must be int, not {type(id).__name__}") from None

    @property
    def special_token_ids(self) -> frozenset[int]:
        """The ids that `decode` skips by default: special tokens, and control pieces of SentencePiece.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=20)
        >>> tok.token_to_id("[SEP]") in tok.special_token_ids, tok.token_to_id("be") in tok.special_token_ids
        (True, False)
        """
        from piecework.vocabulary.decoding import special_ids

        return frozenset(special_ids(self.spec, self.get_vocab()))

    @property
    def fingerprint(self) -> str:
        """A checksum of everything that affects ids, as 64 hexadecimal digits.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.fingerprint[:16], tok.with_truncation(9).fingerprint == tok.fingerprint
        ('37f2979ec8849fd2', False)

        Equal tokenizers have equal fingerprints, in every process, on every machine and in every version
        that writes the same specification. It covers stages, vocabulary, added tokens, truncation, padding
        and `parse_special`, but neither roles nor chat templates. It covers only the names of custom
        stages. Manifests of encoded corpora contain it.
        """
        if self._fingerprint is None:
            import hashlib

            text, _, parse_special = self._content
            content = f"{parse_special}\n{text}".encode("utf-8", "surrogatepass")
            self._fingerprint = hashlib.blake2b(content, digest_size=32).hexdigest()
        return self._fingerprint

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the vocabulary as a dict from token to id.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).get_vocab()
        {'[UNK]': 0, 'a': 1}
        """
        return self._core.vocab(with_added_tokens)

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens, entries of the model and added tokens, like `len(tokenizer)`.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_added_tokens(["<x>"])
        >>> tok.get_vocab_size(), tok.get_vocab_size(with_added_tokens=False)
        (3, 2)

        Without added tokens, it is what transformers calls `vocab_size`. `vocab_size` of training counts all.
        """
        return self._core.vocab_size(with_added_tokens)

    def __len__(self) -> int:
        return self._core.vocab_size(True)

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The tokens that are matched as a whole before text is normalized or split, by id."""
        return self.spec.added_tokens

    @property
    def parse_special(self) -> ParseSpecial:
        """Which special tokens in a text are parsed by default: True, False or "refuse" (see `encode`).

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).parse_special
        True
        """
        return self._parse_special

    @property
    def special_tokens_map(self) -> dict[str, str | list[str]]:
        """The special token of each role that transformers names: `unk_token`, `pad_token`, ...

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.special_tokens_map
        {'unk_token': '[UNK]'}

        Roles come from `with_roles`, the configuration in the folder of the file that was loaded, or the
        preset of training (GPT-2's `<|endoftext|>`), then from the tokenizer itself: the unknown token of the
        model, the padding settings, a BERT or RoBERTa post-processor, and special tokens whose name states
        the role, such as `[MASK]`. Other roles are absent. Each role is also an attribute: `tok.unk_token`,
        `tok.unk_token_id`.

        >>> tok.with_added_tokens(["\\n"], special=True).special_tokens_map
        {'unk_token': '[UNK]', 'additional_special_tokens': ['\\n']}

        `additional_special_tokens` lists the special tokens without a role that a configuration or
        `with_roles` declared and `with_added_tokens` made since, or else all. transformers 5 calls them
        `extra_special_tokens`.
        """
        roles = self._role_tokens()
        extra = list(tokens_without_role(self._settings, self.added_tokens, roles.values()))
        return {**roles, **({"additional_special_tokens": extra} if extra else {})}

    def _role_tokens(self) -> dict[str, str]:
        """Return the special token of each role that has one."""
        if self._all_roles is None:
            self._all_roles = role_tokens(self._settings, self.spec, self._core)
        return dict(self._all_roles)

    unk_token, unk_token_id = RoleToken("unk_token"), RoleId("unk_token")
    bos_token, bos_token_id = RoleToken("bos_token"), RoleId("bos_token")
    eos_token, eos_token_id = RoleToken("eos_token"), RoleId("eos_token")
    sep_token, sep_token_id = RoleToken("sep_token"), RoleId("sep_token")
    pad_token, pad_token_id = RoleToken("pad_token"), RoleId("pad_token")
    cls_token, cls_token_id = RoleToken("cls_token"), RoleId("cls_token")
    mask_token, mask_token_id = RoleToken("mask_token"), RoleId("mask_token")

    @property
    def model_max_length(self) -> int | None:
        """The longest input of the model in tokens, None if no limit is known.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.model_max_length, tok.with_model_max_length(512).model_max_length
        (None, 512)

        It comes from the folder of the tokenizer and is saved with it. It does not truncate;
        `with_truncation()` does.
        """
        return self._settings.model_max_length

    @property
    def padding_side(self) -> str:
        """The side to pad, "left" or "right", from the folder or else from the padding settings.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[PAD]": 0, "[UNK]": 1, "a": 2}))
        >>> tok.padding_side, tok.with_padding(side="left").padding_side
        ('right', 'left')
        """
        return self._settings.padding_side or stored_lengths.active_sides(self._core)[1]

    @property
    def truncation_side(self) -> str:
        """The side to truncate, "left" or "right", from the folder or else from the truncation settings.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).truncation_side
        'right'
        """
        return self._settings.truncation_side or stored_lengths.active_sides(self._core)[0]

    @property
    def chat_template(self) -> str | None:
        """The Jinja template that formats a conversation, None if the tokenizer has none.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.with_chat_template("{{ messages[0].content }}").chat_template
        '{{ messages[0].content }}'

        A tokenizer folder stores it. `chat.apply_chat_template` renders it, and
        `chat_templates` has all of them.
        """
        return self._settings.chat_templates.get(DEFAULT_TEMPLATE)

    @property
    def chat_templates(self) -> dict[str, str]:
        """All chat templates by name; `chat_template` is the one named "default".

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.with_chat_template("{{ tools }}", name="tool_use").chat_templates
        {'tool_use': '{{ tools }}'}
        """
        return dict(self._settings.chat_templates)

    def memory(self) -> Memory:
        """Return the memory used, in bytes: the shared `tables`, one thread's `caches`, and their `budget`.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).memory().budget
        67108864

        Buffers for the text being encoded are not included.
        """
        return Memory(*self._core.memory())

    def warm_up(self) -> None:
        """Build the tables that are otherwise built at first use, so that no request waits for them.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.warm_up()
        >>> tok.encode_batch(["a"]).ids
        array([1], dtype=uint32)

        A server calls it once, after loading. Loading builds only the tables of the first texts. Without this
        call, one thread builds the others during a request, while other threads encode without them, more
        slowly. The ids are the same. It takes 5 to 200 ms for common vocabularies, and imports numpy.

        `with_truncation`, `with_padding` and other methods that keep the stages share the tables, and so do
        copies and forked processes. Pickles, `.pwc` files and methods that replace a stage or add tokens do
        not keep all of them: call it again. `encode_segments` and `chat.apply_chat_template` compile what
        they need at their first call.
        """
        self._core.warm_up()
        # The arrays of the first batch import numpy.
        _ = self.encode_batch(()).ids

    # ---- variants

    def with_added_tokens(
        self, tokens: Sequence[str | AddedToken], *, special: bool = False
    ) -> Self:
        """Return a tokenizer that also matches these tokens as a whole.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], model="word")
        >>> tok.with_added_tokens(["<name>"], special=True).encode("to<name>").ids == [
        ...     tok.token_to_id("to"), len(tok)
        ... ]
        True

        A token of the vocabulary keeps its id; a new one gets the next id. A string becomes a special
        token, or with `special=False` one that is matched in normalized text. An `AddedToken` sets every
        detail except the id. `special_tokens_map` lists new special tokens. Warns with `FormatWarning` of a
        token that the normalizer drops, such as a line end before SentencePiece's rules.
        """
        from piecework.vocabulary.additions import warn_of_dropped, with_added

        before = self.added_tokens
        added = with_added(before, self.get_vocab(), tokens, special)
        warn_of_dropped(before, added, self.normalize)
        changed = self._replaced(added_tokens=added)
        declared = self._settings.extra_special_tokens
        if declared is None:
            return changed
        roles = changed._role_tokens().values()
        extra = declared_with_new(declared, before, added, roles)
        return changed._variant(extra_special_tokens=extra)

    def without_added_tokens(self, contents: Collection[str]) -> Self:
        """Return a tokenizer that no longer matches these tokens as a whole.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_added_tokens(["aa"])
        >>> tok.encode("aa").ids, tok.without_added_tokens(["aa"]).encode("aa").ids
        ([2], [1, 1])

        Entries of the model stay in the vocabulary. Raises `ArgumentError` for a token that was not added.
        """
        from piecework.vocabulary.additions import without_added

        return self._replaced(added_tokens=without_added(self.added_tokens, contents))

    def with_roles(
        self, *, additional_special_tokens: Sequence[str] | None = None, **roles: str | None
    ) -> Self:
        """Return a tokenizer with special tokens assigned to roles; None clears a role.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"<unk>": 0, "<|end|>": 1, "a": 2}, unk_token="<unk>"))
        >>> tok.with_roles(eos_token="<|end|>").eos_token_id
        1

        Roles are `unk_token`, `bos_token`, `eos_token`, `sep_token`, `pad_token`, `cls_token` and
        `mask_token`. They are names only: no id and no encoding changes. `additional_special_tokens` are the
        special tokens without a role, instead of the previous ones. Raises `ArgumentError` for another role,
        a token that is not in the vocabulary, and an additional token that `with_added_tokens` has not made
        special.
        """
        added, additional = self.added_tokens, additional_special_tokens
        return self._variant(**checked_roles(self._settings, self._core, added, additional, roles))

    def with_model_max_length(self, length: int | None) -> Self:
        """Return a tokenizer with another `model_max_length`; None for no limit.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0})).with_model_max_length(512).model_max_length
        512

        `save` writes it into a folder. Encodings do not change. Raises `ArgumentError` for less than 1.
        """
        if length is not None:
            check_size("length", length)
            if length == 0:
                raise ArgumentError("length", "must be at least 1 token, or None, not 0")
        return self._variant(model_max_length=length)

    def with_chat_template(self, template: str | None, *, name: str = "default") -> Self:
        """Return a tokenizer with another chat template `name`; None removes it.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0})).with_chat_template("{{ messages }}")
        >>> tok.chat_template, tok.with_chat_template(None).chat_template
        ('{{ messages }}', None)

        The template is Jinja, as transformers reads it; `save` writes it into a folder. It is not parsed.
        Raises `ArgumentError` for a name that cannot be the name of a file.
        """
        templates = templates_with(self._settings.chat_templates, name, template)
        return self._variant(chat_templates=templates)

    def with_normalizer(self, normalizer: Normalizer | None) -> Self:
        """Return a tokenizer with another normalizer; with None, text is not normalized.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> tok.with_normalizer(pw.spec.CustomNormalizer(str.lower)).encode("A").ids
        [1]
        """
        from piecework.spec import Normalizer

        check_stage("normalizer", normalizer, Normalizer)
        return self._replaced(normalizer=normalizer)

    def with_pre_tokenizer(self, pre_tokenizer: PreTokenizer | None) -> Self:
        """Return a tokenizer with another pre-tokenizer; with None, text is not split.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1}))
        >>> tok.with_pre_tokenizer(pw.spec.WhitespaceSplit()).encode("hug hug").ids
        [1, 1]
        """
        from piecework.spec import PreTokenizer

        check_stage("pre_tokenizer", pre_tokenizer, PreTokenizer)
        return self._replaced(pre_tokenizer=pre_tokenizer)

    def with_post_processor(self, post_processor: PostProcessor | None) -> Self:
        """Return a tokenizer with another post-processor; with None, no special tokens are added.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3}))
        >>> framed = tok.with_post_processor(pw.spec.TemplateProcessing.bert(cls_id=2, sep_id=3))
        >>> framed.encode("a").ids
        [2, 1, 3]
        """
        from piecework.spec import PostProcessor

        check_stage("post_processor", post_processor, PostProcessor)
        return self._replaced(post_processor=post_processor)

    def with_decoder(self, decoder: Decoder | None) -> Self:
        """Return a tokenizer with another decoder; with None, tokens are joined with spaces.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
        >>> tok.with_decoder(pw.spec.WordPieceDecoder()).decode([1, 2])
        'hugs'
        """
        from piecework.spec import Decoder

        check_stage("decoder", decoder, Decoder)
        return self._replaced(decoder=decoder)

    @hides_keywords
    def with_truncation(
        self,
        max_length: int | Literal["stored"] = "stored",
        *,
        stride: int | None = None,
        strategy: Literal["longest_first", "only_first", "only_second"] | None = None,
        side: Literal["right", "left"] | None = None,
        **unknown: NoReturn,
    ) -> Self:
        """Return a tokenizer that truncates encodings to `max_length` tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> encoding = tok.with_truncation(2, stride=1).encode("abb")
        >>> encoding.ids, [window.ids for window in encoding.overflowing]
        ([1, 2], [[2, 2]])

        Without a length, the stored length applies: the `model_max_length` of the tokenizer, as with
        `truncation=True` of transformers, else the truncation in its `tokenizer.json`.

        >>> tok.with_model_max_length(2).with_truncation().encode("abb").ids
        [1, 2]

        `max_length` includes special tokens. The other windows of a text are `overflowing` of its encoding;
        each repeats `stride` tokens of the window before it (None: 0). `encode_batch` drops them unless
        `overflow=True`. `strategy` selects the text of a pair to truncate (None: "longest_first"),
        `side` the side to truncate (None: `truncation_side`). The compiled tables are shared.

        Raises `ArgumentError` if no length is stored, and if `max_length` leaves no room for special tokens
        and stride.
        """
        if unknown:
            reject_keywords(Tokenizer.with_truncation, unknown)
        core, used = stored_lengths.truncated(
            self._core,
            self._settings,
            max_length,
            stride=stride,
            strategy=strategy,
            side=side,
        )
        return self._variant(core, truncation_side=used)

    def without_truncation(self) -> Self:
        """Return a tokenizer that does not truncate, and has no stored truncation.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_truncation(2)
        >>> tok.encode("aaa").ids, tok.without_truncation().encode("aaa").ids
        ([1, 1], [1, 1, 1])
        """
        return self._variant(self._core.with_truncation(None), truncation=None)

    @hides_keywords
    def with_padding(
        self,
        length: int | Literal["stored"] | None = None,
        *,
        side: Literal["right", "left"] | None = None,
        pad_to_multiple_of: int | None = None,
        pad_token: str | None = None,
        pad_id: int | None = None,
        pad_type_id: int | None = None,
        **unknown: NoReturn,
    ) -> Self:
        """Return a tokenizer that pads encodings with `pad_token` to `length` tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[PAD]": 0, "[UNK]": 1, "a": 2})).with_padding()
        >>> tok.encode_batch(["aaa", "a"]).to_lists()
        [[2, 2, 2], [2, 0, 0]]

        Without a length, each batch is padded to its longest row, as by `enable_padding` of `tokenizers` and
        `padding=True` of transformers. `length="stored"` takes the length and `pad_to_multiple_of` of the
        padding stored in the `tokenizer.json` that was loaded; if there is none, the longest row.
        `pad_to_multiple_of` rounds the length up.

        `side` is the side to pad (None: `padding_side`), `pad_token` the token (None: the role `pad_token`,
        else `[PAD]`), `pad_id` its id (None: the token's id), `pad_type_id` its type id (None: the stored
        one, else 0). The compiled tables are shared. Raises `ArgumentError` if `pad_token` is not in the
        vocabulary and no `pad_id` is given, and `VocabularyError` for an unknown `pad_id`.
        """
        if unknown:
            reject_keywords(Tokenizer.with_padding, unknown)
        core, used = stored_lengths.padded(
            self._core,
            self._settings,
            length,
            side=side,
            pad_to_multiple_of=pad_to_multiple_of,
            pad_token=pad_token,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
        )
        return self._variant(core, padding_side=used)

    def without_padding(self) -> Self:
        """Return a tokenizer that does not pad, and has no stored padding.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[PAD]": 0, "[UNK]": 1, "a": 2})).with_padding(3)
        >>> tok.encode("a").ids, tok.without_padding().encode("a").ids
        ([2, 0, 0], [2])
        """
        return self._variant(self._core.with_padding(None), padding=None)

    def with_parse_special(self, value: ParseSpecial) -> Self:
        """Return a tokenizer that parses special tokens in text, keeps them or refuses them by default.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer.train_from_iterator(["to be or not to be"], vocab_size=20)
        >>> tok.with_parse_special(False).count("[SEP]", add_special_tokens=False)
        3

        `value` is True, False or "refuse", as `parse_special` of `encode`.
        """
        return self._variant(parse_special=checked_parse_special(value))

    def with_word_cache_budget(self, bytes_per_thread: int) -> Self:
        """Return a tokenizer whose word cache takes at most `bytes_per_thread` bytes in each thread.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_word_cache_budget(1 << 20)
        >>> tok.memory().caches <= 1 << 20
        True

        The default is 64 MiB. Ids do not depend on it; a small budget makes encoding slower. Tokenizers
        derived from this one and pickles keep the budget; specifications and files do not contain it.
        Raises `ArgumentError` for less than 4096.
        """
        check_bytes("bytes_per_thread", bytes_per_thread, 4096)
        return self._variant(self._core.with_word_cache_budget(bytes_per_thread))

    # ---- specification and files

    @property
    def spec(self) -> TokenizerSpec:
        """The whole tokenizer as data, a `TokenizerSpec`.

        >>> import piecework as pw
        >>> pw.Tokenizer(pw.spec.Char({"[UNK]": 0})).spec.model
        Char(unk_token='[UNK]')
        """
        if self._spec is None:
            from dataclasses import replace

            from piecework.spec import TokenizerSpec

            spec = TokenizerSpec.from_json(self._core.to_json(False), self._functions)
            self._spec = replace(spec, parse_special=self._parse_special)
        return self._spec

    def to_str(self, pretty: bool = False, *, strict: bool = False) -> str:
        """Return the text of a `tokenizer.json` that other libraries read with the same ids.

        >>> import json
        >>> import piecework as pw
        >>> text = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1})).to_str()
        >>> json.loads(text)["model"]["type"]
        'WordPiece'

        `pretty` indents the text, like the files that `save` writes.

        SentencePiece stages are written as components of `tokenizers` that give the same ids, else as
        transformers writes them. Then, and for Unigram models, whose scores others add in 64 bits and not in
        32, a `PortabilityWarning` says how many of some sample texts have other ids, with an example.

        Raises `PortabilityError` for what other libraries read differently, with the field and a format that
        keeps it; with `strict`, also where a SentencePiece model has no exact equivalent. Raises `StageError`
        for custom stages.
        """
        from piecework.spec.portable import is_sentencepiece, portable_spec

        spec = self.spec
        if not is_sentencepiece(spec):
            portable = portable_spec(spec)
            return (self._core if portable is spec else _core_of(portable)).to_json(pretty)
        from piecework.vocabulary.components import portable_or_nearest, warning_of

        portable, reason = portable_or_nearest(spec, strict=strict)
        written = Tokenizer._of(_core_of(portable))
        if reason is not None:
            warn(warning_of(reason, self, written), PortabilityWarning)
        return written._core.to_json(pretty)

    def save(self, path: PathLike, *, merges: PathLike | None = None, strict: bool = False) -> None:
        """Write a tokenizer file or folder atomically; the suffix of the path selects the format.

        >>> import pathlib, tempfile
        >>> import piecework as pw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1}))
        >>> tok.save(path)
        >>> pw.Tokenizer.load(path) == tok
        True

        - `.json`: a portable `tokenizer.json` (see `to_str`).
        - `.txt`: `vocab.txt`, the vocabulary only, of a WordPiece or word-level model.
        - `.model`: a SentencePiece model, for a tokenizer that has SentencePiece stages only; `.vocab`: its
          pieces with their scores.
        - `.tiktoken`: ranks, for byte-level BPE whose merges follow from the ids; pattern and special
          tokens are not in the file.
        - a folder that exists, or a path that ends in `/`: `tokenizer.json`, `tokenizer_config.json`,
          `special_tokens_map.json` and chat templates, which `AutoTokenizer.from_pretrained` of transformers
          opens with the same ids, roles and settings. Its parent must exist. Truncation and padding that
          the folder was loaded with are written too; `load` and transformers apply them on request only.
        - any name with `merges`: `vocab.json` and `merges.txt`, the model only.
        - `.piecework`: everything except custom stages, for this library only.
        - `.pwc`: a compiled cache.

        Raises `ArgumentError` for another suffix or none, and for a folder without parent, `FileError`,
        `VocabularyError` if the format cannot store the model (the message names formats that can),
        `PortabilityError` if other libraries would give other ids, and `StageError` for custom stages. Warns
        with `PortabilityWarning` about ids of a SentencePiece model that differ in other libraries (see
        `to_str`; `strict` raises then), and about a role whose token transformers matches in text and this
        tokenizer does not.
        """
        from piecework.io.saving import save_tokenizer

        save_tokenizer(self, path, merges, strict=strict)

    # ---- being a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self._content == other._content

    def __hash__(self) -> int:
        # Without the functions: not all can be hashed, and their names are in the text.
        return hash(self.fingerprint)

    def __copy__(self) -> Tokenizer:
        return self  # a tokenizer never changes

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Tokenizer:
        return self

    def __setattr__(self, name: str, value: object) -> None:
        if self._is_public(name):
            raise immutable_error(name, "an assignment", value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if self._is_public(name):
            raise immutable_error(name, "a deletion")
        object.__delattr__(self, name)

    def _is_public(self, name: str) -> bool:
        """Return whether a name is public here; subclasses may have attributes of their own."""
        if name.startswith("_"):
            return False
        return type(self) is Tokenizer or name in vars(Tokenizer)

    def __reduce__(self) -> tuple[Any, ...]:
        # The stages pickle their functions and raise for one that cannot be pickled.
        content = self.spec if self._functions else self._core.to_json(False)
        budget = self._core.cache_budget
        return _restored, (type(self), content, self._parse_special, budget, self._settings)

    def __repr__(self) -> str:
        from piecework.spec.tokenizer_spec import stage_names

        names = " -> ".join(stage_names(self.spec))
        return f"Tokenizer({names}, {self.get_vocab_size()} tokens)"

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *vars(self)})

    # ---- inside

    def _added_tokens_by_id(self) -> dict[int, AddedToken]:
        """Return the added tokens by id: `get_added_tokens_decoder` of `tokenizers`."""
        return {token.id: token for token in self.added_tokens}

    def _count_of_special_tokens(self, is_pair: bool = False) -> int:
        """Return how many tokens are added to a text or a pair: `num_special_tokens_to_add`."""
        whole = self.without_truncation().without_padding()
        return sum(whole.encode("", "" if is_pair else None).special_tokens_mask)

    @property
    def _content(self) -> tuple[Any, ...]:
        return self._core.to_json(False), self._functions, self._parse_special

    def _with_settings_of(self, other: Tokenizer) -> Self:
        """Return a tokenizer with the settings of another one that no specification contains."""
        settings = other._settings
        if settings.padding and self.token_to_id(settings.padding["pad_token"]) is None:
            settings = settings.replace(padding=None)  # another token can have its id now
        tokenizer = self.with_word_cache_budget(other._core.cache_budget)
        tokenizer._settings = settings
        return tokenizer

    def _variant(
        self,
        core: Core | None = None,
        *,
        parse_special: ParseSpecial | None = None,
        functions: Sequence[Callable[[str], Any]] | None = None,
        **settings: Any,
    ) -> Self:
        """Return a tokenizer that differs from this one in the given parts and settings of its folder."""
        variant = self._of(
            self._core if core is None else core,
            self._parse_special if parse_special is None else parse_special,
            self._functions if functions is None else functions,
        )
        variant._settings = self._settings.replace(**settings)
        return variant

    def _stages(self) -> TokenizerSpec:
        """Return the specification without the entries of the model."""
        from piecework.spec import TokenizerSpec

        return TokenizerSpec.from_json(self._core.stages_to_json(), self._functions)

    def _replaced(self, **stages: Any) -> Self:
        """Return a tokenizer with other stages around the same model, whose compiled tables are shared."""
        from dataclasses import replace

        return self._restaged(*replace(self._stages(), **stages).to_core())

    def _restaged(self, text: str, functions: Sequence[Callable[[str], Any]]) -> Self:
        """Compile the stages of JSON text around the model of this tokenizer."""
        return self._variant(self._core.with_stages(_encoded(text), functions), functions=functions)

    @classmethod
    def _of(
        cls,
        core: Core,
        parse_special: ParseSpecial = True,
        functions: Sequence[Callable[[str], Any]] = (),
    ) -> Self:
        tokenizer = cls.__new__(cls)
        tokenizer._set(core, parse_special, functions)
        return tokenizer

    def _set(
        self,
        core: Core,
        parse_special: ParseSpecial,
        functions: Sequence[Callable[[str], Any]],
    ) -> None:
        # `vars(self)` would turn the attributes into a dict and slow down each of them.
        if hasattr(self, "_core"):
            raise TypeError("a Tokenizer is immutable: construct another one")
        self._core, self._functions = core, tuple(functions)
        self._parse_special = parse_special
        self._settings = NO_SETTINGS
        self._all_roles, self._spec, self._fingerprint, self._filling = None, None, None, None
        self._prompts = None
        # One plain text goes straight to the core: a Python frame less (docs/decisions/, 0015).
        is_plain = core.has_late_fields and not functions and parse_special != "refuse"
        self._encode_text = core.encode_text if is_plain else None
        self._dropout = core.dropout

    def _drawn(self, sampling: Sampling | None) -> SeededSampling | None:
        """Return the sampling settings for the core, None for the one best segmentation."""
        if sampling is None and not self._dropout:
            return None
        from piecework.tokenizer.sampling import resolved

        return resolved(sampling, self._core)

    def _recognized(
        self,
        parse_special: bool | Collection[str] | None,
        *texts: Iterable[Any] | TextColumn,
    ) -> list[int] | None:
        """Return the ids of the special tokens to parse; None stands for all.

        With "refuse", raise `SpecialTokenError` if a text contains one.
        """
        if parse_special is None:
            parse_special = self._parse_special
        if isinstance(parse_special, bool):
            return None if parse_special else []
        if isinstance(parse_special, str) and parse_special == "refuse":
            for rows in texts:
                refuse_special(self._core, rows)
            return None
        expected = 'True, False, "refuse" or a collection of special tokens'
        return special_ids(self._core, parse_special, "parse_special", expected)


add_foreign_names(Tokenizer)


def _compiled(text: str, functions: Sequence[Callable[[str], Any]]) -> Core:
    return Core.from_json(_encoded(text), "", functions)


def _core_of(spec: TokenizerSpec) -> Core:
    return _compiled(spec.to_core()[0], ())


def _encoded(text: str) -> bytes:
    surrogate = first_surrogate(text)
    if surrogate is not None:
        problem = f"has a lone surrogate at character {surrogate}, which UTF-8 cannot encode"
        raise FormatError("text", problem)
    return text.encode()


def _restored(
    cls: type[AnyTokenizer],
    content: str | TokenizerSpec,
    parse_special: ParseSpecial,
    cache_budget: int,
    settings: FolderSettings,
) -> AnyTokenizer:
    if isinstance(content, str):
        tokenizer = cls._of(_compiled(content, ()), parse_special)
    else:
        tokenizer = cls.from_spec(content)
    tokenizer = tokenizer.with_word_cache_budget(cache_budget)
    tokenizer._settings = settings
    return tokenizer
