"""What a check found: findings, and the report of a tokenizer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from piecework._internal.validation import counted
from piecework.analysis.blocks import Block, Heading, Paragraph, PlainData
from piecework.analysis.displayed import Displayed
from piecework.analysis.readable import joined, show_whitespace

Severity: TypeAlias = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The severities, the worst first."""

_SHOWN = {"tokens": 10, "ids": 10, "texts": 5}
_SHOWN_CHARS = 60


@dataclass(frozen=True)
class Finding(PlainData):
    """One thing that a rule found in a tokenizer.

    >>> Finding("2 entries join a line end to marks", tokens=(");\\n", "}\\n"), ids=(7, 9)).ids
    (7, 9)

    - `message`: one sentence about this tokenizer.
    - `code`, `severity`: of the rule, unless the rule gives this finding another severity.
    - `cost`, `advice`: what it costs, and what to do; of the rule, unless the finding has its own.
    - `tokens`, `ids`: entries of the vocabulary that show it.
    - `texts`: texts that show it, such as one whose characters are lost.
    - `details`: figures behind the message that are not printed, such as of each script.
    """

    message: str
    code: str = ""
    severity: Severity | Literal[""] = ""
    cost: str = ""
    advice: str = ""
    tokens: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the message, the evidence, what it costs and what to do."""
        yield self.message
        for name, most in _SHOWN.items():
            values = getattr(self, name)
            shown = [_shortened(show_whitespace(str(one))) for one in values[:most]]
            if shown:
                more = f" and {len(values) - most:,} more" if len(values) > most else ""
                yield f"{name}: {'  '.join(shown)}{more}"
        if self.cost:
            yield f"cost: {self.cost}"
        if self.advice:
            yield f"do: {self.advice}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


@dataclass(frozen=True)
class CheckReport(Displayed):
    """The findings about one tokenizer, the worst first, and the codes of the rules that ran.

    >>> found = CheckReport("tokenizer.json", (), rules=("lost-characters",))
    >>> print(found, found.worst)
      tokenizer.json: 1 rule, no findings
     None
    """

    _computed = ("worst",)

    name: str
    findings: tuple[Finding, ...]
    rules: tuple[str, ...]

    @property
    def worst(self) -> Severity | None:
        """The worst severity of the findings, None without findings."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in found), None)

    def fails(self, severity: Severity) -> bool:
        """Return whether a finding has this severity or a worse one."""
        worst = self.worst
        return worst is not None and SEVERITIES.index(worst) <= SEVERITIES.index(severity)

    def blocks(self) -> Iterator[Block]:
        """Yield the number of findings, then each finding."""
        counts = Counter(finding.severity for finding in self.findings)
        found = [counted(counts[one], one) for one in SEVERITIES if counts[one]]
        ran = counted(len(self.rules), "rule")
        yield Paragraph(f"{self.name}: {ran}, {joined(found or ['no findings'])}")
        for finding in self.findings:
            yield Heading(f"{finding.severity}: {finding.code}")
            yield from map(Paragraph, finding.lines())
