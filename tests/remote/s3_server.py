"""An S3 server with faults: moto, behind a proxy that records requests and breaks some of the answers."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
_HOP_HEADERS = {"connection", "content-length", "date", "server", "transfer-encoding"}


class S3Server:
    """The address of the server, a client that writes objects past the proxy, and what was requested.

    `fetched` has the path and the number of bytes of each answer to a GET of an object. `before` is called
    with the path before each of them. An answer in `drops` (path -> how often) ends in the middle, with its
    connection. Requests for the paths in `forbidden` are answered with 403.
    """

    def __init__(self, url: str, client: Any) -> None:
        self.url = url
        self.client = client
        self.fetched: list[tuple[str, int]] = []
        self.before: Callable[[str], None] = lambda path: None
        self.drops: dict[str, int] = {}
        self.forbidden: set[str] = set()

    def put(self, key: str, data: bytes) -> str:
        """Write an object of the bucket `corpus`; returns its URL."""
        self.client.put_object(Bucket="corpus", Key=key, Body=data)
        return f"s3://corpus/{key}"

    def bytes_of(self, path: str) -> int:
        """Return how many bytes of an object were sent."""
        return sum(size for name, size in self.fetched if name == path)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Serve an empty bucket `corpus` on a local port."""
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    address = moto.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url="http://{}:{}".format(*address),
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket="corpus")
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), _handler(address))
    server = S3Server(f"http://127.0.0.1:{proxy.server_address[1]}", client)
    proxy.s3 = server  # type: ignore[attr-defined]
    thread = Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
        moto.stop()


def _handler(address: tuple[str, int]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            server: S3Server = self.server.s3  # type: ignore[attr-defined]
            path = self.path.partition("?")[0].lstrip("/")
            if path in server.forbidden:
                self.send_response(403)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            is_object = self.command == "GET" and "/" in path and "?" not in self.path
            if is_object:
                server.before(path)
            length = int(self.headers.get("Content-Length") or 0)
            connection = http.client.HTTPConnection(*address)
            headers = {**self.headers, "Host": f"{address[0]}:{address[1]}"}
            connection.request(self.command, self.path, self.rfile.read(length), headers)
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP_HEADERS:
                    self.send_header(name, value)
            size = answer.getheader("Content-Length") if self.command == "HEAD" else len(body)
            self.send_header("Content-Length", str(size or 0))
            self.end_headers()
            if is_object and server.drops.get(path):
                server.drops[path] -= 1
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if self.command != "HEAD":
                self.wfile.write(body)
            if is_object:
                server.fetched.append((path, len(body)))

        def do_HEAD(self) -> None:
            self.do_GET()

    return Handler
