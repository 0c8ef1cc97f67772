"""A comparison as one self-contained HTML page with interactive charts. Requires `piecework[charts]`.

The page has its style, its data, the scripts of Vega-Lite and no address of anything else. Its policy allows
the two scripts of the page by their checksums, and neither `eval` nor requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from piecework._internal.extras import import_extra
from piecework.analysis.block_html import safe
from piecework.analysis.charts import page_charts
from piecework.analysis.compare import Comparison
from piecework.analysis.report_content import report_content

PAGE_FILES = Path(__file__).parent / "page_files"
"""The style and the script that this page and the playground share."""
_COLORS = 8
_PIECE_COLORS = 5
_WORDS_OPEN, _WORDS_OF_GROUP, _GROUPS_OPEN = 18, 3, 6
_START = "\nstart(document);\n"


def html_report(comparison: Comparison) -> str:
    """Return an HTML page with the findings, charts, words and tables of a comparison.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> found = pw.analysis.compare({"characters": tok}, ["abba", "abc"])
    >>> try:
    ...     page = html_report(found)
    ... except pw.errors.MissingExtraError:  # Altair and vl-convert are optional dependencies
    ...     page = "<td>character</td>"
    >>> "<td>character</td>" in page
    True

    The page needs no network. Without scripts it shows everything but the charts.

    Raises `MissingExtraError` if Altair or vl-convert is not installed.
    """
    content = report_content(comparison, page_charts(comparison))
    specs = {chart["name"]: chart["spec"] for chart in content["charts"]}
    styles = (PAGE_FILES / "theme.css").read_text() + (PAGE_FILES / "report.css").read_text()
    scripts = [chart_scripts(), (PAGE_FILES / "charts.js").read_text() + _START]
    return _page("Tokenizers compared", styles, scripts, _json(specs), "\n".join(_parts(content)))


def check_report() -> None:
    """Raise `MissingExtraError` if what the page needs is not installed."""
    import_extra("altair", "charts", "html")
    import_extra("vl_convert", "charts", "html")


@cache
def chart_scripts() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script, 0.9 MB, that sets `vegaEmbed` of the page."""
    altair = import_extra("altair", "charts", "html")
    vl_convert = import_extra("vl_convert", "charts", "html")
    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    script = vl_convert.javascript_bundle("globalThis.vegaEmbed = vegaEmbed;", vl_version=version)
    # In strings and regular expressions of JavaScript this is the same, and it does not end the element.
    return re.sub("<(?=/?script|!--)", r"\\x3c", script)


# ---- the page


def _page(title: str, styles: str, scripts: Iterable[str], data: str, body: str) -> str:
    scripts = list(scripts)
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_checksum, scripts))}",
            f"style-src {_checksum(styles)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    elements = "\n".join(f'<script type="module">{script}</script>' for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{safe(title)}</title>\n<style>{styles}</style></head>\n"
        f'<body class="report">\n<main>\n<h1>{safe(title)}</h1>\n{body}\n</main>\n'
        f'<script type="application/json" id="charts">{data}</script>\n{elements}\n</body></html>\n'
    )


def _checksum(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(data: object) -> str:
    """Return JSON that contains no markup: `<` and `&` are escape sequences."""
    text = json.dumps(data)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _parts(content: dict[str, Any]) -> Iterator[str]:
    yield f'<p class="quiet">{safe(content["headline"])}</p>'
    yield '<ul class="findings">'
    yield from (f"<li>{safe(finding)}</li>" for finding in content["findings"])
    yield "</ul>"
    yield from _cards(content["tokenizers"])
    if content["charts"]:
        yield from _legend(content["tokenizers"])
    charts = {chart["name"]: chart for chart in content["charts"]}
    if content["missing"]:
        yield f'<p class="panel note">{safe(content["missing"])}</p>'
    yield from _figures([charts.pop(name) for name in ("measures", "sources") if name in charts])
    yield from _words(content)
    yield from _figures(list(charts.values()))
    yield from _tables(content["tables"])


def _cards(tokenizers: list[dict[str, Any]]) -> Iterator[str]:
    yield '<ul class="cards" aria-label="Tokenizers">'
    for at, one in enumerate(tokenizers):
        figures = "".join(
            f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>"
            for name, value in one["figures"]
        )
        kind = "comparison fewest" if one["is_fewest"] else "comparison"
        yield (
            f'<li class="panel"><h2>{_swatch(at)}<bdi>{safe(one["name"])}</bdi> '
            f'<span class="quiet">{safe(one["family"])}</span></h2>'
            f'<p class="main-figure"><strong>{safe(one["fertility"])}</strong> tokens per word '
            f'<span class="{kind}">{safe(one["comparison"])}</span></p>'
            f'<dl class="counts">{figures}</dl></li>'
        )
    yield "</ul>"


def _legend(tokenizers: list[dict[str, Any]]) -> Iterator[str]:
    if len(tokenizers) > 1:
        yield '<div class="legend with-script" role="group" aria-label="Emphasize a tokenizer">'
        for at, one in enumerate(tokenizers):
            yield (
                f'<button type="button" class="pick" data-focus="{at}" aria-pressed="false">'
                f"{_swatch(at)}<bdi>{safe(one['name'])}</bdi></button>"
            )
        yield "</div>"


def _figures(charts: list[dict[str, Any]]) -> Iterator[str]:
    if not charts:
        return
    yield '<div class="charts with-script">'
    for chart in charts:
        name, title, about = (safe(chart[key]) for key in ("name", "title", "about"))
        yield (
            f'<figure class="panel" aria-labelledby="{name}-title">'
            f'<figcaption><h2 id="{name}-title">{title}</h2><p class="note">{about}</p></figcaption>'
            f'<div class="plot" data-chart="{name}"></div></figure>'
        )
    yield "</div>"


def _words(content: dict[str, Any]) -> Iterator[str]:
    groups = content["groups"]
    if not groups:
        return
    yield '<section aria-labelledby="words-title"><h2 id="words-title">Words that are split differently</h2>'
    yield (
        '<p class="note">Grouped by which tokenizers agree, and ordered by occurrences times boundaries '
        "that not all tokenizers have. The number is that of the tokens.</p>"
    )
    shown = max(_WORDS_OPEN // len(groups), _WORDS_OF_GROUP)
    for group in groups[:_GROUPS_OPEN]:
        yield from _group(group, group["most"][:shown])
    rest = [(group, group["most"][shown:]) for group in groups[:_GROUPS_OPEN]]
    rest += [(group, group["most"]) for group in groups[_GROUPS_OPEN:]]
    more = sum(len(words) for _, words in rest)
    if more:
        yield f"<details><summary>{more:,} more words</summary>"
        for group, words in rest:
            yield from _group(group, words)
        yield "</details>"
    yield "</section>"


def _group(group: dict[str, Any], words: list[dict[str, Any]]) -> Iterator[str]:
    if words:
        title, figures = safe(group["title"]), safe(group["figures"])
        yield f'<h3><bdi>{title}</bdi> <span class="quiet">{figures}</span></h3>'
        yield f'<ol class="words">{"".join(map(_word, words))}</ol>'


def _word(word: dict[str, Any]) -> str:
    rows = "".join(
        f"<div><dt>{''.join(map(_swatch, side['tokenizers']))}<bdi>{safe(side['name'])}</bdi></dt><dd>"
        f'<span class="chips">{_chips(side["pieces"])}</span> '
        f'<span class="number">{side["tokens"]:,}</span></dd></div>'
        for side in word["sides"]
    )
    times = f"{word['count']:,} time{'' if word['count'] == 1 else 's'}"
    return (
        f'<li class="panel"><h4><bdi>{safe(word["word"])}</bdi> '
        f'<span class="quiet">{times}</span></h4><dl>{rows}</dl></li>'
    )


def _chips(pieces: list[tuple[str, int, bool]]) -> str:
    chips = []
    for at, (text, tokens, is_unknown) in enumerate(pieces):
        kind = "unknown" if is_unknown else f"c{at % _PIECE_COLORS}" if tokens else "gap"
        several = f"<sub>×{tokens}</sub>" if tokens > 1 else ""
        chips.append(f'<bdi class="chip {kind}">{safe(text)}{several}</bdi>')
    return "".join(chips)


def _tables(tables: list[dict[str, Any]]) -> Iterator[str]:
    yield '<section class="report-tables" aria-label="Tables">'
    for at, table in enumerate(tables):
        title = safe(table["title"])
        head = "".join(f'<th scope="col">{safe(cell)}</th>' for cell in table["header"][1:])
        rows = "\n".join(
            f'<tr><th scope="row">{safe(label)}</th>'
            f"{''.join(f'<td>{safe(cell)}</td>' for cell in cells)}</tr>"
            for label, *cells in table["rows"]
        )
        yield (
            f'<details class="panel"{" open" if not at else ""}><summary>{title[:1].upper()}{title[1:]}'
            f'</summary><div class="scrolled" tabindex="0" role="region" aria-label="{title}"><table>'
            f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div></details>"
        )
    yield "</section>"


def _swatch(at: int) -> str:
    return f'<span class="swatch s{at % _COLORS}" aria-hidden="true"></span>'
