"""Readers of tokenizer formats: each compiles a core from uncompressed bytes and load options.

Each reader also returns the `parse_special` of the library that owns the format. To add a
format, name it in `format_detection` and add a reader to `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from piecework._internal._core import (
    Core,
    read_clip,
    read_piecework_file,
    read_sentencepiece,
    read_sentencepiece_normalizer,
    read_tekken,
    read_tiktoken,
    read_vocab_merges,
)
from piecework._internal.validation import check_text, check_type, listed, path_text, whole_number
from piecework._internal.warn import warn
from piecework.errors import ArgumentError, FormatError, FormatWarning, InputTypeError
from piecework.io import format_detection as formats
from piecework.io.gguf_files import compile_gguf, model_options
from piecework.io.load_options import LoadOptions, shortened
from piecework.io.source_bytes import gunzipped, source_bytes
from piecework.spec.split_patterns import GPT2_PATTERN, PATTERNS

# Formats that contain their pipeline are read without importing `piecework.spec`.
if TYPE_CHECKING:
    from piecework.spec import ParseSpecial, PreTokenizer, SentencePieceNormalizer

CoreAndSpecial: TypeAlias = "tuple[Core, ParseSpecial]"
"""A compiled core, and the `parse_special` of its tokenizer."""

# `ByteLevel(add_prefix_space=False)`, which has this pattern.
_GPT2_PIPELINE = (
    b'{"pre_tokenizer": {"type": "ByteLevel",'
    b' "add_prefix_space": false, "trim_offsets": true, "use_regex": true}}'
)


# ---- JSON documents


_TRAINING_LOG = b'{"format": "piecework training"'
"""The first bytes of the files of `LearnedVocabulary.save`."""


def read_tokenizer_json(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read a tokenizer.json."""
    options.reject_unused((), "a tokenizer.json, which contains this setting")
    data = data.removeprefix(formats.BYTE_ORDER_MARK)
    if data.startswith(_TRAINING_LOG):
        beside = f"{source.removesuffix('.training.json')}.json"
        expected = f"load the tokenizer beside it, such as {beside}"
        raise FormatError(source, f"has the merges of a training run, not a tokenizer; {expected}")
    core = Core.from_json(data, source)
    return warned(core, data, source, "document"), True


def read_tekken_json(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read Mistral's tekken.json, whose library parses no special tokens in text."""
    options.reject_unused((), "a tekken.json, which contains this setting")
    return read_tekken(data.removeprefix(formats.BYTE_ORDER_MARK), source), False


def read_saved_file(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read a `.piecework` file, which `Tokenizer.save` wrote."""
    options.reject_unused((), "a .piecework file, which contains this setting")
    return read_piecework_file(data, source)


def reject_vocab_json(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Raise `ArgumentError` for a vocab.json without its merges, `FormatError` for other numbers by name."""
    if not _is_vocabulary(data, source):
        if source.endswith(formats.TOKENIZER_JSON):
            return read_tokenizer_json(data, source, options)  # which names the field
        expected = "a tokenizer.json, or a vocabulary with ids from 0"
        raise FormatError(source, f"is a JSON object but not a tokenizer; load {expected}")
    message = f"must be the path of the merges file of {source}, which is a vocabulary of merges"
    raise ArgumentError("merges", message)


def _is_vocabulary(data: bytes, source: str) -> bool:
    """Return whether the values of a JSON object are ids; raise `FormatError` for damaged JSON."""
    import json

    try:
        ids = json.loads(data).values()
    except (ValueError, RecursionError):
        # Raises with line and column.
        Core.from_json(data.removeprefix(formats.BYTE_ORDER_MARK), source)
        return False
    return all(type(id) is int for id in ids) and 0 in ids


# ---- lines of text


def read_vocab_txt(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read BERT's vocab.txt."""
    options.reject_unused(("lowercase",), "a vocab.txt")
    core = Core.from_vocab_txt(data, source, options.lowercase)
    return warned(core, data, source, "lines"), True


def read_clip_merges(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read CLIP's `bpe_simple_vocab_16e6.txt`."""
    options.reject_unused((), "CLIP's list of merges")
    return read_clip(data, source), True


def reject_merges_txt(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Raise `FormatError` for a merges.txt without its vocabulary."""
    raise FormatError(source, "is a merges file; load its vocabulary, and pass this file as merges")


# ---- vocabulary with merges


def read_vocabulary_and_merges(vocab: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read vocab.json with merges.txt."""
    options.reject_unused(("merges", "pattern", "special_tokens"), "a vocabulary with merges")
    merges = path_text(options.merges) if options.merges is not None else ""
    pipeline = None
    if options.pattern is not None:
        pipeline = _pipeline_json(pre_tokenizer_for(options.pattern))
    special = None if options.special_tokens is None else list(options.special_tokens)
    merges_data = gunzipped(source_bytes(merges), merges)
    core = read_vocab_merges(vocab, merges_data, (source, merges), pipeline, special)
    return core, True


# ---- SentencePiece


def read_sentencepiece_model(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read a SentencePiece `.model` of any of the four types."""
    options.reject_unused((), "a SentencePiece model, which contains this setting")
    return read_sentencepiece(data, source), True


def read_normalizer(data: bytes, source: str) -> SentencePieceNormalizer:
    """Read only the normalizer of a SentencePiece `.model`, which need not have pieces.

    `source` names the data in errors. Raises `FormatError` with the field.
    """
    from piecework.spec import SentencePieceNormalizer

    charsmap, prefix, remove, escape = read_sentencepiece_normalizer(data, source)
    return SentencePieceNormalizer(
        charsmap,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=remove,
        escape_whitespaces=escape,
    )


# ---- GGUF


def read_gguf_file(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read the key-value section of a GGUF file."""
    options.reject_unused(model_options(data, source), "the model of a GGUF file")
    pattern = None if options.pattern is None else pre_tokenizer_for(options.pattern)
    return compile_gguf(data, source, options.lowercase, pattern), True


# ---- tiktoken


def read_tiktoken_ranks(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read tiktoken ranks with the pattern and special tokens of a named encoding or of the caller."""
    if options.encoding_name is not None:
        return _read_named_ranks(data, source, options)
    options.reject_unused(("pattern", "special_tokens"), "tiktoken ranks")
    if options.pattern is None:
        names, advice = (
            ["encoding_name", "pattern"],
            "pass an encoding_name such as 'cl100k_base', or ",
        )
        if source.endswith(
            ".model"
        ):  # Llama 3 and others that kept the name of SentencePiece's file
            names, advice = ["pattern"], "pass "
        advice += "a pattern such as 'llama3', and special_tokens with their ids"
        problem = f"{source} has tiktoken ranks without a pattern"
        raise ArgumentError(names[0], problem, also=names[1:], hint=advice)
    special = options.special_tokens or {}

    if not isinstance(special, Mapping):
        problem = f"must be a mapping from tokens to ids, not {shortened(special)}"
        raise ArgumentError("special_tokens", problem)
    core = read_tiktoken(data, source, _pipeline_of(options.pattern), list(special.items()))
    return warned(core, data, source, "ranks"), "refuse"


def check_ranks(data: bytes, source: str) -> None:
    """Raise `FormatError` with the line of invalid ranks, whatever options they still need."""
    read_tiktoken(data, source, _GPT2_PIPELINE, [])


def compile_ranks(
    ranks: Mapping[bytes, int],
    pattern: str | tuple[str, ...] | PreTokenizer,
    special_tokens: Mapping[str, int],
    source: str,
) -> Core:
    """Compile ranks in memory.

    They are written as a `.tiktoken` file: a line number in an error is the position of an item in `ranks`.
    """
    from base64 import b64encode

    check_type("ranks", ranks, Mapping, "a mapping from bytes to ranks")
    check_type("special_tokens", special_tokens, Mapping, "a mapping from tokens to ids")
    for token in special_tokens:
        check_text("special_tokens", token)
    check_text("source", source)
    special = [
        (token, whole_number(f"special_tokens[{token!r}]", id, 0))
        for token, id in special_tokens.items()
    ]
    try:
        data = b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    except TypeError as error:
        problem = f"must be a mapping from bytes to ranks, not {error}"
        raise InputTypeError("ranks", problem) from error
    pipeline = _pipeline_json(pre_tokenizer_for(pattern))
    return read_tiktoken(data, source, pipeline, special)


def _read_named_ranks(data: bytes, source: str, options: LoadOptions) -> CoreAndSpecial:
    import hashlib

    from piecework.spec import named_encoding, named_pre_tokenizer

    options.reject_unused(("encoding_name",), "a named encoding, which contains this setting")
    encoding = named_encoding(str(options.encoding_name))
    found = hashlib.sha256(data).hexdigest()
    if found != encoding.sha256:
        problem = f"{source} is not the published {encoding.rank_file}"
        digests = f"its SHA-256 is {found}, not {encoding.sha256}"
        raise FormatError(f"{source}: sha256", f"{problem}: {digests}")
    pipeline = _pipeline_json(named_pre_tokenizer(encoding.pattern))
    special = list(encoding.special_tokens.items())
    return read_tiktoken(data, source, pipeline, special), "refuse"


# ---- helpers


def pre_tokenizer_for(pattern: str | tuple[str, ...] | PreTokenizer) -> PreTokenizer:
    r"""Return the byte-level pre-tokenizer of a named pattern or of regular expressions, or `pattern` itself.

    >>> from piecework.spec import NAMED_PATTERNS
    >>> pre_tokenizer_for("qwen3") == pre_tokenizer_for(NAMED_PATTERNS["qwen3"])
    True
    """
    from piecework.spec import NAMED_PATTERNS, PreTokenizer, named_pre_tokenizer, split_bytes

    if isinstance(pattern, PreTokenizer):
        return pattern
    if isinstance(pattern, str):
        known = pattern in NAMED_PATTERNS
        return named_pre_tokenizer(pattern) if known else split_bytes((pattern,))
    return split_bytes(tuple(listed(pattern, "pattern")))


def warned(core: Core, data: bytes, source: str, origin: str) -> Core:
    """Return the core, after a `FormatWarning` for each probable mistake in its file."""
    for message in core.warnings(origin, data):
        warn(f"{source}: {message}", FormatWarning)
    return core


def _pipeline_of(pattern: str | tuple[str, ...]) -> bytes | list[str]:
    """Return the `pipeline` of `read_tiktoken` for a pattern, without importing `spec` if it is a string."""
    if not isinstance(pattern, str):
        return _pipeline_json(pre_tokenizer_for(pattern))
    patterns = PATTERNS.get(pattern)
    if patterns == (GPT2_PATTERN,):
        return _GPT2_PIPELINE
    return [pattern] if patterns is None else list(patterns)


def _pipeline_json(pre_tokenizer: PreTokenizer) -> bytes:
    import json

    return json.dumps({"pre_tokenizer": pre_tokenizer.to_json()}).encode()


READERS: dict[str, Callable[[bytes, str, LoadOptions], CoreAndSpecial]] = {
    formats.TOKENIZER_JSON: read_tokenizer_json,
    formats.TEKKEN_JSON: read_tekken_json,
    formats.PIECEWORK_FILE: read_saved_file,
    formats.VOCAB_JSON: reject_vocab_json,
    formats.VOCAB_TXT: read_vocab_txt,
    formats.CLIP_MERGES: read_clip_merges,
    formats.MERGES_TXT: reject_merges_txt,
    formats.VOCAB_MERGES: read_vocabulary_and_merges,
    formats.SENTENCEPIECE_MODEL: read_sentencepiece_model,
    formats.TIKTOKEN_RANKS: read_tiktoken_ranks,
    formats.GGUF: read_gguf_file,
}
