"""Serve an index of Python packages and registries of crates and for npm from memory, on this machine alone.

    with LocalIndex(new_crates=5) as index:
        ...  # index.python_uploads, index.python_index, index.crates, index.npm

It answers as PyPI, crates.io and npm do where a release depends on it: a file or a version that exists is
refused, and so is a new crate after `new_crates` others, until `allow_more` is called. After `fail_after`
uploads of Python packages, the connection is cut: an aborted run.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote


class LocalIndex:
    """The indexes; `files`, `versions` and `npm_packages` are what was published."""

    def __init__(self, new_crates: int = 5, fail_after: int | None = None) -> None:
        self.new_crates = new_crates
        self.fail_after = fail_after
        self.files: dict[str, bytes] = {}
        self.versions: dict[str, list[dict[str, Any]]] = {}
        self.archives: dict[str, bytes] = {}
        self.npm_packages: dict[str, dict[str, Any]] = {}
        self.refusals: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.python_uploads = f"{self.address}/legacy/"
        self.python_index = f"{self.address}/simple/"
        self.crates = f"sparse+{self.address}/crates/"
        self.npm = f"{self.address}/npm/"

    def __enter__(self) -> LocalIndex:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def allow_more(self, crates: int) -> None:
        """Accept this many further new crates."""
        self.new_crates += crates

    # ---- Python packages

    def add_file(self, name: str, content: bytes) -> tuple[int, str]:
        """Store an uploaded file; return the status and the text of the answer."""
        if name in self.files:
            self.refusals.append(name)
            return 400, f"File already exists ({name!r})."
        if self.fail_after is not None and len(self.files) >= self.fail_after:
            return 503, "the index is not available"
        self.files[name] = content
        return 200, ""

    def page_of_files(self) -> str:
        """Return the page of all files that pip reads."""
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        links = (f'<a href="/files/{name}#sha256={digests[name]}">{name}</a>' for name in digests)
        return "<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>"

    # ---- crates

    def add_crate(self, about: dict[str, Any], archive: bytes) -> tuple[int, str]:
        """Store a crate; return the status and the text of the answer."""
        name, version = about["name"], about["vers"]
        known = self.versions.get(name, [])
        if any(one["vers"] == version for one in known):
            self.refusals.append(name)
            return 400, f"crate version `{version}` is already uploaded"
        if not known and len(self.versions) >= self.new_crates:
            self.refusals.append(name)
            return 429, "You have published too many new crates in a short period of time."
        entry = {
            "name": name,
            "vers": version,
            "deps": [_dependency(one) for one in about["deps"]],
            "cksum": hashlib.sha256(archive).hexdigest(),
            "features": about["features"],
            "yanked": False,
        }
        self.versions.setdefault(name, []).append(entry)
        self.archives[f"{name}/{version}"] = archive
        return 200, ""

    # ---- packages for npm

    def add_npm_package(self, about: dict[str, Any]) -> tuple[int, str]:
        """Store the versions of an uploaded package; return the status and the text of the answer."""
        name = about["name"]
        known = self.npm_packages.setdefault(name, {**about, "versions": {}})
        if known["versions"].keys() & about["versions"].keys():
            self.refusals.append(name)
            return 403, "You cannot publish over the previously published versions"
        known["versions"] |= about["versions"]
        return 200, ""


def _dependency(about: dict[str, Any]) -> dict[str, Any]:
    """Return a dependency as an index lists it, from what cargo uploads."""
    kept = ("features", "optional", "default_features", "target", "kind", "registry")
    renamed = about.get("explicit_name_in_toml")
    entry = {name: about.get(name) for name in kept}
    entry |= {"name": renamed or about["name"], "req": about["version_req"]}
    return entry | ({"package": about["name"]} if renamed else {})


def _handler_of(index: LocalIndex) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = _found(index, self.path.partition("?")[0])
            self.answer(status, body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            boundary = self.headers["Content-Type"].partition("boundary=")[2].strip('"').encode()
            for part in body.split(b"--" + boundary):
                head, _, content = part.partition(b"\r\n\r\n")
                if match := re.search(rb'name="content"; filename="([^"]+)"', head):
                    status, text = index.add_file(match[1].decode(), content[:-2])
                    self.answer(status, text.encode(), text)
                    return
            self.answer(400, b"no content")

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith("/npm/"):
                status, text = index.add_npm_package(json.loads(body))
                self.answer(status, json.dumps({"error": text} if text else {}).encode())
                return
            (size,) = struct.unpack_from("<I", body)
            about = json.loads(body[4 : 4 + size])
            status, text = index.add_crate(about, body[8 + size :])
            said: dict[str, Any] = {"errors": [{"detail": text}]} if text else {"warnings": {}}
            self.answer(status, json.dumps(said).encode())

        def answer(self, status: int, body: bytes, reason: str | None = None) -> None:
            self.send_response(status, reason)
            self.send_header("Content-Length", str(len(body)))
            if self.path.startswith("/simple/"):
                self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _found(index: LocalIndex, path: str) -> tuple[int, bytes]:
    """Return what an address holds."""
    if path.startswith("/simple/"):
        return 200, index.page_of_files().encode()
    if path.startswith("/files/"):
        found = index.files.get(path.removeprefix("/files/"))
        return (404, b"") if found is None else (200, found)
    if path == "/crates/config.json":
        download = f"{index.address}/archives/{{crate}}/{{version}}"
        return 200, json.dumps({"dl": download, "api": index.address}).encode()
    if path.startswith("/archives/"):
        found = index.archives.get(path.removeprefix("/archives/"))
        return (404, b"") if found is None else (200, found)
    if path.startswith("/npm/"):
        package = index.npm_packages.get(unquote(path.removeprefix("/npm/")))
        return (404, b"{}") if package is None else (200, json.dumps(package).encode())
    entries = index.versions.get(path.rpartition("/")[2])
    if path.startswith("/crates/") and entries:
        return 200, "\n".join(map(json.dumps, entries)).encode()
    return 404, b""
