"""What a check found: findings, the report of a tokenizer, and the reports as SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import piecework as pw
from piecework._internal.validation import counted
from piecework.analysis.blocks import Block, Heading, Paragraph, PlainData
from piecework.analysis.displayed import Displayed
from piecework.analysis.readable import joined, show_whitespace

if TYPE_CHECKING:
    from piecework.analysis.check.rules import Rule

Severity: TypeAlias = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The severities, the worst first."""

PAGE = "https://piecework.github.io/piecework/reference/checks.html"
_SHOWN = 10


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
    """

    message: str
    code: str = ""
    severity: Severity | Literal[""] = ""
    cost: str = ""
    advice: str = ""
    tokens: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the message, the evidence, what it costs and what to do."""
        yield self.message
        for name in ("tokens", "ids", "texts"):
            shown = [show_whitespace(str(one)) for one in getattr(self, name)]
            if shown:
                more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
                yield f"{name}: {'  '.join(shown[:_SHOWN])}{more}"
        if self.cost:
            yield f"cost: {self.cost}"
        if self.advice:
            yield f"do: {self.advice}"


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


def sarif(reports: Iterable[CheckReport], rules: Sequence[Rule]) -> dict[str, Any]:
    """Return reports as one SARIF log; the rules are those that the results can name.

    Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
    """
    codes = [rule.code for rule in rules]
    driver = {
        "name": "piecework",
        "version": pw.__version__,
        "informationUri": PAGE,
        "rules": list(map(_sarif_rule, rules)),
    }
    results = [
        _sarif_result(report.name, finding, codes.index(finding.code))
        for report in reports
        for finding in report.findings
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"{rule.cost} {rule.advice}".strip() or rule.summary},
        "helpUri": f"{PAGE}#{rule.code}",
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.group]},
    }


def _sarif_result(name: str, finding: Finding, index: int) -> dict[str, Any]:
    path = Path(name)
    uri = path.as_uri() if path.is_absolute() else path.as_posix()
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": "\n".join(finding.lines())},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}}}],
        "properties": {
            "tokens": list(finding.tokens),
            "ids": list(finding.ids),
            "texts": list(finding.texts),
        },
    }
