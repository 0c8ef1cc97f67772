"""The ASGI application: the page, its files, and the answers to its requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import piecework as pw
from piecework._internal.extras import import_extra
from piecework.analysis.drawing import PAGE_FILES
from piecework.analysis.report import page_charts, report_content
from piecework.errors import ArgumentError, PieceworkError
from piecework.playground.encoded_text import encoded_text
from piecework.playground.guards import LOOPBACK, App, Guard
from piecework.playground.limits import (
    CORPUS_CHARS,
    SECONDS,
    TEXT_BYTES,
    THREADS,
    VOCAB_SIZE,
)
from piecework.playground.page import STATIC, page
from piecework.playground.served_tokenizer import Draw, ServedTokenizer
from piecework.playground.training_replay import presets_of_learners, training_replay

_THREADS_OF_A_COMPARISON = 1

Result = TypeVar("Result")
Answer = Callable[[Any], Awaitable[Any]]


class TooLargeError(ArgumentError):
    """The body of a request is over the limit."""


def create_app(
    tokenizers: Mapping[str, pw.Tokenizer | PieceworkError],
    *,
    hosts: Iterable[str] | None = LOOPBACK,
    token: str | None = None,
) -> App:
    """Return the playground as an ASGI application.

    >>> from piecework.playground import create_app
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> callable(create_app({"characters": tok}))
    True

    `tokenizers` maps the names on the page to tokenizers. An error in place of one is shown under its name.
    `hosts` are the names by which the server may be called, without ports; None allows all names, which is
    safe only with a `token`. Requests then need the cookie that the address `/?token=...` sets.

    Raises `ArgumentError` without a tokenizer, and `MissingExtraError` without the extra "serve".
    """
    given: object = tokenizers
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError("tokenizers", "must be a mapping of names to tokenizers, at least one")
    if hosts is None and token is None:
        raise ArgumentError("hosts", "needs a token; pass the names of hosts, or a token")
    applications = import_extra("starlette.applications", "serve", "playground")
    routing = import_extra("starlette.routing", "serve", "playground")
    files = import_extra("starlette.staticfiles", "serve", "playground")
    answers = _Answers([ServedTokenizer(name, one) for name, one in tokenizers.items()])
    app: App = applications.Starlette(
        routes=[
            routing.Route("/", answers.page),
            routing.Route("/api/tokenizers", answers.tokenizers),
            routing.Route("/api/encode", answers.to_text(answers.encode), methods=["POST"]),
            routing.Route("/api/explain", answers.to_text(answers.explain), methods=["POST"]),
            routing.Route(
                "/api/segmentations", answers.to_text(answers.segmentations), methods=["POST"]
            ),
            routing.Route("/api/training", answers.to_text(answers.training), methods=["POST"]),
            routing.Route("/api/compare", answers.to_text(answers.compare), methods=["POST"]),
            routing.Mount("/page", files.StaticFiles(directory=PAGE_FILES)),
            routing.Mount("/static", files.StaticFiles(directory=STATIC)),
        ]
    )
    return Guard(app, hosts, token)


class _Answers:
    """The answers to requests; texts are in the body, as UTF-8, and settings in the query."""

    def __init__(self, tokenizers: list[ServedTokenizer]) -> None:
        self._tokenizers = tokenizers
        self._responses = import_extra("starlette.responses", "serve", "playground")
        self._anyio = import_extra("anyio", "serve", "playground")
        self._limiter: Any = None

    async def page(self, request: Any) -> Any:
        """Return the page; `?text=` is shown as tables."""
        text = request.query_params.get("text")
        html = await self._run(partial(page, self._tokenizers, text))
        return self._responses.HTMLResponse(html)

    async def tokenizers(self, request: Any) -> Any:
        """Return what the page shows of each tokenizer, and the presets of learners."""
        found = await self._run(lambda: [one.describe() for one in self._tokenizers])
        limits = {"corpusChars": CORPUS_CHARS, "vocabSize": VOCAB_SIZE}
        about = {"tokenizers": found, "presets": presets_of_learners(), "limits": limits}
        about["version"] = pw.__version__
        return self._responses.JSONResponse(about)

    def encode(self, request: Any, text: str) -> bytes:
        """Return the tokens of the text by the tokenizers of `tokenizers=0,2`, as bytes."""
        chosen = self._indices(request)
        special = request.query_params.get("special") == "1"
        return encoded_text(self._tokenizers, chosen, text, add_special_tokens=special)

    def explain(self, request: Any, text: str) -> dict[str, Any]:
        """Return how the words of the text are segmented."""
        return self._tokenizer(request).explain(text)

    def segmentations(self, request: Any, text: str) -> list[dict[str, Any]]:
        """Return the best segmentations of the text, or samples."""
        draw: Draw = "sample" if request.query_params.get("draw") == "sample" else "best"
        n, seed = _whole(request, "n", 8), _whole(request, "seed", 0)
        alpha = _decimal(request, "alpha", 0.1)
        return self._tokenizer(request).segmentations(text, draw, n, alpha, seed)

    def compare(self, request: Any, text: str) -> dict[str, Any]:
        """Return the comparison of the tokenizers of `tokenizers=0,2` on the text, as JSON data."""
        return comparison([self._tokenizers[index] for index in self._indices(request)], text)

    def training(self, request: Any, text: str) -> dict[str, Any]:
        """Return the steps of a learner."""
        query = request.query_params
        size = _whole(request, "vocab_size", 70)
        names = ("example", "learner", "word", "preset")
        example, learner, word, preset = (query.get(name, "") for name in names)
        return training_replay(example, text, learner, size, word, preset)

    def to_text(self, answer: Callable[[Any, str], Any]) -> Answer:
        """Return a function that answers requests with a text: with bytes, with JSON, or with the error."""
        json, plain = self._responses.JSONResponse, self._responses.Response

        async def answered(request: Any) -> Any:
            try:
                with self._anyio.fail_after(SECONDS):
                    text = (await _body(request)).decode(errors="replace")
                    found = await self._run(partial(answer, request, text))
                    return plain(found) if isinstance(found, bytes) else json(found)
            except TimeoutError:
                message = f"the request took more than {SECONDS:.0f} seconds; send a shorter text"
                return json({"error": message}, status_code=503)
            except TooLargeError as error:
                return json({"error": str(error)}, status_code=413)
            except PieceworkError as error:
                return json({"error": str(error)}, status_code=400)

        return answered

    async def _run(self, function: Callable[[], Result]) -> Result:
        """Call a function in a thread; a request that ends early does not wait for it."""
        if self._limiter is None:
            self._limiter = self._anyio.CapacityLimiter(THREADS)
        found: Result = await self._anyio.to_thread.run_sync(
            function, limiter=self._limiter, abandon_on_cancel=True
        )
        return found

    def _tokenizer(self, request: Any) -> ServedTokenizer:
        return self._tokenizers[self._index(request.query_params.get("tokenizer", ""))]

    def _indices(self, request: Any) -> list[int]:
        """Return the indices of `tokenizers=0,2`, each once."""
        named = request.query_params.get("tokenizers", "").split(",")
        return list(dict.fromkeys(map(self._index, named)))

    def _index(self, text: str) -> int:
        count = len(self._tokenizers)
        if not _is_whole(text) or int(text) >= count:
            problem = f"must be an index from 0 to {count - 1}, not {text[:40]!r}"
            raise ArgumentError("tokenizer", problem)
        return int(text)


async def _body(request: Any) -> bytes:
    """Return the body of a request; raise before it takes more memory than the limit."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > TEXT_BYTES:
            raise TooLargeError("text", f"has more than {TEXT_BYTES:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _is_whole(text: str) -> bool:
    """Return whether a text is a number of at most 9 digits."""
    return len(text) <= 9 and text.isascii() and text.isdecimal()


def _whole(request: Any, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not _is_whole(text):
        raise ArgumentError(name, f"must be a whole number of at most 9 digits, not {text[:40]!r}")
    return int(text)


def _decimal(request: Any, name: str, default: float) -> float:
    text = request.query_params.get(name, str(default))
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentError(name, f"must be a number, not {text[:40]!r}") from error


def comparison(tokenizers: Sequence[ServedTokenizer], text: str) -> dict[str, Any]:
    """Return the report of tokenizers on the lines of a text.

    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> found = comparison([ServedTokenizer("characters", tok)], "a aa")
    >>> found["headline"]
    '1 text, 2 words, 4 characters, 4 bytes'

    `missing` says why there are no charts: the text is too short.

    Raises `CorpusError` for a text without characters.
    """
    named = {one.name: one.tokenizer for one in tokenizers}
    found = pw.analysis.compare(named, text.splitlines(), num_threads=_THREADS_OF_A_COMPARISON)
    return report_content(found, page_charts(found))
