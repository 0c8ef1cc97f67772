"""The static page in Chromium: files, encoding, training, errors, keyboard, small screens."""

from __future__ import annotations

import json
import platform
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import piecework as pw
from tests.browser.conftest import QuietHandler, serving_folder
from tests.browser.test_playground import PASTE, SHOWN, broken_rules, tokens_of, wait_until_shown
from tests.playground.tokenizers import HOSTILE, byte_bpe, hostile, wordpiece

PAGE = Path(__file__).parent.parent.parent / "build" / "playground"
pytestmark = pytest.mark.skipif(
    not (PAGE / "index.html").is_file(), reason="make playground-page has not written the page"
)

Open = Callable[..., Any]


class Handler(QuietHandler):
    """Serves the folder as a site would, not at the root."""

    prefix = "/some/where"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    yield from serving_folder(PAGE, Handler)


@pytest.fixture
def page(address: str, opened: Open) -> Any:
    """The page, ready to encode; every request must be for one of its own files."""
    found = opened(address)
    found.wait_for_selector("#stream-0 .t")
    yield found
    requested = found.evaluate(
        "() => performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert requested
    assert [name for name in requested if not name.startswith((address, "blob:"))] == []


def file(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def open_files(page: Any, *files: dict[str, Any]) -> None:
    page.set_input_files("#file", list(files))


def type_text(page: Any, text: str, first: str) -> None:
    """Type a text and wait until the first stream begins with a token."""
    page.fill("#text", text)
    expect(page.locator("#stream-0 .t").first).to_have_text(first)


def close_examples(page: Any) -> None:
    for name in ("WordPiece example", "BPE example", "Unigram example"):
        page.get_by_label(f"Close {name}").click()


def test_a_file_is_opened_and_encodes_as_the_package(page: Any) -> None:
    close_examples(page)
    open_files(page, file("mine.json", wordpiece().to_str().encode()))
    type_text(page, "hugs, unhappy 日本 café", "hugs")
    assert tokens_of(page, 0) == "hugs , un hap py 日本 café".split()
    expect(page.locator("#streams h2")).to_have_text(["mine.json"])
    page.get_by_label("special tokens ([CLS] [SEP])").check()
    expect(page.locator("#stream-0 .t").first).to_have_text("[CLS]")


def test_several_files_are_compared(page: Any) -> None:
    close_examples(page)
    data = byte_bpe().to_str().encode()
    open_files(page, file("a.json", wordpiece().to_str().encode()), file("b.json", data))
    type_text(page, "hugs hug", "hugs")
    shown = page.evaluate(SHOWN)
    own = [[token for token, is_own in one["tokens"] if is_own] for one in shown]
    assert own == [["hugs", "hug"], ["hug", "s", " hug"]]


def test_a_dropped_file_is_opened(page: Any) -> None:
    text = wordpiece().to_str()
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], 'dropped.json'));
            for (const type of ['dragover', 'drop']) {
                const event = new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
                document.body.dispatchEvent(event);
            }
        }""",
        text,
    )
    expect(page.locator("#streams h2").last).to_have_text("dropped.json")


def test_a_vocabulary_comes_with_its_merges(page: Any) -> None:
    close_examples(page)
    model = byte_bpe().spec.model
    assert isinstance(model, pw.spec.BPE)
    merges = "\n".join(["#version: 0.2", *map(" ".join, model.merges)])
    open_files(
        page,
        file("merges.txt", merges.encode()),
        file("vocab.json", json.dumps(model.vocab).encode()),
    )
    type_text(page, "hug hug", "hug")
    assert tokens_of(page, 0) == ["hug", " hug"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("broken.json", b'{"model": {"type": "BPE", "vocab"', "broken.json: "),
        ("vocab.json", b'{"a": 0}', "which needs its merges.txt"),
        ("x.tiktoken", b"IQ== 0\n", "which needs a pattern and special tokens"),
    ],
)
def test_a_file_that_does_not_load_says_why(
    page: Any, name: str, data: bytes, message: str
) -> None:
    open_files(page, file(name, data))
    expect(page.locator("#files [role=alert] p")).to_contain_text(message)
    expect(page.locator("#streams .panel")).to_have_count(3)
    page.fill("#text", "still alive")
    expect(page.locator("#stream-0 .t").first).to_have_text("still")


def test_a_large_file_is_refused_before_it_is_read(page: Any) -> None:
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            const file = new File(['x'], 'model.gguf');
            Object.defineProperty(file, 'size', { value: 200 * 2 ** 20 });
            data.items.add(file);
            const drop = new DragEvent('drop', { bubbles: true, cancelable: true });
            const given = { files: [file], types: ['Files'] };
            Object.defineProperty(drop, 'dataTransfer', { value: given });
            document.body.dispatchEvent(drop);
        }"""
    )
    found = "model.gguf has 209,715,200 bytes; the limit of this page is 67,108,864"
    expect(page.locator("#files [role=alert] p")).to_contain_text(found)


def test_a_text_of_20_mb_is_refused_at_once(page: Any) -> None:
    page.evaluate(f"() => ({PASTE})('all work and no play '.repeat(1_000_000))")
    expect(page.locator("#failure")).to_contain_text(
        "21,000,000 characters; this page takes at most 4,000,000"
    )
    type_text(page, "hello", "hello")


def test_work_can_be_cancelled_and_the_page_goes_on(page: Any) -> None:
    page.evaluate(f"() => ({PASTE})('The quick brown fox 日本語 '.repeat(160_000))")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#failure")).to_contain_text("Cancelled.")
    page.fill("#text", "hello")
    expect(page.locator("#failure")).to_be_empty()
    assert "".join(tokens_of(page, 1)) == "hello"


def test_words_are_explained_by_every_kind_of_model(page: Any) -> None:
    page.fill("#text", "tokenization")
    for stream in range(3):
        page.locator(f"#stream-{stream} .t").first.click()
        expect(page.locator("#details .word .diagram")).to_be_visible()
    expect(page.get_by_text("Other segmentations")).to_be_attached()


def test_a_text_is_learned_stepped_through_and_used(page: Any) -> None:
    page.get_by_role("tab", name="Training").click()
    page.get_by_label("Corpus").select_option("")
    page.get_by_label("Learner").select_option("bpe")
    page.get_by_label("Your text").fill("low low low lower lowest newest newest")
    page.get_by_label("Vocabulary").fill("18")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#training .steps output")).to_have_text("before step 1 of 9")
    page.get_by_role("button", name="Next step").click()
    expect(page.locator("#training .chip.new").first).to_have_text("lo")
    page.get_by_role("button", name="Encode with it").click()
    expect(page.locator("#streams .panel header").last).to_have_text(
        "✕Trained BPEBPE, 18 tokens", use_inner_text=False
    )
    page.fill("#text", "lowest")
    expect(page.locator("#stream-3 .t").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("tab", name="Training").click()
        page.get_by_role("button", name="Download tokenizer.json").click()
    assert pw.Tokenizer.load(download.value.path()).get_vocab_size() == 18


def test_each_training_that_is_used_has_a_name(page: Any) -> None:
    for name in ("Trained WordPiece, pair score", "Trained WordPiece, pair score (2)"):
        page.get_by_role("tab", name="Training").click()
        page.get_by_role("button", name="Encode with it").click()
        expect(page.locator("#streams h2").last).to_have_text(name)


def test_the_first_text_shows_well_on_each_example(page: Any) -> None:
    for stream in range(3):
        tokens = page.locator(f"#stream-{stream} .t")
        assert 40 < tokens.count() < 80
        assert page.locator(f"#stream-{stream} .unknown").count() <= 3
        assert page.locator(f"#stream-{stream} .ghost").count() <= 5


def test_the_published_example_has_its_first_merge(page: Any) -> None:
    page.get_by_role("tab", name="Training").click()
    expect(page.locator("#training h2", has_text="Next:")).to_have_text("Next: a + ##b")
    page.get_by_label("Learner").select_option("unigram")
    expect(page.locator("#training h2", has_text="seeds")).to_be_visible()


def test_opened_as_a_file_it_says_that_it_needs_a_server(opened: Open) -> None:
    page = opened((PAGE / "index.html").as_uri())
    expect(page.locator(".without-script")).to_contain_text("python -m http.server")
    opened.faults.clear()  # type: ignore[attr-defined]  # the browser says what it did not load


FLAGS = """async ([address, columns]) => {
    const { WorkerClient } = await import(`${address}static/worker_client.js`);
    return (await new WorkerClient().call('flagOnlyHere', columns)).map((flags) => [...flags]);
}"""
TEMPLATE = 4


def test_the_tokens_of_one_tokenizer_alone_are_flagged(page: Any, address: str) -> None:
    draw = random.Random(57)
    for number in (1, 2, 3, 3, 3, 3):
        columns = []
        for _ in range(number):
            spans = [(at, at + draw.randrange(3)) for at in draw.choices(range(6), k=8)]
            spans = draw.choice([spans, sorted(spans)])
            flags = [draw.choice([0, 0, 2, TEMPLATE]) for _ in spans]
            starts, ends = zip(*spans, strict=True)
            columns.append({"starts": starts, "ends": ends, "flags": flags})
        assert page.evaluate(FLAGS, [address, columns]) == flagged(columns)


def flagged(columns: list[dict[str, Any]]) -> list[list[int]]:
    """Return the flags of each tokenizer, with 1 for spans that no other has."""

    def spans(one: dict[str, Any]) -> list[tuple[int, int] | None]:
        rows = zip(one["starts"], one["ends"], one["flags"], strict=True)
        return [None if flag & TEMPLATE else (start, end) for start, end, flag in rows]

    found = []
    for one in columns:
        others = {span for other in columns if other is not one for span in spans(other)}
        rows = zip(spans(one), one["flags"], strict=True)
        is_alone = len(columns) > 1
        found.append(
            [flag | (is_alone and bool(span) and span not in others) for span, flag in rows]
        )
    return found


# A function of type [] -> [v128].
KNOWS_SIMD = """() => WebAssembly.validate(new Uint8Array(
    [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123,
     3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]
))"""


def test_a_browser_without_simd_shows_tokens(launched: Open, address: str) -> None:
    running = launched("--js-flags=--no-enable-sse4-1")
    page = running.new_page()
    page.goto(address)
    expect(page.locator("#stream-2 .t").first).to_be_visible()
    assert platform.machine() != "x86_64" or page.evaluate(KNOWS_SIMD) is False
    running.close()


def test_a_browser_without_webassembly_has_a_sentence(launched: Open, address: str) -> None:
    running = launched("--js-flags=--jitless")
    page = running.new_page()
    page.goto(address)
    sentence = "This browser has no WebAssembly, which this page needs."
    expect(page.locator("#status")).to_have_text(sentence)
    expect(page.locator(".without-script")).to_be_hidden()
    running.close()


COUNTS = "() => [...document.querySelectorAll('.counts')].map((counts) => counts.textContent)"
# Edit the text; when the page says that it counts, mark what it shows.
EDIT = """([at, text]) => {
    const counts = document.querySelector('.counts');
    window.counting = 0;
    new MutationObserver((_, observer) => {
        if (!counts.textContent.includes('counting …')) return;
        observer.disconnect();
        window.counting++;
        for (const block of document.querySelectorAll('.block')) block.isEarly = true;
    }).observe(counts, { childList: true, subtree: true });
    const field = document.getElementById('text');
    field.setRangeText(text, at, at + 2);
    field.dispatchEvent(new Event('input'));
    return field.value;
}"""
LATER = "() => [...document.querySelectorAll('.block')].filter((block) => !block.isEarly).length"


def test_an_edited_large_text_has_tokens_before_it_is_counted(page: Any) -> None:
    line = "The tokenization of Zürich’s naïve cafés, unhappily: 日本語 3.14159 👩‍🚀\n"
    page.get_by_label("special tokens").check()
    page.evaluate(PASTE, line * 2_000)
    wait_until_shown(page)
    size = len((line * 2_000).encode("utf-16-le")) // 2
    for place, edit in ((0, "q"), (size - 2, ""), (size // 2, "unhappy hugs "), (size // 3, " \n")):
        text = page.evaluate(EDIT, [place, edit])
        wait_until_shown(page)
        assert page.evaluate("counting") == 1
        assert page.evaluate(LATER) == 0, "the tokens of the whole text are others"
        counts = page.evaluate(COUNTS)
        page.fill("#text", "")
        page.evaluate(PASTE, text)
        wait_until_shown(page)
        assert page.evaluate(COUNTS) == counts


def test_a_panic_is_reported_and_the_worker_replaced(address: str, opened: Open) -> None:
    page = opened(address)
    page.wait_for_selector("#stream-0 .t")
    message = page.evaluate(
        """async (address) => {
            const { WorkerClient } = await import(`${address}static/worker_client.js`);
            const { files } = await import(`${address}static/requests.js`);
            const client = new WorkerClient();
            const first = client.call('version');
            client.answered({ panic: 'a test' });
            const error = await first.catch((error) => error.message);
            return [error, await client.call('version').catch((error) => error.message)];
        }""",
        address,
    )
    assert message[0].startswith("piecework stopped: a test")
    assert "report" in message[0]


def test_hostile_tokens_and_names_do_not_become_markup(page: Any) -> None:
    close_examples(page)
    open_files(page, file(HOSTILE[1].replace("/", ""), hostile().to_str().encode()))
    page.fill("#text", " ".join(HOSTILE))
    expect(page.locator("#stream-0 .t").first).to_have_text(HOSTILE[0])
    assert page.evaluate("() => window.hacked") is None


def test_the_keyboard_reaches_everything(page: Any) -> None:
    page.locator("#files button").first.focus()
    page.keyboard.press("Tab")
    labels = []
    for _ in range(18):
        labels.append(
            page.evaluate("() => document.activeElement.ariaLabel ?? document.activeElement.id")
        )
        page.keyboard.press("Tab")
    assert {"Close WordPiece example", "Close Unigram example", "text"} <= set(labels)


def test_a_small_screen_needs_no_sideways_scrolling(address: str, opened: Open) -> None:
    page = opened(address, viewport={"width": 390, "height": 844})
    page.wait_for_selector("#stream-0 .t")
    for tab in ("Encode", "Training"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(300)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390, tab


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules_hold(address: str, opened: Open, scheme: str) -> None:
    # The rules are put into the page as a script, which its policy forbids.
    page = opened(address, color_scheme=scheme, bypass_csp=True)
    page.wait_for_selector("#stream-2 .t")
    open_files(page, file("broken.json", b"{"))
    expect(page.locator("#files [role=alert]")).to_contain_text("broken.json")
    for tab in ("Encode", "Training"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(500)
        assert broken_rules(page) == [], tab


def test_a_page_of_text_has_steppers(page: Any, address: str) -> None:
    steps = page.evaluate(
        """async (address) => {
            const root = document.createElement('div');
            Object.assign(root.dataset, { stepper: 'bpe', size: '20', step: '2' });
            root.textContent = 'low low lower lowest newest newest';
            document.body.prepend(root);
            await import(`${address}static/stepper.js`);
        }""",
        address,
    )
    assert steps is None
    stepper = page.locator("[data-stepper]")
    expect(stepper.locator("output")).to_have_text("step 2 of 10")
    stepper.get_by_label("Next step").click()
    expect(stepper.locator("output")).to_have_text("step 3 of 10")
    stepper.get_by_label("Text to learn from").fill("")
    expect(stepper.locator(".error")).to_contain_text("corpus: has no words")
