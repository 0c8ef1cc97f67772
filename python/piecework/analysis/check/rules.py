"""The rules of a check, how each is registered, and what they read.

To add a rule, write a function with the decorator `rule` that yields findings about a `Subject`, in the
module of its group. Its docstring is its page in the reference: a sentence, the rationale, an example that
fails and one that passes, and sources.
"""

from __future__ import annotations

import inspect
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from piecework import PieceworkError, Tokenizer
from piecework._internal.validation import listed, unknown_choice
from piecework.analysis.check.findings import SEVERITIES, CheckReport, Finding, Severity
from piecework.analysis.embedding_table import Table, read_table
from piecework.analysis.entry_bytes import Entry, vocabulary_entries
from piecework.analysis.reachability import Reachability, reachability
from piecework.analysis.round_trip import lossy_texts
from piecework.errors import FormatWarning
from piecework.io.names import tokenizer_path
from piecework.io.stored_lengths import ignore_warnings_of_lengths

if TYPE_CHECKING:
    from piecework.spec import TokenizerSpec

Find: TypeAlias = Callable[["Subject"], Iterator[Finding]]

_NOT_TRIED = ("Cc", "Cs", "Co", "Cn", "Zs", "Zl", "Zp")

GROUPS = {
    "loading": "what prevents a check",
    "text": "what a text loses",
    "vocabulary": "entries that are useless or harmful",
    "injection": "text of users that passes for markup",
    "files": "files and libraries that do not agree",
    "speed": "texts that take much time",
}
"""Group -> what its rules are about."""


@dataclass
class Subject:
    """A tokenizer that is checked, where it comes from, and what several rules read.

    `tokenizer` is None for a file that does not load; `error` says why, and `warnings` are of the loader.
    `path` is a file or a folder. `texts` are of the caller: the use of entries is counted in them.
    """

    name: str
    tokenizer: Tokenizer | None = None
    path: str | None = None
    error: PieceworkError | None = None
    warnings: tuple[str, ...] = ()
    texts: Sequence[str] | None = None
    embeddings: str | None = None

    @property
    def loaded(self) -> Tokenizer:
        """The tokenizer; only rules that read files run without one."""
        assert self.tokenizer is not None
        return self.tokenizer

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The stages of the tokenizer."""
        return self.loaded.spec

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries of the vocabulary, decoded to bytes, in order of ids."""
        return vocabulary_entries(self.loaded)

    @cached_property
    def reachability(self) -> Reachability:
        """A text that gives each entry, or a proof that none does."""
        return reachability(self.loaded, self.entries)

    @cached_property
    def unused_ids(self) -> set[int]:
        """The ids that no text gives: proven, or control pieces."""
        found = self.reachability
        return {*found.proofs, *(entry.id for entry in found.outside)}

    @cached_property
    def embedding_table(self) -> Table:
        """The table of `embeddings`, which must be given."""
        assert self.embeddings is not None
        return read_table(
            self.embeddings, max(entry.id for entry in self.entries) + 1, self.unused_ids
        )

    @cached_property
    def lost(self) -> list[str]:
        """The assigned characters of Unicode that a round trip loses, each encoded alone."""
        return lossy_texts(self.loaded, characters())


@cache
def characters() -> tuple[str, ...]:
    """Return every character that is assigned in Python's Unicode, without whitespace and controls.

    >>> characters()[:3]
    ('!', '"', '#')
    """
    every = map(chr, range(0x110000))
    return tuple(one for one in every if unicodedata.category(one) not in _NOT_TRIED)


@dataclass(frozen=True)
class Rule:
    """A rule: `find` yields its findings. Only a rule that `reads_files` runs without a loaded tokenizer."""

    code: str
    group: str
    severity: Severity
    find: Find
    cost: str = ""
    advice: str = ""
    reads_files: bool = False

    @property
    def rationale(self) -> str:
        """What the rule finds and why, with examples; its page in the reference."""
        return inspect.getdoc(self.find) or ""

    @property
    def summary(self) -> str:
        """What the rule finds, in one sentence."""
        return " ".join(self.rationale.split("\n\n")[0].split())


RULES: dict[str, Rule] = {}
"""Code -> rule; reports have them by group, in the order of `GROUPS`."""


def rule(code: str, group: str, severity: Severity, **settings: Any) -> Callable[[Find], Find]:
    """Return a decorator that registers a rule; `settings` are the other fields of `Rule`."""

    def register(find: Find) -> Find:
        assert group in GROUPS
        RULES[code] = Rule(code, group, severity, find, **settings)
        return find

    return register


def chosen_rules(select: Collection[str] = (), ignore: Collection[str] = ()) -> list[Rule]:
    """Return the rules whose code or group is in `select`, and not in `ignore`; all without `select`.

    >>> [rule.code for rule in chosen_rules(["loading"], ["loader-warning"])]
    ['unreadable', 'unchecked']

    Raises `ArgumentError` for an unknown name.
    """
    known = (*RULES, *GROUPS)
    named: dict[str, list[str]] = {}
    for argument, given in (("select", select), ("ignore", ignore)):
        named[argument] = listed(given, argument, "codes")
        for name in named[argument]:
            if name not in known:
                raise unknown_choice(argument, name, known)
    groups = list(GROUPS)
    return [
        rule
        for rule in sorted(RULES.values(), key=lambda rule: groups.index(rule.group))
        if (not select or {rule.code, rule.group} & set(named["select"]))
        and not {rule.code, rule.group} & set(named["ignore"])
    ]


def read_subject(
    path: str,
    load: Callable[[str], Tokenizer] = Tokenizer.load,
    *,
    revision: str | None = None,
) -> Subject:
    """Return the subject of a path or a name; a file that does not load is one too, with its error.

    `revision` is of a repository of the hub whose files `load` reads.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ignore_warnings_of_lengths()
        try:
            tokenizer, error = load(path), None
        except PieceworkError as raised:
            tokenizer, error = None, raised
    messages = [str(one.message) for one in caught if issubclass(one.category, FormatWarning)]
    try:
        place: str | None = tokenizer_path(path, revision=revision)
    except PieceworkError:
        place = None
    return Subject(path, tokenizer, place, error, tuple(messages))


def checked(subject: Subject, rules: Sequence[Rule]) -> CheckReport:
    """Return the report of the rules that can run, the worst findings first."""
    ran = [rule for rule in rules if rule.reads_files or subject.tokenizer is not None]
    found = [finding for rule in ran for finding in _findings(rule, subject)]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity or "note"))
    return CheckReport(subject.name, tuple(found), tuple(rule.code for rule in ran))


def _findings(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Yield the findings of a rule, with its code; an error becomes a finding of `unchecked`."""
    try:
        for found in rule.find(subject):
            yield replace(
                found,
                code=rule.code,
                severity=found.severity or rule.severity,
                cost=found.cost or rule.cost,
                advice=found.advice or rule.advice,
            )
    except PieceworkError as error:
        message = f"{rule.code} was not checked: {error}"
        yield Finding(message, code="unchecked", severity=RULES["unchecked"].severity)
