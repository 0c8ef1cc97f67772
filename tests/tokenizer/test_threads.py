"""Threads that share one tokenizer get the answers of one thread, with the GIL and without."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pytest

import piecework as pw
from piecework._internal import _core

Result = TypeVar("Result")

THREADS = 8
ROUNDS = 3
# Who waits so long waits for a lock that nobody will release.
DEADLOCK_SECONDS = 600

WORDS = (
    "hugs unbelievable naïve CAFÉ don't 12345 été 日本語 한국어 👩🏽‍🚀 e\u0301 x=[1] <mask>".split()
)
CHOICES = random.Random(7)
TEXTS = [" ".join(CHOICES.choices(WORDS, k=length)) for length in (0, 1, 2, 5, 30, 400) * 5]
MODELS = {
    "wordpiece": {"vocab_size": 85, "preset": "bert-cased"},
    "byte-bpe": {"vocab_size": 320, "preset": "gpt2", "model": "byte-bpe"},
    "unigram": {"vocab_size": 90, "model": "unigram"},
    "sentencepiece": {"vocab_size": 330, "preset": "llama"},
}


def together(work: Callable[[int], Result]) -> list[Result]:
    """Call `work` in as many threads, at once; give what each returned, or raise what one raised."""
    results: dict[int, Result] = {}
    raised: list[BaseException] = []
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLOCK_SECONDS)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    if raised:
        raise raised[0]
    return [results[number] for number in range(THREADS)]


def trained(name: str) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, num_threads=1, **MODELS[name])


@pytest.fixture(scope="module", params=MODELS)
def tok(request: pytest.FixtureRequest) -> pw.Tokenizer:
    return trained(request.param)


def fresh(tok: pw.Tokenizer) -> pw.Tokenizer:
    """Give the same without anything that is made when it is first used."""
    return pickle.loads(pickle.dumps(tok))


def fields(encoding: pw.Encoding) -> list[object]:
    return [
        encoding.ids,
        encoding.tokens,
        encoding.offsets,
        encoding.word_ids,
        encoding.byte_offsets,
    ]


def streamed(tok: pw.Tokenizer) -> list[str]:
    rows = [tok.encode(text).ids for text in TEXTS[:12]]
    return ["".join(tok.decode_stream().feed(row)) for row in rows]


def sampled(tok: pw.Tokenizer) -> list[list[int]]:
    if isinstance(tok.spec.model, pw.spec.WordPiece):
        return []
    strength = "alpha" if isinstance(tok.spec.model, pw.spec.Unigram) else "dropout"
    sampling = pw.Sampling(**{strength: 0.3}, seed=5)
    return tok.encode_batch(TEXTS, sampling=sampling, num_threads=2).to_lists()


def operated_on(tok: pw.Tokenizer) -> object:
    pad_token = tok.id_to_token(0)
    assert pad_token is not None
    larger = tok.with_added_tokens(["<mask>", "naïve"]).with_truncation(40)
    padded = larger.with_padding(pad_token=pad_token)
    return padded.encode_batch(TEXTS).to_lists(), larger.get_vocab_size(), larger == tok


JOBS: list[Callable[[pw.Tokenizer], object]] = [
    lambda tok: [fields(tok.encode(text)) for text in TEXTS],
    lambda tok: [fields(tok.encode(text, "a pair")) for text in TEXTS[:6]],
    lambda tok: tok.encode_batch(TEXTS, num_threads=1).to_lists(),
    lambda tok: tok.encode_batch(TEXTS * 40, num_threads=3).ids.tolist(),
    lambda tok: tok.encode_batch(TEXTS, offsets=True, num_threads=2).offsets.tolist(),
    lambda tok: tok.count_batch(TEXTS, num_threads=2),
    lambda tok: tok.decode_batch([tok.encode(text).ids for text in TEXTS]),
    lambda tok: [tok.decode(tok.encode(text).ids) for text in TEXTS],
    lambda tok: (tok.to_str(), tok.get_vocab(), hash(tok), tok == fresh(tok)),
    lambda tok: tok.with_word_cache_budget(4096).encode_batch(TEXTS).to_lists(),
    streamed,
    sampled,
    operated_on,
]


def all_jobs(tok: pw.Tokenizer, number: int) -> list[object]:
    """Do them in an order of the thread's own."""
    order = random.Random(number).sample(range(len(JOBS)), len(JOBS))
    results = {at: JOBS[at](tok) for at in order}
    return [results[at] for at in range(len(JOBS))]


@pytest.mark.slow
def test_every_method_of_a_shared_tokenizer_answers_as_on_one_thread(tok: pw.Tokenizer) -> None:
    expected = all_jobs(fresh(tok), 0)
    for _ in range(ROUNDS):
        for results in together(partial(all_jobs, fresh(tok))):
            for at, result in enumerate(results):
                assert result == expected[at], f"job {at}"


def test_training_in_many_threads_gives_what_one_gives() -> None:
    names = list(MODELS)
    expected = {name: trained(name) for name in names}
    learned = together(lambda number: trained(names[number % len(names)]))
    for number, tok in enumerate(learned):
        assert tok == expected[names[number % len(names)]]


def test_a_tokenizer_is_extended_while_others_encode(tok: pw.Tokenizer) -> None:
    if not isinstance(tok.spec.model, pw.spec.BPE | pw.spec.WordPiece | pw.spec.Unigram):
        pytest.skip("its entries cannot be extended")
    corpus = ["hugshugs unbelievable", *TEXTS] * 3

    def work(shared: pw.Tokenizer, number: int) -> object:
        if number % 2:
            return shared.encode_batch(TEXTS * 10).ids.tolist()
        return pw.vocabulary.extend(shared, corpus, 2).tokenizer.encode_batch(TEXTS).ids.tolist()

    expected = [work(fresh(tok), number) for number in range(2)] * (THREADS // 2)
    shared = fresh(tok)
    assert together(lambda number: work(shared, number)) == expected


@pytest.mark.slow
def test_a_shared_encoding_and_a_shared_batch_have_one_answer(tok: pw.Tokenizer) -> None:
    def read(number: int, encoding: pw.Encoding, batch: pw.Batch) -> list[object]:
        lists = batch.to_lists() if number % 2 else []
        columns = [batch.ids.tolist(), batch.offsets.tolist(), batch.word_ids.tolist()]
        return [*fields(encoding), *columns, lists or batch.to_lists()]

    for _ in range(10):
        expected, shared = (
            (tok.encode(TEXTS[-1]), tok.encode_batch(TEXTS, offsets=True)) for _ in range(2)
        )
        alike = together(partial(lambda pair, number: read(number, *pair), shared))
        assert alike == [read(0, *expected)] * THREADS


def test_steps_of_a_shared_stream_are_taken_one_at_a_time() -> None:
    vocab = {"[UNK]": 0, "hug": 1}
    tok = pw.Tokenizer(pw.spec.WordPiece(vocab), decoder=pw.spec.WordPieceDecoder())
    stream, streams = tok.decode_stream(), pw.tokenizer.stages.decode_streams(tok, [[], []])

    def step(_: int) -> list[object]:
        return [text for _ in range(200) for text in (stream.step(1), *streams.step([1, None]))]

    texts = [text for some in together(step) for text in some if text is not None]
    assert texts.count("hug") == 2
    assert texts.count(" hug") == 2 * (200 * THREADS - 1)
    assert len(texts) == 2 * 200 * THREADS


def test_a_list_that_changes_during_a_batch_is_read_safely(tok: pw.Tokenizer) -> None:
    texts = ["hugs don't"] * 50
    row = tok.encode(texts[0]).ids

    def work(number: int) -> None:
        for _ in range(40):
            if number == 0:
                texts.extend(["hugs don't"] * 40)
            elif number == 1:
                del texts[10:]
            else:
                assert all(ids == row for ids in tok.encode_batch(texts, num_threads=2).to_lists())

    together(work)


def test_functions_of_custom_stages_may_use_the_tokenizer_they_are_part_of() -> None:
    plain = trained("wordpiece")

    def lowered(text: str) -> str:
        plain.encode_batch([text] * 3, num_threads=2)
        return text.lower()

    custom = plain.with_normalizer(pw.spec.CustomNormalizer(lowered))
    expected = custom.encode_batch(TEXTS, num_threads=1).to_lists()
    assert (
        together(lambda _: custom.encode_batch(TEXTS, num_threads=3).to_lists())
        == [expected] * THREADS
    )


def test_the_level_of_the_kernels_may_change_during_a_batch(
    tok: pw.Tokenizer, request: pytest.FixtureRequest
) -> None:
    expected, levels = tok.encode_batch(TEXTS).to_lists(), _core.kernel_levels()

    def work(number: int) -> None:
        for round in range(20):
            _core.use_kernel_level(levels[(number + round) % len(levels)])
            assert tok.encode_batch(TEXTS, num_threads=1).to_lists() == expected

    try:
        together(work)
    finally:
        _core.use_kernel_level(request.config.getoption("--kernel-level"))


ENCODE_FOR_EVER = """
import threading, time
import piecework as pw

tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 9, vocab_size=26)
texts = ["hugs pun bug"] * 1000

def encode_for_ever():
    while True:
        tok.encode("hugs pun bug")
        tok.encode_batch(texts, num_threads=1)

for _ in range(4):
    threading.Thread(target=encode_for_ever, daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.slow
def test_daemon_threads_that_encode_do_not_abort_the_exit() -> None:
    for _ in range(8):
        done = subprocess.run(
            [sys.executable, "-c", ENCODE_FOR_EVER], capture_output=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_texts_are_encoded_while_the_interpreter_exits() -> None:
    code = (
        "import atexit\n"
        "atexit.register(lambda: print(tok.encode_batch(['hugs'] * 9).to_lists()[8]))\n"
        "import piecework as pw\n"
        "tok = pw.Tokenizer.train_from_iterator(['hug hugs'] * 5, vocab_size=16)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "[2, 14, 3]\n"), done.stderr


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="an interpreter that always has a GIL"
)
def test_the_gil_stays_off() -> None:
    code = (
        "import sys, piecework as pw\n"
        "tok = pw.Tokenizer.train_from_iterator(['hug hugs'] * 5, vocab_size=16)\n"
        "tok.encode_batch(['hugs'] * 9).ids\n"
        "assert not sys._is_gil_enabled()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=environment)
