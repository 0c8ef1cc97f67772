"""The built site in a real browser, served and as files: no network, no errors, search, charts, steppers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

import piecework as pw
from tests.site.conftest import SITE

Open = Callable[..., Any]
# A page of each kind.
PAGES = (
    "index.html",
    "contents.html",
    "tutorial/how-wordpiece-learns.html",
    "tutorial/how-a-word-is-split.html",
    "notebooks/watch-wordpiece-learn.html",
    "how-to/index.html",
    "how-to/from-transformers.html",
    "reference/command-line.html",
    "reference/training-settings.html",
    "reference/api/Tokenizer.html",
    "reference/api/piecework.train.html",
    "explanation/training.html",
    "explanation/errata.html",
    "explanation/benchmarks.html",
    "explanation/how-we-know.html",
    "project/changelog.html",
    "decisions/0098-imports.html",
)
NARROW = {"width": 390, "height": 844}
OVERFLOWING = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
SEARCH = "document.activeElement.shadowRoot"
# Code and tables of a page that are wider than their frames.
CLIPPED = """() => [...document.querySelectorAll(
  ".md-content :is(pre, pre > code, .md-typeset__scrollwrap)")]
  .filter((found) => found.offsetParent && found.scrollWidth > found.clientWidth + 1)
  .map((found) => found.textContent.trim().slice(0, 60))"""
# Pages with an address of their own, which search engines list.
WRITTEN = sorted(
    file.relative_to(SITE).as_posix()
    for file in SITE.rglob("*.html")
    if file.name != "404.html" and file.relative_to(SITE).parts[0] != "playground"
)
INTERNAL = re.compile(r"(?<![\w.])_[a-z]|_internal|\b_core|hints\.|Unpack\[|NoReturn|\bpw\.", re.I)


@pytest.fixture(params=["files", "served"])
def site(request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue(request.param)
    return address


@pytest.mark.parametrize("path", PAGES)
def test_pages_load_nothing_from_elsewhere_and_fit_a_phone(
    site: str, opened: Open, path: str
) -> None:
    requests: list[str] = []
    page = opened("about:blank", viewport=NARROW)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(site + path)
    page.wait_for_load_state("networkidle")
    assert [one for one in requests if not one.startswith((site, "data:", "blob:"))] == []
    assert not page.evaluate(OVERFLOWING)
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(served: str, opened: Open, path: str, scheme: str) -> None:
    page = opened(served + path, color_scheme=scheme)
    page.wait_for_load_state("networkidle")
    found = Axe().run(page).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in grave] == []


def test_search_finds_pages(site: str, opened: Open) -> None:
    page = opened(site + "index.html")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Control+k")
    page.wait_for_function(f"{SEARCH}?.querySelector('input')")
    page.keyboard.type("longest match first", delay=20)
    page.wait_for_function(f"{SEARCH}.querySelectorAll('ol li').length > 0")
    assert page.evaluate(f"{SEARCH}.querySelector('input').value") == "longest match first"
    page.wait_for_function(f"{SEARCH}.querySelector('ol').innerText.includes('Errata')")


def test_search_leaves_decisions_out() -> None:
    found = json.loads((SITE / "search.json").read_text(encoding="utf-8"))["items"]
    places = {item["location"] for item in found}
    assert "how-to/pad-and-truncate.html" in places
    assert [one for one in places if one.startswith("decisions/0")] == []


def test_pages_have_a_description_an_address_and_an_edit_link() -> None:
    lacking = []
    for path in WRITTEN:
        html = (SITE / path).read_text(encoding="utf-8")
        for part in (
            r'<meta name="description" content="[^"]{20,}|<meta name="description" content="How-to',
            r'<meta property="og:description" content="[^"]',
            rf'<link rel="canonical" href="https://[^"]*/{re.escape(path)}"',
            r'href="https://github.com/[^"]*/edit/main/[^"]+" title="Edit this page"',
        ):
            if not re.search(part, html):
                lacking.append((path, part))
    assert len(WRITTEN) > 100
    assert lacking == []
    assert "<title>piecework: subword tokenizers</title>" in (SITE / "index.html").read_text()


def test_signatures_have_no_internal_names() -> None:
    found = []
    for path in (path for path in WRITTEN if path.startswith("reference/api/")):
        html = (SITE / path).read_text(encoding="utf-8")
        for block in re.findall(r'<div class="[^"]*doc-signature.*?</pre>', html, re.DOTALL):
            text = re.sub("<[^>]+>", "", block)
            found += [(path, name) for name in INTERNAL.findall(text)]
    assert found == []


@pytest.mark.parametrize("width", [1440, 390])
def test_no_code_and_no_table_is_clipped(files: str, opened: Open, width: int) -> None:
    page = opened("about:blank", viewport={"width": width, "height": 900})
    clipped = {}
    for path in WRITTEN:
        page.goto(files + path)
        if found := page.evaluate(CLIPPED):
            clipped[path] = found
    assert clipped == {}


def copied(page: Any, text: str) -> str:
    """Return what the copy button of the block with a text copies."""
    block = page.locator(".highlight", has_text=text).first
    block.hover()
    block.get_by_title("Copy to clipboard").click()
    page.wait_for_function("navigator.clipboard.readText()")
    found: str = page.evaluate("navigator.clipboard.readText()")
    return found


def test_prompts_and_outputs_are_not_copied(served: str, opened: Open) -> None:
    allowed = ["clipboard-read", "clipboard-write"]
    page = opened(served + "index.html", permissions=allowed)
    assert copied(page, "pip install") == "pip install ."
    code = copied(page, "import piecework")
    assert code.startswith("import piecework as pw\nlines = [")
    assert ">>>" not in code
    assert "[CLS]" not in code
    exec(compile(code, "home", "exec"), {})
    page.goto(served + "how-to/verify-ids.html")
    assert copied(page, "--against tokenizers corpus").splitlines() == [
        "piecework train corpus.txt --vocab-size 4000 -o tokenizer.json",
        "piecework verify tokenizer.json --against tokenizers corpus.txt",
    ]


@pytest.mark.parametrize("name", ["Tutorial", "Playground", "Repository"])
def test_the_home_leads_on(files: str, opened: Open, name: str) -> None:
    page = opened(files + "index.html")
    link = page.locator(".buttons").get_by_role("link", name=name)
    if name == "Playground" and not (SITE / "playground").exists():
        assert link.count() == 0
    elif name == "Repository":
        assert link.get_attribute("href") == "https://github.com/piecework/piecework"
    else:
        assert (SITE / (link.get_attribute("href") or "")).is_file()


def test_charts_follow_their_choices(site: str, opened: Open) -> None:
    page = opened(site + "explanation/benchmarks.html")
    chart = page.locator("[data-chart=encoding]")
    assert page.locator(".chart .bar.ours").count() >= 4
    bars = chart.locator(".chart-drawing")
    assert bars.get_by_text("242", exact=True).count() == 1
    chart.get_by_label("vocabulary").select_option("byte-level BPE, GPT-2")
    bars.get_by_text("198", exact=True).wait_for()
    chart.get_by_text("The same as a table").click()
    assert chart.locator("tbody tr").first.inner_text().split() == ["piecework", "198"]


def test_recorded_steppers_step(files: str, opened: Open) -> None:
    page = opened(files + "tutorial/how-wordpiece-learns.html")
    stepper = page.locator("[data-stepper] .stepper").first
    assert "before step 1 of 7" in stepper.inner_text()
    stepper.get_by_role("button", name="Next step").click()
    assert "step 1 of 7" in stepper.inner_text()
    stepper.get_by_role("slider").press("ArrowRight")
    assert stepper.get_by_role("heading", name="Next: hu + ##gs").is_visible()


def test_served_steppers_learn_from_another_text(served: str, opened: Open) -> None:
    if not (SITE / "playground").exists():
        pytest.skip("the site has no playground: make playground-page builds it")
    page = opened(served + "tutorial/three-learners.html")
    stepper = page.locator("[data-stepper=bpe] .stepper")
    stepper.scroll_into_view_if_needed()
    stepper.get_by_role("heading", name="Next: u + g").wait_for()
    stepper.get_by_role("textbox").fill("aa aa ab")
    stepper.get_by_role("heading", name="Next: a + a").wait_for()
    stepper.get_by_role("button", name="Next step").click()
    assert "step 1 of 2" in stepper.inner_text()


def test_a_typed_word_is_searched(site: str, opened: Open) -> None:
    page = opened(site + "tutorial/how-a-word-is-split.html")
    search = page.locator("[data-word-search] .stepper").first
    tokens = search.locator(".word > p .chip")
    assert tokens.all_inner_texts() == ["b", "##u", "##gs"]
    search.get_by_label("Word").fill("bum")
    assert "no prefix of 'm' at position 2 is an entry" in search.inner_text()
    search.get_by_label("Entries").fill("[UNK] b ##um")
    assert tokens.all_inner_texts() == ["b", "##um"]


def test_the_search_finds_the_tokens_of_a_tokenizer(files: str, opened: Open) -> None:
    page = opened(files + "tutorial/how-a-word-is-split.html")
    search = page.locator("[data-word-search] .stepper").first
    entries = search.get_by_label("Entries").input_value().split()
    tok = pw.Tokenizer(pw.spec.WordPiece({token: id for id, token in enumerate(entries)}))
    for word in (
        "hugs",
        "hug",
        "h",
        "bugs",
        "pugs",
        "mug",
        "hm",
        "bun",
        "shug",
        "ughug",
        "hugé",
        "😀",
    ):
        search.get_by_label("Word").fill(word)
        assert search.locator(".word > p .chip").all_inner_texts() == tok.encode(word).tokens


def test_examples_of_docstrings_are_code(files: str, opened: Open) -> None:
    page = opened(files + "reference/api/Tokenizer.html")
    assert page.locator("pre", has_text=">>> import piecework as pw").count() > 10
    assert page.locator("blockquote").count() == 0
