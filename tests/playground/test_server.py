"""The server of the playground: what it answers, what it rejects, and how it starts and ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

import piecework as pw
from piecework.cli.playground import create_app
from piecework.cli.playground.application import STATIC, TEXT_BYTES
from piecework.cli.playground.served_tokenizer import WORD_CHARS
from piecework.cli.playground.training_replay import (
    CORPUS_CHARS,
    LEARNERS,
    PRESETS,
    PRESETS_OF_LEARNERS,
    REMOVALS,
    STEPS,
)
from piecework.errors import ArgumentError, FormatError, MissingExtraError
from tests.playground.tokenizers import HOSTILE, all_kinds, byte_bpe, hostile, unigram, wordpiece
from tests.processes import heed_signals

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


# ---- the page and its tokenizers


def test_the_page_is_a_file_that_names_its_backend(client: TestClient) -> None:
    assert client.get("/").text == (STATIC / "page.html").read_text(encoding="utf-8")
    assert 'data-backend="server"' in client.get("/").text


def test_a_tokenizer_that_does_not_load_is_shown_with_its_error(client: TestClient) -> None:
    described = client.get("/api/tokenizers").json()["tokenizers"]
    assert [one.get("view") for one in described] == ["search", "merges", "lattice", None]
    assert described[3] == {"name": "broken.json", "error": str(BROKEN)}


def test_tokenizers_say_which_special_tokens_they_add(client: TestClient) -> None:
    described = client.get("/api/tokenizers").json()["tokenizers"]
    assert [one.get("added") for one in described] == [["[CLS]", "[SEP]"], [], [], None]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_tokens_are_data(text: str) -> None:
    client = client_of({text: hostile()})
    answer = client.get("/api/tokenizers")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["tokenizers"][0]["name"] == text


# ---- encoding


TEXTS = [
    "hugs, unhappy",
    "日本 hug 😀hug\r\n\thug",
    "",
    " ",
    "hug\ud800".encode(errors="replace").decode(),
]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_and_positions_are_those_of_encode(client: TestClient, text: str) -> None:
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
        found = client.post(f"/api/explain?tokenizers={tokenizer}", content=text.encode()).json()
        return dict(found["words"][0])

    search = first(0, "unhug")["search"]
    assert search["unknown_because"] == "no prefix of 'ug' at position 3 is an entry"
    merged = first(1, " hug")
    assert merged["word"] == " hug"
    assert [step["token"] for step in merged["merges"]] == ["ug", "hug", " hug"]
    assert first(2, "hugs")["lattice"]["best"] == ["▁hu", "gs"]


def test_samples_with_the_same_seed_are_equal(client: TestClient) -> None:
    def drawn(seed: int) -> Any:
        path = f"/api/segmentations?tokenizers=1&draw=sample&n=16&alpha=0.5&seed={seed}"
        return client.post(path, content=b"hug hug hug").json()

    assert drawn(1) == drawn(1) != drawn(2)
    best = client.post("/api/segmentations?tokenizers=2&n=3", content=b"hugs").json()
    assert best[0]["tokens"] == ["▁hu", "gs"]
    assert best[0]["score"] > best[1]["score"]


# ---- training


def test_training_returns_the_steps_of_the_published_example(client: TestClient) -> None:
    path = "/api/training?example=course&learner=wordpiece-pmi&vocab_size=70"
    trace = client.post(path).json()
    winner = trace["steps"][0]["winner"]
    assert (winner["left"], winner["right"], winner["score_fraction"]) == ("a", "##b", "1/5")
    assert len(trace["vocab"]) == 70


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if learner != "wordpiece-pmi"])
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
    assert len(trace["steps"]) == trace["step_count"] > STEPS
    entries = {seed for seed, _ in trace["seeds"]} | {*trace["alphabet"], *trace["special_tokens"]}
    for step in trace["steps"]:
        if step["put_back"]:
            entries.add(step["put_back"]["entry"])
        entries.remove(step["removed"]["entry"])
    assert entries == set(trace["vocab"])


def test_only_the_first_removals_of_a_long_run_are_replayed(client: TestClient) -> None:
    text = " ".join(f"{a}{b}{c}{a}{c}" for a in "abcdefg" for b in "hijklmn" for c in "opqr")
    path = "/api/training?learner=wordpiece-pruning&vocab_size=180"
    trace = client.post(path, content=text.encode()).json()
    assert trace["step_count"] > len(trace["steps"]) == REMOVALS


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
    [(learner, preset) for learner, presets in PRESETS_OF_LEARNERS.items() for preset in presets],
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
    "/api/training?example=course&learner=bpe&preset=magic": "preset",
    "/api/training?example=course&learner=magic": (
        "learner: must be one of wordpiece-pruning, wordpiece-pmi, wordpiece-likelihood, "
        "wordpiece-frequency, wordpiece-top-down, bpe, unigram, not 'magic'"
    ),
    "/api/training?learner=bpe": "corpus: has no words; give a text, or choose one of the examples",
    "/api/training?example=course&learner=bpe&vocab_size=99999": (
        "vocab_size: must be at most 2,000, not 99,999"
    ),
    "/api/training?example=course&learner=bpe&vocab_size=-1": "vocab_size: must be an integer",
    "/api/training?example=course&learner=bpe&vocab_size=many": "invalid literal for int()",
    "/api/training?example=course&learner=wordpiece-pmi&vocab_size=3": (
        "vocab_size: must be at least 45 (5 special tokens and an alphabet of 40), not 3"
    ),
    "/api/training?example=etc/passwd&learner=bpe": "example: must be one of course, hugs, not 'etc/passwd'",
    "/api/encode?tokenizers=7": "7",
    "/api/encode?tokenizers=3": "3",
    "/api/encode": "'tokenizers'",
    "/api/segmentations?tokenizers=1&n=0&draw=sample": "n: must be a number from 1 to 64, not 0",
    "/api/segmentations?tokenizers=2&alpha=nan&draw=sample": (
        "alpha: must be a finite number, at least 0, not nan"
    ),
    "/api/segmentations?tokenizers=2&alpha=x": "could not convert string to float: 'x'",
    "/api/segmentations?tokenizers=0": "draw: needs a Unigram model, or samples of a BPE model",
    "/api/magic?tokenizers=0": "there is no answer",
}


@pytest.mark.parametrize("path", BAD)
def test_a_wrong_request_is_an_error(client: TestClient, path: str) -> None:
    answer = client.post(path)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(BAD[path])


# ---- limits


def test_a_text_over_the_limit_is_rejected(client: TestClient) -> None:
    answer = client.post("/api/encode?tokenizers=0", content=b"a" * (TEXT_BYTES + 1))
    assert answer.status_code == 400
    assert answer.json()["error"] == "text: has more than 2,000,000 bytes"
    for path in ("explain?tokenizers=0", "segmentations?tokenizers=2"):
        answer = client.post(f"/api/{path}", content=b"a" * (WORD_CHARS + 1))
        assert answer.json()["error"] == "text: has 501 characters; the limit is 500"
    answer = client.post("/api/training?learner=bpe", content=b"a" * (CORPUS_CHARS + 1))
    assert answer.json()["error"] == "corpus: has 10,001 characters; the limit is 10,000"


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
    assert answer.status_code == 403
    assert "tokens" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
    ],
)
def test_pages_of_other_origins_are_rejected(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post("/api/encode?tokenizers=0", content=b"hug", headers=headers)
    assert answer.status_code == 403


def test_the_page_itself_and_links_to_it_are_answered(client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=headers).status_code == 200
    own = client.post("/api/encode?tokenizers=0", headers={"origin": "http://127.0.0.1:8000"})
    assert own.status_code == 200


def test_a_server_of_your_own_has_its_host() -> None:
    client = client_of(all_kinds(), hosts=["Tokenizers.example"])
    assert client.get("/", headers={"host": "tokenizers.example"}).status_code == 200
    assert client.get("/").status_code == 403


@pytest.mark.parametrize("tokenizers", [{}, None, [wordpiece()]])
def test_an_application_needs_tokenizers(tokenizers: Any) -> None:
    with pytest.raises(ArgumentError, match="tokenizers: must be a mapping of names"):
        create_app(tokenizers)


def test_files_outside_of_the_folder_are_not_served(client: TestClient) -> None:
    for path in (
        "/static/../application.py",
        "/static/%2e%2e/application.py",
        "/static//etc/passwd",
        "/static/",
    ):
        assert client.get(path).status_code == 404


def test_the_page_refers_to_its_own_files_only() -> None:
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        for name in ("Homepage", "Repository"):
            text = text.replace(f'"{address(name)}', "")
        assert "http:" not in text
        assert "https:" not in text
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text
        )
        assert not re.search(r"<[^>]+\s(style|on\w+)=", text), path.name


def test_the_page_links_to_the_documentation_of_the_package(client: TestClient) -> None:
    links = re.findall(r'<a [^>]*href="([^"]+)"', client.get("/").text)
    home = address("Homepage")
    assert links == [home, f"{home}how-to/playground.html", address("Repository")]


def address(name: str) -> str:
    found = re.search(rf'^{name} = "(.+)"$', PYPROJECT.read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


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
        preexec_fn=heed_signals,
    )
    assert running.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:[0-9]+/", running.stdout.readline())
    assert found, running.communicate(timeout=9)
    yield running, found[0]
    running.kill()
    running.communicate()


def test_the_command_serves_until_ctrl_c(served: tuple[subprocess.Popen[str], str]) -> None:
    running, address = served
    described = httpx.get(f"{address}api/tokenizers").json()["tokenizers"]
    assert [one["name"] for one in described] == ["tokenizer.json", "broken.json"]
    assert "error" in described[1]
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=20)
    assert (running.returncode, err) == (130, "piecework: interrupted\n")


def test_a_port_in_use_is_replaced_by_a_free_one(
    cli: Any, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import uvicorn

    kept: list[socket.socket] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: kept.extend(sockets))
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        code, out, _ = cli("serve", model, "--port", str(port))
    found = re.search(r"http://127\.0\.0\.1:([0-9]+)/", out)
    assert code == 0
    assert found is not None
    assert int(found[1]) not in (0, port)
    assert kept[0].fileno() == -1  # closed when the server ends


def test_the_command_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'starlette>=0.40' 'uvicorn>=0.30'"):
        create_app({"a": byte_bpe(), "b": unigram()})


def test_options_that_no_file_takes_are_an_error(cli: Any, model: str) -> None:
    code, _, err = cli("serve", model, "--encoding-name", "cl100k_base", "--port", "0")
    assert (code, err.startswith("piecework: ")) == (2, True)
    assert "self-contained" in err


# ---- comparison


def test_a_comparison_is_answered_with_charts(client: TestClient) -> None:
    content = "hugs hug\n" * 10
    found = client.post("/api/compare?tokenizers=0,1", content=content).json()
    assert found["headline"].startswith("10 texts, 20 words")
    assert [one["name"] for one in found["tokenizers"]] == ["wordpiece", "bytes"]
    assert found["missing"] is None
    name, attributes, children = found["charts"][0]["drawing"]
    assert (name, attributes["class"]) == ("svg", "chart wide")
    assert children


def test_a_comparison_of_few_words_has_no_charts(client: TestClient) -> None:
    found = client.post("/api/compare?tokenizers=0,1", content="hugs hug\nhugs").json()
    assert found["charts"] == []
    assert found["missing"] == "Charts are drawn for 20 words or more; this text has 3."
    assert [one["is_fewest"] for one in found["tokenizers"]] == [True, False]


def test_a_comparison_of_nothing_is_an_error(client: TestClient) -> None:
    for query, text, message in (
        ("0", "", "no texts"),
        ("0,3", "hug", "3"),
        ("9", "hug", "9"),
    ):
        answer = client.post(f"/api/compare?tokenizers={query}", content=text)
        assert answer.status_code == 400
        assert message in answer.json()["error"]


def test_a_page_names_only_files_that_are_served(client: TestClient) -> None:
    html = client.get("/").text
    for path in re.findall(r'(?:href|src)="(/[^"]+)"', html):
        assert client.get(path).status_code == 200, path
    assert client.get("/page/charts.js").status_code == 200
