"""Connections that wait for the headers of a request: how long, and how many."""

from __future__ import annotations

import asyncio
from typing import Any

from piecework._internal.extras import import_extra
from piecework.playground.limits import CONNECTIONS, HEADER_SECONDS


def connection_class() -> type[Any]:
    """Return a class of connections for one server, with limits while they wait for headers.

    A connection is closed `HEADER_SECONDS` after it was made, or after its last answer, unless it has sent
    the headers of a request by then. When `CONNECTIONS` connections wait, a new one replaces the oldest:
    connections that send nothing keep nobody else out.

    Raises `MissingExtraError` without the extra "serve".
    """
    protocol = import_extra("uvicorn.protocols.http.h11_impl", "serve", "playground").H11Protocol
    return type("Connection", (_Waiting, protocol), {"waiting": {}})


class _Waiting:
    """The part of a connection that limits waiting; the rest is uvicorn's."""

    waiting: dict[Any, asyncio.TimerHandle]
    """The waiting connections and what will close them, the oldest first."""
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self._update_waiting()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)  # type: ignore[misc]
        self._update_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # type: ignore[misc]
        self._update_waiting()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)  # type: ignore[misc]
        self._end_waiting()

    def _update_waiting(self) -> None:
        """Begin or end to wait: a connection without a request, or with one that is answered, waits."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._end_waiting()
        elif self not in self.waiting and not self.transport.is_closing():
            if len(self.waiting) >= CONNECTIONS:
                next(iter(self.waiting))._close()
            self.waiting[self] = self.loop.call_later(HEADER_SECONDS, self._close)

    def _end_waiting(self) -> None:
        if (timer := self.waiting.pop(self, None)) is not None:
            timer.cancel()

    def _close(self) -> None:
        self._end_waiting()
        self.transport.close()
