"""Reports of checks as SARIF, which code hosts show beside the files.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import piecework as pw
from piecework.analysis.check.findings import CheckReport, Finding
from piecework.analysis.check.rules import RULES, Rule

PAGE = "https://piecework.github.io/piecework/reference/checks.html"


def sarif(reports: Iterable[CheckReport]) -> dict[str, Any]:
    """Return reports as one SARIF log, which lists all rules."""
    codes = list(RULES)
    driver = {
        "name": "piecework",
        "version": pw.__version__,
        "informationUri": PAGE,
        "rules": list(map(_sarif_rule, RULES.values())),
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
        "help": {"text": "\n".join(filter(None, (rule.summary, rule.cost, rule.advice)))},
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
            "details": list(finding.details),
        },
    }
