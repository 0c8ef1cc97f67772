"""Find for each entry a text whose encoding has it, or a proof that there is none.

Texts are tried first: the entry alone, in contexts, and parts of characters with the bytes that complete
them. Proofs are tried for what is left. Each follows from one fact: no model joins across the border of an
entry that it outputs, so what it outputs within a text, it also outputs for that span alone.

- BPE: merging the symbols of an entry must give the entry, and so must the entry with its neighbor: a part
  of a character is never output if every entry that can complete it merges with it.
- Unigram: no other segmentation of the entry has a higher score. Scores are compared without rounding; sums
  of the engine round, so a text of many thousand words could differ where the scores differ by a thousandth.
- WordPiece: the longest match excludes no entry, because none is longer than the longest one before it.
- Normalizers and pre-tokenizers: see `word_limits`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice, product
from typing import Any

import numpy as np

from piecework import Tokenizer
from piecework.analysis.entry_bytes import PLAIN_TEXT, Entry
from piecework.analysis.readable import bytes_of
from piecework.analysis.round_trip import without_truncation_and_padding
from piecework.analysis.word_limits import Span, WordLimits
from piecework.spec import BPE, Char, SentencePiece, Unigram, WordPiece
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE
from piecework.vocabulary.alphabet import BYTE_TOKENS
from piecework.vocabulary.derivations import ListedMerges, merge_all

_LETTERS, _OTHERS = 40, 24
_BYTE_TRIALS = 128
_NEIGHBORS = 64
_COMPLETIONS = 4096
_NEIGHBOR_TRIALS = 100_000
_LEAST_MARGIN = 1e-3
_BESIDE = (" ", "a", "!", "0", "\n")


@dataclass(frozen=True)
class Reachability:
    """What is known of the entries of a vocabulary that are not added tokens.

    `texts`: id -> a text whose encoding has it. `proofs`: id -> why no text gives the entry, as a clause with
    details after a colon.
    `unfound`: entries without either, after `contexts` contexts. `outside`: entries without a text that none
    shall have, such as control pieces and the unknown token.
    """

    texts: dict[int, str]
    proofs: dict[int, str]
    unfound: tuple[Entry, ...]
    outside: tuple[Entry, ...]
    contexts: int


def reachability(tokenizer: Tokenizer, entries: Sequence[Entry]) -> Reachability:
    """Return for each entry a text that gives it, or a proof that none does, or neither.

    >>> import piecework as pw
    >>> from piecework.analysis.entry_bytes import vocabulary_entries
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2, "##!": 3})
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.BertPreTokenizer())
    >>> found = reachability(tok, vocabulary_entries(tok))
    >>> found.texts, found.proofs
    ({0: '[UNK]', 1: 'hug', 2: 'hugs'}, {3: 'the pre-tokenizer always splits it or splits it off'})

    Texts are encoded without special tokens, truncation, padding and dropout, and with special tokens in a
    text as plain text.
    """
    outside = _outside(tokenizer)
    search = Search(tokenizer)
    left = search.run([entry for entry in entries if not entry.is_added])
    judged = [entry for entry in left if entry.token not in outside]
    proofs = Proofs(tokenizer, entries, search).run(judged)
    return Reachability(
        search.texts,
        proofs,
        tuple(entry for entry in judged if entry.id not in search.texts and entry.id not in proofs),
        tuple(entry for entry in left if entry.token in outside),
        search.contexts,
    )


def _outside(tokenizer: Tokenizer) -> set[str]:
    """Return the tokens that the model does not output for their own text."""
    model = tokenizer.spec.model
    found = set() if model.unk_token is None else {model.unk_token}
    if isinstance(model, SentencePiece):
        types = ("control", "unknown", "unused")
        found.update(piece.text for piece in model.pieces if piece.type in types)
    return found


# ---- texts


class Search:
    """Tries texts, and keeps the first one for each entry that its encoding contains."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = without_truncation_and_padding(tokenizer)
        self.texts: dict[int, str] = {}
        self.contexts = 0

    def try_texts(self, trials: Iterable[tuple[Entry, str]]) -> None:
        """Encode a text for each entry."""
        listed = [(entry.id, text) for entry, text in trials if entry.id not in self.texts]
        texts = [text for _, text in listed]
        found = contains(self._tokenizer, texts, [id for id, _ in listed])
        for (id, text), is_found in zip(listed, found, strict=True):
            if is_found:
                self.texts.setdefault(id, text)

    def run(self, entries: Sequence[Entry]) -> list[Entry]:
        """Try texts for all entries; return the entries without one."""
        self._try_contexts({entry: text for entry in entries if (text := entry.text) is not None})
        for most in (_BYTE_TRIALS, _COMPLETIONS):
            self.try_texts(
                (entry, text)
                for entry in filter(_is_fallback, self._left(entries))
                for text in _spread(_characters_with(entry.data[0]), most)
            )
        parts = [entry for entry in entries if entry.text is None and not _is_fallback(entry)]
        for most in (_BYTE_TRIALS, _COMPLETIONS):
            parts = self._left(parts)
            self.try_texts((entry, text) for entry in parts for text in completed(entry.data, most))
        for beside in _BESIDE:
            parts = self._left(parts)
            both = [(e, text) for e in parts for text in completed(e.data, _COMPLETIONS // 8)]
            self.try_texts((entry, f"{text}{beside}") for entry, text in both)
            self.try_texts((entry, f"{beside}{text}") for entry, text in both)
        return self._left(entries)

    def _try_contexts(self, texts: Mapping[Entry, str]) -> None:
        carriers = _carriers([text for entry, text in texts.items() if not entry.is_inside])
        contexts = [
            ("", ""),
            *((each, "") for each in carriers),
            *(("", each) for each in carriers),
        ]
        self.contexts = len(contexts)
        left = texts
        for before, after in contexts:
            self.try_texts(
                (entry, f"{before}{text}{after}")
                for entry, text in left.items()
                if before or not entry.is_inside
            )
            self.try_texts(
                (entry, f"{before}{other}{after}")
                for entry, text in left.items()
                for other in {entry.token, text.strip()} - {text, ""}
            )
            left = {entry: text for entry, text in left.items() if entry.id not in self.texts}
        if left:
            self._try_neighbors(left, texts.values())

    def _try_neighbors(self, left: Mapping[Entry, str], texts: Iterable[str]) -> None:
        """Try a neighbor for each first and last character, or fewer of them for many entries."""
        longest_first = sorted({text for text in texts if text}, key=len, reverse=True)
        before = list({text[-1]: text for text in longest_first}.values())
        after = list({text[0]: text for text in longest_first}.values())
        most = max(_NEIGHBOR_TRIALS // len(left), 1)
        self.try_texts(
            (e, f"{near}{text}") for e, text in left.items() for near in _spread(before, most)
        )
        self.try_texts(
            (e, f"{text}{near}") for e, text in left.items() for near in _spread(after, most)
        )

    def _left(self, entries: Iterable[Entry]) -> list[Entry]:
        return [entry for entry in entries if entry.id not in self.texts]


def _carriers(texts: list[str]) -> list[str]:
    """Return a character of each kind, and short entries of letters and of others."""
    shortest = sorted(texts, key=len)
    letters = islice((text for text in shortest if text.strip().isalpha()), _LETTERS)
    others = islice((text for text in shortest if not text.strip().isalpha()), _OTHERS)
    return list(dict.fromkeys((*_BESIDE, *letters, *others)))


def contains(tokenizer: Tokenizer, texts: Sequence[str], ids: Sequence[int]) -> list[bool]:
    """Return for each text whether its encoding contains the id at the same position of `ids`."""
    if not texts:
        return []
    batch = tokenizer.encode_batch(texts, **PLAIN_TEXT)
    rows = np.repeat(np.arange(len(texts)), batch.lengths)
    hits = rows[batch.ids == np.asarray(ids, np.int64)[rows]]
    return [count > 0 for count in np.bincount(hits, minlength=len(texts)).tolist()]


# ---- bytes

_CHARACTER = (
    rb"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
_BEGUN = (
    rb"(?:[\xc2-\xdf]|\xe0[\xa0-\xbf]?|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xed[\x80-\x9f]?"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|[\xf1-\xf3][\x80-\xbf]{0,2}|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)"
)
# Bytes within some text: the end of a character, whole characters, the beginning of a character.
_PART = re.compile(
    rb"(?P<end>[\x80-\xbf]{0,3})(?P<text>%b*)(?P<begin>%b?)" % (_CHARACTER, _BEGUN), re.DOTALL
)
_ONE_CHARACTER = re.compile(_CHARACTER, re.DOTALL)
_LEADS = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}
_CONTINUATIONS = range(0x80, 0xC0)
_FEW_CONTINUATIONS = (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xAA, 0xB5, 0xBF)


def completed(data: bytes, most: int) -> list[str]:
    """Return about `most` texts that contain bytes, which may begin and end within a character.

    >>> completed(b"a\\xc3", 2), completed(b"\\xff", 2)
    (['aÀ', 'aà'], [])
    """
    match = _PART.fullmatch(data)
    if match is None:
        return []
    if match["end"] == data:
        beside = [(head, tail) for head, tail in _around(data)]
        return [(head + data + tail).decode() for head, tail in _spread(beside, most)]
    heads, tails = _heads(match["end"]), _tails(match["begin"])
    each = most if 1 in (len(heads), len(tails)) else math.isqrt(most)
    beside = list(product(_spread(heads, each), _spread(tails, each)))
    return [(head + data + tail).decode() for head, tail in beside]


def _spread(items: list[Any], most: int) -> list[Any]:
    return items[:: max(1, -(-len(items) // most))]


@cache
def _heads(end: bytes) -> list[bytes]:
    """Return what may precede the end of a character."""
    return [head for head, tail in _around(end) if not tail] if end else [b""]


@cache
def _tails(begin: bytes) -> list[bytes]:
    """Return what may follow the beginning of a character."""
    if not begin:
        return [b""]
    [size] = [size for size, leads in _LEADS.items() if begin[0] in leads]
    tails = map(bytes, product(_CONTINUATIONS, repeat=size - len(begin)))
    return [tail for tail in tails if _is_text(begin + tail)]


@cache
def _around(middle: bytes) -> list[tuple[bytes, bytes]]:
    """Return what may be before and after bytes in the middle of a character."""
    found = []
    for size, leads in _LEADS.items():
        for after in range(size - len(middle)):
            for lead in leads:
                for more in _continuations(size - len(middle) - 1):
                    head, tail = bytes((lead,)) + more[after:], more[:after]
                    if _is_text(head + middle + tail):
                        found.append((head, tail))
    return found


def _continuations(count: int) -> list[bytes]:
    values = _CONTINUATIONS if count < 2 else _FEW_CONTINUATIONS
    return [bytes(each) for each in product(values, repeat=count)]


def _is_text(data: bytes) -> bool:
    return _ONE_CHARACTER.fullmatch(data) is not None


def _is_fallback(entry: Entry) -> bool:
    """Return whether an entry is a byte such as `<0x0A>`, for characters without an entry."""
    return entry.is_byte and entry.token in BYTE_TOKENS


def _characters_with(byte: int) -> list[str]:
    """Return the characters that have a byte: all of them for ASCII and the leads of two and three bytes."""
    if byte < 0x80:
        return [chr(byte)]
    data = bytes((byte,))
    if byte < 0xC0:
        return completed(data, _COMPLETIONS)
    size = next((size for size, leads in _LEADS.items() if byte in leads), 0)
    values = _CONTINUATIONS if size < 4 else _FEW_CONTINUATIONS
    tails = product(values, repeat=size - 1) if size else ()
    texts = (data + bytes(tail) for tail in tails)
    return [text.decode() for text in texts if _is_text(text)]


# ---- proofs


class Proofs:
    """Proves that no text gives an entry; tries more texts where a proof fails."""

    def __init__(self, tokenizer: Tokenizer, entries: Sequence[Entry], search: Search) -> None:
        self._spec, self._entries, self._search = tokenizer.spec, entries, search
        self._model = self._spec.model
        self._vocab = self._model.vocab
        self._limits = WordLimits(self._spec)
        self._prefix = getattr(self._model, "continuing_subword_prefix", None) or ""
        self._suffix = getattr(self._model, "end_of_word_suffix", None) or ""
        self._apart: dict[int, str] = {}

    def run(self, entries: Sequence[Entry]) -> dict[int, str]:
        """Return id -> reason for the entries with a proof."""
        self._apart = self._segmented_apart(entries)
        reasons = {entry.id: self._reason(entry) for entry in entries}
        return {id: reason for id, reason in reasons.items() if reason}

    def _reason(self, entry: Entry) -> str:
        """Return why no text gives an entry, empty without a proof."""
        if not entry.token:
            return "it is empty"
        if _is_fallback(entry):
            return self._fallback_reason(entry)
        if self._limits.encodes_bytes and _PART.fullmatch(entry.data) is None:
            return "no UTF-8 text contains its bytes"
        reasons = [
            self._limits.reason(form) or self._model_reason(entry, form)
            for form in self._forms(entry.token)
        ]
        return reasons[-1] if reasons and all(reasons) else self._neighbor_reason(entry)

    def _forms(self, token: str) -> Iterator[Span]:
        """Yield how words may contain a token: literally, then without the prefix and suffix of the model."""
        if getattr(self._model, "ignore_merges", False):  # a whole word, looked up as it is
            yield self._form(token, False, False)._replace(is_start=False, has_after=False)
        for prefix in dict.fromkeys(("", self._prefix)):
            for suffix in dict.fromkeys(("", self._suffix)):
                body = token[len(prefix) : len(token) - len(suffix)]
                if body and f"{prefix}{body}{suffix}" == token:
                    yield self._form(body, bool(prefix), bool(suffix))

    def _form(self, body: str, is_inside: bool, is_end: bool) -> Span:
        has_after = bool(self._suffix) and not is_end
        span = Span(body, body, is_inside, has_after, bool(self._prefix) and not is_inside, is_end)
        data = bytes_of(body) if self._limits.encodes_bytes else None
        match = data is not None and _PART.fullmatch(data)
        if not match:
            return span
        return span._replace(
            text=match["text"].decode(),
            has_before=is_inside or bool(match["end"]),
            has_after=has_after or bool(match["begin"]),
            is_start=span.is_start and not match["end"],
            is_end=is_end and not match["begin"],
        )

    # ---- models

    def _model_reason(self, entry: Entry, form: Span) -> str:
        model = self._model
        if isinstance(model, WordPiece):
            return self._wordpiece_reason(entry, form)
        if isinstance(model, BPE) and (self._prefix or self._suffix):
            return self._merged_reason(model, form)
        # A whole word in the vocabulary is not merged, but a part of a character cannot be a word.
        is_looked_up = isinstance(model, BPE) and model.ignore_merges and entry.text is not None
        return "" if is_looked_up else self._apart.get(entry.id, "")

    def _segmented_apart(self, entries: Sequence[Entry]) -> dict[int, str]:
        """Return id -> reason for the entries that the model alone segments into other entries."""
        model = self._model
        is_word = isinstance(model, SentencePiece) and model.kind == "word"
        if is_word or not isinstance(model, BPE | Char | Unigram | SentencePiece) or not entries:
            return {}
        rows = self._bare.encode_batch([entry.token for entry in entries], **PLAIN_TEXT).to_lists()
        found = {}
        for entry, row in zip(entries, rows, strict=True):
            if row != [entry.id] and not self._is_exempt(entry.token):
                found[entry.id] = self._apart_reason(entry, row)
        return found

    @cached_property
    def _bare(self) -> Tokenizer:
        """The model alone; it merges whole words too."""
        model = self._model
        if isinstance(model, BPE):
            model = replace(model, ignore_merges=False, dropout=None)
        return Tokenizer(model)

    def _is_exempt(self, token: str) -> bool:
        """Return whether what the model does to a token alone may differ from what it does in a text."""
        if isinstance(self._model, BPE):
            return self._merges_unknown
        return any(symbol in token for symbol in self._user_defined)

    @cached_property
    def _merges_unknown(self) -> bool:
        """Whether a merge has a symbol for unknown characters, which are not characters of its entry."""
        assert isinstance(self._model, BPE)
        unknown = {*BYTE_TOKENS, self._model.unk_token}
        return any(left in unknown or right in unknown for left, right in self._model.merges)

    @cached_property
    def _user_defined(self) -> list[str]:
        pieces = self._model.pieces if isinstance(self._model, SentencePiece) else ()
        return [piece.text for piece in pieces if piece.type == "user_defined"]

    def _apart_reason(self, entry: Entry, row: Sequence[int]) -> str:
        tokens = [self._tokens[id] for id in row]
        shown = " ".join(map(repr, tokens)) if tokens else "nothing"
        model = self._model
        if isinstance(model, BPE) or (isinstance(model, SentencePiece) and model.kind == "bpe"):
            return f"its own characters do not merge to it: {shown}"
        if isinstance(model, Char) or (isinstance(model, SentencePiece) and model.kind == "char"):
            return "the model outputs single characters"
        assert isinstance(model, Unigram | SentencePiece)
        pieces = model.pieces
        if "".join(tokens) != entry.token or self._model.unk_token in tokens:
            return ""
        margin = math.fsum(pieces[id][1] for id in row) - pieces[entry.id][1]
        reason = f"another segmentation always scores higher: {shown}, by {margin:.3g}"
        return reason if margin > _LEAST_MARGIN else ""

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id: token for token, id in self._vocab.items()}

    @cached_property
    def _merges(self) -> ListedMerges:
        assert isinstance(self._model, BPE)
        return ListedMerges(self._model)

    def _merged_reason(self, model: BPE, form: Span) -> str:
        """Return what the symbols of a word merge to, if it is something else than the entry."""
        if self._merges_unknown or (model.ignore_merges and not any(form.sides.values())):
            return ""
        prefix, suffix = self._prefix * form.has_before, self._suffix * form.is_end
        symbols = merge_all(self._merges, self._merges.symbols(form.token, prefix, suffix))
        if symbols == [f"{prefix}{form.token}{suffix}"]:
            return ""
        return f"its own characters do not merge to it: {' '.join(map(repr, symbols))}"

    def _wordpiece_reason(self, entry: Entry, form: Span) -> str:
        """Return whether no word is long enough; try the entries that no longer match replaces before it.

        The longest entry at the start of a word is one of them, so the model alone excludes none.
        """
        model = self._model
        assert isinstance(model, WordPiece)
        if len(form.token) + form.has_before > model.max_input_chars_per_word:
            return "it is longer than the words that the model segments"
        if form.has_before and entry.id not in self._search.texts:
            starts = islice(filter(self._stays_before(form.token), self._starts), _NEIGHBORS)
            self._search.try_texts((entry, f"{start}{form.token}") for start in starts)
        return ""

    @cached_property
    def _starts(self) -> list[str]:
        """The entries that a word may start with, the shortest first."""
        return sorted(self._vocab, key=len)

    def _stays_before(self, body: str) -> Callable[[str], bool]:
        """Return whether an entry has no longer match with the first characters of a body."""
        parts = [body[:size] for size in range(1, len(body) + 1)]
        return lambda entry: not any(f"{entry}{part}" in self._vocab for part in parts)

    # ---- bytes

    def _fallback_reason(self, entry: Entry) -> str:
        byte = entry.data[0]
        characters = _characters_with(byte)
        is_looked_up = getattr(self._model, "ignore_merges", False)
        is_own_text = is_looked_up or not self._apart.get(entry.id)
        is_literal = is_own_text and not isinstance(self._model, SentencePiece)
        is_all = byte < 0x80 or byte in _LEADS[2] or byte in _LEADS[3]
        # A character with several forms, or a word without an entry, may fall back too.
        is_word = isinstance(self._model, SentencePiece) and self._model.kind == "word"
        has_forms = is_word or bool(self._prefix or self._suffix)
        if is_literal or (characters and (has_forms or not is_all)):
            return ""
        if not characters:
            return "no UTF-8 text contains its byte"
        with_entry = all(c in self._matched or not self._limits.outputs(c) for c in characters)
        return "every character that has its byte has an entry" if with_entry else ""

    @cached_property
    def _matched(self) -> Collection[str]:
        """The entries that the model finds in a text."""
        if not isinstance(self._model, SentencePiece):
            return self._vocab
        types = ("normal", "user_defined")
        return {piece.text for piece in self._model.pieces if piece.type in types}

    def _neighbor_reason(self, entry: Entry) -> str:
        """Return why a part of a character never stays apart from the rest of it."""
        match = _PART.fullmatch(entry.data)
        if not (isinstance(self._model, BPE) and self._has_all_bytes and match):
            return ""
        sides = [("first", False)] * bool(match["end"]) + [("last", True)] * bool(match["begin"])
        if self._is_always_split(match):
            return "no word contains it with a character that its last bytes begin"
        for name, is_after in sides:
            neighbors = self._neighbors(entry, is_after)
            if not neighbors:
                return f"each entry that completes a character of it merges with it: its {name} one"
            for data in neighbors[:_NEIGHBORS]:
                whole = entry.data + data if is_after else data + entry.data
                self._search.try_texts((entry, text) for text in completed(whole, _NEIGHBORS))
        return ""

    def _is_always_split(self, match: re.Match[bytes]) -> bool:
        """Return whether no word contains the text of an entry and a character that its last bytes begin."""
        begin, before = match["begin"], match["text"].decode()
        if match["end"] or not begin or begin[0] >= _LEADS[4][0]:
            return False
        characters = [(begin + tail).decode() for tail in _tails(begin)]
        return all(self._limits.reason(Span(before + c, before + c)) for c in characters)

    @cached_property
    def _has_all_bytes(self) -> bool:
        is_plain = self._limits.encodes_bytes and not (self._prefix or self._suffix)
        letters = (
            CHARACTER_OF_BYTE[byte] for byte in range(0x80, 0xF5) if byte not in (0xC0, 0xC1)
        )
        return (
            is_plain
            and not self._merges_unknown
            and all(letter in self._vocab for letter in letters)
        )

    @cached_property
    def _parts_of_characters(self) -> dict[bool, list[Entry]]:
        """The entries that begin (True) or end (False) within a character."""
        own = [entry for entry in self._entries if entry.text is None and not entry.is_added]
        return {
            True: [entry for entry in own if 0x80 <= entry.data[0] < 0xC0],
            False: [entry for entry in own if not _PART.fullmatch(entry.data + b"a")],
        }

    def _neighbors(self, entry: Entry, is_after: bool) -> list[bytes]:
        """Return the bytes of the entries that stay apart from an entry whose character they complete."""
        pairs = [
            (entry, other) if is_after else (other, entry)
            for other in self._parts_of_characters[is_after]
        ]
        pairs = [pair for pair in pairs if _PART.fullmatch(pair[0].data + pair[1].data)]
        texts = [f"{left.token}{right.token}" for left, right in pairs]
        rows = self._bare.encode_batch(texts, **PLAIN_TEXT).to_lists() if texts else []
        return [
            pair[is_after].data
            for pair, row in zip(pairs, rows, strict=True)
            if row == [each.id for each in pair]
        ]
