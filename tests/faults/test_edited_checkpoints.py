"""Checkpoints of learning with edited fields and valid checksums: refused, or the run ends all the same."""

from __future__ import annotations

import json
import random
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import InternalError, PieceworkError
from piecework.train import Pruning

DRAW = random.Random(1)
SYLLABLES = [first + rest for first in "bdgklmnprst" for rest in ("a", "en", "is", "or", "ut")]
WORDS = ["".join(DRAW.choices(SYLLABLES, k=DRAW.randint(1, 4))) for _ in range(600)]
TEXTS = [" ".join(DRAW.choices(WORDS, k=12)) for _ in range(300)]

SETTINGS: dict[str, dict[str, Any]] = {
    "merges": {"model": "bpe", "preset": "whitespace", "vocab_size": 120},
    "choices": {"learner": Pruning(seed_vocab_size=400), "vocab_size": 100},
    "round": {"model": "unigram", "vocab_size": 120},
}
NUMBERS = [0, 1, -1, 1 << 31, 1 << 63, 1 << 64, -(1 << 63), 1e308, float("nan"), float("inf")]
VALUES = [*NUMBERS, None, True, "x", [], {}, [1, 2], [[1 << 64, "0x1p0"]], [[-1, "nan"]]]


def learn(settings: dict[str, Any], folder: Path, progress: Any = None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pw.Tokenizer.train_from_iterator(TEXTS, progress=progress, checkpoint=folder, **settings)


def interrupted(settings: dict[str, Any], folder: Path) -> Path:
    """Return the last checkpoint that an interrupted run writes, after its last report."""
    reports = 0

    def stop(done: int, total: int) -> None:
        nonlocal reports
        reports += 1
        if reports == last:
            raise KeyboardInterrupt

    last = -1
    learn(settings, folder, stop)
    for report in range(reports, 0, -1):
        last, reports = report, 0
        with pytest.raises(KeyboardInterrupt):
            learn(settings, folder, stop)
        if files := list(folder.glob("learning-*")):
            return files[0]
    raise AssertionError("no checkpoint was written")


def edits(header: dict[str, Any], body: bytes, kind: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    for name in header:
        for value in VALUES:
            yield {**header, name: value}, body
        yield {other: header[other] for other in header if other != name}, body
    for _ in range(60):
        edited = bytearray(body)
        width = DRAW.choice([1, 4, 8])
        at = DRAW.randrange(len(body) // width) * width
        number = DRAW.choice(
            [0, 1, (1 << 63) - 1, (1 << 64) - 1, 0x7FF8 << 48, DRAW.getrandbits(64)]
        )
        edited[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
        yield header, bytes(edited)
    yield header, body[:-3]
    yield header, body + b"]"
    if kind == "round":
        [(name, score), *pieces], *others = json.loads(body)
        for wrong in ("\ud800", "", 1, None, "\0", pieces[-1][0]):
            yield header, json.dumps([[[wrong, score], *pieces], *others]).encode()
        for wrong in (float("nan"), float("inf"), 1e308, None, "1", [1]):
            yield header, json.dumps([[[name, wrong], *pieces], *others]).encode()


@pytest.mark.parametrize("kind", SETTINGS)
def test_an_edited_checkpoint_is_refused_or_harmless(kind: str, tmp_path: Path) -> None:
    settings = SETTINGS[kind]
    path = interrupted(settings, tmp_path)
    line, _, body = path.read_bytes().partition(b"\n")
    outcomes = {"refused": 0, "ended": 0}
    for header, edited in edits(json.loads(line), body, kind):
        if isinstance(header.get("crc32"), int):
            header = {**header, "crc32": zlib.crc32(edited)}
        path.write_bytes(json.dumps(header).encode() + b"\n" + edited)
        try:
            learn(settings, tmp_path)
            outcomes["ended"] += 1
        except InternalError:
            raise
        except PieceworkError:
            outcomes["refused"] += 1
        path.unlink(missing_ok=True)
    assert outcomes["refused"] > outcomes["ended"] > 0
