"""The page as the server writes it: a form, and tables of tokens for browsers without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from piecework.analysis.readable import escape_controls, show_whitespace
from piecework.errors import PieceworkError
from piecework.playground.limits import PAGE_CHARS, PAGE_TOKENS, check_length
from piecework.playground.served_tokenizer import ServedTokenizer

STATIC = Path(__file__).parent / "static"
DOCUMENTATION = "https://github.com/piecework/piecework/tree/main/docs"
_STATIC_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types piecework-worker"
)


def page(tokenizers: Sequence[ServedTokenizer], text: str | None) -> str:
    """Return the HTML of the page; a text is shown as tables.

    >>> "Type or paste" in page([], None)
    True
    """
    tables = "\n".join(_tables(tokenizers, text or ""))
    return _filled(text=escape(text or "", quote=True), tables=tables, backend="server", policy="")


def static_page() -> str:
    """Return the HTML of the page without a server, whose tokenizers run in the browser.

    >>> 'data-backend="browser"' in static_page()
    True
    """
    tables = (
        '<p class="error">This page needs JavaScript, WebAssembly and a web server: browsers do not run the '
        "scripts of a page that was opened as a file. "
        "Run <code>python -m http.server</code> in its folder.</p>"
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_STATIC_POLICY}">\n'
    return _filled(text="", tables=tables, backend="browser", policy=policy)


def _filled(**values: str) -> str:
    template = Template((STATIC / "page.html").read_text(encoding="utf-8"))
    return template.substitute(values, documentation=DOCUMENTATION)


def _tables(tokenizers: Sequence[ServedTokenizer], text: str) -> Iterator[str]:
    for tokenizer in tokenizers:
        yield f"<section><h2>{_line(tokenizer.name)}</h2>"
        try:
            check_length("text", text, PAGE_CHARS)
            lines = [*_table(tokenizer, text)] if tokenizer.error is None else []
        except PieceworkError as error:
            yield f'<p class="error">{_line(str(error))}</p>'
        else:
            if tokenizer.error is not None:
                yield f'<p class="error">{_line(tokenizer.error)}</p>'
            yield from lines
        yield "</section>"


def _table(tokenizer: ServedTokenizer, text: str) -> Iterator[str]:
    model = tokenizer.describe().get("model", "")
    vocab_size = tokenizer.tokenizer.get_vocab_size()
    yield f"<p>{_line(model)}, {vocab_size:,} tokens in the vocabulary</p>"
    if not text:
        return
    found = tokenizer.columns(text)
    yield f"<p>{len(found):,} tokens</p><table><thead><tr><th scope=col>id</th>"
    yield "<th scope=col>token</th><th scope=col>span</th><th scope=col>text</th></tr></thead><tbody>"
    ids, spans = found.ids[:PAGE_TOKENS].tolist(), found.spans[:PAGE_TOKENS].tolist()
    for id, (start, end) in zip(ids, spans, strict=True):
        token = _shown(tokenizer.readable(id)[1])
        yield f"<tr><td>{id}</td><td><code>{token}</code></td><td>{start}:{end}</td>"
        yield f"<td><code>{_shown(text[start:end])}</code></td></tr>"
    yield "</tbody></table>"
    if len(found) > PAGE_TOKENS:
        yield f"<p>... and {len(found) - PAGE_TOKENS:,} more tokens</p>"


def _shown(text: str) -> str:
    return escape(show_whitespace(text))


def _line(text: str) -> str:
    return escape(escape_controls(text))
