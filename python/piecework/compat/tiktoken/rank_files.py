"""Where rank files lie, and ranks given as a mapping."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from piecework._core import Core, read_tiktoken
from piecework.errors import ArgumentError, FileError
from piecework.spec import ByteLevel, NamedEncoding, Regex, SequencePreTokenizer, Split

_OWN = "PIECEWORK_TIKTOKEN_DIR"
_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def find_ranks(encoding: NamedEncoding) -> str:
    """Return the path of the rank file of an encoding; raises `FileError` that says where to put it."""
    for path in _places(encoding):
        if path.is_file():
            return str(path)
    published = f"this file, as published at {encoding.url}"
    expected = f"{published}, in a directory that {_OWN} names, or its path as ranks="
    raise FileError(encoding.rank_file, "no such file, and nothing is downloaded", expected)


def _places(encoding: NamedEncoding) -> Iterator[Path]:
    cached_name = hashlib.sha1(encoding.url.encode(), usedforsecurity=False).hexdigest()
    if folder := os.environ.get(_OWN):
        yield Path(folder, encoding.rank_file)
        yield Path(folder, f"{encoding.rank_file}.gz")
        yield Path(folder, cached_name)
    caches = (os.environ[name] for name in _CACHES if name in os.environ)
    yield Path(next(caches, str(Path(tempfile.gettempdir(), "data-gym-cache"))), cached_name)


def compiled(
    name: str, pattern: str, ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]
) -> Core:
    """Compile an encoding given as data; errors name the lines of the ranks in the order of the mapping."""
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    split = Split(Regex(_in_file_syntax(pattern)), "removed", invert=True)
    stages = SequencePreTokenizer((split, ByteLevel(add_prefix_space=False, use_regex=False)))
    pipeline = json.dumps({"pre_tokenizer": stages.to_json()}).encode()
    return read_tiktoken(b"".join(lines), name, pipeline, list(special_tokens.items()))


_PART = re.compile(
    r"""(?P<escape>\\.) | (?P<set>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])
    | (?P<end>\$) | (?P<interval>\{\d+(?:,\d*)?\}\+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def _in_file_syntax(pattern: str) -> str:
    """Write a pattern of tiktoken in the syntax of a `tokenizer.json`.

    There `$` is the end of a line and `{1,3}+` a repetition of a repetition. Without `+` an interval gives
    back what it took, so its possessive form is refused unless an alternative ends with it: then nothing
    follows that could ask for it.
    """
    parts = list(_PART.finditer(pattern))
    written = []
    for at, part in enumerate(parts):
        text = part[0]
        if part.lastgroup == "end":
            text = r"\z"
        elif part.lastgroup == "interval":
            if at + 1 < len(parts) and parts[at + 1][0] != "|":
                expected = "a possessive interval at the end of an alternative only"
                raise ArgumentError("pat_str", repr(pattern), expected)
            text = text[:-1]
        written.append(text)
    return "".join(written)
