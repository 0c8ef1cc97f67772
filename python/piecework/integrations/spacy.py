"""Tokenizers in spaCy pipelines, and the alignment of both kinds of tokens. Requires `piecework[spacy]`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from piecework import Encoding, Tokenizer
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_type
from piecework.errors import ArgumentError
from piecework.io.atomic_files import atomic_file


def doc_tokenizer(vocab: Any, tokenizer: Tokenizer) -> DocTokenizer:
    """Return a tokenizer for spaCy pipelines, whose tokens are the tokens of `tokenizer`.

    >>> import piecework as pw, spacy
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "pug": 2, "##s": 3})
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.BertPreTokenizer())
    >>> nlp = spacy.blank("en")
    >>> nlp.tokenizer = doc_tokenizer(nlp.vocab, tok)
    >>> [token.text for token in nlp("hug pugs!")]
    ['hug', 'pug', 's', '!']

    Tokens are spans of the text, without special tokens; the text of a document is unchanged. Characters
    without a token, such as line ends, become tokens of their own; several tokens of one character become
    one. Pipelines with it can be saved. In a configuration, it is `@tokenizers = "piecework.Tokenizer.v1"`
    with `path`, the name of a tokenizer as in `Tokenizer.load`.

    Raises `InputTypeError` for another tokenizer, and `MissingExtraError` without spaCy.
    """
    check_type("tokenizer", tokenizer, Tokenizer, "a Tokenizer")
    import_extra("spacy", "spacy")
    return DocTokenizer(vocab, tokenizer)


def align(document: Any, encoding: Encoding) -> list[list[int]]:
    """Return, for each token of a spaCy document, the indexes of the tokens that overlap it.

    >>> import piecework as pw, spacy
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "pug": 2, "##s": 3})
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.BertPreTokenizer())
    >>> document = spacy.blank("en")("hug pugs")
    >>> align(document, tok.encode(document.text))
    [[0], [1, 2]]

    `encoding` is the encoding of `document.text`, with offsets in characters. Raises `ArgumentError` if a
    token begins after the end of the document.
    """
    spans = encoding.offsets
    if spans and max(end for _, end in spans) > len(document.text):
        problem = "its offsets end after the document; encode document.text, in characters"
        raise ArgumentError("encoding", problem)
    by_start = sorted(
        (start, end, index) for index, (start, end) in enumerate(spans) if end > start
    )
    aligned: list[list[int]] = []
    first = 0
    for token in document:
        start, end = token.idx, token.idx + len(token.text)
        while first < len(by_start) and by_start[first][1] <= start:
            first += 1
        found_here = []
        for other_start, other_end, index in by_start[first:]:
            if other_start >= end:
                break
            if other_end > start:
                found_here.append(index)
        aligned.append(found_here)
    return aligned


class DocTokenizer:
    """A function from a text to a spaCy document."""

    def __init__(self, vocab: Any, tokenizer: Tokenizer) -> None:
        self.vocab = vocab
        self.tokenizer = tokenizer

    def __call__(self, text: str) -> Any:
        """Return the document of a text."""
        documents = import_extra("spacy.tokens", "spacy")
        spans = self.tokenizer.encode(text, add_special_tokens=False, parse_special=False).offsets
        words: list[str] = []
        spaces: list[bool] = []
        for word in _words(text, spans):
            if word == " " and words and not spaces[-1]:
                spaces[-1] = True
            else:
                words.append(word)
                spaces.append(False)
        return documents.Doc(self.vocab, words=words, spaces=spaces)

    def pipe(self, texts: Any, batch_size: int = 1000) -> Iterator[Any]:
        """Yield the document of each text."""
        yield from map(self, texts)

    def to_bytes(self, *, exclude: Any = ()) -> bytes:
        """Return the tokenizer as JSON, without the vocabulary of spaCy."""
        return self.tokenizer.to_str(strict=True).encode()

    def from_bytes(self, data: bytes, *, exclude: Any = ()) -> DocTokenizer:
        """Read what `to_bytes` returned, and return this object."""
        self.tokenizer = Tokenizer.from_bytes(data)
        return self

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Any = ()) -> None:
        """Write the tokenizer to a file."""
        with atomic_file(path) as temporary:
            temporary.write_bytes(self.to_bytes())

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Any = ()) -> DocTokenizer:
        """Read what `to_disk` wrote, and return this object."""
        return self.from_bytes(Path(path).read_bytes())


def doc_tokenizer_of_config(path: str) -> Callable[[Any], DocTokenizer]:
    """Return a function that spaCy calls with a pipeline, for `@tokenizers = "piecework.Tokenizer.v1"`."""

    def create(nlp: Any) -> DocTokenizer:
        return doc_tokenizer(nlp.vocab, Tokenizer.load(path))

    return create


def _words(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    """Yield consecutive parts of a text: the spans, the spaces around them, and the parts between spans."""
    end = 0
    for start, stop in spans:
        if stop <= end:  # another token of the same characters
            continue
        start = max(start, end)
        yield from _split_spaces(text[end:start])
        yield from _split_spaces(text[start:stop])
        end = stop
    yield from _split_spaces(text[end:])


def _split_spaces(part: str) -> Iterator[str]:
    """Yield a part with the spaces around it apart; whitespace other than one space stays together."""
    inner = part.strip(" ")
    if not inner:
        yield from part
        return
    start = part.index(inner)
    yield from part[:start]
    yield inner
    yield from part[start + len(inner) :]
