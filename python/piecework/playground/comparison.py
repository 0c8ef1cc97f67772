"""A comparison of tokenizers on the text of the page, as JSON data for the view with charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import piecework as pw
from piecework.analysis.charts import Chart, page_charts
from piecework.analysis.report import check_report
from piecework.analysis.report_content import report_content
from piecework.errors import MissingExtraError
from piecework.playground.served_tokenizer import ServedTokenizer

_THREADS = 1


def comparison(tokenizers: Sequence[ServedTokenizer], text: str) -> dict[str, Any]:
    """Return the report of tokenizers on the lines of a text, without charts if they cannot be drawn.

    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> found = comparison([ServedTokenizer("characters", tok)], "a aa")
    >>> found["headline"]
    '1 text, 2 words, 4 characters, 4 bytes'

    `missing` says why there are no charts: which extra they need, or that the text is too short.

    Raises `CorpusError` for a text without characters.
    """
    named = {one.name: one.tokenizer for one in tokenizers}
    found = pw.analysis.compare(named, text.splitlines(), num_threads=_THREADS)
    charts: list[Chart] = []
    try:
        check_report()
        charts = page_charts(found)
    except MissingExtraError as error:
        return {**report_content(found, charts), "missing": f"No charts: {error}"}
    return report_content(found, charts)
