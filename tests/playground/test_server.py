"""The server of the playground: what it answers, what it rejects, and how it starts and ends."""

from __future__ import annotations

import ipaddress
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

import piecework as pw
from piecework.analysis.report import chart_scripts
from piecework.errors import ArgumentError, FormatError, MissingExtraError
from piecework.playground import application, create_app, limits, server
from piecework.playground.page import STATIC, static_page
from piecework.playground.training_replay import PRESETS, presets_of_learners
from tests.playground.tokenizers import HOSTILE, all_kinds, byte_bpe, hostile, unigram, wordpiece
from tests.processes import POSIX, heed_signals

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
BROKEN = FormatError("broken.json", "found <b>no</b> model, expected a tokenizer")


def client_of(
    tokenizers: Mapping[str, pw.Tokenizer | pw.PieceworkError], **settings: Any
) -> TestClient:
    return TestClient(create_app(tokenizers, **settings), base_url="http://127.0.0.1:8000")


@pytest.fixture
def client() -> TestClient:
    return client_of({**all_kinds(), "broken.json": BROKEN})


def columns(body: bytes) -> tuple[list[dict[str, Any]], list[list[list[int]]]]:
    """Return the headers of an answer, and for each tokenizer ids, starts, ends and flags."""
    size = int.from_bytes(body[:4], "little")
    headers = json.loads(body[4 : 4 + size])["tokenizers"]
    at = 4 + size
    found = []
    for header in headers:
        count = header["count"]
        numbers = np.frombuffer(body, "<i4", 3 * count, at).reshape(3, count).tolist()
        at += 12 * count
        found.append([*numbers, list(body[at : at + count])])
        at += -(-count // 4) * 4
    assert at == len(body)
    return headers, found


# ---- the page without JavaScript


def test_the_page_shows_the_tokens_of_a_text_in_its_address(client: TestClient) -> None:
    html = client.get("/", params={"text": "hugs, unhappy"}).text
    assert ">hugs, unhappy</textarea>" in html.replace("\n", "")
    assert "<td>4</td><td><code>hugs</code></td><td>0:4</td>" in html.replace("\n", "")
    assert "<code>##hap</code>" in html


def test_a_tokenizer_that_does_not_load_is_shown_with_its_error(client: TestClient) -> None:
    html = client.get("/", params={"text": "hug"}).text
    assert "broken.json: found &lt;b&gt;no&lt;/b&gt; model, expected a tokenizer" in html
    described = client.get("/api/tokenizers").json()["tokenizers"]
    assert [one.get("view") for one in described] == ["search", "merges", "lattice", None]
    assert described[3] == {"name": "broken.json", "error": str(BROKEN)}


def test_tokenizers_say_which_special_tokens_they_add(client: TestClient) -> None:
    described = client.get("/api/tokenizers").json()["tokenizers"]
    assert [one.get("added") for one in described] == [["[CLS]", "[SEP]"], [], [], None]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_tokens_and_texts_are_not_markup(text: str) -> None:
    client = client_of({text: hostile()})
    html = client.get("/", params={"text": f"{text} {text}"}).text
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z!?][^\s>]*)", html))
    plain = set(re.findall(r"<\s*/?\s*([a-zA-Z!?][^\s>]*)", client.get("/?text=hug").text))
    assert tags <= plain
    assert client.get("/api/tokenizers").headers["content-type"] == "application/json"


def test_a_long_text_in_the_address_is_an_error_on_the_page(client: TestClient) -> None:
    html = client.get("/", params={"text": "a" * (limits.PAGE_CHARS + 1)}).text
    assert "</html>" in html


def test_long_tables_are_cut(client: TestClient) -> None:
    html = client.get("/", params={"text": "s " * 1500}).text
    assert "... and 500 more tokens" in html


# ---- encoding


TEXTS = [
    "hugs, unhappy",
    "日本 hug 😀hug\r\n\thug",
    "",
    " ",
    "hug\ud800".encode(errors="replace").decode(),
]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_and_positions_equal_those_of_encode(client: TestClient, text: str) -> None:
    body = client.post("/api/encode?tokenizers=0,1,2", content=text.encode()).content
    headers, found = columns(body)
    for header, (ids, starts, ends, _), tokenizer in zip(
        headers, found, all_kinds().values(), strict=True
    ):
        expected = tokenizer.encode(text, add_special_tokens=False)
        assert ids == expected.ids
        assert list(zip(starts, ends, strict=True)) == expected.utf16_offsets
        assert {int(id) for id in header["tokens"]} == set(ids)


def test_flags_mark_spans_of_one_tokenizer_unknown_and_template_tokens(client: TestClient) -> None:
    body = client.post("/api/encode?tokenizers=0,2&special=1", content=b"hugs z").content
    headers, (wordpieces, pieces) = columns(body)
    assert wordpieces[3] == [4, 1, 3, 4]
    assert [header["onlyHere"] for header in headers] == [2, 3]
    assert headers[0]["unknown"] == 1
    assert pieces[0] == [2, 3, 0] or len(pieces[0]) >= 2


def test_bytes_of_a_divided_character_are_in_hex(client: TestClient) -> None:
    headers, _ = columns(client.post("/api/encode?tokenizers=1", content="日".encode()).content)
    assert sorted(hex for _, _, hex in headers[0]["tokens"].values()) == ["97", "a5", "e6"]


def test_truncation_and_padding_are_off() -> None:
    client = client_of({"short": wordpiece().with_truncation(3).with_padding(9, pad_token="[UNK]")})
    [header], _ = columns(client.post("/api/encode?tokenizers=0", content=b"hug " * 50).content)
    assert header["count"] == 50


# ---- words and segmentations


def test_words_are_explained_by_the_steps_of_their_model(client: TestClient) -> None:
    def first(tokenizer: int, text: str) -> dict[str, Any]:
        found = client.post(f"/api/explain?tokenizer={tokenizer}", content=text.encode()).json()
        return dict(found["words"][0])

    search = first(0, "unhug")["search"]
    assert search["unknown_because"] == "no prefix of 'ug' at position 3 is an entry"
    merged = first(1, " hug")
    assert merged["word"] == " hug"
    assert [step["token"] for step in merged["merges"]] == ["ug", "hug", " hug"]
    assert first(2, "hugs")["lattice"]["best"] == ["▁hu", "gs"]


def test_samples_with_the_same_seed_are_equal(client: TestClient) -> None:
    def drawn(seed: int) -> Any:
        path = f"/api/segmentations?tokenizer=1&draw=sample&n=16&alpha=0.5&seed={seed}"
        return client.post(path, content=b"hug hug hug").json()

    assert drawn(1) == drawn(1) != drawn(2)
    best = client.post("/api/segmentations?tokenizer=2&n=3", content=b"hugs").json()
    assert best[0]["tokens"] == ["▁hu", "gs"]
    assert best[0]["score"] > best[1]["score"]


# ---- training


def test_training_returns_the_steps_of_the_published_example(client: TestClient) -> None:
    path = "/api/training?example=course&learner=wordpiece-pmi&vocab_size=70"
    trace = client.post(path).json()
    winner = trace["steps"][0]["winner"]
    assert (winner["left"], winner["right"], winner["score_fraction"]) == ("a", "##b", "1/5")
    assert len(trace["vocab"]) == 70


@pytest.mark.parametrize(
    "learner",
    ["wordpiece-pruning", "wordpiece-likelihood", "wordpiece-frequency", "bpe", "unigram"],
)
@pytest.mark.parametrize("example", ["course", "hugs", ""])
def test_each_learner_follows_each_corpus(client: TestClient, learner: str, example: str) -> None:
    size = {"course": 90, "hugs": 22, "": 30}[example]
    path = f"/api/training?example={example}&learner={learner}&vocab_size={size}"
    answer = client.post(path, content=b"low lower lowest low\nnew newer newest")
    assert answer.status_code == 200, answer.text
    assert answer.json()["steps"]


def test_the_removals_of_pruning_lead_to_its_vocabulary(client: TestClient) -> None:
    path = "/api/training?example=course&learner=wordpiece-pruning&vocab_size=70"
    trace = client.post(path).json()
    assert len(trace["steps"]) == trace["step_count"] > limits.STEPS
    entries = {seed for seed, _ in trace["seeds"]} | {*trace["alphabet"], *trace["special_tokens"]}
    for step in trace["steps"]:
        if step["put_back"]:
            entries.add(step["put_back"]["entry"])
        entries.remove(step["removed"]["entry"])
    assert entries == set(trace["vocab"])


def test_a_text_with_too_many_removals_is_rejected_before_they_are_replayed(
    client: TestClient,
) -> None:
    text = " ".join(f"{a}{b}{c}{a}{c}" for a in "abcdefg" for b in "hijklmn" for c in "opqr")
    path = "/api/training?learner=wordpiece-pruning&vocab_size=180"
    answer = client.post(path, content=text.encode())
    assert answer.status_code == 400
    assert re.search(
        r"corpus: has 1,\d+ entries to remove; the limit is 800", answer.json()["error"]
    )


OWN_TEXT = "Zürich Café low LOW low"


def training(client: TestClient, settings: str, text: str = OWN_TEXT) -> dict[str, Any]:
    answer = client.post(f"/api/training?{settings}", content=text.encode())
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_training_says_what_its_preset_does(client: TestClient) -> None:
    trace = training(client, "learner=wordpiece-pmi&vocab_size=30")
    assert trace["preset"] == {
        "name": "bert-uncased",
        "about": "lowercased, accents removed; split at spaces and punctuation",
        "words": 4,
        "changed": 3,
        "examples": [["Zürich", "zurich"], ["Café", "cafe"], ["LOW", "low"]],
    }
    cased = training(client, "learner=wordpiece-pmi&vocab_size=30&preset=bert-cased")
    assert (cased["preset"]["name"], cased["preset"]["changed"]) == ("bert-cased", 0)
    assert training(client, "learner=unigram&vocab_size=20")["preset"]["changed"] == 0
    assert training(client, "learner=bpe&vocab_size=30")["preset"]["name"] == "whitespace"


@pytest.mark.parametrize(
    ("learner", "preset"),
    [(learner, preset) for learner, presets in presets_of_learners().items() for preset in presets],
)
def test_every_learner_has_its_presets(client: TestClient, learner: str, preset: str) -> None:
    assert client.get("/api/tokenizers").json()["presets"][learner][preset] == PRESETS[preset]
    size = 20 if learner == "unigram" else 40
    settings = f"learner={learner}&vocab_size={size}&preset={preset}"
    trace = training(client, settings, "low lower Löwe, newer newest\nlow new löwen newer")
    assert trace["preset"]["name"] == preset
    says_kept = not re.search("lowercased|accents removed", trace["preset"]["about"])
    assert says_kept == (trace["preset"]["changed"] == 0)


def test_texts_of_an_example_have_a_preset_and_its_words_have_none(client: TestClient) -> None:
    published = training(client, "example=course&learner=wordpiece-pmi", "")
    assert published["preset"] is None
    cased = training(client, "example=course&learner=wordpiece-pmi&preset=bert-cased", "")
    assert cased["preset"]["name"] == "bert-cased"


BAD = {
    "/api/training?example=hugs&learner=bpe&preset=bert-cased": "preset: does not apply",
    "/api/training?example=course&learner=bpe&preset=gpt2": (
        "preset: must be bert-uncased or bert-cased or sentencepiece or "
        "whitespace or punctuation or metaspace or characters, not 'gpt2'"
    ),
    "/api/training?example=course&learner=magic": (
        "learner: must be wordpiece-pruning or wordpiece-pmi or wordpiece-likelihood or "
        "wordpiece-frequency or bpe or unigram, not 'magic'"
    ),
    "/api/training?learner=bpe": "corpus: has no words; give a text, or choose one of the examples",
    "/api/training?example=course&learner=bpe&vocab_size=99999": "vocab_size: must be a number from",
    "/api/training?example=course&learner=bpe&vocab_size=-1": (
        "vocab_size: must be a whole number of at most 9 digits, not '-1'"
    ),
    "/api/training?example=course&learner=wordpiece-pmi&vocab_size=3": (
        "vocab_size: must be at least 45 (5 special tokens and an alphabet of 40), not 3"
    ),
    "/api/training?example=etc/passwd&learner=bpe": "example: must be one of course, hugs, not 'etc/passwd'",
    "/api/encode?tokenizers=7": "tokenizer: must be an index from 0 to 3, not '7'",
    "/api/encode?tokenizers=3": (
        "tokenizer: cannot be loaded: broken.json: found <b>no</b> model, expected a tokenizer"
    ),
    "/api/encode": "tokenizer: must be an index from 0 to 3, not ''",
    "/api/encode?tokenizers=0000000009": "tokenizer: must be an index from 0 to 3, not '0000000009'",
    "/api/explain?tokenizer=00000000000000000001": (
        "tokenizer: must be an index from 0 to 3, not '00000000000000000001'"
    ),
    "/api/explain?tokenizer=٣": "tokenizer: must be an index from 0 to 3, not '٣'",
    "/api/segmentations?tokenizer=1&n=0&draw=sample": "n: must be a number from 1 to 64, not 0",
    "/api/segmentations?tokenizer=2&alpha=nan&draw=sample": (
        "alpha: must be a finite number, at least 0, not nan"
    ),
    "/api/segmentations?tokenizer=2&alpha=x": "alpha: must be a number, not 'x'",
    "/api/segmentations?tokenizer=0": "draw: needs a Unigram model, or samples of a BPE model",
}


@pytest.mark.parametrize("path", BAD)
def test_a_wrong_request_is_an_error_that_names_the_argument(client: TestClient, path: str) -> None:
    answer = client.post(path)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(BAD[path])


# ---- limits


def test_a_text_over_the_limit_is_rejected(client: TestClient) -> None:
    answer = client.post("/api/encode?tokenizers=0", content=b"a" * (limits.TEXT_BYTES + 1))
    assert answer.status_code == 413
    assert answer.json()["error"] == "text: has more than 2,000,000 bytes"
    for path in ("explain?tokenizer=0", "segmentations?tokenizer=2"):
        answer = client.post(f"/api/{path}", content=b"a" * (limits.WORD_CHARS + 1))
        assert answer.json()["error"] == "text: has 501 characters; the limit is 500"
    answer = client.post("/api/training?learner=bpe", content=b"a" * (limits.CORPUS_CHARS + 1))
    assert answer.json()["error"] == "corpus: has 10,001 characters; the limit is 10,000"


def test_a_request_that_takes_too_long_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "SECONDS", 0.2)

    class Slow(application.ServedTokenizer):
        def columns(self, text: str, *, add_special_tokens: bool = False) -> Any:
            time.sleep(1)

    monkeypatch.setattr(application, "ServedTokenizer", Slow)
    answer = client_of({"slow": wordpiece()}).post("/api/encode?tokenizers=0", content=b"hug")
    assert answer.status_code == 503
    assert answer.json()["error"].startswith("the request took more than 0 seconds")


# ---- who may ask


PATHS = ("/", "/api/tokenizers", "/static/main.js", "/nothing")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:1", "[::1]:8000", "LOCALHOST"])
def test_answers_have_a_strict_policy(client: TestClient, path: str, host: str) -> None:
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == (404 if path == "/nothing" else 200)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example:8000",
        "",
        "[]",
        "[::1",
        "[::1].evil.example",
        "[::1]evil.example:8000",
        "127.0.0.1:8000.evil.example",
        "127.0.0.1:8000:8000",
        "0.0.0.0",
    ],
)
def test_other_hosts_are_rejected(client: TestClient, path: str, host: str) -> None:
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 421
    assert "tokens" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    ],
)
def test_pages_of_other_origins_are_rejected(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post("/api/encode?tokenizers=0", content=b"hug", headers=headers)
    assert answer.status_code == 403


def test_a_link_on_another_page_may_lead_here(client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = client.get("/", headers={**headers, "sec-fetch-dest": "document"})
    assert answer.status_code == 200
    own = client.post("/api/encode?tokenizers=0", headers={"origin": "http://127.0.0.1:8000"})
    assert own.status_code == 200


def test_a_server_for_other_machines_needs_its_token() -> None:
    client = client_of(all_kinds(), hosts=None, token="right")
    for path in (*PATHS, "/?token=wrong", "/?token="):
        assert client.get(path).status_code == 401
    assert client.post("/?token=right").status_code == 401
    client.cookies.set("piecework_00000000", "right")
    assert client.get("/").status_code == 401
    answer = client.get("/?token=right", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    assert client.get("/", headers={"host": "workstation:8000"}).status_code == 200
    assert client_of(all_kinds(), hosts=None, token="right").get("/").status_code == 401
    with pytest.raises(
        ArgumentError, match="hosts: needs a token; pass the names of hosts, or a token"
    ):
        create_app(all_kinds(), hosts=None)


def test_files_outside_of_the_folder_are_not_served(client: TestClient) -> None:
    for path in ("/static/../page.py", "/static/%2e%2e/page.py", "/static//etc/passwd", "/static/"):
        assert client.get(path).status_code == 404


def test_the_page_refers_to_its_own_files_only() -> None:
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text
        )
        assert not re.search(r"<[^>]+\s(style|on\w+)=", text), path.name


def test_the_page_links_to_the_documentation_of_the_package(client: TestClient) -> None:
    found = re.search(r'^Documentation = "(.+)"$', PYPROJECT.read_text(), re.MULTILINE)
    assert found is not None
    links = re.findall(r'<a [^>]*href="([^"]+)"', client.get("/").text)
    assert links == [found[1]]
    assert re.findall(r'<a [^>]*href="([^"]+)"', static_page()) == links


# ---- start and end


@pytest.fixture
def model(tmp_path: Path) -> str:
    wordpiece().save(tmp_path / "tokenizer.json")
    return str(tmp_path / "tokenizer.json")


@pytest.fixture
def served(model: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running `piecework serve`, and its address."""
    (tmp_path / "broken.json").write_text("{}")
    command = [sys.executable, "-m", "piecework", "serve", model, str(tmp_path / "broken.json")]
    running = subprocess.Popen(
        [*command, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals if sys.platform != "win32" else None,
    )
    assert running.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:[0-9]+/", running.stdout.readline())
    assert found, running.communicate(timeout=300)
    yield running, found[0]
    running.kill()
    running.communicate()


@POSIX
def test_the_command_serves_until_ctrl_c(served: tuple[subprocess.Popen[str], str]) -> None:
    running, address = served
    described = httpx.get(f"{address}api/tokenizers").json()["tokenizers"]
    assert [one["name"] for one in described] == ["tokenizer.json", "broken.json"]
    assert "error" in described[1]
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=300)
    assert (running.returncode, err) == (130, "piecework: interrupted\n")


def unfinished(address: str, many: int) -> list[socket.socket]:
    """Return connections that have sent the first headers of a request, and send no more."""
    made = []
    for _ in range(many):
        made.append(socket.create_connection(("127.0.0.1", urlsplit(address).port or 0), 300))
        made[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    return made


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server closes a connection, or sends something."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_with_unfinished_headers_lock_nobody_out(
    served: tuple[subprocess.Popen[str], str],
) -> None:
    _, address = served
    slow = unfinished(address, 2 * limits.CONNECTIONS + 16)
    for _ in range(3):
        assert httpx.get(f"{address}api/tokenizers").status_code == 200
    assert is_closed(slow[0])
    for one in slow:
        one.close()


def test_a_connection_has_limited_time_for_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 1.5)
    with running(create_app(all_kinds())) as address, httpx.Client() as client:
        [slow] = unfinished(address, 1)
        assert is_closed(slow)
        # One that was answered can ask again, and has the same time for the next headers.
        assert client.get(address).status_code == client.get(address).status_code == 200
        [slow] = unfinished(address, 1)
        slow.sendall(b"\r\n")
        while b"</html>" not in slow.recv(65536):
            pass
        slow.sendall(b"GET / HTTP/1.1\r\n")
        assert is_closed(slow)


def test_an_answer_may_take_longer_than_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 1.5)

    class Slow(application.ServedTokenizer):
        def describe(self) -> dict[str, Any]:
            time.sleep(3)
            return super().describe()

    monkeypatch.setattr(application, "ServedTokenizer", Slow)
    with running(create_app({"slow": wordpiece()})) as address:
        assert httpx.get(f"{address}api/tokenizers").json()["tokenizers"][0]["name"] == "slow"


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Serve an application in a thread, as `serve` configures it; yield the address."""
    import uvicorn

    with server.listening_socket("127.0.0.1", 0) as listener:
        served = uvicorn.Server(server.configuration(app))
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]})
        thread.start()
        while not served.started:
            time.sleep(0.01)
        yield server.address(listener, "127.0.0.1")
        served.should_exit = True
        thread.join()


def test_a_port_in_use_is_replaced_by_the_next_one() -> None:
    with server.listening_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with server.listening_socket("127.0.0.1", port) as second:
            assert port < second.getsockname()[1] <= port + 20
            assert server.address(second, "127.0.0.1").startswith("http://127.0.0.1:")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_host_for_all_addresses_is_shown_as_one_that_can_be_opened(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.listening_socket("127.0.0.1", 0) as listener:
        shown = httpx.URL(server.address(listener, host, "secret"))
        assert not ipaddress.ip_address(shown.host).is_unspecified
        assert shown.params["token"] == "secret"

        class Offline(socket.socket):
            def connect(self, address: object) -> None:
                raise OSError("network is unreachable")

        monkeypatch.setattr(socket, "socket", Offline)
        alone = httpx.URL(server.address(listener, host))
        assert ipaddress.ip_address(alone.host).is_loopback


def test_no_free_port_and_no_such_host_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArgumentError, match="port: must be .*, not 70000"):
        server.listening_socket("127.0.0.1", 70000)
    with pytest.raises(
        ArgumentError,
        match=r"host: 192\.0\.2\.1 \(.*\) is not an address of this machine",
    ):
        server.listening_socket("192.0.2.1", 0)
    with pytest.raises(
        ArgumentError,
        match=(r"host: no\.such\.host\.invalid \(.*\) is not an address of this machine"),
    ):
        server.listening_socket("no.such.host.invalid", 0)
    monkeypatch.setattr(server, "_PORTS_TRIED", 1)
    with server.listening_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ArgumentError, match=f"the ports {port} to {port} are in use"):
            server.listening_socket("127.0.0.1", port)


def test_other_machines_get_an_address_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    addresses: list[str] = []
    server.serve(all_kinds(), host="0.0.0.0", port=0, ready=addresses.append)
    server.serve(all_kinds(), host="localhost", port=0, ready=addresses.append)
    assert re.fullmatch(r"http://(?!0\.0\.0\.0)[0-9.]+:[0-9]+/\?token=[\w-]{32}", addresses[0])
    assert re.fullmatch(r"http://localhost:[0-9]+/", addresses[1])


def test_the_command_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'starlette>=0.40' 'uvicorn>=0.30'"):
        create_app({"a": byte_bpe(), "b": unigram()})


def test_options_that_no_file_takes_are_an_error(cli: Any, model: str) -> None:
    code, _, err = cli("serve", model, "--encoding-name", "cl100k_base", "--port", "0")
    assert (code, err.startswith("piecework: ")) == (2, True)
    assert "self-contained" in err


def test_sockets_close_when_the_server_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    kept: list[socket.socket] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: kept.extend(sockets))
    server.serve(all_kinds(), port=0, ready=lambda address: None)
    assert kept[0].fileno() == -1


# ---- comparison


def test_a_comparison_is_answered_with_charts(client: TestClient) -> None:
    content = "hugs hug\n" * 10
    found = client.post("/api/compare?tokenizers=0,1", content=content).json()
    assert found["headline"].startswith("10 texts, 20 words")
    assert [one["name"] for one in found["tokenizers"]] == ["wordpiece", "bytes"]
    assert found["missing"] is None
    assert found["charts"][0]["spec"]["$schema"].startswith(
        "https://vega.github.io/schema/vega-lite"
    )
    script = client.get("/vega.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "vegaEmbed" in script.text


def test_a_comparison_of_few_words_has_no_charts(client: TestClient) -> None:
    found = client.post("/api/compare?tokenizers=0,1", content="hugs hug\nhugs").json()
    assert found["charts"] == []
    assert found["missing"] == "Charts are drawn for 20 words or more; this text has 3."
    assert [one["is_fewest"] for one in found["tokenizers"]] == [True, False]


def test_a_comparison_without_the_extra_says_which(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    found = client.post("/api/compare?tokenizers=0", content="hugs").json()
    assert "extra 'charts' of piecework" in found["missing"]
    assert (found["charts"], found["tokenizers"][0]["fertility"]) == ([], "1.000")
    chart_scripts.cache_clear()
    assert client.get("/vega.js").status_code == 404


def test_a_comparison_of_nothing_is_an_error(client: TestClient) -> None:
    for query, text, message in (
        ("0", "", "no texts"),
        ("0,3", "hug", "tokenizer: cannot be loaded: broken.json"),
        ("9", "hug", "an index from 0 to 3"),
        ("", "hug", "an index"),
    ):
        answer = client.post(f"/api/compare?tokenizers={query}", content=text)
        assert answer.status_code == 400
        assert message in answer.json()["error"]


def test_a_page_names_only_files_that_are_served(client: TestClient) -> None:
    html = client.get("/").text
    for path in re.findall(r'(?:href|src)="(/[^"]+)"', html):
        assert client.get(path).status_code == 200, path
    assert client.get("/page/charts.js").status_code == 200
