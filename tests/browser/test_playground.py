"""The playground in a real browser: typing, comparing, drawings, training, hostile texts, accessibility."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.waiting import wait_until
from tests.playground.tokenizers import HOSTILE

Open = Callable[..., Any]

TEXT = "hugs, unhappy hug\n日本 café hugs"
SHOWN = """() => [...document.querySelectorAll('.stream')].map((stream) => ({
    text: [...stream.querySelectorAll('.block')].map((block) => block.textContent).join(''),
    tokens: [...stream.querySelectorAll('.t')].map((t) => [t.textContent, t.classList.contains('own')]),
}))"""


PASTE = """(text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    const field = document.getElementById('text');
    field.select();
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, cancelable: true }));
}"""


def type_text(page: Any, text: str) -> None:
    """Put a text in place of the one in the field, and wait for its tokens.

    The page has shown its first text before: it would come between the selection of the old text and the new.
    """
    wait_until_shown(page)
    page.fill("#text", text)
    wait_until_shown(page)


def wait_until_shown(page: Any) -> None:
    """Wait until all answers have arrived and are shown."""
    page.wait_for_selector("html.scripted")
    page.wait_for_load_state("networkidle")
    page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 150))")
    expect(page.locator("#streams[aria-busy]")).to_have_count(0)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def tokens_of(page: Any, stream: int) -> list[str]:
    found: list[str] = page.locator(f"#stream-{stream} .t").all_text_contents()
    return found


# ---- encoding


def test_typed_text_is_shown_as_tokens_of_each_tokenizer(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, TEXT)
    assert tokens_of(page, 0) == "hugs , un hap py hug 日本 café hugs".split()
    assert tokens_of(page, 1)[:4] == ["hug", "s", ",", " "]
    assert tokens_of(page, 2)[:2] == ["hu", "gs"]
    counts = page.locator(".panel").first.locator(".counts dd").all_text_contents()
    assert counts[0] == "9"
    page.locator("#text").press_sequentially(" hugs")
    wait_until_shown(page)
    assert tokens_of(page, 0)[-2:] == ["hugs", "hugs"]


def test_what_is_typed_before_the_tokenizers_are_there_stays(site: str, opened: Open) -> None:
    page = opened(f"{site}#text=unhappy")
    held: list[Any] = []
    page.route("**/api/tokenizers", lambda route: held.append(route))
    with page.expect_request("**/api/tokenizers"):
        page.reload()
    page.fill("#text", TEXT)
    assert page.locator("#stream-0").count() == 0
    held.pop().continue_()
    wait_until_shown(page)
    assert page.input_value("#text") == TEXT
    assert tokens_of(page, 0) == "hugs , un hap py hug 日本 café hugs".split()


def test_a_token_shows_its_id_span_and_bytes(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, TEXT)
    page.locator("#stream-0 .t", has_text="café").hover()
    facts = page.locator(".facts").inner_text()
    assert "token 8" in facts
    assert "21 to 25" in facts
    assert "63 61 66 c3 a9" in facts
    page.locator("#stream-1 .t", has_text="·97").hover()
    assert "a part of a character" in page.locator(".facts").inner_text()
    assert page.locator("#stream-0 .t.echo").all_text_contents() == ["日本"]


def test_tokens_show_the_normalized_text(normalizing_site: str, opened: Open) -> None:
    page = opened(normalizing_site)
    type_text(page, "The cafés is of Zürich")
    assert tokens_of(page, 0) == ["the", "cafe", "s", "is", "of", "zur", "ich"]
    assert page.locator("#stream-0 .changed").all_text_contents() == ["the", "cafe", "zur"]
    expect(page.locator("#stream-0 .changed").last).to_have_attribute("title", "Zür in the text")
    page.locator("#stream-0 .changed").last.hover()
    assert "in the text\nZür" in page.locator(".facts").inner_text()
    assert page.locator("#stream-1 .changed").count() == 0
    assert "".join(tokens_of(page, 1)).startswith("The caf")


def test_a_panel_names_the_words_that_normalization_changes(
    normalizing_site: str, opened: Open
) -> None:
    page = opened(normalizing_site)
    type_text(page, "The cafés is of Zürich The 日本")
    said = page.locator(".panel .normalized")
    changed = "3 of 6 distinct words change: The → the, cafés → cafes, Zürich → zurich"
    expect(said.nth(0)).to_have_text(f"Normalized: {changed}")
    expect(said.nth(1)).to_be_empty()
    facts = page.locator(".panel").nth(0).locator(".counts")
    assert facts.locator("dt").all_text_contents()[:3] == ["tokens", "unknown", "changes"]
    assert facts.locator("dd").all_text_contents()[:3] == ["10", "2", "case and accents"]
    expect(page.locator(".meter.lossy")).to_have_count(2)
    type_text(page, "is of the")
    expect(said.nth(0)).to_be_empty()
    expect(page.locator(".panel").nth(0).locator(".meter.lossy")).to_have_count(0)


def test_compatibility_characters_and_dropped_ones_are_changes(
    normalizing_site: str, opened: Open
) -> None:
    page = opened(normalizing_site)
    type_text(page, "the ﬁ ﬁ of\x00 \x00")
    said = page.locator(".panel .normalized")
    expect(said.nth(0)).to_contain_text("of␀ → of, ␀ → nothing")
    expect(said.nth(2)).to_contain_text("1 of 4 distinct words change: ﬁ → fi")
    assert tokens_of(page, 2)[:2] == ["the fi", " "]
    expect(page.locator(".panel").nth(2).locator(".counts")).to_contain_text("changescharacters")


def test_rings_are_off_until_they_are_asked_for(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "hugs hug")
    own = page.locator("#stream-0 .own").first
    shadow = "(one) => getComputedStyle(one).boxShadow"
    assert own.evaluate(shadow) == "none"
    rings = page.get_by_label("ring tokens that no other tokenizer here has")
    expect(rings).not_to_be_checked()
    assert "one token of any other tokenizer" in (
        rings.locator("xpath=..").get_attribute("title") or ""
    )
    rings.check()
    assert own.evaluate(shadow) != "none"
    expect(page).to_have_url(re.compile("rings=1"))
    again = opened(page.url)
    wait_until_shown(again)
    expect(again.get_by_label("ring tokens")).to_be_checked()


def test_rings_mark_tokens_that_no_other_tokenizer_has(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "hugs hug")
    assert page.locator("#stream-0 .own").all_text_contents() == ["hugs", "hug"]
    page.get_by_label("unigram").first.uncheck()
    page.get_by_label("bytes").first.uncheck()
    wait_until_shown(page)
    assert page.locator("#stream-0 .own").count() == 0
    assert page.locator(".panel:visible").count() == 1


def test_special_tokens_are_shown_on_request(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "hug")
    page.get_by_label("special tokens").check()
    wait_until_shown(page)
    assert tokens_of(page, 0) == ["[CLS]", "hug", "[SEP]"]


def test_the_switch_for_special_tokens_names_them(
    site: str, hostile_site: str, opened: Open
) -> None:
    page = opened(site)
    expect(page.get_by_label("special tokens ([CLS] [SEP])")).to_be_visible()
    # None of these tokenizers adds any.
    assert opened(hostile_site).get_by_label("special tokens").is_hidden()


def test_tab_leads_from_the_text_past_the_options_to_the_tokens(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, TEXT)
    page.focus("#text")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to the tokens")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#stream-0")).to_be_focused()
    page.get_by_label("wordpiece").first.uncheck()
    page.focus(".skip")
    page.keyboard.press("Enter")
    expect(page.locator("#stream-1")).to_be_focused()


OUTSIDE = """() => [...document.querySelectorAll('.stream .t')].flatMap((token) => {
    const block = token.parentNode.getBoundingClientRect();
    return [...token.getClientRects()].filter(({ left, right }) =>
        left < block.left - 0.5 || right > block.right + 0.5).map(() => token.textContent);
})"""


def test_spaces_at_the_ends_of_lines_are_inside_of_their_panel(site: str, opened: Open) -> None:
    page = opened(site)
    text = "".join(" " + "hug" * (1 + i % 7) for i in range(800))
    type_text(page, text)
    wait_until(page, "() => document.querySelectorAll('#stream-1 .t').length > 800")
    assert page.evaluate(OUTSIDE) == []


def test_the_details_of_a_token_end_when_its_text_changes(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, TEXT)
    page.locator("#stream-0 .t").first.click()
    expect(page.locator(".word h3").first).to_be_visible()
    page.get_by_label("special tokens").check()
    wait_until_shown(page)
    expect(page.locator(".word h3").first).to_be_visible()
    type_text(page, TEXT[1:])
    expect(page.locator(".word h3")).to_have_count(0)


def test_keys_move_between_tokens_and_tokenizers(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, TEXT)
    page.focus("#stream-0")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#stream-0 [aria-selected=true]")).to_have_text("hap")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#stream-1 [aria-selected=true]")).to_have_text("h")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(".word h3").first).to_have_text("How unhappy is split")
    page.keyboard.press("End")
    expect(page.locator("#stream-0 [aria-selected=true]")).to_have_text("hugs")
    page.keyboard.press("Escape")
    expect(page.locator(".word h3")).to_have_count(0)
    expect(page.locator("#text")).to_be_focused()


def test_edits_show_the_same_as_a_new_page(site: str, opened: Open) -> None:
    draw = random.Random(25)
    parts = ["hug", "hugs ", "\n", "日本", "😀", "un", "\n\n", " ", "happy", "z"]
    page, fresh = opened(site), opened(site)
    text = "".join(draw.choices(parts, k=160))
    for _ in range(25):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.randrange(12))
        text = text[:start] + "".join(draw.choices(parts, k=draw.randrange(4))) + text[end:]
        type_text(page, text)
        fresh.goto(f"{site}#text=")
        fresh.reload()
        type_text(fresh, text)
        assert page.evaluate(SHOWN) == fresh.evaluate(SHOWN), repr(text)


def test_an_edit_of_a_large_text_replaces_only_the_blocks_it_touches(
    site: str, opened: Open
) -> None:
    page = opened(site)
    wait_until_shown(page)
    page.evaluate(PASTE, "hugs, unhappy hug, café and more of it\n" * 25_000)
    # On a busy machine the field alone takes seconds for its lines.
    expect(page.locator("#stream-2 .block").nth(400)).to_be_attached(timeout=30_000)
    wait_until_shown(page)
    page.evaluate("document.querySelectorAll('.block').forEach((block) => (block.isOld = true))")
    before = page.evaluate("document.querySelectorAll('.block').length")
    page.evaluate("document.getElementById('text').setSelectionRange(4, 4)")
    page.locator("#text").press_sequentially("z")
    expect(page.locator("#stream-0 .t").first).to_have_text("hugsz")
    wait_until_shown(page)
    fresh = page.evaluate("[...document.querySelectorAll('.block')].filter((b) => !b.isOld).length")
    assert before > 1200
    assert fresh <= 6
    assert page.locator("#stream-0 .t").count() < 20_000


def test_a_link_restores_the_page(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, TEXT)
    page.get_by_label("bytes").first.uncheck()
    page.get_by_label("special tokens").check()
    wait_until_shown(page)
    expect(page).to_have_url(re.compile("special=1"))
    again = opened(page.url)
    wait_until_shown(again)
    assert again.input_value("#text") == TEXT
    assert again.evaluate(SHOWN)[0] == page.evaluate(SHOWN)[0]
    assert again.locator(".panel:visible").count() == 2


# ---- drawings


def test_the_search_of_wordpiece_draws_each_prefix(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "unhappy")
    page.locator("#stream-0 .t").first.click()
    expect(page.locator(".diagram .match")).to_have_count(3)
    failed = page.locator(".diagram .failed text").all_text_contents()
    assert failed == ["unhappy", "unhapp", "unhap", "unha", "unh", "##happy", "##happ"]
    type_text(page, "unhug")
    page.locator("#stream-0 .t").first.click()
    expect(page.locator(".reason")).to_contain_text("no prefix of 'ug' at position 3 is an entry")


def test_the_lattice_marks_its_best_path(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "hugs")
    page.locator("#stream-2 .t").first.click()
    expect(page.locator(".diagram .best title")).to_have_text(["▁hu  -2.00", "gs  -1.00"])
    assert page.locator(".diagram .piece").count() > 5
    rows = page.locator(".word table").first.locator("tbody tr")
    assert "-3.0000" in rows.first.inner_text()


def test_samples_depend_on_their_seed(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "hughughughug")
    page.locator("#stream-1 .t").first.click()
    results = page.locator(".word table tbody").last
    expect(results.locator("tr").first).to_be_visible()
    first = results.inner_text()
    page.get_by_role("button", name="Next seed").click()
    expect(results).not_to_have_text(first, use_inner_text=True)
    page.get_by_label("seed").fill("1")
    page.get_by_label("seed").blur()
    expect(results).to_have_text(first, use_inner_text=True)


def test_a_click_on_a_token_undoes_its_merge(site: str, opened: Open) -> None:
    page = opened(site)
    type_text(page, "hugs")
    page.locator("#stream-1 .t").first.click()
    chips = page.locator(".word p[aria-live] .chip")
    expect(chips).to_have_text(["hug", "s"])
    chips.first.click()
    expect(chips).to_have_text(["h", "ug", "s"])
    page.get_by_role("button", name="Merge again").click()
    expect(chips).to_have_text(["hug", "s"])
    page.get_by_label("Merges applied").fill("0")
    expect(chips).to_have_text(["h", "u", "g", "s"])


# ---- bad input, other browsers


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_run_nothing(hostile_site: str, opened: Open, text: str) -> None:
    page = opened(hostile_site)
    type_text(page, f"{text} {text}\n{text}")
    page.locator("#stream-0 .t").first.click()
    page.locator("#stream-1 .t").first.click()
    wait_until_shown(page)
    page.locator("#stream-0 .t").last.click()
    wait_until_shown(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("iframe, img, main script, svg svg").count() == 0
    assert page.evaluate("document.scripts.length") == 1
    page.goto(f"{hostile_site}#view=training&corpus=&learner=wordpiece-frequency&size=60&step=3")
    page.locator("#training textarea").fill(f"{text} {text} hug")
    page.get_by_role("button", name="Train").click()
    wait_until_shown(page)
    assert page.evaluate("window.hacked") is None
    faults = opened.faults  # type: ignore[attr-defined]
    assert not [fault for fault in faults if "400" not in fault]
    faults.clear()  # a corpus of punctuation only may be an error of training


def test_what_does_not_load_has_its_error_and_no_switch(hostile_site: str, opened: Open) -> None:
    page = opened(hostile_site)
    wait_until_shown(page)
    expect(page.locator(".panel .error")).to_contain_text("found")
    expect(page.get_by_role("group", name="Tokenizers").get_by_role("checkbox")).to_have_count(2)
    page.get_by_label("bytes").first.uncheck()
    wait_until_shown(page)
    expect(page).to_have_url(re.compile("hide=1"))
    again = opened(page.url)
    wait_until_shown(again)
    expect(again.get_by_label("bytes").first).not_to_be_checked()
    expect(again.locator("#stream-1")).to_be_hidden()


def test_without_javascript_the_page_says_that_it_needs_it(site: str, opened: Open) -> None:
    page = opened(site, java_script_enabled=False)
    expect(page.get_by_text("This page needs JavaScript.")).to_be_visible()
    assert page.locator("#options").is_visible() is False


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_the_details_are_in_the_panel_of_the_token_that_was_tapped(
    site: str, opened: Open
) -> None:
    page = opened(site, **PHONE)
    wait_until_shown(page)
    details, panel = page.locator("#details"), page.locator(".panel").nth(2)
    assert details.bounding_box()["y"] >= bottom_of(panel)
    hint = details.inner_text()
    assert "Tap a token" in hint
    assert not re.search("Point|Enter|Arrow", hint)
    page.locator("#stream-0 .t").first.tap()
    expect(page.locator(".panel").first.locator(".details .word h3").first).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).tap()
    expect(page.locator(".word h3")).to_have_count(0)
    expect(page.locator("#stream-0 .active")).to_have_count(0)
    assert details.bounding_box()["y"] >= bottom_of(panel)
    assert "Tap a token" in details.inner_text()


def bottom_of(locator: Any) -> float:
    box = locator.bounding_box()
    return float(box["y"] + box["height"])


NOT_COVERED = """() => {
    const [token, details] = [document.querySelector('.stream .active'), document.getElementById('details')];
    const { top, bottom } = token.getBoundingClientRect();
    return top >= 0 && bottom <= details.getBoundingClientRect().top;
}"""


SPLIT_FIRST = """() => {
    const [title, facts] = [document.querySelector('.word h3'), document.querySelector('.facts')];
    return title.getBoundingClientRect().bottom <= facts.getBoundingClientRect().top;
}"""

# Parts of the details that are wider or higher than what is seen of them.
CUT = """() => [...document.querySelectorAll('#details, #details *')].filter((one) =>
    one.clientWidth && (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) &&
    getComputedStyle(one).overflowX !== 'visible').map((one) => one.className)"""


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_on_a_phone_the_details_are_whole_and_cover_nothing(
    site: str, opened: Open, stream: int
) -> None:
    page = opened(site, **{**PHONE, "viewport": {"width": 390, "height": 664}})
    type_text(page, "hugs, unhappy hug\n" * 8 + "unhappyhughu")
    token = page.locator(f"#stream-{stream} .t").last
    token.evaluate("(token) => token.scrollIntoView({ block: 'end' })")
    token.tap()
    title = page.locator(".word h3").first
    expect(title).to_be_in_viewport(ratio=1)
    expect(page.locator(".word .diagram")).to_be_attached()
    # The split is first in the details, before id and bytes.
    assert page.evaluate(SPLIT_FIRST)
    wait_until(page, NOT_COVERED)
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


COVERED = """() => {
    const { left, right, top, bottom } = document.getElementById('details').getBoundingClientRect();
    return [...document.querySelectorAll('.panel, #text, #options')].map((one) => one.getBoundingClientRect())
        .filter((one) => one.left < right && left < one.right && one.top < bottom && top < one.bottom).length;
}"""


def test_on_a_large_screen_the_details_cover_nothing(site: str, opened: Open) -> None:
    page = opened(site, viewport={"width": 1440, "height": 900})
    type_text(page, "hugs, unhappy hug\n" * 40)
    lower = "document.querySelector('.panel').cloneNode(true)"
    page.evaluate(f"for (let i = 0; i < 6; i++) document.getElementById('streams').append({lower})")
    for pick in (False, True):
        if pick:
            page.locator("#stream-0 .t").first.click()
            expect(page.locator("#details .word h3").first).to_be_in_viewport()
        for share in (0, 0.5, 1):
            page.evaluate(f"scrollTo(0, {share} * document.body.scrollHeight)")
            expect(page.locator("#details")).to_be_in_viewport()
            assert page.evaluate(COVERED) == 0


def test_in_a_narrow_window_the_facts_of_a_token_end_with_the_pointer(
    site: str, opened: Open
) -> None:
    page = opened(site, viewport={"width": 1024, "height": 700})
    type_text(page, "hugs hug")
    page.locator("#stream-1 .t").first.hover()
    expect(page.locator("#details")).to_contain_text("bytes, token 1")
    expect(page.locator("#details")).to_be_in_viewport()
    page.locator("#text").hover()
    expect(page.locator("#details")).to_contain_text("Point at a token")


def test_details_move_when_the_window_becomes_narrow(site: str, opened: Open) -> None:
    page = opened(site, viewport={"width": 1440, "height": 900})
    type_text(page, "hugs")
    page.locator("#stream-1 .t").first.click()
    expect(page.locator("#workspace > #details h3").first).to_be_visible()
    page.set_viewport_size({"width": 800, "height": 900})
    expect(page.locator(".word h3")).to_have_count(0)
    page.locator("#stream-1 .t").first.click()
    expect(page.locator(".panel").nth(1).locator("#details h3").first).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator("#workspace > #details")).to_contain_text("A token")


def test_the_field_is_as_high_as_its_text(site: str, opened: Open) -> None:
    page = opened(site, **PHONE)
    heights = []
    for text in ("hug", "hug\nhug\nhug", "hug\n" * 100):
        type_text(page, text)
        heights.append(page.locator("#text").bounding_box()["height"])
    line = 1.05 * 16 * 1.55
    padding = heights[0] - line
    assert 0 < padding < 2 * line
    assert heights[1] == pytest.approx(padding + 3 * line, abs=2)
    assert heights[2] == pytest.approx(22 * 16, abs=1)


def test_on_a_phone_a_drawing_begins_with_its_labels(site: str, opened: Open) -> None:
    page = opened(f"{site}#text=unhappyunhappyunhappy", **PHONE)
    for stream in (0, 1):
        page.locator(f"#stream-{stream} .t").first.tap()
        first = page.locator(".diagram text").first
        expect(page.locator(f"#stream-{stream} .active")).to_have_count(1)
        expect(first).to_be_attached()
        wait_until_shown(page)
        drawing = page.locator(".word .scrolled").bounding_box()
        boxes = [one.bounding_box() for one in page.locator(".diagram text").all()[:1]]
        assert all(drawing["x"] <= box["x"] < drawing["x"] + 60 for box in boxes)


@pytest.mark.parametrize("width", [320, 390, 768])
@pytest.mark.parametrize("view", ["encode", "training"])
def test_a_narrow_window_does_not_scroll_sideways(
    site: str, opened: Open, width: int, view: str
) -> None:
    page = opened(f"{site}#view={view}", viewport={"width": width, "height": 700})
    wait_until_shown(page)
    if view == "encode":
        page.locator("#stream-2 .t").first.click()
        wait_until_shown(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


OPACITY = "(element) => Number(getComputedStyle(element).opacity)"


def test_tokens_of_an_earlier_text_are_dimmed_after_the_server_ended(
    site: str, opened: Open
) -> None:
    page = opened(site)
    wait_until_shown(page)
    page.route("**/api/**", lambda route: route.abort())
    page.fill("#text", "hug")
    reason = page.locator("#failure")
    expect(reason).to_contain_text("The server does not answer")
    expect(reason).to_contain_text("belong to an earlier text")
    assert page.locator("#streams").evaluate(OPACITY) < 0.5
    expect(page.locator("#status")).to_have_text("")
    page.unroute("**/api/**")
    page.fill("#text", "hugs")
    expect(reason).to_have_text("")
    assert page.locator("#streams").evaluate(OPACITY) == 1
    assert tokens_of(page, 0) == ["hugs"]
    opened.faults.clear()  # type: ignore[attr-defined]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tokens_of_an_earlier_text_cannot_be_used_after_an_error(
    site: str, opened: Open, scheme: str
) -> None:
    page = opened(site, color_scheme=scheme, bypass_csp=True)
    wait_until_shown(page)
    page.evaluate(PASTE, "a" * 2_000_001)
    expect(page.locator("#failure")).to_contain_text("more than 2,000,000 bytes")
    assert page.locator("#streams").evaluate(OPACITY) < 0.5
    page.locator("#stream-0 .t").first.click(force=True)
    expect(page.locator(".word h3")).to_have_count(0)
    assert broken_rules(page) == []
    opened.faults.clear()  # type: ignore[attr-defined]


def test_a_comparison_is_dimmed_until_the_next_one_is_there(site: str, opened: Open) -> None:
    page = opened(site)
    page.get_by_role("tab", name="Compare").click()
    charts_are_drawn(page)
    waiting: list[Any] = []

    def hold(route: Any) -> None:
        waiting.append(route)

    page.route("**/api/compare*", hold)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#compare .report.stale")).to_be_visible()
    waiting[0].continue_()
    expect(page.locator("#compare .report.stale")).to_have_count(0)
    charts_are_drawn(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules_hold(site: str, opened: Open, scheme: str) -> None:
    # The rules are put into the page as a script, which its policy forbids.
    page = opened(site, color_scheme=scheme, bypass_csp=True)
    type_text(page, f"{TEXT} zz")
    for stream in range(3):
        page.locator(f"#stream-{stream} .t").first.click()
        wait_until_shown(page)
        assert broken_rules(page) == []
    page.get_by_role("tab", name="Training").click()
    expect(page.locator(".words li").first).to_be_visible()
    page.get_by_role("button", name="Next step").click()
    page.get_by_label("guess the next merge").check()
    assert broken_rules(page) == []
    page.get_by_label("Learner").select_option("unigram")
    expect(page.locator(".chart")).to_be_visible()
    page.get_by_label("Step", exact=True).fill("1")
    assert broken_rules(page) == []


# A rule that is off by default: the name of a button has the words that it shows.
LABELS = {"rules": {"label-content-name-mismatch": {"enabled": True}}}


def broken_rules(page: Any) -> list[str]:
    found = Axe().run(page, options=LABELS).response["violations"]
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for rule in found
        for node in rule["nodes"][:4]
    ]


# ---- comparison


def charts_are_drawn(page: Any) -> None:
    """Wait until all charts are drawn."""
    wait_until(
        page,
        "() => { const plots = [...document.querySelectorAll('.plot')];"
        " return plots.length > 5 && plots.every((plot) => plot.querySelector('svg')); }",
    )


def compare_text(page: Any, text: str) -> None:
    page.get_by_role("tab", name="Compare").click()
    charts_are_drawn(page)
    page.fill("#corpus", text)
    with page.expect_response("**/api/compare*"):
        page.get_by_role("button", name="Compare").click()
    wait_until_shown(page)
    charts_are_drawn(page)


def test_a_comparison_has_findings_charts_words_and_tables(site: str, opened: Open) -> None:
    page = opened(site)
    compare_text(page, "hugs hug hugs\nunhappy hugs" + "\nhug" * 15)
    assert "tokens" in page.locator("#compare .findings li").first.inner_text()
    assert page.locator("#compare .cards li").count() == 3
    assert page.locator("[data-chart=measures] [data-series] rect").count() == 3
    word = page.locator(
        "#compare .words > li", has=page.get_by_role("heading", name="hugs 3 times")
    )
    assert word.locator("dd .chips").all_text_contents()[:2] == ["hugs", "hugs"]
    assert word.locator("dd").nth(1).locator(".chip").all_text_contents() == ["hug", "s"]
    assert page.locator("#compare table:visible").count() == 1
    page.locator("[data-chart=measures] [data-series] rect").first.hover()
    assert "wordpiece" in page.locator(".chart-tip").inner_text()
    page.get_by_role("button", name="bytes").click()
    expect(page.get_by_role("button", name="bytes")).to_have_attribute("aria-pressed", "true")


def test_a_comparison_of_few_words_has_numbers_in_place_of_charts(site: str, opened: Open) -> None:
    page = opened(site)
    page.get_by_role("tab", name="Compare").click()
    charts_are_drawn(page)
    page.fill("#corpus", "hugs unhappy hug")
    page.get_by_role("button", name="Compare").click()
    note = page.locator("#compare .report .note").first
    expect(note).to_have_text("Charts are drawn for 20 words or more; this text has 3.")
    assert page.locator("#compare .plot, #compare .legend").count() == 0
    colour = "(one) => getComputedStyle(one).color"
    fewest = page.locator(".comparison.fewest").first.evaluate(colour)
    more = page.locator(".comparison:not(.fewest)").first.evaluate(colour)
    assert fewest != more


def test_the_address_of_a_comparison_shows_it_again(site: str, opened: Open) -> None:
    page = opened(site)
    text = " ".join(["hug pug"] * 10)
    compare_text(page, text)
    wait_until(page, "() => location.hash.includes('pug')")
    again = opened(page.url)
    assert again.url.endswith("view=compare&text=" + text.replace(" ", "+"))
    charts_are_drawn(again)
    assert again.input_value("#corpus") == text


def test_a_comparison_without_text_shows_a_message(site: str, opened: Open) -> None:
    page = opened(site)
    page.get_by_role("tab", name="Compare").click()
    charts_are_drawn(page)
    page.fill("#corpus", "\n")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#compare .error")).to_contain_text("no texts")
    opened.faults.clear()  # type: ignore[attr-defined]


def test_hostile_words_and_names_are_text_in_a_comparison(hostile_site: str, opened: Open) -> None:
    page = opened(hostile_site)
    compare_text(page, "\n".join(HOSTILE) + "\nhug")
    assert page.locator("#compare :is(img, iframe, script, b)").count() == 0
    assert page.evaluate("() => window.hacked") is None
    page.locator("[data-chart=measures] [data-series] rect").first.hover()
    assert "onerror" in page.locator(".chart-tip").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_comparison_is_accessible(site: str, opened: Open, scheme: str) -> None:
    page = opened(
        site, color_scheme=scheme, bypass_csp=True, viewport={"width": 390, "height": 844}
    )
    compare_text(page, "hugs hug\nunhappy\n" * 10)
    assert broken_rules(page) == []
    wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wider)
