"""Other libraries that read the same tokenizer file, to measure and to compare with, on one thread.

    tokenizers     any `tokenizer.json`
    transformers   the same, or a folder
    sentencepiece  any `.model`
    tiktoken       a `.tiktoken` file, with the pattern of the loaded tokenizer

A library is imported only if it is used.
"""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from piecework import Tokenizer
from piecework._internal.extras import import_extra
from piecework._internal.validation import PathLike, check_choice, path_text
from piecework.errors import FormatError
from piecework.io.names import tokenizer_file
from piecework.io.read_file import file_bytes
from piecework.spec import NAMED_PATTERNS, ByteLevel, Regex, Split

_EXTRAS = {"transformers": "transformers"}
_TOKENIZERS_THREADS = "TOKENIZERS_PARALLELISM"


@dataclass(frozen=True)
class Peer:
    """Another library, as functions.

    `fresh()` loads a new tokenizer, `encode(tokenizer, texts)` returns the result type of the library, and
    `rows(result)` converts this to lists of ids. `adds_special_tokens`: the ids have those that the
    post-processor adds.
    """

    name: str
    version: str
    fresh: Callable[[], Any]
    encode: Callable[[Any, list[str]], Any]
    rows: Callable[[Any], list[list[int]]]
    adds_special_tokens: bool = False


def read_peer(
    name: str, path: PathLike, tokenizer: Tokenizer, *, add_special_tokens: bool = False
) -> Peer:
    """Return the library `name`, which must read the file `path`; `tokenizer` is the loaded file.

    `path` can be a folder: transformers reads it, the others its tokenizer file. With `add_special_tokens`,
    the libraries that have post-processors run them. No peer truncates, pads or drops merges.

    Raises `ArgumentError` for a name that is not in `PEERS`, `MissingExtraError` if the library is not
    installed, and `FormatError` if it does not read the file.
    """
    check_choice("against", name, tuple(PEERS))
    module = import_extra(name, _EXTRAS.get(name, "bench"))
    source = path_text(path)
    if os.path.isdir(source) and name != "transformers":
        source = tokenizer_file(source)
    try:
        peer = PEERS[name](module, source, tokenizer, add_special_tokens)
        peer.fresh()
    except FormatError:
        raise
    except Exception as error:  # each library has its own exceptions
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FormatError(source, f"cannot be read by {name}: {reason}") from error
    return peer


def _tokenizers(module: Any, source: str, tokenizer: Tokenizer, special: bool) -> Peer:
    def fresh() -> Any:
        loaded = module.Tokenizer.from_file(source)
        loaded.no_truncation()
        loaded.no_padding()
        _turn_dropout_off(loaded.model)
        return loaded

    def encode(loaded: Any, texts: list[str]) -> Any:
        with _one_thread():
            return loaded.encode_batch_fast(texts, add_special_tokens=special)

    def rows(encodings: Any) -> list[list[int]]:
        return [encoding.ids for encoding in encodings]

    return Peer("tokenizers", module.__version__, fresh, encode, rows, special)


def _transformers(module: Any, source: str, tokenizer: Tokenizer, special: bool) -> Peer:
    def fresh() -> Any:
        if os.path.isdir(source):
            loaded = module.AutoTokenizer.from_pretrained(source, local_files_only=True)
        else:
            loaded = module.PreTrainedTokenizerFast(tokenizer_file=source)
        if loaded.is_fast:
            _turn_dropout_off(loaded.backend_tokenizer.model)
        return loaded

    def encode(loaded: Any, texts: list[str]) -> Any:
        with _one_thread():
            return loaded(
                texts,
                add_special_tokens=special,
                truncation=False,
                padding=False,
                verbose=False,
            )

    ids = itemgetter("input_ids")
    return Peer("transformers", module.__version__, fresh, encode, ids, special)


def _turn_dropout_off(model: Any) -> None:
    if getattr(model, "dropout", None) is not None:
        model.dropout = None


def _sentencepiece(module: Any, source: str, tokenizer: Tokenizer, special: bool) -> Peer:
    fresh = partial(module.SentencePieceProcessor, model_file=source)

    def encode(loaded: Any, texts: list[str]) -> Any:
        return loaded.encode(texts, num_threads=1)

    return Peer("sentencepiece", module.__version__, fresh, encode, list)


def _tiktoken(module: Any, source: str, tokenizer: Tokenizer, special: bool) -> Peer:
    pattern = _pattern_of(tokenizer, source)

    def fresh() -> Any:
        return module.Encoding(
            Path(source).stem, pat_str=pattern, mergeable_ranks=_ranks(source), special_tokens={}
        )

    def encode(loaded: Any, texts: list[str]) -> Any:
        return [loaded.encode_ordinary(text) for text in texts]

    return Peer("tiktoken", module.__version__, fresh, encode, list)


PEERS: dict[str, Callable[[Any, str, Tokenizer, bool], Peer]] = {
    "tokenizers": _tokenizers,
    "transformers": _transformers,
    "sentencepiece": _sentencepiece,
    "tiktoken": _tiktoken,
}
"""Name -> function that loads the library for a file."""


def _ranks(source: str) -> dict[bytes, int]:
    """Read ranks; tiktoken's reader is avoided because it caches files by name."""
    data = file_bytes(source, "a file of ranks")
    data = gzip.decompress(data) if source.endswith(".gz") else data
    pairs = (line.split() for line in data.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _pattern_of(tokenizer: Tokenizer, source: str) -> str:
    stages = tokenizer.spec.pre_tokenizer
    for stage in getattr(stages, "pretokenizers", (stages,)):
        if isinstance(stage, Split) and isinstance(stage.pattern, Regex):
            return stage.pattern.pattern
        if isinstance(stage, ByteLevel) and stage.use_regex:
            return NAMED_PATTERNS["gpt2"][0]
    problem = "has no split pattern; tiktoken needs a pre-tokenizer with one pattern"
    raise FormatError(source, problem)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Make `tokenizers` use one thread within the context."""
    before = os.environ.get(_TOKENIZERS_THREADS)
    os.environ[_TOKENIZERS_THREADS] = "false"
    try:
        yield
    finally:
        del os.environ[_TOKENIZERS_THREADS]
        if before is not None:
            os.environ[_TOKENIZERS_THREADS] = before
