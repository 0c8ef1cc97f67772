"""A panic of the compiled core is an `InternalError`, and what it interrupted stays usable."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import piecework as pw
from piecework._internal import _core
from piecework.errors import InternalError, PieceworkError
from piecework.train import Pipeline, count_texts
from piecework.train.plan import trainer_for

REPORT = re.escape(f"piecework {_core.__version__}: a panic: a panic on purpose") + (
    r" \(crates/.*files\.rs:\d+:\d+\); this is a bug, please report it .*https://.*/issues"
)
LONG = "word " * 30_000
"""Texts of many bytes are shared out over threads."""


def panicking(text: str) -> str:
    """Panic on one word, inside the Rust code that calls this stage."""
    if "boom" in text:
        _core.panic_for_tests()
    return text


@pytest.fixture
def tok() -> pw.Tokenizer:
    words = pw.spec.WordLevel({"[UNK]": 0, "word": 1, "boom": 2})
    return pw.Tokenizer(
        words,
        normalizer=pw.spec.CustomNormalizer(panicking),
        pre_tokenizer=pw.spec.Whitespace(),
    )


CALLS: dict[str, Callable[[pw.Tokenizer], object]] = {
    "encode": lambda tok: tok.encode("a boom"),
    "encode of a long text": lambda tok: tok.encode(LONG + "boom"),
    "encode with a pair": lambda tok: tok.encode("word", "boom"),
    "encode_batch": lambda tok: tok.encode_batch(["word", "boom"], num_threads=1),
    "encode_batch in threads": lambda tok: tok.encode_batch([LONG] * 7 + ["boom"], num_threads=4),
    "encode_batch in every thread": lambda tok: tok.encode_batch(["boom", LONG] * 9, num_threads=4),
    "encode_batch with spans": lambda tok: tok.encode_batch(
        [LONG, "boom"], offsets=True, num_threads=2
    ),
    "count_batch": lambda tok: tok.count_batch([LONG] * 7 + ["boom"], num_threads=4),
    "normalize": lambda tok: tok.normalize("boom"),
    "pre_tokenize": lambda tok: tok.pre_tokenize("boom"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_panic_is_an_internal_error_and_the_tokenizer_stays_usable(
    call: str, tok: pw.Tokenizer
) -> None:
    expected = tok.encode("word boo").ids
    for _ in range(3):
        with pytest.raises(InternalError, match=REPORT):
            CALLS[call](tok)
        assert tok.encode("word boo").ids == expected == [1, 0]
        assert tok.encode_batch([LONG] * 8, num_threads=4).to_lists() == [[1] * 30_000] * 8
        assert tok.decode([1, 0]) == "word [UNK]"


def test_threads_that_panic_at_once_leave_the_tokenizer_usable(tok: pw.Tokenizer) -> None:
    def outcome(number: int) -> object:
        try:
            return tok.encode("boom" if number % 2 else "word").ids
        except InternalError:
            return "panic"

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(outcome, range(200))) == [[1], "panic"] * 100


def test_a_panic_in_counting_raises_and_so_does_what_it_interrupted() -> None:
    stages = Pipeline(pw.spec.CustomNormalizer(panicking), pw.spec.Whitespace())
    for num_threads in (1, 4):
        with pytest.raises(InternalError, match=REPORT):
            count_texts([LONG] * 7 + ["boom"], preset=stages, num_threads=num_threads)
    assert count_texts(["word word"], preset=stages).most_common() == [("word", 2)]
    text, functions = stages.to_core()
    counter = _core.WordCounter(text, 2, functions, {})
    counter.add_texts(["word"], 0)
    with pytest.raises(InternalError, match="on purpose"):
        counter.add_texts(["boom"], 0)
    for call in (lambda: counter.add_texts(["word"], 0), counter.finish):
        with pytest.raises(InternalError, match="an earlier call of this object panicked"):
            call()


@pytest.mark.parametrize(("model", "size"), [("wordpiece", 26), ("bpe", 14), ("unigram", 20)])
def test_a_panic_in_learning_is_an_internal_error(model: str, size: int) -> None:
    def progress(*_: object) -> None:
        _core.panic_for_tests()

    counts = count_texts(["hug hugs pug pun bun"] * 3)
    trainer = trainer_for(model, {"vocab_size": size})
    expected = trainer.learn(counts)
    with pytest.raises(InternalError, match=REPORT):
        trainer.learn(counts, progress)
    assert trainer.learn(counts) == expected


def test_a_panic_in_loading_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match=REPORT):
        _core.panic_in_loading_for_tests()


def test_an_internal_error_is_a_piecework_error_and_pickles() -> None:
    assert issubclass(InternalError, (PieceworkError, RuntimeError))
    with pytest.raises(InternalError) as raised:
        _core.panic_in_loading_for_tests()
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@pytest.mark.parametrize(("setting", "is_printed"), [(None, False), ("0", False), ("1", True)])
def test_standard_error_is_silent_unless_a_backtrace_is_requested(
    setting: str | None, is_printed: bool
) -> None:
    import os

    code = (
        "from piecework import errors\n"
        "from piecework._internal import _core\n"
        "try: _core.panic_in_loading_for_tests()\n"
        "except errors.InternalError: print('raised')"
    )
    others = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    environment = others if setting is None else {**others, "RUST_BACKTRACE": setting}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "raised\n"
    assert ("a panic on purpose" in done.stderr) == is_printed
    assert is_printed or not done.stderr


def test_every_function_that_python_calls_catches_panics() -> None:
    sources = Path(__file__).parents[2] / "crates" / "bindings" / "src"
    uncaught = [
        (path.name, attribute)
        for path in sorted(sources.rglob("*.rs"))
        for attribute in re.findall(
            r"^ *#\[(pyfunction|pymethods)\b", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert uncaught == [("files.rs", "pyfunction")]
