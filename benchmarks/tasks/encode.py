"""Encode new documents (cold, then steady), the steady documents a second time (seen), then decode those.

The documents are a list of `str`, one buffer of UTF-8 with offsets, or a file with a document on each line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpora import split_documents
from measuring import Phase, fingerprint_of_parts, ids_phase, text_phase, timed


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the seconds to load and the phases cold, steady and seen; of `str`, also decode.

    An engine that is asked for its answer alone encodes the documents as `str`, whatever the input is.
    """
    form = job.get("input", "str")
    warm_up, steady = split_documents(job)
    if form == "file":
        warm_up, steady = one_line_each(warm_up), one_line_each(steady)
    with TemporaryDirectory() as folder:
        given = "str" if job.get("answers_only") else form
        prepare, encode, flat_ids = route(engine, given, Path(folder))
        tokenizer, load_s = timed(lambda: engine.load(Path(job["files"]["tokenizer"])))
        phases = {}
        for name, texts in (("cold", warm_up), ("steady", steady), ("seen", steady)):
            ready = prepare(name, texts)
            result, seconds = timed(lambda ready=ready: encode(tokenizer, ready, job["threads"]))
            phases[name] = ids_phase(texts, seconds, flat_ids(result))
    if form == "str" and job.get("decode", True) and hasattr(engine, "decode"):
        phases["decode"] = decoding(engine, tokenizer, result, phases["seen"]["tokens"])
    return {"load_s": load_s, "phases": phases}


def route(
    engine: Any, form: str, folder: Path
) -> tuple[Callable[[str, list[str]], Any], Callable[..., Any], Callable[..., Any]]:
    """Return how an input is prepared, which is not timed, how it is encoded, and how ids are read."""
    if form == "buffer":
        return lambda name, texts: engine.buffer(texts), engine.encode_buffer, engine.flat_ids
    if form == "file":

        def prepare(name: str, lines: list[str]) -> Any:
            return engine.file_source(written(lines, folder / f"{name}.txt"))

        return prepare, engine.encode_file, engine.flat_ids
    return lambda name, texts: copies(texts), engine.encode, engine.flat_ids


def copies(texts: list[str]) -> list[str]:
    """Return equal texts in new objects: CPython keeps the UTF-8 of a `str` that was encoded before."""
    return [text.encode().decode() for text in texts]


def one_line_each(texts: list[str]) -> list[str]:
    """Return the texts with spaces for line ends and none around them, without blank ones."""
    lines = (text.replace("\r", " ").replace("\n", " ").strip() for text in texts)
    return [line for line in lines if line]


def written(lines: list[str], path: Path) -> Path:
    """Write lines to a file; return its path."""
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def decoding(engine: Any, tokenizer: Any, result: Any, tokens: int) -> Phase:
    """Decode what the seen pass gave; the bytes are those of the text that comes out."""
    rows = engine.rows(result)
    texts, seconds = timed(lambda: engine.decode(tokenizer, rows))
    return text_phase(texts, seconds, "text", tokens, fingerprint_of_parts(texts))
