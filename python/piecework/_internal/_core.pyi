"""The compiled core: the whole boundary between Python and Rust.

Calls raise the exceptions of `piecework.errors`. Encoding, decoding, counting, training and reading files
release the GIL while they compute; `Core.encode_text` keeps it for a text under 1024 bytes.

Settings cross as keyword arguments or as typed objects (`SeededSampling`). Settings of lengths, counting and
learning cross as a dict with the fields of the Rust structure; an unknown or missing field raises
`ArgumentError`. Only whole specifications and pipelines are JSON text, in the shape of `tokenizer.json`: the
`data` of `Core.from_json`, the result of `Core.to_json`, the `pipeline` of `read_tiktoken` and
`read_vocab_merges`, the `stages` of a `GgufPipeline`, and the `pipeline_json` of `WordCounter`.

Ids and offsets of a batch cross as numpy arrays without a copy. The lists of an `Encoding` are made when they
are first read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, overload

import numpy as np
import numpy.typing as npt

from piecework.errors import ArgumentError
from piecework.io.gguf_pipelines import GgufPipeline
from piecework.spec import ParseSpecial
from piecework.tokenizer.sampling import SeededSampling

UNICODE_VERSION: str
BUILD_PROFILE: str  # Cargo's profile: "release" for wheels, "quick" for builds from source
__version__: str

class Core:
    """A compiled tokenizer: immutable, shared between threads without locks."""

    @staticmethod
    def from_json(data: bytes, source: str, functions: Sequence[Callable[[str], Any]] = ()) -> Core:
        """Read and compile a `tokenizer.json`; `source` names the file in errors.

        `functions` belong to the custom stages, in the order of the document; no file contains them.
        Each thread attaches to the interpreter to call them.
        """

    @staticmethod
    def from_vocab_txt(data: bytes, source: str, lowercase: bool | None) -> Core:
        """Read a BERT `vocab.txt`; `lowercase=None` infers it from the letter case of the entries."""

    def warnings(self, origin: str, data: bytes) -> list[str]:
        """Return warnings about probable mistakes; `origin` is "document", "lines" or "ranks".

        `data` is the content of the file.
        """

    def to_json(self, pretty: bool) -> str:
        """Write the specification as `tokenizer.json` text."""

    def stages_to_json(self) -> str:
        """Write the stages as `tokenizer.json` text whose model has no entries."""

    def with_stages(self, data: bytes, functions: Sequence[Callable[[str], Any]]) -> Core:
        """Return a core with the stages of `tokenizer.json` text around the same model.

        The model of `data` is ignored. The compiled tables of the model are shared.
        """

    def to_vocab_txt(self) -> bytes:
        """Write one token a line in id order. Raises `VocabularyError` when the ids have gaps."""

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
        """Encode one text or pair with every field; offsets count characters of the original text.

        `parse_special`: the ids of the special tokens recognised in the text, None for all.
        `sampling` draws the segmentation at random.
        """

    def encode_text(self, text: str, add_special_tokens: bool, parse_special: bool) -> Encoding:
        """Encode one text into ids; the other fields of the encoding are made when they are first read.

        Only for a core that `has_late_fields`, which pads and draws nothing. If a text is truncated, only the
        kept part is encoded, until `overflowing` is read. `parse_special`: all special tokens are recognized
        in the text, or none.
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
        """Encode many texts; with `offsets`, also store offsets, word ids and sequence ids.

        With `overflow`, each further window of a truncated text is a row after the first window.
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
        """Count the tokens of each text."""

    def growing_ids(
        self, text: str, parse_special: Sequence[int] | None
    ) -> tuple[list[int], list[int], int]:
        """Encode a text that may grow, without special tokens.

        Returns the ids that no text after it can change, the others, and the character from which on a
        longer text is encoded. The core must not truncate.
        """

    def text_parts(self, text: str, least: int) -> list[str] | None:
        """Divide a text into parts of at least `least` bytes, except the last.

        Their ids without special tokens, one after the other, are the ids of the text. Returns None if
        texts cannot be divided.
        """

    def chunk_text(
        self,
        text: str,
        max_tokens: int,
        *,
        overlap: int,
        at: str,
        add_special_tokens: bool,
        parse_special: Sequence[int] | None,
    ) -> list[tuple[int, int, int]]:
        """Divide a text into chunks of at most `max_tokens` tokens, at a "paragraph", "sentence", "word" or
        "character".

        Returns the first character of each chunk, the one after its last, and its number of tokens. The core
        must neither truncate nor pad.
        """

    def decode(self, ids: Sequence[int], skip_special_tokens: bool, clean_up: bool | None) -> str:
        """Decode ids into text; `clean_up=None` follows the setting of the decoder."""

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
        """Return a decoding stream for each list of `prefill`, positioned after its ids."""

    def continue_decode_stream(
        self,
        states: Sequence[StreamState],
        skip_special_tokens: bool,
        clean_up: bool | None,
        pending: Sequence[str],
    ) -> RawDecodeStream:
        """Return decoding streams that continue from what `RawDecodeStream.state` returned."""

    def filling(self, pad_tokens: Sequence[str]) -> tuple[int | None, str, int, str]:
        """Return the settings that pad a rectangle: padding id, its token, type id, "left" or "right".

        Without a padding setting, the id is the padding piece's, in a SentencePiece model, or of the
        one special token among `pad_tokens`; None if there is none or more than one.
        """

    @property
    def dropout(self) -> float | None:
        """The dropout of a BPE model: the probability that a merge is skipped."""

    @property
    def is_bpe(self) -> bool:
        """Whether the model is BPE of a `tokenizer.json`, not of a SentencePiece `.model`."""

    @property
    def is_plain(self) -> bool:
        """Whether the tokenizer neither truncates nor pads nor drops merges at random."""

    @property
    def has_late_fields(self) -> bool:
        """Whether `encode_text` applies: the tokenizer neither pads nor drops merges at random."""

    @property
    def scores_segmentations(self) -> bool:
        """Whether the model scores segmentations (Unigram); samples then follow the scores."""

    def by_definition(self) -> Core:
        """Return a core with the same tables that encodes stage by stage, without a cache."""

    def with_word_cache_budget(self, bytes: int) -> Core:
        """Return a core whose word caches take at most `bytes` bytes in each thread."""

    def with_truncation(self, settings: Mapping[str, object] | None) -> Core:
        """Return a core that truncates encodings by the fields of `Truncation`; None truncates nothing.

        It shares the compiled tables with this one. Raises `ArgumentError` when the length leaves no room
        for the special tokens or for the stride.
        """

    def with_padding(self, settings: Mapping[str, object] | None) -> Core:
        """Return a core that pads encodings by the fields of `Padding`; None pads nothing.

        It shares the compiled tables with this one. A `length` of None pads to the longest row of a batch.
        Raises `ArgumentError` for a length of 0 or of more than 1048576 tokens.
        """

    def shares_tables_with(self, other: Core) -> bool:
        """Tell whether both cores use the same compiled tables in memory."""

    cache_budget: int
    def warm_up(self) -> None:
        """Build every table that calls build late."""

    def memory(self) -> tuple[int, int, int]:
        """Return the bytes of the tables, of the caches of a thread, and the limit of these caches."""

    def token_to_id(self, token: str) -> int | None: ...
    def id_to_token(self, id: int) -> str | None: ...
    def vocab(self, with_added_tokens: bool) -> dict[str, int]: ...
    def vocab_size(self, with_added_tokens: bool) -> int: ...
    @property
    def id_bound(self) -> int:
        """The smallest number above all ids."""

    def special_tokens(self) -> dict[str, int]:
        """Return the special tokens with their ids."""

    def normalize(self, text: str) -> str:
        """Apply the normalizer alone."""

    def normalize_with_offsets(self, text: str) -> tuple[str, list[int]]:
        """Normalize a text; return the index of the original character for each character, and for the end.

        A text that normalizes to nothing has the end alone, or no index if only leading spaces were removed.
        """

    def pre_tokenize(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Normalize and split a text; return words with their character offsets in the original text."""

def read_tiktoken(
    data: bytes,
    source: str,
    pipeline: bytes | list[str],
    special_tokens: Sequence[tuple[str, int]],
) -> Core:
    """Read `.tiktoken` ranks.

    `pipeline` is a JSON object with a `pre_tokenizer` as in `tokenizer.json`, or the regular expressions that
    split a text in turn.
    """

def read_tekken(data: bytes, source: str) -> Core:
    """Read a `tekken.json`."""

def detect_format(data: bytes) -> str:
    """Return the name of the format of a file that is not compressed, as in `io.format_detection`."""

def read_piecework_file(data: bytes, source: str) -> tuple[Core, ParseSpecial]:
    """Read a `.piecework` file and its `parse_special` setting."""

def write_piecework_file(core: Core, parse_special: ParseSpecial) -> bytes:
    """Write a `.piecework` file: settings that a tokenizer.json lacks, and the rest."""

def read_sentencepiece(data: bytes, source: str) -> Core:
    """Read a SentencePiece `.model`; errors name the file and the field."""

def read_sentencepiece_normalizer(data: bytes, source: str) -> tuple[bytes, bool, bool, bool]:
    """Read the charsmap and the flags of the normalizer of a `.model`, and ignore the rest.

    The flags are `add_dummy_prefix`, `remove_extra_whitespaces` and `escape_whitespaces`.
    """

def write_sentencepiece(core: Core) -> bytes:
    """Write a `.model`; the stages must be SentencePiece's normalizer, model and decoder alone."""

def write_sentencepiece_vocab(core: Core) -> bytes:
    """Write one piece and its score a line."""

def sentencepiece_settings(
    trainer: Sequence[tuple[str, int | float | str | list[str]]],
    normalizer: Sequence[tuple[str, int | float | str | list[str]]],
    denormalizer: Sequence[tuple[str, int | float | str | list[str]]] | None,
) -> bytes:
    """Serialize training settings by their names in the schema: the `rest` of `spec.SentencePiece`."""

def read_sentencepiece_vocab(data: bytes, source: str) -> list[tuple[str, float]]:
    """Read one piece and its score or count a line; the number defaults to 1."""

def is_gguf(head: bytes) -> bool:
    """Tell whether a file begins like a GGUF file."""

def gguf_section_length(path: str, source: str) -> int:
    """Return the length in bytes of the key-value section of a GGUF file, with which the file begins.

    Values are skipped. Raises `OSError`, and `FormatError` for a damaged section; `source` names the file.
    """

def gguf_names(data: bytes, source: str) -> tuple[str, str | None]:
    """Return the names of the model and of the pre-tokenizer; "gpt2" needs the pipeline of the latter.

    `data` begins with the key-value section, like all data of a GGUF file below.
    """

def gguf_roles(data: bytes, source: str) -> list[tuple[str, str]]:
    """Return the names of roles, such as "bos_token", with their tokens."""

def gguf_chat_templates(data: bytes, source: str) -> list[tuple[str, str]]:
    """Return the names of chat templates with their texts; the main one is called "default"."""

def read_gguf(
    data: bytes, source: str, pipeline: GgufPipeline | None, lowercase: bool | None
) -> Core:
    """Read the tokenizer of a GGUF file; a byte-level model needs its pipeline.

    `lowercase` decides the letter case of a BERT model; None takes the file's, or infers it.
    """

def read_clip(data: bytes, source: str) -> Core:
    """Read CLIP's list of merges, decompressed."""

def read_vocab_merges(
    vocab: bytes,
    merges: bytes,
    sources: tuple[str, str],
    pipeline: bytes | None,
    special_tokens: Sequence[str] | None,
) -> Core:
    """Read `vocab.json` and `merges.txt`; `sources` name them in errors.

    `pipeline` is JSON as in `read_tiktoken`.
    """

def write_tiktoken(core: Core) -> bytes:
    """Write `.tiktoken` ranks. Raises `VocabularyError` when the ids do not determine the merges."""

def write_vocab_merges(core: Core) -> tuple[bytes, bytes]:
    """Write `vocab.json` and `merges.txt`. Raises `VocabularyError` for a model that they cannot express."""

def token_bytes(core: Core, id: int) -> bytes | None:
    """Return the bytes of a token; None for an unknown id."""

def vocab_bytes(core: Core) -> list[tuple[int, bytes]]:
    """Return the entries of the model as pairs of id and bytes."""

def decode_bytes(core: Core, ids: Sequence[int]) -> bytes:
    """Decode ids into bytes, special tokens included. Raises `ArgumentError` for an unknown id."""

def encode_word_of_bytes(core: Core, word: bytes) -> list[int]:
    """Segment bytes as one word of a byte-level model; they need not be UTF-8."""

def find_special(
    core: Core, texts: Sequence[str] | TextColumn, special: Sequence[int] | None
) -> tuple[int, int] | None:
    """Return row and id of the first text that contains one of these special tokens (None: any)."""

def kernel_levels() -> list[str]:
    """Return the names of the instruction sets that this CPU supports; the last one is the default."""

def use_kernel_level(name: str) -> None:
    """Use one instruction set in every thread from now on; the results do not depend on it."""

def is_cache(head: bytes) -> bool:
    """Tell whether a file begins like a compiled cache."""

def fingerprint(sources: Sequence[bytes]) -> bytes:
    """Return a fingerprint of 16 bytes of the source files."""

def write_cache(core: Core, parse_special: ParseSpecial, key: bytes) -> bytes:
    """Write a compiled cache; `key` is the fingerprint of its sources."""

@overload
def read_cache(path: str, source: str, key: None) -> tuple[Core, ParseSpecial]: ...
@overload
def read_cache(path: str, source: str, key: bytes) -> tuple[Core, ParseSpecial] | None:
    """Read a compiled cache: the tokenizer and its `parse_special` setting.

    Returns None if the cache has another key. Raises `OSError`, and `FormatError` for a damaged file or
    one of another version; `source` names the file.
    """

def panic_for_tests() -> None:
    """Panic, for tests: the panic continues in the Rust code that called the Python function."""

def panic_in_loading_for_tests() -> Core:
    """Panic while a tokenizer file is read, for tests."""

def available_processors() -> int:
    """Return the number of CPUs available to the process, by CPU affinity and control group."""

class Xxh128:
    """An XXH3 checksum of 128 bits."""

    def __init__(self) -> None: ...
    def update(self, data: bytes) -> None:
        """Add data."""

    def hexdigest(self) -> str:
        """Return the checksum of all data in hexadecimal digits."""

class TextColumn:
    """Texts in UTF-8: a borrowed column of another library, or a copy of the lines of a block."""

    @staticmethod
    def of_arrow(column: Any, place: str) -> TextColumn:
        """Borrow an Arrow column of strings by `__arrow_c_stream__` or `__arrow_c_array__`."""

    @staticmethod
    def of_bytes(flat: npt.NDArray[np.uint8], width: int, len: int) -> TextColumn:
        """Borrow `len` values of `width` bytes each, padded with zeros."""

    @staticmethod
    def of_lines(block: bytes) -> TextColumn | None:
        """Copy the lines of a block, which end at LF or CRLF; None for invalid UTF-8."""

    @staticmethod
    def of_json_lines(
        block: bytes, key: str, path: Sequence[str]
    ) -> tuple[TextColumn, list[tuple[int, int, int]]]:
        """Copy the text of each JSON line; return also the lines that Python must parse.

        The text is under `key`, otherwise under `path`, the keys of nested objects. A blank line and a line
        to parse have an empty text. The latter is the index of the line, and the bytes of `block` at which it
        starts and ends.
        """

    @staticmethod
    def joined(columns: Sequence[TextColumn]) -> TextColumn:
        """Copy the texts of several columns into one."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> str: ...
    def __iter__(self) -> Iterator[str]: ...
    def slice(self, start: int, end: int) -> TextColumn:
        """Return the texts `start` to `end`."""

    def without_blank(self) -> TextColumn:
        """Return the texts that have a character other than whitespace."""

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the size of each text in bytes."""

    def to_list(self) -> list[str]:
        """Return the texts as strings."""

class RawBatch:
    """Many encoded texts; a column becomes a numpy array without a copy when it is first read."""

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
        """Wrap contiguous arrays."""

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """Ids of all rows."""

    @property
    def row_offsets(self) -> npt.NDArray[np.int64]:
        """The index of the first token of each row, and the number of tokens."""

    @property
    def type_ids(self) -> npt.NDArray[np.uint8] | None:
        """Type ids, None when all are 0."""

    @property
    def attention_mask(self) -> npt.NDArray[np.uint8] | None:
        """1 for tokens and 0 for padding, None without padding."""

    @property
    def offsets(self) -> npt.NDArray[np.uint32] | None:
        """Start and end of each token, None unless encoded with `offsets`."""

    @property
    def word_ids(self) -> npt.NDArray[np.int32] | None:
        """The word of each token or -1, None unless encoded with `offsets`."""

    @property
    def sequence_ids(self) -> npt.NDArray[np.int8] | None:
        """The sequence of each token or -1, None unless encoded with `offsets` and pairs."""

    @property
    def samples(self) -> npt.NDArray[np.int64] | None:
        """The index of the text of each row, None unless encoded with `overflow`."""

    token_count: int
    def row(self, row: int) -> list[int]:
        """Return the ids of one row, without numpy until an array is read."""

    def lists(self) -> list[list[int]]:
        """Return a list of ids for each row, without numpy until an array is read."""

    def __len__(self) -> int: ...

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
    def pieces(self) -> list[str]:
        """Tokens as SentencePiece shows pieces: an unknown token is its normalized text.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> e = tok.encode("hugs 🤗")
        >>> e.tokens, e.pieces
        (['hug', '##s', '[UNK]'], ['hug', '##s', '🤗'])

        Rows of a batch keep no text, and raise `ArgumentError`.
        """

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
        """Return the first token that covers a character of a text; None if no token covers it.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> e = tok.encode("hugs hug")
        >>> e.char_to_token(3), e.char_to_token(4)
        (1, None)
        """

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the word that covers a character of a text; None if no token covers it.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hugs hug").char_to_word(6)
        1
        """

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the tokens of a word as (first, one after the last); None for a word without tokens.

        >>> import piecework as pw
        >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
        >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
        >>> tok.encode("hug hugs").word_to_tokens(1)
        (1, 3)
        """

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the characters of a word, from its first token to its last; None for a word without tokens.

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

def encoding_of_row(
    batch: RawBatch, row: int, token_of: Callable[[int], str | None], pad_token: str
) -> Encoding:
    """Return a row of a batch as an `Encoding`; `token_of` maps an id to its token."""

def missing_column(name: str) -> ArgumentError:
    """Return the error for a column that a batch did not keep."""

StreamState: TypeAlias = tuple[list[int], str, list[int], int, int]
"""Ids of the window, its returned text, boundaries, bytes returned since the last one, ids since then."""

class RawDecodeStream:
    """Streams that decode several sequences token by token."""

    def step(self, ids: Sequence[int | None]) -> list[str | None]:
        """Decode the next id of each sequence (None for a finished one); return the text that each adds.

        Unknown ids add no text.
        """

    def copy(self) -> RawDecodeStream:
        """Return streams that continue independently of these."""

    def state(self) -> tuple[list[StreamState], bool, bool | None, list[str]]:
        """Return what each stream remembers, `skip_special_tokens`, `clean_up` and the texts to clean up."""

    def finish(self) -> list[str | None]:
        """Return the text that each sequence still buffers."""

class RawPrompts:
    """Encodes prompts with a tokenizer: text without permission never becomes a guarded token.

    These are the special tokens, those that are no added tokens included: tokens of a role, of the
    post-processor and of padding, control pieces of SentencePiece, and pieces of a Unigram model with a
    customary name, such as `</s>`. So are the user-defined symbols and the other added tokens in `markers`;
    None stands for all except whitespace.
    """

    def __init__(self, core: Core, roles: Sequence[str], markers: Sequence[str] | None) -> None:
        """Prepare a tokenizer. Raises `ArgumentError` for a marker that is not an added token."""

    @property
    def special(self) -> list[str]:
        """The special tokens that are added tokens of prompts."""

    def encode(
        self, text: str, permitted: Sequence[tuple[int, int]], *, add_special_tokens: bool
    ) -> Encoding:
        """Encode a text in which guarded tokens match within the permitted spans of characters only.

        A Unigram model segments other text without guarded pieces. Raises `SpecialTokenError` if another
        model makes a guarded token from it.
        """

class RawRules:
    """Compiled normalization rules of SentencePiece; the longest match at each position applies."""

    @staticmethod
    def named(name: str) -> RawRules:
        """Return the rules nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity."""

    @staticmethod
    def from_pairs(sources: Sequence[str], replacements: Sequence[str]) -> RawRules:
        """Compile rules, each a source and the replacement at the same position."""

    @staticmethod
    def from_tsv(data: bytes, source: str) -> RawRules:
        """Read and compile a rule file; `source` names it in errors."""

    @staticmethod
    def from_charsmap(charsmap: bytes) -> RawRules:
        """Check compiled rules; empty bytes are the identity."""

    def charsmap(self) -> bytes:
        """Return the compiled rules, empty for the identity."""

    def pairs(self) -> list[tuple[str, str]]:
        """Return the rules ordered by source."""

    def to_tsv(self) -> bytes:
        """Write a rule file."""

    def normalize(self, text: str) -> str: ...
    def normalize_with_offsets(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Normalize a text; return the original character offsets of each character too."""

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
    """List up to `n` segmentations of a text: the best or, with `sampling`, random ones.

    Each has its score, its log probability (at the alpha of `sampling`, or at 1) and, without
    `replacement`, the log probability that it is drawn. With `replacement`, sample i is the segmentation
    of row i of a batch.
    """

def entropy(core: Core, text: str, *, alpha: float, parse_special: Sequence[int] | None) -> float:
    """Return the entropy of the segmentations of a text, in nats."""

def scores(core: Core, ids: Sequence[int]) -> list[float | None]:
    """Return the score of each id, None for an id that the model does not score."""

def pieces(
    core: Core, text: str, *, sampling: SeededSampling | None
) -> list[tuple[int, str, tuple[int, int]]]:
    """Segment a text without added tokens into ids with their normalized text and character offsets."""

def piece_segmentations(
    core: Core,
    text: str,
    n: int,
    *,
    sampling: SeededSampling | None,
    replacement: bool,
    include_best: bool,
) -> list[tuple[list[tuple[int, str, tuple[int, int]]], float, float, float | None]]:
    """List up to `n` segmentations like `segmentations`, each in the form of `pieces`."""

class CounterState(TypedDict):
    """The state of a `WordCounter`.

    `runs` are (number, group, words, occurrences), `added` has (source, bytes, texts) of `add_texts`,
    `left_out` counts texts that are too long, words that are too long and texts outside the sample, and
    `progress` is (source, items, replacements): after so many blocks or lists of the source.
    """

    runs: list[tuple[int, int, int, int]]
    added: list[tuple[int, int, int]]
    left_out: tuple[int, int, int]
    progress: tuple[int, int, int]

class WordCounter:
    """Counts the pre-tokens of a corpus in parallel, with the first position of each."""

    def __init__(
        self,
        pipeline_json: str,
        num_threads: int,
        functions: Sequence[Callable[[str], Any]],
        settings: Mapping[str, object],
    ) -> None:
        """Compile `pipeline_json`, an object with `normalizer` and `pre_tokenizer` as in `tokenizer.json`.

        `functions` are as in `Core.from_json`. `settings` has fields of `CounterSettings`. With
        `keep_line_ends`, the line ends of a block belong to its texts. Texts of more than `max_bytes` bytes
        of UTF-8 and texts that contain `reserved` are skipped. With `with_counts`, each text ends with a tab
        and its count, from 1 to 2**64 - 1; empty texts are skipped. `sample` is (share, seed); words of more
        than `max_word_length` characters are skipped. Word counts over `memory` bytes are written as runs in
        `folder`; with `durable`, each run is complete on disk before counting continues.
        """

    def add_texts(
        self, texts: Sequence[str] | TextColumn, source: int, replacements: int = 0
    ) -> None:
        """Count the next texts of `source`, in which `replacements` invalid sequences became U+FFFD."""

    def add_column(self, column: TextColumn, source: int, start: int, end: int) -> None:
        """Count the texts `start` to `end` of a column as the next texts of `source`."""

    def add_block(self, block: bytes, source: int, offset: int, strict: bool, name: str) -> None:
        """Count a block of UTF-8 at byte `offset` of `source`; invalid sequences become U+FFFD or raise."""

    def replacements(self) -> int:
        """Return the number of invalid sequences that became U+FFFD."""

    def start_group(self, group: int) -> None:
        """Count the following sources as another group, whose words have another weight."""

    def left_out(self) -> tuple[int, int, int]:
        """Return the texts that are too long, the words that are too long, the texts outside the sample."""

    def is_partial(self) -> bool:
        """Return whether the last block or list failed, so that a part of it is counted."""

    def checkpoint(self) -> CounterState:
        """Write all word counts as runs and return the state of the counter."""

    def restore(self, state: CounterState) -> None:
        """Continue from the state of another counter with the same folder."""

    def finish(self, numerators: Sequence[int] = (), denominator: int = 1) -> OrderedWords:
        """Return the words in order; the counter cannot be used afterwards.

        `numerators[group] / denominator` is the weight of each group; groups without a numerator weigh 1.
        """

class OrderedWords:
    """The words of a finished counter, in the order of `RawCounts`."""

    def next_words(self, max: int) -> RawCounts:
        """Return the next words, at most `max`; none at the end."""

    def into_counts(self) -> RawCounts:
        """Return all remaining words."""

class RawCounts:
    """Distinct words with u64 counts and, where known, u64 first positions.

    Words are ordered by first position; without positions by descending count, then by code points.
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: npt.NDArray[np.uint64],
        first: npt.NDArray[np.uint64] | None,
        boundaries: Sequence[Sequence[int]] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def words(self) -> list[str]:
        """Return the words, without their boundaries."""

    def has_boundaries(self) -> bool: ...
    def boundaries(self) -> list[list[int]] | None:
        """Return the boundaries inside each word, in characters; None for counts without boundaries."""

    def parts(self) -> RawCounts:
        """Return the counts of the parts between boundaries."""

    def counts(self) -> npt.NDArray[np.uint64]: ...
    def first(self) -> npt.NDArray[np.uint64] | None: ...
    def lengths(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return the length of each word in bytes and in characters."""

    def at_least(self, least: int) -> RawCounts:
        """Return the words that occur at least `least` times."""

    def split(self, pipeline_json: str) -> RawCounts:
        """Return the counts of the words that a pre-tokenizer without a normalizer finds in these words."""

    def isolated_characters(
        self, pipeline_json: str, functions: Sequence[Callable[[str], Any]], characters: str
    ) -> str:
        """Return the characters of the words and of `characters` that a pipeline isolates."""

    def digest(self) -> int:
        """Return a hash of words, counts and first positions."""

    def merge(self, other: RawCounts) -> RawCounts:
        """Sum both; first positions are dropped where a source occurs in both."""

_Merges: TypeAlias = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint64],
    npt.NDArray[np.float64],
]

class LearningLog:
    """What a trainer has learned so far, readable while it runs, after what an earlier run had learned."""

    def __init__(
        self,
        *,
        merges: _Merges | None = None,
        choices: npt.NDArray[np.uint64] | None = None,
        round: tuple[list[tuple[str, float]], list[tuple[int, float]]] | None = None,
        trace: Mapping[str, object] | None = None,
    ) -> None:
        """Begin with what an earlier run with the same counts and settings had learned.

        `trace` has the fields of `TraceSpec`, which say what of the run `take_trace` returns.
        """

    def merges(self) -> _Merges:
        """Return the merges so far: left, right and merged ids, counts and scores."""

    def choices(self) -> npt.NDArray[np.uint64]:
        """Return the choices so far of a trainer that merges no pairs."""

    def take_trace(self) -> dict[str, Any] | None:
        """Remove and return the steps of the run as data, None without a `trace`."""

    def take_round(self) -> tuple[list[tuple[str, float]], list[tuple[int, float]]] | None:
        """Remove and return the last round of a Unigram trainer: pieces with scores, and EM steps."""

def check_memory(bytes: int) -> None:
    """Raise `MemoryLimitError` unless the system provides this many bytes, which are released at once."""

class LearnedEntries:
    """The result of a trainer: entries in id order and the merges in the order of their creation."""

    vocab: list[str]
    merges: list[tuple[str, str, str, int, float]]
    """(left, right, merged token, pair count, score) for each merge; empty without merges."""
    removals: list[tuple[str, float, str | None]]
    """(entry, loss in tokens, entry put back in exchange) for each removal; empty unless requested."""
    stopped_early: str | None
    """The reason why fewer than `vocab_size` entries were learned, else None."""

def continue_training(
    core: Core,
    counts: RawCounts,
    settings: Mapping[str, object],
    *,
    continuing_subword_prefix: str,
    barriers: Sequence[int],
    progress: Callable[[int, int], object] | None,
) -> LearnedEntries:
    """Learn further entries by merging tokens of words segmented by `core`, up to `vocab_size`.

    `settings` has the fields of `MergeSettings`. The result begins with the entries of the model in the order
    of their ids. Tokens with ids in `barriers` are never merged. `progress` is called as in
    `learn_wordpiece`.
    """

def learn_wordpiece(
    counts: RawCounts,
    settings: Mapping[str, object],
    *,
    progress: Callable[[int, int], None] | None,
    sizes: Sequence[int] | None = None,
    log: LearningLog | None = None,
) -> list[LearnedEntries]:
    """Learn a WordPiece vocabulary; calls `progress(done, total)` a few times a second.

    `settings` has the fields of `WordPieceTrainSpec`, and the learner's as a mapping with its `name` in
    `LEARNERS`. A learner that prunes can learn several `sizes`, of which `vocab_size` is the largest; the
    result has one item for each size, else one item. The trainer begins with what an earlier run left in
    `log`, which receives all merges and choices. Only pruning and top-down learners use more than one thread.
    """

def learn_bpe(
    counts: RawCounts,
    settings: Mapping[str, object],
    *,
    progress: Callable[[int, int], None] | None,
    log: LearningLog | None = None,
    sequences: RawCounts | None = None,
) -> LearnedEntries:
    """Learn a BPE vocabulary and its merges; `settings` has the fields of `BpeTrainSpec`.

    With `sequences`, of which the words are `counts`, entries may cross spaces as `superwords` says.
    """

def learn_bpe_by_source(
    sources: Sequence[RawCounts],
    settings: Mapping[str, object],
    parity: Mapping[str, object],
    *,
    parallel: Sequence[RawCounts],
    progress: Callable[[int, int], None] | None,
    log: LearningLog | None = None,
) -> LearnedEntries:
    """Learn a BPE vocabulary and its merges, each merge chosen by the source with the highest cost.

    `settings` has the fields of `BpeTrainSpec`, `parity` the fields of `ParitySpec`. `parallel` has the
    counts of a text for each source, or none.
    """

class LearnedPieces:
    """The result of a Unigram trainer: entries in id order with their scores, and its steps."""

    pieces: list[tuple[str, float]]
    steps: list[tuple[int, float]]
    """(number of pieces, log-likelihood of the corpus) for each estimate."""

def learn_unigram(
    counts: RawCounts,
    settings: Mapping[str, object],
    *,
    num_threads: int,
    progress: Callable[[int, int], None] | None,
    log: LearningLog | None = None,
) -> LearnedPieces:
    """Learn a Unigram vocabulary; `settings` has the fields of `UnigramTrainSpec`.

    `progress` is called as in `learn_wordpiece`; `log` begins with the last round of an earlier run.
    """

def learn_sentencepiece(
    counts: RawCounts,
    settings: Mapping[str, object],
    *,
    num_threads: int,
    progress: Callable[[int, int], None] | None,
    log: LearningLog | None = None,
    sequences: RawCounts | None = None,
) -> LearnedPieces:
    """Learn the pieces of a SentencePiece model; after the transition to superwords from `sequences`.

    `settings` has the fields of `SentencePieceTrainSpec`; `vocab_size` None keeps all pieces of a word or
    character model. Returns fewer than `vocab_size` pieces where `hard_vocab_limit` is off.
    `log` begins with the last round (Unigram) or the merges (BPE) of an earlier run.
    """
