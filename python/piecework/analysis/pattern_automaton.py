r"""Read a pattern as an automaton that accepts at least what the pattern matches: lookarounds are left out.

>>> automaton_of(r" ?\p{L}+|\d").accepts("ab"), automaton_of(r" ?\p{L}+|\d").accepts("a1")
(True, False)

Source: Glushkov 1961, "The abstract theory of automata" (one state for each character of the pattern).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

from piecework import Tokenizer
from piecework.spec import Char, Regex, Split

_MAX_REPEATS = 16  # more repetitions are read as any number
_ATOM = re.compile(r"\\[pP]\{[^}]*\}|\\[^xuUkgGKRXyYbBAzZ0-9cCM]|[^\\()\[\]{}|?*+^$]", re.DOTALL)
_ANCHOR = re.compile(r"\\[AzZbBG]|[\^$]")
_LOOKAROUND = re.compile(r"\(\?(=|!|<=|<!)")
_GROUP = re.compile(r"\((\?:|\?>|\?i:|\?-i:|(?!\?))")
_REPEAT = re.compile(r"(?:[*+?]|\{(\d+)(,(\d*))?\}(?![?+]))")
# What ignoring case may match with another number of characters, such as ß.
_FOLDED = re.compile(r"ss|st|f[fil]|[\\\[]|[^\x00-\x7f]", re.IGNORECASE)


class _UnreadError(Exception):
    """The pattern has syntax that is not read."""


class _Part(NamedTuple):
    """States of a part of a pattern: first and last ones, and whether it also matches nothing."""

    first: frozenset[int]
    last: frozenset[int]
    is_nullable: bool


_NOTHING = _Part(frozenset(), frozenset(), True)


class Automaton:
    """The states of a pattern, each with the source of its characters, and which states follow which."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._ignores_case = pattern, 0, False
        self._sources: list[str] = []
        self._follow: dict[int, set[int]] = defaultdict(set)
        self._is_conditional = False
        self._matches: dict[tuple[int, str], bool] = {}
        self._sure: set[int] = set()
        self._whole = self._alternatives(is_top=True)
        if self._at < len(pattern) or self._whole.is_nullable:
            raise _UnreadError
        self._after = {state for follow in self._follow.values() for state in follow}

    def accepts(
        self,
        text: str,
        *,
        has_before: bool = False,
        has_after: bool = False,
        is_start: bool = False,
        is_end: bool = False,
    ) -> bool:
        """Return whether a match may contain the text, False only if none does.

        `has_before` and `has_after`: the match has characters on that side. `is_start` and `is_end`: it has
        none.
        """
        states: set[int] = set(range(len(self._sources)))
        states = self._after if has_before else set(self._whole.first) if is_start else states
        for index, character in enumerate(text):
            if index:
                states = {after for state in states for after in self._follow.get(state, ())}
            states = {state for state in states if self._has(state, character)}
        if has_after:
            return any(self._follow.get(state) for state in states)
        return bool(states & self._whole.last) if is_end else bool(states)

    def always_matches(self, character: str) -> bool:
        """Return whether a match starts at this character wherever it stands, so that no gap contains it."""
        return any(self._has(state, character) for state in self._sure)

    def _has(self, state: int, character: str) -> bool:
        """Return whether the core matches a character with the source of a state."""
        key = state, character
        if key not in self._matches:
            self._matches[key] = not _splitter(self._sources[state]).pre_tokenize(character)
        return self._matches[key]

    # ---- reading

    def _alternatives(self, *, is_top: bool = False) -> _Part:
        first, last, is_nullable = set[int](), set[int](), False
        while True:
            self._is_conditional = False if is_top else self._is_conditional
            part = self._sequence()
            if is_top and not self._is_conditional:
                self._sure |= part.first & part.last
            first |= part.first
            last |= part.last
            is_nullable = is_nullable or part.is_nullable
            if not self._eat("|"):
                return _Part(frozenset(first), frozenset(last), is_nullable)

    def _sequence(self) -> _Part:
        part = _NOTHING
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            part = self._joined(part, self._repeated())
        return part

    def _joined(self, left: _Part, right: _Part) -> _Part:
        for state in left.last:
            self._follow[state] |= right.first
        first = left.first | right.first if left.is_nullable else left.first
        last = left.last | right.last if right.is_nullable else right.last
        return _Part(first, last, left.is_nullable and right.is_nullable)

    def _repeated(self) -> _Part:
        start = self._at
        part = self._atom()
        match = _REPEAT.match(self._pattern, self._at)
        if match is None:
            return part
        low, high = _bounds(match)
        parts = [part]
        while part.first and len(parts) < (high or max(low, 1)):
            self._at = start
            parts.append(self._atom())
        self._at = match.end()
        if self._eat("+"):  # possessive: what follows may fail although the automaton goes on
            self._is_conditional = True
        else:
            self._eat("?")
        if high is None:
            parts[-1] = self._joined(parts[-1], parts[-1])
        found = _NOTHING
        for index, each in enumerate(parts):
            found = self._joined(found, each._replace(is_nullable=True) if index >= low else each)
        return found

    def _atom(self) -> _Part:
        if match := _LOOKAROUND.match(self._pattern, self._at) or _ANCHOR.match(
            self._pattern, self._at
        ):
            self._is_conditional = True
            self._at = match.end() if match[0][0] != "(" else self._end_of_group()
            return _NOTHING
        if match := _GROUP.match(self._pattern, self._at):
            return self._group(match)
        if self._pattern.startswith("[", self._at):
            return self._state(self._end_of_class())
        match = _ATOM.match(self._pattern, self._at)
        if match is None:
            raise _UnreadError
        return self._state(match.end())

    def _group(self, match: re.Match[str]) -> _Part:
        outer, self._at = self._ignores_case, match.end()
        if match[1] == "?>":
            self._is_conditional = True
        if match[1] in ("?i:", "?-i:"):
            self._ignores_case = match[1] == "?i:"
        start = self._at
        part = self._alternatives()
        folded = self._ignores_case and _FOLDED.search(self._pattern[start : self._at])
        if folded or not self._eat(")"):
            raise _UnreadError
        self._ignores_case = outer
        return part

    def _state(self, end: int) -> _Part:
        source = self._pattern[self._at : end]
        self._sources.append(f"(?i:{source})" if self._ignores_case else source)
        self._at = end
        states = frozenset((len(self._sources) - 1,))
        return _Part(states, states, False)

    def _end_of_class(self) -> int:
        depth, at = 0, self._at
        while at < len(self._pattern):
            character = self._pattern[at]
            depth += (character == "[") - (character == "]")
            at += 2 if character == "\\" else 1
            if not depth:
                return at
        raise _UnreadError

    def _end_of_group(self) -> int:
        depth, at = 0, self._at
        while at < len(self._pattern):
            character = self._pattern[at]
            if character == "[":
                outer, self._at = self._at, at
                at, self._at = self._end_of_class(), outer
                continue
            depth += (character == "(") - (character == ")")
            at += 2 if character == "\\" else 1
            if not depth:
                return at
        raise _UnreadError

    def _eat(self, character: str) -> bool:
        found = self._pattern.startswith(character, self._at)
        self._at += found
        return found


def _bounds(repeat: re.Match[str]) -> tuple[int, int | None]:
    """Return the fewest and most repetitions, None for any number."""
    if repeat[1] is None:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[repeat[0]]
    low = int(repeat[1])
    high = low if repeat[2] is None else int(repeat[3]) if repeat[3] else None
    if low > _MAX_REPEATS or high == 0:
        raise _UnreadError
    return low, None if high is None or high > _MAX_REPEATS else high


@cache
def _splitter(source: str) -> Tokenizer:
    """Return a tokenizer that drops the characters that a source matches."""
    return Tokenizer(Char({"?": 0}, "?"), pre_tokenizer=Split(Regex(source), "removed"))


@cache
def automaton_of(pattern: str) -> Automaton | None:
    """Return the automaton of a pattern, None for syntax that is not read, such as back-references."""
    try:
        return Automaton(pattern)
    except _UnreadError:
        return None
