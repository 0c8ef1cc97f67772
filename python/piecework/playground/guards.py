"""Which requests the server answers: the right host, the same origin, the token; and headers of each answer.

A page of another site can make a browser send requests to this machine. The host header stops those that
resolve their own name to this address, and the origin those that use the address itself.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")

_HOST = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<name>[^\[\]:]+))(?::[0-9]*)?")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """An ASGI application that rejects requests of other hosts and origins, and those without the token.

    `hosts` are the names that the host header may have, with any port; None allows every name, for a server
    with a token. A GET with `?token=` sets a cookie, which later requests need.
    """

    def __init__(self, app: App, hosts: Iterable[str] | None, token: str | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._token = token
        digest = hashlib.sha256((token or "").encode()).hexdigest()
        self._cookie = f"piecework_{digest[:8]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        headers = {name.decode("latin-1").lower(): value for name, value in scope["headers"]}
        text = {name: value.decode("latin-1") for name, value in headers.items()}
        status, message = self._rejection(text)
        if status:
            await _answer(send_with_headers, status, message)
        elif self._token is not None and not self._has_cookie(text):
            await self._ask_for_token(scope, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _rejection(self, headers: dict[str, str]) -> tuple[int, str]:
        host = headers.get("host", "")
        if self._hosts is not None and _name_of(host) not in self._hosts:
            expected = " or ".join(sorted(self._hosts))
            return 421, f"the host must be {expected}, not {host!r}"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return 403, f"the origin {origin!r} is not this page"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            is_visit = headers.get("sec-fetch-mode") == "navigate"
            if not is_visit or headers.get("sec-fetch-dest") != "document":
                return 403, "another site must not ask; open this page"
        return 0, ""

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, found: str) -> bool:
        return hmac.compare_digest(found.encode(), (self._token or "").encode())

    async def _ask_for_token(self, scope: Scope, send: Send) -> None:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        given = query.get("token", [""])[0]
        if scope["method"] != "GET" or not self._is_token(given):
            await _answer(
                send, 401, "the token is missing; open the address that the server printed"
            )
            return
        cookie = f"{self._cookie}={given}; Path=/; HttpOnly; SameSite=Strict"
        extra = [(b"location", b"/"), (b"set-cookie", cookie.encode("latin-1"))]
        await _answer(send, 303, "", extra)


def _name_of(host: str) -> str:
    """Return the name of a host header in lower case, without its port; "" if it is malformed."""
    found = _HOST.fullmatch(host.lower())
    return "" if found is None else found["address"] or found["name"]


async def _answer(
    send: Send, status: int, text: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    body = f"{text}\n".encode()
    length = (b"content-length", str(len(body)).encode())
    kind = (b"content-type", b"text/plain; charset=utf-8")
    start = {"type": "http.response.start", "status": status, "headers": [kind, length, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": body})
