"""The page of `compare --html` as a file in a real browser: charts, hover, hostile names, no network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

import piecework as pw
from piecework.analysis import compare, html_report
from tests.browser.waiting import wait_until
from tests.playground.tokenizers import HOSTILE, byte_bpe, unigram, wordpiece

Open = Callable[..., Any]
TEXTS = {
    "animals": ["hugs happy hug", "unhappy pug hugs"] * 3,
    **{name: [f"hug {name.replace(' ', '')} 日本", "hugs café"] for name in HOSTILE},
}
OVERFLOWING = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page about three tokenizers, one with a hostile name."""
    tokenizers = {"wordpiece": wordpiece(), "unigram": unigram(), HOSTILE[1]: byte_bpe()}
    gold = pw.analysis.Gold.of({"hugs": ["hug", "s"]})
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_report(compare(tokenizers, TEXTS, gold=gold)), encoding="utf-8")
    return path.as_uri()


def started(page: Any) -> Any:
    """Wait until the script of the page has run."""
    wait_until(page, "() => document.documentElement.classList.contains('scripted')")
    return page


def test_every_chart_is_drawn_without_network_and_eval(report: str, opened: Open) -> None:
    requests: list[str] = []
    page = opened("about:blank")
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report)
    started(page)
    assert requests == [report]
    assert page.locator(".plot svg").count() == 7
    bars = page.locator("[data-chart=measures] [data-series] rect")
    assert bars.count() == 3


def test_hover_shows_the_figures_of_a_mark(report: str, opened: Open) -> None:
    page = started(opened(report))
    assert page.locator(".chart-tip").is_hidden()
    page.locator("[data-chart=measures] [data-series] rect").first.hover()
    tip = page.locator(".chart-tip").inner_text()
    assert "wordpiece" in tip
    assert "tokens per word" in tip
    page.locator("h1").hover()
    assert page.locator(".chart-tip").is_hidden()


def test_a_name_emphasizes_its_tokenizer_in_all_charts(report: str, opened: Open) -> None:
    page = started(opened(report))
    opacities = """() => [...document.querySelectorAll('[data-chart=measures] [data-series]')]
        .map((bar) => getComputedStyle(bar).opacity)"""
    assert page.evaluate(opacities) == ["1", "1", "1"]
    page.get_by_role("button", name="unigram").click()
    assert page.evaluate(opacities) == ["0.12", "1", "0.12"]
    assert page.get_by_role("button", name="unigram").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="unigram").click()
    assert page.evaluate(opacities) == ["1", "1", "1"]


def test_hostile_names_and_words_are_text(report: str, opened: Open) -> None:
    page = started(opened(report))
    assert page.locator("img, iframe, object, b").count() == 0
    assert page.evaluate("() => [typeof hacked, document.title]") == (
        ["undefined", "Tokenizers compared"]
    )
    labels = page.locator("[data-chart=sources] .end").all_text_contents()
    shown = [label.rstrip("…") for label in labels]  # long labels are cut where the font is wide
    for name in ("animals", "__proto__", "constructor", "${window.hacked=1}"):
        assert any(len(label) > 3 and name.startswith(label) for label in shown), (name, labels)
    page.locator("[data-chart=measures] [data-series] rect").nth(2).hover()
    assert HOSTILE[1][:9] in page.locator(".chart-tip").inner_text()


def test_words_show_the_pieces_of_each_tokenizer(report: str, opened: Open) -> None:
    page = opened(report)
    word = page.locator(".words > li", has=page.get_by_role("heading", name="unhappy 3 times"))
    sides = word.locator("dd")
    assert sides.nth(0).locator(".chip").all_text_contents() == ["un", "hap", "py"]
    assert sides.nth(0).locator(".number").inner_text() == "3"
    assert sides.count() == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_is_accessible_and_fits(
    report: str, opened: Open, scheme: str, width: int
) -> None:
    page = started(opened(report, color_scheme=scheme, viewport={"width": width, "height": 844}))
    page.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found] == []
    assert not page.evaluate(OVERFLOWING)


def test_colours_follow_the_system(report: str, opened: Open) -> None:
    page = started(opened(report, color_scheme="light"))
    fill = """() => getComputedStyle(document.querySelector('[data-chart=measures] rect')).fill"""
    light = page.evaluate(fill)
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"(light) => ({fill})() !== light", light)


def test_without_scripts_the_report_has_its_charts_and_tables(report: str, opened: Open) -> None:
    page = opened(report, java_script_enabled=False)
    assert page.locator(".legend:visible").count() == 0
    assert page.locator(".plot svg:visible").count() == 7
    assert page.locator("[data-chart=measures] title").count() == 3
    assert page.locator(".report-tables table:visible").count() == 1
    assert page.get_by_text("Agreement: ").is_visible()
    assert page.locator(".words > li:visible").count() > 0
