"""`tools/docs_site` leads links to pages, lists every page, and finds what is wrong with a built site."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "tools" / "docs_site"
sys.path.insert(0, str(FOLDER))

import charts  # noqa: E402
import checks  # noqa: E402
import front_matter  # noqa: E402
import navigation  # noqa: E402
import notebooks  # noqa: E402
import sources  # noqa: E402
import steppers  # noqa: E402


@pytest.mark.parametrize("module", [sources, front_matter])
def test_doctests_of_the_module_pass(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [*navigation.pages_of(navigation.navigation([]))]
    assert sorted(pages) == sorted(sources.places().values())


def test_a_page_that_no_index_lists_ends_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PLACES", {**sources.PLACES, "fuzz/README.md": "fuzz.md"})
    with pytest.raises(SystemExit, match=r"no index lists these pages: fuzz\.md"):
        navigation.navigation([])


def test_a_link_to_a_file_that_does_not_exist_ends_the_build() -> None:
    with pytest.raises(SystemExit, match=r"SECURITY\.md: a link leads to docs/none,"):
        sources.with_site_links("[x](docs/none)", "SECURITY.md", sources.places())


def test_links_in_code_stay() -> None:
    code = "```python\nx = [a](docs/README.md)\n```\n"
    assert sources.with_site_links(code, "SECURITY.md", sources.places()) == code


def test_outputs_of_notebooks_are_shown() -> None:
    cells = [
        {"cell_type": "code", "source": ["1"], "outputs": [{"data": {"text/plain": ["1"]}}]},
        {"cell_type": "code", "source": ["t"], "outputs": [{"data": {"text/html": "<p>\n\n</p>"}}]},
    ]
    shown = [part for cell in cells for part in notebooks.parts_of(cell)]
    assert shown[1] == "```text\n1\n```"
    assert shown[3] == '<div class="cell-output"><p>\n</p></div>'


def test_a_chart_has_the_figures_of_its_page() -> None:
    page = (sources.ROOT / "docs/explanation/benchmarks.md").read_text(encoding="utf-8")
    case = {"vocabulary": "WordPiece, bert-base-uncased", "text": "English documentation"}
    case["pass"] = "encode, warm caches"
    rows = [row for row in charts.encoding()["rows"] if case.items() <= row.items()]
    speeds = {row["library"]: row["value"] for row in rows}
    assert len(speeds) == len(rows)
    shown = f"English | {speeds['piecework']:.0f} | {speeds['tokenizers']:.1f}"
    assert f"| {shown} | tokie {speeds['tokie']:.0f} |" in page
    assert f"with BERT's vocabulary at {speeds['tokenizers_rc']:.1f} MB/s" in page


def test_the_home_shows_the_fastest_other_library_and_both_tokenizers() -> None:
    rows = charts.headline()["rows"]
    named = [row["library"] for row in rows if row["vocabulary"].startswith("WordPiece")]
    assert sorted(named) == ["piecework", "tokenizers", "tokenizers_rc", "tokie"]


def test_every_chart_of_a_page_gets_its_figures() -> None:
    pages = ("docs/explanation/benchmarks.md", sources.HOME)
    texts = [(sources.ROOT / page).read_text(encoding="utf-8") for page in pages]
    made = charts.with_charts("".join(texts))
    assert made.count('<script type="application/json">') == len(charts.CHARTS)
    for chart in charts.CHARTS.values():
        data = chart()
        names = (*data["fields"], "library")
        bars = [tuple(row[name] for name in names) for row in data["rows"]]
        assert bars
        assert len(set(bars)) == len(bars)


def test_every_stepper_of_a_page_gets_its_steps() -> None:
    pages = [sources.ROOT / page for page in sources.places() if page.endswith(".md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    places = sum(text.count("\n<div data-stepper=") for text in texts)
    assert sum(steppers.with_steps(text).count("data-steps>") for text in texts) == places > 5


def test_the_scripts_of_the_playground_are_joined() -> None:
    script = steppers.bundle(has_playground=True)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    for name in ("dom", "span_diagram", "merge_replay", "unigram_replay", "word_views", "steppers"):
        assert script.count(f"const module_{name} = ") == 1
    assert "globalThis.hasPlayground = true;" in script


def test_the_colors_of_steppers_follow_the_palette_of_the_site() -> None:
    light, dark = steppers.theme().split("\n\n")
    assert "--paper: #faf9f6;" in light
    assert dark.startswith('[data-md-color-scheme="slate"]')
    assert "--paper: #15171a;" in dark


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="none.html">x</a>', "the link none.html leads nowhere"),
        ('<a href="other.html#none">x</a>', "the link other.html#none leads nowhere"),
        ('<a href="#none">x</a>', "the link #none leads nowhere"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "loads //fonts.example/x.css"),
        ('<img src="x.png">', "the image x.png has no text"),
    ],
)
def test_faults_of_pages_are_found(tmp_path: Path, html: str, fault: str) -> None:
    (tmp_path / "other.html").write_text('<h1 id="there">Other</h1>')
    (tmp_path / "page.html").write_text(f'<a href="other.html#there">right</a>{html}')
    assert checks.faults(tmp_path) == [f"page.html: {fault}"]
