"""The ASGI application: the static page, and the answers to its requests.

A page of another site can make a browser send requests to this machine. The check of the host header
stops sites that resolve their own name to this address, and the check of the origin stops sites that use the
address itself.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import piecework as pw
from piecework._internal.extras import import_extra
from piecework.analysis.drawing import PAGE_FILES
from piecework.analysis.report import page_charts, report_content
from piecework.cli.playground.served_tokenizer import ServedTokenizer, encoded_text
from piecework.cli.playground.training_replay import (
    CORPUS_CHARS,
    PRESETS_OF_LEARNERS,
    VOCAB_SIZE,
    training_replay,
)
from piecework.errors import ArgumentError, PieceworkError

STATIC = Path(__file__).parent / "static"
TEXT_BYTES = 2_000_000
"""UTF-8 bytes of the text of a request."""

_HOST = re.compile(r"\[([^\[\]]+)\](?::[0-9]*)?|([^\[\]:]+)(?::[0-9]*)?")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def create_app(
    tokenizers: Mapping[str, pw.Tokenizer | PieceworkError],
    *,
    hosts: Iterable[str] = ("127.0.0.1", "localhost", "::1"),
) -> Callable[..., Awaitable[None]]:
    """Return the playground as an ASGI application.

    >>> from piecework.cli.playground import create_app
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> callable(create_app({"characters": tok}))
    True

    `tokenizers` maps the names on the page to tokenizers. An error instead of one is shown under its name.
    `hosts` are the names by which the server may be called, without ports.

    Raises `ArgumentError` without a tokenizer, and `MissingExtraError` without the extra "serve".
    """
    given: object = tokenizers
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError("tokenizers", "must be a mapping of names to tokenizers, at least one")
    applications, routing, files, responses, base = (
        import_extra(f"starlette.{name}", "serve", "playground")
        for name in ("applications", "routing", "staticfiles", "responses", "middleware.base")
    )
    run = import_extra("starlette.concurrency", "serve", "playground").run_in_threadpool
    served = {
        index: ServedTokenizer(name, one)
        for index, (name, one) in enumerate(tokenizers.items())
        if not isinstance(one, PieceworkError)
    }
    about = {
        "tokenizers": [
            served[index].describe() if index in served else {"name": name, "error": str(one)}
            for index, (name, one) in enumerate(tokenizers.items())
        ],
        "presets": PRESETS_OF_LEARNERS,
        "limits": {"corpusChars": CORPUS_CHARS, "vocabSize": VOCAB_SIZE},
    }
    allowed = sorted(host.lower() for host in hosts)

    async def answer(request: Any) -> Any:
        """Answer with bytes or with JSON; a text is in the body, as UTF-8."""
        text = (await _body(request)).decode(errors="replace")
        found = await run(_answer, request.path_params["name"], request.query_params, text, served)
        return (responses.Response if isinstance(found, bytes) else responses.JSONResponse)(found)

    def failed(_: Any, error: Exception) -> Any:
        return responses.JSONResponse({"error": str(error)}, 400)

    async def guard(request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Reject a request of another host or origin; add headers to each answer."""
        problem = _rejection(request.headers, allowed)
        found = responses.PlainTextResponse(problem, 403) if problem else await call_next(request)
        found.headers.update(_HEADERS)
        return found

    routes = [
        routing.Route("/", lambda _: responses.FileResponse(STATIC / "page.html")),
        routing.Route("/api/tokenizers", lambda _: responses.JSONResponse(about)),
        routing.Route("/api/{name}", answer, methods=["POST"]),
        routing.Mount("/page", files.StaticFiles(directory=PAGE_FILES)),
        routing.Mount("/static", files.StaticFiles(directory=STATIC)),
    ]
    handlers = dict.fromkeys((PieceworkError, LookupError, ValueError), failed)
    app = applications.Starlette(routes=routes, exception_handlers=handlers)
    guarded: Callable[..., Awaitable[None]] = base.BaseHTTPMiddleware(app, guard)
    return guarded


def _rejection(headers: Mapping[str, str], allowed: Sequence[str]) -> str | None:
    """Return why a request is rejected, None for a request of the page itself."""
    host = headers.get("host", "")
    match = _HOST.fullmatch(host.lower())
    if match is None or (match[1] or match[2]) not in allowed:
        return f"the host must be {' or '.join(allowed)}, not {host!r}\n"
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return f"the origin {origin!r} is not this page\n"
    return None


async def _body(request: Any) -> bytes:
    """Return the body of a request; raise before it takes more memory than the limit."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > TEXT_BYTES:
            raise ArgumentError("text", f"has more than {TEXT_BYTES:,} bytes")
    return bytes(body)


def _answer(
    name: str, query: Mapping[str, str], text: str, served: Mapping[int, ServedTokenizer]
) -> Any:
    """Return the answer to a request, as bytes or JSON data; `LookupError` and `ValueError` reject it."""
    if name == "training":
        names = ("example", "learner", "word", "preset")
        example, learner, word, preset = (query.get(name, "") for name in names)
        size = int(query.get("vocab_size", "70"))
        return training_replay(example, text, learner, size, word, preset)
    chosen = {index: served[index] for index in map(int, query["tokenizers"].split(","))}
    first = next(iter(chosen.values()))
    match name:
        case "encode":
            return encoded_text(chosen, text, add_special_tokens=query.get("special") == "1")
        case "explain":
            return first.explain(text)
        case "segmentations":
            n, seed = int(query.get("n", "8")), int(query.get("seed", "0"))
            alpha = float(query.get("alpha", "0.1"))
            return first.segmentations(text, query.get("draw", "best"), n, alpha, seed)
        case "compare":
            return _comparison({one.name: one.tokenizer for one in chosen.values()}, text)
    raise LookupError(f"there is no answer {name!r}")


def _comparison(tokenizers: Mapping[str, pw.Tokenizer], text: str) -> dict[str, Any]:
    """Return the report on the lines of a text; `missing` says that it is too short for charts."""
    found = pw.analysis.compare(tokenizers, text.splitlines(), num_threads=1)
    return report_content(found, page_charts(found))
