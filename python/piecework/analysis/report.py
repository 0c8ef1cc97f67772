"""A comparison as one self-contained HTML page: no scripts, fonts or images from elsewhere."""

from __future__ import annotations

from html import escape

from piecework.analysis.charts import bars, log_lines
from piecework.analysis.compare import Comparison
from piecework.analysis.text_tables import LONGEST, Table, headline, share_between, tables

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .15rem .8rem; text-align: right; border-bottom: 1px solid #8884;
  font-variant-numeric: tabular-nums }
th:first-child, td:first-child { text-align: left }
svg { width: 100%; max-width: 44rem; display: block }
"""


def html_report(comparison: Comparison) -> str:
    """Return an HTML page with the tables and charts of a comparison.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> page = html_report(pw.analysis.compare({"characters": tok}, ["abba", "abc"]))
    >>> "<td>character</td>" in page, "http" in page
    (True, False)
    """
    measures, lengths, frequencies = tables(comparison)
    labels = [*map(str, range(1, LONGEST + 1)), f"{LONGEST + 1}+"]
    fertility = {one.name: [one.fertility] for one in comparison.measures}
    entry_lengths = {one.name: _shares(one.entry_lengths) for one in comparison.measures}
    token_lengths = {one.name: _shares(one.token_lengths) for one in comparison.measures}
    ranks = {one.name: one.rank_frequencies for one in comparison.measures}
    return _page(
        f"<p>{escape(headline(comparison))}.</p>",
        _html_table(measures),
        _chart("Tokens per word", bars(["fertility"], fertility)),
        _html_table(lengths),
        _chart("Vocabulary by length in characters (share)", bars(labels, entry_lengths)),
        _chart("Tokens of the text by length in characters (share)", bars(labels, token_lengths)),
        _html_table(frequencies),
        _chart("Share of the tokens by frequency rank (both axes logarithmic)", log_lines(ranks)),
    )


def _shares(lengths: tuple[tuple[int, int], ...]) -> list[float]:
    shares = [share_between(lengths, length, length) for length in range(1, LONGEST + 1)]
    return [*shares, share_between(lengths, LONGEST + 1, None)]


def _page(*parts: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Tokenizers compared</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>Tokenizers compared</h1>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def _chart(title: str, drawing: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawing}</figure>"


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    return (
        f"<h2>{escape(table.title[:1].upper() + table.title[1:])}</h2>\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"
    )
