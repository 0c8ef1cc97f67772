"""The WebAssembly module in node: requests in, answers out."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import piecework as pw

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
MODULE = ROOT / "build" / "wasm"
PAGES = [ROOT / "crates/wasm/npm/README.md", ROOT / "docs/how-to/use-from-javascript.md"]

Call = tuple[Any, ...]


def is_at_hand() -> bool:
    """Whether node is at hand, and `make wasm` has built the module."""
    return shutil.which("node") is not None and (MODULE / "piecework_bg.wasm").is_file()


def install_package(folder: Path) -> Path:
    """Pack the package as for npm, and unpack it where programs in a folder find it; return its folder."""
    command = ["npm", "pack", str(MODULE), "--silent", "--pack-destination", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        packed.extractall(folder, filter="data")
    installed = folder / "node_modules" / "piecework"
    installed.parent.mkdir(parents=True)
    return (folder / "package").rename(installed)


def examples(page: Path, language: str) -> list[str]:
    """Return the examples of a page in a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


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
    return answered(FOLDER / "answer.mjs", requests, MODULE)


def answered(script: Path, requests: list[dict[str, Any]], *arguments: Path) -> list[Any]:
    """Return what a script of node answers."""
    done = subprocess.run(
        ["node", script, *arguments],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found
