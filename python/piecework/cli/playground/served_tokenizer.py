"""The tokenizers of the page: their descriptions, the tokens of a text, and how they segment a word."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import piecework as pw
from piecework.analysis.readable import bytes_of, is_byte_level, text_of_bytes
from piecework.analysis.round_trip import unknown_id_of
from piecework.cli.playground.training_replay import check_length
from piecework.errors import ArgumentError

WORD_CHARS = 500
"""Characters of a text whose segmentation is explained."""
SEGMENTATIONS = 64
ONLY_HERE, UNKNOWN, TEMPLATE = 1, 2, 4
"""Flags of a token: no other tokenizer has its span, it is unknown, the post-processor added it."""
# The view of a word by the kind of model.
_VIEWS = {"wordpiece": "search", "bpe": "merges", "unigram": "lattice"}
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_ONE_SEGMENTATION = pw.Sampling(nbest_size=1)


class ServedTokenizer:
    """A tokenizer with its name on the page.

    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> ServedTokenizer("hugs", tok).describe()["view"]
    'search'

    Truncation and padding are turned off, and special tokens in the text are recognized.
    """

    def __init__(self, name: str, tokenizer: pw.Tokenizer) -> None:
        self.name = name
        self.tokenizer = tokenizer.without_truncation().without_padding().with_parse_special(True)
        unknown_id = unknown_id_of(tokenizer)
        self.unknown_id = -1 if unknown_id is None else unknown_id
        self._is_byte_level = is_byte_level(tokenizer.spec)
        self._added = {token.content for token in tokenizer.added_tokens}
        model = tokenizer.spec.model
        self._kind = type(model).__name__
        if isinstance(model, pw.spec.SentencePiece):
            self._kind += f" {model.kind}"
        self._view = _VIEWS.get(self._kind.lower().removeprefix("sentencepiece "))

    def describe(self) -> dict[str, Any]:
        """Return what the page shows above the tokens, as JSON data."""
        empty = self.columns("", add_special_tokens=True)
        added = empty.ids[empty.special_tokens_mask == 1].tolist()
        return {
            "name": self.name,
            "model": self._kind,
            "vocabSize": self.tokenizer.get_vocab_size(),
            "view": self._view,
            "samples": self._view in ("lattice", "merges"),
            "added": [self.readable(id)[1] for id in added],
        }

    def columns(self, text: str, *, add_special_tokens: bool = False) -> pw.Batch:
        """Return the tokens of a text, with offsets in UTF-16 units.

        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> ServedTokenizer("characters", tok).columns("a😀").offsets.tolist()
        [[0, 1], [1, 3]]
        """
        return self.tokenizer.encode_batch(
            [text],
            offsets="utf16",
            add_special_tokens=add_special_tokens,
            sampling=_ONE_SEGMENTATION,
            num_threads=1,
        )

    def readable(self, id: int) -> tuple[str, str, str]:
        """Return a token as in the vocabulary, as text, and the bytes of a token that is not text, in hex.

        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> ServedTokenizer("characters", tok).readable(1)
        ('a', 'a', '')
        """
        token = self.tokenizer.id_to_token(id) or ""
        if byte := _BYTE_TOKEN.fullmatch(token):
            return token, token, byte[1].lower()
        data = bytes_of(token) if self._is_byte_level and token not in self._added else None
        if data is None:
            return token, token, ""
        text = text_of_bytes(token)
        return token, text, "" if text.encode() == data else data.hex(" ")

    def explain(self, text: str) -> dict[str, Any]:
        """Return how each word of a short text is segmented, as JSON data."""
        check_length("text", text, WORD_CHARS)
        found = pw.analysis.explain(self.tokenizer, text).to_dict()
        for word in found["words"] if self._is_byte_level else ():
            word["word"] = text_of_bytes(word["word"])
            word["symbols"] = [text_of_bytes(symbol) for symbol in word["symbols"]]
            for step in word["merges"] or ():
                step |= {name: text_of_bytes(step[name]) for name in ("left", "right", "token")}
        return found

    def segmentations(
        self, text: str, draw: str, n: int, alpha: float, seed: int
    ) -> list[dict[str, Any]]:
        """Return the `n` best segmentations of a short text, or `n` samples, as JSON data.

        Only a Unigram model has a score and a log-probability for them; a BPE model has samples only.
        """
        check_length("text", text, WORD_CHARS)
        if not 1 <= n <= SEGMENTATIONS:
            raise ArgumentError("n", f"must be a number from 1 to {SEGMENTATIONS}, not {n}")
        found: list[tuple[list[int], float | None, float | None]]
        plain: dict[str, Any] = {"add_special_tokens": False}
        if self._view == "lattice":
            how = pw.Sampling(alpha=alpha, seed=seed % 2**32)
            scored = (
                pw.tokenizer.lattice.nbest(self.tokenizer, text, n, **plain)
                if draw == "best"
                else pw.tokenizer.lattice.sample(self.tokenizer, text, n, how, **plain)
            )
            found = [(one.encoding.ids, one.score, one.log_probability) for one in scored]
        elif self._view == "merges" and draw == "sample":
            how = pw.Sampling(dropout=alpha, seed=seed % 2**32)
            batch = self.tokenizer.encode_batch([text] * n, sampling=how, num_threads=1, **plain)
            found = [(ids, None, None) for ids in batch.to_lists()]
        else:
            raise ArgumentError("draw", "needs a Unigram model, or samples of a BPE model")
        return [
            {"tokens": [self.readable(id)[1] for id in ids], "score": score, "logProbability": log}
            for ids, score, log in found
        ]


def encoded_text(
    tokenizers: Mapping[int, ServedTokenizer], text: str, *, add_special_tokens: bool = False
) -> bytes:
    """Return the tokens of a text by several tokenizers, as bytes that the page reads without parsing.

    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> found = encoded_text({0: ServedTokenizer("characters", tok)}, "a😀")
    >>> size = int.from_bytes(found[:4], "little")
    >>> np.frombuffer(found[4 + size :], "<i4", 6).tolist()
    [1, 0, 0, 1, 1, 3]

    All numbers are little-endian: the length of the header in bytes (uint32, a multiple of 4); the header as
    JSON, with the index, counts and distinct tokens of each tokenizer; and for each tokenizer ids, starts and
    ends as int32, and flags as uint8, padded to 4.
    """
    columns = {
        index: one.columns(text, add_special_tokens=add_special_tokens)
        for index, one in tokenizers.items()
    }
    # A span is one number, its start times `factor` plus its end.
    factor = 2 * len(text) + 1
    spans = {index: one.offsets.astype(np.int64) @ [factor, 1] for index, one in columns.items()}
    for index, one in columns.items():
        spans[index][one.special_tokens_mask == 1] = -1
    headers: list[dict[str, Any]] = []
    parts: list[bytes] = []
    for index, found in columns.items():
        tokenizer, ids, is_template = tokenizers[index], found.ids, spans[index] == -1
        flags = UNKNOWN * (ids == tokenizer.unknown_id) + TEMPLATE * is_template
        if others := [one for other, one in spans.items() if other != index]:
            # Sorting is faster than `np.isin`, which hashes: the spans are nearly in order.
            ordered = np.sort(np.concatenate([*others, [-1]]), kind="stable")
            at = np.minimum(np.searchsorted(ordered, spans[index]), len(ordered) - 1)
            is_shared = ordered[at] == spans[index]
            flags = flags + ONLY_HERE * ~(is_shared | is_template)
        distinct = np.flatnonzero(np.bincount(ids)).tolist()
        headers.append(
            {
                "index": index,
                "count": len(ids),
                "unknown": int(np.count_nonzero(flags & UNKNOWN)),
                "onlyHere": int(np.count_nonzero(flags & ONLY_HERE)),
                "distinct": len(distinct),
                "tokens": {id: tokenizer.readable(id) for id in distinct},
            }
        )
        parts += [one.astype("<i4").tobytes() for one in (ids, *found.offsets.T)]
        parts.append(flags.astype(np.uint8).tobytes() + b"\0" * (-len(flags) % 4))
    header = json.dumps({"tokenizers": headers}, ensure_ascii=False).encode()
    header += b" " * (-len(header) % 4)
    return b"".join([len(header).to_bytes(4, "little"), header, *parts])
