"""Encode texts that are known to make tokenizers slow, each as one document, beside ordinary text."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpora import documents
from measuring import ids_phase, timed

# Each is repeated to the size of the definition, in bytes of UTF-8.
REPEATED = {
    "letter": "a",
    "spaces": " ",
    "punctuation": "!?.,;:-()[]{}'\"@#$%&*/\\|<>~^_+=`",
    "marks": "\u0301\u0308\u0327",
    "cjk": "\u5b57",
}
SEED = 1


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return one phase a text, named for it; the first is ordinary text, by a warm engine."""
    tokenizer = engine.load(Path(job["files"]["tokenizer"]))
    texts = hostile_texts(job["text_bytes"])
    usual = documents(Path(job["files"]["corpus"]), job["text_bytes"], 3 * job["text_bytes"])
    engine.encode(tokenizer, usual[:1], 1)
    phases = {}
    for name, text in {job["corpus"]: usual[-1], **texts}.items():
        result, seconds = timed(_work(engine, tokenizer, text))
        phases[name] = ids_phase([text], seconds, engine.flat_ids(result))
    return {"phases": phases}


def hostile_texts(text_bytes: int) -> dict[str, str]:
    """Return the texts by name, none of more bytes than asked for, the same in every run."""
    texts = {
        name: (part * (text_bytes // len(part.encode()) + 1))
        .encode()[:text_bytes]
        .decode(errors="ignore")
        for name, part in REPEATED.items()
    }
    noise = random.Random(SEED).randbytes(text_bytes).decode(errors="replace")
    # Invalid bytes become U+FFFD, of three bytes each.
    return {**texts, "random": noise.encode()[:text_bytes].decode(errors="ignore")}


def _work(engine: Any, tokenizer: Any, text: str) -> Callable[[], Any]:
    return lambda: engine.encode(tokenizer, [text], 1)
