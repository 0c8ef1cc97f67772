"""Signals end long calls of the main thread, and the tokenizer stays usable."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import piecework as pw
from tests.data import ROOT
from tests.processes import POSIX, heed_signals

pytestmark = POSIX

LETTERS = "abcdefgh"
ATTEMPTS = 9
BEFORE = 0.02
"""The seconds of CPU time before the signal.

Each call below takes many times as long, also on a fast machine: signals are checked ten times a second.
"""


class StoppedError(Exception):
    pass


def pieces() -> list[str]:
    draw = random.Random(3)
    words = {"".join(draw.choices(LETTERS, k=draw.randint(2, 5))) for _ in range(400)}
    return [*LETTERS, "▁", *sorted(words)]


def unigram() -> pw.Tokenizer:
    scored = [
        ("<unk>", 0.0),
        *((piece, -2.0 - number / 100) for number, piece in enumerate(pieces())),
    ]
    return pw.Tokenizer(pw.spec.Unigram(tuple(scored), 0), pre_tokenizer=pw.spec.Metaspace())


def bpe() -> pw.Tokenizer:
    """Return a model whose merges are not in the order of what they need, so that a queue orders them."""
    merges = [
        ("a", "b"),
        ("ab", "c"),
        ("c", "d"),
        ("abc", "d"),
        ("e", "f"),
        ("g", "h"),
        ("ef", "gh"),
    ]
    merges = [merges[1], *merges]
    vocab = dict.fromkeys([*LETTERS, *(left + right for left, right in merges), "<unk>"])
    numbered = {token: number for number, token in enumerate(vocab)}
    return pw.Tokenizer(pw.spec.BPE(numbered, tuple(dict.fromkeys(merges)), unk_token="<unk>"))


def byte_level() -> pw.Tokenizer:
    texts = ["".join(random.Random(5).choices(LETTERS, k=2000))]
    return pw.Tokenizer.train_from_iterator(texts, model="byte-bpe", vocab_size=400)


def wordpiece() -> pw.Tokenizer:
    entries = ["[UNK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocab = {entry: number for number, entry in enumerate(entries)}
    return pw.Tokenizer(pw.spec.WordPiece(vocab), pre_tokenizer=pw.spec.WhitespaceSplit())


def word(megabytes: int = 20) -> str:
    return "".join(random.Random(7).choices(LETTERS, k=100_000)) * (10 * megabytes)


def words(megabytes: int = 20) -> str:
    draw = random.Random(8)
    lines = " ".join("".join(draw.choices(LETTERS, k=9)) for _ in range(10_000))
    return " ".join([lines] * (10 * megabytes))


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise `StoppedError` from the handler of a signal after so much CPU time of this process."""

    def stop(*_: object) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def for_ever(call: Callable[[str], object], text: str) -> None:
    while True:
        call(text)


def cpu_seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def calls() -> dict[str, Callable[[], Callable[[], object]]]:
    """Return functions that prepare a long call."""

    def of_unigram_word() -> Callable[[], object]:
        tok, text = unigram(), word()
        return lambda: tok.encode(text)

    def of_bpe_word() -> Callable[[], object]:
        tok, text = bpe(), word()
        return lambda: tok.encode(text)

    def of_byte_level_word() -> Callable[[], object]:
        tok, text = byte_level(), word(60)
        return lambda: tok.encode(text)

    def of_seen_words() -> Callable[[], object]:
        # Without ids, of which a list would take longer than the words.
        tok, text = wordpiece(), words(150)
        return lambda: tok.count(text)

    def of_offsets() -> Callable[[], object]:
        batch = unigram().encode_batch([words(10)], offsets=True)
        # A row makes its list once, so each call gets a row of its own.
        rows = (batch[0] for _ in range(2 + ATTEMPTS))
        return lambda: next(rows).offsets

    def of_counts() -> Callable[[], object]:
        tok, text = unigram(), word()
        return lambda: tok.count(text)

    def of_a_helper() -> Callable[[], object]:
        tok, text = unigram(), word()
        return lambda: tok.encode_batch(["a" * 100_000, text], num_threads=2)

    def of_loading() -> Callable[[], object]:
        draw = random.Random(9)
        scored = [["<unk>", 0.0]] + [[f"{draw.getrandbits(60):x}", -1.0] for _ in range(600_000)]
        spec = {**json.loads(unigram().to_str()), "added_tokens": []}
        spec["model"] = {**spec["model"], "vocab": scored}
        text = json.dumps(spec)
        return lambda: pw.Tokenizer.from_str(text)

    return {name: function for name, function in locals().items() if name.startswith("of_")}


@pytest.mark.parametrize("name", sorted(calls()))
def test_a_signal_ends_a_call(name: str) -> None:
    call = calls()[name]()
    call()
    whole = cpu_seconds(call)

    def stopped() -> None:
        with stopped_after(BEFORE), pytest.raises(StoppedError):
            call()

    # A busy machine can delay one attempt. A call that cannot be stopped takes all its time in each.
    assert any(cpu_seconds(stopped) < BEFORE + whole / 2 for _ in range(ATTEMPTS))


def test_the_tokenizer_is_usable_afterwards() -> None:
    for make in (unigram, bpe, byte_level, wordpiece):
        tok = make()
        for text in (word(), words()):
            short = text[:5000]
            for after in (BEFORE, 3 * BEFORE):
                with stopped_after(after), pytest.raises(StoppedError):
                    for_ever(tok.encode, text)
                assert tok.encode(short).ids == make().encode(short).ids
        assert (
            tok.encode_batch([short, "ab"]).ids.tolist()
            == make().encode_batch([short, "ab"]).ids.tolist()
        )


def test_a_handler_that_does_not_raise_does_not_end_a_call() -> None:
    tok, text = unigram(), word()
    caught: list[int] = []
    before = signal.signal(signal.SIGPROF, lambda number, _: caught.append(number))
    signal.setitimer(signal.ITIMER_PROF, BEFORE)
    try:
        found = tok.encode(text).ids
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert caught == [signal.SIGPROF]
    assert found == unigram().encode(text).ids


def test_another_thread_is_not_stopped() -> None:
    tok, text = unigram(), word()
    found: list[list[int]] = []
    thread = threading.Thread(target=lambda: found.append(tok.encode(text).ids))
    thread.start()
    with stopped_after(BEFORE), pytest.raises(StoppedError):
        thread.join()
    thread.join()
    assert found == [unigram().encode(text).ids]


CHILD = """
import time
from tests.tokenizer.test_interrupts import unigram, word
tok, text = unigram(), word(60)
start = time.process_time()
tok.encode(text)
print(time.process_time() - start, time.process_time(), flush=True)
tok.encode(text)
"""


def is_ended_within_a_long_word() -> bool:
    """Send Ctrl-C to a process while it encodes a long word; return whether it ends before the word does."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    whole, before = map(float, process.stdout.readline().split())
    process.send_signal(signal.SIGINT)
    assert process.stderr.read().rstrip().endswith("KeyboardInterrupt")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == -signal.SIGINT
    return usage.ru_utime + usage.ru_stime - before < whole / 2


def test_control_c_ends_a_process_within_one_long_word() -> None:
    assert any(is_ended_within_a_long_word() for _ in range(5))
