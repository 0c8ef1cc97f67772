"""The scripts of the static page in Chromium, over a stand-in for the WebAssembly module.

`test_static_page.py` has what needs the module itself.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tools import playground_page

from piecework.cli.playground.training_replay import training_replay
from tests.browser.conftest import serving_folder
from tests.browser.test_playground import PHONE, broken_rules
from tests.playground.tokenizers import wordpiece

Open = Callable[..., Any]

SMALL_PHONE = {**PHONE, "viewport": {"width": 390, "height": 664}}
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    module = tmp_path_factory.mktemp("module")
    for name in playground_page.MODULE_FILES:
        (module / name).touch()
    shutil.copy(Path(__file__).parent / "stub_core.js", module / "piecework.js")
    folder = tmp_path_factory.mktemp("site") / "page"
    data = tmp_path_factory.mktemp("data")
    for source, _ in playground_page.PUBLISHED.values():
        (data / source).parent.mkdir(parents=True)
        packed = gzip.compress(b"{}") if source.endswith(".gz") else b"{}"
        (data / source).write_bytes(packed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(playground_page, "EXAMPLE_SIZE", 300)
        playground_page.write_page(module, folder, data)
    yield from serving_folder(folder)


@pytest.fixture
def page(address: str, opened: Open) -> Any:
    found = opened(address)
    found.wait_for_selector("#stream-2 .t")
    return found


def open_files(page: Any, *files: tuple[str, bytes]) -> None:
    given = [{"name": name, "mimeType": "", "buffer": data} for name, data in files]
    page.set_input_files("#file", given)


def test_a_view_that_needs_python_is_not_shown(page: Any, address: str, opened: Open) -> None:
    expect(page.get_by_role("tab")).to_have_text(["Encode", "Training"])
    page.get_by_role("tab", name="Encode").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Training")).to_be_focused()
    linked = opened(f"{address}#view=compare&text=hug")
    expect(linked.locator("#stream-0 .t")).to_have_text(["hug"])
    expect(linked.locator("#encode")).to_be_visible()


def test_each_file_that_does_not_load_has_its_line_and_nothing_else(page: Any) -> None:
    mine = ("mine.json", wordpiece().to_str().encode())
    open_files(page, ("one.txt", b"no json"), mine, ("photo.jpg", JPEG))
    lines = page.locator("#files [role=alert] p")
    expect(lines).to_have_text(
        [
            "photo.jpg is a JPEG image, not a tokenizer.",
            "one.txt: found other data, expected a tokenizer file",
        ]
    )
    # The page may still scroll: both places in one look.
    boxes = "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
    first, second = lines.evaluate_all(boxes)
    assert second["top"] >= first["bottom"]
    names = ["WordPiece example", "BPE example", "Unigram example", "mine.json"]
    expect(page.locator("#streams h2")).to_have_text(names)
    expect(page.get_by_role("group", name="Tokenizers").get_by_role("checkbox")).to_have_count(4)
    page.get_by_label("Close mine.json").click()
    expect(lines).to_have_count(0)
    expect(page.locator("#streams h2")).to_have_text(names[:3])


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("cat.png", b"\x89PNG\r\n\x1a\n", "a PNG image"),
        ("cat.pdf", b"%PDF-1.7\n", "a PDF document"),
        ("cat.zip", b"PK\x03\x04", "a zip archive"),
    ],
)
def test_what_is_no_tokenizer_is_named(page: Any, name: str, data: bytes, kind: str) -> None:
    open_files(page, (name, data))
    expect(page.locator("#files [role=alert] p")).to_have_text(
        f"{name} is {kind}, not a tokenizer."
    )
    expect(page.locator("#streams h2")).to_have_count(3)


def test_published_tokenizers_are_opened_at_a_click(page: Any) -> None:
    for name in playground_page.PUBLISHED:
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator("#streams h2").last).to_have_text(name)
    notices = page.get_by_role("link", name="licenses").get_attribute("href")
    text = page.request.get(f"{page.url.split('#')[0]}{notices}").text()
    assert all(name in text for name in playground_page.PUBLISHED)


def test_a_published_tokenizer_that_cannot_be_reached_has_a_sentence(
    page: Any, opened: Open
) -> None:
    page.route("**/gpt2.json", lambda route: route.abort())
    page.get_by_role("button", name="gpt2").click()
    expect(page.locator("#files [role=alert] p")).to_have_text(
        "gpt2 cannot be loaded from the address of this page: Failed to fetch."
    )
    expect(page.locator("#streams h2")).to_have_count(3)
    opened.faults.clear()  # type: ignore[attr-defined]  # the browser says what it did not load


def test_without_test_data_no_published_tokenizers_are_offered(tmp_path: Path) -> None:
    assert playground_page.copy_vocabularies(tmp_path, tmp_path) == []


def test_a_file_that_does_not_load_leaves_the_view_as_it_is(page: Any) -> None:
    page.get_by_role("tab", name="Training").click()
    open_files(page, ("photo.jpg", JPEG))
    expect(page.locator("#files [role=alert]")).to_contain_text("a JPEG image")
    expect(page.locator("#training")).to_be_visible()


def test_every_learner_is_offered_the_default_first(page: Any) -> None:
    page.get_by_role("tab", name="Training").click()
    offered = page.get_by_label("Learner").locator("option").all_text_contents()
    assert offered == [
        "WordPiece, pruning",
        "WordPiece, pair score",
        "WordPiece, likelihood",
        "WordPiece, frequency",
        "WordPiece, top-down",
        "BPE",
        "Unigram",
    ]


TRAIN_IN = """async ([address, trace, size, text]) => {
    const { loadPageData, trainIn } = await import(`${address}static/worker_training.js`);
    const client = { call: async () => trace };
    const settings = { example: '', learner: 'unigram', preset: '', vocab_size: size, word: '' };
    return (await trainIn(client, await loadPageData(), settings, text)).note;
}"""


@pytest.mark.parametrize("size", [12, 20, 21, 22, 23, 100, 1_000])
def test_nothing_to_prune_is_said_as_in_the_package(page: Any, address: str, size: int) -> None:
    text = "low low lower newest newest wide"
    trace = training_replay("", text, "unigram", size)
    note = trace.pop("note")
    assert (note is None) == (size < 22)
    assert page.evaluate(TRAIN_IN, [address, trace, size, text]) == note


def test_on_a_phone_the_first_tokens_are_on_the_first_screen(address: str, opened: Open) -> None:
    page = opened(address, **SMALL_PHONE)
    expect(page.locator("#stream-0 .t").first).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_text("nothing is sent anywhere")).to_be_in_viewport(ratio=1)


def test_on_a_phone_files_and_examples_come_first(address: str, opened: Open) -> None:
    page = opened(address, **SMALL_PHONE)
    top = page.locator("#text").bounding_box()["y"]
    for name in ("Open tokenizer files", *playground_page.PUBLISHED):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=1)
        box = button.bounding_box()
        assert box["y"] + box["height"] < top


def test_on_a_phone_details_outlive_the_panel_that_is_closed(address: str, opened: Open) -> None:
    page = opened(address, **SMALL_PHONE)
    page.locator("#stream-0 .t").first.tap()
    expect(page.locator(".panel").first.locator("#details")).to_be_visible()
    page.get_by_label("Close WordPiece example").tap()
    expect(page.locator("#streams .panel")).to_have_count(2)
    expect(page.locator("#workspace > #details")).to_contain_text("A token")
    page.locator("#stream-0 .t").first.tap()
    expect(page.locator(".panel").first.locator("#details")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules_hold(address: str, opened: Open, scheme: str) -> None:
    page = opened(address, color_scheme=scheme, bypass_csp=True, **PHONE)
    page.wait_for_selector("#stream-2 .t")
    open_files(page, ("photo.jpg", JPEG))
    expect(page.locator("#files [role=alert]")).to_contain_text("photo.jpg")
    assert broken_rules(page) == []
