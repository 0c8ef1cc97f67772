"""Texts of a golden file that are chosen whatever they cost, each for a stage that the tokenizer has."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import islice

from piecework import Tokenizer
from piecework.analysis.golden.fixed_texts import Candidate
from piecework.analysis.golden.small import samples_of
from piecework.analysis.golden.texts import readable_tokens
from piecework.errors import PieceworkError
from piecework.spec import AddedToken, ByteLevel, Split
from piecework.spec.sequences import single_stages

_SIGMAS = ("ΑΣ", "ΟΣ", "aΣ", "οΣ", "ΟΔΟΣ", "ΌΣ", "Σ\u0301Σ")
_MARKS_IN_WRONG_ORDER = ("o\u0302\u0323", "s\u0307\u0323", "a\u0301\u0327", "\u0651\u064e\u0628")
_DROPPED = "\u200b\xad\0\u0301"
_MARKS = "\u0338\u0301\u0308\u0302\u0303\u0307\u0327\u0331\u0323\u030c"
_OTHER_FORMS = {"K": "\u212a", ";": "\u037e", "`": "\u1fef", "<": "﹤", ">": "﹥"}


def always(tokenizer: Tokenizer) -> Iterator[Candidate]:
    """Yield texts that show an error in one stage, as far as the tokenizer has the stage.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "σ": 1}), normalizer=pw.spec.Lowercase())
    >>> [(one.text, one.comment) for one in always(tok)][0]
    ('ΑΣ', 'a sigma at the end of a word')
    """
    yield from _final_sigma(tokenizer)
    if tokenizer.normalize("o\u0302\u0323") == tokenizer.normalize("o\u0323\u0302"):
        for text in _MARKS_IN_WRONG_ORDER:
            yield Candidate(text, "accents", "marks that are put in order", always=text)
    pre_tokenizer = tokenizer.spec.pre_tokenizer
    steps = single_stages(pre_tokenizer)
    if any(isinstance(step, Split | ByteLevel) for step in steps):
        for text in ("𠀀's", "a𐐀're"):
            comment = "a letter beyond U+FFFF before a contraction"
            yield Candidate(text, "pattern", comment, always=text)
    for token in samples_of(tokenizer.added_tokens):
        yield from _hidden(tokenizer, token)


def _final_sigma(tokenizer: Tokenizer) -> Iterator[Candidate]:
    if "Σ" in tokenizer.normalize("aΣ"):
        return
    entries = (word.upper() for word in readable_tokens(tokenizer, set()) if word[-1:] in "σς")
    found = (
        text
        for text in (*_SIGMAS, *entries)
        if _ids(tokenizer, text) != _ids(tokenizer, text.lower())
    )
    for text in islice(found, 2):
        yield Candidate(text, "case", "a sigma at the end of a word", always=text)


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    try:
        return tokenizer.encode(text, add_special_tokens=False).ids
    except PieceworkError:  # a model that refuses unknown characters
        return []


def _hidden(tokenizer: Tokenizer, token: AddedToken) -> Iterator[Candidate]:
    """Yield texts that hold an added token only before the normalizer, or only after it."""
    text = token.content
    found = {
        "after": next(_revealed(tokenizer, text), None),
        "before": next(_concealed(tokenizer, text), None),
    }
    for when, one in found.items():
        if one is not None:
            comment = f"an added token only {when} the normalizer"
            name = f"{when} {token.special} {token.normalized}"
            yield Candidate(f"a {one} b", "added-token", comment, always=name)


def _revealed(tokenizer: Tokenizer, text: str) -> Iterator[str]:
    inside = [text[:at] + c + text[at:] for at in (len(text) - 1, 1) for c in _DROPPED]
    forms = [unicodedata.normalize("NFD", text), text.upper(), text.lower()]
    others = [text.replace(c, form, 1) for c, form in _OTHER_FORMS.items()]
    for one in (*inside, *forms, *others):
        if text not in one and text in tokenizer.normalize(one):
            yield one


def _concealed(tokenizer: Tokenizer, text: str) -> Iterator[str]:
    for mark in _MARKS:
        if text not in tokenizer.normalize(text + mark):
            yield text + mark
