"""A rule about regular expressions that take more than linear time in engines that backtrack."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import combinations, islice
from typing import Any

from piecework.analysis.check.findings import Finding
from piecework.analysis.check.rules import Subject, rule
from piecework.errors import ArgumentError
from piecework.spec import Regex

_PARSER = import_module("re._parser" if hasattr(re, "_parser") else "sre_parse")
_LENGTHS = (24, 48, 72)
_GROWTH = 1.3
_MAX_STEPS = 200_000
# A letter, a capital, a digit, spaces, line ends, marks, an ideograph, an accent; a control ends a run.
_CHARACTERS = "aA1 \n-'_中\u0301"
_END = "\x01"
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))")
_FIRST_PRIVATE = 0xE000
_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "SPACE": str.isspace,
    "DIGIT": str.isdecimal,
    "WORD": lambda c: c.isalnum() or c == "_",
}


@rule(
    "unbounded-pattern",
    "speed",
    "warning",
    cost="One long text of this kind keeps a thread of tokenizers or tiktoken busy; here time stays linear.",
    advice="limit the length of texts, or train with a pattern without nested or adjacent repetitions.",
)
def unbounded_pattern(subject: Subject) -> Iterator[Finding]:
    """Find patterns whose steps grow faster than a text, in an engine that backtracks.

    Each pattern of a normalizer or pre-tokenizer runs, as find-all with backtracking, on runs of one or two
    of ten kinds of characters, 24, 48 and 72 characters long, alone and before a control character; its steps
    are counted. More steps for the last 24 characters than for the 24 before, by 30 %, is the finding. Runs
    that were not tried can be slow too.

    >>> import piecework as pw
    >>> model = pw.spec.Char({"[UNK]": 0, "a": 1})
    >>> digits = pw.spec.Split(pw.spec.Regex(r"\\d(?=(\\d{3})*$)|\\D"), "isolated")
    >>> found = pw.analysis.check(
    ...     pw.Tokenizer(model, pre_tokenizer=digits), select=["unbounded-pattern"]
    ... )
    >>> found.findings[0].texts[0][:6]
    '111111'

    The pattern of GPT-2 goes back a single character.

    >>> [gpt2] = pw.spec.NAMED_PATTERNS["gpt2"]
    >>> words = pw.spec.Split(pw.spec.Regex(gpt2), "isolated")
    >>> pw.analysis.check(
    ...     pw.Tokenizer(model, pre_tokenizer=words), select=["unbounded-pattern"]
    ... ).findings
    ()

    Source: Davis et al. 2018, "The Impact of Regular Expression Denial of Service".
    """
    stages = (subject.spec.normalizer, subject.spec.pre_tokenizer)
    for part in (part for stage in stages for part in _parts(stage)):
        pattern = getattr(part, "pattern", None)
        if isinstance(pattern, Regex):
            text, steps = _slow_text(pattern.pattern)
            if text:
                message = (
                    f"{type(part).__name__} backtracks: {steps:,} steps for {len(text)} characters"
                )
                yield Finding(f"{message}, with {pattern.pattern!r}", texts=(text,))


def _parts(stage: Any) -> Iterator[Any]:
    inside = getattr(stage, "pretokenizers", getattr(stage, "normalizers", None))
    if inside is None:
        yield stage
    else:
        for part in inside:
            yield from _parts(part)


def _slow_text(pattern: str) -> tuple[str, int]:
    """Return a text on which steps grow faster than its length, and the steps; "" if none was found."""
    tree, properties = _parsed(pattern)
    units = [*_CHARACTERS, *map("".join, combinations(_CHARACTERS, 2))]
    for unit, end in [*((unit, "") for unit in units), *((unit, _END) for unit in _CHARACTERS)]:
        texts = [unit * (length // len(unit)) + end for length in _LENGTHS]
        first, second, third = (_steps(tree, properties, text) for text in texts)
        if third >= _MAX_STEPS or third - second > _GROWTH * (second - first):
            return texts[-1], third
    return "", 0


def _parsed(pattern: str) -> tuple[Any, list[Callable[[str], bool]]]:
    """Return the syntax tree of a pattern; a private character stands for each Unicode property in it.

    Raises `ArgumentError` for syntax that Python's `re` lacks.
    """
    properties: list[Callable[[str], bool]] = []

    def private(match: re.Match[str]) -> str:
        letter, negated, long, short = match.groups()
        properties.append(_property(long or short, is_negated=(letter == "P") != bool(negated)))
        return chr(_FIRST_PRIVATE + len(properties) - 1)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # sets within sets
            return _PARSER.parse(_PROPERTY.sub(private, pattern)), properties
    except (re.error, FutureWarning) as error:
        problem = f"{pattern!r} has syntax that is not followed: {error}"
        raise ArgumentError("pattern", problem) from None


def _property(name: str, *, is_negated: bool) -> Callable[[str], bool]:
    def has(character: str) -> bool:
        is_script = name.title() == "Han" and unicodedata.name(character, "").startswith("CJK")
        found = is_script or unicodedata.category(character).startswith(name)
        return found != is_negated

    return has


def _steps(tree: Any, properties: Sequence[Callable[[str], bool]], text: str) -> int:
    """Return the steps of an engine that finds all matches with backtracking; at most `_MAX_STEPS`."""
    engine = _Backtracking(text, properties)
    at = 0
    while at < len(text) and engine.steps < _MAX_STEPS:
        at = max(at + 1, next(engine.ends(tree, at), at))
    return engine.steps


class _Backtracking:
    """Yields the ends of matches in the order of priority, and counts steps."""

    def __init__(self, text: str, properties: Sequence[Callable[[str], bool]]) -> None:
        self.steps = 0
        self._text = text
        self._properties = properties

    def ends(self, nodes: Sequence[Any], at: int) -> Iterator[int]:
        """Yield each end of a match of all nodes from a position."""
        if not nodes:
            yield at
            return
        op, argument = nodes[0]
        for end in self._node(str(op), argument, at):
            yield from self.ends(nodes[1:], end)

    def _node(self, name: str, argument: Any, at: int) -> Iterator[int]:
        self.steps += 1
        if self.steps >= _MAX_STEPS:
            return
        if name == "BRANCH":
            for branch in argument[1]:
                yield from self.ends(branch, at)
        elif name == "SUBPATTERN":
            yield from self.ends(argument[3], at)
        elif name == "MAX_REPEAT":
            yield from self._repeat(argument, at)
        elif name == "MIN_REPEAT":
            yield from self._repeat(argument, at, is_lazy=True)
        elif name == "POSSESSIVE_REPEAT":
            yield from islice(self._repeat(argument, at), 1)
        elif name == "ATOMIC_GROUP":
            yield from islice(self.ends(argument, at), 1)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from self._look(argument, at, is_wanted=name == "ASSERT")
        elif name == "AT":
            yield from [at] if self._is_at(str(argument), at) else []
        elif at < len(self._text) and self._matches(name, argument, self._text[at]):
            yield at + 1

    def _repeat(
        self, argument: Any, at: int, done: int = 0, *, is_lazy: bool = False
    ) -> Iterator[int]:
        least, most, body = argument
        if is_lazy and done >= least:
            yield at
        for end in self.ends(body, at) if done < most else ():
            if end > at:
                yield from self._repeat(argument, end, done + 1, is_lazy=is_lazy)
        if not is_lazy and done >= least:
            yield at

    def _look(self, argument: Any, at: int, *, is_wanted: bool) -> Iterator[int]:
        direction, body = argument
        start = at if direction > 0 else at - body.getwidth()[0]
        found = start >= 0 and next(self.ends(body, start), None) is not None
        if found == is_wanted:
            yield at

    def _is_at(self, name: str, at: int) -> bool:
        if "BOUNDARY" in name:
            before, after = self._text[:at][-1:], self._text[at : at + 1]
            is_word = _CATEGORIES["WORD"]
            is_boundary = any(map(is_word, before)) != any(map(is_word, after))
            return is_boundary != name.startswith("AT_NON")
        return at == (0 if "BEGINNING" in name else len(self._text))

    def _matches(self, name: str, argument: Any, character: str) -> bool:
        if name == "ANY":
            return character != "\n"
        if name == "LITERAL":
            return self._is_literal(argument, character)
        if name == "NOT_LITERAL":
            return not self._is_literal(argument, character)
        if name == "RANGE":
            return ord(character) in range(argument[0], argument[1] + 1)
        if name == "CATEGORY":
            kind = str(argument).removeprefix("CATEGORY_")
            return _CATEGORIES[kind.removeprefix("NOT_")](character) != kind.startswith("NOT_")
        if name == "IN":
            is_negated = str(argument[0][0]) == "NEGATE"
            return is_negated != any(
                self._matches(str(op), inside, character) for op, inside in argument[is_negated:]
            )
        raise ArgumentError("pattern", f"has {name.lower()}, which is not followed")

    def _is_literal(self, code: int, character: str) -> bool:
        at = code - _FIRST_PRIVATE
        if 0 <= at < len(self._properties):
            return self._properties[at](character)
        return code == ord(character)
