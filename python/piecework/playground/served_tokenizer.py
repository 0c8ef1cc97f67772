"""A tokenizer of the page: its description, its tokens as columns, and how it segments a word."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import piecework as pw
from piecework.analysis.explain import Explainer
from piecework.analysis.readable import bytes_of, is_byte_level, text_of_bytes
from piecework.errors import ArgumentError, PieceworkError
from piecework.playground.limits import SEGMENTATIONS, WORD_CHARS, check_length

Numbers: TypeAlias = npt.NDArray[np.int64]
Draw: TypeAlias = Literal["best", "sample"]

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_ONE_SEGMENTATION = pw.Sampling(nbest_size=1)
_SEEDS = 2**32


class TokenColumns:
    """The tokens of a text: ids, spans in characters, and which come from the template or are unknown.

    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> TokenColumns(tok, "ab", add_special_tokens=False).spans.tolist()
    [[0, 1], [1, 2]]
    """

    def __init__(self, tokenizer: pw.Tokenizer, text: str, *, add_special_tokens: bool) -> None:
        batch = tokenizer.encode_batch(
            [text],
            offsets=True,
            add_special_tokens=add_special_tokens,
            sampling=_ONE_SEGMENTATION,
            num_threads=1,
        )
        self.ids: Numbers = batch.ids.astype(np.int64)
        self.spans: Numbers = batch.offsets.astype(np.int64)
        self.is_template: npt.NDArray[np.bool_] = batch.special_tokens_mask.astype(np.bool_)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def span_keys(self) -> Numbers:
        """One number for each span, for comparisons between tokenizers."""
        keys: Numbers = (self.spans[:, 0] << 32) | self.spans[:, 1]
        return keys


class ServedTokenizer:
    """A tokenizer with its name on the page, or the error of loading it.

    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> ServedTokenizer("hugs", tok).describe()["view"]
    'search'
    >>> broken = pw.errors.FormatError("a.json", "found no model, expected a tokenizer")
    >>> ServedTokenizer("a.json", broken).describe()["error"]
    'a.json: found no model, expected a tokenizer'

    Truncation and padding are turned off, and special tokens in the text are recognized.
    """

    def __init__(self, name: str, loaded: pw.Tokenizer | PieceworkError) -> None:
        self.name = name
        self.error: str | None = None
        self._tokenizer: pw.Tokenizer | None = None
        if isinstance(loaded, PieceworkError):
            self.error = str(loaded)
            return
        whole = loaded.without_truncation().without_padding()
        self._tokenizer = whole.with_parse_special(True)

    @property
    def tokenizer(self) -> pw.Tokenizer:
        """The tokenizer; raises `ArgumentError` if it did not load."""
        if self._tokenizer is None:
            message = f"cannot be loaded: {self.error}"
            raise ArgumentError("tokenizer", message)
        return self._tokenizer

    @cached_property
    def unknown_id(self) -> int:
        """The id of the unknown token, -1 without one."""
        model = self.tokenizer.spec.model
        if isinstance(model, pw.spec.Unigram):
            return -1 if model.unk_id is None else model.unk_id
        name = getattr(model, "unk_token", None)
        if isinstance(model, pw.spec.SentencePiece):
            name = next((piece.text for piece in model.pieces if piece.type == "unknown"), None)
        id = None if name is None else self.tokenizer.token_to_id(name)
        return -1 if id is None else id

    @cached_property
    def _is_byte_level(self) -> bool:
        return is_byte_level(self.tokenizer.spec)

    @cached_property
    def _added(self) -> frozenset[str]:
        return frozenset(token.content for token in self.tokenizer.spec.added_tokens)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self.tokenizer)

    def describe(self) -> dict[str, Any]:
        """Return what the page shows above the tokens, as JSON data."""
        if self.error is not None:
            return {"name": self.name, "error": self.error}
        model = self.tokenizer.spec.model
        kind = type(model).__name__
        by_merges: tuple[type, ...] = (pw.spec.BPE,)
        by_scores = isinstance(model, pw.spec.Unigram)
        if isinstance(model, pw.spec.SentencePiece):
            kind = f"SentencePiece {model.kind}"
            by_scores = model.kind == "unigram"
            by_merges = (pw.spec.SentencePiece,) if model.kind == "bpe" else ()
        view = "lattice" if by_scores else "merges" if isinstance(model, by_merges) else None
        if isinstance(model, pw.spec.WordPiece):
            view = "search"
        return {
            "name": self.name,
            "model": kind,
            "vocabSize": self.tokenizer.get_vocab_size(),
            "view": view,
            "samples": view in ("lattice", "merges"),
            "added": self._added_by_template(),
        }

    def _added_by_template(self) -> list[str]:
        """Return the special tokens that the post-processor adds to a text."""
        found = self.columns("", add_special_tokens=True)
        return [self.readable(id)[1] for id in found.ids[found.is_template].tolist()]

    def columns(self, text: str, *, add_special_tokens: bool = False) -> TokenColumns:
        """Return the tokens of a text."""
        return TokenColumns(self.tokenizer, text, add_special_tokens=add_special_tokens)

    def readable(self, id: int) -> tuple[str, str, str]:
        """Return a token as in the vocabulary, as text, and the bytes of one that is no text, in hex.

        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
        >>> ServedTokenizer("characters", tok).readable(1)
        ('a', 'a', '')
        """
        token = self.tokenizer.id_to_token(id) or ""
        if byte := _BYTE_TOKEN.fullmatch(token):
            return token, token, byte[1].lower()
        if not self._is_byte_level or token in self._added:
            return token, token, ""
        data = bytes_of(token)
        if data is None:
            return token, token, ""
        try:
            return token, data.decode(), ""
        except UnicodeDecodeError:
            return token, text_of_bytes(token), data.hex(" ")

    def explain(self, text: str) -> dict[str, Any]:
        """Return how each word of a short text is segmented, as JSON data."""
        check_length("text", text, WORD_CHARS)
        found = self._explainer.explain(text).to_dict()
        if self._is_byte_level:
            for word in found["words"]:
                _spell_out(word)
        return found

    def segmentations(
        self, text: str, draw: Draw, n: int, alpha: float, seed: int
    ) -> list[dict[str, Any]]:
        """Return the `n` best segmentations of a short text, or `n` samples, as JSON data.

        Only a Unigram model has a score and a log-probability for them; a BPE model has samples only.
        """
        check_length("text", text, WORD_CHARS)
        if not 1 <= n <= SEGMENTATIONS:
            raise ArgumentError("n", f"must be a number from 1 to {SEGMENTATIONS}, not {n}")
        view = self.describe()["view"]
        if view == "lattice":
            if draw == "best":
                scored = pw.lattice.nbest(self.tokenizer, text, n, add_special_tokens=False)
            else:
                sampling = pw.Sampling(alpha=alpha, seed=seed % _SEEDS)
                scored = pw.lattice.sample(
                    self.tokenizer, text, n, sampling, add_special_tokens=False
                )
            return [
                self._segmentation(one.encoding.ids, one.score, one.log_probability)
                for one in scored
            ]
        if view != "merges" or draw == "best":
            raise ArgumentError("draw", "needs a Unigram model, or samples of a BPE model")
        sampling = pw.Sampling(dropout=alpha, seed=seed % _SEEDS)
        batch = self.tokenizer.encode_batch(
            [text] * n, add_special_tokens=False, sampling=sampling, num_threads=1
        )
        return [self._segmentation(ids) for ids in batch.to_lists()]

    def _segmentation(
        self, ids: list[int], score: float | None = None, log_probability: float | None = None
    ) -> dict[str, Any]:
        tokens = [self.readable(id)[1] for id in ids]
        return {"tokens": tokens, "score": score, "logProbability": log_probability}


def _spell_out(word: dict[str, Any]) -> None:
    """Write the byte-level symbols of an explained word as text."""
    word["word"] = text_of_bytes(word["word"])
    word["symbols"] = [text_of_bytes(symbol) for symbol in word["symbols"]]
    for step in word["merges"] or ():
        for name in ("left", "right", "token"):
            step[name] = text_of_bytes(step[name])
