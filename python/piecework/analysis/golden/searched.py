"""Random texts, of which those are candidates that show a change of the pattern or the model."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from unicodedata import ucd_3_2_0 as old_unicode  # in which all versions agree

from piecework import Tokenizer
from piecework.analysis.golden.fixed_texts import SPACES, SPECIAL, Candidate
from piecework.analysis.golden.segmenters import segmenters
from piecework.analysis.golden.small import small_spec
from piecework.analysis.golden.texts import readable_tokens
from piecework.analysis.golden.variants import variants
from piecework.errors import PieceworkError
from piecework.spec import SentencePiece, Unigram

_TEXTS = 4_000
_WORDS = 8_000
_CONTRACTIONS = ("s", "t", "m", "d", "re", "ve", "ll", "ſ")
_PLAIN = (*" .,!?-(\"'1a:/é漢☃", *["'s", "'re"] * 8)
_KEPT = 2
_PARTS = 1_500
_COMPLETING = (*range(0x80, 0xD800), *range(0xF900, 0xFFFE))
_NOTHING = {"": [""]}
_CONTINUATION = bytes(range(0x80, 0xC0))


def searched(tokenizer: Tokenizer) -> list[Candidate]:
    """Return the smallest of many texts that show each change, the same ones for the same tokenizer.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> searched(tok) == searched(tok)
    True
    """
    words = list(readable_tokens(tokenizer, set()))
    every = {*_texts(words), *_across_characters(tokenizer)}
    texts = sorted(every, key=lambda text: (len(text.encode()), text))
    found = dict.fromkeys(_showing(tokenizer, texts))
    plain = [Candidate(text, "pattern", "a class of the pattern") for text in found]
    return [*plain, *_of_scores(tokenizer, words)]


def _texts(words: Sequence[str]) -> Iterator[str]:
    """Yield marks, numbers and spaces beside other characters, and contractions before entries."""
    draw = random.Random(58)
    used = {c for word in words for c in word if not c.isascii()}
    rare = [
        c for c in sorted(used | SPECIAL) if old_unicode.category(c)[0] in "MNPSZ" or c in SPACES
    ]
    beside = [*_PLAIN, *draw.choices(words or ["a"], k=60), *draw.choices(rare, k=60)]
    for _ in range(_TEXTS):
        yield "".join(
            [
                *draw.choices(beside, k=draw.randint(0, 2)),
                *draw.choices(rare, k=draw.randint(1, 2)),
                *draw.choices(beside, k=draw.randint(0, 2)),
            ]
        )
    for letters in _CONTRACTIONS:
        for start in (letters, letters.upper(), letters.title()):
            starting = [word for word in words if word.startswith(start)]
            for word in (start, *draw.sample(starting, min(25, len(starting)))):
                yield f"a'{word}"
                yield f"'{word}"


def _across_characters(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield entries that begin or end inside a character, completed by one of each class."""
    found = (tokenizer.token_bytes(id) for id in range(len(tokenizer)))
    parts = [data for data in found if data and len(data) > 1 and not _is_text(data)]
    draw = random.Random(58)
    rare = [c for c in map(chr, _COMPLETING) if old_unicode.category(c)[0] in "LMNPSZ"]
    ends = _by_part(rare, lambda data, at: data[at:])
    starts = _by_part(rare, lambda data, at: data[:at])
    for data in draw.choices(parts, k=_PARTS) if parts else ():
        body = data.lstrip(_CONTINUATION)
        whole = body.decode(errors="ignore")
        tail, head = data[: len(data) - len(body)], body[len(whole.encode()) :]
        for first in ends.get(tail, _NOTHING).values():
            for last in starts.get(head, _NOTHING).values():
                yield draw.choice(first) + whole + draw.choice(last)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _by_part(
    characters: Iterable[str], part: Callable[[bytes, int], bytes]
) -> dict[bytes, dict[str, list[str]]]:
    """Return the characters by a part of their UTF-8 and by their class."""
    found: dict[bytes, dict[str, list[str]]] = {}
    for c in characters:
        data, kind = c.encode(), old_unicode.category(c)[0]
        for at in range(1, len(data)):
            found.setdefault(part(data, at), {}).setdefault(kind, []).append(c)
    return found


def _showing(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[str]:
    small = Tokenizer.from_spec(small_spec(tokenizer, texts))
    try:
        expected = _ids(small, texts)
    except PieceworkError:  # a model that refuses unknown characters
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about mistakes in settings, which the changes are
        for name, make in variants(small):
            if not name.startswith("pre-tokenizer"):
                continue
            try:
                found = _ids(make(), texts)
            except PieceworkError:
                continue
            shown = [at for at, ids in enumerate(found) if ids != expected[at]]
            yield from (texts[at] for at in shown[:_KEPT])


def _ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    batch = tokenizer.encode_batch(
        list(texts), add_special_tokens=False, parse_special=True, num_threads=1
    )
    return batch.to_lists()


def _of_scores(tokenizer: Tokenizer, words: Sequence[str]) -> Iterator[Candidate]:
    """Yield joined entries whose best segmentation depends on ties or on the width of sums."""
    model = tokenizer.spec.model
    is_scored = isinstance(model, Unigram | SentencePiece)
    short = [word.strip() for word in words if 0 < len(word.strip()) <= 4][:1_000]
    if not is_scored or not short:
        return
    draw = random.Random(58)
    tied = [word for word in short if word == word[0] * len(word)][:60] or short
    joined = sorted(
        "".join([*draw.choices([*short, "☃"], k=draw.randint(0, 6)), *draw.choices(tied, k=3)])
        for _ in range(_WORDS)
    )
    joined.sort(key=len)
    for name, wrong, right in segmenters(model):
        shown = (word for word in joined if wrong(f"▁{word}") != right(f"▁{word}"))
        for _, word in zip(range(_KEPT), shown, strict=False):
            yield Candidate(word, "merges", name, always=f"{name} {word}")
