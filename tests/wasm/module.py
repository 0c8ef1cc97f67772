"""The WebAssembly module in node: requests in, answers out."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import piecework as pw

ROOT = Path(__file__).parent.parent.parent
MODULE = ROOT / "build" / "wasm"

Call = tuple[Any, ...]


def is_at_hand() -> bool:
    """Whether node is at hand, and `make wasm` has built the module."""
    return shutil.which("node") is not None and (MODULE / "piecework_bg.wasm").is_file()


def request(files: list[tuple[str, bytes]], *calls: Call, **further: Any) -> dict[str, Any]:
    """Return a request to load a tokenizer and to call its methods."""
    encoded = [(name, b64encode(data).decode()) for name, data in files]
    return {"files": encoded, "calls": calls, **further}


def of_tokenizer(tokenizer: pw.Tokenizer, *calls: Call) -> dict[str, Any]:
    """Return a request for a tokenizer of the Python package."""
    with TemporaryDirectory() as folder:
        tokenizer.save(path := Path(folder) / "tokenizer.piecework")
        return request([(path.name, path.read_bytes())], *calls)


def answers(requests: list[dict[str, Any]]) -> list[Any]:
    """Return what the module answers; a panic fails."""
    done = subprocess.run(
        ["node", str(Path(__file__).parent / "answer.mjs"), str(MODULE)],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found
