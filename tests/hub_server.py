"""A local server with the routes of the Hugging Face hub that downloads use: information, tree and files.

The names of datasets begin with `datasets/`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

# Repository -> revision -> path of a file -> content.
Repositories = Mapping[str, Mapping[str, Mapping[str, bytes]]]


class HubServer:
    """The address of a server, the paths of the files that were fetched, and the bytes sent of each."""

    def __init__(self, url: str, fetched: list[str], sizes: list[int]) -> None:
        self.url = url
        self.fetched = fetched
        self.sizes = sizes


def commit_of(repository: str, revision: str) -> str:
    """Return the commit of a revision: 40 hexadecimal digits."""
    return hashlib.sha1(f"{repository} {revision}".encode()).hexdigest()


@contextmanager
def hub(repositories: Repositories) -> Iterator[HubServer]:
    """Serve repositories on a local port."""
    fetched: list[str] = []
    sizes: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def answer(self) -> None:
            parts = unquote(urlsplit(self.path).path).strip("/").split("/")
            if parts[:2] == ["api", "models"]:
                self.answer_about(parts[2:])
            elif parts[:2] == ["api", "datasets"]:
                self.answer_about(parts[1:])
            elif "resolve" in parts:
                at = parts.index("resolve")
                self.answer_file("/".join(parts[:at]), parts[at + 1], "/".join(parts[at + 2 :]))
            else:
                self.send(404, b"{}", {"X-Error-Code": "EntryNotFound"})

        def answer_about(self, parts: list[str]) -> None:
            at = next((parts.index(kind) for kind in ("revision", "tree") if kind in parts), None)
            name = "/".join(parts if at is None else parts[:at])
            revision = "main" if at is None else parts[at + 1]
            files = self.files_of(name, revision)
            if files is None:
                return
            if at is not None and parts[at] == "tree":
                folder = "".join(f"{part}/" for part in parts[at + 2 :])
                tree = tree_of(files, folder, is_recursive="recursive=true" in self.path.lower())
                status = 200 if tree or not folder else 404
                self.send(status, json.dumps(tree).encode(), {"Content-Type": "application/json"})
                return
            siblings = [{"rfilename": path} for path in files]
            about = {"id": name, "modelId": name, "sha": self.commit(name, revision)}
            body = json.dumps({**about, "siblings": siblings}).encode()
            self.send(200, body, {"Content-Type": "application/json"})

        def answer_file(self, name: str, revision: str, path: str) -> None:
            files = self.files_of(name, revision)
            if files is None:
                return
            commit = {"X-Repo-Commit": self.commit(name, revision)}
            if path not in files:
                self.send(404, b"", {"X-Error-Code": "EntryNotFound", **commit})
                return
            headers = {"ETag": f'"{etag(files[path])}"', **commit}
            part, status = files[path], 200
            if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or ""):
                first, last = map(int, wanted.groups())
                headers["Content-Range"] = f"bytes {first}-{last}/{len(part)}"
                part, status = part[first : last + 1], 206
            if self.command == "GET":
                fetched.append(path)
                sizes.append(len(part))
            self.send(status, part, headers)

        def files_of(self, name: str, revision: str) -> Mapping[str, bytes] | None:
            if name not in repositories:
                self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
                return None
            for known, files in repositories[name].items():
                if revision in (known, commit_of(name, known)):
                    return files
            self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return None

        def commit(self, name: str, revision: str) -> str:
            return commit_of(name, revision) if revision in repositories[name] else revision

        def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield HubServer(f"http://127.0.0.1:{server.server_address[1]}", fetched, sizes)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def etag(data: bytes) -> str:
    """Return the hash that git gives a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def tree_of(files: Mapping[str, bytes], folder: str, *, is_recursive: bool) -> list[dict[str, Any]]:
    """Return the files and folders below a folder, whose name ends with a slash; all of them or one level."""
    below = [path for path in sorted(files) if path.startswith(folder)]
    folders = {
        folder + "/".join(parts[:depth])
        for parts in (path.removeprefix(folder).split("/") for path in below)
        for depth in range(1, len(parts))
    }
    found = [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders]
    found += [
        {"type": "file", "path": path, "size": len(files[path]), "oid": etag(files[path])}
        for path in below
    ]
    level = [entry for entry in found if "/" not in str(entry["path"]).removeprefix(folder)]
    return found if is_recursive else level
