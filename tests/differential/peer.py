"""The published library beside ours: the same vocabulary, the same texts, every field compared."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import compress
from operator import not_
from pathlib import Path

import tokenizers
from hypothesis import assume
from tokenizers import processors

import piecework as pw
from tests import data
from tests.routes import rows_by_every_route

# One string: a list of a million characters takes 80 MB in each process.
CODE_POINTS = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
FULL = bool(os.environ.get("PIECEWORK_FULL"))
MODELS = ("bert-base-uncased", "bert-base-cased", "bert-base-chinese")


def code_points(sample: int, of: int) -> str:
    """Return one of several samples of the code points; all when everything is asked for.

    The samples together have every assigned code point, those beside one, and an eighth of the others.
    """
    if FULL:
        return CODE_POINTS
    near, far = _near_and_far()
    return near[sample % of :: of] + far[sample % of :: 8 * of]


@cache
def _near_and_far() -> tuple[str, str]:
    """Return the code points that are assigned or beside an assigned one, and the others."""
    assigned = [unicodedata.category(char) not in ("Cn", "Co") for char in CODE_POINTS]
    before, after = [False, *assigned], [*assigned[1:], False]
    is_near = [any(three) for three in zip(before, assigned, after, strict=False)]
    near = "".join(compress(CODE_POINTS, is_near))
    return near, "".join(compress(CODE_POINTS, map(not_, is_near)))


def pair_of(name: str) -> tuple[pw.Tokenizer, tokenizers.Tokenizer] | None:
    """Return our tokenizer and theirs for a published model, None when it is not on this machine."""
    path = data.vocab_path(name)
    if path is None:
        return None
    lowercase = name == "bert-base-uncased"
    vocab = tokenizers.models.WordPiece.read_file(str(path))
    theirs = tokenizers.BertWordPieceTokenizer(
        vocab, lowercase=lowercase, strip_accents=None
    )._tokenizer
    theirs.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])],
    )
    return pw.Tokenizer.load(path, lowercase=lowercase), theirs


def assert_same_ids(ours: pw.Tokenizer, theirs: tokenizers.Tokenizer, texts: Sequence[str]) -> int:
    """Compare the ids that every route gives; returns the number of tokens compared."""
    tokens = 0
    for some in blocks(texts):
        rows = rows_by_every_route(ours, some)
        for text, ids, encoding in zip(some, rows, theirs.encode_batch_fast(some), strict=True):
            assert ids == encoding.ids, f"ids differ in {text!r}"
        tokens += sum(map(len, rows))
    return tokens


def blocks(texts: Sequence[str], chars: int = 1_000_000) -> Iterator[list[str]]:
    """Give the texts in blocks of about so many characters, which bounds the memory of a comparison."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text) + 10
        if size >= chars:
            yield block
            block, size = [], 0
    if block or not texts:
        yield block


def assert_same_fields(
    ours: pw.Tokenizer, theirs: tokenizers.Tokenizer, texts: Sequence[str]
) -> None:
    """Compare every field of every text."""
    fields = (each for some in blocks(texts, 100_000) for each in theirs.encode_batch(some))
    for text, expected in zip(texts, fields, strict=True):
        encoding = ours.encode(text)
        assert encoding.ids == expected.ids, f"ids differ in {text!r}"
        assert encoding.tokens == named_tokens(theirs, expected), f"tokens differ in {text!r}"
        assert encoding.offsets == expected.offsets, f"offsets differ in {text!r}"
        assert encoding.word_ids == expected.word_ids, f"word ids differ in {text!r}"
        assert encoding.type_ids == expected.type_ids
        assert encoding.attention_mask == expected.attention_mask
        assert encoding.special_tokens_mask == expected.special_tokens_mask
        assert encoding.sequence_ids == expected.sequence_ids


def named_tokens(theirs: tokenizers.Tokenizer, encoding: tokenizers.Encoding) -> list[str]:
    """Return their tokens by what the ids stand for.

    For unknown pieces of Unigram, and for added tokens that swallowed whitespace, they give the text
    that stands there instead (see docs/reference/conformance.md).
    """
    return [
        token if theirs.token_to_id(token) == id else theirs.id_to_token(id)
        for token, id in zip(encoding.tokens, encoding.ids, strict=True)
    ]


def documents(text: str, chars: int = 2000) -> list[str]:
    """Cut a text into documents of about 2,000 characters."""
    return [text[at : at + chars] for at in range(0, len(text), chars)]


def corpora(folder: Path) -> Iterator[tuple[str, str]]:
    """Give every corpus of the test data as (name, text)."""
    import gzip

    for path in sorted(folder.rglob("*")):
        if path.suffix in (".txt", ".tsv", ".json", ".gz") and path.is_file():
            raw = path.read_bytes()
            raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
            yield path.name, raw.decode("utf-8", errors="replace")


@cache
def all_corpora() -> tuple[tuple[str, str], ...]:
    """Every corpus, or skip the test where there is none."""
    return tuple(corpora(data.need("corpora")))


@cache
def sample_documents(step: int) -> tuple[str, ...]:
    """Every `step`-th document of each corpus; all when everything is asked for."""
    step = 1 if FULL else step
    return tuple(document for _, text in all_corpora() for document in documents(text)[::step])


@contextmanager
def their_failures() -> Iterator[None]:
    """Leave out texts on which they panic or fail."""
    try:
        yield
    except BaseException as failure:
        if type(failure).__name__ not in ("PanicException", "Exception"):
            raise
        assume(False)
