"""Listen on a port of this machine and answer requests until Ctrl-C."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_number
from piecework.errors import ArgumentError, PieceworkError
from piecework.playground.application import create_app
from piecework.playground.connections import connection_class
from piecework.playground.guards import LOOPBACK, App
from piecework.playground.limits import CONNECTIONS

_PORTS_TRIED = 20
# A host that listens on all addresses -> its family, an address elsewhere, and the loopback address.
_ALL_ADDRESSES = {
    "0.0.0.0": (socket.AF_INET, "192.0.2.1", "127.0.0.1"),
    "::": (socket.AF_INET6, "2001:db8::1", "::1"),
}


def serve(
    tokenizers: Mapping[str, pw.Tokenizer | PieceworkError],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    ready: Callable[[str], object] = print,
) -> None:
    """Serve the playground until Ctrl-C; call `ready` with its address when it listens.

    >>> from piecework.playground import serve
    >>> serve({}, port=0)
    Traceback (most recent call last):
    piecework.errors.ArgumentError: tokenizers must be a mapping of names to tokenizers, at least one

    A `port` in use is replaced by the next free one of twenty; 0 takes any. A `host` that other machines can
    reach needs a token: the address has a random one.

    Raises `ArgumentError` for a host or a port that cannot be used, and `MissingExtraError` without the extra
    "serve".
    """
    token = None if _is_loopback(host) else secrets.token_urlsafe(24)
    hosts = {*LOOPBACK, host} if token is None else None
    app = create_app(tokenizers, hosts=hosts, token=token)
    uvicorn = import_extra("uvicorn", "serve", "playground")
    with listening_socket(host, port) as listener:
        ready(address(listener, host, token))
        uvicorn.Server(configuration(app)).run(sockets=[listener])


def configuration(app: App) -> Any:
    """Return the configuration of uvicorn for an application.

    Raises `MissingExtraError` without the extra "serve".
    """
    return import_extra("uvicorn", "serve", "playground").Config(
        app,
        http=connection_class(),
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        limit_concurrency=2 * CONNECTIONS,  # at most half of them wait
        timeout_graceful_shutdown=1,
        lifespan="off",
    )


def check_extra() -> None:
    """Raise `MissingExtraError` without the extra "serve".

    >>> check_extra()
    """
    for module in ("uvicorn", "starlette.applications"):
        import_extra(module, "serve", "playground")


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port, or on the next free one of twenty.

    >>> with listening_socket("127.0.0.1", 0) as listener:
    ...     listener.getsockname()[0]
    '127.0.0.1'
    """
    check_number("port", port, (int,), "int")
    if not 0 <= port < 65536:
        raise ArgumentError("port", str(port), "a number from 0 to 65535")
    last = min(port + _PORTS_TRIED, 65536) if port else 1
    for candidate in range(port, last):
        try:
            return _bound(host, candidate)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                reason = f"{host} ({(error.strerror or str(error)).lower()})"
                problem = f": {reason} is not an address of this machine"
                raise ArgumentError("host", problem) from error
    message = f"the ports {port} to {last - 1} are in use; choose another port"
    raise ArgumentError("port", message=message)


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, location = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere the option would share the port with another program
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(location)
        listener.listen(CONNECTIONS)
    except OSError:
        listener.close()
        raise
    return listener


def address(listener: socket.socket, host: str, token: str | None = None) -> str:
    """Return the address of the page; a `host` for all addresses is replaced by one of this machine.

    >>> with listening_socket("127.0.0.1", 0) as listener:
    ...     address(listener, "::1").startswith("http://[::1]:")
    True
    """
    if host in _ALL_ADDRESSES:
        host = _own_address(host)
    name = f"[{host}]" if ":" in host else host
    query = "" if token is None else f"?token={token}"
    return f"http://{name}:{listener.getsockname()[1]}/{query}"


def _own_address(host: str) -> str:
    """Return the address from which this machine reaches others, or its loopback address without a network.

    A datagram socket that connects sends nothing; the addresses are reserved for documents (RFC 5737, 3849).
    """
    family, elsewhere, loopback = _ALL_ADDRESSES[host]
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return loopback


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
