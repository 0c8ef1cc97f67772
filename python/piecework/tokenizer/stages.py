"""Use the stages of a tokenizer one by one: as data, from JSON, or each alone.

`Tokenizer.normalize`, `pre_tokenize` and `with_...` are the common cases; these functions take the tokenizer
first. `normalize` and `pre_tokenize` take a stage, and need no tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from piecework._internal._core import encode_word_of_bytes
from piecework._internal.validation import (
    check_choice,
    check_tokenizer,
    check_type,
    id_list,
    listed,
)
from piecework.spec import Char, Normalizer, PreTokenizer, TokenizerSpec
from piecework.tokenizer import Tokenizer
from piecework.tokenizer.decode_stream import DecodeStreams
from piecework.tokenizer.encoding import Encoding

if TYPE_CHECKING:
    from piecework._internal.types import Ids


__all__ = [
    "decode_streams",
    "encode_pre_token",
    "metaspace_word_ids",
    "normalize",
    "normalize_with_offsets",
    "pre_tokenize",
    "stages_of",
    "with_stages",
]

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens")


def normalize(normalizer: Normalizer, text: str) -> str:
    """Apply a normalizer to a text.

    >>> import piecework as pw
    >>> pw.tokenizer.stages.normalize(pw.spec.BertNormalizer(), "Héllo")
    'hello'

    Each call compiles the normalizer; for many texts, make a tokenizer and call its `normalize`. Raises
    `InputTypeError` for another stage.
    """
    check_type("normalizer", normalizer, Normalizer, "a normalizer of piecework.spec")
    return Tokenizer(Char({"[UNK]": 0}), normalizer=normalizer).normalize(text)


def pre_tokenize(pre_tokenizer: PreTokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Split a text with a pre-tokenizer; return each word with its character span.

    >>> import piecework as pw
    >>> pw.tokenizer.stages.pre_tokenize(pw.spec.ByteLevel(add_prefix_space=False), "hug hugs!")
    [('hug', (0, 3)), ('Ġhugs', (3, 8)), ('!', (8, 9))]

    Each call compiles the pre-tokenizer; for many texts, make a tokenizer and call its `pre_tokenize`. Raises
    `InputTypeError` for another stage.
    """
    expected = "a pre-tokenizer of piecework.spec"
    check_type("pre_tokenizer", pre_tokenizer, PreTokenizer, expected)
    tokenizer = Tokenizer(Char({"[UNK]": 0}), pre_tokenizer=pre_tokenizer)
    return tokenizer.pre_tokenize(text)


def stages_of(tokenizer: Tokenizer) -> TokenizerSpec:
    """Return the specification with a model that has no entries, without reading the vocabulary.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=pw.spec.Lowercase())
    >>> pw.tokenizer.stages.stages_of(tok).normalizer
    Lowercase()

    Added tokens, truncation and padding are included. `tokenizer.spec` has the vocabulary too.
    """
    check_tokenizer(tokenizer)
    return tokenizer._stages()


def with_stages(tokenizer: Tokenizer, stages: Mapping[str, Any]) -> Tokenizer:
    """Return a tokenizer with some stages of a parsed `tokenizer.json` and the model of this one.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> lowercasing = pw.tokenizer.stages.with_stages(tok, {"normalizer": {"type": "Lowercase"}})
    >>> lowercasing.encode("A").ids
    [1]

    `stages` maps `normalizer`, `pre_tokenizer`, `post_processor`, `decoder` or `added_tokens` to its
    JSON value. Other stages stay. The compiled tables of the model are shared. Raises `ArgumentError`
    for another name, and `FormatError` with the field.
    """
    check_tokenizer(tokenizer)
    check_type("stages", stages, Mapping, "a mapping from stages to JSON values")
    for name in stages:
        check_choice("stages", name, _STAGES)
    text, functions = stages_of(tokenizer).without_stages(stages).to_core()
    return tokenizer._restaged(json.dumps({**json.loads(text), **stages}), functions)


def normalize_with_offsets(tokenizer: Tokenizer, text: str) -> tuple[str, list[int]]:
    """Apply the normalizer alone; also return where each character of the result starts in `text`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=pw.spec.NFKC())
    >>> pw.tokenizer.stages.normalize_with_offsets(tok, "½l")
    ('1⁄2l', [0, 0, 0, 1, 2])

    Offsets count characters of `text`. The last one is the end of the last character, so there is one
    more than characters. A text that normalizes to nothing has no offset, or with SentencePiece's
    normalizer the end that `sentencepiece` returns.
    """
    check_tokenizer(tokenizer)
    return tokenizer._core.normalize_with_offsets(text)


def encode_pre_token(tokenizer: Tokenizer, data: bytes) -> list[int]:
    r"""Return the ids of one pre-token of a byte-level model, given as bytes; they need not be UTF-8.

    >>> import piecework as pw
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"\xe2\x82": 256}
    >>> tok = pw.Tokenizer.from_ranks(ranks, pattern="gpt2")
    >>> pw.tokenizer.stages.encode_pre_token(tok, b"\xe2\x82"), tok.encode("€").ids
    ([256], [256, 172])

    Normalizer, pre-tokenizer, added tokens and post-processor are not applied.
    """
    check_tokenizer(tokenizer)
    check_type("data", data, bytes, "bytes")
    return encode_word_of_bytes(tokenizer._core, data)


def decode_streams(
    tokenizer: Tokenizer,
    prefills: Sequence[Ids],
    *,
    skip_special_tokens: bool = True,
    clean_up: bool | None = None,
    encoding_errors: Literal["replace", "ignore", "strict"] = "replace",
) -> DecodeStreams:
    """Return a stream that decodes several sequences side by side, one for each list of `prefills`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pw.tokenizer.stages.decode_streams(tok, [[1], []]).step([2, 1])
    [' b', 'a']

    The other arguments are the same as for `Tokenizer.decode`.
    """
    given = listed(prefills, "prefills", "ids")
    rows = [id_list(row, f"prefills[{i}]") for i, row in enumerate(given)]
    raw = tokenizer._core.decode_stream(rows, skip_special_tokens, clean_up)
    if encoding_errors == "replace":
        return DecodeStreams(raw, tokenizer)
    from piecework.vocabulary.decoding import stream_errors

    errors = stream_errors(tokenizer, rows, skip_special_tokens, encoding_errors)
    return DecodeStreams(raw, tokenizer, errors)


def metaspace_word_ids(encoding: Encoding) -> list[int | None]:
    """Return the word of each token, where a token that begins with the metaspace ▁ begins a word.

    >>> import piecework as pw
    >>> vocab = {token: id for id, token in enumerate("<unk> ▁ a b ▁a ▁b".split())}
    >>> model = pw.spec.BPE(vocab, (("▁", "a"), ("▁", "b")), unk_token="<unk>")
    >>> encoding = pw.Tokenizer(model, normalizer=pw.spec.Replace(" ", "▁")).encode("ab ab b")
    >>> encoding.word_ids, pw.tokenizer.stages.metaspace_word_ids(encoding)
    ([0, 0, 0, 0, 0], [0, 0, 1, 1, 2])

    Models in the style of Llama have no pre-tokenizer, so that a whole text is one pre-token, as in
    `tokenizers`. Every pre-token and added token begins a word too. A pair is counted from 0, and so is each
    window of a truncated text. The row of a batch needs `encode_batch(..., offsets=True)`.
    """
    check_type("encoding", encoding, Encoding, "an Encoding")
    numbers: list[int | None] = []
    number = -1
    before: tuple[int | None, int | None] = (None, None)
    columns = (encoding.tokens, encoding.word_ids, encoding.sequence_ids)
    for token, word, sequence in zip(*columns, strict=True):
        if word is None:
            numbers.append(None)
            continue
        if sequence != before[0]:
            number = -1
        if (sequence, word) != before or token.startswith("▁"):
            number += 1
        before = (sequence, word)
        numbers.append(number)
    return numbers
