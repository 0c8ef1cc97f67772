"""Measure what a text loses when it is encoded and decoded: characters, case and accents, spaces.

For each text: normalize; encode and decode; compare the decoded text with the normalized one for lost
characters, each word with its normalized form, and the spaces of the decoded text with the spaces of the
text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from piecework import Tokenizer
from piecework._internal.validation import check_tokenizer, listed
from piecework.analysis.blocks import PlainData
from piecework.analysis.entry_bytes import PLAIN_TEXT, space_marker
from piecework.analysis.metrics import ratio
from piecework.analysis.readable import bytes_of, joined, percent, show_whitespace
from piecework.errors import InputTypeError
from piecework.spec import ByteLevelNormalizer, SequenceNormalizer

ChangedText: TypeAlias = tuple[str, str, tuple[str, ...]]

_EXAMPLES = 5
_LOST_SHOWN = 20
_EXCERPT_CHARS = 12


@dataclass(frozen=True)
class RoundTrip(PlainData):
    """What texts lose in a round trip, as docs/explanation/analysis-measures.md defines it.

    >>> RoundTrip(texts=1, chars=8, lost_chars=2).lost_share
    0.25

    - `chars`: characters of the normalized texts, whitespace excluded. `lost_chars` of them are not in the
      decoded text, because they are unknown, replaced or missing. `lost` has the first of them, as pairs of
      a character and the number of times that it is lost.
    - `words`: runs without whitespace. The normalizer changes `changed_words` of them: the case in
      `case_words`, accents in `accent_words`, width and other compatibility forms in `width_words`, something
      else in `other_words`. `changed` has the first words with their normalized forms.
    - `spaces`: runs of whitespace in the text or the decoded text. `changed_spaces` of them are not the same
      in both. `spacing` has the first excerpts of a text and of the decoded text.
    """

    _computed = ("is_lossless", "is_exact", "lost_share", "changed_share", "spacing_share")

    texts: int
    chars: int = 0
    lost_chars: int = 0
    lost: tuple[tuple[str, int], ...] = ()
    words: int = 0
    changed_words: int = 0
    case_words: int = 0
    accent_words: int = 0
    width_words: int = 0
    other_words: int = 0
    changed: tuple[tuple[str, str], ...] = ()
    spaces: int = 0
    changed_spaces: int = 0
    spacing: tuple[tuple[str, str], ...] = ()

    @property
    def is_lossless(self) -> bool:
        """Whether the decoded texts have all characters of the normalized texts."""
        return not self.lost_chars

    @property
    def is_exact(self) -> bool:
        """Whether the decoded texts equal the texts, apart from equivalent forms of Unicode."""
        return not (self.lost_chars or self.changed_words or self.changed_spaces)

    @property
    def lost_share(self) -> float:
        """The share of the characters of the normalized texts that are lost."""
        return ratio(self.lost_chars, self.chars)

    @property
    def changed_share(self) -> float:
        """The share of the words that the normalizer changes."""
        return ratio(self.changed_words, self.words)

    @property
    def spacing_share(self) -> float:
        """The share of the spaces that change."""
        return ratio(self.changed_spaces, self.spaces)

    @property
    def changes(self) -> dict[str, int]:
        """What the normalizer changes, with the number of words.

        >>> RoundTrip(texts=1, words=9, changed_words=2, case_words=2).changes
        {'case': 2}

        The other kinds are "accents", "width" and "other characters".
        """
        kinds = {
            "case": self.case_words,
            "accents": self.accent_words,
            "width": self.width_words,
            "other characters": self.other_words,
        }
        return {kind: words for kind, words in kinds.items() if words}

    def __str__(self) -> str:
        """Return a line for each of the three kinds of change."""
        return "\n".join((self.lost_text, self.changed_text, self.spacing_text))

    @property
    def lost_text(self) -> str:
        """The lost characters, as a phrase."""
        if self.is_lossless:
            return "no characters lost"
        shown = " ".join(show_whitespace(character) for character, _ in self.lost[:10])
        more = " ..." if len(self.lost) > 10 else ""
        figures = f"{self.lost_chars:,} of {self.chars:,} characters lost"
        return f"{figures} ({percent(self.lost_share)}), first {shown}{more}"

    @property
    def changed_text(self) -> str:
        """What the normalizer changes, as a phrase."""
        if not self.changed_words:
            return "no words changed by the normalizer"
        [(word, normalized), *_] = self.changed
        figures = f"{joined(self.changes)} changed in {percent(self.changed_share)} of the words"
        return f"{figures}, such as {show_whitespace(word)} -> {show_whitespace(normalized)}"

    @property
    def spacing_text(self) -> str:
        """How spaces change, as a phrase."""
        if not self.spaces and self.lost_chars:
            return "spaces not compared: every text with spaces loses characters"
        if not self.changed_spaces:
            return "no spaces changed"
        [(text, decoded), *_] = self.spacing
        example = f"{show_whitespace(text)} -> {show_whitespace(decoded)}"
        return f"{percent(self.spacing_share)} of the spaces changed, such as {example}"


def measure_round_trip(
    tokenizer: Tokenizer, texts: Iterable[str], *, num_threads: int | None = None
) -> RoundTrip:
    """Measure what texts lose when a tokenizer encodes and decodes them.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(
    ...     pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}),
    ...     normalizer=pw.spec.Lowercase(),
    ...     pre_tokenizer=pw.spec.WhitespaceSplit(),
    ...     decoder=pw.spec.WordPieceDecoder(),
    ... )
    >>> print(measure_round_trip(tok, ["Hugs  hug", "hug pug"]))
    3 of 13 characters lost (23.1 %), first p u g
    case changed in 25.0 % of the words, such as Hugs -> hugs
    100.0 % of the spaces changed, such as Hugs␣␣hug -> hugs␣hug

    Texts are encoded as in `compare`: without special tokens, truncation, padding and dropout, and with
    special tokens in a text as plain text. Spaces are compared in texts that lose no characters.

    Raises `InputTypeError` if `texts` is a string, or has an item that is not a string.
    """
    check_tokenizer(tokenizer)
    if isinstance(texts, str):
        raise InputTypeError("texts", "must be an iterable of strings, not str")
    given = listed(texts)
    measured = _Measured(tokenizer)
    for text, decoded in zip(given, _decoded(tokenizer, given, num_threads), strict=True):
        measured.add(text, decoded)
    return measured.result()


class _Measured:
    """Adds up the figures of texts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._normalize = _Normalizer(tokenizer)
        self._texts = self._chars = self._spaces = self._changed_spaces = 0
        self._lost: Counter[str] = Counter()
        self._words: Counter[str] = Counter()
        self._spacing: list[tuple[str, str]] = []

    def add(self, text: str, decoded: str) -> None:
        self._texts += 1
        self._words.update(text.split())
        self._add_lost(self._normalize(text), "".join(decoded.split()))
        self._add_spaces(text, decoded)

    def _add_lost(self, normalized: str, decoded: str) -> None:
        self._chars += len(normalized)
        if normalized == decoded:
            return
        self._lost.update(_lost(normalized, decoded))

    def _add_spaces(self, text: str, decoded: str) -> None:
        before, after = _folded(text), _folded(decoded)
        runs = dict(_space_runs(before))
        if before == after:
            self._spaces += len(runs)
            return
        if "".join(before.split()) != "".join(after.split()):
            return
        decoded_runs = dict(_space_runs(after))
        places = sorted(runs.keys() | decoded_runs.keys())
        changed = [place for place in places if runs.get(place) != decoded_runs.get(place)]
        self._spaces += len(places)
        self._changed_spaces += len(changed)
        if changed and len(self._spacing) < _EXAMPLES:
            self._spacing.append((_excerpt(text, changed[0]), _excerpt(decoded, changed[0])))

    def result(self) -> RoundTrip:
        kinds: Counter[str] = Counter()
        changed = []
        for word, normalized, found in _changed(self._normalize, self._words):
            kinds.update(dict.fromkeys((*found, "changed"), self._words[word]))
            changed.append((word, normalized))
        return RoundTrip(
            texts=self._texts,
            chars=self._chars,
            lost_chars=self._lost.total(),
            lost=tuple(self._lost.items())[:_LOST_SHOWN],
            words=self._words.total(),
            changed_words=kinds["changed"],
            case_words=kinds["case"],
            accent_words=kinds["accent"],
            width_words=kinds["width"],
            other_words=kinds["other"],
            changed=tuple(changed[:_EXAMPLES]),
            spaces=self._spaces,
            changed_spaces=self._changed_spaces,
            spacing=tuple(self._spacing),
        )


class _Normalizer:
    """Normalizes a text and removes its whitespace, also where a marker replaces it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        spec = tokenizer.spec
        self._tokenizer = tokenizer
        self._marker = space_marker(spec.decoder) or ""
        normalizer = spec.normalizer
        parts = (
            normalizer.normalizers if isinstance(normalizer, SequenceNormalizer) else (normalizer,)
        )
        self._is_byte_level = any(isinstance(part, ByteLevelNormalizer) for part in parts)

    def __call__(self, text: str) -> str:
        normalized = self._tokenizer.normalize(text)
        if self._is_byte_level:
            data = bytes_of(normalized)
            normalized = normalized if data is None else data.decode(errors="replace")
        if self._marker:
            normalized = normalized.replace(self._marker, " ")
        return "".join(normalized.split())


def _decoded(tokenizer: Tokenizer, texts: Sequence[str], num_threads: int | None) -> list[str]:
    """Encode and decode texts; unknown tokens are left out, because they stand for no character."""
    plain_tokenizer = without_truncation_and_padding(tokenizer)
    batch = plain_tokenizer.encode_batch(texts, num_threads=num_threads, **PLAIN_TEXT)
    unknown_id = unknown_id_of(tokenizer)
    rows = [[id for id in row if id != unknown_id] for row in batch.to_lists()]
    return tokenizer.decode_batch(rows, skip_special_tokens=False)


def _lost(normalized: str, decoded: str) -> Counter[str]:
    """Return the characters that the decoded text has fewer of, those first that are missing first."""
    if normalized == decoded:
        return Counter()
    lost = []
    at = 0
    for character in normalized:
        if at < len(decoded) and decoded[at] == character:
            at += 1
        else:
            lost.append(character)
    if at == len(decoded):
        return Counter(lost)
    # The decoded text has other characters too, such as U+FFFD.
    missing = Counter(normalized) - Counter(decoded)
    return Counter({c: missing[c] for c in dict.fromkeys(normalized) if c in missing})


def lossy_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> list[str]:
    """Return the texts that lose characters when a tokenizer encodes and decodes them.

    >>> import piecework as pw
    >>> lossy_texts(pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})), ["a", "ab"])
    ['ab']

    As in `measure_round_trip`, characters that the normalizer removes and whitespace are not lost.
    """
    normalize = _Normalizer(tokenizer)
    pairs = zip(texts, _decoded(tokenizer, texts, None), strict=True)
    return [text for text, decoded in pairs if _lost(normalize(text), "".join(decoded.split()))]


def respaced_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each text whose spaces a round trip changes, with the decoded text.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> list(respaced_texts(tok, ["a", "aa"]))
    [('aa', 'a a')]
    """
    for text, decoded in zip(texts, _decoded(tokenizer, texts, None), strict=True):
        measured = _Measured(tokenizer)
        measured.add(text, decoded)
        if measured.result().changed_spaces:
            yield text, decoded


def changed_texts(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[ChangedText]:
    """Return an iterator over each text that the normalizer changes, its normalized form, and what changes.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=pw.spec.Lowercase())
    >>> list(changed_texts(tok, ["a", "B"]))
    [('B', 'b', ('case',))]

    What changes is one or several of "case", "accent" and "width", or "other".
    """
    return _changed(_Normalizer(tokenizer), texts)


def _changed(normalize: Callable[[str], str], texts: Iterable[str]) -> Iterator[ChangedText]:
    for text in texts:
        normalized = normalize(text)
        kinds = _changes(text, normalized) if normalized != text else ()
        if kinds:
            yield text, normalized, kinds


def unknown_id_of(tokenizer: Tokenizer) -> int | None:
    """Return the id for unknown characters of the model, None without one."""
    unknown = getattr(tokenizer.spec.model, "unk_token", None)
    return None if unknown is None else tokenizer.token_to_id(unknown)


def without_truncation_and_padding(tokenizer: Tokenizer) -> Tokenizer:
    """Return the tokenizer without its stored truncation and padding."""
    return tokenizer.without_truncation().without_padding()


def _changes(word: str, normalized: str) -> tuple[str, ...]:
    """Return which of case, accents and width the normalizer removes from a word, or "other"."""
    before = unicodedata.normalize("NFD", word)
    after = unicodedata.normalize("NFD", normalized)
    if before == after:
        return ()
    kinds = {"case": _is_upper, "accent": _is_mark, "width": _is_compatibility_form}
    found = [name for name, test in kinds.items() if sum(map(test, before)) > sum(map(test, after))]
    # A change of case or a removed mark can remove a compatibility form along with it.
    rest = before.lower() if "case" in found else before
    rest = "".join(c for c in rest if not ("accent" in found and _is_mark(c)))
    if "width" in found and not any(map(_is_compatibility_form, rest)):
        found.remove("width")
    return tuple(found) or ("other",)


def _is_upper(character: str) -> bool:
    return character.lower() != character


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) == "Mn"


def _is_compatibility_form(character: str) -> bool:
    return unicodedata.decomposition(character).startswith("<")


def _folded(text: str) -> str:
    """Return the text without case, accents, compatibility forms and control characters."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text.casefold())
    ignored = ("Mn", "Cc", "Cf")
    return "".join(c for c in folded if c.isspace() or unicodedata.category(c) not in ignored)


def _space_runs(folded: str) -> Iterator[tuple[int, str]]:
    """Yield each run of whitespace, with the number of other characters before it."""
    place = 0
    for run in re.findall(r"\s+|\S+", folded):
        if run.isspace():
            yield place, run
        else:
            place += len(run)


def _excerpt(text: str, place: int) -> str:
    """Return the part of a text around the place after this number of folded characters."""
    folded_chars = 0
    for at, character in enumerate(text):
        folded_chars += len("".join(_folded(character).split()))
        if folded_chars >= place:
            start = max(0, at + 1 - _EXCERPT_CHARS)
            return text[start : at + 1 + _EXCERPT_CHARS]
    return text[-_EXCERPT_CHARS:]
