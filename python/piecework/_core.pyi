"""The compiled core: the whole boundary between Python and Rust.

Calls raise the exceptions of `piecework.errors`. Encoding, decoding, counting, training and reading files
release the GIL while they compute; `Core.encode_text` keeps it for a text under 1024 bytes.

Settings cross as keyword arguments or as typed objects (`SeededSampling`). Only whole specifications and
pipelines are JSON text, in the shape of `tokenizer.json`: the `data` of `Core.from_json`, the result of
`Core.to_json`, the `pipeline` of `read_tiktoken` and `read_vocab_merges`, and the `pipeline_json` of
`WordCounter`.

Ids and offsets of a batch cross as numpy arrays without a copy. The lists of an `Encoding` are made when they
are first read.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from piecework.errors import ArgumentError
from piecework.sampling import Sampling
from piecework.spec import SpecialInText

UNICODE_VERSION: str
__version__: str

class Core:
    """A compiled tokenizer: immutable, shared between threads without locks."""

    @staticmethod
    def from_json(data: bytes, source: str, functions: Sequence[Callable[[str], Any]] = ()) -> Core:
        """Read and compile a `tokenizer.json`; `source` names the file in errors.

        `functions` are those of the custom stages, which no file has, in the order of the document.
        Threads attach to the interpreter to call them.
        """

    @staticmethod
    def from_vocab_txt(data: bytes, source: str, lowercase: bool | None) -> Core:
        """Read a BERT `vocab.txt`; `lowercase=None` decides by the letter case of the vocabulary."""

    def warnings(self, origin: str, data: bytes) -> list[str]: ...
    def to_json(self, pretty: bool) -> str:
        """Write the specification as `tokenizer.json` text."""

    def to_vocab_txt(self) -> bytes:
        """Write one token a line in id order; an error when the ids have gaps."""

    def encode(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None,
        *,
        add_special_tokens: bool,
        is_pretokenized: bool,
        parse_special: Sequence[int] | None,
        sampling: SeededSampling | None,
    ) -> Encoding:
        """Encode one text or pair with every field; offsets count characters of the original.

        `parse_special`: the ids of the special tokens recognised in the text, None for all.
        `sampling` draws the segmentation at random.
        """

    def encode_text(self, text: str, add_special_tokens: bool, parse_special: bool) -> Encoding:
        """Encode one text into ids; the other fields of the encoding are made when they are first read.

        Only for a core that `is_plain`, as nothing is truncated, padded or drawn. `parse_special`: all
        special tokens are recognised in the text, or none.
        """

    def encode_batch(
        self,
        texts: Sequence[str] | Sequence[Sequence[str]] | TextColumn,
        pairs: Sequence[str] | Sequence[Sequence[str]] | TextColumn | None,
        *,
        add_special_tokens: bool,
        is_pretokenized: bool,
        parse_special: Sequence[int] | None,
        sampling: SeededSampling | None,
        offsets: bool,
        overflow: bool,
        num_threads: int,
    ) -> RawBatch:
        """Encode many texts; `offsets` keeps offsets, word ids and sequence ids too.

        `overflow` makes a row of each window that truncation cuts off, after the first window of its text.
        """

    def count_batch(
        self,
        texts: Sequence[str] | TextColumn,
        *,
        add_special_tokens: bool,
        parse_special: Sequence[int] | None,
        sampling: SeededSampling | None,
        num_threads: int,
    ) -> list[int]:
        """Count the tokens of each text without keeping their ids."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool, clean_up: bool | None) -> str:
        """Turn ids back into text; `clean_up=None` follows the decoder's own setting."""

    def decode_batch(
        self,
        ids: npt.NDArray[np.uint32],
        row_offsets: npt.NDArray[np.int64],
        skip_special_tokens: bool,
        clean_up: bool | None,
    ) -> list[str]:
        """Decode the rows of a flat batch."""

    def decode_stream(
        self,
        prefill: Sequence[Sequence[int]],
        skip_special_tokens: bool,
        clean_up: bool | None,
    ) -> RawDecodeStream:
        """Begin to decode as many sequences as `prefill` has lists, each after its ids."""

    def filling(self, pad_tokens: Sequence[str]) -> tuple[int | None, str, int, str]:
        """Return what fills short rows: padding id, its token, type id, "left" or "right".

        Without a padding setting, the id is that of the padding piece of a SentencePiece model, or of the
        one special token among `pad_tokens`; None if there is none or more than one.
        """

    @property
    def dropout(self) -> float | None:
        """The share of merges that the model says to leave out."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing is cut, filled up or left out at random."""

    @property
    def scores_segmentations(self) -> bool:
        """Whether segmentations have scores, by which they are drawn (Unigram)."""

    def with_word_cache_budget(self, bytes: int) -> Core:
        """Return the same with caches of at most so many bytes in each thread."""

    def with_truncation(
        self,
        max_length: int | None,
        *,
        stride: int = 0,
        strategy: str = "longest_first",
        direction: str = "right",
    ) -> Core:
        """Return a core that cuts encodings to `max_length` tokens; None cuts nothing.

        It shares the compiled tables with this one. Raises `ArgumentError` when the length leaves no room
        for the special tokens or for the stride.
        """

    def with_padding(
        self,
        pad_id: int | None,
        *,
        pad_token: str = "",
        pad_type_id: int = 0,
        length: int | None = None,
        direction: str = "right",
        pad_to_multiple_of: int | None = None,
    ) -> Core:
        """Return a core that pads encodings with `pad_id`; None pads nothing.

        It shares the compiled tables with this one. `length=None` pads to the longest row of a batch. Raises
        `ArgumentError` for a length of 0 or of more than 1048576 tokens.
        """

    def shares_tables_with(self, other: Core) -> bool:
        """Tell whether both cores use the same compiled tables in memory."""

    cache_budget: int
    def memory(self) -> tuple[int, int, int]:
        """Return the bytes of the tables, of the caches of each thread, and what these may take."""

    def token_to_id(self, token: str) -> int | None: ...
    def id_to_token(self, id: int) -> str | None: ...
    def vocab(self, with_added_tokens: bool) -> dict[str, int]: ...
    def vocab_size(self, with_added_tokens: bool) -> int: ...
    def normalize(self, text: str) -> str:
        """Apply the normalizer alone."""

    def pre_tokenize(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Normalize and split: words with their character spans in the original text."""

def read_tiktoken(
    data: bytes,
    source: str,
    pipeline: bytes,
    special_tokens: Sequence[tuple[str, int]],
) -> Core:
    """Read `.tiktoken` ranks; `pipeline`: a JSON object with a `pre_tokenizer` as in `tokenizer.json`."""

def read_tekken(data: bytes, source: str) -> Core:
    """Read a `tekken.json`."""

def is_sentencepiece(data: bytes) -> bool:
    """Tell whether a file begins as a `.model` of SentencePiece does."""

def read_sentencepiece(data: bytes, source: str) -> Core:
    """Read a `.model` of SentencePiece; errors name the file and the field."""

def read_sentencepiece_normalizer(data: bytes, source: str) -> tuple[bytes, bool, bool, bool]:
    """Read of a `.model` the charsmap and the flags of its normalizer, all else as if it were not there.

    The flags are `add_dummy_prefix`, `remove_extra_whitespaces` and `escape_whitespaces`.
    """

def write_sentencepiece(core: Core) -> bytes:
    """Write a `.model`; normalizer, model and decoder must be SentencePiece's, with nothing else."""

def write_sentencepiece_vocab(core: Core) -> bytes:
    """Write one piece and its score a line."""

def sentencepiece_settings(
    trainer: Sequence[tuple[str, int | float | str | list[str]]],
    normalizer: Sequence[tuple[str, int | float | str | list[str]]],
    denormalizer: Sequence[tuple[str, int | float | str | list[str]]] | None,
) -> bytes:
    """Write how a model was trained, by the names of the schema: the `rest` of `spec.SentencePiece`."""

def read_sentencepiece_vocab(data: bytes, source: str) -> list[tuple[str, float]]:
    """Read one piece and its score or count a line; a line without a number has 1."""

def read_clip(data: bytes, source: str) -> Core:
    """Read CLIP's list of merges, decompressed."""

def read_vocab_merges(
    vocab: bytes,
    merges: bytes,
    sources: tuple[str, str],
    pipeline: bytes | None,
    special_tokens: Sequence[str] | None,
) -> Core:
    """Read `vocab.json` and `merges.txt`; `sources` name the two in errors, `pipeline` is as for ranks."""

def write_tiktoken(core: Core) -> bytes:
    """Write `.tiktoken` ranks; an error when the merges are not those that the ids stand for."""

def write_vocab_merges(core: Core) -> tuple[bytes, bytes]:
    """Write `vocab.json` and `merges.txt`; an error when they cannot hold the model."""

def token_bytes(core: Core, id: int) -> bytes | None:
    """Return the bytes that a token stands for."""

def vocab_bytes(core: Core) -> list[tuple[int, bytes]]:
    """Return the model's entries by id, as bytes."""

def decode_bytes(core: Core, ids: Sequence[int]) -> bytes:
    """Turn ids into bytes, special tokens included; an id of nothing is an `ArgumentError`."""

def encode_word_of_bytes(core: Core, word: bytes) -> list[int]:
    """Segment bytes, which need not be UTF-8, as one word of a byte-level model."""

def find_special(
    core: Core, texts: Sequence[str] | TextColumn, special: Sequence[int] | None
) -> tuple[int, int] | None:
    """Find the first text that holds one of these special tokens (None: any): its row and the id."""

def kernel_levels() -> list[str]:
    """Return the names of the instruction sets that kernels can use here, the best (the default) last."""

def use_kernel_level(name: str) -> None:
    """Use the instructions of one level from now on, in every thread; all give the same answers."""

def is_cache(head: bytes) -> bool:
    """Tell whether a file begins as a cache does."""

def fingerprint(sources: Sequence[bytes]) -> bytes:
    """Return 16 bytes that tell lists of bytes apart."""

def write_cache(core: Core, special_in_text: str, key: bytes) -> bytes:
    """Write a tokenizer with its built tables; `key` says what it was made of."""

@overload
def read_cache(path: str, source: str, key: None) -> tuple[Core, SpecialInText]: ...
@overload
def read_cache(path: str, source: str, key: bytes) -> tuple[Core, SpecialInText] | None:
    """Read a compiled cache: the tokenizer, and what it does with special tokens in text.

    None if it was made with another key. Raises `OSError`, `FormatError` for a file that is damaged or
    that another version wrote, and names it `source`.
    """

def panic_for_tests() -> None:
    """Panic, for tests: in the Rust code that calls the Python function that calls this."""

def panic_in_loading_for_tests() -> Core:
    """Panic while a tokenizer file is read, for tests."""

def available_processors() -> int:
    """Return the processors that this process may use, by CPU affinity and control group."""

class SeededSampling:
    """The settings of random segmentation for the texts of one call."""

    def __init__(
        self, alpha: float, *, seed: int, nbest_size: int | None = None, text_index: int = 0
    ) -> None: ...
    @property
    def alpha(self) -> float:
        """The share of merges left out (BPE), or the exponent of the scores (Unigram)."""

    @property
    def nbest_size(self) -> int | None:
        """How many of the best segmentations to draw from; None for all."""

    @property
    def seed(self) -> int: ...
    @property
    def text_index(self) -> int:
        """The index of the first text, so that a text is drawn alike alone and in a batch."""

    def at(self, text_index: int) -> SeededSampling:
        """Return the same settings for the text with another index."""

class TextColumn:
    """Texts in UTF-8 that another library holds, lent until this is gone."""

    @staticmethod
    def of_arrow(column: Any, place: str) -> TextColumn:
        """Borrow an Arrow column of strings by `__arrow_c_stream__` or `__arrow_c_array__`."""

    @staticmethod
    def of_bytes(flat: npt.NDArray[np.uint8], width: int, len: int) -> TextColumn:
        """Borrow `len` values of `width` bytes each; zeros at their ends do not count."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> str: ...

class RawBatch:
    """Many encoded texts; a column becomes a numpy array, not copied, when it is first read."""

    @staticmethod
    def of_arrays(
        ids: npt.NDArray[np.uint32],
        row_offsets: npt.NDArray[np.int64],
        type_ids: npt.NDArray[np.uint8] | None = None,
        attention_mask: npt.NDArray[np.uint8] | None = None,
        offsets: npt.NDArray[np.uint32] | None = None,
        word_ids: npt.NDArray[np.int32] | None = None,
        sequence_ids: npt.NDArray[np.int8] | None = None,
        samples: npt.NDArray[np.int64] | None = None,
    ) -> RawBatch:
        """Hold arrays, which must be contiguous."""

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """Flat ids."""

    @property
    def row_offsets(self) -> npt.NDArray[np.int64]:
        """Where rows start, and the end."""

    @property
    def type_ids(self) -> npt.NDArray[np.uint8] | None:
        """Flat type ids, None where all are 0."""

    @property
    def attention_mask(self) -> npt.NDArray[np.uint8] | None:
        """1 for tokens and 0 for padding, None where there is none."""

    @property
    def offsets(self) -> npt.NDArray[np.uint32] | None:
        """Two for each token, None unless they were asked for."""

    @property
    def word_ids(self) -> npt.NDArray[np.int32] | None:
        """-1 for none; None unless they were asked for."""

    @property
    def sequence_ids(self) -> npt.NDArray[np.int8] | None:
        """-1 for none; None unless they were asked for, and where there are no pairs."""

    @property
    def samples(self) -> npt.NDArray[np.int64] | None:
        """The index of the text of each row, None unless overflow windows were asked for."""

    token_count: int
    def row(self, row: int) -> list[int]:
        """Return the ids of one row, without numpy unless the arrays are there."""

    def encoding(self, row: int, token_of: Callable[[int], str | None], pad_token: str) -> Encoding:
        """Return one row as an `Encoding`; `token_of` maps an id to its token."""

    def lists(self) -> list[list[int]]:
        """Return a list of ids for each row, without numpy unless the arrays are there."""

    def __len__(self) -> int: ...

class TextEncoder:
    """The half of `Tokenizer` that encodes one text."""

    def encode(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        *,
        add_special_tokens: bool = True,
        is_pretokenized: bool = False,
        parse_special: bool | Collection[str] | None = None,
        sampling: Sampling | None = None,
    ) -> Encoding:
        """Encode one text, or a text and its pair, with every field.

        Offsets count characters of the text as given, whatever the normalizer did. With
        `is_pretokenized` text and pair are sequences of words: each is normalized and split further,
        word ids number the words given, and offsets count from the beginning of each word.

        `parse_special` says which special tokens are recognised when they are written in the text:
        all (True, as in `tokenizers`), none (False: the safe setting for text that others wrote), or
        those named; the others are text. None leaves it to the tokenizer: most recognise all, those read
        from ranks raise `SpecialTokenError` (see `spec.TokenizerSpec.special_in_text`).

        `sampling` draws the segmentation of a BPE or Unigram model at random; a BPE model that says
        `dropout` does so by itself, from fresh randomness, unless `Sampling(alpha=0)` is given.
        """

    def _encode_by(self, core: Core | None, parse_special: bool) -> None:
        """Say what makes the ids of one text, with or without special tokens parsed.

        None where they do not tell all that can be asked again later: `_encode_otherwise` then makes every
        field, as for pairs and other settings.
        """

class Encoding:
    """One encoded text or pair: parallel lists, one item a token.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> e = tok.encode("hugs")
    >>> e.ids, e.tokens, e.offsets
    ([1, 2], ['hug', '##s'], [(0, 3), (3, 4)])

    A slice is an `Encoding` of these tokens of the same text.

    >>> e[1:].tokens
    ['##s']

    Encodings are equal if all their lists are, `overflowing` included. They pickle and copy with their lists
    and their text, without the tokenizer. They do not hash, as lists can change. A row of a `Batch` has the
    columns of its batch; other attributes raise `ArgumentError`, which names the call that makes them.

    `Tokenizer.encode` and `Batch` make encodings. The constructor restores one from its `texts` and a dict of
    its lists by name.
    """

    def __init__(self, texts: tuple[str | Sequence[str], ...], columns: dict[str, Any]) -> None: ...
    @property
    def ids(self) -> list[int]:
        """Vocabulary ids."""

    @property
    def tokens(self) -> list[str]:
        """Vocabulary entries as strings."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Spans (start, end) in characters of the original text; (0, 0) for template tokens."""

    @property
    def word_ids(self) -> list[int | None]:
        """Index of the pre-tokenized word each token came from; None for template tokens."""

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for the first text, 1 for its pair, None for template tokens."""

    @property
    def type_ids(self) -> list[int]:
        """Segment ids that the template assigns."""

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that the template or the padding added, 0 for tokens of the text."""

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""

    @property
    def overflowing(self) -> list[Encoding]:
        """The further windows of a truncated text, in order."""

    @property
    def byte_offsets(self) -> list[tuple[int, int]]:
        """Spans in bytes of the text as UTF-8; (0, 0) for template tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "é": 1, "##t": 2}))
        >>> e = tok.encode("ét")
        >>> e.offsets, e.byte_offsets
        ([(0, 1), (1, 2)], [(0, 2), (2, 3)])
        """

    @property
    def utf16_offsets(self) -> list[tuple[int, int]]:
        """Spans in UTF-16 code units, as JavaScript and Java count; (0, 0) for template tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "🤗": 1, "##s": 2}))
        >>> e = tok.encode("🤗s")
        >>> e.offsets, e.utf16_offsets
        ([(0, 1), (1, 2)], [(0, 2), (2, 3)])
        """

    @property
    def texts(self) -> tuple[str | Sequence[str], ...]:
        """The text, or the text and its pair; empty for a row of a batch, which keeps no text."""

    @property
    def n_sequences(self) -> int:
        """1, or 2 for a pair."""

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return 0 or 1 for the text a token came from; None for template tokens and beyond the end."""

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the character span of a token in its text; None for template tokens.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").token_to_chars(2)
        (5, 8)
        """

    def token_to_word(self, token_index: int) -> int | None:
        """Return the index of the word that a token came from; None for template tokens.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").token_to_word(2)
        1
        """

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the first token that covers a character of a text; None where none does.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> e = tok.encode("hugs hug")
        >>> e.char_to_token(3), e.char_to_token(4)
        (1, None)
        """

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the word that covers a character of a text; None where none does.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").char_to_word(6)
        1
        """

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the tokens of a word as (first, one after the last); None for a word without any.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hug hugs").word_to_tokens(1)
        (1, 3)
        """

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the characters of a word, from its first token to its last; None for a word without any.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hug hugs").word_to_chars(1)
        (4, 8)
        """

    def __getitem__(self, index: slice) -> Encoding: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Encoding], tuple[Any, dict[str, Any]]]: ...
    def _repr_html_(self) -> str:
        """Return the tokens as HTML: spans over the original text, with ids on hover."""

def missing_column(name: str) -> ArgumentError:
    """Return the error for a column that a batch did not keep."""

class RawDecodeStream:
    """Sequences being decoded token by token."""

    def step(self, ids: Sequence[int | None]) -> list[str | None]:
        """Take the next id of each sequence, None for one that is over; gives what text each adds."""

    def finish(self) -> list[str | None]:
        """Give what still waits."""

class RawRules:
    """Normalization rules of SentencePiece, compiled; applied by the longest match at each place."""

    @staticmethod
    def named(name: str) -> RawRules:
        """Build nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity."""

    @staticmethod
    def from_pairs(sources: Sequence[str], replacements: Sequence[str]) -> RawRules:
        """Compile rules, each a source and the replacement at the same position."""

    @staticmethod
    def from_tsv(data: bytes, source: str) -> RawRules:
        """Read and compile a rule file; `source` names it in errors."""

    @staticmethod
    def from_charsmap(charsmap: bytes) -> RawRules:
        """Check compiled rules; none at all are the identity."""

    def charsmap(self) -> bytes:
        """Return the compiled form, empty if there is no rule."""

    def pairs(self) -> list[tuple[str, str]]:
        """Decompile, ordered by source."""

    def to_tsv(self) -> bytes:
        """Write a rule file."""

    def normalize(self, text: str) -> str: ...
    def normalize_with_offsets(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Normalize; give the character span of the original behind each character too."""

def segmentations(
    core: Core,
    text: str,
    n: int,
    *,
    sampling: SeededSampling | None,
    replacement: bool,
    include_best: bool,
    add_special_tokens: bool,
    parse_special: Sequence[int] | None,
) -> list[tuple[Encoding, float, float, float | None]]:
    """List up to `n` segmentations of a text: the best, or with `sampling` some that are drawn.

    Each with its score, ln of its share of all segmentations (at alpha 1, or that of `sampling`), and
    without `replacement` ln of the probability that it is drawn. With `replacement` they are those that
    `n` rows of a batch would get.
    """

def entropy(core: Core, text: str, *, alpha: float, parse_special: Sequence[int] | None) -> float:
    """Return the entropy of the segmentations of a text, in nats."""

def scores(core: Core, ids: Sequence[int]) -> list[float | None]:
    """Return what each id adds to the score of a segmentation, None where the model has no such entry."""

def pieces(
    core: Core, text: str, *, sampling: SeededSampling | None
) -> list[tuple[int, str, tuple[int, int]]]:
    """Segment a text without added tokens: ids, the normalized text of each, character spans."""

def piece_segmentations(
    core: Core,
    text: str,
    n: int,
    *,
    sampling: SeededSampling | None,
    replacement: bool,
    include_best: bool,
) -> list[tuple[list[tuple[int, str, tuple[int, int]]], float, float, float | None]]:
    """List up to `n` segmentations as `segmentations` does, each as `pieces` gives them."""

def normalize_with_offsets(core: Core, text: str) -> tuple[str, list[int]]:
    """Normalize; give the character of the original at which each begins, and at which the last ends.

    Of a text that nothing is left of, only the end, and none if all of it went as spaces at its beginning.
    """

class WordCounter:
    """Counts pre-tokenized words of a corpus, in parallel, remembering where each came first."""

    def __init__(
        self,
        pipeline_json: str,
        num_threads: int,
        functions: Sequence[Callable[[str], Any]] = (),
        *,
        keep_line_ends: bool,
        max_bytes: int | None = None,
        reserved: str = "",
        with_counts: bool = False,
    ) -> None:
        """`pipeline_json`: an object with `normalizer` and `pre_tokenizer` as in `tokenizer.json`.

        `functions`: as in `Core.from_json`. `keep_line_ends` makes line ends part of the texts that
        blocks are cut into. Texts of more than `max_bytes` bytes of UTF-8 are left out, and those that
        hold `reserved`. `with_counts`: behind each text stand a tab and how often it counts, from 1 to
        2**64 - 1; an empty one is none.
        """

    def add_texts(self, texts: Sequence[str], source: int) -> None:
        """Count a list of texts that follow what `source` has given so far."""

    def add_block(self, block: bytes, source: int, offset: int, strict: bool, name: str) -> int:
        """Count a block of UTF-8 that starts at byte `offset` of `source`; returns the replacements made."""

    def too_long(self) -> int:
        """How many texts were left out because of their length."""

    def finish(self) -> RawCounts:
        """Merge what all threads counted; the counter is empty afterwards."""

class RawCounts:
    """Distinct words with u64 counts and, where known, u64 first positions.

    Words are ordered by first position; without positions by falling count, then by code points.
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: npt.NDArray[np.uint64],
        first: npt.NDArray[np.uint64] | None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def words(self) -> list[str]: ...
    def counts(self) -> npt.NDArray[np.uint64]: ...
    def first(self) -> npt.NDArray[np.uint64] | None: ...
    def merge(self, other: RawCounts) -> RawCounts:
        """Sum both; first positions are dropped where a source occurs in both."""

class LearnedEntries:
    """What a learner made: entries in id order and the joins that led there."""

    vocab: list[str]
    joins: list[tuple[str, str, str, int, float]]
    """(left, right, joined, pair count, score) for each join; empty for `top-down`."""
    stopped_early: str | None
    """Why fewer than `vocab_size` entries were learned, if so."""

def learn_further_entries(
    core: Core,
    counts: RawCounts,
    *,
    vocab_size: int,
    score: str,
    ties: str,
    min_frequency: int,
    continuing_subword_prefix: str,
    max_token_length: int | None,
    barriers: Sequence[int],
    progress: Callable[[int, int], object] | None,
) -> LearnedEntries:
    """Join further entries in words segmented by `core`, until its model has `vocab_size`.

    In the result the entries of the model come first, in the order of their ids. Pieces with ids in
    `barriers` are never joined. `progress(done, total)` as for `learn_wordpiece`.
    """

def learn_wordpiece(
    counts: RawCounts,
    *,
    vocab_size: int,
    score: str,
    ties: str | None,
    min_frequency: int,
    limit_alphabet: int | None,
    initial_alphabet: Sequence[str],
    special_tokens: Sequence[str],
    continuing_subword_prefix: str,
    max_token_length: int | None,
    progress: Callable[[int, int], None] | None,
) -> LearnedEntries:
    """Learn a WordPiece vocabulary; calls `progress(done, total)` a few times a second."""

def learn_bpe(
    counts: RawCounts,
    *,
    vocab_size: int,
    min_frequency: int,
    limit_alphabet: int | None,
    initial_alphabet: Sequence[str],
    special_tokens: Sequence[str],
    continuing_subword_prefix: str,
    end_of_word_suffix: str,
    max_token_length: int | None,
    ties: str,
    progress: Callable[[int, int], None] | None,
) -> LearnedEntries:
    """Learn a byte-pair vocabulary; `ties` is lowest-ids or greatest-strings; the joins are the merges."""

class LearnedPieces:
    """What the Unigram learner made: entries in id order with their scores, and its steps."""

    pieces: list[tuple[str, float]]
    steps: list[tuple[int, float]]
    """(number of pieces, log-likelihood of the corpus) for each estimate."""

def learn_unigram(
    counts: RawCounts,
    *,
    vocab_size: int,
    special_tokens: Sequence[str],
    user_defined_symbols: Sequence[str],
    byte_fallback: bool,
    character_coverage: float,
    initial_alphabet: Sequence[str],
    seed_size: int,
    max_piece_length: int,
    shrinking_factor: float,
    num_sub_iterations: int,
    num_threads: int,
    progress: Callable[[int, int], None] | None,
) -> LearnedPieces:
    """Learn a Unigram vocabulary of exactly `vocab_size` entries; progress as in the other learners."""

def learn_sentencepiece(
    counts: RawCounts,
    *,
    model_type: str,
    vocab_size: int | None,
    hard_vocab_limit: bool,
    character_coverage: float,
    required_chars: str,
    max_sentencepiece_length: int,
    split_by_unicode_script: bool,
    split_by_number: bool,
    split_digits: bool,
    split_by_whitespace: bool,
    allow_whitespace_only_pieces: bool,
    treat_whitespace_as_suffix: bool,
    pretokenization_delimiter: str,
    seed_sentencepiece_size: int,
    shrinking_factor: float,
    num_sub_iterations: int,
    symbols: Sequence[str],
    seeds: Sequence[tuple[str, int]] | None,
    num_threads: int,
    progress: Callable[[int, int], None] | None,
) -> LearnedPieces:
    """Learn the pieces of a SentencePiece model.

    The settings are those of `SentencePieceTrainer`; `vocab_size=None` keeps all pieces of a word or
    character model. `symbols` are pieces that are not learned. `seeds`, with their counts, replace those of
    the corpus (Unigram). Returns fewer than `vocab_size` pieces where `hard_vocab_limit` is off.
    """
