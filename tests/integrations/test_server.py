"""The server of the how-to page under load, and the event loop while a thread encodes."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import piecework as pw

httpx = pytest.importorskip("httpx", reason="needs httpx")
pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "serve-requests.md"
TEXTS = ["to be or not to be", "", "naïve café 🐸 [SEP]", "a longer text " * 2000]
SECONDS = 300


def server_code() -> str:
    """Return the code block of the page that makes the application."""
    blocks = PAGE.read_text().split("```python\n")[1:]
    (code,) = [block.split("```")[0] for block in blocks if "app = Starlette(" in block]
    return code


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    texts = ["to be or not to be", "naïve café, a longer text"] * 9
    return pw.Tokenizer.train_from_iterator(texts, model="byte-bpe", vocab_size=300)


@pytest.fixture(scope="module")
def url(tok: pw.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the server in a process of its own."""
    folder = tmp_path_factory.mktemp("server")
    tok.save(folder / "tokenizer.json")
    (folder / "server.py").write_text(server_code())
    # The server inherits the socket, so that nobody else can take its port, and requests wait for it.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "uvicorn", "server:app", "--fd", str(listener.fileno())]
        server = subprocess.Popen(
            [*command, "--log-level", "warning"], cwd=folder, pass_fds=[listener.fileno()]
        )
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.terminate()
        server.wait(timeout=SECONDS)


def test_every_request_under_load_gets_its_own_answer(tok: pw.Tokenizer, url: str) -> None:
    def ask(number: int) -> None:
        texts = [f"{number} {text}" for text in TEXTS[: 1 + number % len(TEXTS)]]
        expected = tok.encode_batch(texts, parse_special=False).to_lists()
        with httpx.Client(base_url=url, timeout=SECONDS) as client:
            assert client.post("/encode", json={"texts": texts}).json() == {"ids": expected}
            with client.stream("POST", "/decode", json={"ids": expected[0]}) as response:
                pieces = list(response.iter_text())
            assert "".join(pieces) == tok.decode(expected[0])
            assert client.post("/encode", json={"texts": [number]}).status_code == 400

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(64), timeout=SECONDS))


def test_input_of_a_wrong_type_is_answered_with_the_error(url: str) -> None:
    response = httpx.post(f"{url}/encode", json={"texts": ["x", 7]}, timeout=SECONDS)
    assert response.status_code == 400
    assert response.json() == {"error": "texts[1]: must be str, not int"}


MALFORMED = [
    ("/encode", b"", "Expecting value"),
    ("/encode", b"{", "Expecting property name"),
    ("/encode", b"\xff", "codec can't decode"),
    ("/encode", b"[" * 100_000, "recursion"),
    ("/encode", b"null", "a JSON object with a list 'texts'"),
    ("/encode", b'["a"]', "a JSON object with a list 'texts'"),
    ("/encode", b'{"txt": 1}', "a JSON object with a list 'texts'"),
    ("/encode", b'{"texts": 1}', "a JSON object with a list 'texts'"),
    ("/encode", b'{"texts": "abc"}', "a JSON object with a list 'texts'"),
    ("/encode", b'{"texts": [null]}', "texts[0]: must be str, not NoneType"),
    ("/encode", b'{"texts": ["a", ["b"]]}', "texts[1]: must be str, not list"),
    ("/encode", b'{"texts": ["\\ud800"]}', "texts[0]"),
    ("/decode", b"", "Expecting value"),
    ("/decode", b'{"ids": "x"}', "a JSON object with a list 'ids'"),
    ("/decode", b'{"ids": ["x"]}', "ids[0]: must be an id, not str"),
    ("/decode", b'{"ids": ["\\ud800"]}', "ids[0]: must be an id, not str"),
    ("/decode", b'{"ids": [1, null]}', "ids[1]: must be an id, not NoneType"),
    ("/decode", b'{"ids": [1, 1.5]}', "ids[1]: must be an id, not float"),
    ("/decode", b'{"ids": [1, -1]}', "ids[1]: must be an id from 0 to 4294967295, not -1"),
    (
        "/decode",
        b'{"ids": [1, 99999999999999999999]}',
        "ids[1]: must be an id from 0 to 4294967295, not 9999",
    ),
]


@pytest.mark.parametrize(("path", "body", "message"), MALFORMED)
def test_a_malformed_request_is_answered_with_400_and_the_reason(
    url: str, path: str, body: bytes, message: str
) -> None:
    response = httpx.post(f"{url}{path}", content=body, timeout=SECONDS)
    assert response.status_code == 400
    assert message in response.json()["error"]


def test_ids_that_are_not_in_the_vocabulary_are_skipped(tok: pw.Tokenizer, url: str) -> None:
    ids = tok.encode("to be").ids
    response = httpx.post(f"{url}/decode", json={"ids": [*ids, 99_999]}, timeout=SECONDS)
    assert (response.status_code, response.text) == (200, "to be")


def test_the_event_loop_runs_while_a_thread_encodes(tok: pw.Tokenizer) -> None:
    texts = [TEXTS[3]] * 400

    async def ticks_meanwhile() -> int:
        ticks = 0
        encoding = asyncio.create_task(asyncio.to_thread(tok.encode_batch, texts, num_threads=1))
        while not encoding.done():
            await asyncio.sleep(0.001)
            ticks += 1
        await encoding
        return ticks

    # With the global lock held, the loop could run once before and once after a call. On a busy machine the
    # loop may have no turn during one call.
    with ThreadPoolExecutor(1) as pool:  # the main thread can have an event loop already
        assert any(pool.submit(asyncio.run, ticks_meanwhile()).result() > 3 for _ in range(50))
