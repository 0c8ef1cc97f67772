"""Tokenizer files: which format a file has, by its content, and what else that format needs.

A path and what the caller says about it go in, a compiled core comes out with the way in which the owner
of the format treats special tokens in text.
"""

from __future__ import annotations

import os

from piecework._core import (
    Core,
    fingerprint,
    is_cache,
    is_sentencepiece,
    read_clip,
    read_sentencepiece,
    read_tekken,
    read_tiktoken,
    read_vocab_merges,
)
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.compiled_cache import SUFFIX, Loaded, cached, through_cache
from piecework.io.read_file import reason

# Specifications are imported for the formats that lack a pipeline: the others are read without any.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from piecework.spec import PreTokenizer, SpecialInText

OWN_SUFFIX = ".piecework"

# What a file of this library alone begins with, up to its specification; other readers refuse it.
_OWN_HEAD = b'{"piecework":1,"special_in_text":"'
_OWN_MIDDLE = b'","tokenizer":'

_PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
_MAX_UNPACKED_BYTES = 1 << 29
_HEAD_BYTES = 8
# Frames from the caller of `Tokenizer.load` to a function for one format.
_LOADER = 5

_RANK_LINE = rb"\s*[A-Za-z0-9+/]+={0,2} \d+\s*(\n|$)"
_FLAT_OBJECT = rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\d'


class Hints:
    """What the caller says about a file; every format takes some of it and refuses the rest."""

    def __init__(
        self,
        lowercase: bool | None = None,
        merges: PathLike | None = None,
        encoding: str | None = None,
        pattern: str | tuple[str, ...] | None = None,
        special_tokens: Mapping[str, int] | Collection[str] | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.merges = merges
        self.encoding = encoding
        self.pattern = pattern
        self.special_tokens = special_tokens

    def with_merges(self, merges: str) -> Hints:
        """Return the same with another file of merges."""
        return Hints(self.lowercase, merges, self.encoding, self.pattern, self.special_tokens)

    def refuse_all_but(self, taken: tuple[str, ...], what: str) -> None:
        """Refuse what a format has no use for: it says that itself, or cannot be told."""
        for name, value in vars(self).items():
            if value is not None and name not in taken:
                raise ArgumentError(name, _shown(value), f"None for {what}")


def file_format(
    path: PathLike, *, merges: PathLike | None = None, encoding: str | None = None
) -> str:
    """Return the name of the format in which `Tokenizer.load` reads a file, such as "vocab.txt".

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "words"
    >>> _ = path.write_text("[UNK]\\nhug\\n")
    >>> file_format(path)
    'vocab.txt'

    `merges` and `encoding` are those given to `load`. Raises `FileError` for a file that cannot be read.
    """
    source = path_text(path)
    hints = Hints()
    if os.path.isdir(source):
        source, hints = _in_directory(source, hints)
    packed = _bytes_of(source)
    if is_cache(packed):
        return "compiled cache"
    data = _unpacked(packed, source)
    if data.startswith(_OWN_HEAD):
        return "piecework file"
    if merges is not None or hints.merges is not None:
        return "vocab.json with merges.txt"
    if encoding is not None or _begins_ranks(data):
        return f"tiktoken ranks ({encoding})" if encoding else "tiktoken ranks"
    if is_sentencepiece(data):
        return "SentencePiece .model"
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        is_tekken = b'"token_bytes"' in data and b'"default_vocab_size"' in data
        return "tekken.json" if is_tekken else "tokenizer.json"
    first = data[: data.find(b"\n") + 1]
    return "CLIP merges" if b"bpe_simple_vocab_16e6" in first else "vocab.txt"


def read_tokenizer(path: PathLike, hints: Hints, compiled_cache: bool | PathLike = False) -> Loaded:
    """Read a tokenizer from a file, or from a directory that holds one under its usual name.

    A compiled cache is read where the path ends in `.pwc` or `compiled_cache` is given. With another source,
    `compiled_cache` names the cache to keep; True stands for the one beside the source.
    """
    source = path_text(path)
    if os.path.isdir(source):
        source, hints = _in_directory(source, hints)
    if source.endswith(SUFFIX):
        return _read_cache(source, hints)
    packed = _bytes_of(source)
    if is_cache(packed):
        if compiled_cache is False:
            expected = f"compiled_cache=True to read it, or a name that ends in {SUFFIX}"
            raise FormatError(source, "a compiled cache under another name", expected)
        return _read_cache(source, hints)
    if compiled_cache is False:
        return _read(_unpacked(packed, source), source, hints)
    merges = b"" if hints.merges is None else _bytes_of(path_text(hints.merges))
    said = repr({**vars(hints), "merges": None}).encode()
    target = source + SUFFIX
    if compiled_cache is not True:
        target = path_text(compiled_cache, "compiled_cache")
    key = fingerprint([packed, merges, said])
    return through_cache(target, key, lambda: _read(_unpacked(packed, source), source, hints))


def _read_cache(source: str, hints: Hints) -> Loaded:
    hints.refuse_all_but((), "a compiled cache, which says everything itself")
    return cached(source)


def _read(data: bytes, source: str, hints: Hints) -> Loaded:
    if hints.merges is not None:
        return _read_pair(data, source, hints)
    if hints.encoding is not None or _begins_ranks(data):
        return _read_ranks(data, source, hints)
    if is_sentencepiece(data):
        hints.refuse_all_but((), "a SentencePiece model, which says it itself")
        return read_sentencepiece(data, source), "parse"
    head = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"{"):
        return _read_json(data.removeprefix(b"\xef\xbb\xbf"), head, source, hints)
    return _read_lines(data, source, hints)


def _begins_ranks(data: bytes) -> bool:
    # Most files are told apart without a regular expression, whose import would take as long as the rest.
    line, end, _ = data[:1024].lstrip().partition(b"\n")
    if line.startswith(b"{") or (end and b" " not in line):
        return False
    import re

    return re.match(_RANK_LINE, data) is not None


def _begins_flat_object(head: bytes) -> bool:
    """Tell whether the first value of an object is a number."""
    import re

    return re.match(_FLAT_OBJECT, head) is not None


def _begins_with_version(head: bytes) -> bool:
    """Tell whether the first value of an object is a text, `version`, as in nearly every tokenizer.json."""
    key, _, value = head[1:64].partition(b":")
    return key.strip() == b'"version"' and value.lstrip().startswith(b'"')


def _in_directory(folder: str, hints: Hints) -> tuple[str, Hints]:
    def file(name: str) -> str | None:
        path = os.path.join(folder, name)
        return path if os.path.isfile(path) else None

    whole = file("tokenizer.json")
    if whole is not None:
        return whole, hints
    for names in _PAIRS:
        vocab, merges = map(file, names)
        if vocab is not None and merges is not None:
            return vocab, _with_merges(hints, merges)
    expected = "tokenizer.json, vocab.json with merges.txt, or encoder.json with vocab.bpe in it"
    raise FileError(folder, "a directory", expected)


def _with_merges(hints: Hints, merges: str) -> Hints:
    if hints.merges is not None:
        raise ArgumentError("merges", _shown(hints.merges), "None for a directory that holds both")
    return hints.with_merges(merges)


def _bytes_of(source: str) -> bytes:
    try:
        with open(source, "rb", buffering=0) as file:
            # A compiled cache is read by the core.
            head = file.read(_HEAD_BYTES) or b""
            if is_cache(head):
                return head
            if file.seekable():
                # Nothing is copied then.
                file.seek(0)
                head = b""
            return head + file.read()
    except OSError as error:
        raise FileError(source, reason(error), "a tokenizer file") from error


def _unpacked(data: bytes, source: str) -> bytes:
    """Unpack what is gzip."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    import gzip
    import zlib

    try:
        with gzip.open(source) as stream:
            unpacked = stream.read(_MAX_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(source, f"gzip that is damaged: {error}", "a whole file") from error
    if len(unpacked) > _MAX_UNPACKED_BYTES:
        raise FormatError(source, "over 512 MiB when unpacked", "a tokenizer file")
    return unpacked


# ---- one function a format


def own_text(core: Core, special_in_text: SpecialInText) -> bytes:
    """Write a tokenizer for this library alone, with what a portable `tokenizer.json` cannot hold."""
    text = core.to_json(False).encode()
    return b"".join((_OWN_HEAD, special_in_text.encode(), _OWN_MIDDLE, text, b"}\n"))


def _read_own(data: bytes, source: str, hints: Hints) -> Loaded:
    hints.refuse_all_but((), "a .piecework file, which says it itself")
    treatment, middle, text = data.removeprefix(_OWN_HEAD).partition(_OWN_MIDDLE)
    treatments: tuple[SpecialInText, ...] = ("parse", "text", "refuse")
    for known in treatments:
        if treatment == known.encode() and middle and text.rstrip().endswith(b"}"):
            return Core.from_json(text.rstrip()[:-1], source), known
    found = "a head that is damaged"
    raise FormatError(source, found, f"a file that `save` wrote as {OWN_SUFFIX}")


def _read_json(data: bytes, head: bytes, source: str, hints: Hints) -> Loaded:
    if head.startswith(_OWN_HEAD):
        return _read_own(head, source, hints)
    # What says its version first is told without a regular expression and without a look at the rest.
    if not _begins_with_version(head):
        if _begins_flat_object(head):
            expected = "the file of its merges"
            raise ArgumentError("merges", f"None for the vocabulary {source}", expected)
        if b'"token_bytes"' in data and b'"default_vocab_size"' in data:
            hints.refuse_all_but((), "a tekken.json, which says it itself")
            return read_tekken(data, source), "text"
    hints.refuse_all_but((), "a tokenizer.json, which says it itself")
    return warned(Core.from_json(data, source), data, source, "document", _LOADER), "parse"


def _read_lines(data: bytes, source: str, hints: Hints) -> Loaded:
    first = data[: data.find(b"\n") + 1]
    if b"bpe_simple_vocab_16e6" in first:
        hints.refuse_all_but((), "CLIP's list of merges")
        return read_clip(data, source), "parse"
    if first.startswith(b"#version"):
        expected = "its vocabulary, with this file as merges="
        raise FormatError(source, "a list of merges alone", expected)
    hints.refuse_all_but(("lowercase",), "a vocab.txt")
    core = Core.from_vocab_txt(data, source, hints.lowercase)
    return warned(core, data, source, "lines", _LOADER), "parse"


def _read_pair(vocab: bytes, source: str, hints: Hints) -> Loaded:
    hints.refuse_all_but(("merges", "pattern", "special_tokens"), "a vocabulary with merges")
    merges = path_text(hints.merges) if hints.merges is not None else ""
    pipeline = None if hints.pattern is None else _pipeline_json(pre_tokenizer_for(hints.pattern))
    special = None if hints.special_tokens is None else list(hints.special_tokens)
    core = read_vocab_merges(
        vocab, _unpacked(_bytes_of(merges), merges), (source, merges), pipeline, special
    )
    return core, "parse"


def _read_ranks(data: bytes, source: str, hints: Hints) -> Loaded:
    if hints.encoding is not None:
        return _read_named_ranks(data, source, hints)
    hints.refuse_all_but(("pattern", "special_tokens"), "a file of ranks")
    if hints.pattern is None:
        expected = 'encoding="cl100k_base" or another name, or pattern= and special_tokens='
        raise ArgumentError("encoding", f"None for {source}, which has ranks alone", expected)
    special = hints.special_tokens or {}
    from collections.abc import Mapping

    if not isinstance(special, Mapping):
        raise ArgumentError("special_tokens", _shown(special), "a mapping from tokens to ids")
    pipeline = _pipeline_json(pre_tokenizer_for(hints.pattern))
    core = read_tiktoken(data, source, pipeline, list(special.items()))
    return warned(core, data, source, "ranks", _LOADER), "refuse"


def _read_named_ranks(data: bytes, source: str, hints: Hints) -> Loaded:
    import hashlib

    from piecework.spec import named_encoding, named_pre_tokenizer

    hints.refuse_all_but(("encoding",), "an encoding by name, which says it itself")
    encoding = named_encoding(str(hints.encoding))
    found = hashlib.sha256(data).hexdigest()
    if found != encoding.sha256:
        expected = f"{encoding.sha256}, that of {encoding.rank_file} as it is published"
        raise FormatError(f"{source}: sha256", found, expected)
    pipeline = _pipeline_json(named_pre_tokenizer(encoding.pattern))
    special = list(encoding.special_tokens.items())
    return read_tiktoken(data, source, pipeline, special), "refuse"


def pre_tokenizer_for(pattern: str | tuple[str, ...]) -> PreTokenizer:
    r"""Return the pre-tokenizer for the name of a pattern, a regular expression or several in turn.

    >>> from piecework.spec import NAMED_PATTERNS
    >>> pre_tokenizer_for("qwen3") == pre_tokenizer_for(NAMED_PATTERNS["qwen3"])
    True
    """
    from piecework.spec import NAMED_PATTERNS, named_pre_tokenizer, split_bytes

    if isinstance(pattern, str):
        known = pattern in NAMED_PATTERNS
        return named_pre_tokenizer(pattern) if known else split_bytes((pattern,))
    return split_bytes(tuple(pattern))


def _pipeline_json(pre_tokenizer: PreTokenizer) -> bytes:
    import json

    return json.dumps({"pre_tokenizer": pre_tokenizer.to_json()}).encode()


def warned(core: Core, data: bytes, source: str, origin: str, stacklevel: int) -> Core:
    """Return the core; warn with `FormatWarning` of what its file probably says by mistake."""
    for message in core.warnings(origin, data):
        import warnings

        from piecework.errors import FormatWarning

        warnings.warn(f"{source}: {message}", FormatWarning, stacklevel=stacklevel + 1)
    return core


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
